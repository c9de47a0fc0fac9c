"""The record of a trial, checked before it is stored, and the shape in which a run is shown to scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamgauge.model.errors import StoreError, UserError, unknown
from streamgauge.model.trial import Trial
from streamgauge.store.files import plain

SCHEMA = 1
STATUSES = ("done", "gap", "failed")
QUANTILE_KEYS = ("n", "mean", "p50", "p95", "p99", "p99.9", "p99.999", "max")
DIGESTS = ("digest", "expected_digest")
VERDICT_COUNTS = ("lost", "duplicated", "wrong", "unexpected", "out_of_order")

Record = dict[str, Any]

_EMPTY: Mapping[str, Any] = {
    "measured_events": 0,
    "valid": False,
    "invalid_reasons": [],
    "warnings": [],
    "started_at_ms": None,
    "samples_kept": False,
    "log": {},
    "process": {},
    "latency_ms": None,
    "output_latency_ms": None,
    "due_latency_ms": None,
    "components": None,
    "durability": None,
    "throughput": None,
    "bursts": {},
    "seconds": {},
    "scheduling": {},
    "scheduler": {},
    "publisher": {},
    "requirements": [],
    "resources": {},
    "warmup": {},
    "end": {},
    "verdict": None,
    "quality": {},
    "faults": [],
    "recovery": None,
    "variants": {},
    "between": [],
    "gap": None,
    "error": None,
    "tuning": {},
    "thresholds": [],
    "matrices": [],
}
"""What a record says where nothing was measured; started_at_ms is the instant of second 0 of its tables."""


def trial_record(trial: Trial, status: str, **facts: Any) -> Record:
    """A whole record from the trial and what became of it; facts that are not given stay empty."""
    for name in facts:
        if name not in _EMPTY:
            raise unknown("field of a trial record", name, list(_EMPTY))
    record: Record = {
        "schema": SCHEMA,
        "trial": trial.as_dict(),
        "application": trial.application,
        "engine": trial.engine,
        "load": trial.load,
        "seed": trial.seed,
        "events": trial.events - trial.warmup_events,
        "status": status,
        **_EMPTY,
        **facts,
    }
    checked: Record = plain(record)
    check_record(checked)
    return checked


def check_record(record: Mapping[str, Any]) -> None:
    """Refuse a record that would mislead its reader: a figure without a verdict, a gap without a reason."""
    missing = [
        name
        for name in ("schema", "trial", "application", "engine", "load", "seed", "events", "status", *_EMPTY)
        if name not in record
    ]
    if missing:
        raise _refused(record, f"it lacks {', '.join(missing)}")
    status = record["status"]
    if status not in STATUSES:
        raise _refused(record, f"its status '{status}' is none of {', '.join(STATUSES)}")
    if status == "done" and (record["verdict"] is None or record["latency_ms"] is None):
        raise _refused(record, "it is done, but has no verdict or no latency: there is no figure without a verdict")
    if status == "gap" and not (record["gap"] or {}).get("reason"):
        raise _refused(record, "it is a gap without a reason")
    if status == "failed" and not record["error"]:
        raise _refused(record, "it failed without an error")
    if record["valid"] and (status != "done" or record["invalid_reasons"]):
        raise _refused(record, "it is called valid, but was not done or has reasons against it")


def _refused(record: Mapping[str, Any], why: str) -> UserError:
    name = f"{record.get('application', '?')} on {record.get('engine', '?')}"
    return UserError(f"the record of {name} cannot be stored: {why}")


def public_json(run: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A run as `--json` prints it."""
    return {"schema": SCHEMA, "run": run["run"], "trials": [_public_trial(record) for record in records]}


def _public_trial(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: record[name] for name in ("application", "engine", "load", "seed", "events", "valid")},
        "latency_ms": _chosen(record["latency_ms"], QUANTILE_KEYS),
        "output_latency_ms": _chosen(record["output_latency_ms"], QUANTILE_KEYS),
        "components": record.get("components"),
        "durability": record.get("durability"),
        "throughput": _chosen(record["throughput"], ("events_per_s", "p5_events_per_s", "mb_per_s")),
        "verdict": _chosen(record["verdict"], ("correct", *VERDICT_COUNTS, "late", "rejected", *DIGESTS)),
        "bursts": record.get("bursts", {}),
        "seconds": record.get("seconds", {}),
        "scheduling": record.get("scheduling", {}),
        "scheduler": record.get("scheduler", {}),
        "quality": record.get("quality", {}),
        "faults": record.get("faults", []),
        "recovery": record.get("recovery"),
        "phases": (record["verdict"] or {}).get("phases", {}),
        "gap": record["gap"],
    }


def _chosen(figures: Mapping[str, Any] | None, names: Iterable[str]) -> dict[str, Any] | None:
    return None if figures is None else {name: figures.get(name) for name in names}


def check_schema(found: Mapping[str, Any], where: str) -> None:
    """Refuse what was written in a version that this program does not read."""
    version = found.get("schema")
    if version != SCHEMA:
        raise StoreError(
            f"{where} has schema version {version}, and this program reads version {SCHEMA}",
            "Open it with the streamgauge that wrote it, or run the trial again",
        )
