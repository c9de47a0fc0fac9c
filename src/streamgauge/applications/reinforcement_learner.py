"""Reinforcement learner (BO12): which action should be taken now, given what each has earned so far?

Every learner (a place on a site) chooses for itself, by interval estimation: each action's rewards have a mean and a
standard error, and the action with the highest upper bound of the interval `mean ± width · standard error` is taken. It
is either good or not known well enough, so that exploring needs no other rule, except at the start: until every
action has `samples` rewards, one is chosen at random. For n rewards, their sum S and the sum of squares Q the bound is

    (S + width · √((n·Q − S²) / (n − 1))) / n

in double precision, the operations in this order, n·Q − S² not below zero; of equal bounds the first action wins.
Random is a hash: the first 32 bits of the MD5 of `learner:round`, modulo the number of actions. A visit without a round
is not answered; a reward without an action of the list, without a number, or beyond ±1,000,000 does not count.

Source: interval estimation is Kaelbling's (1993), analysed by Strehl and Littman (2008). Bordin's thesis names the
latter and asks for second order statistics of the reward distribution, which these are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.kept_rows import rows_of_state, state_of_rows
from streamgauge.applications.origin import newest_origin
from streamgauge.applications.parameters import Positive, WholeNumber
from streamgauge.applications.stateful import ORIGIN_COLUMNS, in_batches
from streamgauge.model import Application, Expected, Output, Parameter, PerEvent, UserError, stage
from streamgauge.streams.learner_events import ACTIONS, REWARD, STREAM, VISIT

if TYPE_CHECKING:
    import pandas as pd

LARGEST_REWARD = 1_000_000


@dataclass(frozen=True)
class ActionNames(Parameter):
    """Two or more different names with commas between them."""

    def parse(self, name: str, text: str) -> str:
        """The text, if it is such a list."""
        names = text.split(",")
        if len(names) < 2 or len(set(names)) < len(names) or not all(re.fullmatch(r"[\w.-]+", n) for n in names):
            raise UserError(f"parameter '{name}' is '{text}', not two or more different names", "Write it like a,b,c")
        return text


@stage(uses=("aggregate", "row-updates"))
def choose(feedback: DataFrame, *, actions: str, samples: int, width: float) -> DataFrame:
    """Count, sum and sum of squares per action as aggregates; each visit is answered from them."""
    names = actions.split(",")
    known = feedback.select("learner_id", _visit_round().alias("round"), "action", _reward().alias("reward"), "origin")
    figures = []
    for place, name in enumerate(names):
        earned = fn.when(fn.col("action") == name, fn.col("reward"))
        figures += [fn.count(earned).alias(f"n{place}"), fn.sum(earned).alias(f"s{place}")]
        figures += [fn.sum(earned * earned).alias(f"q{place}")]
    latest = fn.max_by("round", "origin.offset").alias("round")
    learned = known.groupBy("learner_id").agg(latest, *figures, newest_origin()).filter("round is not null")
    places = range(len(names))
    bounds = [_upper_bound(fn.col(f"n{p}"), fn.col(f"s{p}"), fn.col(f"q{p}"), width) for p in places]
    enough = fn.least(*[fn.col(f"n{p}") for p in places]) >= samples
    visits = learned.select("learner_id", "round", enough.alias("enough"), fn.array(*bounds).alias("bounds"), "origin")
    best = fn.array_position("bounds", fn.array_max("bounds")) - 1
    return _named(visits.withColumn("place", fn.when(fn.col("enough"), best).otherwise(-1)), names)


@choose.variant("stateful", uses=("python-state",))
def choose_in_batches(feedback: DataFrame, *, actions: str, samples: int, width: float) -> DataFrame:
    """The same from cumulative sums over each batch, with the sums of each learner as the state of its bucket."""
    import pandas as pd

    names = actions.split(",")
    figures = [f"{figure}{place}" for place in range(len(names)) for figure in "nsq"]

    def step(state: bytes | None, batch: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
        before = rows_of_state(state)
        learners = batch["learner_id"] if before is None else pd.concat([before["learner_id"], batch["learner_id"]])
        code, ids = pd.factorize(learners)
        carried = np.zeros((len(ids), len(figures)), np.int64)
        if before is not None:
            carried[: len(before)] = before[figures].to_numpy()
            code = code[len(before) :]
        order = np.argsort(code, kind="stable")
        learner, reward = code[order], batch["reward"].to_numpy()[order]
        earned = batch["rewarded"].to_numpy()[order][:, None] == np.arange(len(names))
        added = np.stack(
            [earned, earned * reward[:, None], earned * (reward * reward)[:, None]], axis=2, dtype=np.int64
        )
        sums = np.zeros((len(batch) + 1, len(figures)), np.int64)
        np.cumsum(added.reshape(len(batch), -1), axis=0, out=sums[1:])
        count = np.bincount(learner, minlength=len(ids))
        end = np.cumsum(count)
        offset = carried - sums[end - count]
        visit = np.flatnonzero(batch["is_visit"].to_numpy()[order])
        seen = (sums[visit + 1] + offset[learner[visit]]).reshape(len(visit), len(names), 3)
        answers = batch.iloc[order[visit]][["learner_id", "round", *ORIGIN_COLUMNS]].reset_index(drop=True)
        answers.insert(2, "place", _best_places(seen, samples, width))
        after = pd.DataFrame(sums[end] + offset, columns=figures)
        after.insert(0, "learner_id", ids)
        return state_of_rows(after), answers

    rewarded = fn.coalesce(fn.array_position(fn.lit(names), fn.col("action")), fn.lit(0)) - 1
    rows = feedback.select(
        "learner_id",
        _visit_round().isNotNull().alias("is_visit"),
        fn.coalesce(_visit_round(), fn.lit(0)).alias("round"),
        fn.when(_reward().isNotNull(), rewarded).otherwise(-1).alias("rewarded"),
        fn.coalesce(_reward(), fn.lit(0)).alias("reward"),
        "origin",
    )
    return _named(in_batches(rows, "learner_id", step, "learner_id string, round bigint, place int"), names)


def _visit_round() -> Column:
    return fn.when(fn.col("kind") == VISIT, fn.col("round"))


def _reward() -> Column:
    counts = (fn.col("kind") == REWARD) & fn.col("reward").between(-LARGEST_REWARD, LARGEST_REWARD)
    return fn.when(counts, fn.col("reward"))


def _upper_bound(n: Column, total: Column, squares: Column, width: float) -> Column:
    n, total, squares = n.cast("double"), total.cast("double"), squares.cast("double")
    spread = fn.greatest(n * squares - total * total, fn.lit(0.0))
    return (total + fn.lit(width) * fn.sqrt(fn.try_divide(spread, n - 1))) / fn.nullif(n, fn.lit(0.0))


def _best_places(seen: np.ndarray, samples: int, width: float) -> np.ndarray:
    """Visits × actions × (n, S, Q) → the place of the best action, or −1 where there are too few rewards."""
    n, total, squares = np.moveaxis(seen.astype(np.float64), 2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = (total + width * np.sqrt(np.maximum(n * squares - total * total, 0.0) / (n - 1))) / n
    return np.where((n >= samples).all(axis=1), bounds.argmax(axis=1), -1).astype(np.int32)


def _named(chosen: DataFrame, names: list[str]) -> DataFrame:
    """The name of each chosen action; place −1 asks for a random one."""
    bits = fn.conv(fn.substring(fn.md5(fn.concat_ws(":", "learner_id", "round")), 1, 8), 16, 10).cast("bigint")
    by_chance = fn.col("place") < 0
    place = fn.when(by_chance, bits % len(names)).otherwise(fn.col("place")).cast("int")
    choice = fn.when(by_chance, "random").otherwise("estimate")
    return chosen.select(
        "learner_id", "round", fn.get(fn.lit(names), place).alias("action"), choice.alias("choice"), "origin"
    )


def answer_of_every_visit(events: Any, *, actions: str, samples: int, width: float) -> Expected:
    """The figures of each action up to a visit by DuckDB's window functions, and the first of the highest bounds."""
    names = actions.split(",")
    counted = f"kind = '{REWARD}' and reward between {-LARGEST_REWARD} and {LARGEST_REWARD}"
    figures, bounds = [], []
    for place, name in enumerate(names):
        mine = f"filter ({counted} and action = '{name}') over so_far"
        figures.append(f"""
            count(*) {mine} as n{place}, coalesce(sum(reward) {mine}, 0)::bigint::double as s{place},
            coalesce(sum(reward * reward) {mine}, 0)::bigint::double as q{place}""")
        spread = f"greatest(n{place}::double * q{place} - s{place} * s{place}, 0)"
        bounds.append(f"(s{place} + {width!r}::double * sqrt({spread} / (n{place}::double - 1))) / n{place}::double")
    enough = " and ".join(f"n{place} >= {samples}" for place in range(len(names)))
    chance = f"('0x' || left(md5(learner_id || ':' || round), 8))::bigint % {len(names)}"
    return Expected(
        events.sql(f"""
            with learned as (
                select partition, "offset", learner_id, kind, round, {", ".join(figures)}
                from feedback window so_far as (partition by learner_id order by "offset")),
            visits as (
                select *, {enough} as enough, case when enough then [{", ".join(bounds)}] end as bounds
                from learned where kind = '{VISIT}' and round is not null)
            select partition, "offset", learner_id, round,
                   {names!r}[case when enough then list_position(bounds, list_max(bounds)) else 1 + {chance} end]
                   as action, case when enough then 'estimate' else 'random' end as choice
            from visits
        """)
    )


APPLICATION = Application(
    name="reinforcement-learner",
    question="Which action should each learner take now, given what each action has earned?",
    inputs={"feedback": STREAM},
    required={"feedback": ("learner_id", "kind")},
    stages=(choose,),
    outputs=(
        Output(
            "choose",
            answer_of_every_visit,
            PerEvent(("learner_id", "round", "action", "choice"), key=("learner_id",)),
        ),
    ),
    parameters={
        "actions": ActionNames(",".join(ACTIONS), "names of the actions, with commas between them"),
        "samples": WholeNumber(10, "rewards that every action needs before its bound is trusted", least=2),
        "width": Positive(1.96, "standard errors between the mean and the bound: 1.96 for 95 %"),
    },
    order="within a learner by offset",
    papers=("BO12",),
    deviations=(
        "Visits and rewards travel in one stream, so that the log orders them; the thesis has two.",
        "The rewards are in the log before anything is chosen: what is chosen does not change what is earned.",
        "The bound is that of the mean's normal interval; the original code counts bins of a histogram around the mean "
        "and narrows the interval with the rounds.",
    ),
)
