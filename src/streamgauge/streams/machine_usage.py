"""machine-usage (BO4): how busy the machines of a data centre were in each period of five minutes.

A reading is the share of a machine's processor and memory that was used in one period. Readings of one period follow
each other, machines in an order that changes from period to period. Generated: 16 racks of 16 machines; now and then
one is far busier than its rack for eight to fifteen periods, which the label tells.

`--data FILE` replays a part file of `task_usage` of the Google cluster traces of 2011 (start and end in microseconds,
job, task, machine, mean CPU rate, canonical memory usage and what else follows): the tasks of a machine in one period
are summed up. The traces know no racks, so there a machine's number decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.file_query import query_file
from streamgauge.streams.randomness import field, random_bits, random_bits_at
from streamgauge.streams.recorded import looped
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("start_ms", FieldType.LONG, "beginning of the period, in milliseconds since 1970"),
    Field("rack", FieldType.LONG, "the machines that it is compared with"),
    Field("machine_id", FieldType.LONG, "number of the machine"),
    Field("cpu", FieldType.DOUBLE, "share of the processor's time that was used"),
    Field("memory", FieldType.DOUBLE, "share of the memory that was used"),
    Field("abnormal", FieldType.LONG, "label: 1 while far busier than its rack, 0 while not, missing if unknown", True),
)
WIRE = Delimited(",")

_FIRST_MS = 1_304_290_200_000
"""2011-05-01 22:50:00 UTC, ten minutes before the traces begin."""
_PERIOD_MS = 300_000
_RACK_BITS, _MACHINE_BITS = 4, 4
_MACHINES = 1 << (_RACK_BITS + _MACHINE_BITS)
_PERIODS_PER_CHANCE = 32
"""Once in so many periods a machine may turn abnormal."""
_CHANCE_BITS = 4
_SHORTEST_EPISODE = 8
_RACKS_OF_THE_TRACES = 512
"""Some twenty-five of the traces' machines to a rack."""

_TRACE_COLUMNS = {
    "start_us": "bigint",
    "end_us": "bigint",
    "job_id": "bigint",
    "task_index": "bigint",
    "machine_id": "bigint",
    "cpu": "double",
    "memory": "double",
    **{f"other_{number}": "varchar" for number in range(13)},
}
"""A line of task_usage; some editions lack the last."""


@dataclass(frozen=True)
class SyntheticUsage:
    """Generated readings: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        period, place = np.divmod(np.arange(start, start + count, dtype=np.int64), _MACHINES)
        # An odd factor and a shift order the machines anew in every period.
        machine = (place * 107 + period * 29) & (_MACHINES - 1)
        rack = machine & ((1 << _RACK_BITS) - 1)
        abnormal = self._abnormal(machine, period)
        bits = random_bits(self.seed, 0, start, count)
        busy = random_bits_at(self.seed, 1, rack + (period // 12 << _RACK_BITS))
        cpu = 8_000 + field(busy, 0, 14) + field(bits, 0, 12) + np.where(abnormal, 45_000 + field(bits, 12, 14), 0)
        memory = (
            15_000 + field(busy, 14, 13) + field(bits, 26, 12) + np.where(abnormal, 40_000 + field(bits, 38, 14), 0)
        )
        columns = (
            _FIRST_MS + period * _PERIOD_MS,
            rack,
            4_000_000 + machine * 7_919,
            cpu / 100_000,
            memory / 100_000,
            abnormal.astype(np.int64),
        )
        return pa.RecordBatch.from_arrays([column(c) for c in columns], schema=arrow_schema(FIELDS))

    def _abnormal(self, machine: npt.NDArray[np.int64], period: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        chance, since = np.divmod(period, _PERIODS_PER_CHANCE)
        bits = random_bits_at(self.seed, 2, chance * _MACHINES + machine)
        first = field(bits, 8, 4)
        after = first + _SHORTEST_EPISODE + field(bits, 12, 3)
        begun: npt.NDArray[np.bool_] = (field(bits, 0, _CHANCE_BITS) == 0) & (since >= first)
        return begun & (since < after)


def _recorded(path: Path) -> Source:
    readings = query_file(
        path,
        f"delim = ',', header = false, auto_detect = false, null_padding = true, columns = {_TRACE_COLUMNS}",
        f"""
        select {_FIRST_MS} + start_us // ({_PERIOD_MS} * 1000) * {_PERIOD_MS} as start_ms,
               machine_id % {_RACKS_OF_THE_TRACES} as rack, machine_id,
               round(sum(cpu), 6) as cpu, round(sum(memory), 6) as memory, null::bigint as abnormal
        from lines where machine_id is not null
        group by all order by start_ms, machine_id
        """,
        "the columns of task_usage: start and end in microseconds, job, task, machine, CPU rate, memory usage, …",
    )
    return looped(readings, ms_fields=("start_ms",))


STREAM = Stream(
    name="machine-usage",
    about="How much of its processor and memory each machine of a data centre used in periods of five minutes",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticUsage,
    recorded=_recorded,
    key="rack",
    papers=("BO4", "BO19"),
)
