//! How members join a group, get their part, stay and leave: the classic protocol of Kafka.

use bytes::Bytes;
use mio::Token;

use super::{Group, Member, Outcome, Phase, timeout};
use crate::base::clock::Nanos;
use crate::wire::broker_error::BrokerError;

/// Session time-outs that are allowed, ms: Kafka's `group.min` and `group.max.session.timeout.ms`.
const SESSION_TIMEOUT_MS: std::ops::RangeInclusive<i32> = 6_000..=1_800_000;

/// What a client says that wants to join.
#[derive(Debug, Clone)]
pub struct Join {
    /// Its id in the group; empty when it has none yet.
    pub member_id: String,
    /// The id that it keeps over restarts, if it has one.
    pub instance_id: Option<String>,
    /// What ids made for it begin with.
    pub client_id: String,
    /// Whether it must come again with the id it is given (KIP-394).
    pub id_first: bool,
    /// How long it may be silent, ms.
    pub session_timeout_ms: i32,
    /// How long it may take to join again, ms.
    pub rebalance_timeout_ms: i32,
    /// What sort of group it is.
    pub protocol_type: String,
    /// Name and metadata of each way to share that it knows, the best first.
    pub protocols: Vec<(String, Bytes)>,
    /// Where its request waits.
    pub connection: Token,
}

/// Why somebody may not join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The error.
    pub error: BrokerError,
    /// The id to come again with, or the one it came with.
    pub member_id: String,
}

/// How a wish to join stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// Others are waited for, until then at most.
    Wait(Nanos),
    /// It belongs to the group.
    Member {
        /// Its id.
        member_id: String,
        /// The generation.
        generation: i32,
        /// The way to share that all know.
        protocol: String,
        /// Who shares.
        leader: String,
        /// Whether the leader has nothing to share, since nothing changed.
        skip_assignment: bool,
        /// For the leader: id, instance id and metadata of each.
        members: Vec<(String, Option<String>, Bytes)>,
    },
}

/// How a wish for an assignment stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Synced {
    /// The leader is waited for, until then at most.
    Wait(Nanos),
    /// What the leader gave.
    Assignment(Bytes),
}

impl Group {
    /// A client wants to join. Where it has to wait, [`Group::joined`] tells how it went on.
    ///
    /// # Errors
    /// When it may not, or not yet.
    pub fn join(&mut self, join: Join, now: Nanos) -> Result<Joined, Refused> {
        self.tick(now);
        let refused = |error, member_id: &str| Refused {
            error,
            member_id: member_id.to_owned(),
        };
        self.check_join(&join)
            .map_err(|error| refused(error, &join.member_id))?;
        let known = self.instance(join.instance_id.as_deref());
        let (id, same) = match (join.member_id.as_str(), known) {
            ("", Some(old)) => self.replace(&old, &join),
            ("", None) => {
                let id = new_id(&join);
                if join.id_first && join.instance_id.is_none() {
                    let until = now.saturating_add(timeout(join.session_timeout_ms));
                    self.promised.insert(id.clone(), until);
                    return Err(refused(BrokerError::MEMBER_ID_REQUIRED, &id));
                }
                (id, false)
            }
            (id, _) => {
                self.check_member(id, join.instance_id.as_deref(), true)
                    .map_err(|error| refused(error, id))?;
                let member = self.members.get(id);
                let same = member.is_some_and(|member| member.protocols == join.protocols);
                (id.to_owned(), same)
            }
        };
        self.promised.remove(&id);
        Ok(self.enter(id, join, same, now))
    }

    /// Takes member `id` into the round of joining, beginning one where that is needed. It isn't
    /// when nothing is new: the `same` protocols, and not of the leader, who may want to share anew.
    fn enter(&mut self, id: String, join: Join, same: bool, now: Nanos) -> Joined {
        let restarted = join.member_id.is_empty();
        let settled = same
            && match self.phase {
                Phase::Stable => restarted || id != self.leader,
                Phase::Syncing { .. } => !restarted,
                Phase::Empty | Phase::Joining { .. } => false,
            };
        let connection = join.connection;
        self.register(&id, join, now);
        if settled {
            return self.membership(&id, restarted);
        }
        match self.phase {
            Phase::Empty => self.begin(now),
            Phase::Stable | Phase::Syncing { .. } => self.rebalance(now),
            Phase::Joining { .. } => self.prolong(now),
        }
        if let Some(member) = self.members.get_mut(&id) {
            member.joined = true;
            member.connection = Some(connection);
        }
        self.complete_if_all_joined(now);
        self.state_of(&id)
    }

