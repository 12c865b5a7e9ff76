//! What a load thread calls: folds finished batches into counts, clocks and parts, run by run.
//!
//! The work is per run of records, not per record, except where due times differ within a run
//! (a rate was asked): there each record costs two bucket increments. Nothing here reads a clock.
//!
//! Order of calls: [`Recorder::due`] and [`Recorder::offered`] as the schedule and the lane go on,
//! then once per batch [`Recorder::acked`], [`Recorder::written`] or [`Recorder::ended`], and once
//! per answered request, after the outcomes of its batches, [`Recorder::request`].

use super::interval::{Interval, Open, ROWS_MAX};
use super::recording::{Counts, Ending, LoopTally, Recording, SLICE_COUNT, Volume};
use super::stamps::{Marks, Phase, Run, Stamps};
use crate::base::clock::Nanos;

mod fold;

/// What is recorded of each batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Counts, clocks and parts: what every run does.
    Full,
    /// Counts alone, so that `calibrate` can tell what the clocks cost.
    CountsOnly,
}

/// How records become due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrivals {
    /// As fast as they go: due means offered, there is no response, and nothing is lag.
    FlatOut,
    /// By a schedule: each record has its own due time.
    Scheduled,
}

/// How a recorder is set up; equal on all threads of a run.
#[derive(Debug, Clone, Copy)]
pub struct RecorderOptions {
    /// How much is recorded.
    pub detail: Detail,
    /// How records become due.
    pub arrivals: Arrivals,
    /// Time zero of the run: the first interval begins here.
    pub start: Nanos,
    /// Length of an interval, ns; at least 1.
    pub interval: Nanos,
}

/// The measured window, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// When it opens.
    pub start: Nanos,
    /// When it closes; none when a count of records ends it (then it closes at the last
    /// acknowledgement of a measured record).
    pub end: Option<Nanos>,
    /// When the schedule makes its last record due, if there is a schedule; cuts the slices in
    /// which a growing backlog is looked for.
    pub end_planned: Option<Nanos>,
}

/// One acknowledged (acks=0: written) batch.
#[derive(Debug, Clone, Copy)]
pub struct Acked {
    /// The partition, as the load numbers the partitions it writes to, from 0.
    pub partition: u32,
    /// The broker that took it.
    pub node: i32,
    /// Records in it.
    pub records: u32,
    /// Key, value and headers of all records, uncompressed.
    pub payload_bytes: u64,
    /// The batch before compression, header included.
    pub raw_bytes: u64,
    /// The batch as sent.
    pub wire_bytes: u64,
}

/// One answered request, of which at least the connection and the times are known.
#[derive(Debug, Clone, Copy)]
pub struct Answered {
    /// The broker that answered.
    pub node: i32,
    /// When the socket had taken the request's last byte.
    pub last_byte_written: Nanos,
    /// When the first byte of the answer was read.
    pub first_byte_read: Nanos,
    /// The pause the answer asked for, ns; 0 when none.
    pub throttled: Nanos,
}

/// Records for one load thread.
#[derive(Debug)]
pub struct Recorder {
    options: RecorderOptions,
    window: Option<Window>,
    recording: Recording,
    open: Open,
    open_until: Nanos,
    outstanding: u64,
    outstanding_since: Nanos,
    phase: Phase,
    request_is_measured: bool,
    loops: LoopTally,
    rows_shown: usize,
}

impl Recorder {
    /// A recorder that has recorded nothing.
    pub fn new(options: RecorderOptions) -> Self {
        let mut recording = Recording::default();
        recording.series.start = options.start;
        recording.series.length = options.interval;
        Self {
            options,
            window: None,
            recording,
            open: Open::new(),
            open_until: options.start + options.interval,
            outstanding: 0,
            outstanding_since: options.start,
            phase: Phase::Warmup,
            request_is_measured: false,
            loops: LoopTally::default(),
            rows_shown: 0,
        }
    }

    /// Says when the window is; before the first measured record becomes due.
    pub fn set_window(&mut self, window: Window) {
        self.window = Some(window);
    }

    /// The schedule made `records` due (flat out: they were offered).
    #[inline]
    pub fn due(&mut self, phase: Phase, records: u64) {
        self.phase = phase;
        self.counts(phase).due += records;
        self.open.row.due += records;
    }

