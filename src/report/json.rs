//! An outcome as a result file, and that as JSON.

use super::{hdr, schema};
use crate::base::clock::Nanos;
use crate::measure::histogram::{BUCKET_ERROR_SHARE, Histogram, Quantile, coarse_bounds};
use crate::measure::interval::{Interval, Sparse};
use crate::measure::limit::Evidence;
use crate::measure::parts::{Part, PartMeans, PartSums};
use crate::measure::promise::PromiseResult;
use crate::measure::recorder::Arrivals;
use crate::measure::recording::Counts;
use crate::measure::summary::{Clock, Reading, Summary};
use crate::measure::verdict::exit_code;
use crate::scenario::outcome::{Event, Kind, NodeNetwork, Outcome, PropertyClass, Verification};

/// The JSON of `outcome`, pretty, ending in a newline.
pub fn to_json(outcome: &Outcome) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&result_file(outcome))?;
    text.push('\n');
    Ok(text)
}

/// `outcome` as it stands on disk.
pub fn result_file(outcome: &Outcome) -> schema::ResultFile {
    let summary = &outcome.summary();
    schema::ResultFile {
        schema_version: schema::SCHEMA_VERSION,
        kind: match outcome.kind {
            Kind::Produce => "produce".to_owned(),
        },
        partial: outcome.timeline.interrupted_by.is_some(),
        command: outcome.command.clone(),
        seed: outcome.seed,
        started_utc: utc(outcome.timeline.started_utc_ms),
        started_monotonic_ns: outcome.timeline.started,
        target: target(outcome),
        load: load(outcome),
        client: client(outcome),
        environment: environment(outcome),
        window: window(outcome, summary),
        records: records(outcome),
        requests: schema::Requests {
            count: outcome.recording.requests,
            retried: outcome.recording.measured.retried_requests,
        },
        throughput: throughput(outcome, summary),
        rate: rate(outcome, summary),
        latency: latency(outcome, summary),
        parts: parts(summary),
        batches: batches(outcome, summary),
        spread: spread(outcome, summary),
        outstanding: schema::Outstanding {
            integral_record_ns: outcome.recording.outstanding.integral_record_ns,
            ended_age_ns: outcome.recording.outstanding.ended_age_ns,
            mean_records: summary.outstanding_mean,
            records_max: outcome.recording.outstanding.records_max,
        },
        tool: tool(outcome),
        intervals: schema::Intervals {
            length_ns: outcome.recording.series.length,
            rows: outcome.recording.series.rows.iter().map(interval).collect(),
        },
        events: outcome
            .events
            .iter()
            .map(|one| event(outcome, one))
            .collect(),
        events_dropped: outcome.events_dropped,
        limit: schema::Limit {
            name: outcome.limit.suspect.name().to_owned(),
            reason: outcome.limit.reason.clone(),
            evidence: evidence(&outcome.limit.evidence),
        },
        promises: outcome.promises.iter().map(promise).collect(),
        exit: exit(outcome),
        warnings: outcome.warnings.clone(),
    }
}

fn target(outcome: &Outcome) -> schema::Target {
    let target = &outcome.target;
    let brokers = target.brokers.iter().map(|broker| schema::Broker {
        node_id: broker.node_id,
        host: broker.host.clone(),
        port: broker.port,
        rack: broker.rack.clone(),
    });
    schema::Target {
        embedded: target.embedded,
        bootstrap: target.bootstrap.clone(),
        version: target.version.clone(),
        cluster_id: target.cluster_id.clone(),
        brokers: brokers.collect(),
        security_protocol: target.security_protocol.clone(),
    }
}

fn load(outcome: &Outcome) -> schema::Load {
    let load = &outcome.load;
    let topics = load.topics.iter().map(|topic| schema::Topic {
        name: topic.name.clone(),
        partitions: topic.partitions,
        replication_factor: topic.replication_factor,
        min_insync_replicas: topic.min_insync_replicas,
        made: topic.made,
    });
    schema::Load {
        topics: topics.collect(),
        mode: match load.prepared_batches {
            Some(_) => "stamped".to_owned(),
            None => "assembled".to_owned(),
        },
        prepared_batches: load.prepared_batches,
        values: load.values.clone(),
        keys: load.keys.clone(),
        headers: load.headers,
        arrival: load.arrival.clone(),
        rate: load.rate_text.clone(),
        records_asked: load.records_asked,
        duration_asked_ns: load.duration_asked_ns,
        compressibility_asked: load.compressibility_asked,
    }
}

