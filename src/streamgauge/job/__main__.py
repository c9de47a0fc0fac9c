"""Entry point of the job process: `python -m streamgauge.job SESSION.json`.

It reads commands from standard input, a line each: `start JOB.json`, `stop`, `characterize JOB.json`,
`publish SHARES.json`, `exit`. The end of standard input means that the conductor is gone: the process ends itself and
its JVM.

It imports no application and no engine but its own: an engine may run it in an environment that lacks what they need.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import sys
import threading
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from streamgauge.engines import get_engine
from streamgauge.model import EngineError, StreamgaugeError
from streamgauge.model.job import Job

if TYPE_CHECKING:
    from streamgauge.engines.execution import RunningJob

POLL_S = 0.1
_UNTOLD = object()
PROGRESS_EVERY_S = 0.5


class Status:
    """Appends what happens to a file, a JSON object per line."""

    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("a", buffering=1)

    def say(self, what: str, **details: object) -> None:
        """Write one line with the wall clock in milliseconds."""
        self._file.write(json.dumps({"what": what, "at_ms": time.time_ns() // 1_000_000, **details}) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class JobProcess:
    """One session of an engine that runs one job at a time."""

    def __init__(self, session_file: Path) -> None:
        given = json.loads(session_file.read_text())
        self._status = Status(Path(given["status_path"]))
        self._session = get_engine(given["engine"]).open(given)
        self._running: RunningJob | None = None
        self._job_status: Status | None = None
        self._committed: object = None
        self._next_progress_at = 0.0
        self._slots: object = self._session.slots()
        self._status.say("ready", **self._session.facts, slots=self._slots)

    def start(self, job_file: Path) -> None:
        """Start the job of a file and report how that went in the job's own status file."""
        job = Job.read(job_file)
        self._job_status = Status(Path(job.status_path))
        try:
            self._running = running = self._session.start(job)
            told = {"starting_ms": running.starting_ms, "reads": running.reads(), "keeps": running.keeps()}
            self._job_status.say("started", **told)
        except Exception as error:
            self._failed(error)

    def characterize(self, job_file: Path) -> None:
        """Run the cuts of a job's application to their end, every sample a line in the job's own status file."""
        job = Job.read(job_file)
        self._job_status = Status(Path(job.status_path))
        try:
            for sample in self._session.characterize(job):
                self._job_status.say("sample", sample=sample)
            self._job_status.say("stopped")
            self._end_job()
        except Exception as error:
            self._failed(error)

    def publish(self, shares_file: Path) -> None:
        """Publish the shares that a file names; how it went is a line in the file's own status file."""
        from streamgauge.load.specification import PublisherSpec

        given = json.loads(shares_file.read_text())
        self._job_status = Status(Path(given["status_path"]))
        try:
            shares = [PublisherSpec.from_dict(each) for each in given["shares"]]
            found = self._session.publish(shares)
            self._job_status.say("published", results=[asdict(each) for each in found])
            self._end_job()
        except Exception as error:
            self._failed(error)

    def look(self) -> None:
        """Poll; what goes wrong in it fails the job, not the process."""
        if self._running is None:
            self._look_at_slots()
            return
        try:
            self.poll()
        except Exception as error:
            self._failed(error)

    def _look_at_slots(self) -> None:
        """Between jobs, whose measured path this would lie in, tell how many task slots there are.

        A session that cannot say it has ended, and no job can be started in it any more: the process ends too.
        """
        try:
            slots = self._session.slots()
        except Exception as error:
            traceback.print_exception(error, file=sys.stderr)
            raise SystemExit(1) from None
        if slots != self._slots:
            self._slots = slots
            self._status.say("slots", slots=slots)

    def poll(self) -> None:
        """Report commits as they happen, progress now and then, and a query that died."""
        if self._running is None or self._job_status is None:
            return
        committed = self._running.committed()
        if committed != self._committed:
            self._committed = committed
            self._job_status.say("committed", offsets=committed)
        self._tell_decisions()
        now = time.monotonic()
        if now >= self._next_progress_at:
            self._next_progress_at = now + PROGRESS_EVERY_S
            for progress in self._running.new_progress():
                self._job_status.say("progress", progress=progress)
            failure = self._running.failure()
            if failure:
                self._failed(failure)

    def _tell_decisions(self) -> None:
        if self._running is not None and self._job_status is not None:
            for decision in self._running.new_decisions():
                self._job_status.say("decision", decision=decision)

    def _failed(self, error: BaseException | str) -> None:
        assert self._job_status is not None
        known = error if isinstance(error, StreamgaugeError) else EngineError(str(error))
        self._job_status.say("failed", cause=known.cause, way_out=known.way_out, exit_code=known.exit_code)
        if isinstance(error, BaseException):
            traceback.print_exception(error, file=sys.stderr)
        self._end_job()

    def stop(self) -> None:
        """Stop the job that runs, after a last look at what it committed."""
        if self._running is not None and self._job_status is not None:
            self.poll()
        if self._running is not None and self._job_status is not None:
            for progress in self._running.new_progress():
                self._job_status.say("progress", progress=progress)
            self._running.stop()
            self._tell_decisions()
            self._job_status.say("stopped", left=self._running.left_behind())
        self._end_job()

    def _end_job(self) -> None:
        if self._running is not None:
            self._running.stop()
        if self._job_status is not None:
            self._job_status.close()
        self._running = self._job_status = self._committed = None
        # The conductor does not trust what it was told before the job.
        self._slots = _UNTOLD

    def forget(self, location: str) -> None:
        """Remove the checkpoints at a location that only the session reaches, and say how that went."""
        self.stop()
        try:
            self._session.forget(location)
            self._status.say("forgotten", location=location)
        except Exception as error:
            self._status.say("forgotten", location=location, problem=str(error).partition("\n")[0][:300])

    def close(self) -> None:
        """Stop everything; a JVM that does not end in time is killed by whoever started this process."""
        self.stop()
        self._session.close()
        self._status.say("closed")


def _serve(process: JobProcess) -> None:
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    descriptor, waiting = sys.stdin.fileno(), b""
    while True:
        if selector.select(timeout=POLL_S):
            read = os.read(descriptor, 65536)
            if not read:
                return
            waiting += read
            *lines, waiting = waiting.split(b"\n")
            for line in lines:
                verb, _, rest = line.decode().partition(" ")
                if verb == "start":
                    process.start(Path(rest))
                elif verb == "stop":
                    process.stop()
                elif verb == "characterize":
                    process.characterize(Path(rest))
                elif verb == "publish":
                    process.publish(Path(rest))
                elif verb == "forget":
                    process.forget(rest)
                elif verb == "exit":
                    return
        process.look()


def _end_for_certain_after(seconds: float) -> None:
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()


def main() -> None:
    """Serve commands until told to exit or the conductor is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    process = JobProcess(Path(sys.argv[1]))
    try:
        _serve(process)
    finally:
        _end_for_certain_after(10)
        process.close()


if __name__ == "__main__":
    main()
