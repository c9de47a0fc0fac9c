"""The conductor's side of a job process: start it, give it jobs, hear what it says, end it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from streamgauge.engines.execution import ExecutableEngine, Offsets
from streamgauge.lab.warming import Warmth
from streamgauge.load.specification import PublisherSpec
from streamgauge.model import EngineError, UserError
from streamgauge.model.errors import EXIT_USER
from streamgauge.model.job import Job
from streamgauge.paradigms.keeping import KeptFiles
from streamgauge.provision.class_archive import ending_grace_s
from streamgauge.provision.guard import Guard
from streamgauge.provision.java import find_java
from streamgauge.provision.processes import end_process, put_job_behind, start_child

READY_TIMEOUT_S = 120.0
EXIT_GRACE_S = 1.0
FORGET_S = 30.0


class StatusReader:
    """Reads a status file as it grows, a JSON object per line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0

    def new(self) -> list[dict[str, Any]]:
        """What was written since the last call, whole lines only."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._position)
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._position += len(whole)
        return [json.loads(line) for line in whole.splitlines()]


class JobHandle:
    """One job in a job process, as far as it has told."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._reader = StatusReader(Path(job.status_path))
        self.started: dict[str, Any] | None = None
        self.committed: dict[str, Offsets] = {}
        self.commits: list[tuple[int, dict[str, Offsets]]] = []
        """When it had committed what, in the order in which it told."""
        self.progress: list[dict[str, Any]] = []
        self.samples: list[dict[str, Any]] = []
        self.decisions: list[dict[str, Any]] = []
        self.left: dict[str, Any] = {}
        """What is known of the stopped job beside its outputs."""
        self.stopped = False
        self.failure: dict[str, Any] | None = None

    def hear(self) -> None:
        """Take in what the job has said since."""
        for said in self._reader.new():
            match said["what"]:
                case "started":
                    self.started = said
                case "committed":
                    self.committed = {
                        query: {topic: {int(p): o for p, o in parts.items()} for topic, parts in topics.items()}
                        for query, topics in said["offsets"].items()
                    }
                    self.commits.append((said["at_ms"], self.committed))
                case "progress":
                    self.progress.append(said["progress"])
                case "sample":
                    self.samples.append(said["sample"])
                case "decision":
                    self.decisions.append(said["decision"])
                case "stopped":
                    self.stopped, self.left = True, said.get("left") or {}
                case "failed":
                    self.failure = said

    @property
    def attempts(self) -> list[JobHandle]:
        """Itself: a job that is supervised may have several."""
        return [self]

    @property
    def keeps(self) -> KeptFiles:
        """Where it keeps what it saw, decided and did by itself."""
        return KeptFiles.from_dict((self.started or {}).get("keeps") or {})

    def raise_failure(self) -> None:
        """Raise what made the job fail, if it did."""
        if self.failure:
            kind = UserError if self.failure["exit_code"] == EXIT_USER else EngineError
            raise kind(self.failure["cause"], self.failure["way_out"])

    def consumed(self, end_offsets: Callable[[str], dict[int, int]]) -> bool:
        """Whether every query has committed all that its topics hold now, heads before tails."""
        if self.started is None:
            return False
        for query, topics in self.started["reads"].items():
            for topic in topics:
                done = self.committed.get(query, {}).get(topic, {})
                if any(done.get(p, 0) < end for p, end in end_offsets(topic).items()):
                    return False
        return True


