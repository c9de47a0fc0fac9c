"""An application: what is computed, as a graph of stages, with an oracle for every output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal, overload

from streamgauge.model.errors import UserError, unknown
from streamgauge.model.stream import Stream
from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Json, WireFormat

Frame = Any
"""A DataFrame of the engine that runs the stage."""

Feature = Literal[
    "aggregate",
    "deduplicate",
    "window",
    "session-window",
    "stream-join",
    "static-join",
    "python-udf",
    "python-state",
    "row-updates",
]
"""What a stage asks of an engine; an engine says which it has and names the gap for the rest.

`row-updates` is an aggregate that answers every row: an engine that gathers a batch answers once per key and batch.
"""


class Emits(Enum):
    """What a stage's rows mean to the next reader."""

    ROWS = "rows"
    """Each row is a fact of its own; a repeated record id is a repeat."""
    UPDATES = "updates"
    """Each row replaces the earlier one of its key: read the latest per key, never sum."""


@dataclass(frozen=True)
class Variant:
    """Another implementation of a stage, with what it asks of an engine."""

    function: Callable[..., Frame]
    uses: frozenset[Feature] = frozenset()


@dataclass(frozen=True)
class Stage:
    """A named step; positional parameters name what it reads, keyword-only ones are the application's parameters."""

    name: str
    function: Callable[..., Frame]
    uses: frozenset[Feature] = frozenset()
    emits: Emits = Emits.ROWS
    key: tuple[str, ...] = ()
    """What the next stage groups by: the key of the topic when a cut is made after this stage."""
    variants: dict[str, Variant] = field(default_factory=dict)
    """Tried in order by an engine that cannot run the stage as it is; a user may choose one by name."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the inputs or earlier stages that this stage takes."""
        return tuple(
            p.name for p in inspect.signature(self.function).parameters.values() if p.kind is not p.KEYWORD_ONLY
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the application's parameters that this stage takes."""
        return _keyword_only(self.function)

    def using_variant(self, name: str) -> Stage:
        """The same stage with that implementation and no other."""
        if name == DEFAULT_VARIANT:
            return replace(self, variants={})
        if name not in self.variants:
            raise unknown(f"variant of stage '{self.name}'", name, [DEFAULT_VARIANT, *self.variants])
        chosen = self.variants[name]
        return replace(self, function=chosen.function, uses=chosen.uses, variants={})

    def variant(
        self, name: str, uses: Iterable[Feature] = ()
    ) -> Callable[[Callable[..., Frame]], Callable[..., Frame]]:
        """Make a function a variant of this stage: `@count.variant("stateful", uses=("python-state",))`."""

        def add(body: Callable[..., Frame]) -> Callable[..., Frame]:
            if name == DEFAULT_VARIANT or name in self.variants:
                raise UserError(f"stage '{self.name}' has two variants called '{name}'", "Rename one")
            same = replace(self, function=body)
            if same.reads != self.reads:
                raise UserError(f"variant '{name}' of stage '{self.name}' reads other stages than '{self.name}'")
            self.variants[name] = Variant(body, frozenset(uses))
            return body

        return add

    def __call__(self, *frames: Frame, **parameters: Any) -> Frame:
        """Apply the stage to frames, so that a stage can be tested like a function."""
        return self.function(*frames, **parameters)


DEFAULT_VARIANT = "default"
"""The stage's own function, for a user who wants it where an engine would choose another."""


@overload
def stage(function: Callable[..., Frame]) -> Stage: ...


@overload
def stage(
    *,
    uses: Iterable[Feature] = (),
    emits: Emits = Emits.ROWS,
    key: tuple[str, ...] = (),
) -> Callable[[Callable[..., Frame]], Stage]: ...


def stage(
    function: Callable[..., Frame] | None = None,
    *,
    uses: Iterable[Feature] = (),
    emits: Emits = Emits.ROWS,
    key: tuple[str, ...] = (),
) -> Stage | Callable[[Callable[..., Frame]], Stage]:
    """Make a function a stage: `@stage` or `@stage(uses=("aggregate",), emits=Emits.UPDATES)`."""

    def make(body: Callable[..., Frame]) -> Stage:
        return Stage(body.__name__, body, frozenset(uses), emits, key)

    return make if function is None else make(function)


Change = Literal["rises", "falls", "any"]


@dataclass(frozen=True)
class PerEvent:
    """Every expected output belongs to one event and appears once."""

    values: tuple[str, ...]
    key: tuple[str, ...] = ()
    """Those of the values within which order is promised; outputs of one key go to one partition."""

    def __post_init__(self) -> None:
        missing = [name for name in self.key if name not in self.values]
        if missing:
            raise UserError(f"the key '{missing[0]}' of an answer per event is none of its values", "Add it to them")


@dataclass(frozen=True)
class LatestPerKey:
    """Each key has a sequence of values that ends in the expected one; each column says how it may move on the way."""

    key: tuple[str, ...]
    values: Mapping[str, Change]
    relative_tolerance: float = 1e-9


Matching = PerEvent | LatestPerKey


@dataclass(frozen=True)
class Expected:
    """The right answer for one output; rows and touches are DuckDB relations or Arrow tables."""

    rows: Any
    """PerEvent: partition, offset and the values. LatestPerKey: the key and its final values."""
    touches: Any = None
    """LatestPerKey: partition, offset and key of every event that changes the key, for event latency."""
    late: int = 0
    """Events that the oracle leaves out because a watermark drops them."""
    quality: Mapping[str, float] = field(default_factory=dict)
    """What the right answer is worth against the events' labels: precision, recall, …"""


@dataclass(frozen=True)
class Output:
    """A stage whose rows are published and checked: every leaf, and any stage that a pipeline may be cut after."""

    stage: str
    oracle: Callable[..., Expected]
    """(events, **parameters) → Expected; independent of Spark and of the stages."""
    matching: Matching
    wire: WireFormat = Json()


@dataclass(frozen=True)
class Parameter:
    """A value that a user may set with --param; its type is the default's."""

    default: str | int | float | bool
    about: str

    def parse(self, name: str, text: str) -> str | int | float | bool:
        """The text as a value of the default's type."""
        if isinstance(self.default, bool):
            if text.lower() not in ("true", "false"):
                raise UserError(f"parameter '{name}' takes true or false, not '{text}'")
            return text.lower() == "true"
        kind = type(self.default)
        try:
            return kind(text)
        except ValueError:
            raise UserError(
                f"parameter '{name}' takes {kind.__name__}, not '{text}'", f"Its default is {self.default!r}"
            ) from None


@dataclass(frozen=True)
class Application:
    """What is computed: input streams, a graph of stages, and its outputs with their oracles."""

    name: str
    question: str
    inputs: Mapping[str, Stream]
    stages: tuple[Stage, ...]
    outputs: tuple[Output, ...]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    papers: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    """Stages after which a topic lies, so that the rest runs as another query."""
    order: str = "free"
    """What order the answer depends on: free, or the words that say which."""
    tables: Mapping[str, StoredTable] = field(default_factory=dict)
    """Stored data: a stage reads it by this name as a frame at rest, an oracle as a table of this name."""
    required: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Input → the fields without which an event of it is malformed; an input not named here: all that are not optional.

    Every event that is not UTF-8 is malformed too.
    """
    deviations: tuple[str, ...] = ()
    """Where this differs from the paper, a sentence each."""

    def __post_init__(self) -> None:
        _check_graph(self)

    def stage(self, name: str) -> Stage:
        """The stage of that name."""
        for each in self.stages:
            if each.name == name:
                return each
        raise unknown(f"stage of '{self.name}'", name, [s.name for s in self.stages])

    def leaves(self) -> tuple[str, ...]:
        """Stages that no other stage reads."""
        read = {name for s in self.stages for name in s.reads}
        return tuple(s.name for s in self.stages if s.name not in read)

    def leaf_outputs(self) -> tuple[Output, ...]:
        """The outputs that are published when the pipeline is not cut."""
        leaves = self.leaves()
        return tuple(o for o in self.outputs if o.stage in leaves)

    def required_of(self, name: str) -> tuple[str, ...]:
        """The fields without which an event of that input is malformed."""
        if name in self.required:
            return self.required[name]
        return tuple(f.name for f in self.inputs[name].fields if not f.optional)

    def stopped_after(self, name: str) -> Application:
        """The same application cut after a stage that has an oracle of its own."""
        self.stage(name)
        checkable = [o.stage for o in self.outputs]
        if name not in checkable:
            raise UserError(
                f"'{self.name}' has no oracle for stage '{name}', so it cannot stop there",
                f"It can stop after: {', '.join(checkable)}",
            )
        needed = _ancestors(self, name)
        kept = tuple(s for s in self.stages if s.name in needed)
        read = {r for s in kept for r in s.reads}
        return replace(
            self,
            inputs={k: v for k, v in self.inputs.items() if k in read},
            tables={k: v for k, v in self.tables.items() if k in read},
            required={k: v for k, v in self.required.items() if k in read},
            stages=kept,
            outputs=tuple(o for o in self.outputs if o.stage == name),
            cuts=tuple(c for c in self.cuts if c in needed and c != name),
        )

    def with_variants(self, chosen: Mapping[str, str]) -> Application:
        """The same application with these stages fixed to a variant: stage → name."""
        for name in chosen:
            self.stage(name)
        return replace(
            self, stages=tuple(s.using_variant(chosen[s.name]) if s.name in chosen else s for s in self.stages)
        )

    def bind(self, given: Mapping[str, str]) -> dict[str, Any]:
        """All parameters with the user's texts parsed over the defaults."""
        values: dict[str, Any] = {k: p.default for k, p in self.parameters.items()}
        for name, text in given.items():
            if name not in self.parameters:
                raise unknown(f"parameter of '{self.name}'", name, list(self.parameters))
            values[name] = self.parameters[name].parse(name, text)
        return values


def wanted(function: Callable[..., Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a stage's or oracle's function asks for by keyword-only name."""
    return {name: parameters[name] for name in _keyword_only(function)}


def _keyword_only(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY)


def _ancestors(application: Application, name: str) -> set[str]:
    needed: set[str] = set()
    todo = [name]
    while todo:
        current = todo.pop()
        if current in needed or current in application.inputs or current in application.tables:
            continue
        needed.add(current)
        todo.extend(application.stage(current).reads)
    return needed


def _check_graph(application: Application) -> None:
    where = f"application '{application.name}'"
    known = {*application.inputs, *application.tables}
    for each in application.stages:
        if each.name in known:
            raise UserError(f"{where}: two things are called '{each.name}'", "Rename the stage or the input")
        for read in each.reads:
            if read not in known:
                raise UserError(
                    f"{where}: stage '{each.name}' reads '{read}', which is no input, no table and no earlier stage",
                    f"Name its parameters after one of: {', '.join(sorted(known)) or 'none'}",
                )
        for name in each.parameters:
            if name not in application.parameters:
                raise UserError(
                    f"{where}: stage '{each.name}' asks for parameter '{name}', which is not declared",
                    "Add it to Application(parameters=…)",
                )
        known.add(each.name)
    stages = {s.name for s in application.stages}
    for output in application.outputs:
        if output.stage not in stages:
            raise UserError(f"{where}: output '{output.stage}' is not a stage", f"Stages: {', '.join(sorted(stages))}")
        for name in _keyword_only(output.oracle):
            if name not in application.parameters:
                raise UserError(f"{where}: the oracle of '{output.stage}' asks for undeclared parameter '{name}'")
    missing = [leaf for leaf in application.leaves() if leaf not in {o.stage for o in application.outputs}]
    if missing or not application.stages:
        raise UserError(
            f"{where}: leaf stage '{missing[0]}' has no output" if missing else f"{where} has no stages",
            "Every leaf needs an Output with an oracle: there is no figure without a verdict",
        )
    _check_required(application, where)
    for cut in application.cuts:
        if cut not in stages or cut in application.leaves():
            raise UserError(f"{where}: cannot cut after '{cut}'", "A cut follows a stage that another stage reads")


def _check_required(application: Application, where: str) -> None:
    for name, fields in application.required.items():
        if name not in application.inputs:
            raise UserError(f"{where}: required names '{name}', which is no input")
        known = [f.name for f in application.inputs[name].fields]
        for each in fields:
            if each not in known:
                raise unknown(f"field of '{name}'", each, known)
