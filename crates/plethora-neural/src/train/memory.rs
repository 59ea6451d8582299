//! Whether training will fit, before it starts.

use std::path::Path;

use super::config::{Averaging, TrainConfig};
use crate::parameters::Parameters;
use crate::{Error, Result, open_device};
use plethora_system::{Device, ranks};

/// Bytes of memory that can be had on a device now; None where the system does not tell.
pub fn free_bytes(device: Device) -> Option<u64> {
    match device {
        Device::Cpu => {
            let root = Path::new("/");
            let of_machine = available_on_machine(root);
            let of_group = available_in_group(root);
            of_machine.into_iter().chain(of_group).min()
        }
        Device::Cuda(index) => memory_of_gpu(index).map(|(free, _)| free),
    }
}

/// Bytes of a GPU's memory that are in use now. libtorch gives back nothing that it once took, so that
/// after training this is the most that training took. None on processors.
pub fn used_bytes(device: Device) -> Option<u64> {
    match device {
        Device::Cpu => None,
        Device::Cuda(index) => {
            let (free, total) = memory_of_gpu(index)?;
            Some(total - free)
        }
    }
}

/// Makes sure that a device has the memory that training will need. `settings` are those that lower
/// the need. Where the system does not tell what is free, everything passes.
///
/// # Errors
///
/// [`Error::TooLittleMemory`].
pub fn check(device: Device, needed: u64, settings: &[&str]) -> Result<()> {
    check_free(device, free_bytes(device), needed, settings)
}

/// As [`check`], with what is free where that is known already.
pub(crate) fn check_free(
    device: Device,
    free: Option<u64>,
    needed: u64,
    settings: &[&str],
) -> Result<()> {
    match free {
        Some(free) if free < needed => Err(Error::TooLittleMemory {
            device: device.to_string(),
            needed,
            free,
            settings: settings.iter().map(|&setting| setting.to_owned()).collect(),
        }),
        _ => Ok(()),
    }
}

/// Bytes that the trainer itself takes on `device` beside parameters and gradients, which exist
/// already: moments, averages, and the best weights, which are kept in the main memory.
pub fn trainer_bytes(config: &TrainConfig, parameters: &Parameters, device: Device) -> u64 {
    let moments = 2;
    // Swapping averages in takes another copy for a moment.
    let averages = if config.averaging == Averaging::None {
        0
    } else {
        2
    };
    let copies = moments + averages + u64::from(device == Device::Cpu);
    let tables = parameters.tables.iter().filter(|table| table.is_trained());
    let of_tables = tables.map(|table| {
        let numbers = table.values().numel();
        // Processes that train together share these.
        let num_shares = if table.is_changed_in_passing() {
            ranks::count()
        } else {
            1
        };
        numbers.div_ceil(num_shares)
    });
    let numbers = parameters.dense.values().numel() + of_tables.sum::<usize>();
    copies * numbers as u64 * size_of::<f32>() as u64
}

/// What the kernel thinks can be had without swapping.
fn available_on_machine(root: &Path) -> Option<u64> {
    let text = fs_err::read_to_string(root.join("proc/meminfo")).ok()?;
    field(&text, "MemAvailable:").map(|kibibytes| kibibytes.saturating_mul(1024))
}

/// What the process's control group and those around it leave, in version 1 or 2 of control groups.
fn available_in_group(root: &Path) -> Option<u64> {
    let groups = fs_err::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mut least = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let files = if controllers.is_empty() {
            &GROUP_V2
        } else if controllers.split(',').any(|name| name == "memory") {
            &GROUP_V1
        } else {
            continue;
        };
        // Inside a container the path may be that of the host, while only the top is mounted.
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let left = files.left_in(&root.join(files.mount).join(group));
            least = least.into_iter().chain(left).min();
        }
    }
    least
}

/// Where a version of control groups keeps its numbers.
struct GroupFiles {
    mount: &'static str,
    limit: &'static str,
    usage: &'static str,
    /// Field of `memory.stat` with the file pages that go first when memory is short.
    reclaimable: &'static str,
}

const GROUP_V2: GroupFiles = GroupFiles {
    mount: "sys/fs/cgroup",
    limit: "memory.max",
    usage: "memory.current",
    reclaimable: "inactive_file ",
};

const GROUP_V1: GroupFiles = GroupFiles {
    mount: "sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file ",
};

