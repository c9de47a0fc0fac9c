"""Sums over the last few members of each key, for whole batches of rows of many keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from streamgauge.applications.kept_rows import rows_of_state, state_of_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class WindowSums:
    """What a batch's rows see: how many members their key's window holds, and the sum of each amount over them."""

    state: bytes
    """For the next batch: the last members of each key."""
    count: npt.NDArray[np.int64]
    sums: tuple[npt.NDArray[np.int64], ...]


def sums_over_last(
    size: int,
    state: bytes | None,
    batch: pd.DataFrame,
    key: str,
    amounts: Sequence[str],
    members: npt.NDArray[np.bool_] | None = None,
) -> WindowSums:
    """For each row of the batch, in its order, the sums over the last `size` members of its key up to this row.

    `amounts` are columns of whole numbers; `members` says which rows enter the windows, all without it. A row that is
    a member sees itself.
    """
    import pandas as pd

    if members is None:
        members = np.ones(len(batch), np.bool_)
    entering = batch.loc[members, [key, *amounts]]
    before = rows_of_state(state)
    known = 0 if before is None else len(before)
    all_members = entering if before is None else pd.concat([before, entering], ignore_index=True)
    keys = batch[key] if before is None else pd.concat([before[key], batch[key]], ignore_index=True)
    codes, names = pd.factorize(keys)
    row_codes = codes[known:]
    member_codes = np.concatenate([codes[:known], row_codes[members]])

    grouped = np.argsort(member_codes, kind="stable")
    per_key = np.bincount(member_codes, minlength=len(names))
    first = np.cumsum(per_key) - per_key
    entered = pd.Series(members.astype(np.int64)).groupby(row_codes).cumsum().to_numpy()
    end = first[row_codes] + np.bincount(codes[:known], minlength=len(names))[row_codes] + entered
    begin = np.maximum(first[row_codes], end - size)
    totals = (np.cumsum(all_members[name].to_numpy(np.int64)[grouped]) for name in amounts)
    from_zero = [np.concatenate([np.zeros(1, np.int64), total]) for total in totals]

    left = per_key[member_codes[grouped]] - (np.arange(len(grouped)) - first[member_codes[grouped]])
    kept = all_members.iloc[grouped[left <= size]]
    return WindowSums(state_of_rows(kept), end - begin, tuple(total[end] - total[begin] for total in from_zero))
