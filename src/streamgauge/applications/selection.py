"""Selection by median of medians: the value of a given rank in linear time, whatever the order of the values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

GROUP = 5


def select(values: npt.NDArray[np.int64], rank: int) -> int:
    """The value that stands at `rank`, from 0, when the values are sorted; the algorithm of Blum, Floyd, Pratt, Rivest
    and Tarjan (1973), called BFPRT after them.

    The pivot is the median of the medians of groups of five, so at least three tenths of the values lie on either side
    of it and every round leaves at most seven tenths.
    """
    if not 0 <= rank < len(values):
        raise ValueError(f"there is no rank {rank} among {len(values)} values")
    while len(values) > GROUP:
        pivot = _median_of_medians(values)
        below = values[values < pivot]
        if rank < len(below):
            values = below
            continue
        above = values[values > pivot]
        if rank < len(values) - len(above):
            return pivot
        rank -= len(values) - len(above)
        values = above
    return int(np.sort(values)[rank])


def _median_of_medians(values: npt.NDArray[np.int64]) -> int:
    """The median of the groups' medians; up to four values at the end belong to no group."""
    groups = values[: len(values) // GROUP * GROUP].reshape(-1, GROUP)
    medians = np.sort(groups, axis=1)[:, GROUP // 2]
    return select(medians, len(medians) // 2)
