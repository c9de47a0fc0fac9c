"""The dual-paradigm engine as a value: the two Spark engines that it moves segments between, its settings, its pins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamgauge.engines.spark import parallelism
from streamgauge.engines.spark.engine import SparkEngine
from streamgauge.model import Application, Emits, Gap, UserError, unknown
from streamgauge.model.application import DEFAULT_VARIANT, Stage
from streamgauge.model.units import parse_duration_s
from streamgauge.paradigms.calibration import Calibration
from streamgauge.paradigms.paradigm import Paradigm
from streamgauge.paradigms.range import choose_cuts
from streamgauge.paradigms.settings import Objective, SchedulerSettings

if TYPE_CHECKING:
    from streamgauge.engines.execution import RunningJob
    from streamgauge.model.job import Job

PINNED = "pinned."
AUTO, NONE = "auto", "none"
PIN_WORDS = {"data": Paradigm.DATA_STREAM, "operation": Paradigm.OPERATION_STREAM}
OWN_PRODUCER = {
    "kafka.client.id": "streamgauge-standby",
    "kafka.linger.ms": "20",
    "kafka.request.timeout.ms": "4000",
    "kafka.delivery.timeout.ms": "5000",
}
"""A standby's, over the sink's options. Queries of one process with the same options share a producer, and a batch is
over when all is sent that its producer holds: what a stopped standby still had for a topic that was gone held the
micro-batch of a switch up for 75 s, until Kafka's two minutes of delivery were over."""


@dataclass(frozen=True)
class PlannedSegment:
    """A segment before it runs: one query, its stages, and the paradigm that it must stay in with the reason."""

    name: str
    """Its last stage."""
    query: str
    stages: tuple[str, ...]
    pinned: Paradigm | None = None
    reason: str = ""


