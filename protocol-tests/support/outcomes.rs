//! Outcomes to report on, made by a real recorder from a hand-made run.

use std::collections::VecDeque;

use kdyno::base::clock::{MILLISECOND, Nanos, SECOND};
use kdyno::measure::limit::Limit;
use kdyno::measure::recorder::{
    Acked, Answered, Arrivals, Detail, Recorder, RecorderOptions, Window,
};
use kdyno::measure::recording::{Ending, Recording};
use kdyno::measure::stamps::{Marks, Pass, Phase, Stamps};
use kdyno::scenario::judge::{Asked, judge};
use kdyno::scenario::outcome::{
    Broker, Client, Environment, Kind, Load, Outcome, PartitionName, Property, PropertyClass,
    Target, Timeline, Tool, Topic, Verification,
};

/// A run to be made up: records due evenly, batches of 100, one request a batch.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// How records become due.
    pub arrivals: Arrivals,
    /// Records a second.
    pub rate: u64,
    /// Seconds of warm-up.
    pub warmup_s: u64,
    /// Seconds measured.
    pub measured_s: u64,
    /// From the last record of a batch to its acknowledgement.
    pub takes: Nanos,
    /// One batch of so many is refused; 0: none.
    pub refuse_every: u64,
}

/// A run of 10 s at 2,000/s after 2 s of warm-up, all well.
pub fn steady() -> Made {
    Made {
        arrivals: Arrivals::Scheduled,
        rate: 2_000,
        warmup_s: 2,
        measured_s: 10,
        takes: 3 * MILLISECOND,
        refuse_every: 0,
    }
}

/// When the made-up run starts.
pub const START: Nanos = 5 * SECOND;

/// The records of `made`, as one load thread would have recorded them.
pub fn recording(made: &Made) -> Recording {
    let window_start = START + made.warmup_s * SECOND;
    let window_end = window_start + made.measured_s * SECOND;
    let mut recorder = Recorder::new(RecorderOptions {
        detail: Detail::Full,
        arrivals: made.arrivals,
        start: START,
        interval: SECOND,
    });
    recorder.set_window(Window {
        start: window_start,
        end: Some(window_end),
        end_planned: (made.arrivals == Arrivals::Scheduled).then_some(window_end),
    });
    let gap = SECOND / made.rate;
    let batches = (made.warmup_s + made.measured_s) * made.rate / BATCH_RECORDS;
    let mut in_flight = VecDeque::new();
    for index in 0..batches {
        let plan = Plan {
            index,
            gap,
            window_start,
        };
        let sent = fill(&mut recorder, made, &plan, &mut in_flight);
        in_flight.push_back(sent);
    }
    for sent in in_flight {
        answer(&mut recorder, made, &sent);
    }
    let busy = made.measured_s * SECOND / 10;
    recorder.looped(2 * MILLISECOND, busy);
    recorder.finish(window_end + made.takes)
}

const BATCH_RECORDS: u64 = 100;

struct Plan {
    index: u64,
    gap: Nanos,
    window_start: Nanos,
}

/// A batch that was sent when its last record stood in it.
struct Sent {
    index: u64,
    at: Nanos,
    stamps: Stamps,
}

fn fill(recorder: &mut Recorder, made: &Made, plan: &Plan, in_flight: &mut VecDeque<Sent>) -> Sent {
    let first = START + plan.index * BATCH_RECORDS * plan.gap;
    let phase = match first < plan.window_start {
        true => Phase::Warmup,
        false => Phase::Measured,
    };
    recorder.due(phase, BATCH_RECORDS);
    let mut stamps = Stamps::default();
    let mut appended = first;
    for i in 0..BATCH_RECORDS {
        let due = first + i * plan.gap;
        // The load loop wakes once a millisecond.
        appended = due.next_multiple_of(MILLISECOND);
        while let Some(sent) = in_flight.pop_front_if(|sent| sent.at + made.takes <= appended) {
            answer(recorder, made, &sent);
        }
        let pass = Pass {
            phase,
            offered: appended,
            appended,
            blocked: 0,
            block_from: 0,
        };
        match made.arrivals {
            Arrivals::FlatOut => stamps.push_even(appended, 0, &pass),
            Arrivals::Scheduled => stamps.push_even(due, plan.gap << 32, &pass),
        }
        recorder.offered(appended, phase, 1);
    }
    Sent {
        index: plan.index,
        at: appended,
        stamps,
    }
}

fn answer(recorder: &mut Recorder, made: &Made, sent: &Sent) {
    let done = sent.at + made.takes;
    let answered = Answered {
        node: (sent.index % 3) as i32,
        last_byte_written: sent.at + made.takes / 10,
        first_byte_read: done - made.takes / 100,
        throttled: 0,
    };
    if made.refuse_every > 0 && sent.index.is_multiple_of(made.refuse_every) {
        let name = "TOPIC_AUTHORIZATION_FAILED";
        recorder.ended(Ending::Failed, name, &sent.stamps, done);
    } else {
        let marks = Marks {
            ready: sent.at + made.takes / 20,
            first_byte_written: sent.at + made.takes / 15,
            last_byte_written: answered.last_byte_written,
            first_byte_read: answered.first_byte_read,
            done,
            throttled: 0,
            earlier_attempts: 0,
        };
        recorder.acked(&sent.stamps, &marks, &acked(sent.index));
    }
    recorder.request(&answered);
}