    /// The lane made its first attempt to append `records`, at `now`, which is their *offered*.
    #[inline]
    pub fn offered(&mut self, now: Nanos, phase: Phase, records: u64) {
        if phase == Phase::Measured {
            self.integrate(now);
            self.outstanding += records;
            let most = &mut self.recording.outstanding.records_max;
            *most = (*most).max(self.outstanding);
        }
    }

    /// A batch was acknowledged at `marks.done`.
    pub fn acked(&mut self, stamps: &Stamps, marks: &Marks, batch: &Acked) {
        let measured = self.took(stamps, marks.done, batch, |counts| &mut counts.acked);
        if measured > 0 {
            self.recording.last_done = self.recording.last_done.max(marks.done);
            self.settle(marks.done, measured);
        }
        if self.options.detail == Detail::Full {
            for run in stamps.runs() {
                match self.options.arrivals {
                    Arrivals::FlatOut => self.fold_flat_out(run, marks),
                    Arrivals::Scheduled => self.fold_scheduled(stamps, run, marks),
                }
            }
        }
    }

    /// A batch was written whole at `now`, and with acks=0 that is all there is to know.
    pub fn written(&mut self, stamps: &Stamps, now: Nanos, batch: &Acked) {
        let measured = self.took(stamps, now, batch, |counts| &mut counts.written);
        if measured > 0 {
            self.recording.last_done = self.recording.last_done.max(now);
            self.settle(now, measured);
        }
    }

    /// Records ended at `now` without being acknowledged. Those that were never offered are not
    /// on their way: say so with [`Self::never_offered`].
    pub fn ended(&mut self, ending: Ending, name: &'static str, stamps: &Stamps, now: Nanos) {
        let measured = self.end(ending, name, stamps, now);
        let offered = stamps.runs().iter().filter(|run| is_measured(run));
        self.recording.outstanding.ended_age_ns += offered
            .map(|run| u128::from(now.saturating_sub(run.pass.offered)) * u128::from(run.count))
            .sum::<u128>();
        self.settle(now, measured);
    }

    /// Records that were due but that the lane never tried to append ended at `now`: unsent.
    /// Their stamps' offered and appended mean nothing.
    pub fn never_offered(&mut self, name: &'static str, stamps: &Stamps, now: Nanos) {
        self.end(Ending::Unsent, name, stamps, now);
    }

    /// A batch of `records` will be sent once more.
    #[inline]
    pub fn retried(&mut self, records: u32) {
        let phase = self.phase;
        self.counts(phase).retried_records += u64::from(records);
    }

    /// A request ended in which at least one batch has to be sent again.
    #[inline]
    pub fn request_retried(&mut self) {
        let phase = self.phase;
        self.counts(phase).retried_requests += 1;
    }

    /// A request was answered. Call it after the outcomes of its batches: it counts as measured
    /// when one of them held a measured record.
    #[inline]
    pub fn request(&mut self, answered: &Answered) {
        if !std::mem::take(&mut self.request_is_measured) {
            return;
        }
        self.recording.requests += 1;
        let full = self.options.detail == Detail::Full;
        let node = self.recording.node_mut(answered.node);
        if answered.throttled > 0 {
            node.throttled_replies += 1;
            node.throttled_ns += answered.throttled;
        }
        if full {
            let sent = answered.last_byte_written;
            node.request
                .record(answered.first_byte_read.saturating_sub(sent));
        }
    }

    /// One round of the load loop: the time since the poll before, and how much of it was work.
    #[inline]
    pub fn looped(&mut self, since_last_poll: Nanos, busy: Nanos) {
        self.loops.pause_ns_max = self.loops.pause_ns_max.max(since_last_poll);
        if self.phase == Phase::Measured {
            self.loops.busy_ns += busy;
        }
    }

    /// A lane was blocked on `buffer.memory` for `span`.
    #[inline]
    pub fn blocked_on_memory(&mut self, span: Nanos) {
        if self.phase == Phase::Measured {
            self.loops.memory_blocked_ns += span;
        }
    }

