"""The pinned jars: resolved to files in the user's Maven cache, fetched when missing, checked against the lock."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import tempfile
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from streamgauge.model.errors import UserError, unknown
from streamgauge.provision.work import cache_folder

MIRROR_VARIABLE = "STREAMGAUGE_MAVEN_MIRROR"
LOCK_FILE = "jars.lock.json"
OF_ENGINES = frozenset({"flink"})
"""Groups that `streamgauge engines add` fetches, and setup does not."""
_TIMEOUT_S = 60
_FETCHING_THREADS = 8

Progress = Callable[[int, int], None]
"""(bytes fetched so far, bytes to fetch in all); called from several threads, one at a time."""


@dataclass(frozen=True)
class Jar:
    """One pinned file: its Maven coordinate `group:artifact:version` and what its bytes must be."""

    coordinate: str
    file: str
    sha256: str
    size: int

    @property
    def version(self) -> str:
        """The version in the coordinate."""
        return self.coordinate.rsplit(":", 1)[1]

    def cached_path(self) -> Path:
        """Where the user's Maven cache keeps it, whether it is there or not."""
        group, artifact, version = self.coordinate.split(":")
        return maven_cache().joinpath(*group.split("."), artifact, version, self.file)


@functools.cache
def locked_jars() -> Mapping[str, tuple[Jar, ...]]:
    """The lock file's groups: broker, spark and tools, and those of engines with an environment of their own."""
    text = resources.files("streamgauge.provision").joinpath(LOCK_FILE).read_text()
    return {group: tuple(Jar(**entry) for entry in entries) for group, entries in json.loads(text)["groups"].items()}


def setup_jars() -> Mapping[str, tuple[Jar, ...]]:
    """The groups that every run may need."""
    return {group: jars for group, jars in locked_jars().items() if group not in OF_ENGINES}


def locked_version(artifact: str, group: str) -> str:
    """The pinned version of an artifact in a group."""
    return next(j.version for j in locked_jars()[group] if j.coordinate.split(":")[1] == artifact)


def maven_cache() -> Path:
    """The user's Maven cache: M2_REPO, or ~/.m2/repository."""
    return Path(os.environ.get("M2_REPO") or Path.home() / ".m2" / "repository")


def jar_paths(group: str, progress: Progress | None = None) -> list[Path]:
    """Files of a group in class-path order, each checked against the lock; nothing is contacted when all are there."""
    groups = locked_jars()
    if group not in groups:
        raise unknown("group of jars", group, list(groups))
    return fetch(groups[group], progress)


def fetch(jars: Sequence[Jar], progress: Progress | None = None) -> list[Path]:
    """The files of these jars; the missing and the corrupted are fetched, in parallel."""
    with _verified() as verified:
        missing = [jar for jar in jars if not verified.holds(jar)]
        if missing:
            report = _Reporter(sum(jar.size for jar in missing), progress)
            with ThreadPoolExecutor(_FETCHING_THREADS) as threads:
                list(threads.map(lambda jar: _fetch_one(jar, report), missing))
            for jar in missing:
                verified.remember(jar)
    return [jar.cached_path() for jar in jars]


def missing_jars(group: str) -> list[Jar]:
    """Jars of a group that are not in the cache with the right bytes; contacts nothing."""
    with _verified() as verified:
        return [jar for jar in locked_jars()[group] if not verified.holds(jar)]


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def configured_mirror() -> str | None:
    """The user's mirror of the central repository: the environment's, else that of ~/.m2/settings.xml."""
    if given := os.environ.get(MIRROR_VARIABLE):
        return given.rstrip("/")
    settings = Path.home() / ".m2" / "settings.xml"
    if not settings.is_file():
        return None
    try:
        root = ElementTree.parse(settings).getroot()
    except ElementTree.ParseError as error:
        raise UserError(
            f"{settings} is not well-formed XML: {error}", f"Correct it, or set {MIRROR_VARIABLE} to a repository's URL"
        ) from None
    for mirror in root.iterfind(".//{*}mirror"):
        covers = [word.strip() for word in (mirror.findtext("{*}mirrorOf") or "").split(",")]
        url = (mirror.findtext("{*}url") or "").strip()
        if url and "!central" not in covers and {"central", "*", "external:*"} & set(covers):
            return url.rstrip("/")
    return None


