"""What a trial's event latency is made of, from the engine's progress and the log's times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from streamgauge.engines import get_engine
from streamgauge.lab.conduct import Conductor
from streamgauge.lab.conducted import Conducted
from streamgauge.measure.answering import Answered
from streamgauge.measure.batches import batches_of, endless_batch
from streamgauge.measure.components import FEWEST_COVERED, measure_components
from streamgauge.measure.window import Window


def components_of(
    conductor: Conductor,
    done: Conducted,
    connection: duckdb.DuckDBPyConnection,
    answered: Sequence[Answered],
    window: Window,
) -> dict[str, Any]:
    """The components for the record, or the `reason` why there are none."""
    if done.load.job_starts_at_s is None:
        return {"reason": "all events lay in the log before the job started: what counts is the drain rate"}
    if done.application.cuts:
        return {"reason": "a topic lies between two queries: an event is in a batch of each"}
    if done.endured.hit:
        return {"reason": "a fault was injected: what was done again is in two batches, and nothing ran in between"}
    floor = (conductor.lab.round_trip_ms.get("consumed_ms") or {}).get("median")
    if floor is None:
        return {"reason": "the broker's round trip was not measured"}
    flowing = get_engine(conductor.trial.engine).holds_slots
    batches = _batches(conductor, done, [each.answer.stage for each in answered], flowing)
    found = measure_components(connection, answered, batches, window, float(floor), flowing=flowing)
    if found is None:
        return {"reason": f"the engine's progress tells the batch of less than {FEWEST_COVERED:.0%} of the events"}
    return found.as_dict()


def _batches(conductor: Conductor, done: Conducted, stages: Sequence[str], flowing: bool) -> pa.Table:
    first_partitions = {where.topic: where.first_partition for where in done.inputs.values()}
    known = batches_of(done.progress, first_partitions, done.job_started_ms, flowing=flowing)
    if len(known) or not flowing:
        return known
    partitions = range(len(done.inputs) * conductor.trial.partitions)
    return pa.concat_tables(endless_batch(stage, partitions, done.job_started_ms) for stage in stages)
