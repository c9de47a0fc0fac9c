"""A run that was read back from its folder."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamgauge.model.errors import StoreError
from streamgauge.store.calibrations import CALIBRATION, DECISIONS
from streamgauge.store.characterisations import CHARACTERISATION
from streamgauge.store.files import check_table, read_json, read_table
from streamgauge.store.records import Record, check_schema

RUN_WAY_OUT = "Remove the folder, or run again; other runs are not touched"
_TRIAL_WAY_OUT = "The other trials of the run stay readable; run this one again for its figures"


class StoredRun:
    """A run that was read back: its facts, its complete trials, and in words what could not be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = read_json(folder / "run.json", RUN_WAY_OUT)
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
            found = read_json(path, RUN_WAY_OUT)
            check_schema(found, str(path))
            return found
        except StoreError as error:
            self._note(str(error))
            return None

    def characterisation_batches(self) -> pa.Table:
        """The samples that the run's characterisation was made of."""
        return read_table(self.folder / f"{CHARACTERISATION}.parquet", RUN_WAY_OUT)

    def table(self, trial: Mapping[str, Any] | int, name: str) -> pa.Table:
        """One table of a trial, given by its record or number: latency, samples, throughput, resources or lateness."""
        return read_table(self._trial_folder(trial) / f"{name}.parquet", _TRIAL_WAY_OUT)

    def check_table(self, trial: Mapping[str, Any] | int, name: str) -> None:
        """Raise what `table` would raise for one that was cut off, without reading its rows."""
        check_table(self._trial_folder(trial) / f"{name}.parquet", _TRIAL_WAY_OUT)

    def table_paths(self, trial: Mapping[str, Any] | int) -> dict[str, Path]:
        """The Parquet file of every table of a trial, by the table's name."""
        return {path.stem: path for path in sorted(self._trial_folder(trial).glob("*.parquet"))}

    def tables(self, trial: Mapping[str, Any] | int, names: Sequence[str] | None = None) -> dict[str, pa.Table]:
        """Every table of a trial, or those of the names, that can be read; one that cannot is among the problems."""
        found: dict[str, pa.Table] = {}
        for name, path in self.table_paths(trial).items():
            if names is not None and name not in names:
                continue
            try:
                found[name] = read_table(path, _TRIAL_WAY_OUT)
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

    def only(self, numbers: Iterable[int]) -> StoredRun:
        """The same run with no other trials than those of the numbers."""
        chosen = copy.copy(self)
        chosen.trials = [record for record in self.trials if record["number"] in set(numbers)]
        return chosen

    def _read_trial(self, folder: Path) -> None:
        if not (folder / "trial.json").exists():
            running = " yet" if self.run.get("status") == "running" else ""
            self._note(f"trial {folder.name} has no record{running} and is left out")
            return
        try:
            self.trials.append(read_record(folder))
        except StoreError as error:
            self._note(str(error))
            return
        for path in sorted(folder.glob("*.parquet")):
            try:
                check_table(path, _TRIAL_WAY_OUT)
            except StoreError as error:
                self._note(str(error))

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def read_record(folder: Path) -> Record:
    """The record of a trial, with the number of its folder."""
    record = read_json(folder / "trial.json", _TRIAL_WAY_OUT)
    check_schema(record, str(folder / "trial.json"))
    return {**record, "number": int(folder.name)}