    /// A connection had a request to send for `span` and its in-flight window was full.
    #[inline]
    pub fn blocked_on_window(&mut self, span: Nanos) {
        if self.phase == Phase::Measured {
            self.loops.window_blocked_ns += span;
        }
    }

    /// Closes the intervals that lie wholly before `now` and gives those closed since the last
    /// call, for showing progress. Call it once a tick.
    pub fn tick(&mut self, now: Nanos) -> &[Interval] {
        self.roll_to(now);
        let rows = &self.recording.series.rows;
        let fresh = std::mem::replace(&mut self.rows_shown, rows.len());
        &rows[fresh..]
    }

    /// How long intervals are at present.
    pub fn interval(&self) -> Nanos {
        self.recording.series.length
    }

    /// Ends the recording at `now`, the end of the drain.
    pub fn finish(mut self, now: Nanos) -> Recording {
        self.roll_to(now);
        self.integrate(now);
        self.close_interval();
        self.recording.loops.push(self.loops);
        self.recording
    }
}

/// Counting.
impl Recorder {
    #[inline]
    fn counts(&mut self, phase: Phase) -> &mut Counts {
        match phase {
            Phase::Warmup => &mut self.recording.warmup,
            Phase::Measured => &mut self.recording.measured,
        }
    }

    /// Counts a batch that was acknowledged or written; gives its measured records.
    #[inline]
    fn took(
        &mut self,
        stamps: &Stamps,
        done: Nanos,
        batch: &Acked,
        counter: impl Fn(&mut Counts) -> &mut u64,
    ) -> u64 {
        let (warmup, measured) = by_phase(stamps);
        *counter(&mut self.recording.warmup) += warmup;
        *counter(&mut self.recording.measured) += measured;
        let volume = batch.volume();
        self.roll_to(done);
        self.open.row.acked += volume.records;
        self.open.row.payload_bytes += volume.payload_bytes;
        self.open.row.wire_bytes += volume.wire_bytes;
        if self.window.is_some_and(|window| window.holds(done)) {
            self.recording.in_window.add(&volume);
        }
        if measured > 0 {
            self.request_is_measured = true;
            self.recording.batches.count += 1;
            self.recording.batches.volume.add(&volume);
            let share = volume.share(measured);
            self.recording.volume.add(&share);
            let partition = self.recording.partition_mut(batch.partition);
            partition.records += measured;
            partition.payload_bytes += share.payload_bytes;
            self.recording.node_mut(batch.node).records += measured;
        }
        measured
    }

    fn end(&mut self, ending: Ending, name: &'static str, stamps: &Stamps, now: Nanos) -> u64 {
        let (warmup, measured) = by_phase(stamps);
        for (phase, records) in [(Phase::Warmup, warmup), (Phase::Measured, measured)] {
            let counts = self.counts(phase);
            match ending {
                Ending::Failed => counts.failed += records,
                Ending::Unknown => counts.unknown += records,
                Ending::Unsent => counts.unsent += records,
            }
        }
        self.roll_to(now);
        self.open.row.ended_otherwise += warmup + measured;
        if measured > 0 {
            self.request_is_measured = true;
            self.recording.count_error(ending, name, measured);
            self.censor(stamps, now);
        }
        measured
    }

    /// Records the ages of measured records that will never have a response.
    fn censor(&mut self, stamps: &Stamps, now: Nanos) {
        let censored = &mut self.recording.response_censored;
        for run in stamps.runs().iter().filter(|run| is_measured(run)) {
            match self.options.arrivals {
                Arrivals::FlatOut => {
                    censored.record_n(now.saturating_sub(run.pass.offered), u64::from(run.count));
                }
                Arrivals::Scheduled => {
                    for due in stamps.dues(run) {
                        censored.record(now.saturating_sub(due));
                    }
                }
            }
        }
    }

    /// Measured records left the way at `now`.
    #[inline]
    fn settle(&mut self, now: Nanos, records: u64) {
        self.integrate(now);
        self.outstanding = self.outstanding.saturating_sub(records);
    }

    #[inline]
    fn integrate(&mut self, now: Nanos) {
        let span = now.saturating_sub(self.outstanding_since);
        self.recording.outstanding.integral_record_ns +=
            u128::from(self.outstanding) * u128::from(span);
        self.outstanding_since = self.outstanding_since.max(now);
    }

