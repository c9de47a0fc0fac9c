"""Identity: every line as it came."""

from __future__ import annotations

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.program import Program, Result


def identity() -> Result:
    """The payload, no field of it parsed."""
    return Result(f"SELECT `raw` AS line, {origin.text()} AS origin FROM searches")


PROGRAM = Program("identity", {"identity": identity})
