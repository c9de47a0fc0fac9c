"""From the samples of cut pipelines to what each operator is and costs (BO17), and to its instances (BO18)."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

MULTIPLIERS = (1, 2, 4)
TENTHS = 10
"""Equation 3.4 shares out ten instances by score, each share rounded up."""

Sample = Mapping[str, Any]
Operator = dict[str, Any]


def batch_table(samples: Iterable[Sample]) -> pa.Table:
    """The raw samples, a row per cut, pass and batch."""
    rows = [{k: v for k, v in each.items() if k != "what"} for each in samples if each["what"] == "batch"]
    columns = ("cut", "pass", "batch", "rows_read", "rows_out", "ms")
    return pa.table({name: [row[name] for row in rows] for name in columns})


def operators(samples: Sequence[Sample]) -> list[Operator]:
    """Every operator with its selectivity, record sizes, time per event, state and instances, in data order."""
    told = {each["name"]: each for each in samples if each["what"] == "operator"}
    overhead = overhead_ms(samples)
    milliseconds = _least_per_batch(samples)
    rests = _rests(samples)
    read = _rows_read(samples)
    found: dict[str, Operator] = {}
    for name, each in told.items():
        rows_in = read[name] if each["role"] == "source" else sum(found[b]["rows_out"] for b in each["before"])
        rows_out = sum(each["rows"])
        found[name] = {
            "name": name,
            "role": each["role"],
            "reads": list(each["before"]),
            "operator": list(each["operator"]),
            "pattern": list(each["pattern"]),
            "rows_in": rows_in,
            "rows_out": rows_out,
            "selectivity": rows_out / rows_in if rows_in else None,
            "bytes_in": _bytes_in(each, found),
            "bytes_out": each["bytes"],
            "time_us": _time_us(each, told, milliseconds, overhead, rests[name]),
            "state": _own_state(each, told),
        }
    _give_instances(list(found.values()), found)
    return list(found.values())


def overhead_ms(samples: Iterable[Sample]) -> float:
    """The median time of a batch of almost no rows: it is no operator's own."""
    seen = [ms for each in samples if each["what"] == "overhead" for ms in each["ms"]]
    return float(np.median(seen)) if seen else 0.0


def instances(scores: Mapping[str, float]) -> dict[str, int]:
    """Equation 3.4: ten instances shared out by score and rounded up, so that every operator has one at least."""
    whole = sum(scores.values())
    if whole <= 0:
        return dict.fromkeys(scores, 1)
    # A share that is whole but for the rounding of doubles is not rounded up.
    return {name: max(1, math.ceil(round(TENTHS * score / whole, 9))) for name, score in scores.items()}


def configurations(found: Sequence[Operator], multipliers: Iterable[int] = MULTIPLIERS) -> list[dict[str, Any]]:
    """The thesis's three families: computed instances, all ones, and the computed with a larger source only."""
    computed = {each["name"]: each["instances"] for each in found}
    sources = {each["name"] for each in found if each["role"] == "source" and not each["reads"]}
    made = []
    for family in ("computed", "ones", "source only"):
        for by in multipliers:
            if family == "computed":
                given = {name: count * by for name, count in computed.items()}
            elif family == "ones":
                given = dict.fromkeys(computed, by)
            else:
                given = {name: count * (by if name in sources else 1) for name, count in computed.items()}
            made.append({"family": family, "multiplier": by, "instances": given})
    return made


def remarks(found: Sequence[Operator]) -> list[str]:
    """What a reader of the table should know, a sentence each."""
    noisy = [each["name"] for each in found if each["time_us"]["within_noise"]]
    said = []
    if noisy:
        said.append(
            f"{', '.join(noisy)}: no slower than the cut before {'it' if len(noisy) == 1 else 'them'} in the median, "
            "so the time is within the noise and is shown as 0 where it was negative"
        )
    return said