fn client(outcome: &Outcome) -> schema::Client {
    let client = &outcome.client;
    let class = |class: PropertyClass| match class {
        PropertyClass::Honoured => "honoured",
        PropertyClass::Ignored => "ignored",
        PropertyClass::Mapped => "mapped",
        PropertyClass::Refused => "refused",
    };
    let properties = client.properties.iter().map(|property| schema::Property {
        name: property.name.clone(),
        value: property.value.clone(),
        class: class(property.class).to_owned(),
        deviates: property.deviates,
    });
    schema::Client {
        clients: client.clients,
        clients_raised: client.clients_raised,
        connections_per_broker: client.connections_per_broker,
        threads: client.threads,
        pinned: client.pinned,
        profile: client.profile.clone(),
        tick_ns: client.tick_ns,
        properties: properties.collect(),
    }
}

fn environment(outcome: &Outcome) -> schema::Environment {
    let environment = &outcome.environment;
    schema::Environment {
        kdyno_version: environment.kdyno_version.clone(),
        kernel: environment.kernel.clone(),
        cpu: environment.cpu.clone(),
        cores: environment.cores,
        congestion_control: environment.congestion_control.clone(),
    }
}

fn window(outcome: &Outcome, summary: &Summary) -> schema::Window {
    let time = &outcome.timeline;
    let closed_by = match time.window_end {
        Some(_) => "duration",
        None => "last_acknowledgement",
    };
    schema::Window {
        warmup_ns: time.window_start.saturating_sub(time.started),
        measured_ns: summary.window_ns,
        drain_ns: time
            .ended
            .saturating_sub(time.window_start + summary.window_ns),
        closed_by: closed_by.to_owned(),
    }
}

fn records(outcome: &Outcome) -> schema::Records {
    let (counts, warmup) = (&outcome.recording.measured, &outcome.recording.warmup);
    let taken = |counts: &Counts| counts.acked + counts.written;
    let errors = outcome
        .recording
        .errors
        .iter()
        .map(|error| schema::ErrorCount {
            name: error.name.to_owned(),
            ended: error.ending.name().to_owned(),
            records: error.records,
        });
    schema::Records {
        due: counts.due,
        acked: counts.acked,
        written: counts.written,
        failed: counts.failed,
        unknown: counts.unknown,
        unsent: counts.unsent,
        retried: counts.retried_records,
        payload_bytes: outcome.recording.volume.payload_bytes,
        arrived: outcome.arrived.map(|arrived| arrived.records),
        arrived_others_may_write: outcome.arrived.map(|arrived| arrived.others_may_write),
        duplicates: match outcome.verification {
            Verification::NotChecked => "not checked".to_owned(),
        },
        errors: errors.collect(),
        warmup: schema::WarmupRecords {
            due: warmup.due,
            acked: warmup.acked,
            written: warmup.written,
            failed: warmup.failed,
            unknown: warmup.unknown,
            unsent: warmup.unsent,
            retried: warmup.retried_records,
        },
        taken_in_all: taken(counts) + taken(warmup),
    }
}

fn throughput(outcome: &Outcome, summary: &Summary) -> schema::Throughput {
    let (per_s, volume) = (&summary.throughput, &outcome.recording.in_window);
    schema::Throughput {
        records_per_s: per_s.records_per_s,
        payload_bytes_per_s: per_s.payload_bytes_per_s,
        wire_bytes_per_s: per_s.wire_bytes_per_s,
        wire_bits_per_s: per_s.wire_bytes_per_s * 8.0,
        records: volume.records,
        payload_bytes: volume.payload_bytes,
        raw_bytes: volume.raw_bytes,
        wire_bytes: volume.wire_bytes,
    }
}

fn rate(outcome: &Outcome, summary: &Summary) -> schema::Rate {
    let (rate, scheduled) = (&summary.rate, outcome.load.arrivals == Arrivals::Scheduled);
    schema::Rate {
        asked_records_per_s: rate.asked_per_s,
        due_records_per_s: scheduled.then_some(rate.due_per_s),
        reached_records_per_s: rate.reached_per_s,
        held: scheduled.then_some(rate.held),
        overloaded: summary.overloaded,
    }
}

fn latency(outcome: &Outcome, summary: &Summary) -> schema::Latency {
    let recording = &outcome.recording;
    let with = |summary: &Option<Clock>, samples: &Histogram| {
        summary.as_ref().map(|summary| clock(summary, samples))
    };
    let nodes = recording
        .nodes
        .iter()
        .filter(|node| node.request.count() > 0);
    let by_broker = nodes.map(|node| schema::BrokerClock {
        node_id: node.node_id,
        histogram: histogram(&node.request),
    });
    let mut request_by_broker: Vec<_> = by_broker.collect();
    request_by_broker.sort_by_key(|broker| broker.node_id);
    schema::Latency {
        response: with(&summary.response, &recording.clocks.response),
        response_censored: histogram(&recording.response_censored),
        send: with(&summary.send, &recording.clocks.send),
        request: with(&summary.request, &recording.request()),
        lag: with(&summary.lag, &recording.lag),
        due_error_ns: recording.due_ns_error,
        percentile_error_share: BUCKET_ERROR_SHARE,
        request_by_broker,
        warmup_response: histogram(&recording.warmup_clocks.response),
        warmup_send: histogram(&recording.warmup_clocks.send),
    }
}

