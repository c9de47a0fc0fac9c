"""Segments under a scheduler: their queries, the thread that decides, the standbys, and what all of it came to."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from streamgauge.engines.spark.actuator import SparkActuator
from streamgauge.engines.spark.checkpoint_paths import checkpoint_path
from streamgauge.engines.spark.live_segment import LiveSegment, Standby
from streamgauge.engines.spark.observing import Observer
from streamgauge.engines.spark.running import first_line
from streamgauge.engines.spark.standby import Standbys
from streamgauge.log.cluster import Cluster
from streamgauge.paradigms.driving import Deciding, Driven, drive
from streamgauge.paradigms.paradigm import Paradigm

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class ScheduledSegments:
    """Segments that are started together, decided for while they run, and stopped together."""

    def __init__(
        self,
        session: SparkSession,
        cluster: Cluster,
        segments: Sequence[LiveSegment],
        scheduler: Deciding,
        batch_duration_s: float,
        *,
        before_start: Callable[[LiveSegment], None] = lambda _: None,
        standby: tuple[str, ...] | None = None,
        on_switch: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> None:
        """`standby` names what is warmed up once in this process; without it the first switch is cold.

        `on_switch` is told every step of a switch, as `Keeper.switch` takes it.
        """
        self._segments, self._scheduler, self._before_start = list(segments), scheduler, before_start
        self.observer = Observer(cluster, self._segments, batch_duration_s)
        self._actuator = SparkActuator(session, self._segments, self.observer, before_start, on_switch)
        path = functools.partial(checkpoint_path, session)
        self._standbys = (
            None if standby is None else Standbys(cluster, self._segments, standby, self._start_standby, path)
        )
        self._driven: Driven | None = None
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: str | None = None

    @property
    def deciding(self) -> bool:
        """Whether a scheduler looks at the segments: not before they run, nor where none of them may change."""
        return self._thread is not None and not self._stopped.is_set()

    def start(self) -> None:
        """Start every segment and return when all read; then begin to decide."""
        self._actuator.start()
        if all(segment.pinned is not None for segment in self._segments):
            return
        if self._standbys is not None:
            self._standbys.begin()
        self._thread = threading.Thread(target=self._drive, name="scheduler", daemon=True)
        self._thread.start()

    def failure(self) -> str | None:
        """Why a segment or the scheduler has ended by itself, or None."""
        return self._failure or self._actuator.failure()

    def stop(self) -> None:
        """Stop deciding, then every query; what was told last can still be taken from the observer."""
        self._stopped.set()
        if self._standbys is not None:
            self._standbys.end()
        if self._thread is not None:
            self._thread.join(30)
        self._actuator.stop()
        self.observer.close()

    def facts(self) -> dict[str, Any]:
        """What was carried out, and what looking and deciding cost."""
        done = [each.as_dict() for each in self._actuator.done]
        return {
            "switches": len(done),
            "longest_gap_s": max((each["gap_s"] for each in done), default=None),
            "carried_out": done,
            "standby_s": {} if self._standbys is None else dict(self._standbys.took_s),
            "looking": {} if self._driven is None else vars(self._driven),
        }

    def _drive(self) -> None:
        try:
            self._driven = drive(self._actuator, self._scheduler, self._stopped)
        except Exception as error:
            self._failure = f"the scheduler failed: {first_line(error)}"
            raise

    def _start_standby(self, segment: LiveSegment, where: Standby) -> StreamingQuery:
        writer = segment.make(Paradigm.OPERATION_STREAM, where.records, where)
        self._before_start(segment)
        return writer.start()
