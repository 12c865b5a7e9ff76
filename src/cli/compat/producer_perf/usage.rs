//! The help of the producer's performance tool: its synopsis as scripts know it, our own words.

/// The tool's name in its messages.
pub(super) const PROGRAM: &str = "kafka-producer-perf-test";

/// What precedes every complaint about the command line.
pub(super) const SYNOPSIS: &str = "\
usage: kafka-producer-perf-test
       [-h] [--bootstrap-server BOOTSTRAP-SERVER] --topic TOPIC
       --num-records NUM-RECORDS [--payload-delimiter PAYLOAD-DELIMITER]
       --throughput THROUGHPUT
       [--producer-props PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--command-property PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--producer.config CONFIG-FILE] [--command-config CONFIG-FILE]
       [--print-metrics] [--transactional-id TRANSACTIONAL-ID]
       [--transaction-duration-ms TRANSACTION-DURATION]
       [--warmup-records WARMUP-RECORDS] [--reporting-interval INTERVAL-MS]
       [--record-key-range KEY-RANGE] [--key-distribution KEY-DISTRIBUTION]
       [--random-seed RANDOM-SEED] (--record-size RECORD-SIZE |
       --payload-file PAYLOAD-FILE | --payload-monotonic)
";

/// The options, each with what it does.
pub(super) const OPTIONS: &str = "
Writes records to one topic and prints how fast they were acknowledged. This is kdyno standing in
for Apache Kafka's tool of the same name; `kdyno produce` measures more.

  -h, --help             this text
  --version              the level of Apache Kafka's tool, and kdyno's own version
  --bootstrap-server BOOTSTRAP-SERVER
                         host:port of one or more brokers; wins over bootstrap.servers
  --topic TOPIC          the topic to write to
  --num-records NUM-RECORDS
                         how many records to send
  --throughput THROUGHPUT
                         records per second; -1 for as fast as it goes
  --record-size RECORD-SIZE
                         bytes of each value, random upper-case letters
  --payload-file PAYLOAD-FILE
                         a UTF-8 text, of which each record holds one piece chosen at random
  --payload-delimiter PAYLOAD-DELIMITER
                         a regular expression between the pieces (default: \\n)
  --payload-monotonic    values are the numbers of the records, from 0
  --command-property PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]
                         producer properties; they win over those of --command-config
  --command-config CONFIG-FILE
                         a file of producer properties
  --producer-props, --producer.config
                         the old names of the two above
  --print-metrics        a table of the client's metrics at the end
  --transactional-id TRANSACTIONAL-ID, --transaction-duration-ms TRANSACTION-DURATION
                         transactions; kdyno has none yet and says so
  --warmup-records WARMUP-RECORDS
                         how many of the records are left out of a second, steady summary
                         (default: 0)
  --reporting-interval INTERVAL-MS
                         milliseconds between progress lines (default: 5000)
  --record-key-range KEY-RANGE
                         keys are integers from 0 to KEY-RANGE - 1
  --key-distribution KEY-DISTRIBUTION
                         none, range (one after the other) or random (default: none)
  --random-seed RANDOM-SEED
                         the same seed sends the same records again (default: 0)
  --stats exact|reference
                         kdyno only: every latency counts (exact, the default), or Kafka's own
                         sampling and whole milliseconds (reference)

Exactly one of --record-size, --payload-file and --payload-monotonic is needed.
";
