//! A client and a broker played in hand-driven time: one partition, one connection, a tick of 1 ms.

use std::collections::VecDeque;

use super::outcomes::START;
use kdyno::base::clock::{MILLISECOND, Nanos, SECOND};
use kdyno::measure::recorder::{
    Acked, Answered, Arrivals, Detail, Recorder, RecorderOptions, Window,
};
use kdyno::measure::recording::{Ending, Recording};
use kdyno::measure::stamps::{Marks, Pass, Phase, Stamps};

/// What to play.
#[derive(Debug, Clone, Copy)]
pub struct Played {
    /// How records become due.
    pub arrivals: Arrivals,
    /// Records a second.
    pub rate: u64,
    /// Length of the warm-up.
    pub warmup: Nanos,
    /// Length of the window.
    pub measured: Nanos,
    /// `linger.ms`.
    pub linger: Nanos,
    /// `max.in.flight.requests.per.connection`.
    pub in_flight_max: usize,
    /// From the last byte written to the answer.
    pub answer_after: Nanos,
    /// The broker answers nothing between these times.
    pub stalled: Option<(Nanos, Nanos)>,
    /// Every so many requests are refused; 0: none.
    pub refuse_every: u64,
    /// How long answers are awaited after the window.
    pub drain: Nanos,
}

/// Plays it and gives what was recorded.
pub fn play(played: &Played) -> Recording {
    let window_start = START + played.warmup;
    let window_end = window_start + played.measured;
    let mut recorder = Recorder::new(RecorderOptions {
        detail: Detail::Full,
        arrivals: played.arrivals,
        start: START,
        interval: SECOND,
    });
    recorder.set_window(Window {
        start: window_start,
        end: Some(window_end),
        end_planned: Some(window_end),
    });
    let mut player = Player {
        played,
        recorder,
        next: 0,
        total: (window_end - START) * played.rate / SECOND,
        batch: None,
        waiting: VecDeque::new(),
        in_flight: VecDeque::new(),
        requests: 0,
        window_full_since: None,
    };
    let mut now = START;
    while now < window_end || now < window_end + played.drain && !player.is_done() {
        player.tick(now);
        now += MILLISECOND;
    }
    player.finish(now)
}

/// A batch holds at most so many records, and so many batches wait at most.
const BATCH_RECORDS_MAX: u64 = 100;
const WAITING_MAX: usize = 1_000;

struct Player<'a> {
    played: &'a Played,
    recorder: Recorder,
    next: u64,
    total: u64,
    batch: Option<Open>,
    waiting: VecDeque<Open>,
    in_flight: VecDeque<Sent>,
    requests: u64,
    window_full_since: Option<Nanos>,
}

struct Open {
    ready: Nanos,
    stamps: Stamps,
}

struct Sent {
    open: Open,
    number: u64,
    written: Nanos,
    answered: Nanos,
}

