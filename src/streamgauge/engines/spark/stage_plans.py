"""What a stage does by its own plan: Spark is asked for the plan of the stage alone, over frames at rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamgauge.model import Stage, wanted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_WORDS_OF_NODES = {
    "Filter": "selection",
    "Project": "projection",
    "Generate": "projection",
    "Union": "union",
    "Join": "join",
    "Aggregate": "aggregation",
    "Window": "window",
    "Deduplicate": "deduplication",
}
_WORDS_OF_FEATURES = {
    "static-join": "join",
    "stream-join": "join",
    "aggregate": "aggregation",
    "window": "window",
    "session-window": "window",
    "deduplicate": "deduplication",
    "python-state": "state",
    "python-udf": "projection",
}
_ORDER = ("projection", "selection", "union", "join", "deduplication", "window", "aggregation", "state")
_SHUFFLES = frozenset({"Repartition", "RepartitionByExpression"})
_GROUPS = frozenset({"aggregate", "window", "session-window", "deduplicate", "stream-join", "python-state"})


@dataclass(frozen=True)
class StagePlan:
    """A stage in words, and the columns that it takes of each frame that it reads."""

    operator: tuple[str, ...]
    """Relational words: projection, selection, union, join, deduplication, window, aggregation, state."""
    pattern: tuple[str, ...]
    """How rows reach it: forward, broadcast (of the stored table), group by, shuffle."""
    columns: Mapping[str, frozenset[str]]
    """What it reads → names of the columns that are used of it."""


def stage_plan(
    session: SparkSession, stage: Stage, schemas: Mapping[str, StructType], parameters: Mapping[str, Any]
) -> StagePlan:
    """The plan of a stage over frames of these schemas; one that only a stream can run is judged by its features."""
    frames = {
        name: session.createDataFrame(session.sparkContext.emptyRDD(), schema) for name, schema in schemas.items()
    }
    try:
        made = stage(*[frames[name] for name in stage.reads], **wanted(stage.function, parameters))
        execution = made._jdf.queryExecution()
        nodes = list(_nodes(execution.optimizedPlan()))
        written = {str(node.nodeName()) for node in _nodes(execution.analyzed())}
        columns = {name: _used(nodes, frame) for name, frame in frames.items()}
    except Exception:
        written, columns = set(), {name: frozenset(schema.fieldNames()) for name, schema in schemas.items()}
    return StagePlan(operator_words(stage, written), pattern_words(stage, written), columns)


def operator_words(stage: Stage, nodes: set[str]) -> tuple[str, ...]:
    """The relational words of a stage; projecting is not said of one that also joins, groups or keeps state."""
    found = {_WORDS_OF_FEATURES[each] for each in stage.uses if each in _WORDS_OF_FEATURES}
    found |= {_WORDS_OF_NODES[each] for each in nodes if each in _WORDS_OF_NODES}
    if "window" not in stage.uses and "session-window" not in stage.uses and "state" in found:
        # Rows at rest are grouped in place of the state, which is no aggregate of the stage's own.
        found.discard("aggregation")
    if found & {"join", "deduplication", "window", "aggregation", "state"}:
        found.discard("projection")
    return tuple(word for word in _ORDER if word in found) or ("projection",)


def pattern_words(stage: Stage, nodes: set[str]) -> tuple[str, ...]:
    """How rows reach the stage: what it does not exchange it is handed forward."""
    found = []
    if "static-join" in stage.uses:
        found.append("broadcast")
    if stage.uses & _GROUPS:
        found.append("group by")
    if nodes & _SHUFFLES:
        found.append("shuffle")
    return tuple(found) or ("forward",)


def _used(nodes: Sequence[Any], frame: DataFrame) -> frozenset[str]:
    names = {
        attribute.exprId().id(): attribute.name()
        for attribute in _each(frame._jdf.queryExecution().analyzed().output())
    }
    seen = {attribute.exprId().id() for node in nodes for attribute in _each(node.references().toSeq())}
    seen |= {attribute.exprId().id() for attribute in _each(nodes[0].output())}
    return frozenset(name for number, name in names.items() if number in seen)


def _nodes(plan: Any) -> Iterator[Any]:
    yield plan
    for child in _each(plan.children()):
        yield from _nodes(child)


def _each(sequence: Any) -> Iterator[Any]:
    for position in range(sequence.size()):
        yield sequence.apply(position)
