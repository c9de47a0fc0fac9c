"""traffic-flow-counts (OS1): how many cars passed each lane of a measurement point, a JSON object per observation.

`--data FILE` replays observations as OSPBench keeps those of NDW, the Dutch road traffic data, one per line:
`point/lane1= {"lat":…,"flow":360,"period":60,"accuracy":100,"timestamp":"2017-03-15 14:41:00.0","num_lanes":1}`.
The speeds of the same file are the other stream's. The point's name and the lane, which there stand in the key of the
record, are members here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Json
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.traffic_observations import KEY, QUALITY, WHERE_AND_WHEN, generated, recorded_observations

FIELDS = (
    *WHERE_AND_WHEN,
    Field("flow", FieldType.LONG, "cars that passed, as a rate per hour"),
    Field("period", FieldType.LONG, "seconds that were counted", optional=True),
    *QUALITY,
)
_PERIOD_S = 60


@dataclass(frozen=True)
class SyntheticCounts:
    """Generated counts: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        made = generated(self.seed, start, count)
        own = [column(made.flow), column(np.full(count, _PERIOD_S, np.int64))]
        return pa.RecordBatch.from_arrays([*made.where_and_when, *own, *made.quality], schema=arrow_schema(FIELDS))


def _recorded(path: Path) -> Source:
    return recorded_observations(path, FIELDS, "flow")


STREAM = Stream(
    name="traffic-flow-counts",
    about="Cars counted on each lane of a measurement point, minute by minute",
    fields=FIELDS,
    wire=Json(),
    synthetic=SyntheticCounts,
    recorded=_recorded,
    key=KEY,
    papers=("OS1",),
)
