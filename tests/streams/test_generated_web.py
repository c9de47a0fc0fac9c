"""Generated sentences, log lines and clicks look like what their streams promise."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.streams import get_stream
from streamgauge.streams.common_log import common_log_times
from streamgauge.streams.wire import encode


def _payloads(name: str, count: int) -> list[str]:
    stream = get_stream(name)
    return [payload.decode() for payload in encode(stream, stream.synthetic(5).block(0, count)).to_pylist()]


def test_sentences_begin_with_a_capital_and_end_with_a_stop() -> None:
    found = _payloads("sentences", 20_000)
    assert all(re.fullmatch(r"[A-Z][a-z]*( [a-z]+)+\.", sentence) for sentence in found)
    lengths = [sentence.count(" ") + 1 for sentence in found]
    assert min(lengths) == 4 and max(lengths) == 20 and 8 < np.mean(lengths) < 11
    words = Counter(word for sentence in found for word in sentence.rstrip(".").lower().split(" "))
    (first, _), (tenth, _) = words.most_common(10)[0], words.most_common(10)[9]
    assert 5 < words[first] / words[tenth] < 15, (
        "Zipf's law: the first word is about ten times as frequent as the tenth"
    )


def test_log_lines_are_in_the_common_log_format() -> None:
    found = _payloads("web-log", 20_000)
    pattern = (
        r'\d+\.\d+\.\d+\.\d+ - (?:-|[a-z]+) \[\d\d/[A-Z][a-z]{2}/\d{4}(?::\d\d){3} \+0000\] "GET /\S* HTTP/1\.0" '
        r"(\d{3}) (\d+|-)"
    )
    parts = [re.fullmatch(pattern, line) for line in found]
    assert all(parts)
    assert all((part[1] == "304") == (part[2] == "-") for part in parts if part)
    statuses = Counter(part[1] for part in parts if part)
    assert 0.78 < statuses["200"] / 20_000 < 0.85 and len(statuses) == 8
    assert 80 < np.mean([len(line) for line in found]) < 95


def test_times_of_the_log_go_on_for_ever_and_say_what_the_clicks_say() -> None:
    log, clicks = (get_stream(name).synthetic(5) for name in ("web-log", "clicks"))
    for start in (0, 1_000_000_000):
        texts = log.block(start, 3_000)["time"].to_pylist()
        seconds = np.array([datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").timestamp() for text in texts], np.int64)
        assert np.all(np.diff(np.maximum.accumulate(seconds)) <= 2) and np.all(np.diff(seconds) >= -4)
        assert np.array_equal(clicks.block(start, 3_000)["time"].cast(pa.int64()).to_numpy(), seconds)
    assert 40 < (seconds[-1] - seconds[0]) < 80, "fifty events a second"


def test_times_before_1970_and_in_february_are_written_right() -> None:
    seconds = np.array([-1, 951_782_400, 0])
    assert common_log_times(seconds).to_pylist() == [
        "31/Dec/1969:23:59:59 +0000",
        "29/Feb/2000:00:00:00 +0000",
        "01/Jan/1970:00:00:00 +0000",
    ]


def test_clicks_repeat_and_some_clients_keep_no_key() -> None:
    block = get_stream("clicks").synthetic(5).block(0, 50_000)
    users = pc.coalesce(block["client_key"], block["ip"]).to_pylist()
    pairs = Counter(zip(block["url"].to_pylist(), users, strict=True))
    assert 0.5 < len(pairs) / 50_000 < 0.9
    assert 0.05 < block["client_key"].null_count / 50_000 < 0.15
    keys = {(row["ip"], row["client_key"]) for row in block.to_pylist()}
    assert len(keys) == len({ip for ip, _ in keys}), "a client keeps its address"
    assert set(json.loads(_payloads("clicks", 1)[0])) == {"ip", "url", "client_key", "time"}
