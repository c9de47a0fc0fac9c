"""Periods of a rack's readings, and sums over the last of them, for whole batches of many racks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from streamgauge.applications.kept_rows import rows_of_state, state_of_rows
from streamgauge.applications.stateful import ORIGIN_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

ONE = 1_000_000
"""A score of 1, and all of a machine, in millionths."""
READING = ["rack", "start_ms", "machine_id", "cpu", "memory"]
PERIOD = ["rack", "start_ms", "machine_ids", "scores", "origin_offset"]


def end_periods(machines: int, state: bytes | None, batch: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
    """A row for each reading that is later than the one before it in its rack: the period that it ends, and its scores.

    The period is taken from the last `machines` readings before; so many of each rack are the state.
    """
    import pandas as pd

    before = rows_of_state(state)
    rows = batch if before is None else pd.concat([before, batch], ignore_index=True)
    order = np.argsort(rows["rack"].to_numpy(), kind="stable")
    rack, start_ms, machine_id, cpu, memory = (rows[name].to_numpy()[order] for name in READING)
    place = np.arange(len(rack))
    starts_rack = np.concatenate([[True], rack[1:] != rack[:-1]])
    first = np.maximum.accumulate(np.where(starts_rack, place, 0))
    later = np.concatenate([[False], start_ms[1:] > start_ms[:-1]])
    ends = np.flatnonzero(later & ~starts_rack & (order >= len(rows) - len(batch)))
    machine_ids, scores = [], []
    for end in ends:
        members = np.arange(max(first[end], end - machines), end)
        members = members[start_ms[members] == start_ms[end - 1]]
        machine_ids.append(machine_id[members])
        scores.append(_scores(cpu[members], memory[members]))
    made = batch.iloc[order[ends] - (len(rows) - len(batch))][["rack", *ORIGIN_COLUMNS]]
    made = made.assign(start_ms=start_ms[ends - 1], machine_ids=machine_ids, scores=scores)
    nth_rack = np.cumsum(starts_rack) - 1
    left = np.bincount(nth_rack)[nth_rack] - (place - first)
    return state_of_rows(rows.iloc[order[left <= machines]][READING]), made


def _scores(cpu: npt.NDArray[np.int64], memory: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """One and the distance of each reading from the mean of all, in millionths."""
    count = len(cpu)
    off_cpu, off_memory = ((used * count - used.sum()).astype(np.float64) for used in (cpu, memory))
    distance = np.sqrt(off_cpu * off_cpu + off_memory * off_memory) / count
    rounded: npt.NDArray[np.int64] = np.floor(distance + 0.5).astype(np.int64)
    return ONE + rounded


def sum_up_periods(window: int, state: bytes | None, batch: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
    """Each period with its machines' sums over the last `window` periods of the rack; so many of each are the state.

    A period that comes again, since the query before was restarted, is left out.
    """
    import pandas as pd

    before = rows_of_state(state)
    batch = batch.drop_duplicates(["rack", "origin_offset"])
    if before is not None:
        known = batch["rack"].map(before.groupby("rack")["origin_offset"].max())
        batch = batch[~(batch["origin_offset"] <= known)]
    rows = batch[PERIOD] if before is None else pd.concat([before, batch[PERIOD]], ignore_index=True)
    machine_ids, scores = rows["machine_ids"].to_numpy(), rows["scores"].to_numpy()
    old = len(rows) - len(batch)
    kept: list[int] = []
    sums: list[npt.NDArray[np.int64] | None] = [None] * len(batch)
    for periods in rows.groupby("rack").indices.values():
        kept.extend(periods[-window:])
        for nth in np.flatnonzero(periods >= old):
            last = periods[max(0, nth - window + 1) : nth + 1]
            sums[periods[nth] - old] = _sums(machine_ids[last], scores[last])
    return state_of_rows(rows.iloc[sorted(kept)]), batch[[*PERIOD[:-1], *ORIGIN_COLUMNS]].assign(sums=sums)


def _sums(machine_ids: npt.NDArray[np.object_], scores: npt.NDArray[np.object_]) -> npt.NDArray[np.int64]:
    """For each machine of the last of these periods the sum of its scores over all of them."""
    names, place = np.unique(np.concatenate(machine_ids), return_inverse=True)
    totals = np.zeros(len(names), np.int64)
    np.add.at(totals, place, np.concatenate(scores))
    of_last: npt.NDArray[np.int64] = totals[np.searchsorted(names, machine_ids[-1])]
    return of_last
