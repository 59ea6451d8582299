//! Cases in a child process, so that whatever kills it is one finding and not the end.
//!
//! A child works through numbered cases and writes down the number of each before it begins; its parent sees by that
//! what it died of, or hangs in, and goes on with the case after.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Seconds of CPU, and on a busy machine of time, that a case may take.
const MAX_CPU_S: f64 = 10.0;
const MAX_WALL: Duration = Duration::from_secs(120);

/// Memory that a case may take.
const MAX_MEMORY_KIB: u64 = 2 << 20;

/// Address space of a child, in KiB: libtorch takes gigabytes of it that are never touched.
const ADDRESS_SPACE_KIB: u64 = 12 << 20;

/// The variable that makes a process a child: where its cases are and how far it is.
const FOLDER: &str = "PLETHORA_HOSTILE_FOLDER";
const FIRST: &str = "PLETHORA_HOSTILE_FIRST";
const LAST: &str = "PLETHORA_HOSTILE_LAST";

/// Something a case did that it must not do.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) case: u64,
    pub(crate) what: String,
}

/// How many cases came of what.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) refused: u64,
    pub(crate) accepted: u64,
    pub(crate) findings: Vec<Finding>,
}

/// In a child: its folder and cases.
pub(crate) fn cases() -> Option<(PathBuf, std::ops::Range<u64>)> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let folder = std::env::var_os(FOLDER)?;
    Some((folder.into(), number(FIRST)?..number(LAST)?))
}

/// In a child: works through its cases. A case says whether its input was accepted.
pub(crate) fn work(folder: &Path, cases: std::ops::Range<u64>, mut one: impl FnMut(u64) -> bool) {
    // The last panic of a case is what is reported; those inside of libraries may be caught on the way.
    let place = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&place);
    panic::set_hook(Box::new(move |panic| {
        let location = panic.location().map(ToString::to_string);
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = location.unwrap_or_default();
    }));
    let progress = folder.join("progress");
    let report = |line: String| {
        use std::io::Write;
        let file = fs::File::options()
            .append(true)
            .create(true)
            .open(folder.join("report"));
        file.and_then(|mut file| file.write_all(line.as_bytes()))
            .expect("a report");
    };
    for case in cases {
        fs::write(&progress, case.to_string()).expect("a note");
        // So that the peak is that of this case.
        let _ = fs::write("/proc/self/clear_refs", "5");
        match panic::catch_unwind(AssertUnwindSafe(|| one(case))) {
            Ok(true) => report("accepted\n".into()),
            Ok(false) => report("refused\n".into()),
            Err(cause) => {
                let text = cause.downcast_ref::<String>().cloned();
                let text = text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string));
                let text = text.unwrap_or_default().replace('\n', " ");
                let place = place.lock().unwrap_or_else(PoisonError::into_inner);
                report(format!("finding {case} panics at {place}: {text}\n"));
            }
        }
        let peak = peak_kib();
        if peak > MAX_MEMORY_KIB {
            report(format!("finding {case} takes {} MiB\n", peak >> 10));
        }
    }
}

/// In the parent: has children of the test `name` do all cases.
pub(crate) fn run(name: &str, folder: &Path, cases: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    let mut first = cases.start;
    while first < cases.end {
        let _ = fs::remove_file(folder.join("progress"));
        let program = std::env::current_exe().expect("a program");
        let limited = format!("ulimit -v {ADDRESS_SPACE_KIB}; ulimit -c 0; exec \"$0\" \"$@\"");
        let child = Command::new("sh")
            .args(["-c", &limited])
            .arg(program)
            .args([
                name,
                "--exact",
                "--ignored",
                "--nocapture",
                "--test-threads",
                "1",
            ])
            .env(FOLDER, folder)
            .env(FIRST, first.to_string())
            .env(LAST, cases.end.to_string())
            .env("OMP_NUM_THREADS", "1")
            .env("RAYON_NUM_THREADS", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        let Some(what) = watch(child, folder) else {
            break;
        };
        let case = current(folder).unwrap_or(first);
        tally.findings.push(Finding { case, what });
        first = case + 1;
    }
    let report = fs::read_to_string(folder.join("report")).unwrap_or_default();
    for line in report.lines() {
        match line.split_once(' ') {
            None if line == "accepted" => tally.accepted += 1,
            None => tally.refused += 1,
            Some((_, finding)) => {
                let (case, what) = finding.split_once(' ').unwrap_or((finding, ""));
                let case = case.parse().unwrap_or_default();
                tally.findings.push(Finding {
                    case,
                    what: what.into(),
                });
            }
        }
    }
    tally
}

/// Waits for a child; what it died of, or nothing where it has done its cases.
fn watch(mut child: Child, folder: &Path) -> Option<String> {
    let mut at = None;
    let mut since = (Instant::now(), 0.0);
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return (!status.success()).then(|| format!("ends the process: {status}"));
        }
        let (case, cpu) = (current(folder), cpu_seconds(child.id()));
        if case != at {
            at = case;
            since = (Instant::now(), cpu);
        }
        if cpu - since.1 > MAX_CPU_S || since.0.elapsed() > MAX_WALL {
            child.kill().expect("a child to kill");
            child.wait().expect("a killed child");
            return Some("takes longer than 10 s".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn current(folder: &Path) -> Option<u64> {
    fs::read_to_string(folder.join("progress"))
        .ok()?
        .parse()
        .ok()
}

fn cpu_seconds(process: u32) -> f64 {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let fields = line
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks: f64 = fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    ticks / 100.0
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
