"""Malformed events: what the job sent to its topic of dead letters, against what was published malformed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from streamgauge.log.cluster import Cluster
from streamgauge.log.reading import read_records
from streamgauge.model import Expected, Guarantee, Output, PerEvent, Verdict
from streamgauge.model.job import DEAD_LETTERS
from streamgauge.verify.decode import decode_outputs
from streamgauge.verify.verdict import judge


def _nobody_asks(*_: object) -> Expected:
    raise AssertionError("the malformed events are known from their publishing")


OUTPUT = Output(DEAD_LETTERS, _nobody_asks, PerEvent(("bytes",)))


def judge_dead_letters(
    malformed: pa.Table,
    topic: str | None,
    cluster: Cluster,
    folder: Path,
    guarantee: Guarantee,
    connection: duckdb.DuckDBPyConnection,
) -> Verdict:
    """What became of the malformed events: each must be a dead letter, once, and nothing else may be one.

    Without a topic they were dropped and their number is all that is known; what the job did with them shows in its
    other outputs.
    """
    if topic is None:
        return Verdict(expected=0, seen=0, rejected=len(malformed))
    path = folder / f"out-{DEAD_LETTERS}.parquet"
    letters = decode_outputs(read_records(cluster, topic), OUTPUT, malformed, path, connection=connection)
    if len(malformed) == 0:
        return Verdict(expected=0, seen=letters.rows, unexpected=letters.rows + letters.undecodable)
    found = judge(
        Expected(malformed),
        letters.path,
        OUTPUT.matching,
        guarantee,
        connection=connection,
        undecodable=letters.undecodable,
    )
    return Verdict(
        expected=0,
        seen=0,
        lost=found.lost,
        wrong=found.wrong,
        unexpected=found.unexpected,
        duplicated=found.duplicated,
        out_of_order=found.out_of_order,
        rejected=len(malformed) - found.lost,
        examples=tuple(f"dead letter {example}" for example in found.examples),
    )
