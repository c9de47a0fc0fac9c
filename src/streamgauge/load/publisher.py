"""The publisher: a process of its own that hands every event to Kafka when it is due, and says how late each left.

It is open-loop: it looks at the clock and at nothing else, least of all at the job. `python -m
streamgauge.load.publisher SPEC.json` publishes what the specification says and writes the result it names.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np

from streamgauge.load import parse_load
from streamgauge.load.blocks import BlockQueue, EventBlock
from streamgauge.load.lateness import LatenessCounts
from streamgauge.load.native_producer import NativeProducer
from streamgauge.load.specification import PublisherResult, PublisherSpec, write_json
from streamgauge.log.cluster import Cluster
from streamgauge.log.security import to_librdkafka
from streamgauge.model.errors import EXIT_ENGINE, EXIT_INTERRUPTED, EXIT_USER, LogError, StreamgaugeError, UserError
from streamgauge.model.load import Load
from streamgauge.streams.reference import open_source

FLAT_OUT_BATCH_BYTES = 262_144
TICK_NS = 5_000_000
"""What is due is sent every so often, as Kafka's own producer gathers; at 1 ms it took a quarter of a core."""

_LONGEST_SLEEP_NS = 50_000_000
_PROGRESS_EVERY_NS = 500_000_000
_LARGEST_QUEUE_BYTES = 256 << 20
_EVENTS_PER_SEND = 4096
"""Sends are cut here, so that the instant noted for an event is near its own."""
_INTERRUPTED_FLUSH_S = 3.0

_SETTINGS = {
    "queue.buffering.max.messages": "500000",
    "queue.buffering.max.kbytes": "2097151",
    "batch.num.messages": "1000000",
    "batch.size": str(FLAT_OUT_BATCH_BYTES),
    "socket.nagle.disable": "true",
}
_PACED_SETTINGS = {"linger.ms": "1"}
_FLAT_OUT_SETTINGS = {"linger.ms": "20"}
_FORCED_SETTINGS = {"enable.idempotence": "true", "acks": "all"}
"""Order kept, nothing twice: the oracle's answer depends on it."""


class Interrupted(Exception):  # noqa: N818
    """The publisher was told to stop, or its parent is gone."""


@dataclass
class _Sent:
    """What has been handed to the producer so far."""

    partition_events: list[int]
    events: int = 0
    payload_bytes: int = 0
    first_ns: int | None = None
    last_ns: int = 0


