//! The topics of all virtual brokers: made, changed and deleted; and what is kept of their records.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use mio::Token;

use super::config::{self, Change, Configs, LOG_APPEND_TIME, Refusal, Setting};
use super::holds::Holds;
use super::options::{BrokerOptions, LogKind};
use super::partition::{Appended, Offered, Partition};
use crate::base::clock::{self, Nanos};
use crate::wire::broker_error::BrokerError;
use crate::wire::produce::TopicRef;

/// A topic's id, as on the wire.
pub type TopicId = [u8; 16];

/// Partitions that one request may ask for, as in Kafka's controller.
const PARTITIONS_MAX: u32 = 10_000;
/// Characters of the longest name.
const NAME_CHARACTERS_MAX: usize = 249;

/// All topics.
#[derive(Debug)]
pub struct Topics {
    by_name: BTreeMap<String, Topic>,
    names: HashMap<TopicId, String>,
    brokers: usize,
    /// Partitions of a topic for which nobody says how many.
    partitions: u32,
    log: LogKind,
    kept: Kept,
    /// How long records that were appended can't be read.
    hold: Nanos,
    /// What is held from being read, the oldest first.
    hidden: VecDeque<Hidden>,
    /// Where records are inflated to be looked at.
    scratch: Vec<u8>,
}

/// One topic.
#[derive(Debug)]
pub struct Topic {
    /// Its id.
    pub id: TopicId,
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// On how many brokers each is said to be. They share one state.
    pub replication: u16,
    configs: Configs,
    max_batch_bytes: usize,
    log_append_time: bool,
}

/// A partition that a request names.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The broker that was asked.
    pub node_id: i32,
    /// The topic.
    pub topic: TopicRef<'a>,
    /// The partition.
    pub partition: i32,
}

/// What a new topic is to be.
#[derive(Debug, Clone, Default)]
pub struct NewTopic {
    /// How many partitions, unless it is to have as many as is usual.
    pub partitions: Option<i32>,
    /// On how many brokers, unless on as many as is usual: on one.
    pub replication: Option<i16>,
    /// Its settings.
    pub configs: Vec<(String, Option<String>)>,
}

/// Which batches are kept, over all partitions.
#[derive(Debug, Default)]
struct Kept {
    bytes: u64,
    /// Topic and partition of each batch, oldest first.
    order: VecDeque<(TopicId, u32)>,
}

/// Records that were appended and can't be read yet.
#[derive(Debug)]
struct Hidden {
    since: Nanos,
    topic: TopicId,
    partition: u32,
    end_offset: i64,
}

impl Topics {
    /// No topics on `brokers`.
    pub fn new(brokers: usize, options: &BrokerOptions) -> Self {
        Self {
            by_name: BTreeMap::new(),
            names: HashMap::new(),
            brokers,
            partitions: options.partitions,
            log: options.log,
            kept: Kept::default(),
            hold: options.holds.appends,
            hidden: VecDeque::new(),
            scratch: Vec::new(),
        }
    }

    /// Whether records are kept.
    pub fn keeps(&self) -> bool {
        self.log != LogKind::Sink
    }

    /// Partitions of a topic for which nobody says how many.
    pub fn usual_partitions(&self) -> u32 {
        self.partitions
    }

