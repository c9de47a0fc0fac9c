"""How much a latency figure of one trial varies, from resampling the trial's own seconds in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from streamgauge.measure.quantiles import PERCENTILES, is_carried

RESAMPLES = 400
FEWEST_SECONDS = 10
"""Below this there are too few blocks to say how they vary."""

MOST_SLOTS = 120
"""A longer trial is cut into so many slots of several seconds, so that memory stays flat."""

_SEED = 20_160_101
_AT_ONCE = 4_000_000
_WHOLE = 100_000
_LEAST_MS = 0.5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Variance of a figure's logarithm, and the degrees of freedom with which it is known."""

    variance: float
    degrees: float


def log_spreads(counts: pa.Table, kind: str) -> dict[str, Spread]:
    """The spread of the mean and of each percentile that the sample carries; none from fewer than ten seconds.

    The table holds counts per kind, second and millisecond. Neighbouring samples share their batch, so whole seconds
    are drawn, and blocks of ⌈seconds^⅓⌉ of them, since neighbouring seconds share what slowed them.
    """
    mine = counts.filter(pc.equal(counts["kind"], kind))
    if len(mine) == 0:
        return {}
    values, slots = _per_slot(mine)
    if slots.shape[0] < FEWEST_SECONDS:
        return {}
    length = int(np.ceil(slots.shape[0] ** (1 / 3)))
    blocks = slots.shape[0] / length
    n = int(slots.sum())
    names = ["mean", *(name for name in PERCENTILES if is_carried(name, n))]
    drawn = _drawn(values, slots, length, names)
    # Drawing k blocks with replacement gives (k − 1)/k of the variance.
    return {
        name: Spread(float(np.nanvar(np.log(np.maximum(found, _LEAST_MS)))) * blocks / (blocks - 1), blocks - 1)
        for name, found in drawn.items()
    }


def _per_slot(counts: pa.Table) -> tuple[Floats, Floats]:
    """The distinct latencies, and how often each occurred in each slot of time, seconds without a sample included."""
    seconds = counts["second"].to_numpy().astype(np.int64)
    seconds = seconds - seconds.min()
    width = -(-int(seconds.max() + 1) // MOST_SLOTS)
    values, where = np.unique(np.maximum(counts["latency_ms"].to_numpy(), 0), return_inverse=True)
    # A last slot that is cut short would weigh less than the others: it joins the one before.
    slot_count = max(1, int(seconds.max() + 1) // width)
    slot = np.minimum(seconds // width, slot_count - 1)
    weights = counts["count"].to_numpy().astype(np.float64)
    flat = np.bincount(slot * values.size + where, weights, minlength=slot_count * values.size)
    return values.astype(np.float64), flat.reshape(slot_count, values.size).astype(np.float64)


def _drawn(values: Floats, slots: Floats, length: int, names: list[str]) -> dict[str, Floats]:
    """Every named statistic of every resample; not-a-number where a resample drew no sample at all."""
    rng = np.random.default_rng(_SEED)
    at_once = max(1, min(RESAMPLES, _AT_ONCE // values.size))
    parts: dict[str, list[Floats]] = {name: [] for name in names}
    for begin in range(0, RESAMPLES, at_once):
        weights = _block_weights(rng, min(at_once, RESAMPLES - begin), slots.shape[0], length)
        for name, found in _statistics(values, weights @ slots, names).items():
            parts[name].append(found)
    return {name: np.concatenate(found) for name, found in parts.items()}


def _block_weights(rng: np.random.Generator, resamples: int, slots: int, length: int) -> Floats:
    """How often each resample drew each slot: blocks of neighbouring slots, the last followed by the first."""
    starts = rng.integers(0, slots, (resamples, -(-slots // length)))
    chosen = ((starts[:, :, None] + np.arange(length)) % slots).reshape(resamples, -1)[:, :slots]
    flat = chosen + np.arange(resamples)[:, None] * slots
    return np.bincount(flat.ravel(), minlength=resamples * slots).reshape(resamples, slots).astype(np.float64)


def _statistics(values: Floats, counts: Floats, names: list[str]) -> dict[str, Floats]:
    up_to = np.cumsum(counts, axis=1)
    n = up_to[:, -1]
    empty = n == 0
    found: dict[str, Floats] = {}
    for name in names:
        if name == "mean":
            taken = counts @ values / np.maximum(n, 1)
        else:
            rank = -(-n.astype(np.int64) * PERCENTILES[name] // _WHOLE)
            taken = values[np.minimum((up_to < rank[:, None]).sum(axis=1), values.size - 1)]
        found[name] = np.where(empty, np.nan, taken)
    return found
