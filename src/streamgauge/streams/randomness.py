"""Counter-based randomness: each number is a function of seed, lane and index, so blocks of any size agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint64]

_GAMMA = 0x9E3779B97F4A7C15
_MIX_A = 0xBF58476D1CE4E5B9
_MIX_B = 0x94D049BB133111EB
_WORD = (1 << 64) - 1


def _mixed(value: int) -> int:
    """The SplitMix64 finaliser of one number."""
    value = ((value ^ (value >> 30)) * _MIX_A) & _WORD
    value = ((value ^ (value >> 27)) * _MIX_B) & _WORD
    return value ^ (value >> 31)


def mix(values: Bits) -> Bits:
    """The SplitMix64 finaliser, in place: every output bit depends on every input bit."""
    values ^= values >> np.uint64(30)
    values *= np.uint64(_MIX_A)
    values ^= values >> np.uint64(27)
    values *= np.uint64(_MIX_B)
    values ^= values >> np.uint64(31)
    return values


def _origin(seed: int, lane: int) -> int:
    return _mixed((_mixed((seed * _GAMMA + 1) & _WORD) + lane * _MIX_A) & _WORD)


def random_bits(seed: int, lane: int, start: int, count: int) -> Bits:
    """64 random bits for each index from start on; lanes of one seed are independent of each other."""
    first = (_origin(seed, lane) + start * _GAMMA) & _WORD
    counters = np.arange(count, dtype=np.uint64)
    counters *= np.uint64(_GAMMA)
    counters += np.uint64(first)
    return mix(counters)


def random_bits_at(seed: int, lane: int, indices: npt.NDArray[np.int64]) -> Bits:
    """The same bits as `random_bits` gives, for indices in any order; an index below zero has bits of its own too."""
    counters = indices.astype(np.uint64)
    counters *= np.uint64(_GAMMA)
    counters += np.uint64(_origin(seed, lane))
    return mix(counters)


def field(bits: Bits, shift: int, width: int) -> npt.NDArray[np.int64]:
    """A few of the 64 bits as numbers from 0 to 2**width - 1; disjoint fields are independent."""
    part = bits >> np.uint64(shift)
    part &= np.uint64((1 << width) - 1)
    return part.view(np.int64)


def lookup_table(weights: Sequence[float] | npt.NDArray[np.float64], width: int) -> npt.NDArray[np.int32]:
    """A table of 2**width slots in which outcome k fills its share of the slots: an inverse CDF by one look-up."""
    cumulative = np.cumsum(np.asarray(weights, dtype=np.float64))
    slots = (np.arange(1 << width) + 0.5) / (1 << width)
    return np.searchsorted(cumulative / cumulative[-1], slots, side="right").astype(np.int32)


def zipf_weights(outcomes: int, exponent: float) -> npt.NDArray[np.float64]:
    """Weights that fall with the rank of an outcome as Zipf's law says."""
    return 1.0 / np.arange(1, outcomes + 1, dtype=np.float64) ** exponent