fn clock(summary: &Clock, samples: &Histogram) -> schema::Clock {
    let few = summary
        .percentiles
        .iter()
        .filter(|(_, reading)| !reading.enough);
    schema::Clock {
        count: summary.count,
        censored_count: summary.censored,
        mean_ns: summary.mean_ns,
        min_ns: summary.min_ns,
        percentiles: percentiles(summary, |reading| reading.high_ns),
        low: percentiles(summary, |reading| Some(reading.low_ns)),
        too_few_samples: few
            .map(|(quantile, _)| quantile.to_string().replace('.', "_"))
            .collect(),
        histogram: histogram(samples),
    }
}

fn percentiles(clock: &Clock, read: impl Fn(&Reading) -> Option<Nanos>) -> schema::Percentiles {
    let of = |quantile: Quantile| {
        let mut all = clock.percentiles.iter();
        all.find(|(known, _)| *known == quantile)
            .and_then(|(_, reading)| read(reading))
    };
    schema::Percentiles {
        p50_ns: of(Quantile::P50),
        p90_ns: of(Quantile::P90),
        p99_ns: of(Quantile::P99),
        p99_9_ns: of(Quantile::P99_9),
        p99_99_ns: of(Quantile::P99_99),
        max_ns: clock.max.as_ref().and_then(read),
    }
}

fn histogram(histogram: &Histogram) -> schema::Histogram {
    schema::Histogram {
        count: histogram.count(),
        sum_ns: histogram.sum_ns(),
        saturated_count: histogram.saturated(),
        hdr_v2_base64: hdr::encode(histogram),
    }
}

fn parts(summary: &Summary) -> Option<schema::Parts> {
    summary.send.as_ref()?;
    let of = if summary.response.is_some() {
        "response"
    } else {
        "send"
    };
    Some(schema::Parts {
        of: of.to_owned(),
        records: summary.part_sums.records,
        sum: part_sums(&summary.part_sums),
        mean: part_means(&summary.part_sums.means()),
        slowest_1_percent: summary.parts_slowest.as_ref().map(part_means),
    })
}

fn part_sums(sums: &PartSums) -> schema::PartSums {
    let of = |part: Part| sums.ns[part as usize];
    schema::PartSums {
        total_ns: sums.total_ns(),
        lag_ns: of(Part::Lag),
        buffer_ns: of(Part::Buffer),
        batch_ns: of(Part::Batch),
        queue_ns: of(Part::Queue),
        throttle_ns: of(Part::Throttle),
        earlier_attempts_ns: of(Part::EarlierAttempts),
        write_ns: of(Part::Write),
        request_ns: of(Part::Request),
        reply_ns: of(Part::Reply),
    }
}

fn part_means(means: &PartMeans) -> schema::PartMeans {
    schema::PartMeans {
        total_ns: means.total_ns(),
        lag_ns: means.of(Part::Lag),
        buffer_ns: means.of(Part::Buffer),
        batch_ns: means.of(Part::Batch),
        queue_ns: means.of(Part::Queue),
        throttle_ns: means.of(Part::Throttle),
        earlier_attempts_ns: means.of(Part::EarlierAttempts),
        write_ns: means.of(Part::Write),
        request_ns: means.of(Part::Request),
        reply_ns: means.of(Part::Reply),
    }
}

fn batches(outcome: &Outcome, summary: &Summary) -> schema::Batches {
    let (batches, means) = (&outcome.recording.batches, &summary.batches);
    let mean = |mean: f64| (batches.count > 0).then_some(mean);
    schema::Batches {
        count: batches.count,
        records: batches.volume.records,
        raw_bytes: batches.volume.raw_bytes,
        wire_bytes: batches.volume.wire_bytes,
        records_mean: mean(means.records),
        raw_bytes_mean: mean(means.raw_bytes),
        wire_bytes_mean: mean(means.wire_bytes),
        compression_ratio: means.ratio,
    }
}

