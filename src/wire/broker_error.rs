//! Numeric errors of brokers: their name, whether to try again, whether to ask for metadata first.

use std::fmt;

/// An error code as brokers send it; 0 is none. Codes newer than this table keep their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BrokerError(pub i16);

/// What is known of one code.
struct Row {
    code: i16,
    name: &'static str,
    retriable: bool,
    refresh_metadata: bool,
}

impl BrokerError {
    /// No error.
    pub const NONE: Self = Self(0);
    /// Unknown server error.
    pub const UNKNOWN_SERVER_ERROR: Self = Self(-1);
    /// Offset out of range.
    pub const OFFSET_OUT_OF_RANGE: Self = Self(1);
    /// Corrupt message.
    pub const CORRUPT_MESSAGE: Self = Self(2);
    /// Unknown topic or partition.
    pub const UNKNOWN_TOPIC_OR_PARTITION: Self = Self(3);
    /// Leader not available.
    pub const LEADER_NOT_AVAILABLE: Self = Self(5);
    /// Not leader or follower.
    pub const NOT_LEADER_OR_FOLLOWER: Self = Self(6);
    /// Request timed out.
    pub const REQUEST_TIMED_OUT: Self = Self(7);
    /// Message too large.
    pub const MESSAGE_TOO_LARGE: Self = Self(10);
    /// Offset metadata too large.
    pub const OFFSET_METADATA_TOO_LARGE: Self = Self(12);
    /// Network exception.
    pub const NETWORK_EXCEPTION: Self = Self(13);
    /// Coordinator load in progress.
    pub const COORDINATOR_LOAD_IN_PROGRESS: Self = Self(14);
    /// Coordinator not available.
    pub const COORDINATOR_NOT_AVAILABLE: Self = Self(15);
    /// Not coordinator.
    pub const NOT_COORDINATOR: Self = Self(16);
    /// Invalid topic exception.
    pub const INVALID_TOPIC_EXCEPTION: Self = Self(17);
    /// Record list too large.
    pub const RECORD_LIST_TOO_LARGE: Self = Self(18);
    /// Not enough replicas.
    pub const NOT_ENOUGH_REPLICAS: Self = Self(19);
    /// Not enough replicas after append.
    pub const NOT_ENOUGH_REPLICAS_AFTER_APPEND: Self = Self(20);
    /// Invalid required acks.
    pub const INVALID_REQUIRED_ACKS: Self = Self(21);
    /// Illegal generation.
    pub const ILLEGAL_GENERATION: Self = Self(22);
    /// Inconsistent group protocol.
    pub const INCONSISTENT_GROUP_PROTOCOL: Self = Self(23);
    /// Invalid group id.
    pub const INVALID_GROUP_ID: Self = Self(24);
    /// Unknown member id.
    pub const UNKNOWN_MEMBER_ID: Self = Self(25);
    /// Invalid session timeout.
    pub const INVALID_SESSION_TIMEOUT: Self = Self(26);
    /// Rebalance in progress.
    pub const REBALANCE_IN_PROGRESS: Self = Self(27);
    /// Topic authorization failed.
    pub const TOPIC_AUTHORIZATION_FAILED: Self = Self(29);
    /// Cluster authorization failed.
    pub const CLUSTER_AUTHORIZATION_FAILED: Self = Self(31);
    /// Invalid timestamp.
    pub const INVALID_TIMESTAMP: Self = Self(32);
    /// Unsupported sasl mechanism.
    pub const UNSUPPORTED_SASL_MECHANISM: Self = Self(33);
    /// Illegal sasl state.
    pub const ILLEGAL_SASL_STATE: Self = Self(34);
    /// Unsupported version.
    pub const UNSUPPORTED_VERSION: Self = Self(35);
    /// Topic already exists.
    pub const TOPIC_ALREADY_EXISTS: Self = Self(36);
    /// Invalid partitions.
    pub const INVALID_PARTITIONS: Self = Self(37);
    /// Invalid replication factor.
    pub const INVALID_REPLICATION_FACTOR: Self = Self(38);
    /// Invalid replica assignment.
    pub const INVALID_REPLICA_ASSIGNMENT: Self = Self(39);
    /// Invalid config.
    pub const INVALID_CONFIG: Self = Self(40);
    /// Not controller.
    pub const NOT_CONTROLLER: Self = Self(41);
    /// Invalid request.
    pub const INVALID_REQUEST: Self = Self(42);
    /// Policy violation.
    pub const POLICY_VIOLATION: Self = Self(44);
    /// Out of order sequence number.
    pub const OUT_OF_ORDER_SEQUENCE_NUMBER: Self = Self(45);
    /// Duplicate sequence number.
    pub const DUPLICATE_SEQUENCE_NUMBER: Self = Self(46);
    /// Invalid producer epoch.
    pub const INVALID_PRODUCER_EPOCH: Self = Self(47);
    /// Concurrent transactions.
    pub const CONCURRENT_TRANSACTIONS: Self = Self(51);
    /// Operation not attempted.
    pub const OPERATION_NOT_ATTEMPTED: Self = Self(55);
    /// Kafka storage error.
    pub const KAFKA_STORAGE_ERROR: Self = Self(56);
    /// Unknown producer id.
    pub const UNKNOWN_PRODUCER_ID: Self = Self(59);
    /// Fetch session id not found.
    pub const FETCH_SESSION_ID_NOT_FOUND: Self = Self(70);
    /// Invalid fetch session epoch.
    pub const INVALID_FETCH_SESSION_EPOCH: Self = Self(71);
    /// Fenced leader epoch.
    pub const FENCED_LEADER_EPOCH: Self = Self(74);
    /// Unknown leader epoch.
    pub const UNKNOWN_LEADER_EPOCH: Self = Self(75);
    /// Unsupported compression type.
    pub const UNSUPPORTED_COMPRESSION_TYPE: Self = Self(76);
    /// Member id required.
    pub const MEMBER_ID_REQUIRED: Self = Self(79);
    /// Fenced instance id.
    pub const FENCED_INSTANCE_ID: Self = Self(82);
    /// Invalid record.
    pub const INVALID_RECORD: Self = Self(87);
    /// Throttling quota exceeded.
    pub const THROTTLING_QUOTA_EXCEEDED: Self = Self(89);
    /// Resource not found.
    pub const RESOURCE_NOT_FOUND: Self = Self(91);
    /// Unknown topic id.
    pub const UNKNOWN_TOPIC_ID: Self = Self(100);
    /// Mismatched endpoint type.
    pub const MISMATCHED_ENDPOINT_TYPE: Self = Self(114);
    /// Inconsistent topic id.
    pub const INCONSISTENT_TOPIC_ID: Self = Self(103);
    /// Rebootstrap required.
    pub const REBOOTSTRAP_REQUIRED: Self = Self(129);