impl Player<'_> {
    fn is_done(&self) -> bool {
        let waiting = self.waiting.len() + self.in_flight.len();
        self.next == self.total && waiting == 0 && self.batch.is_none()
    }

    fn tick(&mut self, now: Nanos) {
        while let Some(sent) = self.in_flight.pop_front_if(|sent| sent.answered <= now) {
            self.answer(sent);
        }
        self.append(now);
        self.close(now);
        self.send(now);
        self.recorder.looped(MILLISECOND, MILLISECOND / 20);
    }

    fn due(&self, index: u64) -> Nanos {
        START + index * SECOND / self.played.rate
    }

    fn step_fp(&self) -> u64 {
        ((u128::from(SECOND) << 32) / u128::from(self.played.rate)) as u64
    }

    fn phase(&self, due: Nanos) -> Phase {
        match due < START + self.played.warmup {
            true => Phase::Warmup,
            false => Phase::Measured,
        }
    }

    fn append(&mut self, now: Nanos) {
        while self.next < self.total
            && self.due(self.next) <= now
            && self.waiting.len() < WAITING_MAX
        {
            let due = self.due(self.next);
            let phase = self.phase(due);
            let step_fp = self.step_fp();
            let pass = Pass {
                phase,
                offered: now,
                appended: now,
                blocked: 0,
                block_from: 0,
            };
            self.recorder.due(phase, 1);
            self.recorder.offered(now, phase, 1);
            let linger = self.played.linger;
            let batch = self.batch.get_or_insert_with(|| Open {
                ready: now + linger,
                stamps: Stamps::default(),
            });
            batch.stamps.push_even(due, step_fp, &pass);
            self.next += 1;
            if batch.stamps.count() == BATCH_RECORDS_MAX {
                batch.ready = now;
                self.waiting.extend(self.batch.take());
            }
        }
    }

    fn close(&mut self, now: Nanos) {
        if self.waiting.is_empty() && self.batch.as_ref().is_some_and(|open| open.ready <= now) {
            self.waiting.extend(self.batch.take());
        }
    }

    fn send(&mut self, now: Nanos) {
        while self.in_flight.len() < self.played.in_flight_max {
            if let Some(since) = self.window_full_since.take() {
                self.recorder.blocked_on_window(now - since);
            }
            let Some(open) = self.waiting.pop_front() else {
                return;
            };
            let written = now + 20_000;
            let answered = written + self.played.answer_after;
            let answered = match self.played.stalled {
                Some((from, to)) if answered >= from && written < to => answered.max(to),
                _ => answered,
            };
            self.requests += 1;
            let number = self.requests;
            self.in_flight.push_back(Sent {
                open,
                number,
                written,
                answered,
            });
        }
        if !self.waiting.is_empty() {
            self.window_full_since.get_or_insert(now);
        }
    }

    fn answer(&mut self, sent: Sent) {
        let stamps = &sent.open.stamps;
        let done = sent.answered + 10_000;
        let refuse = self.played.refuse_every;
        if refuse > 0 && sent.number.is_multiple_of(refuse) {
            self.recorder
                .ended(Ending::Failed, "TOPIC_AUTHORIZATION_FAILED", stamps, done);
        } else {
            let marks = Marks {
                ready: sent.open.ready,
                first_byte_written: sent.written - 15_000,
                last_byte_written: sent.written,
                first_byte_read: sent.answered,
                done,
                throttled: 0,
                earlier_attempts: 0,
            };
            self.recorder.acked(stamps, &marks, &acked(stamps.count()));
        }
        self.recorder.request(&Answered {
            node: 0,
            last_byte_written: sent.written,
            first_byte_read: sent.answered,
            throttled: 0,
        });
    }

    /// What has no answer at the end: in flight is unknown, waiting and merely due is unsent.
    fn finish(mut self, now: Nanos) -> Recording {
        if let Some(since) = self.window_full_since.take() {
            self.recorder.blocked_on_window(now - since);
        }
        for sent in std::mem::take(&mut self.in_flight) {
            self.recorder
                .ended(Ending::Unknown, "RUN_ENDED", &sent.open.stamps, now);
        }
        self.waiting.extend(self.batch.take());
        for open in std::mem::take(&mut self.waiting) {
            self.recorder
                .ended(Ending::Unsent, "RUN_ENDED", &open.stamps, now);
        }
        let mut stamps = Stamps::default();
        for index in self.next..self.total {
            let due = self.due(index);
            let pass = Pass {
                phase: self.phase(due),
                offered: now,
                appended: now,
                blocked: 0,
                block_from: 0,
            };
            self.recorder.due(pass.phase, 1);
            stamps.push_even(due, self.step_fp(), &pass);
        }
        self.recorder.never_offered("RUN_ENDED", &stamps, now);
        self.recorder.finish(now)
    }
}

fn acked(records: u64) -> Acked {
    Acked {
        partition: 0,
        node: 0,
        records: records as u32,
        payload_bytes: records * 100,
        raw_bytes: records * 107 + 61,
        wire_bytes: records * 44 + 61,
    }
}
