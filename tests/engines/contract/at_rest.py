"""An application's stages over events at rest, without a log: the same decoding, stages and encoding, in one batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.engines import get_engine
from streamgauge.engines.spark.codec import encode_output
from streamgauge.engines.spark.source import decode_stream, malformed_records
from streamgauge.lab.published_events import Published, write_events
from streamgauge.load import parse_load
from streamgauge.log.append_times import AppendTimes
from streamgauge.model import Application, Output, Verdict, wanted
from streamgauge.streams.malformed import Spoiling, spoiled
from streamgauge.streams.placement import partitions_of
from streamgauge.streams.wire import encode
from streamgauge.verify.decode import ENVELOPE, decode_outputs
from streamgauge.verify.events import Events
from streamgauge.verify.verdict import judge

PARTITIONS = 2
FIRST_APPEND = datetime(2026, 1, 2, tzinfo=UTC)
PER_MS = 2
"""Events that are appended in one millisecond."""


@dataclass
class AtRest:
    """One application with its events of one seed, spoiled or not, as Spark and the oracle see them."""

    spark: Any
    application: Application
    seed: int
    events: int
    folder: Path
    malformed: float = 0.0

    def __post_init__(self) -> None:
        self.application = get_engine("spark-microbatch").fitted(self.application, {})  # type: ignore[attr-defined]
        self.parameters = self.application.bind({})
        self.records = {name: self._write_records(name, place) for place, name in enumerate(self.application.inputs)}
        self.tables = {}
        for name, table in self.application.tables.items():
            self.tables[name] = self.folder / f"{name}.parquet"
            pq.write_table(table.synthetic(), self.tables[name])
        self.rejected: dict[str, pa.Table] = {}
        self.inputs = {name: self._write_events(name, place) for place, name in enumerate(self.application.inputs)}

    def spoiling(self, name: str) -> Spoiling | None:
        """How the input's events are spoiled."""
        required = self.application.required_of(name)
        return Spoiling(self.seed, self.malformed, required) if self.malformed else None

    def _placed(self, name: str) -> tuple[pa.RecordBatch, np.ndarray, np.ndarray]:
        stream = self.application.inputs[name]
        fields = stream.synthetic(self.seed).block(0, self.events)
        partition = partitions_of(stream, fields, 0, PARTITIONS)
        offset = np.empty(self.events, np.int64)
        for number in range(PARTITIONS):
            here = partition == number
            offset[here] = np.arange(here.sum())
        return fields, partition, offset

    def _write_records(self, name: str, place: int) -> Path:
        stream = self.application.inputs[name]
        fields, partition, offset = self._placed(name)
        payloads = encode(stream, fields)
        spoiling = self.spoiling(name)
        if spoiling is not None:
            payloads = spoiled(spoiling, stream, payloads, 0)
        appended = [FIRST_APPEND + timedelta(milliseconds=i // PER_MS) for i in range(self.events)]
        columns = {
            "value": payloads.cast(pa.binary()),
            "partition": pa.array(partition, pa.int32()),
            "offset": pa.array(offset),
            "timestamp": pa.array(appended, pa.timestamp("us", "UTC")),
        }
        path = self.folder / f"records-{name}.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    def _write_events(self, name: str, place: int) -> Path:
        _, partition, offset = self._placed(name)
        first = int(FIRST_APPEND.timestamp() * 1000)
        appended = first + np.arange(self.events) // PER_MS
        order = np.lexsort((offset, partition))
        times = AppendTimes()
        times.add(partition[order], appended[order])
        stream = self.application.inputs[name]
        published = Published(
            stream,
            stream.synthetic(self.seed),
            self.events,
            PARTITIONS,
            place * PARTITIONS,
            parse_load("preloaded"),
            None,
            times,
            self.application.required_of(name),
            self.spoiling(name),
        )
        path = self.folder / f"events-{name}.parquet"
        self.rejected[name] = write_events(published, path)
        return path

    def frame(self, name: str, built: dict[str, Any]) -> Any:
        """The frame of an input, a stored table or a stage."""
        if name not in built:
            if name in self.records:
                place = list(self.application.inputs).index(name) * PARTITIONS
                stream, required = self.application.inputs[name], self.application.required_of(name)
                built[name] = decode_stream(self.spark.read.parquet(str(self.records[name])), stream, place, required)
            elif name in self.tables:
                built[name] = self.spark.read.parquet(str(self.tables[name]))
            else:
                stage = self.application.stage(name)
                arguments = wanted(stage.function, self.parameters)
                built[name] = stage(*[self.frame(read, built) for read in stage.reads], **arguments)
        return built[name]

    def verdict(self, output: Output) -> Verdict:
        """The stages' answer for an output against the oracle's."""
        with Events({**self.inputs, **self.tables}, self.folder / "spill") as events:
            expected = output.oracle(events, **wanted(output.oracle, self.parameters))
            records = encode_output(self.frame(output.stage, {}), output).select("value", "headers")
            path = self.folder / f"out-{output.stage}.parquet"
            decoded = decode_outputs(_as_read_back(records), output, expected.rows, path, connection=events.connection)
            guarantee = get_engine("spark-microbatch").guarantee
            return judge(
                expected,
                decoded.path,
                output.matching,
                guarantee,
                connection=events.connection,
                undecodable=decoded.undecodable,
            )

    def dead_letters(self, name: str) -> set[tuple[int, int, str]]:
        """Partition, offset and bytes of the records of an input that the engine calls malformed."""
        place = list(self.application.inputs).index(name) * PARTITIONS
        stream, required = self.application.inputs[name], self.application.required_of(name)
        rows = malformed_records(self.spark.read.parquet(str(self.records[name])), stream, place, required)
        return {(r.origin.partition, r.origin.offset, r.bytes) for r in rows.collect()}


def _as_read_back(records: Any) -> Iterator[pa.RecordBatch]:
    rows = records.collect()
    origins = np.array([list(map(int, bytes(r.headers[0].value).split(b","))) for r in rows], np.int64).reshape(-1, 4)
    place = np.arange(len(rows), dtype=np.int64)
    columns = [np.zeros(len(rows), np.int64), place, place, *origins.T]
    values = [r.value.encode() if isinstance(r.value, str) else bytes(r.value) for r in rows]
    yield pa.RecordBatch.from_arrays(
        [*(pa.array(c) for c in columns), pa.array(values, pa.binary())], names=[*ENVELOPE, "value"]
    )
