"""Runs on disk: `<root>/<id>/run.json` and `trials/<nnn>/` with the record, written last, and its tables."""

from __future__ import annotations

import difflib
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamgauge.model.errors import StoreError
from streamgauge.store.calibrations import CALIBRATION, DECISIONS, check_calibration
from streamgauge.store.characterisations import CHARACTERISATION, check_characterisation
from streamgauge.store.files import (
    check_table,
    hold_folder,
    make_folder,
    plain,
    read_json,
    read_table,
    write_json,
    write_table,
)
from streamgauge.store.records import SCHEMA, Record, check_record, check_schema

RUN_STATUSES = ("running", "complete", "interrupted", "failed")
_RUN_WAY_OUT = "Remove the folder, or run again; other runs are not touched"
_TRIAL_WAY_OUT = "The other trials of the run stay readable; run this one again for its figures"


class RunWriter:
    """Adds trials, a characterisation or a calibration to one run; what is added is never changed again.

    As long as it is not finished no other writer can open the run; a process that dies lets it go.
    """

    def __init__(self, folder: Path, run: dict[str, Any], held: int | None = None) -> None:
        self.folder = folder
        self.run = run
        self._begun: Path | None = None
        self._held = hold_folder(folder) if held is None else held
        write_json(folder / "run.json", run)

    @property
    def id(self) -> str:
        """The name by which the run is opened again."""
        return str(self.run["run"])

    @property
    def trials_stored(self) -> int:
        """How many trials have their record."""
        return len(_with_record(self.folder))

    def begin_trial(self) -> Path:
        """The folder of the next trial, for what is written while it runs; without a record it counts as incomplete."""
        if self._begun is None:
            trials = self.folder / "trials"
            make_folder(trials)
            number = max((int(path.name) for path in trials.iterdir() if path.name.isdigit()), default=0) + 1
            self._begun = trials / f"{number:03d}"
            make_folder(self._begun)
        return self._begun

    def add_trial(self, record: Mapping[str, Any], tables: Mapping[str, pa.Table | Path | str] | None = None) -> Path:
        """Store a trial: its tables first (Arrow, or files to copy), its record last."""
        kept = plain(dict(record))
        check_record(kept)
        folder = self.begin_trial()
        kept["number"] = int(folder.name)
        for name, table in (tables or {}).items():
            ending = Path(table).suffix if isinstance(table, Path | str) else ".parquet"
            write_table(folder / f"{name}{ending}", table)
        write_json(folder / "trial.json", kept)
        self._begun = None
        return folder

    def add_characterisation(self, document: Mapping[str, Any], batches: pa.Table) -> None:
        """Store a characterisation: the samples of its batches first, what was made of them last."""
        kept = plain(dict(document))
        check_characterisation(kept)
        write_table(self.folder / f"{CHARACTERISATION}.parquet", batches)
        write_json(self.folder / f"{CHARACTERISATION}.json", kept)

    def add_calibration(self, document: Mapping[str, Any]) -> None:
        """Store what a calibration found of both paradigms."""
        kept = plain(dict(document))
        check_calibration(kept)
        write_json(self.folder / f"{CALIBRATION}.json", kept)

    def describe(self, **facts: Any) -> None:
        """Add facts of the whole run that were not known when it began."""
        self.run = {**self.run, **plain(facts)}
        write_json(self.folder / "run.json", self.run)

    def discard(self) -> None:
        """Take the run back, if nothing was stored in it: a command that could not even begin is no run."""
        made = [self.folder / "trials", *(self.folder / f"{name}.json" for name in (CHARACTERISATION, CALIBRATION))]
        if not any(path.exists() for path in made):
            shutil.rmtree(self.folder, ignore_errors=True)

    def finish(self, status: str) -> None:
        """Say how the run ended: complete, interrupted or failed."""
        if status not in RUN_STATUSES:
            raise ValueError(f"'{status}' is none of {', '.join(RUN_STATUSES)}")
        self.run = {**self.run, "status": status}
        try:
            write_json(self.folder / "run.json", self.run)
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Leave the run as it is, so that another writer can open it; letting go twice is allowed."""
        if self._held is not None:
            os.close(self._held)
            self._held = None


class StoredRun:
    """A run that was read back: its facts, its complete trials, and in words what could not be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = read_json(folder / "run.json", _RUN_WAY_OUT)
        check_schema(self.run, str(folder / "run.json"))
        self.problems: list[str] = []
        self.trials: list[Record] = []
        self.characterisation = self._read_document(CHARACTERISATION)
        self.calibration = self._read_document(CALIBRATION)
        for path in sorted((folder / "trials").glob("[0-9]*"), key=lambda p: (len(p.name), p.name)):
            self._read_trial(path)

    @classmethod
    def open(cls, folder: Path) -> StoredRun:
        """The run in that folder."""
        return cls(Path(folder))

    @property
    def id(self) -> str:
        """The run's name."""
        return str(self.run.get("run", self.folder.name))

    def _read_document(self, name: str) -> Record | None:
        path = self.folder / f"{name}.json"
        if not path.exists():
            return None
        try:
            found = read_json(path, _RUN_WAY_OUT)
            check_schema(found, str(path))
            return found
        except StoreError as error:
            self._note(str(error))
            return None

    def characterisation_batches(self) -> pa.Table:
        """The samples that the run's characterisation was made of."""
        return read_table(self.folder / f"{CHARACTERISATION}.parquet", _RUN_WAY_OUT)

    def table(self, trial: Mapping[str, Any] | int, name: str) -> pa.Table:
        """One table of a trial, given by its record or number: latency, samples, throughput, resources or lateness."""
        return read_table(self._trial_folder(trial) / f"{name}.parquet", _TRIAL_WAY_OUT)

    def tables(self, trial: Mapping[str, Any] | int) -> dict[str, pa.Table]:
        """Every table of a trial that can be read; one that cannot is among the problems."""
        found: dict[str, pa.Table] = {}
        for path in sorted(self._trial_folder(trial).glob("*.parquet")):
            try:
                found[path.stem] = read_table(path, _TRIAL_WAY_OUT)
            except StoreError as error:
                self._note(str(error))
        return found

    def decisions(self, trial: Mapping[str, Any] | int) -> str:
        """The lines of a trial's decisions, one JSON object each; empty where none were made."""
        path = self._trial_folder(trial) / f"{DECISIONS}.jsonl"
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError):
            self._note(f"{path} is truncated or damaged")
            return ""

    def _trial_folder(self, trial: Mapping[str, Any] | int) -> Path:
        number = trial if isinstance(trial, int) else int(trial["number"])
        return self.folder / "trials" / f"{number:03d}"

    def _read_trial(self, folder: Path) -> None:
        if not (folder / "trial.json").exists():
            running = " yet" if self.run.get("status") == "running" else ""
            self._note(f"trial {folder.name} has no record{running} and is left out")
            return
        try:
            record = read_json(folder / "trial.json", _TRIAL_WAY_OUT)
            check_schema(record, str(folder / "trial.json"))
        except StoreError as error:
            self._note(str(error))
            return
        self.trials.append({**record, "number": int(folder.name)})
        for path in sorted(folder.glob("*.parquet")):
            try:
                check_table(path, _TRIAL_WAY_OUT)
            except StoreError as error:
                self._note(str(error))

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


