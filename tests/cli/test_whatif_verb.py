"""`streamgauge whatif`: tables, JSON, a page, and one line for every mistake."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from streamgauge.cli.whatif import rates_of
from streamgauge.store import RunStore
from tests.cli.conftest import Said
from tests.paradigms.recorded import word_count

Say = Callable[..., Said]


@pytest.fixture
def calibrated(tmp_path: Path) -> Path:
    """A folder of runs in which word count was calibrated."""
    writer = RunStore(tmp_path / "runs").create(command="streamgauge …", trials=0)
    writer.add_calibration(word_count().as_dict())
    writer.finish("complete")
    return writer.folder


def test_the_table_says_both_paradigms_and_where_they_cross(say: Say, calibrated: Path) -> None:
    said = say("whatif", "wordcount", "--rates", "100..100000")
    assert said.code == 0, said.err
    assert "from 40,079/s on the operation stream is expected to be faster" in said.out
    assert ", rises" in said.out
    assert "Held against measured points" in said.out
    assert "+20 %" in said.out, "6 ms predicted, 5 measured"


def test_json_is_all_that_is_printed(say: Say, calibrated: Path) -> None:
    said = say(
        "whatif", "wordcount", "--rates", "500,20k", "--json", "--load", "bursts:400/s:38000:10s", "--for", "40s"
    )
    found = json.loads(said.out)
    assert found["schema"] == 1
    assert [each["rate_per_s"] for each in found["predictions"]] == [500, 20_000]
    assert {each["better"] for each in found["predictions"]} == {"data stream"}
    assert found["crossing_per_s"] is None
    assert len(found["points"]) == 6
    assert found["load"]["switches"] == 0
    assert found["load"]["decisions"][0]["action"] == "stay"


def test_a_load_is_told_in_a_sentence(say: Say, calibrated: Path) -> None:
    said = say("whatif", "wordcount", "--load", "bursts:400/s:190000:10s", "--for", "40s")
    assert "of the better fixed paradigm's" in " ".join(said.out.split())
    assert "Simulated: bursts:400/s:190000:10s" in said.out


def test_a_page_is_written_where_it_is_wanted(say: Say, calibrated: Path, tmp_path: Path) -> None:
    said = say("whatif", "wordcount", "--to", str(tmp_path / "page.html"))
    assert said.out.splitlines()[-1] == str(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "Latency over the rate" in text
    assert "operation stream, measured" in text


def test_without_a_calibration_it_says_the_way_out(say: Say) -> None:
    said = say("whatif", "wordcount")
    assert said.code == 2
    assert "no calibration of 'wordcount'" in said.err
    assert "--calibration" in said.err
    assert len(said.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rates", "fast"], "names no rate"),
        (["--rates", "100..10"], "no range"),
        (["--rates", "0..10"], "rate of 0"),
        (["--steps", "1"], "--steps"),
        (["--delta", "1"], "delta"),
        (["--for", "0s"], "--for"),
        (["--objective", "lost==0"], "objective"),
        (["--load", "bursts:x"], "bursts"),
        (["--calibration", "missing"], "missing"),
    ],
)
def test_mistakes_are_one_line(say: Say, calibrated: Path, arguments: list[str], words: str) -> None:
    said = say("whatif", "wordcount", *arguments)
    assert said.code == 2
    assert words in said.err
    assert "Traceback" not in said.err


def test_rates_as_they_are_written() -> None:
    assert rates_of("100..100k", 4) == pytest.approx([100, 1000, 10_000, 100_000])
    assert rates_of("2k,500/s,60/min", 9) == [1, 500, 2000]
