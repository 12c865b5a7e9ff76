//! How long threads were ready to run but had no core.

use std::fs;

use crate::base::clock::Nanos;

/// What the scheduler did with one thread since it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadTime {
    /// The thread's number.
    pub thread_id: i32,
    /// Its name, at most 15 bytes of it.
    pub name: String,
    /// Time on a core.
    pub ran: Nanos,
    /// Time ready, but waiting for a core.
    pub waited: Nanos,
}

/// The calling thread's number, to find it among [`threads`].
pub fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// How long the calling thread has waited for a core since it began. `None` where the kernel
/// doesn't tell (it needs `CONFIG_SCHED_INFO`).
pub fn waited() -> Option<Nanos> {
    let schedstat = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    parse(&schedstat).map(|(_, waited)| waited)
}

/// All threads of this process; empty where the kernel doesn't tell. A thread that ends meanwhile is
/// left out.
pub fn threads() -> Vec<ThreadTime> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let of = |task: fs::DirEntry| {
        let (ran, waited) = parse(&fs::read_to_string(task.path().join("schedstat")).ok()?)?;
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        Some(ThreadTime {
            thread_id: task.file_name().to_str()?.parse().ok()?,
            name: name.trim_end().to_owned(),
            ran,
            waited,
        })
    };
    tasks.flatten().filter_map(of).collect()
}

/// Time run and time waited.
fn parse(schedstat: &str) -> Option<(Nanos, Nanos)> {
    let mut fields = schedstat.split_ascii_whitespace();
    let ran = fields.next()?.parse().ok()?;
    let waited = fields.next()?.parse().ok()?;
    Some((ran, waited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_figure_of_schedstat_is_the_wait() {
        assert_eq!(parse("675416 1234 7\n"), Some((675_416, 1_234)));
        assert_eq!(parse(""), None);
        assert_eq!(parse("1 x 2"), None);
    }

    #[test]
    fn a_named_thread_is_found_by_its_number() {
        let find = || {
            let id = thread_id();
            threads().into_iter().find(|thread| thread.thread_id == id)
        };
        let named = std::thread::Builder::new().name("kdyno-load-0".to_owned());
        let found = named.spawn(find).unwrap().join().unwrap();
        // Kernels without the figure give no threads at all.
        if waited().is_some() {
            assert_eq!(found.unwrap().name, "kdyno-load-0");
        }
    }
}