    /// How the wish to join of the request that waits on `connection` stands now.
    ///
    /// # Errors
    /// When its member is out.
    pub fn joined(&mut self, connection: Token, now: Nanos) -> Outcome<Joined> {
        self.tick(now);
        let mut members = self.members.iter();
        let found = members.find(|(_, member)| member.connection == Some(connection));
        let id = found.map(|(id, _)| id.clone());
        let id = id.ok_or(BrokerError::UNKNOWN_MEMBER_ID)?;
        Ok(self.state_of(&id))
    }

    /// A member asks for its assignment; the leader gives those of all. Where it has to wait,
    /// asking again tells how it went on.
    ///
    /// # Errors
    /// When it is no member of this generation, or the group is joining anew.
    pub fn sync(
        &mut self,
        (id, instance_id): (&str, Option<&str>),
        generation: i32,
        assignments: Vec<(String, Bytes)>,
        connection: Token,
        now: Nanos,
    ) -> Outcome<Synced> {
        self.tick(now);
        self.check(id, instance_id, generation)?;
        let until = match self.phase {
            Phase::Syncing { until } => until,
            Phase::Stable => return Ok(Synced::Assignment(self.heard(id, now))),
            Phase::Joining { .. } => return Err(BrokerError::REBALANCE_IN_PROGRESS),
            Phase::Empty => return Err(BrokerError::UNKNOWN_MEMBER_ID),
        };
        self.heard(id, now);
        if let Some(member) = self.members.get_mut(id) {
            member.synced = true;
            member.connection = Some(connection);
        }
        if id != self.leader {
            return Ok(Synced::Wait(until));
        }
        for (member, assignment) in assignments {
            if let Some(member) = self.members.get_mut(&member) {
                member.assignment = assignment;
            }
        }
        self.renew_waiting(now);
        self.phase = Phase::Stable;
        self.wake_all();
        Ok(Synced::Assignment(self.heard(id, now)))
    }

    /// Checks that a member means the protocol type and the protocol of this generation, where it
    /// names them.
    ///
    /// # Errors
    /// When it doesn't.
    pub fn check_protocol(&self, (sort, name): (Option<&str>, Option<&str>)) -> Outcome<()> {
        let other = sort.is_some_and(|sort| sort != self.protocol_type)
            || name.is_some() && name != self.protocol.as_deref();
        match other && !matches!(self.phase, Phase::Joining { .. } | Phase::Empty) {
            true => Err(BrokerError::INCONSISTENT_GROUP_PROTOCOL),
            false => Ok(()),
        }
    }

    /// A member says that it is there.
    ///
    /// # Errors
    /// When it is no member of this generation, or has to join again.
    pub fn heartbeat(
        &mut self,
        (id, instance_id): (&str, Option<&str>),
        generation: i32,
        now: Nanos,
    ) -> Outcome<()> {
        self.tick(now);
        self.check(id, instance_id, generation)?;
        self.heard(id, now);
        match self.phase {
            Phase::Joining { .. } => Err(BrokerError::REBALANCE_IN_PROGRESS),
            _ => Ok(()),
        }
    }

    /// A member leaves; one with an instance id may leave its member id out. Gives that.
    ///
    /// # Errors
    /// When it is no member.
    pub fn leave(&mut self, id: &str, instance_id: Option<&str>, now: Nanos) -> Outcome<()> {
        self.tick(now);
        if self.promised.remove(id).is_some() {
            return Ok(());
        }
        let id = match (id, self.instance(instance_id)) {
            ("", Some(member)) => member,
            _ => id.to_owned(),
        };
        self.check_member(&id, instance_id, false)?;
        self.remove(&id, now);
        Ok(())
    }

    /// Checks that somebody is a member of this generation.
    ///
    /// # Errors
    /// When it isn't.
    pub fn check(&self, id: &str, instance_id: Option<&str>, generation: i32) -> Outcome<()> {
        self.check_member(id, instance_id, false)?;
        match generation == self.generation {
            true => Ok(()),
            false => Err(BrokerError::ILLEGAL_GENERATION),
        }
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Nanos) {
        self.promised.retain(|_, until| *until > now);
        let silent = |(id, member): (&String, &Member)| {
            (member.expires <= now && !self.is_waiting(member)).then(|| id.clone())
        };
        let silent: Vec<String> = self.members.iter().filter_map(silent).collect();
        for id in silent {
            self.remove(&id, now);
        }
        match self.phase {
            Phase::Joining { until, .. } if until <= now => self.complete(now),
            Phase::Syncing { until } if until <= now => {
                let late = self.members.iter().filter(|(_, member)| !member.synced);
                let late: Vec<String> = late.map(|(id, _)| id.clone()).collect();
                for id in late {
                    self.remove(&id, now);
                }
                if !self.members.is_empty() {
                    self.rebalance(now);
                }
            }
            Phase::Joining { .. } => self.complete_if_all_joined(now),
            _ => {}
        }
    }