    /// All of them by name, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Topic)> {
        let topics = self.by_name.iter();
        topics.map(|(name, topic)| (name.as_str(), topic))
    }

    /// The topic called `name`.
    pub fn get(&self, name: &str) -> Option<&Topic> {
        self.by_name.get(name)
    }

    /// The name of the topic with `id`.
    pub fn name_of(&self, id: &TopicId) -> Option<&str> {
        self.names.get(id).map(String::as_str)
    }

    /// The name of the topic that a request names.
    ///
    /// # Errors
    /// When there is none.
    pub fn name<'a>(&'a self, topic: TopicRef<'a>) -> Result<&'a str, BrokerError> {
        match topic {
            TopicRef::Name(name) if self.by_name.contains_key(name) => Ok(name),
            TopicRef::Name(_) => Err(BrokerError::UNKNOWN_TOPIC_OR_PARTITION),
            TopicRef::Id(id) => self.name_of(&id).ok_or(BrokerError::UNKNOWN_TOPIC_ID),
        }
    }

    /// Makes a topic, or, with `only_check`, finds out whether it could be.
    ///
    /// # Errors
    /// Why it can't be, as a broker says it.
    pub fn create(&mut self, name: &str, new: &NewTopic, only_check: bool) -> Result<(), Refusal> {
        check_name(name)?;
        if self.by_name.contains_key(name) {
            let why = format!("there is a topic {name}");
            return Err((BrokerError::TOPIC_ALREADY_EXISTS, why));
        }
        let partitions = match new.partitions {
            None => self.partitions,
            Some(count) => check_count(count)?,
        };
        let replication = match new.replication {
            None => 1,
            Some(count) => u16::try_from(count).unwrap_or(0),
        };
        if replication == 0 || usize::from(replication) > self.brokers {
            let why = format!("{replication} replicas on {} brokers", self.brokers);
            return Err((BrokerError::INVALID_REPLICATION_FACTOR, why));
        }
        let mut configs = Configs::new();
        for (name, value) in &new.configs {
            let value = value.as_ref();
            let change = value.map_or(Change::Delete, |value| Change::Set(value));
            config::change(&mut configs, name, change)?;
        }
        if !only_check {
            let topic = Topic::new(partitions, replication, configs, self.keeps());
            self.names.insert(topic.id, name.to_owned());
            self.by_name.insert(name.to_owned(), topic);
        }
        Ok(())
    }

    /// Deletes a topic with all its records; gives the connections that wait for more of them.
    ///
    /// # Errors
    /// When there is none.
    pub fn delete(&mut self, topic: TopicRef<'_>) -> Result<HashSet<Token>, BrokerError> {
        let name = self.name(topic)?.to_owned();
        let mut waiting = HashSet::new();
        if let Some(topic) = self.by_name.remove(&name) {
            self.names.remove(&topic.id);
            self.kept.order.retain(|(id, _)| *id != topic.id);
            for mut partition in topic.partitions {
                waiting.extend(partition.reveal(0));
                while let Some(bytes) = partition.drop_oldest() {
                    self.kept.bytes -= bytes;
                }
            }
        }
        Ok(waiting)
    }

    /// Gives a topic `count` partitions, or, with `only_check`, finds out whether it could have them.
    ///
    /// # Errors
    /// Why it can't, as a broker says it.
    pub fn widen(&mut self, name: &str, count: i32, only_check: bool) -> Result<(), Refusal> {
        let keeps = self.keeps();
        let topic = self.by_name.get_mut(name).ok_or_else(|| no_topic(name))?;
        let has = topic.partitions.len();
        let wanted = check_count(count)? as usize;
        if wanted <= has {
            let why = format!("topic {name} has {has} partitions, and {wanted} are no more");
            return Err((BrokerError::INVALID_PARTITIONS, why));
        }
        if !only_check {
            topic
                .partitions
                .resize_with(wanted, || Partition::new(keeps));
        }
        Ok(())
    }

    /// Changes settings of a topic, all or none; or, with `only_check`, finds out whether they could
    /// be changed.
    ///
    /// # Errors
    /// Why they can't, as a broker says it.
    pub fn configure<'a>(
        &mut self,
        name: &str,
        changes: impl Iterator<Item = (&'a str, Change<'a>)>,
        only_check: bool,
    ) -> Result<(), Refusal> {
        let topic = self.by_name.get_mut(name).ok_or_else(|| no_topic(name))?;
        let mut configs = topic.configs.clone();
        for (name, change) in changes {
            config::change(&mut configs, name, change)?;
        }
        if !only_check {
            topic.configure(configs);
        }
        Ok(())
    }

    /// The partition at `place`.
    ///
    /// # Errors
    /// When there is none, or another broker leads it.
    pub fn partition(&mut self, place: &Place<'_>) -> Result<&mut Partition, BrokerError> {
        let (topic, index) = self.find(place)?;
        let partition = topic.partitions.get_mut(index);
        partition.ok_or(BrokerError::UNKNOWN_TOPIC_OR_PARTITION)
    }

    /// The topic and the index of the partition at `place`, which is there.
    fn find(&mut self, place: &Place<'_>) -> Result<(&mut Topic, usize), BrokerError> {
        let unknown = BrokerError::UNKNOWN_TOPIC_OR_PARTITION;
        let index = usize::try_from(place.partition).map_err(|_| unknown)?;
        let leads = self.leader_of(index) == place.node_id;
        let topic = match place.topic {
            TopicRef::Name(name) => self.by_name.get_mut(name).ok_or(unknown)?,
            TopicRef::Id(id) => {
                let name = self.names.get(&id);
                let topic = name.and_then(|name| self.by_name.get_mut(name));
                topic.ok_or(BrokerError::UNKNOWN_TOPIC_ID)?
            }
        };
        if index >= topic.partitions.len() {
            return Err(unknown);
        }
        match leads {
            true => Ok((topic, index)),
            false => Err(BrokerError::NOT_LEADER_OR_FOLLOWER),
        }
    }

    /// Appends the batch of `bytes` that begins with `head` at `place`, lets it be read, at once
    /// or after the hold, and drops what is too much now. Connections that wait for it are added to `woken`.
    ///
    /// # Errors
    /// The error a broker answers.
    pub fn append(
        &mut self,
        place: &Place<'_>,
        (head, bytes): (&[u8], usize),
        woken: &mut HashSet<Token>,
    ) -> Result<Appended, BrokerError> {
        let hold = self.hold;
        let mut scratch = std::mem::take(&mut self.scratch);
        let appended = self.find(place).and_then(|(topic, index)| {
            if bytes > topic.max_batch_bytes {
                return Err(BrokerError::MESSAGE_TOO_LARGE);
            }
            let offered = Offered {
                head,
                bytes,
                log_append_time: topic.log_append_time,
            };
            let partition = &mut topic.partitions[index];
            let appended = partition.append(&offered, &mut scratch)?;
            if appended.kept_bytes > 0 && hold == 0 {
                woken.extend(partition.reveal(partition.end_offset()));
            }
            Ok((topic.id, partition.end_offset(), appended))
        });
        self.scratch = scratch;
        let (topic, end_offset, appended) = appended?;
        if appended.kept_bytes > 0 {
            if hold > 0 {
                self.hidden.push_back(Hidden {
                    since: clock::now(),
                    topic,
                    partition: place.partition as u32,
                    end_offset,
                });
            }
            self.kept.bytes += appended.kept_bytes;
            self.kept.order.push_back((topic, place.partition as u32));
            self.drop_oldest();
        }
        Ok(appended)
    }

    /// When records can be read that can't be yet.
    pub fn next(&self) -> Nanos {
        let next = self.hidden.front();
        next.map_or(Nanos::MAX, |hidden| hidden.since.saturating_add(self.hold))
    }

    /// Lets be read what was held long enough.
    pub fn reveal(&mut self, now: Nanos, holds: &mut Holds, woken: &mut HashSet<Token>) {
        while self.next() <= now
            && let Some(hidden) = self.hidden.pop_front()
        {
            holds.revealed(now - hidden.since);
            let name = self.names.get(&hidden.topic);
            let topic = name.and_then(|name| self.by_name.get_mut(name));
            let index = hidden.partition as usize;
            if let Some(partition) = topic.and_then(|topic| topic.partitions.get_mut(index)) {
                woken.extend(partition.reveal(hidden.end_offset));
            }
        }
    }

    /// Drops the oldest batches until what is left is within the retention.
    fn drop_oldest(&mut self) {
        let LogKind::Memory { retention_bytes } = self.log else {
            return;
        };
        while self.kept.bytes > retention_bytes
            && let Some((id, index)) = self.kept.order.pop_front()
        {
            let name = self.names.get(&id);
            let topic = name.and_then(|name| self.by_name.get_mut(name));
            let partition = topic.and_then(|topic| topic.partitions.get_mut(index as usize));
            self.kept.bytes -= partition.and_then(Partition::drop_oldest).unwrap_or(0);
        }
    }

    /// The broker that leads a partition.
    pub fn leader_of(&self, partition: usize) -> i32 {
        leader_of(partition, self.brokers)
    }

    /// The brokers that are said to have a partition of `topic`, the leader first.
    pub fn replicas_of(&self, topic: &Topic, partition: usize) -> impl Iterator<Item = i32> {
        let brokers = self.brokers;
        (0..usize::from(topic.replication)).map(move |more| leader_of(partition + more, brokers))
    }
}

