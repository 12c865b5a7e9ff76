//! Every API: its key, name, versions, and where its flexible versions start. The one table.

use std::fmt;

use thiserror::Error;

/// The number of an API. Keys that are not in the table are kept as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiKey(pub i16);

/// An inclusive range of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The lowest.
    pub min: i16,
    /// The highest.
    pub max: i16,
}

/// What is known of one API.
#[derive(Debug, Clone, Copy)]
pub struct Api {
    /// Its number.
    pub key: ApiKey,
    /// Kafka's name of it.
    pub name: &'static str,
    /// The versions that Apache Kafka 4.4 knows, unstable ones included.
    pub known: Range,
    /// The first flexible version; above `known` where there is none.
    pub flexible_from: i16,
    /// The versions that kdyno's own client speaks, if it speaks the API.
    pub client: Option<Range>,
}

/// No version that both sides speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum VersionError {
    /// The ranges do not meet.
    #[error("{api}: kdyno speaks versions {client}, the broker {broker}")]
    Apart {
        /// The API.
        api: ApiKey,
        /// kdyno's versions.
        client: Range,
        /// The broker's versions.
        broker: Range,
    },
    /// The broker does not list the API.
    #[error("{0}: the broker does not offer it")]
    NotOffered(ApiKey),
    /// kdyno does not speak the API.
    #[error("{0}: kdyno does not speak it")]
    NotSpoken(ApiKey),
    /// A version was asked for that is outside a range.
    #[error("{api} version {version} was asked for; {who} speaks versions {range}")]
    Pinned {
        /// The API.
        api: ApiKey,
        /// The version asked for.
        version: i16,
        /// Who does not speak it.
        who: &'static str,
        /// What it speaks.
        range: Range,
    },
}

