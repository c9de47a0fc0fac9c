"""A checkpoint of another file system is looked into as one of this machine is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.engines.spark.checkpoint_paths import (
    HadoopPath,
    checkpoint_path,
    is_elsewhere,
    remove_checkpoint,
)
from streamgauge.engines.spark.checkpoints import committed_offsets, newest_commit, running_batch


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A query's checkpoint with one batch committed and one running."""
    folder = tmp_path / "checkpoint"
    for name in ("offsets", "commits"):
        (folder / name).mkdir(parents=True)
    for number, offset in ((0, 5), (1, 9)):
        (folder / "offsets" / str(number)).write_text(f'v1\n{{}}\n{{"in":{{"0":{offset}}}}}')
    (folder / "offsets" / ".1.crc").write_text("")
    (folder / "commits" / "0").write_text("v1\n{}")
    return folder


def test_a_location_of_this_machine_is_a_path(tmp_path: Path) -> None:
    nobody: Any = None
    for location in (str(tmp_path), f"file://{tmp_path}", f"file:{tmp_path}"):
        assert not is_elsewhere(location)
        assert checkpoint_path(nobody, location) == tmp_path
    assert is_elsewhere("hdfs://files/here") and is_elsewhere("s3a://bucket/here")


@pytest.mark.spark
def test_through_the_jvm_the_same_is_found(spark: Any, checkpoint: Path) -> None:
    there = HadoopPath(spark, f"file://{checkpoint}")
    assert sorted(each.name for each in there.iterdir()) == ["commits", "offsets"]
    assert (there / "offsets" / "1").read_text() == (checkpoint / "offsets" / "1").read_text()
    assert newest_commit(there) == newest_commit(checkpoint) == 0
    assert committed_offsets(there) == committed_offsets(checkpoint) == {"in": {0: 5}}
    mine, theirs = running_batch(checkpoint), running_batch(there)
    assert mine is not None and theirs is not None
    assert (theirs.number, theirs.ends) == (mine.number, mine.ends) == (1, {"in": {0: 9}})
    assert theirs.began_s == pytest.approx(mine.began_s, abs=1)


@pytest.mark.spark
def test_what_is_not_there_has_committed_nothing(spark: Any, tmp_path: Path) -> None:
    there = HadoopPath(spark, f"file://{tmp_path}/missing")
    assert committed_offsets(there) == {} and running_batch(there) is None
    with pytest.raises(FileNotFoundError):
        (there / "offsets").read_text()


@pytest.mark.spark
def test_it_is_removed_whole_and_once(spark: Any, checkpoint: Path) -> None:
    there = HadoopPath(spark, f"file://{checkpoint}/")
    remove_checkpoint(there)
    assert not checkpoint.exists()
    remove_checkpoint(there)
