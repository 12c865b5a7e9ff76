//! Folds the clocks of one run of records into histograms, part sums and the open interval.

use super::{Recorder, is_measured};
use crate::base::clock::Nanos;
use crate::measure::histogram::coarse;
use crate::measure::parts::{AfterAppend, PartSums};
use crate::measure::stamps::{Marks, OFFSET_UNIT_NS, Phase, Run, Spacing, Stamps};

impl Recorder {
    pub(super) fn fold_flat_out(&mut self, run: &Run, marks: &Marks) {
        let after = AfterAppend::cut(run.pass.appended, marks);
        let buffer = run.pass.appended.saturating_sub(run.pass.offered);
        let count = u64::from(run.count);
        let coarse = self.fold_send(run, buffer + after.rest);
        if is_measured(run) {
            let buffer = u128::from(buffer) * u128::from(count);
            let sums = after.sums(count, 0, buffer);
            self.recording.parts.add_row(coarse, &sums);
        }
    }

    /// Records the sends of a run, all alike; gives their coarse bucket.
    #[inline]
    fn fold_send(&mut self, run: &Run, send: Nanos) -> usize {
        let count = u64::from(run.count);
        let clocks = match run.pass.phase {
            Phase::Warmup => &mut self.recording.warmup_clocks,
            Phase::Measured => &mut self.recording.clocks,
        };
        let coarse = coarse(clocks.send.record_bucket(send, count));
        let sum = u128::from(send) * u128::from(count);
        clocks.send.add_sum(sum, count);
        self.open.send.record_n(coarse, count);
        self.open.row.send_ns_sum += sum;
        self.open.row.send_ns_max = self.open.row.send_ns_max.max(send);
        coarse
    }

    pub(super) fn fold_scheduled(&mut self, stamps: &Stamps, run: &Run, marks: &Marks) {
        let after = AfterAppend::cut(run.pass.appended, marks);
        let offered = run.pass.offered.min(run.pass.appended);
        self.fold_send(run, run.pass.appended - offered + after.rest);
        let recording = &mut self.recording;
        let due_error = match run.spacing {
            Spacing::Even { .. } => 1,
            Spacing::Irregular { .. } => OFFSET_UNIT_NS,
        };
        recording.due_ns_error = recording.due_ns_error.max(due_error);
        let (clocks, mut parts) = match run.pass.phase {
            Phase::Warmup => (&mut recording.warmup_clocks, None),
            Phase::Measured => (&mut recording.clocks, Some(&mut recording.parts)),
        };
        let response = &mut clocks.response;
        let mut whole = Segment::default();
        let mut segment = Segment::default();
        let mut close = |segment: &Segment| {
            whole.add(segment);
            self.open.response.record_n(segment.coarse, segment.records);
            if let Some(parts) = parts.as_mut() {
                parts.add_row(segment.coarse, &segment.sums(&after));
            }
        };
        for due in stamps.dues(run) {
            // A stored due time may be rounded past the mark that follows it.
            let waited = run.pass.appended.saturating_sub(due);
            let buffer = match run.pass.blocked {
                0 => 0,
                _ => run.blocked_for(due).min(waited),
            };
            let coarse = coarse(response.record_bucket(waited + after.rest, 1));
            if run.pass.phase == Phase::Measured {
                recording.lag.record_bucket(waited - buffer, 1);
            }
            if coarse != segment.coarse {
                close(&segment);
                segment = Segment::at(coarse);
            }
            segment.records += 1;
            segment.waited += u128::from(waited);
            segment.buffer += u128::from(buffer);
        }
        close(&segment);
        let response_ns = whole.response(&after);
        response.add_sum(response_ns, whole.records);
        if run.pass.phase == Phase::Measured {
            recording
                .lag
                .add_sum(whole.waited - whole.buffer, whole.records);
            if let Some(slice) = self.window.and_then(|window| window.slice_of(marks.done)) {
                recording.slices[slice].records += whole.records;
                recording.slices[slice].response_ns += response_ns;
            }
        }
    }
}

/// Consecutive records of a run whose responses share a coarse bucket.
#[derive(Default)]
struct Segment {
    coarse: usize,
    records: u64,
    waited: u128,
    buffer: u128,
}

impl Segment {
    fn at(coarse: usize) -> Self {
        Self {
            coarse,
            ..Self::default()
        }
    }

    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.waited += other.waited;
        self.buffer += other.buffer;
    }

    fn response(&self, after: &AfterAppend) -> u128 {
        self.waited + u128::from(after.rest) * u128::from(self.records)
    }

    fn sums(&self, after: &AfterAppend) -> PartSums {
        after.sums(self.records, self.waited - self.buffer, self.buffer)
    }
}