    #[inline]
    fn roll_to(&mut self, now: Nanos) {
        while now >= self.open_until {
            self.close_interval();
        }
    }

    #[cold]
    fn close_interval(&mut self) {
        let row = self.open.close();
        let series = &mut self.recording.series;
        series.rows.push(row);
        // Only an even number of rows leaves the next interval where a longer one begins.
        if series.rows.len() >= ROWS_MAX && series.rows.len().is_multiple_of(2) {
            series.join_neighbours();
            self.rows_shown = self.rows_shown.min(series.rows.len());
        }
        self.open_until += series.length;
    }
}

impl Window {
    /// Whether an acknowledgement at `done` lies in the window.
    #[inline]
    fn holds(&self, done: Nanos) -> bool {
        done >= self.start && self.end.is_none_or(|end| done <= end)
    }

    /// The slice of the planned window that `done` lies in.
    fn slice_of(&self, done: Nanos) -> Option<usize> {
        let span = self.end_planned?.checked_sub(self.start)?;
        let at = done.checked_sub(self.start)?;
        let slice = u128::from(at) * SLICE_COUNT as u128 / u128::from(span.max(1));
        usize::try_from(slice)
            .ok()
            .filter(|slice| *slice < SLICE_COUNT)
    }
}

impl Acked {
    fn volume(&self) -> Volume {
        Volume {
            records: u64::from(self.records),
            payload_bytes: self.payload_bytes,
            raw_bytes: self.raw_bytes,
            wire_bytes: self.wire_bytes,
        }
    }
}

impl Volume {
    /// The part of a batch that `records` of its records are. Exact unless the batch crosses the
    /// border of the phases and its records differ in size.
    fn share(&self, records: u64) -> Self {
        if records == self.records {
            return *self;
        }
        let of = |bytes: u64| {
            (u128::from(bytes) * u128::from(records) / u128::from(self.records.max(1))) as u64
        };
        Self {
            records,
            payload_bytes: of(self.payload_bytes),
            raw_bytes: of(self.raw_bytes),
            wire_bytes: of(self.wire_bytes),
        }
    }
}

fn is_measured(run: &Run) -> bool {
    run.pass.phase == Phase::Measured
}

