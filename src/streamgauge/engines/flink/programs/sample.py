"""Sample: the lines whose place in the log has a small hash."""

from __future__ import annotations

import math

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import literal
from streamgauge.engines.flink.program import Program, Result


def sample(*, probability: float) -> Result:
    """The lines whose hash, as hexadecimal text, is below the probability."""
    bound = math.ceil(probability * 2**32)
    lines = f"SELECT `raw` AS line, {origin.text()} AS origin FROM searches"
    if bound == 2**32:
        return Result(lines)
    hashed = "MD5(CAST(in_partition AS STRING) || ':' || CAST(in_offset AS STRING))"
    return Result(f"{lines} WHERE {hashed} < {literal(f'{bound:08x}')}")


PROGRAM = Program("sample", {"sample": sample})
