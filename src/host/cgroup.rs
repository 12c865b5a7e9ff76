//! The CPU limit of the container we run in, and how long it held us back.

use std::fs;
use std::path::{Path, PathBuf};

use crate::base::clock::Nanos;

/// The control groups, from our own up to the root, that limit CPU time.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuLimit {
    groups: Vec<PathBuf>,
    version: Version,
    /// CPUs allowed by the tightest of them.
    pub cpus: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

impl CpuLimit {
    /// Looks for a limit on this process; `None` when there is none.
    pub fn find() -> Option<Self> {
        let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
        Self::find_in(Path::new("/sys/fs/cgroup"), &membership)
    }

    fn find_in(root: &Path, membership: &str) -> Option<Self> {
        let (mount, version, path) = locate(root, membership)?;
        let mut own = mount.join(path.trim_start_matches('/'));
        if !own.is_dir() {
            // In a container without a namespace of its own, the path is the host's, the mount ours.
            own.clone_from(&mount);
        }
        let limits: Vec<(PathBuf, f64)> = own
            .ancestors()
            .take_while(|group| group.starts_with(&mount))
            .filter_map(|group| Some((group.to_owned(), cpus_of(group, version)?)))
            .collect();
        let cpus = limits.iter().map(|(_, cpus)| *cpus).reduce(f64::min)?;
        Some(Self {
            groups: limits.into_iter().map(|(group, _)| group).collect(),
            version,
            cpus,
        })
    }

    /// How long the groups have been held back since they were made: that of the group held longest.
    pub fn throttled(&self) -> Option<Nanos> {
        let of = |group: &PathBuf| throttled(group, self.version);
        self.groups.iter().filter_map(of).max()
    }
}

/// Where the CPU controller is mounted, which version it speaks, and our path below it.
fn locate<'a>(root: &Path, membership: &'a str) -> Option<(PathBuf, Version, &'a str)> {
    let mut groups = membership.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        fields.next()?;
        Some((fields.next()?, fields.next()?))
    });
    let v1 = groups
        .clone()
        .find(|(controllers, _)| controllers.split(',').any(|name| name == "cpu"));
    if let Some((controllers, path)) = v1 {
        let mount = [controllers, "cpu"]
            .into_iter()
            .map(|name| root.join(name))
            .find(|mount| mount.is_dir())?;
        return Some((mount, Version::V1, path));
    }
    let (_, path) = groups.find(|(controllers, _)| controllers.is_empty())?;
    Some((root.to_owned(), Version::V2, path))
}

/// CPUs a group allows; `None` without a limit.
fn cpus_of(group: &Path, version: Version) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let (quota, period) = match version {
        Version::V1 => {
            let read = |name| number(&fs::read_to_string(group.join(name)).ok()?);
            (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
        }
        Version::V2 => {
            let max = fs::read_to_string(group.join("cpu.max")).ok()?;
            // "max" in the place of the quota is no number, and no limit.
            let (quota, period) = max.trim().split_once(' ')?;
            (number(quota)?, number(period)?)
        }
    };
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

fn throttled(group: &Path, version: Version) -> Option<Nanos> {
    let stat = fs::read_to_string(group.join("cpu.stat")).ok()?;
    let (name, unit) = match version {
        Version::V1 => ("throttled_time ", 1),
        Version::V2 => ("throttled_usec ", 1_000),
    };
    let time: Nanos = stat
        .lines()
        .find_map(|line| line.strip_prefix(name))?
        .trim()
        .parse()
        .ok()?;
    Some(time.saturating_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn version_2_gives_the_tightest_limit_of_all_groups_above() {
        let root = tempfile::tempdir().unwrap();
        let pod = root.path().join("pod");
        write(pod.join("cpu.max"), "150000 100000\n");
        write(
            pod.join("cpu.stat"),
            "nr_throttled 3\nthrottled_usec 2500\n",
        );
        write(pod.join("box/cpu.max"), "max 100000\n");
        let limit = CpuLimit::find_in(root.path(), "0::/pod/box\n").unwrap();
        assert_eq!(limit.cpus, 1.5);
        assert_eq!(limit.throttled(), Some(2_500_000));
    }

    #[test]
    fn version_1_has_its_own_files_and_unit() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("cpu,cpuacct/box");
        write(group.join("cpu.cfs_quota_us"), "50000\n");
        write(group.join("cpu.cfs_period_us"), "100000\n");
        write(group.join("cpu.stat"), "nr_periods 9\nthrottled_time 777\n");
        let membership = "4:memory:/x\n3:cpu,cpuacct:/box\n0::/\n";
        let limit = CpuLimit::find_in(root.path(), membership).unwrap();
        assert_eq!((limit.cpus, limit.throttled()), (0.5, Some(777)));
    }

    #[test]
    fn a_path_of_the_host_that_is_not_mounted_falls_back_to_the_mount() {
        let root = tempfile::tempdir().unwrap();
        write(root.path().join("cpu.max"), "200000 100000\n");
        let limit = CpuLimit::find_in(root.path(), "0::/kubepods/pod7/abc\n").unwrap();
        assert_eq!((limit.cpus, limit.throttled()), (2.0, None));
    }

    #[test]
    fn no_limit_is_none() {
        let root = tempfile::tempdir().unwrap();
        write(root.path().join("cpu/cpu.cfs_quota_us"), "-1\n");
        write(root.path().join("cpu/cpu.cfs_period_us"), "100000\n");
        assert_eq!(CpuLimit::find_in(root.path(), "1:cpu:/\n0::/\n"), None);
        assert_eq!(CpuLimit::find_in(root.path(), "0::/\n"), None);
        assert_eq!(CpuLimit::find_in(root.path(), ""), None);
    }
}
