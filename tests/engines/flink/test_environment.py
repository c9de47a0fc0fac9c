"""The environment of an engine: made whole or not at all, and said in one line what is wrong with it."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamgauge.engines import get_engine
from streamgauge.engines.flink.environment import ENVIRONMENT
from streamgauge.model import UserError
from streamgauge.places import parse_place
from streamgauge.provision import engine_environment, jars
from streamgauge.provision.engine_environment import MARKER


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and jars that need no fetching."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    connector = tmp_path / "connector.jar"
    connector.write_bytes(b"jar")
    monkeypatch.setattr(engine_environment, "fetch", lambda wanted: [connector for _ in wanted])
    return tmp_path


def installing(command: Sequence[str]) -> None:
    """Stands for uv: a venv with PyFlink in it."""
    if "venv" in command:
        for made in ("bin/python", "lib/python3.11/site-packages/pyflink/lib/flink-dist.jar"):
            path = ENVIRONMENT.folder / made
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


def test_an_environment_that_is_not_there_is_a_gap_with_the_way_out() -> None:
    gap = get_engine("flink").place_gap(parse_place("local"))
    assert gap is not None and gap.kind == "not-here"
    assert gap.reason == "flink is not installed: streamgauge engines add flink"
    with pytest.raises(UserError, match=r"flink is not installed\. Run `streamgauge engines add flink`"):
        get_engine("flink").job_command("session.json")


def test_adding_makes_it_puts_the_connector_among_its_jars_and_tells_what_it_does() -> None:
    said: list[str] = []
    ENVIRONMENT.add(said.append, installing)
    assert ENVIRONMENT.problem() is None
    assert (ENVIRONMENT.folder / "lib/python3.11/site-packages/pyflink/lib/connector.jar").read_bytes() == b"jar"
    assert len(said) == 3 and "apache-flink 2.2.1" in said[1]
    assert get_engine("flink").place_gap(parse_place("local")) is None
    command = get_engine("flink").job_command("session.json")
    assert command[0] == str(ENVIRONMENT.python)
    assert command[-2:] == [
        str(Path(engine_environment.__file__).parents[1] / "engines/flink/process.py"),
        "session.json",
    ]


def test_an_installation_that_fails_leaves_nothing() -> None:
    def failing(command: Sequence[str]) -> None:
        installing(command)
        if "venv" not in command:
            raise UserError("the packages cannot be installed (no network)")

    with pytest.raises(UserError, match="cannot be installed"):
        ENVIRONMENT.add(lambda words: None, failing)
    assert not ENVIRONMENT.folder.exists()


def test_what_is_broken_is_said_and_adding_begins_anew() -> None:
    ENVIRONMENT.add(lambda words: None, installing)
    (ENVIRONMENT.folder / MARKER).unlink()
    assert "was not completed" in (ENVIRONMENT.problem() or "")
    ENVIRONMENT.add(lambda words: None, installing)
    ENVIRONMENT.python.unlink()
    assert "its Python is gone" in (ENVIRONMENT.problem() or "")
    ENVIRONMENT.add(lambda words: None, installing)
    shutil.rmtree(ENVIRONMENT.folder / "lib")
    assert "its packages are gone" in (ENVIRONMENT.problem() or "")


def test_one_that_was_made_from_another_lock_is_not_used() -> None:
    ENVIRONMENT.add(lambda words: None, installing)
    marker = ENVIRONMENT.folder / MARKER
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "lock": "another"}))
    assert "older than this program" in (ENVIRONMENT.problem() or "")


def test_removing_removes_and_says_whether_there_was_anything() -> None:
    ENVIRONMENT.add(lambda words: None, installing)
    assert ENVIRONMENT.remove()
    assert not ENVIRONMENT.folder.exists()
    assert not ENVIRONMENT.remove()


def test_a_python_that_the_engine_does_not_run_on_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    other = dataclasses.replace(ENVIRONMENT, pythons=((3, 9),))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UserError, match=r"flink does not run on Python .*: it needs Python 3\.9\. Install"):
        other.fitting_python()
    monkeypatch.setattr(shutil, "which", lambda name: f"/opt/{name}")
    assert other.fitting_python() == Path("/opt/python3.9")


def test_this_python_is_taken_where_it_fits() -> None:
    here = dataclasses.replace(ENVIRONMENT, pythons=(sys.version_info[:2],))
    assert here.fitting_python().exists()


def test_the_lock_has_hashes_and_names_no_host() -> None:
    text = ENVIRONMENT.lock.read_text()
    assert "://" not in text and "index-url" not in text
    for entry in re.split(r"\n(?=[a-z])", text.strip()):
        assert "==" in entry and "--hash=sha256:" in entry, entry[:60]


def test_the_connector_is_in_the_jar_lock() -> None:
    (connector,) = jars.locked_jars()["flink"]
    assert connector.coordinate.startswith("org.apache.flink:flink-sql-connector-kafka:")
    assert connector.version.endswith(ENVIRONMENT.version().rpartition(".")[0])