@dataclass(frozen=True)
class ListedRun:
    """A run as a list shows it; `problem` says why it cannot be opened."""

    folder: Path
    run: Mapping[str, Any]
    problem: str | None = None

    @property
    def id(self) -> str:
        """The name by which the run is opened."""
        return self.folder.name

    @cached_property
    def trials_stored(self) -> int:
        """How many trials have their record."""
        return len(_with_record(self.folder))


def _with_record(folder: Path) -> list[Path]:
    """The folders of the trials that are complete."""
    return [path.parent for path in (folder / "trials").glob("[0-9]*/trial.json")]


class RunStore:
    """All runs below one folder."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)

    def create(
        self,
        *,
        command: str,
        trials: int,
        machine: Mapping[str, Any] | None = None,
        versions: Mapping[str, Any] | None = None,
        log: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> RunWriter:
        """A new run in a folder of its own; `trials` is how many are planned."""
        now = datetime.now(UTC)
        make_folder(self.root)
        while True:
            name = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
            try:
                make_folder(self.root / name, exist_ok=False)
                break
            except FileExistsError:
                continue
        run = {
            "schema": SCHEMA,
            "run": name,
            "created_at": now.isoformat(timespec="seconds"),
            "command": command,
            "status": "running",
            "machine": dict(machine or {}),
            "versions": dict(versions or {}),
            "log": dict(log or {}),
            "trials": trials,
            **more,
        }
        return RunWriter(self.root / name, run)

    def reopen(self, name: str | Path) -> RunWriter:
        """A writer that goes on with a run that was interrupted; a trial that never got its record is cleared away."""
        folder = self._find(str(name))
        held = hold_folder(folder)
        if held is None:
            raise StoreError(
                f"the run '{folder.name}' is being written by another command", "Wait until that has ended"
            )
        try:
            run = read_json(folder / "run.json", _RUN_WAY_OUT)
            check_schema(run, str(folder / "run.json"))
            if run.get("status") == "complete":
                raise StoreError(f"the run '{folder.name}' is complete: nothing of it is left to run")
            for path in set((folder / "trials").glob("[0-9]*")) - set(_with_record(folder)):
                shutil.rmtree(path)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            again = {**run, "status": "running", "resumed_at": [*run.get("resumed_at", []), now]}
            return RunWriter(folder, again, held)
        except BaseException:
            os.close(held)
            raise

    def list(self) -> list[ListedRun]:
        """Every run, the newest last; one that cannot be read is listed with its problem."""
        found = []
        for folder in self._folders():
            try:
                run = read_json(folder / "run.json", _RUN_WAY_OUT)
                check_schema(run, str(folder / "run.json"))
                found.append(ListedRun(folder, run))
            except StoreError as error:
                found.append(ListedRun(folder, {}, str(error)))
        return found

    def open(self, name: str | Path) -> StoredRun:
        """The run of that id, unique beginning of an id, path, or 'latest'."""
        return StoredRun(self._find(str(name)))

    def _folders(self) -> Sequence[Path]:
        return sorted(path.parent for path in self.root.glob("*/run.json"))

    def _find(self, name: str) -> Path:
        folders = self._folders()
        if name == "latest":
            if not folders:
                raise StoreError(f"there is no run in {self.root}", "Make one with: streamgauge run wordcount")
            return folders[-1]
        names = [folder.name for folder in folders]
        if name in names:
            return self.root / name
        starting = [each for each in names if name and each.startswith(name)]
        if len(starting) == 1:
            return self.root / starting[0]
        if len(starting) > 1:
            raise StoreError(
                f"'{name}' is the beginning of {len(starting)} runs", f"Give more of: {', '.join(starting)}"
            )
        given = Path(name)
        if (given / "run.json").exists():
            return given
        if given.is_dir():
            raise StoreError(f"{given} holds no run.json, so it is no run", "Give the id or folder of a run")
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.3)
        hint = f"Did you mean '{near[0]}'? The newest is '{names[-1]}'" if near else ""
        empty = "Make one with: streamgauge run wordcount" if not names else f"The newest is '{names[-1]}'"
        raise StoreError(f"there is no run '{name}' in {self.root}", hint or empty)