impl ApiKey {
    /// Produce.
    pub const PRODUCE: Self = Self(0);
    /// Fetch.
    pub const FETCH: Self = Self(1);
    /// ListOffsets.
    pub const LIST_OFFSETS: Self = Self(2);
    /// Metadata.
    pub const METADATA: Self = Self(3);
    /// OffsetCommit.
    pub const OFFSET_COMMIT: Self = Self(8);
    /// OffsetFetch.
    pub const OFFSET_FETCH: Self = Self(9);
    /// FindCoordinator.
    pub const FIND_COORDINATOR: Self = Self(10);
    /// JoinGroup.
    pub const JOIN_GROUP: Self = Self(11);
    /// Heartbeat.
    pub const HEARTBEAT: Self = Self(12);
    /// LeaveGroup.
    pub const LEAVE_GROUP: Self = Self(13);
    /// SyncGroup.
    pub const SYNC_GROUP: Self = Self(14);
    /// DescribeGroups.
    pub const DESCRIBE_GROUPS: Self = Self(15);
    /// ListGroups.
    pub const LIST_GROUPS: Self = Self(16);
    /// SaslHandshake.
    pub const SASL_HANDSHAKE: Self = Self(17);
    /// ApiVersions.
    pub const API_VERSIONS: Self = Self(18);
    /// CreateTopics.
    pub const CREATE_TOPICS: Self = Self(19);
    /// DeleteTopics.
    pub const DELETE_TOPICS: Self = Self(20);
    /// DeleteRecords.
    pub const DELETE_RECORDS: Self = Self(21);
    /// InitProducerId.
    pub const INIT_PRODUCER_ID: Self = Self(22);
    /// OffsetForLeaderEpoch.
    pub const OFFSET_FOR_LEADER_EPOCH: Self = Self(23);
    /// AddPartitionsToTxn.
    pub const ADD_PARTITIONS_TO_TXN: Self = Self(24);
    /// AddOffsetsToTxn.
    pub const ADD_OFFSETS_TO_TXN: Self = Self(25);
    /// EndTxn.
    pub const END_TXN: Self = Self(26);
    /// WriteTxnMarkers.
    pub const WRITE_TXN_MARKERS: Self = Self(27);
    /// TxnOffsetCommit.
    pub const TXN_OFFSET_COMMIT: Self = Self(28);
    /// DescribeAcls.
    pub const DESCRIBE_ACLS: Self = Self(29);
    /// CreateAcls.
    pub const CREATE_ACLS: Self = Self(30);
    /// DeleteAcls.
    pub const DELETE_ACLS: Self = Self(31);
    /// DescribeConfigs.
    pub const DESCRIBE_CONFIGS: Self = Self(32);
    /// AlterConfigs.
    pub const ALTER_CONFIGS: Self = Self(33);
    /// AlterReplicaLogDirs.
    pub const ALTER_REPLICA_LOG_DIRS: Self = Self(34);
    /// DescribeLogDirs.
    pub const DESCRIBE_LOG_DIRS: Self = Self(35);
    /// SaslAuthenticate.
    pub const SASL_AUTHENTICATE: Self = Self(36);
    /// CreatePartitions.
    pub const CREATE_PARTITIONS: Self = Self(37);
    /// CreateDelegationToken.
    pub const CREATE_DELEGATION_TOKEN: Self = Self(38);
    /// RenewDelegationToken.
    pub const RENEW_DELEGATION_TOKEN: Self = Self(39);
    /// ExpireDelegationToken.
    pub const EXPIRE_DELEGATION_TOKEN: Self = Self(40);
    /// DescribeDelegationToken.
    pub const DESCRIBE_DELEGATION_TOKEN: Self = Self(41);
    /// DeleteGroups.
    pub const DELETE_GROUPS: Self = Self(42);
    /// ElectLeaders.
    pub const ELECT_LEADERS: Self = Self(43);
    /// IncrementalAlterConfigs.
    pub const INCREMENTAL_ALTER_CONFIGS: Self = Self(44);
    /// AlterPartitionReassignments.
    pub const ALTER_PARTITION_REASSIGNMENTS: Self = Self(45);
    /// ListPartitionReassignments.
    pub const LIST_PARTITION_REASSIGNMENTS: Self = Self(46);
    /// OffsetDelete.
    pub const OFFSET_DELETE: Self = Self(47);
    /// DescribeClientQuotas.
    pub const DESCRIBE_CLIENT_QUOTAS: Self = Self(48);
    /// AlterClientQuotas.
    pub const ALTER_CLIENT_QUOTAS: Self = Self(49);
    /// DescribeUserScramCredentials.
    pub const DESCRIBE_USER_SCRAM_CREDENTIALS: Self = Self(50);
    /// AlterUserScramCredentials.
    pub const ALTER_USER_SCRAM_CREDENTIALS: Self = Self(51);
    /// DescribeQuorum.
    pub const DESCRIBE_QUORUM: Self = Self(55);
    /// UpdateFeatures.
    pub const UPDATE_FEATURES: Self = Self(57);
    /// DescribeCluster.
    pub const DESCRIBE_CLUSTER: Self = Self(60);
    /// DescribeProducers.
    pub const DESCRIBE_PRODUCERS: Self = Self(61);
    /// UnregisterBroker.
    pub const UNREGISTER_BROKER: Self = Self(64);
    /// DescribeTransactions.
    pub const DESCRIBE_TRANSACTIONS: Self = Self(65);
    /// ListTransactions.
    pub const LIST_TRANSACTIONS: Self = Self(66);
    /// ConsumerGroupHeartbeat.
    pub const CONSUMER_GROUP_HEARTBEAT: Self = Self(68);
    /// ConsumerGroupDescribe.
    pub const CONSUMER_GROUP_DESCRIBE: Self = Self(69);
    /// GetTelemetrySubscriptions.
    pub const GET_TELEMETRY_SUBSCRIPTIONS: Self = Self(71);
    /// PushTelemetry.
    pub const PUSH_TELEMETRY: Self = Self(72);
    /// ListConfigResources.
    pub const LIST_CONFIG_RESOURCES: Self = Self(74);
    /// DescribeTopicPartitions.
    pub const DESCRIBE_TOPIC_PARTITIONS: Self = Self(75);
    /// ShareGroupHeartbeat.
    pub const SHARE_GROUP_HEARTBEAT: Self = Self(76);
    /// ShareGroupDescribe.
    pub const SHARE_GROUP_DESCRIBE: Self = Self(77);
    /// ShareFetch.
    pub const SHARE_FETCH: Self = Self(78);
    /// ShareAcknowledge.
    pub const SHARE_ACKNOWLEDGE: Self = Self(79);
    /// AddRaftVoter.
    pub const ADD_RAFT_VOTER: Self = Self(80);
    /// RemoveRaftVoter.
    pub const REMOVE_RAFT_VOTER: Self = Self(81);
    /// InitializeShareGroupState.
    pub const INITIALIZE_SHARE_GROUP_STATE: Self = Self(83);
    /// ReadShareGroupState.
    pub const READ_SHARE_GROUP_STATE: Self = Self(84);
    /// WriteShareGroupState.
    pub const WRITE_SHARE_GROUP_STATE: Self = Self(85);
    /// DeleteShareGroupState.
    pub const DELETE_SHARE_GROUP_STATE: Self = Self(86);
    /// ReadShareGroupStateSummary.
    pub const READ_SHARE_GROUP_STATE_SUMMARY: Self = Self(87);
    /// StreamsGroupHeartbeat.
    pub const STREAMS_GROUP_HEARTBEAT: Self = Self(88);
    /// StreamsGroupDescribe.
    pub const STREAMS_GROUP_DESCRIBE: Self = Self(89);
    /// DescribeShareGroupOffsets.
    pub const DESCRIBE_SHARE_GROUP_OFFSETS: Self = Self(90);
    /// AlterShareGroupOffsets.
    pub const ALTER_SHARE_GROUP_OFFSETS: Self = Self(91);
    /// DeleteShareGroupOffsets.
    pub const DELETE_SHARE_GROUP_OFFSETS: Self = Self(92);
    /// StreamsGroupTopologyDescriptionUpdate.
    pub const STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: Self = Self(93);
    /// UnregisterController.
    pub const UNREGISTER_CONTROLLER: Self = Self(94);