fn spread(outcome: &Outcome, summary: &Summary) -> schema::Spread {
    let tallies = &outcome.recording.partitions;
    let partitions = outcome.partitions.iter().enumerate().map(|(slot, name)| {
        let tally = tallies.get(slot).copied().unwrap_or_default();
        schema::Partition {
            topic: name.topic.clone(),
            partition: name.partition,
            records: tally.records,
            payload_bytes: tally.payload_bytes,
        }
    });
    let brokers = summary.broker_shares.iter().filter_map(|(node_id, share)| {
        let mut nodes = outcome.recording.nodes.iter();
        let node = nodes.find(|node| node.node_id == *node_id)?;
        let network = outcome
            .network
            .iter()
            .find(|network| network.node_id == *node_id);
        let known = |read: fn(&NodeNetwork) -> u64| network.map(read);
        Some(schema::BrokerSpread {
            node_id: *node_id,
            records: node.records,
            share: *share,
            throttled_replies: node.throttled_replies,
            throttled_ns: node.throttled_ns,
            rtt_ns: known(|network| network.rtt_ns),
            segments: known(|network| network.segments),
            retransmits: known(|network| network.retransmits),
        })
    });
    schema::Spread {
        partitions: partitions.collect(),
        partition_records_min: summary.partitions.min,
        partition_records_median: summary.partitions.median,
        partition_records_max: summary.partitions.max,
        partition_max_over_min: summary.partitions.max_over_min(),
        brokers: brokers.collect(),
    }
}

fn tool(outcome: &Outcome) -> schema::Tool {
    let tool = &outcome.tool;
    let loops = outcome.recording.loops.iter().enumerate();
    let threads = loops.map(|(index, one)| schema::LoadThread {
        busy_ns: one.busy_ns,
        cpu_ns: tool.thread_cpu_ns.get(index).copied(),
        run_queue_ns: tool.thread_run_queue_ns.get(index).copied(),
        loop_pause_max_ns: one.pause_ns_max,
        memory_blocked_ns: one.memory_blocked_ns,
        window_blocked_ns: one.window_blocked_ns,
    });
    schema::Tool {
        load_threads: threads.collect(),
        process_cpu_ns: tool.process_cpu_ns,
        cgroup_throttled_ns: tool.cgroup_throttled_ns,
        steal_share: tool.steal_share,
        buffer_max_bytes: tool.buffer_bytes_max,
        physical_max_bytes: tool.physical_bytes_max,
    }
}

fn interval(row: &Interval) -> schema::Interval {
    let pairs = |sparse: &Sparse| {
        let pairs = sparse.pairs().iter();
        pairs
            .map(|(coarse, count)| (coarse_bounds(usize::from(*coarse)).1, *count))
            .collect()
    };
    schema::Interval {
        due: row.due,
        acked: row.acked,
        ended_otherwise: row.ended_otherwise,
        payload_bytes: row.payload_bytes,
        wire_bytes: row.wire_bytes,
        response_ns: pairs(&row.response),
        send_ns: pairs(&row.send),
    }
}

fn event(outcome: &Outcome, event: &Event) -> schema::Event {
    schema::Event {
        at_ns: event.at.saturating_sub(outcome.timeline.started),
        kind: event.kind.to_owned(),
        node_id: event.node_id,
        topic: event
            .partition
            .as_ref()
            .map(|partition| partition.topic.clone()),
        partition: event
            .partition
            .as_ref()
            .map(|partition| partition.partition),
        text: event.text.clone(),
    }
}

fn evidence(is: &Evidence) -> schema::Evidence {
    schema::Evidence {
        loop_pause_max_ns: is.loop_pause_ns_max,
        busy_share_max: is.busy_share_max,
        cpu_share_max: is.cpu_share_max,
        cgroup_throttled_share: is.cgroup_throttled_share,
        steal_share: is.steal_share,
        run_queue_share_max: is.run_queue_share_max,
        lag_p99_ns: is.lag_p99_ns,
        lag_allowed_ns: is.lag_ns_allowed,
        memory_blocked_share: is.memory_blocked_share,
        window_blocked_share: is.window_blocked_share,
        send_buffer_bytes: is.send_buffer_bytes,
        retransmit_share_max: is.retransmit_share_max,
        rtt_max_ns: is.rtt_ns_max,
        quota_share_max: is.quota_share_max,
        partition_share_max: is.partition_share_max,
        broker_share_max: is.broker_share_max,
    }
}

fn promise(result: &PromiseResult) -> schema::Promise {
    let (promise, figure) = (&result.promise, &result.figure);
    schema::Promise {
        option: if promise.negated { "fail-if" } else { "slo" }.to_owned(),
        text: promise.text.clone(),
        figure: promise.figure.clone(),
        value: figure.value.filter(|value| value.is_finite()),
        samples: figure.samples.map(|samples| samples.count),
        samples_needed: figure.samples.map(|samples| samples.needed),
        kept: result.kept,
        reason: result.reason.clone(),
    }
}

fn exit(outcome: &Outcome) -> schema::Exit {
    let reasons = outcome
        .exit_reasons
        .iter()
        .map(|reason| schema::ExitReason {
            code: reason.code,
            text: reason.text.clone(),
        });
    schema::Exit {
        code: exit_code(&outcome.exit_reasons),
        reasons: reasons.collect(),
    }
}

/// RFC 3339 in UTC; what the calendar can't hold is shown as its beginning.
fn utc(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms)
        .unwrap_or_default()
        .to_string()
}