class Publisher:
    """Publishes one specification, from the first event to the check that all are in the log."""

    def __init__(self, spec: PublisherSpec) -> None:
        self.spec = spec
        self.sent = _Sent([0] * spec.partitions)
        self.lateness = LatenessCounts(spec.judged_from_s)
        self.stop_reason: str | None = None
        self._started_ns = time.monotonic_ns()
        self._start_at_epoch_ns = spec.start_at_epoch_ns
        self._parent = os.getppid()
        self._next_progress_ns = 0
        self._late_ns = 0
        """Largest lateness since the progress was told last."""
        self._producer: NativeProducer | None = None
        self._there = [0] * spec.partitions
        """Events at the start of each partition that a publisher before this one has sent already."""

    def run(self) -> PublisherResult:
        """Publish everything; a broker that is lost, a mistake or an interruption is told in the result."""
        error: str | None = None
        missing, exit_code, interrupted, flat_out = 0, 0, False, False
        try:
            load = parse_load(self.spec.load)
            flat_out = load.job_starts_at_s is None
            missing = self._publish(load, flat_out)
            if missing:
                error, exit_code = f"{missing} of {self.sent.events} events are missing from the topic", EXIT_ENGINE
        except Interrupted:
            interrupted, error, exit_code = True, self.stop_reason, EXIT_INTERRUPTED
            missing = self._flushed_when_interrupted()
        except StreamgaugeError as problem:
            error, exit_code = str(problem), problem.exit_code
            missing = self._unacknowledged()
        except Exception as problem:  # a user's own stream may fail in any way
            error, exit_code = f"{type(problem).__name__}: {problem}", EXIT_USER
            missing = self._unacknowledged()
        finished_ns = self._elapsed_ns()
        if self._producer is not None:
            self._producer.close()
        return self._result(flat_out, finished_ns, missing, interrupted, error, exit_code)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Signal handler: stop at the next look at the clock."""
        self.stop_reason = f"stopped by {signal.Signals(signum).name}"

    def _publish(self, load: Load, flat_out: bool) -> int:
        """Publish all events and return how many of them are not in the topic afterwards."""
        spec = self.spec
        stream, source = open_source(spec.stream, spec.seed)
        self._producer = producer = NativeProducer(spec.topic, _settings(spec, flat_out))
        cluster = Cluster(spec.bootstrap, spec.kafka_config)
        cluster.check()
        before = _ends_of(cluster, spec)
        if spec.resumes:
            self._there, before = list(before), [0] * spec.partitions
        block_events, ahead = (32_768, 8) if flat_out else (8_192, 32)
        waiting = BlockQueue(
            *(stream, source, load, spec.start_index, spec.events, spec.partitions, block_events, ahead),
            *(spec.spoiling, (spec.share, spec.shares)),
        )
        try:
            if not flat_out:
                waiting.wait_until_ahead()
            self._wait_for_start()
            for block in waiting.blocks(while_waiting=self._look_around):
                if flat_out:
                    self._send(producer, block, 0, block.count)
                    self._look_around()
                else:
                    self._send_when_due(producer, block)
        finally:
            waiting.stop()
        self._flush(producer)
        growth = [after - earlier for after, earlier in zip(_ends_of(cluster, spec), before, strict=True)]
        wanted = self.sent.partition_events
        return sum(max(0, events - grown) for events, grown in zip(wanted, growth, strict=True))

    def _wait_for_start(self) -> None:
        """Fix the instant at which elapsed time is zero, and wait for it."""
        now_epoch_ns = time.time_ns()
        self._start_at_epoch_ns = self.spec.start_at_epoch_ns or now_epoch_ns
        self._started_ns = time.monotonic_ns() + self._start_at_epoch_ns - now_epoch_ns
        while (ahead_ns := -self._elapsed_ns()) > 0:
            time.sleep(min(ahead_ns, _LONGEST_SLEEP_NS) / 1e9)
            self._look_around()

    def _elapsed_ns(self) -> int:
        return time.monotonic_ns() - self._started_ns

    def _send_when_due(self, producer: NativeProducer, block: EventBlock) -> None:
        """Wake every few milliseconds and send whatever is due by then."""
        sent_ns = np.zeros(block.count, dtype=np.int64)
        position = 0
        try:
            while position < block.count:
                now_ns = self._elapsed_ns()
                due = int(np.searchsorted(block.due_ns, now_ns, side="right"))
                while position < due:
                    end = min(due, position + _EVENTS_PER_SEND)
                    self._send(producer, block, position, end)
                    sent_ns[position:end] = self._elapsed_ns()
                    self._late_ns = max(self._late_ns, int(sent_ns[position] - block.due_ns[position]))
                    position = end
                self._look_around()
                if position < block.count:
                    wake_ns = max(int(block.due_ns[position]), now_ns + TICK_NS)
                    sleep_ns = min(wake_ns - self._elapsed_ns(), _LONGEST_SLEEP_NS)
                    if sleep_ns > 0:
                        time.sleep(sleep_ns / 1e9)
        finally:
            self.lateness.add(block.due_ns[:position], sent_ns[:position])

    def _send(self, producer: NativeProducer, block: EventBlock, begin: int, end: int) -> None:
        """Hand events begin … end−1 of the block to the producer, waiting while its queue is full."""
        sent = self.sent
        if sent.first_ns is None:
            sent.first_ns = self._elapsed_ns()
        mean_bytes = block.payload_bytes // block.count + 1
        limit = min(producer.largest_queue, _LARGEST_QUEUE_BYTES // mean_bytes)
        lows, highs = block.bounds(begin), block.bounds(end)
        for partition in np.flatnonzero(highs > lows).tolist():
            low, high = self._not_there(partition, int(lows[partition]), int(highs[partition]))
            step = max(1, limit // 2)
            for first in range(low, high, step):
                messages = block.messages[first : min(first + step, high)]
                while producer.queued + len(messages) > limit:
                    producer.poll(1)
                    self._look_around()
                producer.send(partition, messages)
                sent.partition_events[partition] += len(messages)
                sent.events += len(messages)
                sent.payload_bytes += int(messages["payload_size"].sum())
        sent.last_ns = self._elapsed_ns()

    def _not_there(self, partition: int, low: int, high: int) -> tuple[int, int]:
        """The messages low … high−1 of a partition without those that are in the log already, which count as sent."""
        there = min(self._there[partition], high - low)
        self._there[partition] -= there
        self.sent.partition_events[partition] += there
        self.sent.events += there
        return low + there, high

    def _look_around(self) -> None:
        """Notice a refused event, a request to stop, a parent that is gone; tell the progress."""
        if self._producer is not None:
            self._producer.poll(0)
            if self._producer.failures:
                raise self._broker_lost(self._producer)
        if self.stop_reason is not None:
            raise Interrupted
        now_ns = time.monotonic_ns()
        if now_ns >= self._next_progress_ns:
            self._next_progress_ns = now_ns + _PROGRESS_EVERY_NS
            if os.getppid() != self._parent:
                self.stop_reason = "the process that started the publisher is gone"
                raise Interrupted
            self._tell_progress()

    def _tell_progress(self) -> None:
        if self.spec.progress_path is not None:
            elapsed_s = round(self._elapsed_ns() / 1e9, 3)
            told = {
                "published": self.sent.events,
                "elapsed_s": elapsed_s,
                "start_ns": self._start_at_epoch_ns,
                "late_ms": round(self._late_ns / 1e6, 1),
            }
            self._late_ns = 0
            write_json(Path(self.spec.progress_path), told)

    def _broker_lost(self, producer: NativeProducer) -> LogError:
        trouble = f" ({producer.last_trouble})" if producer.last_trouble else ""
        return LogError(
            f"Kafka at {self.spec.bootstrap} did not take all events: {producer.first_failure}{trouble}",
            "Check that it runs",
        )

    def _flush(self, producer: NativeProducer) -> None:
        """Wait for the last acknowledgements; the client itself gives up an event after its time-out."""
        while producer.flush(100):
            self._look_around()
        self._look_around()
        self._tell_progress()

    def _flushed_when_interrupted(self) -> int:
        if self._producer is not None:
            self._producer.flush(int(_INTERRUPTED_FLUSH_S * 1000))
        return self._unacknowledged()

    def _unacknowledged(self) -> int:
        return 0 if self._producer is None else self._producer.failures + self._producer.queued

    def _result(
        self, flat_out: bool, finished_ns: int, missing: int, interrupted: bool, error: str | None, exit_code: int
    ) -> PublisherResult:
        sent, late, start = self.sent, self.lateness, self._start_at_epoch_ns
        first_ns = sent.first_ns or 0
        kept_up, reason = (True, "preloaded: no event has a time of its own") if flat_out else late.kept_up()
        if error is not None:
            kept_up, reason = False, "it did not publish everything"
        span_ns = finished_ns - first_ns if flat_out else sent.last_ns - first_ns
        gaps = sent.events if flat_out else sent.events - 1
        return PublisherResult(
            events=sent.events,
            bytes=sent.payload_bytes,
            partition_events=tuple(sent.partition_events),
            start_at_epoch_ns=start,
            first_sent_epoch_ns=start + first_ns,
            last_sent_epoch_ns=start + sent.last_ns,
            finished_epoch_ns=start + finished_ns,
            achieved_rate_per_s=gaps / (span_ns / 1e9) if span_ns > 0 and gaps > 0 else 0.0,
            kept_up=kept_up,
            kept_up_reason=reason,
            lateness_mean_ms=None if flat_out else late.mean_ms,
            lateness_p50_ms=None if flat_out else late.quantile_ms(0.5),
            lateness_p99_ms=None if flat_out else late.quantile_ms(0.99),
            lateness_max_ms=None if flat_out else late.max_ms,
            lateness_last_ms=None if flat_out else late.last_ms,
            delivery_failures=missing,
            interrupted=interrupted,
            error=error,
            exit_code=exit_code,
        )


def _ends_of(cluster: Cluster, spec: PublisherSpec) -> list[int]:
    """The end offset of each partition that is published to; raises unless the topic is there and wide enough."""
    if spec.topic not in cluster.topics():
        raise UserError(f"there is no topic '{spec.topic}' at {spec.bootstrap}", "Create it before publishing")
    ends = cluster.end_offsets(spec.topic)
    if len(ends) < spec.partitions:
        raise UserError(
            f"topic '{spec.topic}' has {len(ends)} partitions, not {spec.partitions}",
            "Create it with as many partitions as the publisher is told",
        )
    return [ends[partition] for partition in range(spec.partitions)]


def _settings(spec: PublisherSpec, flat_out: bool) -> dict[str, str]:
    """librdkafka's settings: this program's choice, the user's over it, and what must not differ over both."""
    return {
        **_SETTINGS,
        **(_FLAT_OUT_SETTINGS if flat_out else _PACED_SETTINGS),
        "message.timeout.ms": str(round(spec.broker_timeout_s * 1000)),
        **to_librdkafka(spec.kafka_config),
        **_FORCED_SETTINGS,
        "bootstrap.servers": spec.bootstrap,
    }


def main(arguments: list[str]) -> int:
    """Publish what the specification file says, write its result and return the exit code."""
    if len(arguments) != 1:
        print("usage: python -m streamgauge.load.publisher SPEC.json", file=sys.stderr)
        return EXIT_USER
    try:
        spec = PublisherSpec.read(Path(arguments[0]))
    except StreamgaugeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    publisher = Publisher(spec)
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, publisher.request_stop)
    # The generator's thread must hand the interpreter over at once when an event is due; nothing here makes cycles.
    sys.setswitchinterval(0.0005)
    gc.disable()
    result = publisher.run()
    with contextlib.suppress(OSError):
        publisher.lateness.write(Path(spec.lateness_path))
    result.write(Path(spec.result_path))
    if result.error is not None:
        print(result.error, file=sys.stderr)
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