    /// Its row in the table.
    pub fn api(self) -> Option<&'static Api> {
        let index = APIS.binary_search_by_key(&self, |api| api.key).ok()?;
        Some(&APIS[index])
    }

    /// Kafka's name of it; `unknown` for a key that is not in the table.
    pub fn name(self) -> &'static str {
        self.api().map_or("unknown", |api| api.name)
    }

    /// The key of a name, whatever its case.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut apis = APIS.iter();
        let api = apis.find(|api| api.name.eq_ignore_ascii_case(name))?;
        Some(api.key)
    }

    /// Whether `version` has compact lengths and tagged fields.
    pub fn flexible(self, version: i16) -> bool {
        self.api().is_some_and(|api| version >= api.flexible_from)
    }

    /// The highest version of `broker`'s that kdyno speaks too.
    ///
    /// # Errors
    /// When there is none.
    pub fn agree(self, broker: Option<Range>) -> Result<i16, VersionError> {
        let client = self.client_range()?;
        let broker = broker.ok_or(VersionError::NotOffered(self))?;
        let version = client.max.min(broker.max);
        if version < client.min.max(broker.min) {
            return Err(VersionError::Apart {
                api: self,
                client,
                broker,
            });
        }
        Ok(version)
    }

    /// `version` itself, where both sides speak it.
    ///
    /// # Errors
    /// When one doesn't.
    pub fn pin(self, version: i16, broker: Option<Range>) -> Result<i16, VersionError> {
        let broker = broker.ok_or(VersionError::NotOffered(self))?;
        for (who, range) in [("kdyno", self.client_range()?), ("the broker", broker)] {
            if !range.contains(version) {
                return Err(VersionError::Pinned {
                    api: self,
                    version,
                    who,
                    range,
                });
            }
        }
        Ok(version)
    }

    /// The versions kdyno's client speaks.
    ///
    /// # Errors
    /// When it does not speak the API.
    pub fn client_range(self) -> Result<Range, VersionError> {
        let range = self.api().and_then(|api| api.client);
        range.ok_or(VersionError::NotSpoken(self))
    }
}

