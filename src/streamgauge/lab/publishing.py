"""Only the load generator: events of one stream, under a load, into a topic of any Kafka."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from streamgauge.load import parse_load
from streamgauge.load.process import PublisherProcess
from streamgauge.load.specification import PublisherResult, PublisherSpec
from streamgauge.log.cluster import Cluster
from streamgauge.log.configuration import Configuration, read_configuration
from streamgauge.log.security import to_librdkafka
from streamgauge.model import LogError, UserError
from streamgauge.provision.work import WorkFolder
from streamgauge.streams.reference import StreamReference, open_source

DEFAULT_PARTITIONS = 2
POLL_S = 0.1


@dataclass(frozen=True)
class PublishRequest:
    """What to publish, where, and when."""

    stream: str
    """A name, or the path of a user's file with one input."""
    load: str
    kafka: str
    topic: str
    events: int | None = None
    for_s: float | None = None
    seed: int = 1
    partitions: int | None = None
    data: str | None = None
    kafka_config: Path | None = None


def event_count(request: PublishRequest) -> int:
    """How many events the request asks for."""
    if (request.events is None) == (request.for_s is None):
        raise UserError("how much to publish is not clear", "Give either --events N or --for TIME")
    if request.events is not None:
        if request.events < 1:
            raise UserError("--events must be more than 0", "Ask for at least one event")
        return request.events
    load = parse_load(request.load)
    if load.job_starts_at_s is None:
        raise UserError("a preloaded load has no duration", "Give --events N instead of --for")
    found = math.floor(load.events_by(request.for_s or 0.0))
    if found < 1:
        raise UserError(f"no event is due in {request.for_s:g} s of {request.load}", "Give a longer --for")
    return found


def publish(request: PublishRequest, tick: Callable[[int, int], None], note: Callable[[str], None]) -> PublisherResult:
    """Publish and say how it went; `tick` hears events done and in all, `note` what a person should know."""
    load = parse_load(request.load)
    events = event_count(request)
    reference = _reference(request)
    open_source(reference, request.seed)
    configuration = read_configuration(request.kafka_config) if request.kafka_config else Configuration()
    cluster = Cluster(request.kafka, configuration.settings, configuration.replication or 1)
    cluster.check()
    partitions = _topic_partitions(request, cluster, configuration, note)
    with WorkFolder.create("publish") as work:
        spec = PublisherSpec(
            stream=reference,
            seed=request.seed,
            load=load.spelling,
            events=events,
            topic=request.topic,
            partitions=partitions,
            bootstrap=request.kafka,
            kafka_config=to_librdkafka(configuration.settings),
            result_path=str(work.path / "result.json"),
            lateness_path=str(work.path / "lateness.parquet"),
            progress_path=str(work.path / "progress.json"),
        )
        return _watched(spec, work.path / "publisher.log", tick)


def check_published(result: PublisherResult, events: int) -> None:
    """Raise when a publisher failed, or sent another number of events than it was told."""
    if result.error:
        raise LogError(f"the publisher failed: {result.error}", "Check the broker and run again")
    if result.events != events:
        raise LogError(f"the publisher sent {result.events} of {events} events", "Check the broker and run again")


def _watched(spec: PublisherSpec, log_path: Path, tick: Callable[[int, int], None]) -> PublisherResult:
    process = PublisherProcess.start(spec, log_path)
    try:
        while process.poll() is None:
            time.sleep(POLL_S)
            tick(process.progress()[0], spec.events)
        result = process.result()
    finally:
        process.stop()
    if result.error:
        raise LogError(f"the publisher failed: {result.error}", "Check the broker and run again")
    tick(result.events, spec.events)
    return result


def _reference(request: PublishRequest) -> StreamReference:
    data = None if request.data is None else str(Path(request.data).absolute())
    if data is not None and not Path(data).is_file():
        raise UserError(f"there is no file {request.data}", "Give --data the path of a recorded data set")
    if request.stream.endswith(".py"):
        return StreamReference(file=str(Path(request.stream).absolute()), data=data)
    return StreamReference(name=request.stream, data=data)


def _topic_partitions(
    request: PublishRequest, cluster: Cluster, configuration: Configuration, note: Callable[[str], None]
) -> int:
    """The partitions of the topic, which is made where it does not exist."""
    if request.partitions is not None and request.partitions < 1:
        raise UserError("--partitions must be at least 1", "Leave it out to take the topic's own number")
    if request.topic not in cluster.topics():
        wanted = request.partitions or configuration.partitions or DEFAULT_PARTITIONS
        cluster.create_topic(request.topic, wanted)
        note(f"made the topic '{request.topic}' with {wanted} partition{'' if wanted == 1 else 's'}")
        return wanted
    found = len(cluster.partitions(request.topic))
    if request.partitions is not None and request.partitions != found:
        raise UserError(
            f"the topic '{request.topic}' has {found} partitions, not {request.partitions}",
            "Leave --partitions out, or name another topic",
        )
    return found
