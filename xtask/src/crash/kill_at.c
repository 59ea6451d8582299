/* Runs a program and kills it right before its n-th rename, fsync or write, whichever of its threads does that.
 *
 *     kill_at COUNTS KIND N PROGRAM [ARGUMENTS]
 *
 * KIND is rename, fsync or write; N counts from 1, and 0 kills never. Writes count where they go to a regular file, so that
 * logs on a pipe do not. COUNTS gets three numbers: how many calls of each kind there were.
 *
 * A seccomp filter stops the program at these calls alone, also where it makes them without the C library; a preloaded library
 * would not see those. Exits as the program did, with 137 where it was killed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { RENAME, FSYNC, WRITE, NUM_KINDS };
static const char *const NAMES[NUM_KINDS] = {"rename", "fsync", "write"};

static const struct {
    int number;
    enum kind kind;
} CALLS[] = {
#ifdef SYS_rename
    {SYS_rename, RENAME},
#endif
#ifdef SYS_link
    {SYS_link, RENAME},
#endif
    {SYS_renameat, RENAME},
    {SYS_renameat2, RENAME},
    {SYS_linkat, RENAME},
    {SYS_fsync, FSYNC},
    {SYS_fdatasync, FSYNC},
    {SYS_write, WRITE},
    {SYS_pwrite64, WRITE},
    {SYS_writev, WRITE},
    {SYS_pwritev, WRITE},
    {SYS_sendfile, WRITE},
    {SYS_copy_file_range, WRITE},
    {SYS_ftruncate, WRITE},
};
#define NUM_CALLS (sizeof CALLS / sizeof *CALLS)

static void fail(const char *what) {
    perror(what);
    exit(125);
}

/* In the child: lets the parent see the calls, and nothing else. */
static void watch_calls(void) {
    struct sock_filter filter[2 * NUM_CALLS + 2];
    size_t length = 0;
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t call = 0; call < NUM_CALLS; call++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[call].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = length, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        fail("seccomp");
}

static int is_regular(pid_t thread, long file) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%ld", thread, file);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The kind of the call that a thread has stopped at; NUM_KINDS for none that counts. */
static enum kind kind_of(pid_t thread) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) < 0)
        return NUM_KINDS;
    for (size_t call = 0; call < NUM_CALLS; call++) {
        if (info.seccomp.nr != (__u64)CALLS[call].number)
            continue;
        /* The third argument of copy_file_range is where the copy goes, the first one elsewhere. */
        long file = info.seccomp.args[info.seccomp.nr == SYS_copy_file_range ? 2 : 0];
        if (CALLS[call].kind == WRITE && !is_regular(thread, file))
            return NUM_KINDS;
        return CALLS[call].kind;
    }
    return NUM_KINDS;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: kill_at COUNTS KIND N PROGRAM [ARGUMENTS]\n");
        return 125;
    }
    enum kind wanted = RENAME;
    while (wanted < NUM_KINDS && strcmp(NAMES[wanted], argv[2]))
        wanted++;
    long moment = strtol(argv[3], NULL, 10);
    long counts[NUM_KINDS + 1] = {0};
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            fail("ptrace");
        raise(SIGSTOP);
        watch_calls();
        execvp(argv[4], argv + 4);
        fail(argv[4]);
    }
    int status;
    if (waitpid(child, &status, 0) < 0)
        fail("waitpid");
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
                   PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) < 0 || ptrace(PTRACE_CONT, child, NULL, NULL) < 0)
        fail("ptrace");
    int result = 125;
    for (;;) {
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0) {
            if (errno == EINTR)
                continue;
            break;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread == child)
                result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int event = status >> 16, signal = 0;
        if (event == PTRACE_EVENT_SECCOMP) {
            enum kind kind = kind_of(thread);
            counts[kind]++;
            if (kind == wanted && counts[kind] == moment)
                kill(child, SIGKILL);
        } else if (event == 0 && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP) {
            signal = WSTOPSIG(status);
        }
        ptrace(PTRACE_CONT, thread, NULL, signal);
    }
    FILE *file = fopen(argv[1], "w");
    if (!file || fprintf(file, "%ld %ld %ld\n", counts[RENAME], counts[FSYNC], counts[WRITE]) < 0 || fclose(file))
        fail(argv[1]);
    return result;
}
