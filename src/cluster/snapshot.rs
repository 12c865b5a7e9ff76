//! What is known of a cluster at one moment: brokers, topics, leaders. Immutable; shared by `Arc`.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::wire::broker_error::BrokerError;

/// A topic's id; [`TOPIC_ID_NONE`] where brokers give none (before Metadata v10).
pub type TopicId = [u8; 16];

/// No topic id.
pub const TOPIC_ID_NONE: TopicId = [0; 16];

/// A cluster at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Counts the snapshots that one control plane published: a higher one is newer.
    pub generation: u64,
    /// The cluster's id, where brokers give one.
    pub cluster_id: Option<String>,
    /// The broker that acts as controller for clients.
    pub controller: Option<i32>,
    brokers: Vec<Broker>,
    topics: Vec<Arc<Topic>>,
    by_name: HashMap<Arc<str>, usize>,
    by_id: HashMap<TopicId, usize>,
}

/// One broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// Its id.
    pub id: i32,
    /// The host that it advertises.
    pub host: Arc<str>,
    /// The port that it advertises.
    pub port: u16,
    /// Its rack.
    pub rack: Option<Arc<str>>,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: Arc<str>,
    /// Its id; a topic that was deleted and made again has another one.
    pub id: TopicId,
    /// Why it has no partitions here.
    pub error: BrokerError,
    /// Its partitions, ascending by index.
    pub partitions: Vec<Partition>,
}

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Its number in the topic.
    pub index: i32,
    /// The broker that leads it, if one does.
    pub leader: Option<i32>,
    /// Counts its leaders; −1 where brokers give none (before Metadata v7).
    pub leader_epoch: i32,
    /// The brokers that hold it.
    pub replicas: Vec<i32>,
    /// Those in sync.
    pub isr: Vec<i32>,
    /// What is wrong with it.
    pub error: BrokerError,
}

/// The parts of a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// Its number.
    pub generation: u64,
    /// The cluster's id.
    pub cluster_id: Option<String>,
    /// The controller.
    pub controller: Option<i32>,
    /// All brokers.
    pub brokers: Vec<Broker>,
    /// All topics of interest.
    pub topics: Vec<Arc<Topic>>,
}

impl Snapshot {
    /// A snapshot of these parts. Of topics of one name the last one stands.
    pub fn new(parts: Parts) -> Self {
        let Parts {
            generation,
            cluster_id,
            controller,
            mut brokers,
            mut topics,
        } = parts;
        brokers.sort_by_key(|broker| broker.id);
        topics.sort_by(|a, b| a.name.cmp(&b.name));
        topics.dedup_by(|later, kept| {
            let same = later.name == kept.name;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        let names = topics.iter().enumerate();
        let by_name = names
            .map(|(at, topic)| (Arc::clone(&topic.name), at))
            .collect();
        let ids = topics.iter().enumerate();
        let ids = ids.filter(|(_, topic)| topic.id != TOPIC_ID_NONE);
        let by_id = ids.map(|(at, topic)| (topic.id, at)).collect();
        Self {
            generation,
            cluster_id,
            controller,
            brokers,
            topics,
            by_name,
            by_id,
        }
    }

    /// All brokers, ascending by id.
    pub fn brokers(&self) -> &[Broker] {
        &self.brokers
    }

    /// The broker with this id.
    pub fn broker(&self, id: i32) -> Option<&Broker> {
        let at = self.brokers.binary_search_by_key(&id, |broker| broker.id);
        at.ok().map(|at| &self.brokers[at])
    }

    /// All topics of interest, ascending by name.
    pub fn topics(&self) -> &[Arc<Topic>] {
        &self.topics
    }

    /// The topic of this name.
    pub fn topic(&self, name: &str) -> Option<&Arc<Topic>> {
        self.by_name.get(name).map(|&at| &self.topics[at])
    }

    /// The topic with this id.
    pub fn topic_by_id(&self, id: &TopicId) -> Option<&Arc<Topic>> {
        self.by_id.get(id).map(|&at| &self.topics[at])
    }

    /// The parts it is made of.
    pub fn to_parts(&self) -> Parts {
        Parts {
            generation: self.generation,
            cluster_id: self.cluster_id.clone(),
            controller: self.controller,
            brokers: self.brokers.clone(),
            topics: self.topics.clone(),
        }
    }
}

impl Topic {
    /// The partition with this index.
    pub fn partition(&self, index: i32) -> Option<&Partition> {
        let at = self.partition_at(index)?;
        Some(&self.partitions[at])
    }

    /// Where in `partitions` the one with this index stands.
    pub fn partition_at(&self, index: i32) -> Option<usize> {
        // Brokers list all of them, so the index is nearly always the place.
        let guess = usize::try_from(index).ok()?;
        match self.partitions.get(guess) {
            Some(partition) if partition.index == index => Some(guess),
            _ => {
                let by_index = |partition: &Partition| partition.index;
                self.partitions.binary_search_by_key(&index, by_index).ok()
            }
        }
    }

    /// Whether records can be sent to it: it has partitions, and each of them has a leader.
    pub fn ready(&self) -> bool {
        let led = |partition: &Partition| partition.leader.is_some();
        !self.partitions.is_empty() && self.partitions.iter().all(led)
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broker {} at {}:{}", self.id, self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str, id: u8, indexes: &[i32]) -> Arc<Topic> {
        let partition = |&index| Partition {
            index,
            leader: Some(1),
            leader_epoch: 0,
            replicas: vec![1],
            isr: vec![1],
            error: BrokerError::NONE,
        };
        Arc::new(Topic {
            name: name.into(),
            id: [id; 16],
            error: BrokerError::NONE,
            partitions: indexes.iter().map(partition).collect(),
        })
    }

    fn snapshot(topics: Vec<Arc<Topic>>) -> Snapshot {
        Snapshot::new(Parts {
            topics,
            ..Parts::default()
        })
    }

    #[test]
    fn topics_are_found_by_name_and_by_id() {
        let snapshot = snapshot(vec![topic("b", 2, &[0]), topic("a", 1, &[0, 1])]);
        assert_eq!(snapshot.topic("b").unwrap().id, [2; 16]);
        assert_eq!(&*snapshot.topic_by_id(&[1; 16]).unwrap().name, "a");
        assert!(snapshot.topic("c").is_none());
    }

    #[test]
    fn topics_without_an_id_are_not_mistaken_for_each_other() {
        let snapshot = snapshot(vec![topic("a", 0, &[0]), topic("b", 0, &[0])]);
        assert!(snapshot.topic_by_id(&TOPIC_ID_NONE).is_none());
    }

    #[test]
    fn a_topic_listed_twice_stands_as_listed_last() {
        let snapshot = snapshot(vec![topic("a", 1, &[0]), topic("a", 2, &[0, 1])]);
        assert_eq!(snapshot.topics().len(), 1);
        assert_eq!(snapshot.topic("a").unwrap().id, [2; 16]);
        assert!(snapshot.topic_by_id(&[1; 16]).is_none());
    }

    #[test]
    fn partitions_are_found_though_some_are_missing() {
        let topic = topic("a", 1, &[0, 2, 5]);
        let found = |index| topic.partition(index).map(|p| p.index);
        assert_eq!([0, 2, 5].map(found), [Some(0), Some(2), Some(5)]);
        assert_eq!([-1, 1, 6].map(found), [None; 3]);
    }
}
