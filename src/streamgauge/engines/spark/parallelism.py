"""Parallelism per stage (BO15, BO18): the shuffle partitions of the query that holds a stateful stage."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.model import Application, UserError
from streamgauge.model.application import Feature

PREFIX = "parallelism."
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
STATEFUL: frozenset[Feature] = frozenset({"aggregate", "deduplicate", "window", "stream-join", "python-state"})
"""Features for which rows of a key must meet: Spark exchanges rows before such a stage, and before no other."""


def stages_of_queries(application: Application) -> dict[str, list[str]]:
    """Query → the stages that it runs, in order; a stage that several branches read runs in each of their queries."""
    heads = {f"to-{cut}": cut for cut in application.cuts}
    tails = {output.stage: output.stage for output in application.leaf_outputs()}
    return {query: _up_to_cuts(application, last) for query, last in {**heads, **tails}.items()}


def _up_to_cuts(application: Application, last: str) -> list[str]:
    needed, waiting = {last}, [last]
    while waiting:
        for read in application.stage(waiting.pop()).reads:
            known = read in application.inputs or read in application.tables
            if not known and read not in application.cuts and read not in needed:
                needed.add(read)
                waiting.append(read)
    return [stage.name for stage in application.stages if stage.name in needed]


def stateful_stages(application: Application) -> dict[str, tuple[str, ...]]:
    """Query → its stages that rows are exchanged for."""
    stateful = {stage.name for stage in application.stages if stage.uses & STATEFUL}
    return {
        query: tuple(s for s in stages if s in stateful) for query, stages in stages_of_queries(application).items()
    }


def check_numbers(values: Mapping[str, str]) -> None:
    """Refuse a parallelism that is no whole number above 0."""
    for name, value in values.items():
        asks = name.startswith(PREFIX) or name == SHUFFLE_PARTITIONS
        if asks and (not value.isdigit() or int(value) < 1):
            raise UserError(f"{name} is a whole number above 0, not '{value}'", f"Write it like {name}=4")


def shuffle_partitions(application: Application, values: Mapping[str, str], otherwise: int) -> dict[str, int]:
    """Query → its shuffle partitions: those that the user gave one of its stages, or what holds for all."""
    given = {name.removeprefix(PREFIX): int(text) for name, text in values.items() if name.startswith(PREFIX)}
    held = stateful_stages(application)
    for name in given:
        application.stage(name)
        if not any(name in stages for stages in held.values()):
            raise UserError(
                f"stage '{name}' of '{application.name}' has no parallelism of its own: it keeps no state, so it runs "
                "in the tasks of what it reads",
                f"Set --partitions for the log, or {_settable(held)}",
            )
    return {query: _one_number(query, stages, given, otherwise) for query, stages in held.items()}


def _one_number(query: str, stages: tuple[str, ...], given: Mapping[str, int], otherwise: int) -> int:
    wanted = {name: given[name] for name in stages if name in given}
    if len(set(wanted.values())) > 1:
        said = ", ".join(f"{PREFIX}{name}={number}" for name, number in wanted.items())
        raise UserError(
            f"query '{query}' has one number of shuffle partitions, and {said} ask for several", "Give them one number"
        )
    return next(iter(wanted.values()), otherwise)


def _settable(held: Mapping[str, tuple[str, ...]]) -> str:
    names = sorted({f"{PREFIX}{name}" for stages in held.values() for name in stages})
    return f"one of: {', '.join(names)}" if names else "nothing more: no stage of it keeps state"