/// Records of the warm-up and of the measured phase.
#[inline]
fn by_phase(stamps: &Stamps) -> (u64, u64) {
    let mut counts = (0, 0);
    for run in stamps.runs() {
        match run.pass.phase {
            Phase::Warmup => counts.0 += u64::from(run.count),
            Phase::Measured => counts.1 += u64::from(run.count),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{MILLISECOND, SECOND};
    use crate::base::rng::Rng;
    use crate::measure::histogram::{Histogram, Quantile};
    use crate::measure::parts::Part;
    use crate::measure::stamps::Pass;
    use proptest::prelude::*;

    const STEP_FP: u64 = 5_000 << 32;

    fn recorder(arrivals: Arrivals) -> Recorder {
        let mut recorder = Recorder::new(RecorderOptions {
            detail: Detail::Full,
            arrivals,
            start: 0,
            interval: SECOND,
        });
        recorder.set_window(Window {
            start: 0,
            end: Some(10 * SECOND),
            end_planned: Some(10 * SECOND),
        });
        recorder
    }

    fn pass(appended: Nanos) -> Pass {
        Pass {
            phase: Phase::Measured,
            offered: appended,
            appended,
            blocked: 0,
            block_from: 0,
        }
    }

    fn batch(records: u32) -> Acked {
        Acked {
            partition: 1,
            node: 7,
            records,
            payload_bytes: u64::from(records) * 100,
            raw_bytes: u64::from(records) * 107 + 61,
            wire_bytes: u64::from(records) * 50 + 61,
        }
    }

    fn marks(ready: Nanos, done: Nanos) -> Marks {
        Marks {
            ready,
            first_byte_written: ready + 1_000,
            last_byte_written: ready + 3_000,
            first_byte_read: done - 500,
            done,
            ..Marks::default()
        }
    }

    #[test]
    fn a_run_at_a_constant_rate_is_recorded_as_each_of_its_records_would_be() {
        let mut stamps = Stamps::default();
        let at = pass(9 * MILLISECOND);
        for i in 0..400 {
            stamps.push_even(7 * MILLISECOND + i * 5_000, STEP_FP, &at);
        }
        let done = 12 * MILLISECOND;
        let mut recorder = recorder(Arrivals::Scheduled);
        recorder.acked(&stamps, &marks(10 * MILLISECOND, done), &batch(400));
        let recording = recorder.finish(done);

        let mut expected = Histogram::default();
        for i in 0..400 {
            expected.record(done - (7 * MILLISECOND + i * 5_000));
        }
        assert_eq!(recording.clocks.response, expected);
        assert_eq!(recording.parts.all().total_ns(), expected.sum_ns());
        let lag = recording.parts.all().ns[Part::Lag as usize];
        assert_eq!(lag, recording.lag.sum_ns());
        assert_eq!(recording.lag.count(), 400);
        assert_eq!(recording.series.rows[0].response.count(), 400);
        assert_eq!(
            recording.clocks.send.quantile(Quantile::P50),
            expected_send(3)
        );
    }

    fn expected_send(ms: u64) -> Option<Nanos> {
        let mut send = Histogram::default();
        send.record(ms * MILLISECOND);
        send.max()
    }

    #[test]
    fn flat_out_has_no_response_and_its_parts_sum_to_send_without_lag() {
        let mut stamps = Stamps::default();
        let waited = Pass {
            offered: 1_000,
            appended: 5_000,
            blocked: 3_900,
            block_from: 1_000,
            phase: Phase::Measured,
        };
        for _ in 0..10 {
            stamps.push_even(1_000, 0, &waited);
        }
        let mut recorder = recorder(Arrivals::FlatOut);
        recorder.acked(&stamps, &marks(6_000, 20_000), &batch(10));
        let recording = recorder.finish(20_000);
        assert_eq!(recording.clocks.response.count(), 0);
        let parts = recording.parts.all();
        assert_eq!(parts.total_ns(), recording.clocks.send.sum_ns());
        assert_eq!(parts.means().of(Part::Lag), 0.0);
        assert_eq!(parts.means().of(Part::Buffer), 4_000.0);
    }

    #[test]
    fn time_blocked_on_memory_is_buffer_and_only_the_rest_is_lag() {
        let mut stamps = Stamps::default();
        // Blocked from 2 ms to 10 ms; appended at 10.2 ms. Due before, inside and after the block.
        let blocked = Pass {
            phase: Phase::Measured,
            offered: 2 * MILLISECOND,
            appended: 10_200_000,
            blocked: 8 * MILLISECOND,
            block_from: 2 * MILLISECOND,
        };
        for due in [MILLISECOND, 6 * MILLISECOND, 10_100_000] {
            stamps.push_irregular(due, &blocked);
        }
        let mut recorder = recorder(Arrivals::Scheduled);
        recorder.acked(&stamps, &marks(10_200_000, 12 * MILLISECOND), &batch(3));
        let parts = recorder.finish(12 * MILLISECOND).parts.all();
        let near = |part: Part, ns: u128| {
            assert!(
                parts.ns[part as usize].abs_diff(ns) < 300,
                "{part:?} {parts:?}"
            );
        };
        near(Part::Buffer, 8_000_000 + 4_000_000);
        near(Part::Lag, 1_200_000 + 200_000 + 100_000);
    }

    #[test]
    fn warm_up_records_stay_out_of_the_measured_figures_even_within_one_batch() {
        let mut stamps = Stamps::default();
        let warm = Pass {
            phase: Phase::Warmup,
            ..pass(MILLISECOND)
        };
        for i in 0..4 {
            stamps.push_even(
                MILLISECOND + i,
                1 << 32,
                &if i < 3 { warm } else { pass(MILLISECOND) },
            );
        }
        let mut recorder = recorder(Arrivals::Scheduled);
        recorder.due(Phase::Warmup, 3);
        recorder.due(Phase::Measured, 1);
        recorder.acked(&stamps, &marks(2 * MILLISECOND, 3 * MILLISECOND), &batch(4));
        let recording = recorder.finish(3 * MILLISECOND);
        assert_eq!((recording.warmup.acked, recording.measured.acked), (3, 1));
        assert_eq!(recording.warmup_clocks.response.count(), 3);
        assert_eq!(recording.clocks.response.count(), 1);
        assert_eq!(recording.volume.payload_bytes, 100);
        assert_eq!(recording.batches.volume.records, 4);
        assert_eq!(recording.partitions[1].records, 1);
    }

    #[test]
    fn what_was_not_acknowledged_keeps_its_age_apart_and_its_name() {
        let mut stamps = Stamps::default();
        stamps.push_even(MILLISECOND, STEP_FP, &pass(MILLISECOND));
        let mut recorder = recorder(Arrivals::Scheduled);
        recorder.offered(MILLISECOND, Phase::Measured, 1);
        let name = "TOPIC_AUTHORIZATION_FAILED";
        recorder.ended(Ending::Failed, name, &stamps, 4 * MILLISECOND);
        recorder.never_offered("RUN_ENDED", &stamps, 5 * MILLISECOND);
        let recording = recorder.finish(5 * MILLISECOND);
        assert_eq!(
            (recording.measured.failed, recording.measured.unsent),
            (1, 1)
        );
        assert_eq!(recording.clocks.send.count(), 0);
        assert_eq!(recording.response_censored.count(), 2);
        assert_eq!(recording.response_censored.sum_ns(), 7_000_000);
        assert_eq!(recording.errors[0].name, name);
        assert_eq!(recording.outstanding.integral_record_ns, 3_000_000);
        assert_eq!(recording.outstanding.ended_age_ns, 3_000_000);
    }

    #[test]
    fn littles_law_holds_between_the_integral_and_the_sends() {
        let mut recorder = recorder(Arrivals::FlatOut);
        let mut rng = Rng::new(1, 0);
        let mut waiting = std::collections::VecDeque::new();
        let mut now = 0;
        for _ in 0..2_000 {
            now += rng.below(1_000);
            let mut stamps = Stamps::default();
            for _ in 0..10 {
                stamps.push_even(now, 0, &pass(now));
            }
            recorder.offered(now, Phase::Measured, 10);
            waiting.push_back(stamps);
            if waiting.len() > 5 {
                now += 10;
                let done = waiting.pop_front().expect("just counted");
                recorder.acked(&done, &marks(now - 5, now), &batch(10));
            }
        }
        for done in waiting {
            now += 500;
            recorder.acked(&done, &marks(now - 5, now), &batch(10));
        }
        let recording = recorder.finish(now);
        assert_eq!(
            recording.outstanding.integral_record_ns,
            recording.clocks.send.sum_ns()
        );
        assert_eq!(recording.outstanding.records_max, 60);
    }

    #[test]
    fn only_acknowledgements_inside_the_window_make_throughput() {
        let mut recorder = recorder(Arrivals::FlatOut);
        for done in [10 * SECOND, 10 * SECOND + 1] {
            let mut stamps = Stamps::default();
            stamps.push_even(SECOND, 0, &pass(SECOND));
            recorder.acked(&stamps, &marks(2 * SECOND, done), &batch(1));
        }
        let recording = recorder.finish(11 * SECOND);
        assert_eq!(recording.in_window.records, 1);
        assert_eq!(recording.measured.acked, 2);
    }

    #[test]
    fn a_request_is_measured_when_one_of_its_batches_was() {
        let mut recorder = recorder(Arrivals::FlatOut);
        let answered = Answered {
            node: 7,
            last_byte_written: 100,
            first_byte_read: 1_100,
            throttled: 5,
        };
        recorder.request(&answered);
        let mut stamps = Stamps::default();
        stamps.push_even(10, 0, &pass(10));
        recorder.acked(&stamps, &marks(50, 1_200), &batch(1));
        recorder.request(&answered);
        let recording = recorder.finish(1_200);
        assert_eq!(recording.requests, 1);
        assert_eq!(recording.nodes[0].request.sum_ns(), 1_000);
        assert_eq!(
            (
                recording.nodes[0].throttled_replies,
                recording.nodes[0].throttled_ns
            ),
            (1, 5)
        );
    }

    #[test]
    fn intervals_without_anything_are_rows_too() {
        let mut recorder = recorder(Arrivals::FlatOut);
        assert!(recorder.tick(SECOND - 1).is_empty());
        recorder.due(Phase::Measured, 3);
        assert_eq!(recorder.tick(3 * SECOND).len(), 3);
        assert!(recorder.tick(3 * SECOND).is_empty());
        let recording = recorder.finish(3 * SECOND + 1);
        let due: Vec<u64> = recording.series.rows.iter().map(|row| row.due).collect();
        assert_eq!(due, [3, 0, 0, 0]);
    }

    #[test]
    fn threads_merge_to_what_one_thread_would_have_recorded() {
        let mut rng = Rng::new(3, 0);
        let mut one = recorder(Arrivals::Scheduled);
        let mut two = [recorder(Arrivals::Scheduled), recorder(Arrivals::Scheduled)];
        let end = 3 * SECOND;
        for i in 0..100 {
            let mut stamps = Stamps::default();
            let at = i * 20 * MILLISECOND + MILLISECOND;
            for j in 0..20 {
                stamps.push_even(at - MILLISECOND + j * 5_000, STEP_FP, &pass(at));
            }
            let marks = marks(at + 10, at + MILLISECOND + rng.below(SECOND));
            one.acked(&stamps, &marks, &batch(20));
            two[i as usize % 2].acked(&stamps, &marks, &batch(20));
        }
        let mut one = one.finish(end);
        let [left, right] = two.map(|recorder| recorder.finish(end));
        let mut merged = left;
        merged.add(&right);
        one.loops.clear();
        merged.loops.clear();
        assert_eq!(merged.clocks, one.clocks);
        assert_eq!(merged.parts, one.parts);
        assert_eq!(merged.slices, one.slices);
        assert_eq!(merged.batches, one.batches);
        let acked =
            |recording: &Recording| recording.series.rows.iter().map(|r| r.acked).sum::<u64>();
        assert_eq!(acked(&merged), acked(&one));
    }

    proptest! {
        #[test]
        fn every_record_is_counted_once_and_its_parts_are_its_response(
            passes in proptest::collection::vec(
                (0u64..2_000_000, 0u64..3_000_000, 0u64..3_000_000, 1u64..40, any::<bool>(), any::<bool>()),
                1..8,
            ),
            ready in 0u64..8_000_000, first in 0u64..8_000_000, last in 0u64..8_000_000,
            read in 0u64..8_000_000, done in 4_000_000u64..9_000_000, throttled in 0u64..1_000_000,
        ) {
            let mut stamps = Stamps::default();
            let mut due = [0u64; 2];
            for (first_due, wait, blocked, count, is_warm, is_even) in passes {
                let appended = first_due + wait;
                let phase = if is_warm { Phase::Warmup } else { Phase::Measured };
                let at = Pass { phase, offered: appended, appended, blocked, block_from: first_due };
                for i in 0..count {
                    match is_even {
                        true => stamps.push_even(first_due + i * 5_000, STEP_FP, &at),
                        false => stamps.push_irregular(first_due + i * i * 3_000, &at),
                    }
                }
                due[usize::from(is_warm)] += count;
            }
            let marks = Marks {
                ready, first_byte_written: first, last_byte_written: last, first_byte_read: read,
                done, throttled, earlier_attempts: 0,
            };
            let mut recorder = recorder(Arrivals::Scheduled);
            recorder.acked(&stamps, &marks, &batch(stamps.count() as u32));
            let recording = recorder.finish(done);
            prop_assert_eq!([recording.measured.acked, recording.warmup.acked], due);
            let parts = recording.parts.all();
            prop_assert_eq!(parts.records, due[0]);
            prop_assert_eq!(recording.clocks.response.count(), due[0]);
            prop_assert_eq!(recording.lag.count(), due[0]);
            prop_assert_eq!(recording.warmup_clocks.response.count(), due[1]);
            prop_assert_eq!(parts.total_ns(), recording.clocks.response.sum_ns());
            prop_assert_eq!(parts.ns[Part::Lag as usize], recording.lag.sum_ns());
            let rows: u64 = recording.series.rows.iter().map(|row| row.response.count()).sum();
            prop_assert_eq!(rows, due[0] + due[1]);
        }
    }
}
