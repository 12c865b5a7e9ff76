//! CPU time that this thread and this process have used.

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::base::clock::{Nanos, SECOND};

/// CPU time of the calling thread, user and system, since it began. About 0.2 µs.
pub fn thread() -> Nanos {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

/// CPU time of all threads of this process, since it began.
pub fn process() -> Nanos {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanos(time: Timespec) -> Nanos {
    time.tv_sec as Nanos * SECOND + time.tv_nsec as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn work_shows_in_the_thread_and_in_the_process() {
        // Read in this order the process's stretch holds the thread's, to the nanosecond.
        let process_before = process();
        let thread_before = thread();
        // Work is measured by the very clock, so no real time is assumed.
        while thread() - thread_before < 2_000_000 {
            black_box((0..1_000u64).sum::<u64>());
        }
        assert!(process() - process_before >= 2_000_000);
    }
}
