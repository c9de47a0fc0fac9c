"""VoIPSTREAM (BO14): which calls are made by telemarketers?

Every switch keeps time-decaying Bloom filters over its calls, in the log's order. For an established call they give
- ECR, ENCR: recent calls of the caller, and those to a number that the caller had called neither today nor yesterday;
- RCR: recent calls that the caller received;
- ECR24, CT24: the caller's calls and seconds of talk over about a day; GACD: the mean duration of the switch's calls;
each with this call in it. Recent counts halve in 6 hours, those of a day in 24. Three ratios tell a telemarketer:
- FoFiR = ECR / RCR, calls made to calls received, RCR at least one call: from 2 (score 0) to 10 (score 1);
- URL = ENCR / ECR, the share of calls to new numbers: from 0.5 to 1;
- ACD = GACD / (CT24 / ECR24), how much shorter than usual the calls are: from 2 to 5.
The answer is 2 · FoFiR + 3 · URL + 3 · ACD, at most 8, for every established call; `threshold` names telemarketers.

Time is the switch's clock, the latest answer time so far. Counts and scores are thousandths, durations milliseconds,
divisions round down, so that all is whole numbers; a duration is taken as none to a day long. A filter's cells are
found by the SplitMix64 finaliser of the number, 16 bits for each quarter of the filter; those of a pair by that of
`hash(calling) xor called`. A new day of the clock makes today's pairs yesterday's. Calls that were not established make
pairs known and count for nothing else.

Source: Bianchi, d'Heureuse and Niccolini (2011), "On-demand time-decaying Bloom filters for telemarketer detection";
the filters, ratios and weights are those of Bordin's storm-applications and of DSPBench, after BlockMon's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.decaying_filters import DAY_S, ESTIMATES, HASHES, PAIR_BITS_PER_CELL
from streamgauge.applications.labels import shares_of
from streamgauge.applications.parameters import Positive, WholeNumber
from streamgauge.applications.stateful import ORIGIN_COLUMNS, in_batches
from streamgauge.model import Application, Expected, Output, PerEvent, UserError, stage
from streamgauge.streams.call_records import STREAM

if TYPE_CHECKING:
    import pandas as pd

FOFIR, URL, ACD = (2000, 10_000), (500, 1000), (2000, 5000)
"""Ratios in thousandths at which a score begins and at which it is full."""
WEIGHTS = {"fofir": 2, "url": 3, "acd": 3}


@dataclass(frozen=True)
class CellCount(WholeNumber):
    """A number of cells that four tables share evenly, each with at most 2^16 of them."""

    least: int = 64
    most: int = HASHES << 16

    def parse(self, name: str, text: str) -> int:
        """The text as a number that four divides."""
        cells = super().parse(name, text)
        if cells % HASHES:
            raise UserError(f"parameter '{name}' is {text}, which four does not divide", "Write it like 2048")
        return cells


@stage(uses=("python-state",), key=("switch",))
def filters(calls: DataFrame, *, cells: int) -> DataFrame:
    """What the filters of its switch say at each established call, a batch of calls at a time."""
    import pandas as pd

    from streamgauge.applications.decaying_filters import Calls, Switches, estimate

    names = ("switch", "calling", "called", "answer_s", "duration_s", "established")

    def step(state: bytes | None, batch: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
        switches = Switches.none(cells) if state is None else Switches.from_bytes(state)
        found = estimate(switches, Calls(*[batch[name].to_numpy() for name in names]))
        answers = batch.loc[batch["established"], ["switch", "calling", *ORIGIN_COLUMNS]].reset_index(drop=True)
        estimates = pd.DataFrame(found, columns=list(ESTIMATES))
        return switches.to_bytes(), pd.concat([answers, estimates], axis=1)

    made = calls.select(
        *names[:3],
        fn.unix_timestamp("answer_time").alias("answer_s"),
        fn.least(fn.greatest("duration_s", fn.lit(0)), fn.lit(DAY_S)).alias("duration_s"),
        (fn.col("established") == 1).alias("established"),
        "origin",
    )
    columns = ", ".join(f"{name} bigint" for name in ("switch", "calling", *ESTIMATES))
    return in_batches(made, "switch", step, columns)


@stage
def score(filters: DataFrame, *, threshold: float) -> DataFrame:
    """The three ratios as scores, and their weighted sum."""
    own_ms = fn.expr("1000 * ct24_ms div greatest(ecr24, 1)")
    ratios = filters.select(
        "switch",
        "calling",
        fn.expr("1000 * ecr div greatest(rcr, 1000)").alias("fofir"),
        fn.expr("1000 * encr div greatest(ecr, 1)").alias("url"),
        (1000 * fn.col("gacd_ms")).alias("gacd"),
        fn.greatest(own_ms, fn.lit(1)).alias("own"),
        "origin",
    ).withColumn("acd", fn.expr("gacd div own"))
    parts = [_ramp("fofir", FOFIR), _ramp("url", URL), _ramp("acd", ACD)]
    scores = ratios.select("switch", "calling", *parts, "origin")
    total = sum((fn.col(name) * weight for name, weight in WEIGHTS.items()), fn.lit(0))
    named = (fn.col("score") > round(threshold * 1000)).cast("bigint").alias("telemarketer")
    return scores.withColumn("score", total).select("switch", "calling", *WEIGHTS, "score", named, "origin")


def _ramp(name: str, bounds: tuple[int, int]) -> Column:
    low, high = bounds
    return fn.expr(f"least(greatest(1000 * ({name} - {low}), 0) div {high - low}, 1000)").alias(name)


def estimates_of_every_call(events: Any, *, cells: int) -> Expected:
    """The filters' estimates, call by call."""
    return Expected(_table([(*place, *estimates) for place, _, estimates in _walk(events, cells)], ESTIMATES))


