//! What the machine is: kernel, CPU, congestion control.

use std::fs;
use std::num::NonZero;

/// What a result says of the machine it was measured on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Operating system and kernel release.
    pub kernel: String,
    /// The CPU's name as it says itself, or its architecture.
    pub cpu: String,
    /// CPUs this process may use.
    pub cores: usize,
    /// The congestion control that sockets get unless they ask for another.
    pub congestion_control: Option<String>,
}

impl Machine {
    /// Reads it.
    pub fn read() -> Self {
        let system = rustix::system::uname();
        let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
        let architecture = text(system.machine());
        let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            kernel: format!("{} {}", text(system.sysname()), text(system.release())),
            cpu: cpu_name(&cpu_info).unwrap_or(architecture),
            cores: std::thread::available_parallelism().map_or(1, NonZero::get),
            congestion_control: congestion_control(),
        }
    }
}

fn congestion_control() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn cpu_name(cpu_info: &str) -> Option<String> {
    let field = |wanted: &str| {
        cpu_info.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == wanted).then(|| value.trim().to_owned())
        })
    };
    // 64-bit Arm names its CPUs by number only.
    let arm = || {
        let (implementer, part) = (field("CPU implementer")?, field("CPU part")?);
        Some(format!("Arm implementer {implementer} part {part}"))
    };
    field("model name")
        .filter(|name| !name.is_empty())
        .or_else(arm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_is_named_as_it_names_itself_or_by_its_numbers() {
        let intel = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) Processor\n";
        assert_eq!(cpu_name(intel).unwrap(), "Intel(R) Xeon(R) Processor");
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(cpu_name(arm).unwrap(), "Arm implementer 0x41 part 0xd40");
        assert_eq!(cpu_name(""), None);
    }

    #[test]
    fn this_machine_has_a_kernel_and_a_core() {
        let machine = Machine::read();
        assert!(machine.kernel.contains(' ') && !machine.cpu.is_empty());
        assert!(machine.cores >= 1);
    }
}
