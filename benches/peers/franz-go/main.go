// Command franz-go writes records of one size as fast as franz-go can and prints one JSON line:
// records, seconds from the first record offered to the last acknowledged, failed records, and the
// CPU seconds of the process. It is a peer of `just bench-peers`.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	brokers := flag.String("brokers", "127.0.0.1:9092", "bootstrap servers")
	topic := flag.String("topic", "", "topic, must exist")
	count := flag.Int64("n", 1_000_000, "records")
	size := flag.Int("size", 100, "value bytes")
	batch := flag.Int("batch-bytes", 16384, "largest batch")
	linger := flag.Duration("linger", 5*time.Millisecond, "linger")
	codec := flag.String("compression", "none", "none, gzip, snappy, lz4 or zstd")
	buffered := flag.Int("buffered", 100_000, "records buffered at most")
	flag.Parse()
	if err := run(*brokers, *topic, *count, *size, *buffered, options(*batch, *linger, *codec)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options are franz-go's words for acks=all with idempotence and the given batching.
func options(batch int, linger time.Duration, codec string) []kgo.Opt {
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	return []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchMaxBytes(int32(batch)),
		kgo.ProducerLinger(linger),
		kgo.ProducerBatchCompression(codecs[codec]),
	}
}

func run(brokers, topic string, count int64, size, buffered int, opts []kgo.Opt) error {
	opts = append(opts, kgo.SeedBrokers(strings.Split(brokers, ",")...), kgo.DefaultProduceTopic(topic),
		kgo.MaxBufferedRecords(buffered))
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer client.Close()
	value := make([]byte, size)
	for i := range value {
		value[i] = byte('A' + i*7%26)
	}
	ctx := context.Background()
	// Connections and the producer id stand before the clock starts.
	if err := client.ProduceSync(ctx, &kgo.Record{Value: value}).FirstErr(); err != nil {
		return err
	}
	var failed, acked atomic.Int64
	records := sync.Pool{New: func() any { return new(kgo.Record) }}
	done := func(r *kgo.Record, err error) {
		if err != nil {
			failed.Add(1)
		} else {
			acked.Add(1)
		}
		records.Put(r)
	}
	before, start := cpuSeconds(), time.Now()
	for i := int64(0); i < count; i++ {
		record := records.Get().(*kgo.Record)
		*record = kgo.Record{Value: value}
		client.Produce(ctx, record, done)
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"records": acked.Load(), "failed": failed.Load(), "seconds": seconds, "cpu_s": cpuSeconds() - before,
	})
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
