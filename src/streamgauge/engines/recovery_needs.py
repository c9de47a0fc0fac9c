"""What a restart from a checkpoint needs (MA7), checked before it is tried: the same program, and the log's offsets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from streamgauge.engines.execution import Offsets
from streamgauge.model.job import Job

_PROGRAM = ("application", "engine", "parameters", "stop_after", "inputs", "outputs", "between", "sink", "checkpoint")


def fingerprint(job: Job) -> str:
    """A text that is the same as long as the job's program is: what it computes, from where to where."""
    described = {name: getattr(job, name) for name in _PROGRAM}
    text = json.dumps(described, sort_keys=True, default=vars)
    own = Path(job.application)
    body = own.read_bytes() if own.suffix == ".py" and own.is_file() else b""
    return hashlib.sha256(text.encode() + b"\0" + body).hexdigest()


def lacking(
    then: str, now: str, committed: Mapping[str, Offsets], first_offsets: Mapping[str, Mapping[int, int]]
) -> list[str]:
    """Why a job cannot go on from its checkpoint, a line each.

    `then` and `now` are fingerprints, `committed` what each query has committed of each topic, `first_offsets` where
    each topic begins today.
    """
    found = [] if then == now else ["its program has changed since it was started"]
    for query, topics in committed.items():
        for topic, partitions in topics.items():
            for partition, offset in partitions.items():
                first = first_offsets.get(topic, {}).get(partition)
                if first is None:
                    found.append(f"query '{query}' read partition {partition} of '{topic}', which is gone")
                elif first > offset:
                    found.append(
                        f"query '{query}' needs offset {offset} of '{topic}', partition {partition}, "
                        f"and the log begins at {first}"
                    )
    return found