impl GroupFiles {
    /// None without a limit; an unlimited group of version 1 has a number too large to matter.
    fn left_in(&self, group: &Path) -> Option<u64> {
        let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let limit = number(self.limit)?;
        let usage = number(self.usage)?;
        let reclaimable = read("memory.stat").and_then(|text| field(&text, self.reclaimable));
        Some(limit.saturating_sub(usage.saturating_sub(reclaimable.unwrap_or(0))))
    }
}

/// The number behind `name` at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Free and total bytes. Asks the CUDA runtime, which is loaded with libtorch; tch does not have the call.
#[cfg(unix)]
fn memory_of_gpu(index: usize) -> Option<(u64, u64)> {
    use std::ffi::c_int;

    use libloading::os::unix::{Library, Symbol};

    // Fails where there is no such GPU, and loads the libraries otherwise.
    open_device(Device::Cuda(index)).ok()?;
    let index = c_int::try_from(index).ok()?;
    let process = Library::this();
    let (mut before, mut free, mut total) = (0, 0, 0);
    #[expect(unsafe_code, reason = "calls of a C library")]
    // SAFETY: the types are those of the CUDA runtime's documentation, and the pointers are to
    // variables that outlive the calls. The current device of the thread is put back.
    unsafe {
        let get_device: Symbol<unsafe extern "C" fn(*mut c_int) -> c_int> =
            process.get(b"cudaGetDevice\0").ok()?;
        let set_device: Symbol<unsafe extern "C" fn(c_int) -> c_int> =
            process.get(b"cudaSetDevice\0").ok()?;
        let memory: Symbol<unsafe extern "C" fn(*mut usize, *mut usize) -> c_int> =
            process.get(b"cudaMemGetInfo\0").ok()?;
        if get_device(&raw mut before) != 0 || set_device(index) != 0 {
            return None;
        }
        let status = memory(&raw mut free, &raw mut total);
        set_device(before);
        (status == 0).then_some((free as u64, total as u64))
    }
}

#[cfg(not(unix))]
fn memory_of_gpu(_index: usize) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_with(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn too_little_memory_says_what_to_change() {
        let needed = 1 << 60;
        let free = free_bytes(Device::Cpu).unwrap();
        assert!(free > 1 << 20 && free < needed);
        check(Device::Cpu, 1 << 10, &[]).unwrap();
        let error = check(Device::Cpu, needed, &["train.batch_size", "vectors.width"]);
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("training needs about 1073741824.0 GiB of memory on cpu, where "),
            "{message}"
        );
        assert!(
            message.ends_with("make train.batch_size or vectors.width smaller"),
            "{message}"
        );
    }

    #[test]
    fn memory_of_the_machine_is_what_the_kernel_says() {
        let root = root_with(&[("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:    5 kB\n")]);
        assert_eq!(available_on_machine(root.path()), Some(5 * 1024));
        assert_eq!(available_in_group(root.path()), None);
    }

    #[test]
    fn tightest_group_counts_and_its_file_pages_do_not() {
        let root = root_with(&[
            ("proc/self/cgroup", "0::/user/job\n"),
            ("sys/fs/cgroup/user/memory.max", "1000\n"),
            ("sys/fs/cgroup/user/memory.current", "700\n"),
            (
                "sys/fs/cgroup/user/memory.stat",
                "anon 5\ninactive_file 100\n",
            ),
            ("sys/fs/cgroup/user/job/memory.max", "max\n"),
            ("sys/fs/cgroup/user/job/memory.current", "700\n"),
        ]);
        assert_eq!(available_in_group(root.path()), Some(400));
        let root = root_with(&[
            (
                "proc/self/cgroup",
                "4:cpu,memory:/on/the/host\n3:cpuset:/\n0::/\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "500\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "200\n"),
        ]);
        assert_eq!(available_in_group(root.path()), Some(300));
    }

    /// Without a GPU nothing is known, with one a part of its memory is free.
    #[test]
    fn gpu_tells_what_is_free_or_nothing_is_known() {
        match open_device(Device::Cuda(0)) {
            Ok(_) => assert!(free_bytes(Device::Cuda(0)).unwrap() > 1 << 20),
            Err(_) => assert_eq!(free_bytes(Device::Cuda(0)), None),
        }
    }
}
