//! The disks of brokers, as they tell.

use kafka_protocol::messages::DescribeLogDirsRequest;

use super::{Admin, AdminError, check};
use crate::cluster::control::Node;

impl Admin<'_> {
    /// Bytes that are free in the log directories of broker `node_id` together; none where it does
    /// not tell (before Kafka 3.3).
    ///
    /// # Errors
    /// When the broker refuses, or does not answer.
    pub fn free_bytes(&self, node_id: i32) -> Result<Option<u64>, AdminError> {
        let mut request = DescribeLogDirsRequest::default();
        // No topic: sizes of partitions are not asked for.
        request.topics = Some(Vec::new());
        let node = Node::Id(node_id);
        let answer = self.control.persist(node, &request, |_| false)?.response;
        let what = format!("log directories of broker {node_id}");
        check(&what, answer.error_code, None)?;
        let usable = answer.results.iter().filter(|dir| dir.error_code == 0);
        let told: Option<Vec<u64>> = usable
            .map(|dir| u64::try_from(dir.usable_bytes).ok())
            .collect();
        Ok(told.map(|bytes| bytes.iter().sum()))
    }
}