@dataclass(frozen=True)
class AdaptiveEngine(SparkEngine):
    """Runs every segment as data stream or operation stream, on one checkpoint."""

    data: SparkEngine = field(kw_only=True)
    operation: SparkEngine = field(kw_only=True)

    def paradigm(self, which: Paradigm) -> SparkEngine:
        """The engine that a paradigm is."""
        return self.data if which is Paradigm.DATA_STREAM else self.operation

    def source_options_in(self, paradigm: Paradigm, values: Mapping[str, str]) -> dict[str, str]:
        """Options of the Kafka source in a paradigm: this engine's over the paradigm's own."""
        return {**self.paradigm(paradigm).source, **self.source_options(values)}

    def sink_options_in(self, paradigm: Paradigm, values: Mapping[str, str], standby: bool = False) -> dict[str, str]:
        """Options of the Kafka sink in a paradigm; a standby has a producer of its own."""
        options = {**self.paradigm(paradigm).sink, **self.sink_options(values)}
        return {**options, **OWN_PRODUCER} if standby else options

    def gap(self, application: Application) -> Gap | None:
        """None where either paradigm can run the application; a segment that only one can run is pinned to it."""
        if self.data.gap(application) is None:
            return None
        return self.operation.gap(application)

    def knows(self, setting: str) -> bool:
        """Whether this engine has a setting of that name."""
        return setting.startswith(PINNED) or super().knows(setting)

    def resolve(self, given: Mapping[str, str]) -> dict[str, str]:
        """All engine settings with the user's over the defaults; an unknown one is an error."""
        values = super().resolve(given)
        self.operation.trigger(values)
        self.scheduling(values)
        pins(values)
        parse_duration_s(values["repeats-within"])
        if values["rehearse"]:
            parse_duration_s(values["rehearse"])
        if values["standby"] not in ("on", "off"):
            raise UserError(f"standby is on or off, not '{values['standby']}'")
        return values

    def scheduling(self, values: Mapping[str, str]) -> SchedulerSettings:
        """The settings of the scheduler; stages are pinned by the plan."""
        try:
            delta = float(values["delta"])
        except ValueError:
            raise UserError(f"delta is a number, not '{values['delta']}'", "Write it like delta=0.2") from None
        return SchedulerSettings(
            delta=delta,
            dwell_s=parse_duration_s(values["dwell"]),
            objective=Objective.parse(values["objective"]) if values["objective"] else None,
        )

    def calibration(self, values: Mapping[str, str]) -> Calibration | None:
        """The calibration that was given, or None."""
        if not values.get("calibration"):
            return None
        path = Path(values["calibration"])
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(
                f"the calibration {path} cannot be read: {error}", "streamgauge calibrate APPLICATION makes one"
            ) from None
        return Calibration.from_dict(document, str(path))

    def cut(self, application: Application, given: Mapping[str, str]) -> Application:
        """The application with the cuts that the settings ask for."""
        values = self.resolve(given)
        wanted = values["cuts"].strip()
        if wanted == NONE:
            return replace(application, cuts=())
        if wanted != AUTO:
            names = tuple(filter(None, (each.strip() for each in wanted.split(","))))
            for name in names:
                application.stage(name)
            return replace(application, cuts=names)
        calibration = self.calibration(values)
        if application.cuts or calibration is None or not is_chain(application):
            return application
        known = {s.name: calibration.magnifications().get(s.name, 1.0) for s in application.stages}
        rows = [s.name for s in application.stages if s.emits is Emits.ROWS]
        return replace(application, cuts=choose_cuts(known, allowed=rows))

    def plan(
        self, application: Application, given: Mapping[str, str]
    ) -> tuple[Application, tuple[PlannedSegment, ...]]:
        """The application, cut and with its variants, and its segments in order."""
        whole = self.cut(application.with_variants(_variants_left(application, given)), given)
        wishes = pins(given)
        for name in wishes:
            whole.stage(name)
        variants: dict[str, str] = {}
        segments = []
        for query, stages in parallelism.stages_of_queries(whole).items():
            pinned, reason = self._pin([whole.stage(name) for name in stages], wishes)
            for name in stages:
                variants.setdefault(name, self._chosen(whole.stage(name), pinned) or DEFAULT_VARIANT)
            segments.append(PlannedSegment(stages[-1], query, tuple(stages), pinned, reason))
        return whole.with_variants(variants), tuple(segments)

    def _pin(self, stages: list[Stage], wishes: Mapping[str, Paradigm]) -> tuple[Paradigm | None, str]:
        """The paradigm that stages in one query must stay in, and why; None where they may change."""
        wanted = {wishes[s.name]: s.name for s in stages if s.name in wishes}
        if len(wanted) > 1:
            first, second = list(wanted.values())[:2]
            raise UserError(
                f"'{first}' and '{second}' are pinned to different paradigms, but run in one segment",
                f"Cut between them: cuts={first}",
            )
        for paradigm, name in wanted.items():
            lacking = next((s for s in stages if self._chosen(s, paradigm) is None), None)
            if lacking is not None:
                raise UserError(f"'{name}' cannot be pinned to the {paradigm.value}: {self._why(lacking, paradigm)}")
            return paradigm, "pinned by the user"
        stuck = [s for s in stages if self._chosen(s, None) is None]
        if not stuck:
            return None, ""
        for paradigm in Paradigm:
            if all(self._chosen(s, paradigm) is not None for s in stages):
                return paradigm, self._why(stuck[0], paradigm.other)
        raise UserError(
            f"neither paradigm can run {', '.join(s.name for s in stages)} in one segment", "Part them with cuts=STAGE"
        )

    def _chosen(self, stage: Stage, pinned: Paradigm | None) -> str | None:
        """The first variant that the paradigm, or where none is named both, can run."""
        engines = [self.data, self.operation] if pinned is None else [self.paradigm(pinned)]
        lacking = {feature for engine in engines for feature in engine.missing}
        for name in (DEFAULT_VARIANT, *stage.variants):
            if not stage.using_variant(name).uses & lacking:
                return name
        return None

    def _why(self, stage: Stage, paradigm: Paradigm) -> str:
        missing = self.paradigm(paradigm).missing
        for variant in (DEFAULT_VARIANT, *stage.variants):
            for feature in sorted(stage.using_variant(variant).uses):
                if feature in missing:
                    return f"stage '{stage.name}' uses {feature}: {missing[feature].reason}"
        return f"stage '{stage.name}' has no variant that both paradigms can run"

    def fitted(self, application: Application, given: Mapping[str, str]) -> Application:
        """The application as it runs: cut, each stage in the variant that its segment's paradigms can run."""
        return self.plan(application, given)[0]

    def variants(self, application: Application, given: Mapping[str, str]) -> dict[str, str]:
        """Stage → the variant that runs, for the stages that have a choice."""
        _, segments = self.plan(application, given)
        chosen = {k.removeprefix("variant."): v for k, v in given.items() if k.startswith("variant.")}
        pinned = {name: segment.pinned for segment in segments for name in segment.stages}
        found = {
            s.name: self._chosen(s, pinned.get(s.name)) or DEFAULT_VARIANT for s in application.stages if s.variants
        }
        return {**found, **chosen}

    def slots_needed(self, application: Application, partitions: int, given: Mapping[str, str]) -> int:
        """Those of all segments as data streams, and of one batch more: that of a standby."""
        whole = self.fitted(application, given)
        shuffle = self.shuffle_partitions(application, given)
        return super().slots_needed(whole, partitions, {**given, "cuts": AUTO}) + max(partitions, *shuffle.values())

    def running(self, session: Any, application: Application, job: Job) -> RunningJob:
        """The job, not yet started."""
        from streamgauge.engines.spark.adaptive_running import AdaptiveRunningJob

        return AdaptiveRunningJob(session, self, application, job)


def _variants_left(application: Application, given: Mapping[str, str]) -> dict[str, str]:
    """The variants that the user chose, of the stages that still have a choice."""
    chosen = {k.removeprefix("variant."): v for k, v in given.items() if k.startswith("variant.")}
    return {name: variant for name, variant in chosen.items() if application.stage(name).variants}


def is_chain(application: Application) -> bool:
    """Whether every stage reads the one before it, tables apart: only then is there an order of segments."""
    before: str | None = None
    for stage in application.stages:
        reads = [name for name in stage.reads if name not in application.tables]
        if before is not None and reads != [before]:
            return False
        before = stage.name
    return True


def pins(values: Mapping[str, str]) -> dict[str, Paradigm]:
    """Stage → the paradigm that `pinned.STAGE=data` or `=operation` keeps it in."""
    found: dict[str, Paradigm] = {}
    for name, word in values.items():
        if name.startswith(PINNED):
            if word not in PIN_WORDS:
                raise unknown("paradigm", word, list(PIN_WORDS))
            found[name.removeprefix(PINNED)] = PIN_WORDS[word]
    return found
