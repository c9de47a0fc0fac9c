"""Going on with a run that was interrupted: its plan is stored with it, and its trials are known by what they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from streamgauge.lab.request import Plan, PlannedTrial
from streamgauge.model import StoreError, UserError
from streamgauge.model.trial import without_password
from streamgauge.provision.machine import describe_machine
from streamgauge.store.stored_run import StoredRun

SAME_MACHINE = (
    *("cpu", "cores", "architecture", "python", "java", "pyspark"),
    *("kafka_broker", "kafka_client_of_spark", "spark_kafka_connector", "streamgauge"),
)
"""What must not have changed: the trials of one run are compared with each other."""


@dataclass(frozen=True)
class Left:
    """The plan of a stored run, and for each of its trials the record or None."""

    plan: Plan
    records: list[dict[str, Any] | None]

    @property
    def trials(self) -> list[PlannedTrial]:
        """What is left to do."""
        return [each for each, record in zip(self.plan.trials, self.records, strict=True) if record is None]


def stored_plan(plan: Plan) -> dict[str, Any]:
    """A plan as it is stored with its run: no password of a sink is in it."""
    return {
        "kafka": plan.kafka,
        "kafka_config": None if plan.kafka_config is None else str(plan.kafka_config.absolute()),
        "keep": plan.keep,
        "trials": [each.as_dict() for each in plan.trials],
    }


def left_of(given: Plan, stored: StoredRun, sink: str | None = None) -> Left:
    """What is left of a stored run; of `given` count the folder and, where they are said, the log and `keep`."""
    found = stored.run.get("plan") or {}
    if not found.get("trials"):
        raise StoreError(f"the run '{stored.id}' was stored without a plan, so nothing tells what is left of it")
    _check_machine(stored.id, stored.run.get("machine") or {})
    config = found["kafka_config"]
    plan = Plan(
        trials=tuple(_with_sink(_planned(stored.id, each), sink) for each in found["trials"]),
        kafka=given.kafka or found["kafka"],
        kafka_config=given.kafka_config or (Path(config) if config else None),
        out=given.out,
        keep=given.keep or found["keep"],
        command=stored.run.get("command", ""),
        verbose=given.verbose,
        suite=stored.run.get("suite"),
    )
    known = {_key(record["trial"]): record for record in stored.trials}
    return Left(plan, [known.get(_key(each.trial.as_dict())) for each in plan.trials])


def _planned(run: str, values: Mapping[str, Any]) -> PlannedTrial:
    try:
        return PlannedTrial.from_dict(values)
    except KeyError as error:
        raise StoreError(
            f"the plan of the run '{run}' does not say {error}: another version of streamgauge stored it",
            "Resume it with that version, or run it again; what is stored stays",
        ) from None


def _key(trial: Mapping[str, Any]) -> str:
    return json.dumps(trial, sort_keys=True)


def _check_machine(run: str, then: Mapping[str, Any]) -> None:
    now = describe_machine()
    changed = [
        f"{name} {then[name]} → {now[name]}" for name in SAME_MACHINE if name in then and then[name] != now[name]
    ]
    if changed:
        raise UserError(
            f"the run '{run}' was taken in other circumstances ({', '.join(changed)})",
            "Its trials could not be compared with each other: run it anew",
        )


def _with_sink(planned: PlannedTrial, sink: str | None) -> PlannedTrial:
    """A sink is stored without its password: the one that is given again stands in for it."""
    if sink is None or planned.trial.sink != without_password(sink):
        return planned
    return replace(planned, trial=replace(planned.trial, sink=sink))
