//! The topics of a run: looked at, made where that was asked for, and deleted at its end.

use std::collections::BTreeMap;
use std::io::Write;

use crate::base::size;
use crate::cli::Failure;
use crate::client::admin::describe::TopicShape;
use crate::client::admin::topics::NewTopic;
use crate::client::admin::{Admin, AdminError};
use crate::cluster::control::ControlPlane;

/// What may be done with topics.
#[derive(Debug, Clone)]
pub struct TopicRules {
    /// How those that are not there are made; none where they have to be there.
    pub making: Option<Making>,
    /// Whether those that hold records may be written to.
    pub existing: bool,
    /// Whether those that were made stay.
    pub keep: bool,
    /// Whether more may be written than the disks have room for.
    pub yes: bool,
    /// Bytes of keys, values and headers that will be written, where that is known.
    pub planned_bytes: Option<u64>,
    /// The largest of the batches that can't be taken apart, where there are any.
    pub whole_batch_bytes: Option<usize>,
}

/// How topics are made.
#[derive(Debug, Clone)]
pub struct Making {
    /// Their partitions.
    pub partitions: u32,
    /// Their replicas; none for the broker's default.
    pub replication_factor: Option<u16>,
    /// Their configuration.
    pub configs: Vec<(String, String)>,
}

impl TopicRules {
    /// The rules where the broker is kdyno's own: what is missing is made, with `partitions` unless
    /// they say otherwise, and ends with the broker.
    pub fn of_embedded(&self, partitions: u32) -> Self {
        let usual = Making {
            partitions,
            replication_factor: None,
            configs: Vec::new(),
        };
        Self {
            making: Some(self.making.clone().unwrap_or(usual)),
            keep: true,
            ..self.clone()
        }
    }
}

/// Topics that are ready to be written to. Those that were made are deleted when it is dropped.
pub struct Topics<'a> {
    admin: Admin<'a>,
    made: Vec<String>,
    keep: bool,
    min_insync: BTreeMap<String, u32>,
}

impl<'a> Topics<'a> {
    /// Looks at the topics called `names`, makes those that are missing where `rules` say how, and
    /// waits until every replica of what it made is in sync. What people should know goes to `tell`.
    pub fn prepare(
        control: &'a ControlPlane,
        names: &[String],
        rules: &TopicRules,
        tell: impl Fn(&str),
    ) -> Result<Self, Failure> {
        let mut topics = Self {
            admin: Admin::new(control),
            made: Vec::new(),
            keep: rules.keep,
            min_insync: BTreeMap::new(),
        };
        let brokers = control.snapshot().brokers().len();
        let mut missing = Vec::new();
        for name in names {
            match topics.admin.topic(name).map_err(failed)? {
                Some(shape) => topics.accept(&shape, rules)?,
                None => missing.push(name.clone()),
            }
        }
        if let Some(first) = missing.first() {
            let making = rules.making.as_ref().ok_or_else(|| {
                Failure::Run(format!(
                    "topic {first} does not exist; --partitions N would make it"
                ))
            })?;
            making.check(brokers)?;
            topics.make(missing, making, rules.planned_bytes)?;
        }
        topics.check_room(control, names, rules, tell)?;
        for name in names {
            topics.check_settings(name, rules)?;
        }
        Ok(topics)
    }

