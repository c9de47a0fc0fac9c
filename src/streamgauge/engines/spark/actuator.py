"""The scheduler's hands on Spark: segments are started, looked at, and moved between real time and micro-batches.

Prepare, switch, run (DO5): the new query is built while the old one still runs; the old one is stopped, at a boundary
of its batches or at once; the new one is started on the same checkpoint. All other segments run on meanwhile, and what
arrives lies in the topic before the segment.

What is taken for granted of Spark stands here and in `live_segment.py`:
- a checkpoint with RocksDB, changelog and state format 2 can be continued in the other mode;
- `stop()` returns when the query has ended, and may come at any moment: what was not committed is done again;
- a real-time query reads its input when a task of its job group runs, a micro-batch query when it is past starting;
- a batch writes in tasks of jobs that are counted when they are submitted: one without a job has written nothing.

A micro-batch that was broken off may have written some of its outputs. Done again as a micro-batch it writes the same
once more; the data stream would write values that come before them, out of order. So the way back waits for a
boundary, and a batch whose job was begun in the moment of the stop is done to its end before the data stream starts.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from streamgauge.engines.spark.checkpoint_paths import checkpoint_path
from streamgauge.engines.spark.checkpoints import newest_commit, running_batch
from streamgauge.engines.spark.live_segment import LiveSegment, SwitchDone, began
from streamgauge.engines.spark.observing import Observer
from streamgauge.engines.spark.running import first_line
from streamgauge.model import EngineError
from streamgauge.paradigms.actuator import Observation, Order
from streamgauge.paradigms.paradigm import How, Paradigm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

READY_TIMEOUT_S = 60.0
LONGEST_DRAIN_S = 30.0
"""A boundary that does not come within this is not waited for any more."""
LOOK_S = 0.02
SHARP_LOOK_S = 0.002
"""The next micro-batch is planned some ten milliseconds after a boundary."""

_say = logging.getLogger("streamgauge.adaptive")


class SparkActuator:
    """Runs the segments of one chain; `drive` calls `observe` and `switch` from one thread."""

    def __init__(
        self,
        session: SparkSession,
        segments: Sequence[LiveSegment],
        observer: Observer,
        before_start: Callable[[LiveSegment], None] = lambda _: None,
        on_switch: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> None:
        self.segments = list(segments)
        self.done: list[SwitchDone] = []
        """Switches that were carried out, in order."""
        self._session = session
        self._observer = observer
        self._before_start = before_start
        self._on_switch = on_switch
        self._starting = threading.Lock()
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self._failure: str | None = None

    def start(self, bound: int | None = None) -> None:
        """Start every segment in its first paradigm and return when all of them read."""
        for segment in self.segments:
            if segment.paradigm is Paradigm.DATA_STREAM:
                self._finish_batch(segment)
            segment.begin(self._start(segment, segment.prepared.take(segment.paradigm, bound)), segment.paradigm)
            segment.warm[segment.paradigm] = True
        for segment in self.segments:
            assert segment.handle is not None
            self._wait_until_reading(segment, segment.handle, segment.paradigm)

    def observe(self) -> Observation:
        """What can be seen now."""
        return self._observer.observe()

    def prepare(self, order: Order) -> None:
        """Have the query of such an order ready."""
        segment = next(each for each in self.segments if each.name == order.segment)
        if segment.pinned is None and not segment.changing and not self._closing.is_set():
            segment.prepared.prepare(order.paradigm, order.max_records_per_batch)
            if order.paradigm is Paradigm.DATA_STREAM:
                segment.finishing.prepare(Paradigm.OPERATION_STREAM, None)

    def switch(self, order: Order) -> None:
        """Begin a switch; a segment that is changing already is left alone."""
        segment = next(each for each in self.segments if each.name == order.segment)
        with segment.lock:
            held = segment.changing or segment.paradigm is order.paradigm or segment.pinned is not None
            if held or self._closing.is_set():
                _say.warning("%s: an order to %s is not carried out", segment.name, order.paradigm.value)
                return
            segment.changing = True
        thread = threading.Thread(
            target=self._change, args=(segment, order), name=f"switch-{segment.name}", daemon=True
        )
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()

    def failure(self) -> str | None:
        """Why a segment has ended by itself, or None."""
        if self._failure is not None:
            return self._failure
        return next(filter(None, (segment.failure for segment in self.segments)), None)

    def stop(self) -> None:
        """Wait for switches that are going on, and stop every query."""
        self._closing.set()
        for thread in self._threads:
            thread.join(READY_TIMEOUT_S)
        for segment in reversed(self.segments):
            with segment.lock:
                if segment.handle is not None and segment.handle.isActive:
                    segment.switching = True  # It is not to be taken for a query that ended by itself.
                    segment.handle.stop()

    def _change(self, segment: LiveSegment, order: Order) -> None:
        before = segment.paradigm
        try:
            self._carry_out(segment, order)
        except Exception as error:
            _say.exception("%s could not be switched to %s", segment.name, order.paradigm.value)
            self._return_to(segment, before, f"it cannot run as {order.paradigm.value}: {first_line(error)}")
        finally:
            with segment.lock:
                segment.changing = segment.switching = False

    def _carry_out(self, segment: LiveSegment, order: Order) -> None:
        ordered_s = time.time()
        writer = segment.prepared.take(order.paradigm, order.max_records_per_batch)
        prepared_s = time.time()
        jobs_by_then = self._wait_for_boundary(segment) if order.how is How.DRAIN else None
        with segment.lock:
            warm, old = segment.warm[order.paradigm], segment.handle
            segment.switching = True
        stopped_s = time.time()
        self._on_switch(began(segment.name, order.paradigm, order.how, stopped_s))
        assert old is not None
        old.stop()
        ended_s = time.time()
        with segment.lock:
            # Before `begin`: what the old query told last is the old paradigm's.
            self._observer.take(segment)
            segment.paradigm = order.paradigm
        untouched = jobs_by_then is not None and jobs_begun(self._session) == jobs_by_then
        finished = order.paradigm is Paradigm.DATA_STREAM and not untouched and self._finish_batch(segment)
        handle = self._start(segment, writer)
        started_s = time.time()
        segment.begin(handle, order.paradigm)
        self._wait_until_reading(segment, handle, order.paradigm)
        segment.warm[order.paradigm] = True
        done = SwitchDone(
            segment.name,
            order.paradigm,
            order.how,
            ordered_s,
            prepared_s,
            stopped_s,
            ended_s,
            started_s,
            time.time(),
            warm,
            finished,
        )
        self._note(done)
        _say.info("%s", done)

    def _note(self, done: SwitchDone) -> None:
        self.done.append(done)
        self._on_switch({"what": "done", **done.as_dict()})

    def _return_to(self, segment: LiveSegment, paradigm: Paradigm, why: str) -> None:
        """The new query did not start: run the old paradigm again, and never leave it any more."""
        now_s = time.time()
        try:
            if segment.handle is not None and segment.handle.isActive:
                segment.handle.stop()
            if paradigm is Paradigm.DATA_STREAM:
                self._finish_batch(segment)
            handle = self._start(segment, segment.prepared.take(paradigm, None))
            segment.begin(handle, paradigm)
            self._wait_until_reading(segment, handle, paradigm)
            segment.pinned = paradigm
            instants = (now_s, now_s, now_s, now_s, now_s, time.time())
            self._note(SwitchDone(segment.name, paradigm, How.REPLAY, *instants, warm=False, failure=why))
        except Exception as error:
            self._failure = f"segment '{segment.name}': {why}; and not as {paradigm.value} again: {first_line(error)}"

    def _start(self, segment: LiveSegment, writer: DataStreamWriter) -> StreamingQuery:
        with self._starting:
            # A query takes a copy of the session's configuration when it starts.
            self._before_start(segment)
            return writer.start()

    def _finish_batch(self, segment: LiveSegment) -> bool:
        """Do a micro-batch that was planned and not committed to its end, alone; whether there was one."""
        if running_batch(checkpoint_path(self._session, segment.checkpoint)) is None:
            return False
        handle = self._start(segment, segment.finishing.take(Paradigm.OPERATION_STREAM, None))
        if not self._wait(lambda: not handle.isActive, READY_TIMEOUT_S):
            handle.stop()
            raise EngineError(f"query '{segment.query}' did not finish a batch within {READY_TIMEOUT_S:.0f} s")
        if handle.isActive:
            handle.stop()  # All is being closed: whoever starts next finishes it.
        elif handle.exception() is not None:
            raise EngineError(f"query '{segment.query}' could not finish a batch: {first_line(handle.exception())}")
        return True

    def _wait_for_boundary(self, segment: LiveSegment) -> int | None:
        """Return just after a batch was committed, or at once where none is running.

        Gives the number of jobs that had been begun when it was not committed yet: as long as there are no more, the
        batch after it has written nothing. None where that is not known.
        """
        folder, handle = segment.folder, segment.handle
        assert handle is not None
        if folder is None:
            self._wait(lambda: progress_moved(segment), LONGEST_DRAIN_S)
            return None
        if segment.paradigm is Paradigm.OPERATION_STREAM and running_batch(folder) is None:
            return None
        # Jobs are counted before each look: one that comes late must not take a job of the next batch for one before.
        jobs, before = jobs_begun(self._session), newest_commit(folder)

        def passed() -> bool:
            nonlocal jobs
            counted = jobs_begun(self._session)
            if newest_commit(folder) != before:
                return True
            jobs = counted
            return not handle.isActive

        self._wait(passed, LONGEST_DRAIN_S, SHARP_LOOK_S)
        return jobs if newest_commit(folder) != before else None

    def _wait_until_reading(self, segment: LiveSegment, handle: StreamingQuery, paradigm: Paradigm) -> None:
        def ended_or_reading() -> bool:
            return not handle.isActive or is_reading(self._session, handle, paradigm)

        if not self._wait(ended_or_reading, READY_TIMEOUT_S):
            raise EngineError(f"query '{segment.query}' was not running after {READY_TIMEOUT_S:.0f} s")
        if not handle.isActive and not self._closing.is_set():
            raise EngineError(f"query '{segment.query}' ended: {first_line(handle.exception())}")

    def _wait(self, until: Callable[[], bool], timeout_s: float, look_s: float = LOOK_S) -> bool:
        deadline = time.monotonic() + timeout_s
        while not until():
            if time.monotonic() > deadline:
                return False
            if self._closing.wait(look_s):
                return True
        return True


def is_reading(session: SparkSession, handle: StreamingQuery, paradigm: Paradigm) -> bool:
    """Whether a started query takes records in."""
    if paradigm is Paradigm.OPERATION_STREAM:
        return not str(handle.status["message"]).startswith("Initializing")
    tracker: Any = session.sparkContext.statusTracker()
    for job in tracker.getJobIdsForGroup(str(handle.runId)):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            told = tracker.getStageInfo(stage)
            if told is not None and told.numActiveTasks > 0:
                return True
    return False


def jobs_begun(session: SparkSession) -> int:
    """How many jobs have been submitted in this session's Spark, those of other queries among them."""
    return int(session.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def progress_moved(segment: LiveSegment) -> bool:
    """Whether a query, whose checkpoint cannot be looked into, has told of a batch since it was last asked."""
    assert segment.handle is not None
    last = segment.handle._jsq.lastProgress()
    return last is not None and last.batchId() > segment.told
