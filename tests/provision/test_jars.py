from __future__ import annotations

import functools
import hashlib
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from streamgauge.model.errors import UserError
from streamgauge.provision import jars
from streamgauge.provision.jars import Jar

CONTENT = b"not really a jar, but these bytes are pinned" * 1000


class _Server(http.server.SimpleHTTPRequestHandler):
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home: no Maven cache, no settings, no memory of verified files."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(jars.MIRROR_VARIABLE, raising=False)
    (tmp_path / "home" / ".m2").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A Maven repository on disk that holds one artifact."""
    folder = tmp_path / "repository" / "org" / "example" / "gauge" / "1.0"
    folder.mkdir(parents=True)
    (folder / "gauge-1.0.jar").write_bytes(CONTENT)
    (folder / "gauge-1.0.jar.sha1").write_text(hashlib.sha1(CONTENT).hexdigest())
    return tmp_path / "repository"


@pytest.fixture
def mirror(repository: Path) -> Iterator[str]:
    """That repository, served on loopback."""
    _Server.asked = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Server, directory=str(repository)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def jar() -> Jar:
    return Jar("org.example:gauge:1.0", "gauge-1.0.jar", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


def test_the_lock_is_whole_and_names_no_host() -> None:
    text = resources.files("streamgauge.provision").joinpath(jars.LOCK_FILE).read_text()
    assert "//" not in text
    groups = jars.locked_jars()
    assert set(groups) == {"broker", "spark", "tools", "flink"}
    assert set(jars.setup_jars()) == {"broker", "spark", "tools"}, "setup fetches nothing for engines of their own"
    for jar in (jar for group in groups.values() for jar in group):
        _, artifact, version = jar.coordinate.split(":")
        assert jar.file == f"{artifact}-{version}.jar"
        assert len(bytes.fromhex(jar.sha256)) == 32
        assert jar.size > 0
    for name, entries in groups.items():
        assert len({j.coordinate.rsplit(":", 1)[0] for j in entries}) == len(entries), f"two versions in {name}"
    broker = {j.coordinate.split(":")[1] for j in groups["broker"]}
    assert {"kafka_2.13", "kafka-clients", "scala-library", "log4j-slf4j-impl"} <= broker
    assert "connect-runtime" not in broker
    assert len(groups["spark"]) == 5


def test_an_unknown_group_is_named() -> None:
    with pytest.raises(UserError, match="unknown group of jars 'brokr'") as raised:
        jars.jar_paths("brokr")
    assert "broker" in raised.value.way_out


def test_a_missing_jar_is_fetched_once_and_nothing_is_asked_again(
    home: Path, mirror: str, jar: Jar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jars.MIRROR_VARIABLE, mirror)
    seen: list[tuple[int, int]] = []
    [path] = jars.fetch([jar], lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    _Server.asked.clear()
    assert jars.fetch([jar]) == [path]
    assert _Server.asked == []
    assert not [p for p in jars.maven_cache().iterdir() if p.name.startswith(".streamgauge-")]


def test_a_corrupted_jar_is_fetched_again(home: Path, mirror: str, jar: Jar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jars.MIRROR_VARIABLE, mirror)
    [path] = jars.fetch([jar])
    path.write_bytes(CONTENT[:-1])
    assert jars.fetch([jar])[0].read_bytes() == CONTENT


def test_a_repository_that_serves_other_bytes_is_refused_and_nothing_is_kept(
    home: Path, mirror: str, repository: Path, jar: Jar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jars.MIRROR_VARIABLE, mirror)
    for other in repository.rglob("*.jar"):
        other.write_bytes(b"something else")
    for checksum in repository.rglob("*.sha1"):
        checksum.write_text(hashlib.sha1(b"something else").hexdigest())
    with pytest.raises(UserError, match=r"org\.example:gauge:1\.0 was fetched with SHA-256"):
        jars.fetch([jar])
    assert not jar.cached_path().exists()


def test_a_folder_can_be_the_mirror(home: Path, repository: Path, jar: Jar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jars.MIRROR_VARIABLE, repository.as_uri())
    assert jars.fetch([jar])[0].read_bytes() == CONTENT
    shutil.rmtree(repository)
    assert jars.fetch([jar])[0].read_bytes() == CONTENT


def test_unreachable_and_not_cached_names_the_jar_and_both_ways_out(
    home: Path, jar: Jar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jars.MIRROR_VARIABLE, "http://127.0.0.1:9")
    with pytest.raises(UserError, match=r"org\.example:gauge:1\.0 is not cached and cannot be fetched") as raised:
        jars.fetch([jar])
    assert jars.MIRROR_VARIABLE in raised.value.way_out
    assert "--kafka HOST:PORT" in raised.value.way_out
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("covers", "expected"),
    [("central", True), ("*", True), ("external:*", True), ("*,!central", False), ("another", False)],
)
def test_the_mirror_of_maven_settings_is_honoured(home: Path, covers: str, expected: bool) -> None:
    (home / ".m2" / "settings.xml").write_text(
        '<settings xmlns="urn:settings"><mirrors><mirror><id>own</id>'
        f"<mirrorOf>{covers}</mirrorOf><url>http://127.0.0.1:8/maven/</url></mirror></mirrors></settings>"
    )
    assert jars.configured_mirror() == ("http://127.0.0.1:8/maven" if expected else None)


def test_the_environment_goes_before_maven_settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".m2" / "settings.xml").write_text(
        "<settings><mirrors><mirror><mirrorOf>*</mirrorOf><url>http://127.0.0.1:8</url></mirror></mirrors></settings>"
    )
    assert jars.configured_mirror() == "http://127.0.0.1:8"
    monkeypatch.setenv(jars.MIRROR_VARIABLE, "http://127.0.0.1:7/")
    assert jars.configured_mirror() == "http://127.0.0.1:7"


def test_missing_jars_tells_without_fetching(home: Path, mirror: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jars.MIRROR_VARIABLE, mirror)
    assert len(jars.missing_jars("spark")) == 5
    assert _Server.asked == []


def test_a_verified_file_is_not_read_again_until_it_changes(
    home: Path, mirror: str, jar: Jar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(jars.MIRROR_VARIABLE, mirror)
    [path] = jars.fetch([jar])
    known = json.loads((home.parent / "cache" / "streamgauge" / "verified-jars.json").read_text())
    assert list(known) == [str(path)]
    monkeypatch.setattr(jars, "sha256_of", lambda _: pytest.fail("the file was read again"))
    jars.fetch([jar])
