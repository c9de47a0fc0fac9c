"""Suites are read from TOML, and a mistake in one is a line that names the file, the key and the nearest right one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from streamgauge.lab import suite_file
from streamgauge.lab.expansion import expand
from streamgauge.lab.suite import LAPTOP, PAPER, QUICK
from streamgauge.lab.suite_figures import KEYS as FIGURE_KEYS
from streamgauge.lab.suite_figures import KINDS, SuiteFigure
from streamgauge.lab.suite_file import all_suites, get_suite, is_suite, read_suite, suite_names
from streamgauge.lab.suite_keys import KEYS
from streamgauge.model import UserError

HEAD = 'title = "Mine"\npapers = ["SB4"]\n'
GOOD = HEAD + '[[matrix]]\napplications = ["grep"]\nloads = ["preloaded"]\nevents = "10k"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_a_value_holds_at_every_scale_unless_it_says_otherwise(tmp_path: Path) -> None:
    text = GOOD + 'repeats = { laptop = 2, paper = 5 }\nname = "drain"\n'
    suite = read_suite(written(tmp_path, text))
    (matrix,) = suite.matrices
    assert (suite.name, suite.title, suite.papers, matrix.name) == ("mine", "Mine", ("SB4",), "drain")
    assert [matrix.at(scale)["repeats"] for scale in ("laptop", "paper", "quick")] == [2, 5, 2]
    assert matrix.at("quick")["events"] == (10_000,)
    assert matrix.at("paper")["applications"] == ("grep",)


def test_defaults_hold_for_every_matrix_and_a_matrix_goes_first(tmp_path: Path) -> None:
    text = HEAD + '[defaults]\nwarmup = "1s"\nloads = ["preloaded"]\nfor = "3s"\n'
    text += '[[matrix]]\napplications = "grep"\n[[matrix]]\napplications = ["identity"]\nwarmup = "2s"\n'
    first, second = read_suite(written(tmp_path, text)).matrices
    assert (first.name, second.name) == ("1", "2")
    assert (first.at("laptop")["warmup"], second.at("laptop")["warmup"]) == (1.0, 2.0)
    assert first.own == {"applications"}


def test_a_users_own_application_is_found_beside_the_suite(tmp_path: Path) -> None:
    own = Path(__file__).parents[1] / "applications" / "own_pipeline.py"
    (tmp_path / "mine.py").write_text(own.read_text())
    suite = read_suite(written(tmp_path, GOOD.replace('"grep"', '"mine.py"')))
    assert suite.matrices[0].at("laptop")["applications"] == (str(tmp_path / "mine.py"),)


def with_(line: str) -> str:
    return GOOD + line + "\n"


def figure_with(line: str, kind: str = "bars", x: str = "application", y: str = "p50") -> str:
    named = "".join(f'{key} = "{value}"\n' for key, value in (("kind", kind), ("x", x), ("y", y)) if value)
    return f'{GOOD}[[figure]]\ntitle = "F"\nby = "engine"\n{named}{line}\n'


MISTAKES = {
    "unknown key": (
        with_('enginse = ["spark-microbatch"]'),
        "matrix '1': unknown key 'enginse'. Did you mean 'engines'?",
    ),
    "unknown key at the top": ('titel = "x"\n' + GOOD, "unknown key 'titel'. Did you mean 'title'?"),
    "unknown key in the defaults": (GOOD + "[defaults]\nrepeat = 2\n", "defaults: unknown key 'repeat'. Did you mean"),
    "no matrix": (HEAD, "it has no matrix, so it has no trial"),
    "a table": (HEAD + "[matrix]\n", "'matrix' is not a list of tables"),
    "no title": ('[[matrix]]\napplications = ["grep"]\n', "it has no 'title'"),
    "no application": (HEAD + '[[matrix]]\nloads = ["preloaded"]\n', "matrix '1': it names no application"),
    "empty axis": (with_("engines = []"), "matrix '1', key 'engines': it is empty, so the matrix has no trial"),
    "no such application": (
        GOOD.replace("grep", "grap"),
        "key 'applications': unknown application 'grap'. Did you mean",
    ),
    "no such engine": (
        with_('engines = ["spark-realtim"]'),
        "key 'engines': unknown engine 'spark-realtim'. Did you mean",
    ),
    "no such load": (GOOD.replace("preloaded", "preload"), "key 'loads': unknown load 'preload'. Did you mean"),
    "no such place": (with_('places = ["moon"]'), "key 'places': 'moon' is not a place"),
    "no such figure": (
        with_('thresholds = ["p98<5ms"]'),
        "key 'thresholds': unknown figure in a threshold 'p98'. Did you",
    ),
    "no threshold": (with_('thresholds = ["fast"]'), "key 'thresholds': 'fast' is not a threshold"),
    "no count": (GOOD.replace('"10k"', '"many"'), "key 'events': 'many' is not a number of events"),
    "no events": (GOOD.replace('"10k"', "0"), "key 'events': 0 is not a whole number above 0"),
    "no number": (with_('repeats = "two"'), "key 'repeats': 'two' is not a whole number above 0"),
    "truth": (with_("seeds = [true]"), "key 'seeds': True is not a whole number"),
    "no skew": (with_('key-skew = "much"'), "key 'key-skew': 'much' is not a number"),
    "too much skew": (with_("key-skew = 4"), "key 'key-skew': '4' is not a key skew"),
    "no duration": (with_("warmup = 5"), "key 'warmup': 5 is not a text"),
    "unknown scale": (
        with_("repeats = { laptop = 1, papr = 2 }"),
        "key 'repeats': unknown scale 'papr'. Did you mean 'paper'?",
    ),
    "scale left out": (with_("repeats = { laptop = 1 }"), "key 'repeats': it says nothing for the scale 'paper'"),
    "laptop above paper": (
        GOOD.replace('"10k"', '{ laptop = "2M", paper = ["10k", "1M"] }'),
        "key 'events': contradictory scale, laptop has 2,000,000 and paper 1,000,000",
    ),
    "quick above laptop": (
        HEAD + '[[matrix]]\napplications = "grep"\nfor = { quick = "20s", laptop = "10s", paper = "1min" }\n',
        "key 'for': contradictory scale, quick has 20 s and laptop 10 s",
    ),
    "time of a preloaded load": (with_('for = "5s"'), "key 'for': a preloaded load takes no time"),
    "events and time": (
        GOOD.replace("preloaded", "constant:5/s") + 'for = "5s"\n',
        "keys 'events' and 'for' contradict each other",
    ),
    "one table of settings": (with_('settings = { trigger = "1s" }'), "key 'settings': it is one table, not a list"),
    "setting of no value": (with_('settings = [{ trigger = ["1s"] }]'), "key 'settings': ['1s'] is not one value"),
    "key of a case": (
        with_("cases = [{ partition = 2 }]"),
        "unknown key of a case 'partition'. Did you mean 'partitions'?",
    ),
    "value of a case": (with_("cases = [{ partitions = 0 }]"), "key 'cases': partitions: 0 is not a whole number"),
    "axis and case": (with_("partitions = 1\ncases = [{ partitions = 2 }]"), "key 'partitions' and a case both set it"),
    "matrix of no scale": (with_('scales = ["laptp"]'), "key 'scales': unknown scale 'laptp'. Did you mean 'laptop'?"),
    "scale without trials": (with_('scales = ["laptop", "paper"]'), "no matrix is part of the scale 'quick'"),
    "one name twice": (
        GOOD + GOOD.removeprefix(HEAD).replace("[[matrix]]", '[[matrix]]\nname = "1"'),
        "two matrices are",
    ),
    "key of a figure": (figure_with('kindd = "bars"'), "figure 'F': unknown key 'kindd'. Did you mean 'kind'?"),
    "kind of a figure": (
        figure_with("", kind="bar"),
        "figure 'F': key 'kind': unknown kind 'bar'. Did you mean 'bars'?",
    ),
    "figure without x": (figure_with("", x=""), "figure 'F': it has no 'x'"),
    "facet of a figure": (
        figure_with("", x="partition"),
        "key 'x': unknown facet of a trial 'partition'. Did you mean",
    ),
    "setting of a figure": (figure_with("", x="setting.triger"), "unknown name among the suite's settings 'triger'"),
    "figure of a figure": (figure_with("", y="p98"), "key 'y': unknown figure 'p98'. Did you mean 'p99'?"),
    "matrix of a figure": (figure_with('matrices = ["2"]'), "key 'matrices': unknown matrices '2'"),
    "published": (
        figure_with('published = ["ospbench-latenci"]'),
        "unknown group of published values 'ospbench-latenci'. Did you mean 'ospbench-latency'?",
    ),
    "no text": (figure_with("each = 5"), "key 'each': 5 is not a text"),
    "time of a figure": (
        GOOD + '[[figure]]\ntitle = "F"\nkind = "over-time"\ny = "heat"\neach = "load"\n',
        "key 'y': unknown y 'heat'",
    ),
    "no TOML": ("title = \n", "(at line 1"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_the_file(tmp_path: Path, mistake: str) -> None:
    text, said = MISTAKES[mistake]
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        read_suite(path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_said() -> None:
    with pytest.raises(UserError, match=r"there is no file nowhere\.toml"):
        get_suite("nowhere.toml")


def test_names_and_files_are_suites_and_applications_are_not() -> None:
    assert is_suite("streambench-performance") and is_suite("any/where.toml")
    assert not is_suite("wordcount") and not is_suite("mine.py")


def test_an_application_and_a_suite_of_one_name_fail_loudly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wordcount.toml").write_text(GOOD)
    monkeypatch.setattr(suite_file, "FOLDER", tmp_path)
    with pytest.raises(RuntimeError, match="'wordcount' is defined twice: as an application and as a suite"):
        all_suites()


def test_a_figure_is_stored_with_the_run_and_comes_back(tmp_path: Path) -> None:
    suite = read_suite(written(tmp_path, figure_with('published = "ospbench-latency"\nper = "minute"')))
    (figure,) = suite.figures
    assert (figure.title, figure.y, figure.by, figure.published) == ("F", ("p50",), ("engine",), ("ospbench-latency",))
    (stored,) = json.loads(json.dumps(suite.facts(LAPTOP)))["figures"]
    assert SuiteFigure.from_dict({**stored, "of a later version": 1}) == figure


def test_every_suite_of_ours_is_read() -> None:
    assert set(suite_names()) == {
        *("streambench-performance", "streambench-recipients", "streambench-durability", "capability", "knobs"),
        *("ospbench-latency", "ospbench-sustainable", "ospbench-startup-burst", "ospbench-periodic-bursts"),
        *("parallelism", "applications", "streambench-faults", "node-failure", "anarchy", "chaos", "dual-paradigm"),
        "engines",
    }
    suites = all_suites()
    assert all(suite.title and suite.about and suite.papers and suite.figures for suite in suites.values())
    with pytest.raises(UserError, match=r"unknown suite 'knob'\. Did you mean 'knobs'"):
        get_suite("knob")


def test_the_example_in_the_docs_and_its_table_of_keys_are_true(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "adding-a-suite.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    suite = read_suite(written(tmp_path, example))
    assert [len(expand(suite, scale)) for scale in (LAPTOP, PAPER, QUICK)] == [20, 32, 6]
    table = page.partition("## Keys of a matrix")[2].partition("## Scales")[0]
    assert set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (.+?) \|", table, re.MULTILINE)))) == {
        *KEYS,
        "name",
        "scales",
    }
    figures = page.partition("## Figures of its page")[2].partition("\n## ")[0]
    told = set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (.+?) \|", figures, re.MULTILINE))))
    assert told == {*FIGURE_KEYS, *KINDS}
