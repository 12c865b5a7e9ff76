//! What a Metadata answer, or a leader hint, makes of what is known. Pure.

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::messages::MetadataResponse;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};

use super::snapshot::{Broker, Partition, Parts, Snapshot, Topic};
use crate::wire::broker_error::BrokerError;

/// A leader that a broker named when it refused a request (KIP-951).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The topic.
    pub topic: Arc<str>,
    /// The partition's number in it.
    pub partition: i32,
    /// The broker that leads it now.
    pub leader: i32,
    /// The number of its leadership.
    pub leader_epoch: i32,
    /// Where that broker listens, if it was told.
    pub endpoint: Option<Broker>,
}

/// A snapshot after an answer.
#[derive(Debug)]
pub struct Merged {
    /// What is known now.
    pub snapshot: Snapshot,
    /// Whether all topics asked for have partitions with leaders, or an error that stays.
    pub complete: bool,
}

/// What is known after `response`. A partition's leader of a lower epoch than a known one is passed
/// over, unless the topic was deleted and made again, or another cluster answers.
///
/// Topics that nobody asks for are forgotten; so are brokers that the answer does not list.
pub fn merge(
    previous: &Snapshot,
    response: &MetadataResponse,
    asked: &BTreeSet<Arc<str>>,
) -> Merged {
    let cluster_id = response.cluster_id.as_ref().map(|id| id.to_string());
    let same_cluster = previous.cluster_id.is_none() || previous.cluster_id == cluster_id;
    let brokers: Vec<Broker> = response.brokers.iter().map(broker).collect();
    let known = |topic: &Topic| match previous.topic(&topic.name) {
        Some(known) if same_cluster && known.id == topic.id => Some(Arc::clone(known)),
        _ => None,
    };
    let mut topics = Vec::with_capacity(response.topics.len());
    for answer in &response.topics {
        let Some(mut topic) = topic(answer).filter(|topic| asked.contains(&topic.name)) else {
            continue;
        };
        if let Some(known) = known(&topic) {
            keep_newer_leaders(&mut topic, &known);
        }
        forget_absent_leaders(&mut topic, &brokers);
        topics.push(Arc::new(topic));
    }
    let snapshot = Snapshot::new(Parts {
        generation: previous.generation + 1,
        cluster_id,
        controller: id(response.controller_id.0),
        brokers,
        topics,
    });
    let settled = |name| match snapshot.topic(name) {
        Some(topic) => topic.ready() || (topic.error.is_error() && !topic.error.retriable()),
        None => false,
    };
    let complete = asked.iter().all(|name| settled(name));
    Merged { snapshot, complete }
}

/// What is known after a hint; `None` when it is no news, or its broker is nowhere to be found.
pub fn apply_hint(previous: &Snapshot, hint: &Hint) -> Option<Snapshot> {
    let topic = previous.topic(&hint.topic)?;
    let at = topic.partition_at(hint.partition)?;
    if hint.leader_epoch <= topic.partitions[at].leader_epoch {
        return None;
    }
    let mut parts = previous.to_parts();
    match &hint.endpoint {
        Some(endpoint) => {
            parts.brokers.retain(|broker| broker.id != endpoint.id);
            parts.brokers.push(endpoint.clone());
        }
        None => drop(previous.broker(hint.leader)?),
    }
    let mut topic = Topic::clone(topic);
    topic.partitions[at].leader = id(hint.leader);
    topic.partitions[at].leader_epoch = hint.leader_epoch;
    topic.partitions[at].error = BrokerError::NONE;
    // The last of one name stands.
    parts.topics.push(Arc::new(topic));
    parts.generation += 1;
    Some(Snapshot::new(parts))
}

fn keep_newer_leaders(topic: &mut Topic, known: &Topic) {
    for partition in &mut topic.partitions {
        if let Some(known) = known.partition(partition.index)
            && partition.leader_epoch >= 0
            && partition.leader_epoch < known.leader_epoch
        {
            *partition = known.clone();
        }
    }
}

/// A leader that is not among the brokers cannot be asked.
fn forget_absent_leaders(topic: &mut Topic, brokers: &[Broker]) {
    for partition in &mut topic.partitions {
        let listed = |id: &i32| brokers.iter().any(|broker| broker.id == *id);
        partition.leader = partition.leader.filter(listed);
    }
}

fn broker(answer: &MetadataResponseBroker) -> Broker {
    Broker {
        id: answer.node_id.0,
        host: answer.host.as_str().into(),
        // Nobody listens at port 0: a port that is none is refused when it is dialled.
        port: u16::try_from(answer.port).unwrap_or(0),
        rack: answer.rack.as_ref().map(|rack| rack.as_str().into()),
    }
}

fn topic(answer: &MetadataResponseTopic) -> Option<Topic> {
    let mut partitions: Vec<_> = answer.partitions.iter().map(partition).collect();
    partitions.sort_by_key(|partition| partition.index);
    partitions.dedup_by_key(|partition| partition.index);
    Some(Topic {
        name: answer.name.as_ref()?.as_str().into(),
        id: answer.topic_id.into_bytes(),
        error: BrokerError(answer.error_code),
        partitions,
    })
}

fn partition(answer: &MetadataResponsePartition) -> Partition {
    Partition {
        index: answer.partition_index,
        leader: id(answer.leader_id.0),
        leader_epoch: answer.leader_epoch,
        replicas: answer.replica_nodes.iter().map(|node| node.0).collect(),
        isr: answer.isr_nodes.iter().map(|node| node.0).collect(),
        error: BrokerError(answer.error_code),
    }
}

/// −1 is nobody.
fn id(node: i32) -> Option<i32> {
    (node >= 0).then_some(node)
}

#[cfg(test)]
mod tests;