    /// Reads what matters of a topic's settings.
    fn check_settings(&mut self, name: &str, rules: &TopicRules) -> Result<(), Failure> {
        // A sink, or a broker that keeps its settings to itself, can be written to all the same.
        let settings = self.admin.topic_settings(name).unwrap_or_default();
        for setting in settings {
            let number = setting.value.and_then(|value| value.parse::<u32>().ok());
            match (setting.name.as_str(), number) {
                ("min.insync.replicas", Some(least)) => {
                    self.min_insync.insert(name.to_owned(), least);
                }
                ("max.message.bytes", Some(most)) => {
                    let bytes = rules.whole_batch_bytes.unwrap_or(0);
                    if bytes > most as usize {
                        return Err(Failure::Usage(format!(
                            "topic {name} takes batches of {most} bytes at most \
                             (max.message.bytes), and a prepared one has {bytes}: \
                             a smaller batch.size is needed"
                        )));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The topics that were made.
    pub fn made(&self) -> &[String] {
        &self.made
    }

    /// `min.insync.replicas` by topic, where brokers tell.
    pub fn min_insync(&self) -> &BTreeMap<String, u32> {
        &self.min_insync
    }

    /// A topic that is there has the shape that was asked for, and no records unless that was said.
    fn accept(&self, shape: &TopicShape, rules: &TopicRules) -> Result<(), Failure> {
        if let Some(making) = &rules.making {
            let replicas = shape.replication_factor();
            let wanted = making.replication_factor.map(usize::from);
            let alike = shape.partitions.len() == making.partitions as usize
                && wanted.is_none_or(|wanted| wanted == replicas);
            if !alike {
                let wanted = wanted.map_or_else(String::new, |wanted| format!(" × {wanted}"));
                return Err(Failure::Usage(format!(
                    "topic {} is there with {} partitions × {replicas}, not with {}{wanted}: \
                     delete it, or choose another name",
                    shape.name,
                    shape.partitions.len(),
                    making.partitions,
                )));
            }
        }
        let holds_records = || match self.admin.holds_records(shape) {
            // What can't be asked for what it holds is a sink.
            Err(error) if error.is_unsupported() => Ok(false),
            result => result.map_err(failed),
        };
        if !rules.existing && holds_records()? {
            return Err(Failure::Usage(format!(
                "topic {} holds records that kdyno did not write: writing to it asks for \
                 --existing-topic",
                shape.name
            )));
        }
        Ok(())
    }

    fn make(
        &mut self,
        names: Vec<String>,
        making: &Making,
        planned_bytes: Option<u64>,
    ) -> Result<(), Failure> {
        let mut configs = making.configs.clone();
        if !configs.iter().any(|(name, _)| name == "retention.bytes") {
            let bytes = retention_bytes(planned_bytes, making.partitions);
            configs.push(("retention.bytes".to_owned(), bytes.to_string()));
        }
        for name in names {
            let topic = NewTopic {
                name,
                partitions: Some(making.partitions),
                replication_factor: making.replication_factor,
                assignment: Vec::new(),
                configs: configs.clone(),
            };
            self.admin.create_topic(&topic).map_err(failed)?;
            self.made.push(topic.name);
        }
        self.admin.await_topics(&self.made).map_err(failed)
    }

    /// Whether what will be written fits on the disks of every broker.
    fn check_room(
        &self,
        control: &ControlPlane,
        names: &[String],
        rules: &TopicRules,
        tell: impl Fn(&str),
    ) -> Result<(), Failure> {
        let Some(planned) = rules.planned_bytes.filter(|bytes| *bytes >= ROOM_MATTERS) else {
            return Ok(());
        };
        let first = names.first().map(|name| self.admin.topic(name));
        let shape = first.transpose().map_err(failed)?.flatten();
        let replicas = shape.map_or(1, |shape| shape.replication_factor().max(1)) as u64;
        let snapshot = control.snapshot();
        let each = planned * replicas / snapshot.brokers().len().max(1) as u64;
        for broker in snapshot.brokers() {
            // A broker that doesn't tell can't be judged.
            let Ok(Some(free)) = self.admin.free_bytes(broker.id) else {
                continue;
            };
            let what = format!(
                "this run writes {} to broker {}, whose log directories have {} free",
                size::show(each),
                broker.id,
                size::show(free)
            );
            if each > free && !rules.yes {
                return Err(Failure::Usage(format!(
                    "{what}: --yes does it all the same"
                )));
            }
            if each > free / 10 * 7 {
                tell(&what);
            }
        }
        Ok(())
    }
}

impl Drop for Topics<'_> {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        for name in &self.made {
            if let Err(error) = self.admin.delete_topic(name) {
                // A closed standard error leaves nobody to tell.
                writeln!(std::io::stderr(), "kdyno: topic {name} stays: {error}").ok();
            }
        }
    }
}

impl Making {
    fn check(&self, brokers: usize) -> Result<(), Failure> {
        match self.replication_factor {
            Some(factor) if usize::from(factor) > brokers => Err(Failure::Usage(format!(
                "--replication-factor {factor}: the cluster has {brokers} broker{}",
                if brokers == 1 { "" } else { "s" }
            ))),
            _ => Ok(()),
        }
    }
}

fn failed(error: AdminError) -> Failure {
    Failure::Run(error.to_string())
}

/// What a partition of a topic made for this run may hold: twice its share, so that nothing is
/// deleted while it is measured; where the plan has no end in bytes, [`RETENTION_BYTES`].
fn retention_bytes(planned_bytes: Option<u64>, partitions: u32) -> u64 {
    let share = planned_bytes.map(|bytes| bytes / u64::from(partitions) * 2);
    share.map_or(RETENTION_BYTES, |share| share.max(RETENTION_BYTES_MIN))
}

/// Below this no disk is asked for its room: 64 MiB.
const ROOM_MATTERS: u64 = 64 << 20;
/// `retention.bytes` of a partition in a run without a known end: 1 GiB.
const RETENTION_BYTES: u64 = 1 << 30;
/// The least `retention.bytes` of a partition: 64 MiB.
const RETENTION_BYTES_MIN: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_may_hold_twice_its_share_of_the_plan() {
        assert_eq!(retention_bytes(Some(10 << 30), 4), 5 << 30);
        assert_eq!(retention_bytes(Some(1000), 4), 64 << 20);
        assert_eq!(retention_bytes(None, 4), 1 << 30);
    }

    #[test]
    fn more_replicas_than_brokers_are_refused_before_anything_is_made() {
        let making = |factor| Making {
            partitions: 1,
            replication_factor: factor,
            configs: Vec::new(),
        };
        assert!(making(Some(4)).check(3).is_err());
        assert!(making(Some(3)).check(3).is_ok());
        assert!(making(None).check(1).is_ok());
    }
}
