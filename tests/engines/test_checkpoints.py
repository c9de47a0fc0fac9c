"""Committed offsets, read from a checkpoint's files."""

from __future__ import annotations

from pathlib import Path

from streamgauge.engines.spark.checkpoints import committed_offsets


def written(folder: Path, offsets: dict[int, str], commits: list[int]) -> Path:
    for name in ("offsets", "commits"):
        (folder / name).mkdir(parents=True)
    for number, text in offsets.items():
        (folder / "offsets" / str(number)).write_text(text)
        (folder / "offsets" / f".{number}.crc").write_text("")
    for number in commits:
        (folder / "commits" / str(number)).write_text("v1\n{}")
    return folder


def test_a_checkpoint_that_does_not_exist_yet_has_committed_nothing(tmp_path: Path) -> None:
    assert committed_offsets(tmp_path / "none") == {}


def test_only_a_batch_that_was_committed_counts(tmp_path: Path) -> None:
    meta = '{"batchWatermarkMs":0,"conf":{"a":"b"}}'
    folder = written(tmp_path, {9: f'v1\n{meta}\n{{"t":{{"0":5,"1":6}}}}', 10: f'v1\n{meta}\n{{"t":{{"0":9}}}}'}, [9])
    assert committed_offsets(folder) == {"t": {0: 5, 1: 6}}


def test_batches_are_ordered_by_number_and_several_sources_are_read(tmp_path: Path) -> None:
    text = 'v1\n\n{"a":{"0":1}}\n{"b":{"0":2}}'
    folder = written(tmp_path, {9: 'v1\n\n{"a":{"0":0}}', 10: text}, [9, 10])
    assert committed_offsets(folder) == {"a": {0: 1}, "b": {0: 2}}
