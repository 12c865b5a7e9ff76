//! How much memory the process holds.

use std::fs;

/// Resident memory of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resident {
    /// Now, in bytes.
    pub bytes: u64,
    /// The most so far, in bytes.
    pub bytes_max: u64,
}

/// Reads it; `None` where there is no `/proc`.
pub fn resident() -> Option<Resident> {
    parse(&fs::read_to_string("/proc/self/status").ok()?)
}

fn parse(status: &str) -> Option<Resident> {
    let kib = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some(Resident {
        bytes: kib("VmRSS:")? << 10,
        bytes_max: kib("VmHWM:")? << 10,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_kilobytes_are_of_1024() {
        let status = "Name:\tkdyno\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let resident = parse(status).unwrap();
        assert_eq!((resident.bytes, resident.bytes_max), (1 << 20, 2 << 20));
        assert_eq!(parse("Name:\tkdyno\n"), None);
    }

    #[test]
    fn this_process_holds_something() {
        let resident = resident().unwrap();
        assert!(resident.bytes > 0 && resident.bytes_max >= resident.bytes);
    }
}