def score_of_every_call(events: Any, *, cells: int, threshold: float) -> Expected:
    """The scores from the estimates of every call, and what they are worth against the labels."""
    rows, right, named, meant = [], 0, 0, 0
    for place, label, (ecr, encr, ecr24, ct24_ms, rcr, gacd_ms) in _walk(events, cells):
        own_ms = max(1000 * ct24_ms // ecr24, 1)
        ratios = (1000 * ecr // max(rcr, 1000), FOFIR), (1000 * encr // ecr, URL), (1000 * gacd_ms // own_ms, ACD)
        parts = [min(max(1000 * (ratio - low) // (high - low), 0), 1000) for ratio, (low, high) in ratios]
        total = 2 * parts[0] + 3 * parts[1] + 3 * parts[2]
        sells = total > round(threshold * 1000)
        rows.append((*place, *parts, total, int(sells)))
        if label is not None:
            right, named, meant = right + (sells and label == 1), named + sells, meant + (label == 1)
    quality = shares_of(right, named, meant)
    return Expected(_table(rows, ("fofir", "url", "acd", "score", "telemarketer")), quality=quality)


def _table(rows: list[tuple[int, ...]], names: tuple[str, ...]) -> pa.Table:
    columns = ("partition", "offset", "switch", "calling", *names)
    numbers = np.array(rows, np.int64).reshape(len(rows), len(columns))
    return pa.table(dict(zip(columns, numbers.T, strict=True)))


class _Memory:
    """What the oracle remembers of a switch: counters in dictionaries, each with its day in front."""

    def __init__(self) -> None:
        self.clock_s: int | None = None
        self.day = 0
        self.pairs: set[int] = set()
        self.pairs_before: set[int] = set()
        self.made: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
        self.got: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        self.talk = [0, 0, 0]

    def tick(self, answer_s: int) -> int:
        """Move the clock; the second of its day."""
        self.clock_s = answer_s if self.clock_s is None else max(self.clock_s, answer_s)
        day, second = divmod(self.clock_s, DAY_S)
        if day != self.day:
            self.pairs, self.pairs_before = set(), self.pairs if day == self.day + 1 else set()
            self.day = day
        return second


def _walk(events: Any, cells: int) -> Iterator[tuple[tuple[int, ...], int | None, tuple[int, ...]]]:
    """Each established call: its place in the log, switch and caller; its label; its estimates. Switch by switch."""
    recent, daily = ([round(65536 * 2 ** (s * halvings / DAY_S)) for s in range(DAY_S)] for halvings in (4, 1))
    calls = events.sql("""
        select partition, "offset", switch, calling, called, epoch(answer_time)::bigint,
               least(greatest(duration_s, 0), 86400), established = 1, telemarketer
        from calls order by switch, "offset"
    """)
    current, of_switch = None, _Memory()
    while rows := calls.fetchmany(50_000):
        for partition, offset, switch, calling, called, answer_s, seconds, established, label in rows:
            if switch != current:
                current, of_switch = switch, _Memory()
            second = of_switch.tick(answer_s)
            bits = _cells(_hash(calling) ^ called, cells * PAIR_BITS_PER_CELL)
            is_new = not (of_switch.pairs.issuperset(bits) or of_switch.pairs_before.issuperset(bits))
            of_switch.pairs.update(bits)
            if established:
                mine, theirs = _cells(calling, cells), _cells(called, cells)
                short, long = recent[second], daily[second]
                found = _call(of_switch, mine, theirs, is_new, seconds, short, long)
                yield (partition, offset, switch, calling), label, found


def _call(
    switch: _Memory, mine: tuple[int, ...], theirs: tuple[int, ...], is_new: bool, seconds: int, short: int, long: int
) -> tuple[int, ...]:
    for cell in mine:
        counters = _decayed(switch.made[cell], switch.day, (4, 4, 1, 1))
        for place, more in enumerate((short, short * is_new, long, long * seconds), start=1):
            counters[place] += more
    for cell in theirs:
        _decayed(switch.got[cell], switch.day, (4,))[1] += short
    talk = _decayed(switch.talk, switch.day, (1, 1))
    talk[1] += long * seconds
    talk[2] += long
    ecr, encr, ecr24, ct24 = (min(switch.made[cell][place] for cell in mine) for place in (1, 2, 3, 4))
    rcr = min(_decayed(switch.got[cell], switch.day, (4,))[1] for cell in mine)
    made = (1000 * ecr // short, 1000 * encr // short, 1000 * ecr24 // long, 1000 * ct24 // long)
    return (*made, 1000 * rcr // short, 1000 * talk[1] // talk[2])


def _decayed(counters: list[int], day: int, halvings: tuple[int, ...]) -> list[int]:
    """The same counters, brought from their day, which is the first of them, to another."""
    if counters[0] != day:
        for place, per_day in enumerate(halvings, start=1):
            counters[place] >>= max(per_day * (day - counters[0]), 0)
        counters[0] = day
    return counters


@lru_cache(maxsize=1 << 18)
def _hash(number: int) -> int:
    """SplitMix64's finaliser."""
    word = (1 << 64) - 1
    number &= word
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & word
    number = (number ^ number >> 27) * 0x94D049BB133111EB & word
    return number ^ number >> 31


@lru_cache(maxsize=1 << 18)
def _cells(number: int, size: int) -> tuple[int, ...]:
    bits, quarter = _hash(number), size // HASHES
    return tuple(table * quarter + (bits >> 16 * table & 0xFFFF) % quarter for table in range(HASHES))


APPLICATION = Application(
    name="voip-stream",
    question="Which calls are made by telemarketers?",
    inputs={"calls": STREAM},
    required={"calls": ("switch", "calling", "called", "answer_time", "duration_s", "established")},
    stages=(filters, score),
    outputs=(
        Output("filters", estimates_of_every_call, PerEvent(("switch", "calling", *ESTIMATES), key=("switch",))),
        Output(
            "score",
            score_of_every_call,
            PerEvent(("switch", "calling", "fofir", "url", "acd", "score", "telemarketer"), key=("switch",)),
        ),
    ),
    parameters={
        "cells": CellCount(2048, "counters of each filter of a switch, eight for each of its numbers"),
        "threshold": Positive(6.0, "score, of 8 at most, above which a caller is named a telemarketer"),
    },
    order="within a switch by offset",
    papers=("BO14",),
    deviations=(
        "Filters belong to a switch and the log orders its calls; the original spreads callers and callees over tasks "
        "and takes the calls of two numbers in the order in which they happen to arrive.",
        "All four counters of a number grow with its call; BlockMon raises only those below the new minimum. Estimates "
        "are larger where numbers collide, and a batch can be added up in any order.",
        "Counters halve in 6 and 24 hours, in the proportion of the original's coefficients 0.9672 and 0.9917.",
        "The filters of pairs change places every day; the original's when one is full.",
        "A score rises between its two bounds; the code of the original divides by the upper one alone.",
        "ACD is the usual duration over the caller's, since telemarketers' calls are short, and counts all calls, not "
        "only those to new numbers; its bounds are ours.",
        "Every established call is answered; the original joins partial scores by caller and second, and answers calls "
        "to new numbers.",
    ),
)
