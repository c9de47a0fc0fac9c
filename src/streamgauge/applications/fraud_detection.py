"""Fraud detection (BO9): which transactions make the recent history of a card improbable?

A Markov chain of honest behaviour is trained offline (streams/tables/card_model.py); each state of a transaction is a
class of amount, price and time. Online, the last `window` states of a card are held against it, the newest included:
the score is the mean over the transitions between them of
- `miss-probability`: the probability of everything that did not come instead, one minus that of what did come, or
- `miss-rate`: 1 unless the most probable state came (of equally probable ones the first in the alphabet).
A transaction is answered when its card's window is full and the score is above `threshold`. A state that the model does
not know has never come: every transition from or into it is a full miss, and it is written as a question mark.

Source: the MarkovModelPredictor of Ghosh's outlier library beymani, which Bordin's storm-applications and DSPBench took
over with these defaults (window 5, miss probability, 0.96), after the use of Markov models on card transactions by
Srivastava, Kundu, Sural and Majumdar (2008). Probabilities are whole parts per million here, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.kept_rows import rows_of_state, state_of_rows
from streamgauge.applications.labels import precision_and_recall
from streamgauge.applications.origin import newest_origin
from streamgauge.applications.parameters import Fraction, OneOf, WholeNumber
from streamgauge.applications.stateful import ORIGIN_COLUMNS, in_batches
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.card_transactions import STREAM
from streamgauge.streams.tables.card_model import PARTS, TABLE

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("miss-probability", "miss-rate")
UNKNOWN = "?"


@dataclass(frozen=True)
class _Misses:
    """The model as code numbers: 0 is a state that it does not know."""

    states: list[str]
    ppm: npt.NDArray[np.int64]
    """previous · number of states + state → how much of a miss that transition is."""


def _misses(model: DataFrame, measure: str) -> _Misses:
    """Collected while the query is planned: a few hundred numbers become a constant of the query."""
    pairs = model.collect()
    states = [UNKNOWN, *sorted({pair.previous for pair in pairs} | {pair.state for pair in pairs})]
    code = {state: number for number, state in enumerate(states)}
    came = np.zeros((len(states), len(states)), np.int64)
    for pair in pairs:
        came[code[pair.previous], code[pair.state]] = pair.probability_ppm
    ppm = PARTS - came
    if measure == "miss-rate":
        ppm[:] = PARTS
        ppm[np.arange(1, len(states)), 1 + came[1:, 1:].argmax(axis=1)] = 0
    ppm[0, :] = ppm[:, 0] = PARTS
    return _Misses(states, ppm.ravel())


@stage(uses=("aggregate", "row-updates"))
def predict(transactions: DataFrame, model: DataFrame, *, window: int, threshold: float, measure: str) -> DataFrame:
    """The last states of a card as an aggregate, scored anew with each transaction."""
    misses = _misses(model, measure)
    names, ppm = fn.lit(misses.states), fn.lit(misses.ppm.tolist())
    known = fn.greatest(fn.array_position(names, fn.col("state")), fn.lit(1)).cast("int") - 1
    recent = (
        transactions.select("card_id", known.alias("code"), "origin")
        .groupBy("card_id")
        .agg(fn.max_by("code", "origin.offset", window).alias("recent"), newest_origin())
        .filter(fn.size("recent") == window)
    )
    codes = [fn.get("recent", fn.lit(place)) for place in range(window)]
    total = fn.lit(0)
    for newer, older in pairwise(codes):
        total = total + fn.get(ppm, older * len(misses.states) + newer)
    written = fn.concat_ws(",", *[fn.get(names, code) for code in reversed(codes)])
    scored = recent.select("card_id", total.alias("total"), written.alias("states"), "origin")
    alarms = scored.filter(fn.col("total") > _threshold_ppm(threshold) * (window - 1))
    return alarms.select("card_id", fn.expr(f"total div {window - 1}").alias("score_ppm"), "states", "origin")


@predict.variant("stateful", uses=("python-state",))
def predict_in_batches(
    transactions: DataFrame, model: DataFrame, *, window: int, threshold: float, measure: str
) -> DataFrame:
    """The same with a state per bucket of cards: the last `window` − 1 transactions of each."""
    import pandas as pd

    misses = _misses(model, measure)
    transitions = window - 1

    def step(state: bytes | None, batch: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
        code_of = pd.Index(misses.states[1:]).get_indexer(batch["state"]) + 1
        rows = pd.DataFrame({"card_id": batch["card_id"], "code": code_of})
        before = rows_of_state(state)
        known = 0 if before is None else len(before)
        rows = rows if before is None else pd.concat([before, rows], ignore_index=True)
        card = pd.factorize(rows["card_id"])[0]
        order = np.argsort(card, kind="stable")
        card, code = card[order], rows["code"].to_numpy()[order]
        count = np.bincount(card)
        nth = np.arange(len(card)) - (np.cumsum(count) - count)[card]
        missed = np.zeros(len(card) + 1, np.int64)
        missed[2:] = np.cumsum(misses.ppm[code[:-1] * len(misses.states) + code[1:]])
        total = missed[1:] - missed[np.maximum(np.arange(len(card)) - transitions, 0) + 1]
        new_and_full = (nth >= transitions) & (order >= known)
        found = np.flatnonzero(new_and_full & (total > _threshold_ppm(threshold) * transitions))
        texts = np.array(misses.states, object)[code[found[:, None] + np.arange(-transitions, 1)]]
        alarms = batch.iloc[order[found] - known][["card_id", *ORIGIN_COLUMNS]].reset_index(drop=True)
        alarms.insert(1, "score_ppm", total[found] // transitions)
        alarms.insert(2, "states", pd.Series([",".join(text) for text in texts], dtype=object))
        kept = order[nth >= count[card] - transitions]
        return state_of_rows(rows.iloc[kept]), alarms

    rows = transactions.select("card_id", "state", "origin")
    return in_batches(rows, "card_id", step, "card_id string, score_ppm bigint, states string")


def _threshold_ppm(threshold: float) -> int:
    return round(threshold * PARTS)


def improbable_windows(events: Any, *, window: int, threshold: float, measure: str) -> Expected:
    """Each transition looked up in the model, summed over the last ones of the card by DuckDB's window functions."""
    miss = {
        "miss-probability": f"{PARTS} - coalesce(probability_ppm, 0)",
        "miss-rate": f"case when coalesce(usual, false) then 0 else {PARTS} end",
    }[measure]
    scored = f"""
        with chain as (
            select *, row_number() over (partition by previous order by probability_ppm desc, state) = 1 as usual
            from model),
        known as (select distinct state from model),
        steps as (
            select *, lag(state) over card as before, row_number() over card as nth
            from transactions window card as (partition by card_id order by "offset"))
        select steps.partition, steps."offset", steps.card_id, steps.fraud, steps.nth,
               sum(case when steps.before is null then 0 else {miss} end) over last_ones::bigint as total,
               array_to_string(list(coalesce(known.state, '{UNKNOWN}')) over last_states, ',') as states
        from steps
        left join chain on chain.previous = steps.before and chain.state = steps.state
        left join known on known.state = steps.state
        window last_ones as (partition by steps.card_id order by steps."offset"
                             rows between {window - 2} preceding and current row),
               last_states as (partition by steps.card_id order by steps."offset"
                               rows between {window - 1} preceding and current row)
    """
    alarm = f"nth >= {window} and total > {_threshold_ppm(threshold)} * {window - 1}"
    rows = f"""
        select partition, "offset", card_id, total // {window - 1} as score_ppm, states from ({scored}) where {alarm}
    """
    labelled = f"select ({alarm}) as named, fraud = 1 as meant from ({scored}) where fraud is not null"
    return Expected(events.sql(rows), quality=precision_and_recall(events, labelled))


APPLICATION = Application(
    name="fraud-detection",
    question="Which card transactions make the card's recent history improbable?",
    inputs={"transactions": STREAM},
    tables={"model": TABLE},
    required={"transactions": ("card_id", "state")},
    stages=(predict,),
    outputs=(Output("predict", improbable_windows, PerEvent(("card_id", "score_ppm", "states"), key=("card_id",))),),
    parameters={
        "window": WholeNumber(5, "how many of a card's last states are held against the model", least=2, most=100),
        "threshold": Fraction(0.96, "score above which a transaction is answered"),
        "measure": OneOf("miss-probability", "what is averaged over the transitions", MEASURES, "measure"),
    },
    order="within a card by offset",
    papers=("BO9",),
    deviations=(
        "Probabilities are parts per million, so a score may differ from the original's in the seventh decimal.",
        "The original's third measure, entropy reduction, is left out: its code there is that of the miss rate.",
        "A state that the model does not know is a full miss; the original fails on it.",
    ),
)