def maven_context(cache: Path | None = None, progress_callback: Any = None) -> Any:
    """jgo's view of Maven, with the user's mirror in place of the central repository."""
    from jgo.maven import MavenContext, PythonResolver

    mirror = configured_mirror()
    options: dict[str, Any] = {}
    if mirror and mirror.startswith("file:"):
        options = {"local_repos": [Path(unquote(urlparse(mirror).path))], "remote_repos": {}}
    elif mirror:
        options = {"remote_repos": {"central": mirror}}
    resolver = PythonResolver(progress_callback=progress_callback)
    return MavenContext(resolver=resolver, repo_cache=cache or maven_cache(), timeout=_TIMEOUT_S, **options)


class _Reporter:
    """Adds up what the threads fetch."""

    def __init__(self, total_bytes: int, progress: Progress | None) -> None:
        self._total_bytes = total_bytes
        self._progress = progress
        self._done_bytes = 0
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def file(self, _name: str, _size: int) -> Iterator[Callable[[int], None]]:
        """The shape in which jgo reports one file."""
        yield self.add

    def add(self, count_bytes: int) -> None:
        """So many more bytes are here."""
        with self._lock:
            self._done_bytes += count_bytes
            if self._progress is not None:
                self._progress(min(self._done_bytes, self._total_bytes), self._total_bytes)


def _fetch_one(jar: Jar, report: _Reporter) -> None:
    """Fetch beside the cache, check, then move into place: another process never sees half a file."""
    target = jar.cached_path()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".streamgauge-", dir=maven_cache()) as beside:
            fetched = _download(jar, Path(beside), report)
            found = sha256_of(fetched)
            if found != jar.sha256:
                raise UserError(
                    f"{jar.coordinate} was fetched with SHA-256 {found[:12]}…, the lock says {jar.sha256[:12]}…",
                    f"The repository serves another file: set {MIRROR_VARIABLE} to one that serves the original",
                )
            fetched.replace(target)
    except OSError as error:
        raise UserError(
            f"{jar.coordinate} cannot be kept in {maven_cache()}: {error.strerror or error}",
            "Free some space, or set M2_REPO to a folder that can be written",
        ) from None


def _download(jar: Jar, beside: Path, report: _Reporter) -> Path:
    context = maven_context(beside, report.file)
    try:
        found = context.create_dependency(jar.coordinate).artifact.resolve()
    except Exception as error:
        raise UserError(
            f"the jar {jar.coordinate} is not cached and cannot be fetched ({_first_line(error)})",
            f"Connect once, or set {MIRROR_VARIABLE}=URL of a Maven repository that you can reach; "
            "--kafka HOST:PORT needs no broker jars, but the jars of Spark's Kafka connector are always needed",
        ) from None
    if beside in found.parents:
        return Path(found)
    report.add(jar.size)
    return Path(shutil.copy(found, beside / jar.file))


def _first_line(error: Exception) -> str:
    # The class says more than the text, which for a connection is a page long and names hosts and objects.
    text = str(error).split("\n", 1)[0]
    return text if len(text) <= 80 else type(error).__name__


class _Verified:
    """Which cached files had the right bytes, by size and time of change, so that later starts are instant."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed = False
        try:
            self._known: dict[str, list[Any]] = dict(json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            self._known = {}

    def holds(self, jar: Jar) -> bool:
        """Whether the cached file is there with the locked bytes; one with other bytes is deleted."""
        path = jar.cached_path()
        if not path.is_file():
            return False
        if self._known.get(str(path)) == self._identity(jar):
            return True
        if sha256_of(path) != jar.sha256:
            path.unlink(missing_ok=True)
            return False
        self.remember(jar)
        return True

    def remember(self, jar: Jar) -> None:
        """The cached file has just been checked."""
        self._known[str(jar.cached_path())] = self._identity(jar)
        self._changed = True

    def save(self) -> None:
        """Keep what is known; a cache folder that cannot be written only costs time."""
        if not self._changed:
            return
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self._path.with_suffix(f".{os.getpid()}")
            unfinished.write_text(json.dumps(self._known))
            unfinished.replace(self._path)

    def _identity(self, jar: Jar) -> list[Any]:
        stat = jar.cached_path().stat()
        return [stat.st_size, stat.st_mtime_ns, jar.sha256]


@contextlib.contextmanager
def _verified() -> Iterator[_Verified]:
    known = _Verified(cache_folder() / "verified-jars.json")
    yield known
    known.save()
