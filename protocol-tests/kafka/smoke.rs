//! The provisioning itself: Kafka's own tools work against the brokers that the tests start.

use super::{CURRENT, ClusterOptions, OLDEST, shared, start};

#[test]
fn the_oldest_release_answers_kafkas_own_tools() {
    let Some(kafka) = shared(OLDEST) else { return };
    kafka.create_topic("smoke", 2, &[]);
    assert_eq!(kafka.end_offsets("smoke"), [(0, 0), (1, 0)]);
}

#[test]
fn a_stopped_broker_comes_back_with_its_records() {
    let Some(kafka) = start(CURRENT, ClusterOptions::default()) else {
        return;
    };
    kafka.create_topic("kept", 1, &[]);
    let bootstrap = format!("bootstrap.servers={}", kafka.bootstrap());
    let arguments = "--topic kept --num-records 5 --record-size 7 --throughput -1 --producer-props";
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    arguments.push(&bootstrap);
    kafka.tool("org.apache.kafka.tools.ProducerPerformance", &arguments);

    kafka.stop_node(0);
    kafka.start_node(0).expect("it started once");
    kafka.wait_until_ready(1).expect("it was ready once");

    let lines = kafka.read_all("kept", 5);
    assert_eq!(lines.len(), 5, "{lines:?}");
    assert!(
        lines[4].contains("|Partition:0|Offset:4|NO_HEADERS|null|"),
        "{lines:?}"
    );
    assert!(kafka.dump_log(0, "kept", 0).contains("isvalid: true"));
}
