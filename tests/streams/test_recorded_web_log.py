"""Logs in the Common Log Format replay with their own times in UTC, those of the World Cup 98 with addresses."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.clicks import STREAM as CLICKS
from streamgauge.streams.tables.ip_places import generated_ranges
from streamgauge.streams.web_log import STREAM
from streamgauge.streams.wire import encode

DATA = Path(__file__).parent / "data"
LOG, WORLD_CUP = DATA / "web-log-sample.log", DATA / "world-cup-sample.log"


def _lines(path: Path, count: int, start: int = 0) -> list[str]:
    assert STREAM.recorded is not None
    return [payload.decode() for payload in encode(STREAM, STREAM.recorded(path).block(start, count)).to_pylist()]


def test_a_log_replays_line_by_line() -> None:
    found = _lines(LOG, 15)
    assert found[0] == '192.0.2.17 - - [01/Jul/1995:04:00:01 +0000] "GET /history/index.html HTTP/1.0" 200 6245'
    assert found[1].startswith("unicomp6.example.net - - [01/Jul/1995:04:00:06 +0000]")
    assert found[3].endswith('"GET /images/logo.gif HTTP/1.0" 304 -')
    assert found[6].startswith("203.0.113.9 ident7 anna lee [01/Jul/1995:04:00:13 +0000]")
    assert found[7].endswith('"GET /shuttle/liftoff.html HTTP/1.0" 304 0')
    assert found[8] == '198.51.100.4 - - [01/Jul/1995:04:00:20 +0000] "GET / HTTP/1.1" 200 7074'
    assert "/café/menu.html" in found[9]
    assert found[12] == '192.0.2.40 - - [01/Jul/1995:04:01:02 +0000] "-" 408 -'


def test_a_zone_of_half_hours_is_counted() -> None:
    assert "[01/Jul/1995:04:00:22 +0000]" in _lines(LOG, 15)[10]


def test_a_request_cannot_end_its_field_too_early() -> None:
    assert '"GET /search?q="moon%22 rocks HTTP/1.0" 200 512' in _lines(LOG, 15)[10]


def test_a_torn_line_is_an_event_without_fields() -> None:
    assert _lines(LOG, 15)[11] == '- - - [-] "-" - -'


def test_rounds_go_on_where_the_last_ended() -> None:
    # 15 lines span 64 seconds: a round is one mean gap longer, 64 + 64/14 seconds in whole ones.
    assert "[01/Jul/1995:04:01:05 +0000]" in _lines(LOG, 1, start=14)[0]
    assert "[01/Jul/1995:04:01:10 +0000]" in _lines(LOG, 1, start=15)[0]


def test_clients_of_the_world_cup_get_addresses_in_the_generated_ranges() -> None:
    lines = _lines(WORLD_CUP, 8)
    assert lines[0].endswith(' - - [30/Apr/1998:21:30:17 +0000] "GET /english/index.html HTTP/1.0" 200 892')
    hosts = [line.split(" ")[0] for line in lines]
    assert hosts[0] == hosts[1] == hosts[6] and hosts[2] == hosts[3] == hosts[7] and len(set(hosts)) == 4
    ranges = [(row["first_address"], row["last_address"]) for row in generated_ranges().to_pylist()]
    for host in hosts:
        a, b, c, d = (int(part) for part in host.split("."))
        address = ((a * 256 + b) * 256 + c) * 256 + d
        assert any(first <= address <= last for first, last in ranges)


def test_clicks_take_a_log_too() -> None:
    assert CLICKS.recorded is not None
    rows = CLICKS.recorded(LOG).block(0, 15).to_pylist()
    assert rows[0]["ip"] == "192.0.2.17" and rows[0]["url"] == "/history/index.html" and rows[0]["client_key"] is None
    assert rows[4]["client_key"] == "anna" and rows[4]["url"] == "/private/"
    assert rows[11] == {"ip": None, "url": None, "client_key": None, "time": None}
    assert rows[12]["url"] is None
    world_cup = CLICKS.recorded(WORLD_CUP).block(0, 3)
    assert world_cup["url"].to_pylist() == ["/english/index.html", "/images/title.gif", "/french/index.html"]


def test_clicks_are_read_as_json_lines() -> None:
    assert CLICKS.recorded is not None
    block = CLICKS.recorded(DATA / "clicks-sample.json").block(0, 6)
    assert block["client_key"].to_pylist() == ["k1", None, "k1", "k1", None, "k1"]
    seconds = block["time"].cast(pa.int64()).to_pylist()
    assert [second - seconds[0] for second in seconds] == [0, 4, 10, 15, 19, 25]


def test_a_packed_log_is_read_and_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    file = tmp_path / "log.gz"
    file.write_bytes(gzip.compress(b'192.0.2.1 - - [01/Jul/1995:00:00:01 +0000] "GET /\xe9\x01 HTTP/1.0" 200 1\r\n'))
    assert _lines(file, 1) == ['192.0.2.1 - - [01/Jul/1995:00:00:01 +0000] "GET /\ufffd? HTTP/1.0" 200 1']


def test_what_is_no_log_is_named(tmp_path: Path) -> None:
    file = tmp_path / "prose.txt"
    file.write_text('192.0.2.1 - - [01/Jul/1995:00:00:01 +0000] "GET / HTTP/1.0" 200 1\nCall me something.\n')
    with pytest.raises(UserError, match="line 2 is not in the Common Log Format, like 1 of its 2 lines"):
        _lines(file, 1)
    file.write_text("\n")
    with pytest.raises(UserError, match="is empty"):
        _lines(file, 1)
    with pytest.raises(UserError, match="there is no file"):
        _lines(tmp_path / "none.log", 1)