    fn check_join(&self, join: &Join) -> Outcome<()> {
        if !SESSION_TIMEOUT_MS.contains(&join.session_timeout_ms) {
            return Err(BrokerError::INVALID_SESSION_TIMEOUT);
        }
        let alone = self.members.keys().all(|id| *id == join.member_id);
        let fits = alone || join.protocol_type == self.protocol_type;
        let shared = |name: &str| {
            let mut others = self.members.iter().filter(|(id, _)| **id != join.member_id);
            others.all(|(_, member)| member.knows(name))
        };
        let mut names = join.protocols.iter();
        if join.protocol_type.is_empty() || !fits || !names.any(|(name, _)| shared(name)) {
            return Err(BrokerError::INCONSISTENT_GROUP_PROTOCOL);
        }
        Ok(())
    }

    fn check_member(&self, id: &str, instance_id: Option<&str>, joins: bool) -> Outcome<()> {
        match self.instance(instance_id) {
            Some(owner) if owner != id => return Err(BrokerError::FENCED_INSTANCE_ID),
            None if instance_id.is_some() => return Err(BrokerError::UNKNOWN_MEMBER_ID),
            _ => {}
        }
        match self.members.contains_key(id) || joins && self.promised.contains_key(id) {
            true => Ok(()),
            false => Err(BrokerError::UNKNOWN_MEMBER_ID),
        }
    }

    /// The member that has `instance_id`.
    fn instance(&self, instance_id: Option<&str>) -> Option<String> {
        instance_id?;
        let mut members = self.members.iter();
        let found = members.find(|(_, member)| member.instance_id.as_deref() == instance_id);
        found.map(|(id, _)| id.clone())
    }

    /// Gives the place of `old`, which was restarted, to whoever joins: under a new id, so that the
    /// old one is fenced. Gives that, and whether it knows the same protocols.
    fn replace(&mut self, old: &str, join: &Join) -> (String, bool) {
        let id = new_id(join);
        self.wake(old);
        let same = self.members.remove(old).is_some_and(|mut member| {
            let same = member.protocols == join.protocols;
            member.connection = None;
            self.members.insert(id.clone(), member);
            same
        });
        if self.leader == old {
            self.leader.clone_from(&id);
        }
        (id, same)
    }

    fn register(&mut self, id: &str, join: Join, now: Nanos) {
        if self.members.is_empty() {
            self.protocol_type = join.protocol_type;
        }
        let session_timeout = timeout(join.session_timeout_ms);
        let old = self.members.remove(id);
        let member = Member {
            instance_id: join.instance_id,
            session_timeout,
            rebalance_timeout: timeout(join.rebalance_timeout_ms),
            protocols: join.protocols,
            assignment: old
                .as_ref()
                .map(|old| old.assignment.clone())
                .unwrap_or_default(),
            expires: now.saturating_add(session_timeout),
            joined: old.as_ref().is_some_and(|old| old.joined),
            synced: old.as_ref().is_some_and(|old| old.synced),
            connection: Some(join.connection),
        };
        self.members.insert(id.to_owned(), member);
    }

    /// The first round of an empty group.
    fn begin(&mut self, now: Nanos) {
        let most = now.saturating_add(self.rebalance_timeout());
        self.phase = Phase::Joining {
            until: now.saturating_add(self.initial_delay).min(most),
            initial: Some(most),
        };
    }

    /// Somebody came in the first round: it waits for more.
    fn prolong(&mut self, now: Nanos) {
        if let Phase::Joining {
            until,
            initial: Some(most),
        } = &mut self.phase
        {
            *until = now.saturating_add(self.initial_delay).min(*most);
        }
    }

    /// Every member has to join again.
    fn rebalance(&mut self, now: Nanos) {
        // Those who wait for their assignment are told.
        self.renew_waiting(now);
        self.wake_all();
        for member in self.members.values_mut() {
            member.joined = false;
        }
        self.phase = Phase::Joining {
            until: now.saturating_add(self.rebalance_timeout()),
            initial: None,
        };
    }

    fn rebalance_timeout(&self) -> Nanos {
        let timeouts = self.members.values().map(|member| member.rebalance_timeout);
        timeouts.max().unwrap_or(0)
    }