class JobProcess:
    """A job process with a warm engine, and the jobs that it has run."""

    def __init__(self, engine: ExecutableEngine, master: str, settings: Mapping[str, str], folder: Path) -> None:
        self.engine = engine
        self.warmth = Warmth()
        self.jobs = 0
        self.facts: dict[str, Any] = {}
        self._folder = folder
        self._master = master
        self._settings = dict(settings)
        self._slots = 0.0
        self._forgotten: dict[str, str] = {}
        self._reader = StatusReader(folder / "session.jsonl")
        self._child: subprocess.Popen[Any] | None = None
        self._guard: Guard | None = None

    def start(self, guard: Guard, jars: list[Path]) -> None:
        """Start the process and return when its engine is ready for a job."""
        self._guard = guard
        session_file = self._write_session(jars)
        environment = {**os.environ, **find_java().environment(), "SPARK_LOCAL_IP": "127.0.0.1"}
        environment.pop("SPARK_HOME", None)
        log: BinaryIO = (self._folder / "job.log").open("wb")
        with log:
            self._child = start_child(
                self.engine.job_command(str(session_file)),
                guard,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                environment=environment,
                folder=self._folder,
            )
        put_job_behind(self._child.pid)
        deadline = time.monotonic() + READY_TIMEOUT_S
        while not self.facts:
            self._hear()
            if not self.alive():
                raise EngineError(f"{self.engine.name} did not start: {self.last_words()}", f"See {self.kept_log()}")
            if time.monotonic() > deadline:
                raise EngineError(f"{self.engine.name} was not ready in {READY_TIMEOUT_S:.0f} s: {self.last_words()}")
            time.sleep(0.05)

    def _hear(self) -> None:
        for said in self._reader.new():
            match said["what"]:
                case "ready":
                    self.facts = said
                case "forgotten":
                    self._forgotten[said["location"]] = said.get("problem", "")
            if "slots" in said:
                self._slots = math.inf if said["slots"] is None else said["slots"]

    def slots(self) -> float:
        """Task slots that the engine has; 0 while a job runs or before it has told, no limit where it cannot tell."""
        self._hear()
        return self._slots

    def _write_session(self, jars: list[Path]) -> Path:
        self._folder.mkdir(parents=True)
        session = {
            "engine": self.engine.name,
            "master": self._master,
            "settings": self._settings,
            "jars": [str(jar) for jar in jars],
            "folder": str(self._folder / "spark"),
            "status_path": str(self._folder / "session.jsonl"),
        }
        path = self._folder / "session.json"
        path.write_text(json.dumps(session, indent=2))
        return path

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._child is not None
        return self._child.pid

    def alive(self) -> bool:
        """Whether the process is there."""
        return self._child is not None and self._child.poll() is None

    def run(self, job: Job) -> JobHandle:
        """Give the process a job; the handle tells when it has started."""
        return self._give("start", job)

    def characterize(self, job: Job) -> JobHandle:
        """Let the process run the cuts of a job's application; the handle has stopped when the last sample is told."""
        return self._give("characterize", job)

    def publish(self, shares: list[PublisherSpec], status_path: Path) -> StatusReader:
        """Let the process publish shares of an input; the status tells `published` or `failed`."""
        path = status_path.with_suffix(".shares.json")
        path.write_text(json.dumps({"shares": [asdict(each) for each in shares], "status_path": str(status_path)}))
        self._say(f"publish {path}")
        return StatusReader(status_path)

    def _give(self, verb: str, job: Job) -> JobHandle:
        self.jobs += 1
        self._hear()
        self._slots = 0.0
        path = self._folder / f"job-{self.jobs}.json"
        job.write(path)
        self._say(f"{verb} {path}")
        return JobHandle(job)

    def stop_job(self) -> None:
        """Tell the process to stop the job that it runs."""
        self._say("stop")

    def forget(self, location: str) -> str:
        """Let the process remove checkpoints that only it reaches; what kept it from doing so, or an empty text."""
        self._say(f"forget {location}")
        deadline = time.monotonic() + FORGET_S
        while location not in self._forgotten:
            self._hear()
            if not self.alive() or time.monotonic() > deadline:
                return "the job process did not answer"
            time.sleep(0.05)
        return self._forgotten.pop(location)

    def end(self) -> None:
        """End the process and its JVM; all that they wrote lies in the work folder, so nothing is waited for."""
        if self._child is None:
            return
        end_process(self._child, ending_grace_s(EXIT_GRACE_S), self._guard)
        if self._child.stdin:
            with contextlib.suppress(OSError):
                self._child.stdin.close()

    def kept_log(self) -> Path:
        """Where the process writes its log."""
        return self._folder / "job.log"

    def last_words(self) -> str:
        """The last line of its log that says what went wrong."""
        if not self.kept_log().exists():
            return "it wrote no log"
        lines = self.kept_log().read_text(errors="replace").splitlines()
        said = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith(("at ", "..."))]
        errors = [line for line in said if "Error" in line or "Exception" in line or "ERROR" in line]
        return (errors or said or ["it wrote nothing"])[-1][:300]

    def _say(self, line: str) -> None:
        assert self._child is not None and self._child.stdin is not None
        try:
            self._child.stdin.write(f"{line}\n".encode())
            self._child.stdin.flush()
        except OSError:
            raise EngineError(f"the job process of {self.engine.name} died: {self.last_words()}") from None
