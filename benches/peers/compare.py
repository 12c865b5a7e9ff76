#!/usr/bin/env python3
"""kdyno beside the Java tool, librdkafka and franz-go: on one sink, and on one real broker.

Rounds are interleaved, so that a disturbed minute of the machine meets every client. CPU is user +
system time of the whole client process, start-up included, as the kernel counts it (wait4). Prints
medians, and with --json FILE writes every round.

Needs cargo, a C compiler and make (librdkafka), go (franz-go), java and mvn (the Java tool, and the
real broker). A peer that can't be built is left out and named.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "target" / "peers"
KAFKA = "4.4.0"
BATCH, LINGER_MS, IN_FLIGHT = 1_000_000, 5, 5


def main():
    args = arguments()
    BUILD.mkdir(parents=True, exist_ok=True)
    libs = kafka_libs()
    clients = {"kdyno": build_kdyno(), "librdkafka": build_librdkafka(), "franz-go": build_franz_go(),
               "java": libs and ["java", "-cp", f"{libs}/*"]}
    for name in [name for name, command in clients.items() if not command]:
        print(f"left out: {name} could not be built", file=sys.stderr)
        del clients[name]
    rounds = []
    with Sink(clients["kdyno"]) as sink:
        rounds += compare("sink", sink.address, clients, args)
    if libs and not args.sink_only:
        with Kafka(libs) as broker:
            rounds += compare(f"kafka {KAFKA}", broker.address, clients, args, broker.make_topic)
    table(rounds)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rounds, indent=1) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the record counts")
    parser.add_argument("--sink-only", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def compare(target, address, clients, args, make_topic=None):
    """Every client in turn, `--rounds` times, at both record sizes."""
    rounds = []
    for size, count in ((100, 5_000_000), (1024, 1_000_000)):
        for number in range(args.rounds):
            for name, command in clients.items():
                topic = f"peers-{size}-{number}-{name}"
                if make_topic:
                    make_topic(topic)
                n = int(count * args.scale * (0.4 if name == "java" else 1))
                row = measure(name, command, address, topic, size, n)
                row.update(target=target, size=size, round=number, client=name)
                print(json.dumps(row), file=sys.stderr)
                rounds.append(row)
    return rounds


def measure(name, command, address, topic, size, count):
    """One client process to its end: its own figure for the rate, the kernel's for its CPU."""
    process = subprocess.Popen(client_command(name, command, address, topic, size, count),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{name} ended with {os.waitstatus_to_exitcode(status)}:\n{text}")
    return {"records": count, "records_per_s": rate(name, text),
            "cpu_ns_per_record": (usage.ru_utime + usage.ru_stime) * 1e9 / count}


def client_command(name, command, address, topic, size, count):
    """The same work in each client's own words: acks=all, idempotent, one batching."""
    properties = {"acks": "all", "enable.idempotence": "true", "linger.ms": LINGER_MS,
                  "batch.size": BATCH, "max.in.flight.requests.per.connection": IN_FLIGHT,
                  "compression.type": "none"}
    java_only = {"buffer.memory": 256 << 20, "max.request.size": 2 * BATCH}
    if name == "kdyno":
        pairs = [f"-X{k}={v}" for k, v in {**properties, **java_only}.items()]
        return command + ["produce", "-b", address, "-t", topic, "--existing-topic", "-n", str(count),
                          "-s", str(size), "--json"] + pairs
    if name == "java":
        pairs = [f"{k}={v}" for k, v in {**properties, **java_only}.items()]
        return command + ["org.apache.kafka.tools.ProducerPerformance", "--topic", topic,
                          "--num-records", str(count), "--record-size", str(size), "--throughput", "-1",
                          "--producer-props", f"bootstrap.servers={address}"] + pairs
    if name == "librdkafka":
        pairs = {**properties, "batch.num.messages": 100_000, "queue.buffering.max.messages": 500_000}
        settings = [word for k, v in pairs.items() for word in ("-X", f"{k}={v}")]
        return command + ["-P", "-t", topic, "-b", address, "-s", str(size), "-c", str(count), "-a", "-1",
                          "-q"] + settings
    return command + ["-brokers", address, "-topic", topic, "-n", str(count), "-size", str(size),
                      "-batch-bytes", str(BATCH), "-linger", f"{LINGER_MS}ms"]


def rate(name, text):
    """Records per second as the client itself prints it."""
    if name == "kdyno":
        return json.loads(text)["throughput"]["records_per_s"]
    if name == "franz-go":
        figures = json.loads(text)
        return figures["records"] / figures["seconds"]
    pattern = r"([\d.]+) records/sec" if name == "java" else r"(\d+) msgs/s"
    return float(re.findall(pattern, text)[-1])


def table(rounds):
    print(f"{'target':12} {'size':>5} {'client':11} {'records/s':>12} {'CPU ns/record':>14} "
          f"{'rate of best peer':>18} {'CPU of kdyno':>13}")
    keys = sorted({(r["target"], r["size"]) for r in rounds}, key=str)
    for target, size in keys:
        chosen = [r for r in rounds if (r["target"], r["size"]) == (target, size)]
        names = list(dict.fromkeys(r["client"] for r in chosen))
        median = lambda name, key: statistics.median(r[key] for r in chosen if r["client"] == name)
        best = max([median(n, "records_per_s") for n in names if n != "kdyno"], default=float("nan"))
        own = median("kdyno", "cpu_ns_per_record")
        for name in names:
            per_s, cpu = median(name, "records_per_s"), median(name, "cpu_ns_per_record")
            print(f"{target:12} {size:5} {name:11} {per_s:12,.0f} {cpu:14.0f} {per_s / best:18.2f} {cpu / own:13.1f}")


class Server:
    """A server process of ours for the length of a `with`."""

    def wait(self):
        for _ in range(600):
            try:
                socket.create_connection(self.address.rsplit(":", 1), timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"nothing listens on {self.address}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Sink(Server):
    def __init__(self, kdyno):
        self.kdyno = kdyno

    def __enter__(self):
        self.address = f"127.0.0.1:{free_port()}"
        self.process = subprocess.Popen(self.kdyno + ["broker", "--log", "sink", "--partitions", "4",
                                                      "--listen", self.address],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait()
        return self


class Kafka(Server):
    """One real broker, its log in a folder that is removed afterwards."""

    def __init__(self, libs):
        self.libs = libs

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="kdyno-peers-")
        port, controller = free_port(), free_port()
        self.address = f"127.0.0.1:{port}"
        properties = pathlib.Path(self.folder, "server.properties")
        properties.write_text(SERVER.format(port=port, controller=controller, data=self.folder))
        java = ["java", "-Xms256m", "-Xmx1g", "-cp", f"{self.libs}/*"]
        subprocess.run(java + ["kafka.tools.StorageTool", "format", "-t", "a2R5bm8tcGVlcnMtYmVuY2", "-c",
                               str(properties)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen(java + ["kafka.Kafka", str(properties)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait()
        time.sleep(3)  # The listener opens before the broker is ready for topics.
        return self

    def make_topic(self, topic):
        # Two minutes of log at most: what earlier rounds wrote is deleted with their topics.
        tool = ["java", "-cp", f"{self.libs}/*", "org.apache.kafka.tools.TopicCommand",
                "--bootstrap-server", self.address]
        subprocess.run(tool + ["--create", "--topic", topic, "--partitions", "4", "--config",
                               "max.message.bytes=4000000", "--config", "retention.bytes=268435456"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __exit__(self, *_):
        super().__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)


SERVER = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}/log
log.segment.bytes=134217728
log.retention.check.interval.ms=5000
log.segment.delete.delay.ms=1000
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.cleaner.dedupe.buffer.size=8388608
"""


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def build_kdyno():
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    return [str(ROOT / "target" / "release" / "kdyno")]


def build_franz_go():
    program = BUILD / "franz-go"
    if not shutil.which("go"):
        return None
    built = subprocess.run(["go", "build", "-o", str(program), "."], cwd=HERE / "franz-go")
    return [str(program)] if built.returncode == 0 else None


def build_librdkafka():
    tree = BUILD / "librdkafka"
    program = tree / "examples" / "rdkafka_performance"
    if not program.exists():
        crate = HERE / "librdkafka"
        metadata = subprocess.run(["cargo", "metadata", "--format-version", "1", "--manifest-path",
                                   str(crate / "Cargo.toml")], capture_output=True, text=True)
        if metadata.returncode:
            return None
        manifest = next(p["manifest_path"] for p in json.loads(metadata.stdout)["packages"]
                        if p["name"] == "rdkafka-sys")
        shutil.copytree(pathlib.Path(manifest).parent / "librdkafka", tree, dirs_exist_ok=True)
        steps = (["./configure", "--disable-ssl", "--disable-gssapi", "--disable-curl", "--disable-zstd"],
                 ["make", "-C", "src", "librdkafka.a"], ["make", "-C", "examples", "rdkafka_performance"])
        for step in steps:
            if subprocess.run(step, cwd=tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                return None
    return [str(program)]


def kafka_libs():
    """Apache Kafka's jars, in the cache that the tests use too."""
    folder = ROOT / "target" / "kafka" / KAFKA
    if not (shutil.which("java") and shutil.which("mvn")):
        return None
    if not (folder / "complete").exists():
        test = ["cargo", "test", "--quiet", "--test", "protocol", "a_stopped_broker_comes_back"]
        subprocess.run(test, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder / "libs"


if __name__ == "__main__":
    main()