impl Topic {
    /// An empty topic with an id of its own.
    fn new(partitions: u32, replication: u16, configs: Configs, keeps: bool) -> Self {
        let mut id = [0; 16];
        for byte in &mut id {
            *byte = fastrand::u8(1..);
        }
        let partitions = (0..partitions).map(|_| Partition::new(keeps));
        let mut topic = Self {
            id,
            partitions: partitions.collect(),
            replication,
            configs: Configs::new(),
            max_batch_bytes: 0,
            log_append_time: false,
        };
        topic.configure(configs);
        topic
    }

    /// The settings that were given to it.
    pub fn configs(&self) -> &Configs {
        &self.configs
    }

    fn configure(&mut self, configs: Configs) {
        let value = |name| Setting::of_topics(name).map_or("", |setting| setting.value(&configs).0);
        // It was checked to be a number.
        self.max_batch_bytes = value(config::MAX_MESSAGE_BYTES).parse().unwrap_or(0);
        self.log_append_time = value(config::TIMESTAMP_TYPE) == LOG_APPEND_TIME;
        self.configs = configs;
    }
}

fn leader_of(partition: usize, brokers: usize) -> i32 {
    (partition % brokers) as i32 + 1
}

fn no_topic(name: &str) -> Refusal {
    let why = format!("there is no topic {name}");
    (BrokerError::UNKNOWN_TOPIC_OR_PARTITION, why)
}

/// Checks that a topic may be called `name`.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let why = match name {
        "" => "a topic needs a name",
        "." | ".." => "a topic is not called . or ..",
        _ if name.len() > NAME_CHARACTERS_MAX => "a topic's name has at most 249 characters",
        _ if !name.bytes().all(allowed) => {
            "a topic's name is made of ASCII letters, digits, dots, underscores and hyphens"
        }
        _ => return Ok(()),
    };
    Err((BrokerError::INVALID_TOPIC_EXCEPTION, why.to_owned()))
}

fn check_count(partitions: i32) -> Result<u32, Refusal> {
    match u32::try_from(partitions) {
        Ok(count @ 1..=PARTITIONS_MAX) => Ok(count),
        Ok(1..) => {
            let why = format!("{partitions} partitions, and at most {PARTITIONS_MAX} at once");
            Err((BrokerError::POLICY_VIOLATION, why))
        }
        _ => {
            let why = format!("{partitions} partitions");
            Err((BrokerError::INVALID_PARTITIONS, why))
        }
    }
}
