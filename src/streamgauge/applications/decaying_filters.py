"""Time-decaying Bloom filters of telephone switches as arrays, brought forward by whole batches of calls.

A filter has four tables of counters; a number has one counter in each, and its estimate is the least of the four. A
counter halves in a fixed time. It is not touched for that: what is added grows instead, doubling in the same time, and
only at the first touch on a later day is a counter brought to that day's scale by shifting it right. Sums of whole
numbers are the same in any order, so a batch of calls is worked through with sorts and running sums, not call by call.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from streamgauge.streams.randomness import field, mix

Numbers = npt.NDArray[np.int64]
Days = npt.NDArray[np.int32]

HASHES = 4
DAY_S = 86_400
SHORT_HALVINGS_PER_DAY, LONG_HALVINGS_PER_DAY = 4, 1
ONE = 1 << 16
"""What a call adds at midnight."""
PAIR_BITS_PER_CELL = 8

_HALVINGS = np.array([SHORT_HALVINGS_PER_DAY, SHORT_HALVINGS_PER_DAY, LONG_HALVINGS_PER_DAY, LONG_HALVINGS_PER_DAY])
"""Of the four counters of a caller: calls, calls to new numbers, calls over a day, seconds over a day."""
_DEEPEST_SHIFT = 62
_NEVER = -(1 << 38)
_CLOCK_BITS = 40


def weights(halvings_per_day: int) -> Numbers:
    """What a call adds in each second of a day."""
    return np.rint(ONE * 2.0 ** (np.arange(DAY_S) * halvings_per_day / DAY_S)).astype(np.int64)


_SHORT, _LONG = weights(SHORT_HALVINGS_PER_DAY), weights(LONG_HALVINGS_PER_DAY)


@dataclass
class Switches:
    """All that is remembered of some switches; every array has a row per switch."""

    number: Numbers
    clock_s: Numbers
    """The latest answer time so far."""
    talk: Numbers
    """Seconds and calls of the switch, decaying over a day, in the scale of the clock's day."""
    made: Numbers
    """Four counters per cell, in the scale of the day that the cell was last touched."""
    made_day: Days
    received: Numbers
    received_day: Days
    pairs: npt.NDArray[np.uint8]
    """Bits of the pairs that called today and the day before."""

    @classmethod
    def none(cls, cells: int) -> Switches:
        """No switch yet; `cells` counters for each filter."""
        return cls(
            number=np.empty(0, np.int64),
            clock_s=np.empty(0, np.int64),
            talk=np.empty((0, 2), np.int64),
            made=np.empty((0, cells, len(_HALVINGS)), np.int64),
            made_day=np.empty((0, cells), np.int32),
            received=np.empty((0, cells, 1), np.int64),
            received_day=np.empty((0, cells), np.int32),
            pairs=np.empty((0, 2, cells * PAIR_BITS_PER_CELL), np.uint8),
        )

    @classmethod
    def from_bytes(cls, state: bytes) -> Switches:
        """The switches that `to_bytes` wrote."""
        arrays = dict(np.load(io.BytesIO(state)))
        arrays["pairs"] = np.unpackbits(arrays["pairs"], axis=2)
        return cls(**arrays)

    def to_bytes(self) -> bytes:
        """The arrays as they are, the bits packed."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays["pairs"] = np.packbits(self.pairs, axis=2)
        written = io.BytesIO()
        np.savez(written, **arrays)
        return written.getvalue()

    def places(self, numbers: Numbers) -> Numbers:
        """The row of each switch; those not yet known are added."""
        new = np.setdiff1d(numbers, self.number)
        for f in fields(self):
            values = getattr(self, f.name)
            added = np.zeros((len(new), *values.shape[1:]), values.dtype)
            setattr(self, f.name, np.concatenate([values, added]))
        if len(new):
            self.number[-len(new) :], self.clock_s[-len(new) :] = new, _NEVER
        order = np.argsort(self.number)
        return order[np.searchsorted(self.number, numbers, sorter=order)]


@dataclass(frozen=True)
class Calls:
    """Calls in the order of the log: parallel arrays."""

    switch: Numbers
    calling: Numbers
    called: Numbers
    answer_s: Numbers
    duration_s: Numbers
    established: npt.NDArray[np.bool_]


ESTIMATES = ("ecr", "encr", "ecr24", "ct24_ms", "rcr", "gacd_ms")


def estimate(switches: Switches, calls: Calls) -> Numbers:
    """Bring the switches forward by the calls; per established call, in the order given, its ESTIMATES."""
    place = switches.places(calls.switch)
    order = np.argsort(place, kind="stable")
    clock = np.empty_like(calls.answer_s)
    clock[order] = _running_clock(switches, place[order], calls.answer_s[order])
    days, second = np.divmod(clock, DAY_S)
    found = np.zeros((len(place), len(ESTIMATES)), np.int64)
    for day in np.unique(days):
        now = order[days[order] == day]
        _begin_day(switches, place[now], int(day))
        new = _new_pairs(switches, place[now], calls.calling[now], calls.called[now])
        heard = calls.established[now]
        now, new = now[heard], new[heard]
        if not len(now):
            continue
        short, long = _SHORT[second[now]], _LONG[second[now]]
        seconds = calls.duration_s[now]
        added = np.stack([short, short * new, long, long * seconds], axis=1)
        caller = _cells(switches.made.shape[1], place[now], calls.calling[now])
        callee = _cells(switches.made.shape[1], place[now], calls.called[now])
        made = _add(switches.made, switches.made_day, day, caller, np.repeat(added, HASHES, axis=0), _HALVINGS)
        both = np.concatenate([callee, caller], axis=1)
        comes = np.repeat(np.stack([short, 0 * short], axis=1), HASHES, axis=1).reshape(-1, 1)
        received = _add(switches.received, switches.received_day, day, both, comes, _HALVINGS[:1])[:, HASHES:]
        found[now, :4] = 1000 * made.min(axis=1) // np.stack([short, short, long, long], axis=1)
        found[now, 4] = 1000 * received.min(axis=1)[:, 0] // short
        found[now, 5] = _mean_talk_ms(switches, place[now], np.stack([long * seconds, long], axis=1))
    last = np.flatnonzero(np.diff(place[order], append=-1))
    switches.clock_s[place[order[last]]] = clock[order[last]]
    return found[calls.established]


def _running_clock(switches: Switches, place: Numbers, answer_s: Numbers) -> Numbers:
    """The latest answer time of the same switch up to each call; calls of one switch stand together, places rise."""
    apart = place << _CLOCK_BITS
    clock: Numbers = np.maximum.accumulate(apart + np.maximum(answer_s, switches.clock_s[place])) - apart
    return clock


def _begin_day(switches: Switches, place: Numbers, day: int) -> None:
    """Bring what a switch has one of to the day's scale; yesterday's pairs are kept, older ones forgotten."""
    here = np.unique(place)
    passed = day - switches.clock_s[here] // DAY_S
    later, much_later = here[passed > 0], here[passed > 1]
    switches.talk[here] >>= np.minimum(passed * LONG_HALVINGS_PER_DAY, _DEEPEST_SHIFT)[:, None]
    switches.pairs[later, 1] = switches.pairs[later, 0]
    switches.pairs[later, 0] = 0
    switches.pairs[much_later, 1] = 0
    switches.clock_s[later] = day * DAY_S


def _cells(size: int, place: Numbers, number: Numbers) -> Numbers:
    """Calls × HASHES: the cells of each number in its switch, one in each quarter of the filter."""
    return _cells_of_bits(size, place, mix(number.astype(np.uint64)))


def _cells_of_bits(size: int, place: Numbers, bits: npt.NDArray[np.uint64]) -> Numbers:
    quarter = size // HASHES
    cells = [field(bits, 16 * table, 16) % quarter + table * quarter for table in range(HASHES)]
    return place[:, None] * size + np.stack(cells, axis=1)


def _new_pairs(switches: Switches, place: Numbers, calling: Numbers, called: Numbers) -> npt.NDArray[np.bool_]:
    """Whether a pair is in neither day's Bloom filter when it calls; it is in today's from then on."""
    bits = mix(mix(calling.astype(np.uint64)) ^ called.astype(np.uint64))
    size = switches.pairs.shape[2]
    cells = _cells_of_bits(size, place, bits)
    of_switch, of_filter = np.divmod(cells, size)
    distinct, first, which = np.unique(cells, return_index=True, return_inverse=True)
    earlier = (first // HASHES)[which.reshape(cells.shape)] < np.arange(len(place))[:, None]
    today = (earlier | (switches.pairs[of_switch, 0, of_filter] > 0)).all(axis=1)
    yesterday = (switches.pairs[of_switch, 1, of_filter] > 0).all(axis=1)
    new: npt.NDArray[np.bool_] = ~(today | yesterday)
    switches.pairs[distinct // size, 0, distinct % size] = 1
    return new


def _add(counters: Numbers, days: Days, day: int, cells: Numbers, added: Numbers, halvings: Numbers) -> Numbers:
    """Add to the cells one after another; what each held right after its own addition: calls × cells × counters."""
    values, last_day = counters.reshape(-1, counters.shape[2]), days.reshape(-1)
    order = np.argsort(cells, axis=None, kind="stable")
    touched = cells.reshape(-1)[order]
    begins = np.flatnonzero(np.diff(touched, prepend=-1))
    distinct = touched[begins]
    passed = (day - last_day[distinct])[:, None] * halvings
    values[distinct] >>= np.clip(passed, 0, _DEEPEST_SHIFT)
    last_day[distinct] = day
    sums = np.cumsum(added[order], axis=0)
    base = values[distinct] - sums[begins] + added[order[begins]]
    after = sums + np.repeat(base, np.diff(begins, append=len(touched)), axis=0)
    values[distinct] = after[np.append(begins[1:], len(touched)) - 1]
    seen = np.empty_like(after)
    seen[order] = after
    return seen.reshape(*cells.shape, -1)


def _mean_talk_ms(switches: Switches, place: Numbers, added: Numbers) -> Numbers:
    """The mean duration of the switch's calls right after each; calls of one switch stand together."""
    begins = np.flatnonzero(np.diff(place, prepend=-1))
    sums = np.cumsum(added, axis=0)
    base = switches.talk[place[begins]] - sums[begins] + added[begins]
    after = sums + np.repeat(base, np.diff(begins, append=len(place)), axis=0)
    switches.talk[place[begins]] = after[np.append(begins[1:], len(place)) - 1]
    seconds, rest = np.divmod(after[:, 0], after[:, 1])
    return 1000 * seconds + 1000 * rest // after[:, 1]