fn acked(index: u64) -> Acked {
    Acked {
        partition: (index % 6) as u32,
        node: (index % 3) as i32,
        records: BATCH_RECORDS as u32,
        payload_bytes: BATCH_RECORDS * 100,
        raw_bytes: BATCH_RECORDS * 107 + 61,
        wire_bytes: BATCH_RECORDS * 44 + 61,
    }
}

/// The outcome of `made`, judged with nothing asked but its rate.
pub fn outcome(made: &Made) -> Outcome {
    let mut outcome = unjudged(made);
    judge(
        &mut outcome,
        &Asked {
            promises: &[],
            errors_allowed: false,
        },
    );
    outcome
}

/// The outcome of `made` before it is judged.
pub fn unjudged(made: &Made) -> Outcome {
    let mut outcome = outcome_of(recording(made), made.arrivals);
    let window_start = START + made.warmup_s * SECOND;
    let window_end = window_start + made.measured_s * SECOND;
    outcome.timeline.window_start = window_start;
    outcome.timeline.window_end = Some(window_end);
    outcome.timeline.ended = window_end + made.takes;
    outcome.load.duration_asked_ns = Some(made.measured_s * SECOND);
    outcome.tool.thread_cpu_ns = vec![made.measured_s * SECOND * 9 / 100];
    if made.arrivals == Arrivals::Scheduled {
        outcome.timeline.schedule_end = Some(window_end);
        outcome.load.rate_text = Some(format!("{}/s", made.rate));
        outcome.load.rate_records_per_s = Some(made.rate as f64);
    }
    outcome
}

/// An outcome around `recording`, with a window of 10 s and no rate said yet.
pub fn outcome_of(recording: Recording, arrivals: Arrivals) -> Outcome {
    let window_end = START + 10 * SECOND;
    Outcome {
        kind: Kind::Produce,
        command: vec!["kdyno".to_owned(), "produce".to_owned()],
        seed: 42,
        target: target(),
        load: Load {
            topics: vec![Topic {
                name: "kdyno-7f3a".to_owned(),
                partitions: 6,
                replication_factor: Some(3),
                min_insync_replicas: Some(2),
                made: true,
            }],
            values: "100 B values".to_owned(),
            keys: "no key".to_owned(),
            headers: 0,
            arrivals,
            arrival: match arrivals {
                Arrivals::Scheduled => "constant".to_owned(),
                Arrivals::FlatOut => "flat out".to_owned(),
            },
            rate_text: None,
            rate_records_per_s: None,
            records_asked: None,
            duration_asked_ns: None,
            compressibility_asked: None,
            prepared_batches: None,
        },
        client: client(),
        environment: Environment {
            kdyno_version: "0.1.0".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            cpu: "a CPU".to_owned(),
            cores: 2,
            congestion_control: "cubic".to_owned(),
        },
        timeline: Timeline {
            started_utc_ms: 1_767_225_600_000,
            started: START,
            window_start: START,
            window_end: Some(window_end),
            schedule_end: None,
            ended: window_end,
            interrupted_by: None,
        },
        recording,
        partitions: (0..6)
            .map(|partition| PartitionName {
                topic: "kdyno-7f3a".to_owned(),
                partition,
            })
            .collect(),
        tool: Tool::default(),
        network: Vec::new(),
        events: Vec::new(),
        events_dropped: 0,
        verification: Verification::NotChecked,
        arrived: None,
        promises: Vec::new(),
        limit: Limit::default(),
        exit_reasons: Vec::new(),
        warnings: Vec::new(),
    }
}

fn target() -> Target {
    Target {
        embedded: false,
        bootstrap: vec!["127.0.0.1:19092".to_owned()],
        version: Some("4.4.0".to_owned()),
        cluster_id: Some("5L6g3nShT-eMCtK--X86sw".to_owned()),
        brokers: (0..3)
            .map(|node_id| Broker {
                node_id,
                host: "127.0.0.1".to_owned(),
                port: 19_092 + node_id as u16,
                rack: None,
            })
            .collect(),
        security_protocol: "PLAINTEXT".to_owned(),
    }
}

fn client() -> Client {
    let property = |name: &str, value: &str, deviates| Property {
        name: name.to_owned(),
        value: value.to_owned(),
        class: PropertyClass::Honoured,
        deviates,
    };
    Client {
        clients: 1,
        clients_raised: false,
        connections_per_broker: 1,
        threads: 1,
        pinned: false,
        profile: "java-4".to_owned(),
        profile_text: "Java 4.4 defaults".to_owned(),
        tick_ns: MILLISECOND,
        properties: vec![
            property("acks", "all", false),
            property("enable.idempotence", "true", false),
            property("linger.ms", "5", false),
            property("batch.size", "16384", false),
            property("buffer.memory", "33554432", false),
            property("compression.type", "lz4", true),
            property("send.buffer.bytes", "131072", false),
            property("sasl.jaas.config", "[hidden]", true),
        ],
    }
}
