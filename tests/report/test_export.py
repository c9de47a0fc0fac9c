"""Tables as files, in the format of their ending."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.model import UserError
from streamgauge.report.export import Sheet, write_sheet

SHEET = Sheet(
    pa.table({"figure": ["p50", "a,b"], "mean": [5.5, None]}), ["figure", "mean"], [["p50", "5.5 ms"], ["a|b", "–"]]
)


def test_the_ending_chooses_the_format(tmp_path: Path) -> None:
    write_sheet(SHEET, tmp_path / "new" / "x.csv")
    assert (tmp_path / "new/x.csv").read_text() == '"figure","mean"\n"p50",5.5\n"a,b",\n'
    write_sheet(SHEET, tmp_path / "x.parquet")
    assert pq.read_table(tmp_path / "x.parquet").equals(SHEET.numbers)
    write_sheet(SHEET, tmp_path / "x.md")
    assert (tmp_path / "x.md").read_text() == "| figure | mean |\n| --- | --- |\n| p50 | 5.5 ms |\n| a\\|b | – |\n"


def test_another_ending_and_a_folder_that_is_a_file_are_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"End it in \.csv, \.parquet, \.md"):
        write_sheet(SHEET, tmp_path / "x.xlsx")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="Give another file with --export"):
        write_sheet(SHEET, tmp_path / "file" / "x.csv")