    fn complete_if_all_joined(&mut self, now: Nanos) {
        let Phase::Joining { until, initial } = self.phase else {
            return;
        };
        let all = self.promised.is_empty() && self.members.values().all(|member| member.joined);
        if until <= now || initial.is_none() && all {
            self.complete(now);
        }
    }

    /// Ends a round of joining: who has not joined is out, unless it keeps its place by its
    /// instance id; the others are the next generation.
    fn complete(&mut self, now: Nanos) {
        let keeps = |member: &Member| member.joined || member.instance_id.is_some();
        self.members.retain(|_, member| keeps(member));
        self.generation += 1;
        if !self.members.values().any(|member| member.joined) {
            self.protocol = None;
            self.leader.clear();
            if self.members.is_empty() {
                self.phase = Phase::Empty;
            } else {
                self.rebalance(now);
            }
            return;
        }
        self.protocol = self.choose();
        let joined = |id: &String| self.members.get(id).is_some_and(|member| member.joined);
        if !joined(&self.leader) {
            let first = self.members.keys().find(|id| joined(id)).cloned();
            self.leader = first.unwrap_or_default();
        }
        let until = now.saturating_add(self.rebalance_timeout());
        self.wake_all();
        for member in self.members.values_mut() {
            member.joined = false;
            member.assignment = Bytes::new();
            member.expires = now.saturating_add(member.session_timeout);
        }
        self.phase = Phase::Syncing { until };
    }

    /// The way to share that all know and most would take first.
    fn choose(&self) -> Option<String> {
        let mut votes: Vec<(String, usize)> = Vec::new();
        for member in self.members.values() {
            let mut names = member.protocols.iter().map(|(name, _)| name);
            let known = |name: &str| self.members.values().all(|other| other.knows(name));
            let Some(name) = names.find(|name| known(name)) else {
                continue;
            };
            match votes.iter_mut().find(|(voted, _)| voted == name) {
                Some((_, count)) => *count += 1,
                None => votes.push((name.clone(), 1)),
            }
        }
        let most = votes.into_iter().rev().max_by_key(|(_, count)| *count);
        most.map(|(name, _)| name)
    }

    fn state_of(&self, id: &str) -> Joined {
        match self.phase {
            Phase::Joining { until, .. } => Joined::Wait(until),
            _ => self.membership(id, false),
        }
    }

    fn membership(&self, id: &str, skip_assignment: bool) -> Joined {
        let protocol = self.protocol.clone().unwrap_or_default();
        let is_leader = self.leader == id;
        let members = self.members.iter().filter(|_| is_leader);
        let members = members.map(|(id, member)| {
            let metadata = member.metadata(&protocol);
            (id.clone(), member.instance_id.clone(), metadata)
        });
        Joined::Member {
            member_id: id.to_owned(),
            generation: self.generation,
            leader: self.leader.clone(),
            skip_assignment: skip_assignment && is_leader,
            members: members.collect(),
            protocol,
        }
    }

    /// Who waited for an answer was alive all the time.
    fn renew_waiting(&mut self, now: Nanos) {
        for member in self.members.values_mut().filter(|member| member.synced) {
            member.expires = now.saturating_add(member.session_timeout);
            member.synced = false;
        }
    }

    /// Takes note that a member lives; gives its assignment.
    fn heard(&mut self, id: &str, now: Nanos) -> Bytes {
        let Some(member) = self.members.get_mut(id) else {
            return Bytes::new();
        };
        member.expires = now.saturating_add(member.session_timeout);
        member.assignment.clone()
    }

    fn remove(&mut self, id: &str, now: Nanos) {
        self.wake(id);
        self.members.remove(id);
        match self.phase {
            Phase::Joining { .. } => self.complete_if_all_joined(now),
            _ if self.members.is_empty() => {
                self.generation += 1;
                self.phase = Phase::Empty;
                self.protocol = None;
                self.leader.clear();
            }
            Phase::Stable | Phase::Syncing { .. } => self.rebalance(now),
            Phase::Empty => {}
        }
    }
}

impl Member {
    fn knows(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|(name, _)| name == protocol)
    }

    fn metadata(&self, protocol: &str) -> Bytes {
        let mut protocols = self.protocols.iter();
        let found = protocols.find(|(name, _)| name == protocol);
        found
            .map(|(_, metadata)| metadata.clone())
            .unwrap_or_default()
    }
}

fn new_id(join: &Join) -> String {
    let name = join.instance_id.as_ref().unwrap_or(&join.client_id);
    let id = uuid::Uuid::from_u128(fastrand::u128(..));
    format!("{name}-{id}")
}

#[cfg(test)]
mod tests;