def _least_per_batch(samples: Iterable[Sample]) -> dict[str, list[float]]:
    """Cut → the time of each batch, the shorter of its passes: a pause of the machine is no property of a stage."""
    least: dict[str, dict[int, float]] = {}
    for each in samples:
        if each["what"] == "batch":
            known = least.setdefault(each["cut"], {})
            known[each["batch"]] = min(each["ms"], known.get(each["batch"], math.inf))
    return {cut: [known[batch] for batch in sorted(known)] for cut, known in least.items()}


def _rests(samples: Iterable[Sample]) -> dict[str, set[int]]:
    """Cut → its batches of less than half the usual rows: a rest of the input, whose time is not that of its rows."""
    read: dict[str, dict[int, int]] = {}
    for each in samples:
        if each["what"] == "batch" and each["pass"] == 1:
            read.setdefault(each["cut"], {})[each["batch"]] = each["rows_read"]
    return {
        cut: {place for place, batch in enumerate(sorted(rows)) if 2 * rows[batch] < np.median(list(rows.values()))}
        for cut, rows in read.items()
    }


def _rows_read(samples: Iterable[Sample]) -> dict[str, int]:
    """Cut → the rows that its first timed pass read."""
    found: dict[str, int] = {}
    for each in samples:
        if each["what"] == "batch" and each["pass"] == 1:
            found[each["cut"]] = found.get(each["cut"], 0) + each["rows_read"]
    return found


def _bytes_in(each: Sample, found: Mapping[str, Operator]) -> float:
    before = [found[name] for name in each["before"]]
    rows = sum(b["rows_out"] for b in before)
    if not rows:
        return float(each["bytes"])
    return float(sum(b["bytes_out"] * b["rows_out"] for b in before) / rows)


def _time_us(
    each: Sample,
    told: Mapping[str, Sample],
    milliseconds: Mapping[str, list[float]],
    overhead: float,
    rests: Container[int],
) -> dict[str, Any]:
    """Microseconds per event that comes in: the difference to the cuts before, batch by batch, over its rows."""
    before = [] if each["role"] == "source" else list(each["before"])
    rows = [each["rows"]] if each["role"] == "source" else [told[name]["rows"] for name in before]
    batches = min([len(milliseconds[name]) for name in (each["name"], *before)] + [len(r) for r in rows])
    taken = []
    for batch in range(batches):
        events = sum(r[batch] for r in rows)
        if events and batch not in rests:
            earlier = sum(milliseconds[name][batch] - overhead for name in before)
            taken.append(1000 * (milliseconds[each["name"]][batch] - overhead - earlier) / events)
    if not taken:
        return {"p50": None, "p99": None, "batches": 0, "within_noise": False}
    p50, p99 = (float(q) for q in np.quantile(taken, [0.5, 0.99], method="inverted_cdf"))
    return {"p50": max(p50, 0.0), "p99": max(p99, 0.0), "batches": len(taken), "within_noise": p50 <= 0}


def _own_state(each: Sample, told: Mapping[str, Sample]) -> dict[str, Any] | None:
    """The state that this operator added to that of the cuts before it; the last operator of a plan comes first."""
    earlier = 0 if each["role"] == "source" else sum(len(told[name]["state"]) for name in each["before"])
    own = each["state"][: max(0, len(each["state"]) - earlier)]
    if not own:
        return None
    return {
        "operators": [s["operator"] for s in own],
        "bytes": sum(s["bytes"] for s in own),
        "rows": sum(s["rows"] for s in own),
    }


def _give_instances(found: Sequence[Operator], by_name: Mapping[str, Operator]) -> None:
    """Score every operator: its p99 time, once per stream that comes in, by the selectivity of who sends it."""
    for each in found:
        reads = [] if each["role"] == "source" else [by_name[name]["selectivity"] for name in each["reads"]]
        each["score_us"] = (each["time_us"]["p99"] or 0.0) * (sum(s or 0.0 for s in reads) if reads else 1.0)
    shared = instances({each["name"]: each["score_us"] for each in found})
    for each in found:
        each["instances"] = shared[each["name"]]
