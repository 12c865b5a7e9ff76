//! Waiting for due times as a load thread does, with nothing to send.

use std::io;

use mio::{Events, Poll, Token};

use super::figures::{Paced, Sample};
use crate::base::clock::{self, MILLISECOND, Nanos, SECOND};
use crate::base::rate::Rate;
use crate::host::cpu;
use crate::load::arrival::{Arrival, Process, RecordBytes, Schedule, Share};
use crate::load::pacer::{Pace, Pacer};
use crate::measure::histogram::Histogram;

/// The shortest window.
const SPAN_MIN: Nanos = 1500 * MILLISECOND;
/// The fewest records due in a window.
const RECORDS_MIN: f64 = 5_000.0;
/// Time before the window.
const WARMUP: Nanos = 100 * MILLISECOND;

/// One round at `per_s` records a second.
pub fn run(per_s: f64, process: Process, pace: Pace) -> io::Result<Sample> {
    let span = SPAN_MIN.max((RECORDS_MIN / per_s * SECOND as f64) as Nanos);
    let arrival = Arrival::new(Rate::Records(per_s), process, RecordBytes::Each(1));
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(4);
    let mut pacer = Pacer::new(poll.registry(), Token(0), pace)?;
    let start = clock::now();
    let (opens, closes) = (start + WARMUP, start + WARMUP + span);
    let mut schedule = Schedule::new(&arrival, Share::ALL, start);
    let mut expected = schedule.clone();
    let mut lag = Histogram::default();
    let (mut records, mut cpu_before) = (0, None);
    let cpu = loop {
        let now = clock::now();
        if now >= closes {
            break cpu::thread();
        }
        if now >= opens {
            cpu_before.get_or_insert_with(cpu::thread);
        }
        for due in schedule.due_until(now, 1) {
            if now >= opens {
                lag.record(now - due);
                records += 1;
            }
        }
        pacer.wait(&mut poll, &mut events, now, schedule.next_due())?;
        if !events.is_empty() {
            pacer.rang();
        }
    };
    let due = due_between(&mut expected, opens, closes);
    Ok(Sample {
        records,
        bytes: 0,
        wall: span,
        cpu: cpu.saturating_sub(cpu_before.unwrap_or(cpu)),
        sink_share: None,
        paced: Some(Paced { lag, due }),
    })
}

/// Records that the schedule makes due from `opens` on and before `closes`.
fn due_between(schedule: &mut Schedule, opens: Nanos, closes: Nanos) -> u64 {
    let dues = schedule.due_until(closes - 1, 1);
    dues.filter(|due| *due >= opens).count() as u64
}
