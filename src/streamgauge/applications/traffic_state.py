"""The customised windows of traffic-flow: a state of our own for the points of a bucket, worked on as whole columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streamgauge.applications.kept_rows import rows_of_state, state_of_rows
from streamgauge.applications.stateful import ORIGIN_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

KEPT_SECONDS = 60
"""How long before a point's newest second another of its seconds may still grow: both topics are read side by side."""
_SECOND = ["measurement_id", "second"]
_SUMS = ["flow", "lanes", "speed_sum"]


def running_sums(state: bytes | None, pairs: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
    """A row for each pair: the sums of its point and second, itself included, in the order of append times."""
    rows = pairs.sort_values(list(ORIGIN_COLUMNS), ignore_index=True)
    rows["second"] = rows["origin_append_ms"] // 1000
    rows["lanes"] = 1
    rows["speed_sum"] = np.floor(rows["speed"] * 100 + 0.5).astype(np.int64)
    known, every = _with_known(state, rows[[*_SECOND, *_SUMS]])
    every[_SUMS] = every.groupby(_SECOND, sort=False)[_SUMS].cumsum()
    rows[_SUMS] = every[_SUMS].iloc[known:].to_numpy()
    rows["mean_speed"] = rows["speed_sum"] / (rows["lanes"] * 100)
    latest = every.drop_duplicates(_SECOND, keep="last")
    return _kept(latest), rows[[*_SECOND, *_SUMS, "mean_speed", *ORIGIN_COLUMNS]]


def seconds_changed(state: bytes | None, updates: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
    """A row for each point and second that the batch changes, either by itself or through one of the two before it."""
    import pandas as pd

    rows = updates.sort_values([*_SECOND, "lanes"])[[*_SECOND, *_SUMS, *ORIGIN_COLUMNS]]
    known, every = _with_known(state, rows)
    every["new"] = np.arange(len(every)) >= known
    # A repetition or an update that came late counts fewer lanes, or as many: then what was known stays.
    latest = every.sort_values(["lanes", "new"], ascending=[False, True], kind="stable").drop_duplicates(_SECOND)
    grown = latest.loc[latest["new"], _SECOND]
    reached = pd.concat([grown.assign(second=grown["second"] + later) for later in (0, 1, 2)]).drop_duplicates()
    latest = latest.drop(columns="new")
    latest["mean"] = latest["speed_sum"] / (latest["lanes"] * 100)
    made = reached.merge(latest, on=_SECOND)
    for seconds, name in ((1, "2s"), (2, "3s")):
        before = latest[[*_SECOND, "flow", "mean"]].assign(second=latest["second"] + seconds)
        made = made.merge(before, on=_SECOND, how="left", suffixes=("", "_before"))
        for figure, said in (("flow", "flow"), ("mean", "speed")):
            past = made.pop(f"{figure}_before").astype("float64")
            made[f"{said}_change_{name}"] = (made[figure] - past) / past.where(past != 0)
    made = made.rename(columns={"mean": "mean_speed"})
    changes = ["flow_change_2s", "flow_change_3s", "speed_change_2s", "speed_change_3s"]
    return _kept(latest.drop(columns="mean")), made[[*_SECOND, "flow", "mean_speed", *changes, *ORIGIN_COLUMNS]]


def _with_known(state: bytes | None, rows: pd.DataFrame) -> tuple[int, pd.DataFrame]:
    """How many rows the state holds, and these with the new ones after them."""
    import pandas as pd

    known = rows_of_state(state)
    if known is None:
        return 0, rows.reset_index(drop=True)
    return len(known), pd.concat([known, rows], ignore_index=True)


def _kept(latest: pd.DataFrame) -> bytes:
    newest = latest.groupby("measurement_id")["second"].transform("max")
    return state_of_rows(latest[latest["second"] > newest - KEPT_SECONDS])
