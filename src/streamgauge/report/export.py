"""A table as a file: numbers for programs (CSV, Parquet), words for people (Markdown)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from streamgauge.model.errors import StoreError, UserError
from streamgauge.store.files import make_folder, write_table, write_text

ENDINGS = (".csv", ".parquet", ".md")


@dataclass(frozen=True)
class Sheet:
    """What is exported: the numbers as they are, and the same rows as a person reads them."""

    numbers: pa.Table
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def check_export(path: Path) -> None:
    """Refuse a file whose ending names no format, before anything is computed."""
    if path.suffix.lower() not in ENDINGS:
        raise UserError(f"'{path}' names no format that can be written", f"End it in {', '.join(ENDINGS)}")


def write_sheet(sheet: Sheet, path: Path) -> None:
    """Write the sheet in the format of the file's ending."""
    check_export(path)
    try:
        make_folder(path.parent)
        if path.suffix.lower() == ".parquet":
            write_table(path, sheet.numbers)
        else:
            write_text(path, csv_text(sheet.numbers) if path.suffix.lower() == ".csv" else _markdown(sheet))
    except StoreError as error:
        raise UserError(error.cause, "Give another file with --export") from error


def csv_text(numbers: pa.Table) -> str:
    """A table as CSV with a line of headings."""
    written = io.BytesIO()
    csv.write_csv(numbers, written)
    return written.getvalue().decode()


def _markdown(sheet: Sheet) -> str:
    lines = [sheet.headings, ["---"] * len(sheet.headings), *sheet.rows]
    return "".join(f"| {' | '.join(_cell(each) for each in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
