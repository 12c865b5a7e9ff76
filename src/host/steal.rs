//! The machine's CPU time: how much of it was used, and how much the hypervisor gave to others while
//! this machine wanted it.

use std::fs;

/// A reading of the machine's CPU time, in ticks over all CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTicks {
    total: u64,
    idle: u64,
    steal: u64,
}

impl CpuTicks {
    /// Reads `/proc/stat`.
    pub fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<Self> {
        let all = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        // user nice system idle iowait irq softirq steal; guest time behind it is in user already.
        let ticks: Vec<u64> = all
            .split_ascii_whitespace()
            .take(8)
            .map_while(|field| field.parse().ok())
            .collect();
        Some(Self {
            steal: *ticks.get(7)?,
            idle: ticks[3] + ticks[4],
            total: ticks.iter().sum(),
        })
    }

    /// The share of CPU time that was not idle since `earlier`, 0 to 1; what was stolen is in it.
    pub fn busy_share_since(self, earlier: Self) -> f64 {
        let total = self.total.saturating_sub(earlier.total);
        let idle = self.idle.saturating_sub(earlier.idle);
        if total == 0 {
            return 0.0;
        }
        1.0 - (idle as f64 / total as f64).min(1.0)
    }

    /// The share of CPU time stolen since `earlier`, 0 to 1.
    pub fn steal_share_since(self, earlier: Self) -> f64 {
        // The kernel's counters may step back a little when CPUs come and go.
        let total = self.total.saturating_sub(earlier.total);
        let steal = self.steal.saturating_sub(earlier.steal);
        if total == 0 {
            return 0.0;
        }
        (steal as f64 / total as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_all_ticks_between_two_readings() {
        let before = CpuTicks::parse("cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1 2\n").unwrap();
        let after = CpuTicks::parse("cpu  200 0 150 800 0 0 0 150 90 0\n").unwrap();
        let share = after.steal_share_since(before);
        assert!((share - 50.0 / 300.0).abs() < 1e-12);
        assert!((after.busy_share_since(before) - 200.0 / 300.0).abs() < 1e-12);
        assert_eq!(after.busy_share_since(after), 0.0);
        assert_eq!(before.steal_share_since(after), 0.0);
        assert_eq!(after.steal_share_since(after), 0.0);
    }

    #[test]
    fn a_kernel_that_tells_no_steal_is_none() {
        assert_eq!(CpuTicks::parse("cpu  1 2 3 4\n"), None);
        assert_eq!(CpuTicks::parse("intr 5\n"), None);
        assert!(CpuTicks::read().is_some());
    }
}