impl Range {
    /// Whether `version` lies in it.
    pub fn contains(self, version: i16) -> bool {
        (self.min..=self.max).contains(&version)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.api() {
            Some(api) => f.write_str(api.name),
            None => write!(f, "API {}", self.0),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}–{}", self.min, self.max)
    }
}

/// One row; flexible versions start at the fifth number, kdyno's own range ends it.
const fn api(
    key: ApiKey,
    name: &'static str,
    known: (i16, i16),
    flexible_from: i16,
    client: Option<(i16, i16)>,
) -> Api {
    let client = match client {
        Some((min, max)) => Some(Range { min, max }),
        None => None,
    };
    Api {
        key,
        name,
        known: Range {
            min: known.0,
            max: known.1,
        },
        flexible_from,
        client,
    }
}

/// Every API of a broker's listener, by key. Where kdyno's highest version is below the known one,
/// the typed messages of the control plane end there.
pub const APIS: &[Api] = &[
    api(ApiKey::PRODUCE, "Produce", (3, 13), 9, Some((3, 13))),
    api(ApiKey::FETCH, "Fetch", (4, 18), 12, None),
    api(
        ApiKey::LIST_OFFSETS,
        "ListOffsets",
        (1, 11),
        6,
        Some((1, 10)),
    ),
    api(ApiKey::METADATA, "Metadata", (0, 13), 9, Some((1, 13))),
    api(ApiKey::OFFSET_COMMIT, "OffsetCommit", (2, 10), 8, None),
    api(ApiKey::OFFSET_FETCH, "OffsetFetch", (1, 10), 6, None),
    api(
        ApiKey::FIND_COORDINATOR,
        "FindCoordinator",
        (0, 6),
        3,
        Some((0, 6)),
    ),
    api(ApiKey::JOIN_GROUP, "JoinGroup", (0, 9), 6, None),
    api(ApiKey::HEARTBEAT, "Heartbeat", (0, 4), 4, None),
    api(ApiKey::LEAVE_GROUP, "LeaveGroup", (0, 5), 4, None),
    api(ApiKey::SYNC_GROUP, "SyncGroup", (0, 5), 4, None),
    api(ApiKey::DESCRIBE_GROUPS, "DescribeGroups", (0, 6), 5, None),
    api(ApiKey::LIST_GROUPS, "ListGroups", (0, 5), 3, None),
    api(ApiKey::SASL_HANDSHAKE, "SaslHandshake", (0, 1), 2, None),
    api(ApiKey::API_VERSIONS, "ApiVersions", (0, 5), 3, Some((0, 4))),
    api(
        ApiKey::CREATE_TOPICS,
        "CreateTopics",
        (2, 7),
        5,
        Some((2, 7)),
    ),
    api(
        ApiKey::DELETE_TOPICS,
        "DeleteTopics",
        (1, 6),
        4,
        Some((1, 6)),
    ),
    api(ApiKey::DELETE_RECORDS, "DeleteRecords", (0, 2), 2, None),
    api(
        ApiKey::INIT_PRODUCER_ID,
        "InitProducerId",
        (0, 6),
        2,
        Some((0, 5)),
    ),
    api(
        ApiKey::OFFSET_FOR_LEADER_EPOCH,
        "OffsetForLeaderEpoch",
        (2, 4),
        4,
        None,
    ),
    api(
        ApiKey::ADD_PARTITIONS_TO_TXN,
        "AddPartitionsToTxn",
        (0, 5),
        3,
        None,
    ),
    api(
        ApiKey::ADD_OFFSETS_TO_TXN,
        "AddOffsetsToTxn",
        (0, 4),
        3,
        None,
    ),
    api(ApiKey::END_TXN, "EndTxn", (0, 5), 3, None),
    api(
        ApiKey::WRITE_TXN_MARKERS,
        "WriteTxnMarkers",
        (1, 2),
        1,
        None,
    ),
    api(
        ApiKey::TXN_OFFSET_COMMIT,
        "TxnOffsetCommit",
        (0, 6),
        3,
        None,
    ),
    api(ApiKey::DESCRIBE_ACLS, "DescribeAcls", (1, 3), 2, None),
    api(ApiKey::CREATE_ACLS, "CreateAcls", (1, 3), 2, None),
    api(ApiKey::DELETE_ACLS, "DeleteAcls", (1, 3), 2, None),
    api(
        ApiKey::DESCRIBE_CONFIGS,
        "DescribeConfigs",
        (1, 4),
        4,
        Some((1, 4)),
    ),
    api(ApiKey::ALTER_CONFIGS, "AlterConfigs", (0, 2), 2, None),
    api(
        ApiKey::ALTER_REPLICA_LOG_DIRS,
        "AlterReplicaLogDirs",
        (1, 2),
        2,
        None,
    ),
    api(
        ApiKey::DESCRIBE_LOG_DIRS,
        "DescribeLogDirs",
        (1, 5),
        2,
        Some((1, 4)),
    ),
    api(
        ApiKey::SASL_AUTHENTICATE,
        "SaslAuthenticate",
        (0, 2),
        2,
        None,
    ),
    api(
        ApiKey::CREATE_PARTITIONS,
        "CreatePartitions",
        (0, 3),
        2,
        Some((0, 3)),
    ),
    api(
        ApiKey::CREATE_DELEGATION_TOKEN,
        "CreateDelegationToken",
        (1, 3),
        2,
        None,
    ),
    api(
        ApiKey::RENEW_DELEGATION_TOKEN,
        "RenewDelegationToken",
        (1, 2),
        2,
        None,
    ),
    api(
        ApiKey::EXPIRE_DELEGATION_TOKEN,
        "ExpireDelegationToken",
        (1, 2),
        2,
        None,
    ),
    api(
        ApiKey::DESCRIBE_DELEGATION_TOKEN,
        "DescribeDelegationToken",
        (1, 3),
        2,
        None,
    ),
    api(ApiKey::DELETE_GROUPS, "DeleteGroups", (0, 3), 2, None),
    api(ApiKey::ELECT_LEADERS, "ElectLeaders", (0, 2), 2, None),
    api(
        ApiKey::INCREMENTAL_ALTER_CONFIGS,
        "IncrementalAlterConfigs",
        (0, 1),
        1,
        Some((0, 1)),
    ),
    api(
        ApiKey::ALTER_PARTITION_REASSIGNMENTS,
        "AlterPartitionReassignments",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::LIST_PARTITION_REASSIGNMENTS,
        "ListPartitionReassignments",
        (0, 0),
        0,
        None,
    ),
    api(ApiKey::OFFSET_DELETE, "OffsetDelete", (0, 0), 1, None),
    api(
        ApiKey::DESCRIBE_CLIENT_QUOTAS,
        "DescribeClientQuotas",
        (0, 1),
        1,
        None,
    ),
    api(
        ApiKey::ALTER_CLIENT_QUOTAS,
        "AlterClientQuotas",
        (0, 1),
        1,
        None,
    ),
    api(
        ApiKey::DESCRIBE_USER_SCRAM_CREDENTIALS,
        "DescribeUserScramCredentials",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::ALTER_USER_SCRAM_CREDENTIALS,
        "AlterUserScramCredentials",
        (0, 0),
        0,
        None,
    ),
    api(ApiKey::DESCRIBE_QUORUM, "DescribeQuorum", (0, 2), 0, None),
    api(ApiKey::UPDATE_FEATURES, "UpdateFeatures", (0, 2), 0, None),
    api(
        ApiKey::DESCRIBE_CLUSTER,
        "DescribeCluster",
        (0, 2),
        0,
        Some((0, 2)),
    ),
    api(
        ApiKey::DESCRIBE_PRODUCERS,
        "DescribeProducers",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::UNREGISTER_BROKER,
        "UnregisterBroker",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::DESCRIBE_TRANSACTIONS,
        "DescribeTransactions",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::LIST_TRANSACTIONS,
        "ListTransactions",
        (0, 2),
        0,
        None,
    ),
    api(
        ApiKey::CONSUMER_GROUP_HEARTBEAT,
        "ConsumerGroupHeartbeat",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::CONSUMER_GROUP_DESCRIBE,
        "ConsumerGroupDescribe",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::GET_TELEMETRY_SUBSCRIPTIONS,
        "GetTelemetrySubscriptions",
        (0, 0),
        0,
        None,
    ),
    api(ApiKey::PUSH_TELEMETRY, "PushTelemetry", (0, 0), 0, None),
    api(
        ApiKey::LIST_CONFIG_RESOURCES,
        "ListConfigResources",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::DESCRIBE_TOPIC_PARTITIONS,
        "DescribeTopicPartitions",
        (0, 0),
        0,
        Some((0, 0)),
    ),
    api(
        ApiKey::SHARE_GROUP_HEARTBEAT,
        "ShareGroupHeartbeat",
        (1, 1),
        1,
        None,
    ),
    api(
        ApiKey::SHARE_GROUP_DESCRIBE,
        "ShareGroupDescribe",
        (1, 1),
        1,
        None,
    ),
    api(ApiKey::SHARE_FETCH, "ShareFetch", (1, 2), 1, None),
    api(
        ApiKey::SHARE_ACKNOWLEDGE,
        "ShareAcknowledge",
        (1, 2),
        1,
        None,
    ),
    api(ApiKey::ADD_RAFT_VOTER, "AddRaftVoter", (0, 1), 0, None),
    api(
        ApiKey::REMOVE_RAFT_VOTER,
        "RemoveRaftVoter",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::INITIALIZE_SHARE_GROUP_STATE,
        "InitializeShareGroupState",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::READ_SHARE_GROUP_STATE,
        "ReadShareGroupState",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::WRITE_SHARE_GROUP_STATE,
        "WriteShareGroupState",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::DELETE_SHARE_GROUP_STATE,
        "DeleteShareGroupState",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::READ_SHARE_GROUP_STATE_SUMMARY,
        "ReadShareGroupStateSummary",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::STREAMS_GROUP_HEARTBEAT,
        "StreamsGroupHeartbeat",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::STREAMS_GROUP_DESCRIBE,
        "StreamsGroupDescribe",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::DESCRIBE_SHARE_GROUP_OFFSETS,
        "DescribeShareGroupOffsets",
        (0, 1),
        0,
        None,
    ),
    api(
        ApiKey::ALTER_SHARE_GROUP_OFFSETS,
        "AlterShareGroupOffsets",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::DELETE_SHARE_GROUP_OFFSETS,
        "DeleteShareGroupOffsets",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
        "StreamsGroupTopologyDescriptionUpdate",
        (0, 0),
        0,
        None,
    ),
    api(
        ApiKey::UNREGISTER_CONTROLLER,
        "UnregisterController",
        (0, 0),
        0,
        None,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_kdyno_speaks_only_what_is_known() {
        assert!(APIS.is_sorted_by_key(|api| api.key));
        for api in APIS {
            let inside =
                |range: Range| api.known.contains(range.min) && api.known.contains(range.max);
            assert!(api.client.is_none_or(inside), "{}", api.name);
        }
    }

    #[test]
    fn ranges_that_do_not_meet_name_both() {
        let broker = Some(Range { min: 0, max: 2 });
        let error = ApiKey::PRODUCE.agree(broker).unwrap_err();
        let text = "Produce: kdyno speaks versions 3–13, the broker 0–2";
        assert_eq!(error.to_string(), text);
        let upside_down = Some(Range { min: 5, max: 3 });
        assert!(ApiKey::PRODUCE.agree(upside_down).is_err());
        assert_eq!(
            ApiKey::PRODUCE.agree(Some(Range { min: 0, max: 11 })),
            Ok(11)
        );
    }

    #[test]
    fn a_pin_outside_a_range_names_who_does_not_speak_it() {
        let broker = Some(Range { min: 0, max: 11 });
        assert_eq!(ApiKey::PRODUCE.pin(9, broker), Ok(9));
        let text = ApiKey::PRODUCE.pin(12, broker).unwrap_err().to_string();
        assert_eq!(
            text,
            "Produce version 12 was asked for; the broker speaks versions 0–11"
        );
        let text = ApiKey::PRODUCE.pin(2, broker).unwrap_err().to_string();
        assert_eq!(
            text,
            "Produce version 2 was asked for; kdyno speaks versions 3–13"
        );
    }
}
