"""What a run tells while it runs: written without waiting, bounded, read to its end by many."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.store.live import (
    LEASE_S,
    LIVE,
    WATCHERS,
    LiveReader,
    LiveWriter,
    first_told,
    heard_s_ago,
    renew_watch,
    thinned,
)


def test_a_reader_takes_each_line_once_and_whole_ones_only(tmp_path: Path) -> None:
    writer, reader = LiveWriter(tmp_path), LiveReader(tmp_path)
    writer.say("plan", trials=[])
    writer.say("event", text="ä\n<b>")
    assert [(each["what"], each.get("text")) for each in reader.new()] == [("plan", None), ("event", "ä\n<b>")]
    assert reader.new() == []
    with (tmp_path / LIVE).open("ab") as file:
        file.write(b'{"what":"event","n":9999999999999,"te')
    assert reader.new() == []
    with (tmp_path / LIVE).open("ab") as file:
        file.write(b'xt":"late"}\nno json\n[1]\n{"what":"event"}\n')
    assert [each["text"] for each in reader.new()] == ["late"], "what is damaged is passed over"


def test_a_number_only_rises_also_where_a_run_is_resumed(tmp_path: Path) -> None:
    writer, reader = LiveWriter(tmp_path), LiveReader(tmp_path)
    for _ in range(3):
        writer.say("event")
    before = [each["n"] for each in reader.new()]
    time.sleep(0.01)
    again = LiveWriter(tmp_path)
    again.say("plan")
    after = [each["n"] for each in reader.new()]
    assert before == sorted(set(before)) and after[0] > before[-1], "a page of the attempt before reads on"


def test_a_file_that_grew_too_large_is_thinned_and_read_on(tmp_path: Path) -> None:
    writer, reader = LiveWriter(tmp_path, most_bytes=20_000), LiveReader(tmp_path)
    writer.say("plan", run="r")
    given_out: list[int] = []
    for number in range(2_000):
        writer.say("sample", trial=1, value=number)
        if number % 100 == 50:
            writer.say("event", text=str(number))
        if number % 7 == 0:
            given_out += [each["n"] for each in reader.new()]
    given_out += [each["n"] for each in reader.new()]
    assert given_out == list(range(given_out[0], given_out[0] + 2_021)), "who reads along misses nothing"
    assert (tmp_path / LIVE).stat().st_size < 25_000
    late = LiveReader(tmp_path).new()
    assert late[0]["what"] == "plan" and late[-1]["value"] == 1_999
    assert [each["text"] for each in late if each["what"] == "event"] == [str(n) for n in range(50, 2_000, 100)]
    assert 50 < sum(each["what"] == "sample" for each in late) < 400


@given(st.lists(st.sampled_from([b'{"what":"sample"}\n', b'{"what":"event"}\n']), min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_thinning_keeps_order_the_ends_and_every_other_line(lines: list[bytes]) -> None:
    marked = [line.replace(b"}", b',"n":%d}' % n) for n, line in enumerate(lines)]
    kept = thinned(marked)
    places = [marked.index(line) for line in kept]
    assert places == sorted(set(places))
    others = [line for line in marked if b"event" in line]
    assert [line for line in kept if b"event" in line] == others
    samples = [line for line in marked if b"sample" in line]
    if samples:
        assert samples[0] in kept and samples[-1] in kept
        assert len([line for line in kept if b"sample" in line]) <= len(samples) // 2 + 1


def test_the_end_is_read_although_the_file_is_gone(tmp_path: Path) -> None:
    writer, reader = LiveWriter(tmp_path), LiveReader(tmp_path)
    writer.say("plan")
    assert len(reader.new()) == 1
    renew_watch(tmp_path)
    writer.say("outcome", text="right and valid")
    writer.close("complete")
    assert sorted(path.name for path in tmp_path.iterdir()) == []
    assert [(each["what"], each.get("status")) for each in reader.new()] == [("outcome", None), ("end", "complete")]
    assert reader.new() == [] and heard_s_ago(tmp_path) is None and first_told(tmp_path) == {}
    writer.say("event")
    assert not (tmp_path / LIVE).exists(), "what is said after the end is said to nobody"


def test_a_watcher_holds_a_lease_that_runs_out(tmp_path: Path) -> None:
    renew_watch(tmp_path)
    assert not (tmp_path / WATCHERS).exists(), "a run that tells nothing cannot be watched"
    writer = LiveWriter(tmp_path)
    assert not writer.watched()
    renew_watch(tmp_path)
    assert writer.watched()
    now = time.time()
    assert not writer.watched(lambda: now + LEASE_S + 1)


def test_how_long_ago_it_spoke_is_seen_from_outside(tmp_path: Path) -> None:
    writer = LiveWriter(tmp_path)
    writer.say("plan", pid=os.getpid())
    assert first_told(tmp_path)["pid"] == os.getpid()
    os.utime(tmp_path / LIVE, (time.time() - 60, time.time() - 60))
    assert heard_s_ago(tmp_path) == pytest.approx(60, abs=2)
    writer.beat()
    assert heard_s_ago(tmp_path) == pytest.approx(0, abs=2)


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    writer = LiveWriter(tmp_path)
    threads = [
        threading.Thread(target=lambda: [writer.say("event", text="x" * 300) for _ in range(200)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [json.loads(line) for line in (tmp_path / LIVE).read_text().splitlines()]
    assert [each["n"] for each in told] == list(range(told[0]["n"], told[0]["n"] + 800))


def test_a_disk_that_cannot_be_written_costs_lines_and_nothing_else(tmp_path: Path) -> None:
    writer = LiveWriter(tmp_path / "gone")
    writer.say("plan")
    writer.beat()
    writer.close("complete")
