"""The publishers of one trial: started, watched, and asked for their results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from streamgauge.lab.environment import Laboratory
from streamgauge.lab.inputs import InputEvents
from streamgauge.lab.job_process import JobProcess, StatusReader
from streamgauge.lab.publishing import check_published
from streamgauge.lab.warming import MOST_EVENTS
from streamgauge.load.process import PublisherProcess, progress_in
from streamgauge.load.specification import PublisherResult, PublisherSpec
from streamgauge.model import Load, LogError, Trial
from streamgauge.watch.sampler import Sampler


class Publication:
    """The publishers of one input, seen as one."""

    def __init__(self, processes: list[PublisherProcess]) -> None:
        self._processes = processes

    @property
    def pids(self) -> list[int]:
        """Their process ids."""
        return [each.pid for each in self._processes]

    @property
    def processes(self) -> Sequence[PublisherProcess]:
        """One for each share."""
        return tuple(self._processes)

    def replace(self, before: PublisherProcess, after: PublisherProcess) -> None:
        """Another publisher has taken the place of one of them."""
        self._processes[self._processes.index(before)] = after

    def ended(self) -> bool:
        """Whether all have ended."""
        return all(each.poll() is not None for each in self._processes)

    def failure(self) -> str | None:
        """What went wrong in one that has ended, if anything did."""
        ended = [each.result().error for each in self._processes if each.poll() is not None]
        return next((error for error in ended if error), None)

    def progress(self) -> tuple[int, float]:
        """Events published so far and the elapsed seconds of the slowest."""
        told = [each.progress() for each in self._processes]
        return sum(events for events, _ in told), min(elapsed_s for _, elapsed_s in told)

    def result(self) -> PublisherResult:
        """How the publishing went."""
        return PublisherResult.together([each.result() for each in self._processes])

    def stop(self) -> None:
        """End them."""
        for each in self._processes:
            each.stop()


class PlacePublication:
    """The publishers of one input inside the trial's own place."""

    def __init__(self, shares: list[PublisherSpec], status: StatusReader) -> None:
        self.pids: list[int] = []
        self._shares, self._status = shares, status
        self._results: list[PublisherResult] | None = None
        self._failure: str | None = None

    def ended(self) -> bool:
        """Whether the place has told how it went."""
        for said in self._status.new():
            if said["what"] == "published":
                self._results = [PublisherResult.from_dict(each) for each in said["results"]]
            elif said["what"] == "failed":
                self._failure = str(said["cause"])
        return self._results is not None or self._failure is not None

    def failure(self) -> str | None:
        """What went wrong, if anything did."""
        told = [each.error for each in self._results or [] if each.error]
        return self._failure or next(iter(told), None)

    def progress(self) -> tuple[int, float]:
        """Events published so far, as the publishers tell it in files of this machine."""
        told = [progress_in(each.progress_path) for each in self._shares]
        return sum(events for events, _ in told), min(elapsed_s for _, elapsed_s in told)

    def result(self) -> PublisherResult:
        """How the publishing went."""
        assert self._results is not None
        return PublisherResult.together(self._results)

    def stop(self) -> None:
        """They end with the job process."""


