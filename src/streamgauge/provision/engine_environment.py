"""Virtual environments for engines whose packages clash with ours: made from a lock file, kept in the cache."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.model.errors import UserError
from streamgauge.provision.jars import fetch, locked_jars, sha256_of
from streamgauge.provision.work import cache_folder

MARKER = "streamgauge-installed.json"
Note = Callable[[str], None]
Run = Callable[[Sequence[str]], None]


@dataclass(frozen=True)
class EngineEnvironment:
    """What an engine needs beside this program, and where it is kept."""

    engine: str
    package: str
    """The package that the engine is, as the lock file names it."""
    lock: Path
    """Every package with its version and hashes."""
    pythons: tuple[tuple[int, int], ...]
    """Versions of Python that both the engine and this program run on, the best first."""
    jars: str
    """Group of the jar lock that the engine needs too."""
    jars_folder: str
    """Where it wants them, as seen from its packages."""

    @property
    def folder(self) -> Path:
        """Where it lies, whether it is there or not."""
        return cache_folder() / "engines" / self.engine

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    def installed(self) -> dict[str, Any] | None:
        """What was installed, and from which lock file; None where an installation was not completed."""
        try:
            return dict(json.loads((self.folder / MARKER).read_text()))
        except (OSError, ValueError):
            return None

    def problem(self) -> str | None:
        """Why it cannot be used, in words without a way out; None when it can."""
        if not self.folder.exists():
            return f"{self.engine} is not installed"
        found = self.installed()
        if found is None:
            return f"the environment of {self.engine} is broken: its installation was not completed"
        if not self.python.exists():
            return f"the environment of {self.engine} is broken: its Python is gone"
        if not (self.folder / found["packages"]).is_dir():
            return f"the environment of {self.engine} is broken: its packages are gone"
        if found["lock"] != sha256_of(self.lock):
            return f"the environment of {self.engine} is older than this program"
        return None

    def checked_python(self) -> Path:
        """Its Python, or the reason why there is none, with the way out."""
        problem = self.problem()
        if problem:
            raise UserError(problem, f"Run `streamgauge engines add {self.engine}`")
        return self.python

    def version(self) -> str:
        """The version of the engine in the lock file."""
        for line in self.lock.read_text().splitlines():
            name, _, rest = line.partition("==")
            if name == self.package:
                return rest.split()[0]
        raise ValueError(f"{self.lock} does not name {self.package}")

    def add(self, note: Note, run: Run | None = None) -> None:
        """Make it, from nothing; what an earlier attempt left is removed first, and a failed one leaves nothing."""
        run = run or _run
        python = self.fitting_python()
        self.remove()
        try:
            self.folder.mkdir(parents=True)
            self._install(python, note, run)
        except BaseException:
            self.remove()
            raise

    def _install(self, python: Path, note: Note, run: Run) -> None:
        packages = sum("==" in line for line in self.lock.read_text().splitlines())
        uv = found_uv()
        note(f"making an environment with {python}")
        if uv is not None:
            run(
                [
                    uv,
                    "venv",
                    "--quiet",
                    "--allow-existing",
                    "--no-python-downloads",
                    "--python",
                    str(python),
                    str(self.folder),
                ]
            )
            note(f"installing {self.package} {self.version()} and {packages - 1} packages that it needs, some minutes")
            run([uv, "pip", "sync", "--quiet", "--python", str(self.python), "--require-hashes", str(self.lock)])
        else:
            run([str(python), "-m", "venv", str(self.folder)])
            note(f"installing {self.package} {self.version()} and {packages - 1} packages that it needs, some minutes")
            pip = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            run([*pip, "--require-hashes", "--requirement", str(self.lock)])
        found = self._packages()
        note("fetching its jars")
        for jar in fetch(locked_jars()[self.jars]):
            shutil.copy(jar, found / self.jars_folder)
        marker = {
            "version": self.version(),
            "lock": sha256_of(self.lock),
            "packages": str(found.relative_to(self.folder)),
            "python": found.parent.name.removeprefix("python"),
        }
        (self.folder / MARKER).write_text(json.dumps(marker))

    def _packages(self) -> Path:
        found = sorted(self.folder.glob("lib/python*/site-packages"))
        if not found or not (found[0] / self.jars_folder).is_dir():
            raise UserError(f"{self.package} was installed without its jars", "Add it again")
        return found[0]

    def remove(self) -> bool:
        """Remove it; whether there was anything to remove."""
        there = self.folder.exists()
        shutil.rmtree(self.folder, ignore_errors=True)
        return there

    def fitting_python(self) -> Path:
        """A Python that the engine runs on: this one, or another on PATH."""
        if sys.version_info[:2] in self.pythons:
            return Path(getattr(sys, "_base_executable", sys.executable))
        for major, minor in self.pythons:
            if found := shutil.which(f"python{major}.{minor}"):
                return Path(found)
        wanted = " or ".join(f"{major}.{minor}" for major, minor in sorted(self.pythons))
        raise UserError(
            f"{self.engine} does not run on Python {platform.python_version()}: it needs Python {wanted}",
            f"Install Python {wanted} and put it on PATH",
        )


def found_uv() -> str | None:
    """A uv on PATH, or the one that setup has put beside this program's environment."""
    own = Path(sys.prefix).parent / ".venv-uv" / "bin" / "uv"
    return shutil.which("uv") or (str(own) if own.is_file() else None)


def _run(command: Sequence[str]) -> None:
    """Run a command; what it said last is the reason when it fails."""
    try:
        done = subprocess.run(list(command), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise UserError(f"{command[0]} cannot be started: {error.strerror or error}") from None
    if done.returncode != 0:
        said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        reason = next(
            (line for line in said if line.lower().startswith("error")), said[-1] if said else "no reason given"
        )
        raise UserError(
            f"the packages cannot be installed ({reason[:200]})", "Connect to a package index and try again"
        )