    /// Kafka's name of it; `UNKNOWN_ERROR_CODE` for one that is newer than this table.
    pub fn name(self) -> &'static str {
        self.row().map_or("UNKNOWN_ERROR_CODE", |row| row.name)
    }

    /// Whether the same request may succeed later.
    pub fn retriable(self) -> bool {
        self.row().is_some_and(|row| row.retriable)
    }

    /// Whether it says that what the client knows of the cluster is old.
    pub fn refresh_metadata(self) -> bool {
        self.row().is_some_and(|row| row.refresh_metadata)
    }

    /// Whether it is an error at all.
    pub fn is_error(self) -> bool {
        self != Self::NONE
    }

    /// The code of a name, as Kafka spells it.
    pub fn from_name(name: &str) -> Option<Self> {
        let row = ROWS.iter().find(|row| row.name == name)?;
        Some(Self(row.code))
    }

    fn row(self) -> Option<&'static Row> {
        let index = usize::try_from(i32::from(self.0) + 1).ok()?;
        ROWS.get(index)
    }
}

impl fmt::Display for BrokerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}

const fn row(code: i16, name: &'static str, retriable: bool, refresh_metadata: bool) -> Row {
    Row {
        code,
        name,
        retriable,
        refresh_metadata,
    }
}

/// Every code of Kafka 4.4, from −1 on without a gap.
const ROWS: &[Row] = &[
    row(-1, "UNKNOWN_SERVER_ERROR", false, false),
    row(0, "NONE", false, false),
    row(1, "OFFSET_OUT_OF_RANGE", false, false),
    row(2, "CORRUPT_MESSAGE", true, false),
    row(3, "UNKNOWN_TOPIC_OR_PARTITION", true, true),
    row(4, "INVALID_FETCH_SIZE", false, false),
    row(5, "LEADER_NOT_AVAILABLE", true, true),
    row(6, "NOT_LEADER_OR_FOLLOWER", true, true),
    row(7, "REQUEST_TIMED_OUT", true, false),
    row(8, "BROKER_NOT_AVAILABLE", false, false),
    row(9, "REPLICA_NOT_AVAILABLE", true, true),
    row(10, "MESSAGE_TOO_LARGE", false, false),
    row(11, "STALE_CONTROLLER_EPOCH", false, false),
    row(12, "OFFSET_METADATA_TOO_LARGE", false, false),
    row(13, "NETWORK_EXCEPTION", true, true),
    row(14, "COORDINATOR_LOAD_IN_PROGRESS", true, false),
    row(15, "COORDINATOR_NOT_AVAILABLE", true, false),
    row(16, "NOT_COORDINATOR", true, false),
    row(17, "INVALID_TOPIC_EXCEPTION", false, false),
    row(18, "RECORD_LIST_TOO_LARGE", false, false),
    row(19, "NOT_ENOUGH_REPLICAS", true, false),
    row(20, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", true, false),
    row(21, "INVALID_REQUIRED_ACKS", false, false),
    row(22, "ILLEGAL_GENERATION", false, false),
    row(23, "INCONSISTENT_GROUP_PROTOCOL", false, false),
    row(24, "INVALID_GROUP_ID", false, false),
    row(25, "UNKNOWN_MEMBER_ID", false, false),
    row(26, "INVALID_SESSION_TIMEOUT", false, false),
    row(27, "REBALANCE_IN_PROGRESS", false, false),
    row(28, "INVALID_COMMIT_OFFSET_SIZE", false, false),
    row(29, "TOPIC_AUTHORIZATION_FAILED", false, false),
    row(30, "GROUP_AUTHORIZATION_FAILED", false, false),
    row(31, "CLUSTER_AUTHORIZATION_FAILED", false, false),
    row(32, "INVALID_TIMESTAMP", false, false),
    row(33, "UNSUPPORTED_SASL_MECHANISM", false, false),
    row(34, "ILLEGAL_SASL_STATE", false, false),
    row(35, "UNSUPPORTED_VERSION", false, false),
    row(36, "TOPIC_ALREADY_EXISTS", false, false),
    row(37, "INVALID_PARTITIONS", false, false),
    row(38, "INVALID_REPLICATION_FACTOR", false, false),
    row(39, "INVALID_REPLICA_ASSIGNMENT", false, false),
    row(40, "INVALID_CONFIG", false, false),
    row(41, "NOT_CONTROLLER", true, true),
    row(42, "INVALID_REQUEST", false, false),
    row(43, "UNSUPPORTED_FOR_MESSAGE_FORMAT", false, false),
    row(44, "POLICY_VIOLATION", false, false),
    row(45, "OUT_OF_ORDER_SEQUENCE_NUMBER", false, false),
    row(46, "DUPLICATE_SEQUENCE_NUMBER", false, false),
    row(47, "INVALID_PRODUCER_EPOCH", false, false),
    row(48, "INVALID_TXN_STATE", false, false),
    row(49, "INVALID_PRODUCER_ID_MAPPING", false, false),
    row(50, "INVALID_TRANSACTION_TIMEOUT", false, false),
    row(51, "CONCURRENT_TRANSACTIONS", true, false),
    row(52, "TRANSACTION_COORDINATOR_FENCED", false, false),
    row(53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", false, false),
    row(54, "SECURITY_DISABLED", false, false),
    row(55, "OPERATION_NOT_ATTEMPTED", false, false),
    row(56, "KAFKA_STORAGE_ERROR", true, true),
    row(57, "LOG_DIR_NOT_FOUND", false, false),
    row(58, "SASL_AUTHENTICATION_FAILED", false, false),
    row(59, "UNKNOWN_PRODUCER_ID", false, false),
    row(60, "REASSIGNMENT_IN_PROGRESS", false, false),
    row(61, "DELEGATION_TOKEN_AUTH_DISABLED", false, false),
    row(62, "DELEGATION_TOKEN_NOT_FOUND", false, false),
    row(63, "DELEGATION_TOKEN_OWNER_MISMATCH", false, false),
    row(64, "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", false, false),
    row(65, "DELEGATION_TOKEN_AUTHORIZATION_FAILED", false, false),
    row(66, "DELEGATION_TOKEN_EXPIRED", false, false),
    row(67, "INVALID_PRINCIPAL_TYPE", false, false),
    row(68, "NON_EMPTY_GROUP", false, false),
    row(69, "GROUP_ID_NOT_FOUND", false, false),
    row(70, "FETCH_SESSION_ID_NOT_FOUND", true, false),
    row(71, "INVALID_FETCH_SESSION_EPOCH", true, false),
    row(72, "LISTENER_NOT_FOUND", true, true),
    row(73, "TOPIC_DELETION_DISABLED", false, false),
    row(74, "FENCED_LEADER_EPOCH", true, true),
    row(75, "UNKNOWN_LEADER_EPOCH", true, false),
    row(76, "UNSUPPORTED_COMPRESSION_TYPE", false, false),
    row(77, "STALE_BROKER_EPOCH", false, false),
    row(78, "OFFSET_NOT_AVAILABLE", true, false),
    row(79, "MEMBER_ID_REQUIRED", false, false),
    row(80, "PREFERRED_LEADER_NOT_AVAILABLE", true, true),
    row(81, "GROUP_MAX_SIZE_REACHED", false, false),
    row(82, "FENCED_INSTANCE_ID", false, false),
    row(83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", true, true),
    row(84, "ELECTION_NOT_NEEDED", true, true),
    row(85, "NO_REASSIGNMENT_IN_PROGRESS", false, false),
    row(86, "GROUP_SUBSCRIBED_TO_TOPIC", false, false),
    row(87, "INVALID_RECORD", false, false),
    row(88, "UNSTABLE_OFFSET_COMMIT", true, false),
    row(89, "THROTTLING_QUOTA_EXCEEDED", true, false),
    row(90, "PRODUCER_FENCED", false, false),
    row(91, "RESOURCE_NOT_FOUND", false, false),
    row(92, "DUPLICATE_RESOURCE", false, false),
    row(93, "UNACCEPTABLE_CREDENTIAL", false, false),
    row(94, "INCONSISTENT_VOTER_SET", false, false),
    row(95, "INVALID_UPDATE_VERSION", false, false),
    row(96, "FEATURE_UPDATE_FAILED", false, false),
    row(97, "PRINCIPAL_DESERIALIZATION_FAILURE", false, false),
    row(98, "SNAPSHOT_NOT_FOUND", false, false),
    row(99, "POSITION_OUT_OF_RANGE", false, false),
    row(100, "UNKNOWN_TOPIC_ID", true, true),
    row(101, "DUPLICATE_BROKER_REGISTRATION", false, false),
    row(102, "BROKER_ID_NOT_REGISTERED", false, false),
    row(103, "INCONSISTENT_TOPIC_ID", true, true),
    row(104, "INCONSISTENT_CLUSTER_ID", false, false),
    row(105, "TRANSACTIONAL_ID_NOT_FOUND", false, false),
    row(106, "FETCH_SESSION_TOPIC_ID_ERROR", true, false),
    row(107, "INELIGIBLE_REPLICA", false, false),
    row(108, "NEW_LEADER_ELECTED", false, false),
    row(109, "OFFSET_MOVED_TO_TIERED_STORAGE", false, false),
    row(110, "FENCED_MEMBER_EPOCH", false, false),
    row(111, "UNRELEASED_INSTANCE_ID", false, false),
    row(112, "UNSUPPORTED_ASSIGNOR", false, false),
    row(113, "STALE_MEMBER_EPOCH", true, false),
    row(114, "MISMATCHED_ENDPOINT_TYPE", false, false),
    row(115, "UNSUPPORTED_ENDPOINT_TYPE", false, false),
    row(116, "UNKNOWN_CONTROLLER_ID", false, false),
    row(117, "UNKNOWN_SUBSCRIPTION_ID", false, false),
    row(118, "TELEMETRY_TOO_LARGE", false, false),
    row(119, "INVALID_REGISTRATION", false, false),
    row(120, "TRANSACTION_ABORTABLE", false, false),
    row(121, "INVALID_RECORD_STATE", false, false),
    row(122, "SHARE_SESSION_NOT_FOUND", true, false),
    row(123, "INVALID_SHARE_SESSION_EPOCH", true, false),
    row(124, "FENCED_STATE_EPOCH", false, false),
    row(125, "INVALID_VOTER_KEY", false, false),
    row(126, "DUPLICATE_VOTER", false, false),
    row(127, "VOTER_NOT_FOUND", false, false),
    row(128, "INVALID_REGULAR_EXPRESSION", false, false),
    row(129, "REBOOTSTRAP_REQUIRED", false, false),
    row(130, "STREAMS_INVALID_TOPOLOGY", false, false),
    row(131, "STREAMS_INVALID_TOPOLOGY_EPOCH", false, false),
    row(132, "STREAMS_TOPOLOGY_FENCED", false, false),
    row(133, "SHARE_SESSION_LIMIT_REACHED", true, false),
    row(134, "GROUP_DELETION_FAILED", false, false),
    row(
        135,
        "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED",
        false,
        false,
    ),
    row(136, "CONTROLLER_ID_NOT_REGISTERED", false, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_stands_at_its_place_and_comes_back_from_its_name() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(i32::from(row.code), index as i32 - 1);
            assert_eq!(
                BrokerError::from_name(row.name),
                Some(BrokerError(row.code))
            );
        }
    }

    #[test]
    fn a_code_of_a_newer_kafka_keeps_its_number_and_is_not_retried() {
        let newer = BrokerError(999);
        assert_eq!(newer.to_string(), "UNKNOWN_ERROR_CODE (999)");
        assert!(!newer.retriable());
        assert!(BrokerError(i16::MIN).row().is_none());
    }

    #[test]
    fn a_moved_leader_is_retried_after_a_look_at_the_metadata() {
        let moved = BrokerError::NOT_LEADER_OR_FOLLOWER;
        assert!(moved.retriable() && moved.refresh_metadata());
        assert!(!BrokerError::MESSAGE_TOO_LARGE.retriable());
    }
}