class TrialPublishers:
    """One publication for each input that is being published."""

    def __init__(
        self,
        lab: Laboratory,
        trial: Trial,
        events: Mapping[str, InputEvents],
        folder: Path,
        sampler: Sampler,
        warmup_s: float,
        longest_away_s: float = 0.0,
    ) -> None:
        self._lab, self._trial, self._events = lab, trial, events
        self._folder, self._sampler, self._warmup_s = folder, sampler, warmup_s
        # A log that is away on purpose is not lost.
        self._broker_timeout_s = PublisherSpec.broker_timeout_s + 2 * longest_away_s
        self._running: dict[str, Publication | PlacePublication] = {}
        self._labels: list[str] = []

    def start(self, name: str, topic: str, load: Load) -> None:
        """Publish the trial's events of an input; flat out and many, by as many publishers as it has shares."""
        shares = self._events[name].shares if load.job_starts_at_s is None else 1
        specs = self._specs(name, topic, load, self._trial.events, shares)
        self._running[name] = Publication([self._start(each, label) for label, each in specs.items()])
        for pid in self._running[name].pids:
            self._sampler.add("publisher", pid)
        self._labels += specs

    def start_at_place(self, name: str, topic: str, load: Load, process: JobProcess) -> None:
        """Publish the trial's events of an input from the workers of its place, a share of the partitions each."""
        specs = self._specs(name, topic, load, self._trial.events, self._events[name].partitions)
        shares = list(specs.values())
        status = process.publish(shares, self._folder / f"publishing-{name}.jsonl")
        self._running[name] = PlacePublication(shares, status)

    def start_cold(self, name: str, topic: str, load: Load, lasting_s: float) -> None:
        """Publish events for a pass whose outputs are thrown away, for so long at most."""
        events = min(max(1, math.ceil(load.events_by(lasting_s + (load.job_starts_at_s or 0.0)))), MOST_EVENTS)
        specs = self._specs(name, topic, load, events, 1, "cold-")
        self._running[name] = Publication([self._start(each, label) for label, each in specs.items()])

    def _specs(
        self, name: str, topic: str, load: Load, events: int, shares: int, prefix: str = ""
    ) -> dict[str, PublisherSpec]:
        """Label → what its publisher is told."""
        labels = [f"{prefix}{name}" + (f"-{share}" if share else "") for share in range(shares)]
        return {label: self._spec(name, topic, load, events, label, (n, shares)) for n, label in enumerate(labels)}

    def _spec(
        self, name: str, topic: str, load: Load, events: int, label: str, share: tuple[int, int]
    ) -> PublisherSpec:
        what = self._events[name]
        return PublisherSpec(
            stream=what.reference,
            seed=what.seed,
            malformed=what.malformed,
            required=what.required,
            share=share[0],
            shares=share[1],
            load=load.spelling,
            start_index=0,
            events=events,
            topic=topic,
            partitions=what.partitions,
            bootstrap=self._lab.cluster.bootstrap,
            kafka_config=self._lab.cluster.client_settings(),
            start_at_epoch_ns=0,
            judged_from_s=math.floor(self._warmup_s),
            result_path=str(self._folder / f"published-{label}.json"),
            lateness_path=str(self._lateness_path(label)),
            progress_path=str(self._folder / f"publishing-{label}.json"),
            broker_timeout_s=self._broker_timeout_s,
        )

    def _start(self, spec: PublisherSpec, label: str) -> PublisherProcess:
        publisher = PublisherProcess.start(spec, self._folder / f"publisher-{label}.log")
        self._lab.guard.watch(publisher.pid)
        return publisher

    def processes(self) -> list[PublisherProcess]:
        """All that publish, or did until they ended, in the order of the inputs; those at the place are its own."""
        return [each for publication in self._of_ours().values() for each in publication.processes]

    def _of_ours(self) -> dict[str, Publication]:
        return {name: each for name, each in self._running.items() if isinstance(each, Publication)}

    def start_again(self, number: int) -> int:
        """Let another publisher go on where the one of that number, counted from 1, was killed; its process id."""
        before = self.processes()[number - 1]
        name, publication = next((n, p) for n, p in self._of_ours().items() if before in p.processes)
        spec = replace(before.spec, resumes=True, start_at_epoch_ns=before.start_at_epoch_ns or 0)
        before.poll()
        self._lab.guard.release(before.pid)
        after = self._start(spec, f"{name}-again")
        publication.replace(before, after)
        self._sampler.add("publisher", after.pid)
        return after.pid

    def _lateness_path(self, label: str) -> Path:
        return self._folder / f"lateness-{label}.parquet"

    def lateness_paths(self) -> list[Path]:
        """The tables of lateness of the trial's own publishers."""
        return [self._lateness_path(label) for label in self._labels]

    def all_ended(self) -> bool:
        """Whether none is publishing any more."""
        return all(each.ended() for each in self._running.values())

    def raise_failure(self) -> None:
        """Raise what went wrong in a publisher that has ended."""
        for each in self._running.values():
            failure = each.failure()
            if failure:
                raise LogError(f"the publisher lost the log: {failure}", "Check the broker and run again")

    def elapsed_s(self) -> float:
        """How far the slowest is in its schedule."""
        return min((each.progress()[1] for each in self._running.values()), default=0.0)

    def published(self) -> int:
        """Events that they have published so far."""
        return sum(each.progress()[0] for each in self._running.values())

    def late_ms(self) -> float | None:
        """How late the latest of the newest events left; None where none of ours publishes by a schedule."""
        return max((each.late_ms() for each in self.processes()), default=None)

    def collect(self) -> dict[str, PublisherResult]:
        """Input → how its publishing went; raises where events are missing."""
        found: dict[str, PublisherResult] = {}
        for name, each in self._running.items():
            found[name] = each.result()
            self._release(each)
            check_published(found[name], self._trial.events)
        self.forget()
        return found

    def forget(self) -> None:
        """They have ended and nobody asks how."""
        self._running.clear()

    def stop(self) -> None:
        """End those that are running."""
        for each in self._running.values():
            each.stop()
            self._release(each)

    def _release(self, publication: Publication | PlacePublication) -> None:
        for pid in publication.pids:
            self._lab.guard.release(pid)
