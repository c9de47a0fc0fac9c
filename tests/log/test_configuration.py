from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.log.configuration import parse_configuration, read_configuration
from streamgauge.model.errors import UserError


def test_comments_sections_and_counts() -> None:
    found = parse_configuration(
        "# a comment\n! another\n; a third\n[kafka]\n\nsecurity.protocol = SASL_SSL\n"
        "sasl.password=a=b#c\npartitions=4\nreplication = 3\n"
    )
    assert found.settings == {"security.protocol": "SASL_SSL", "sasl.password": "a=b#c"}
    assert (found.partitions, found.replication) == (4, 3)


def test_an_empty_file_says_nothing() -> None:
    found = parse_configuration("")
    assert (found.settings, found.partitions, found.replication) == ({}, None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=1\nnonsense\n", "line 2: 'nonsense' is not key=value"),
        ("=value", "line 1: '=value' is not key=value"),
        ("two words=1", "line 1: 'two words=1' is not key=value"),
        ("a=1\n\na=2", "line 3: 'a' is set twice"),
        ("partitions=0", "line 1: partitions takes a whole number from 1, not '0'"),
        ("replication=three", "line 1: replication takes a whole number from 1, not 'three'"),
        ("bootstrap.servers=a:1", "line 1: bootstrap.servers does not belong here"),
    ],
)
def test_a_mistake_names_its_line_and_a_way_out(text: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_configuration(text)
    assert message in raised.value.cause
    assert raised.value.way_out


def test_a_missing_file_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the Kafka configuration"):
        read_configuration(tmp_path / "absent")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not a text file"):
        read_configuration(tmp_path / "binary")


_KEYS = st.from_regex(r"[a-z][a-z0-9.]{0,20}", fullmatch=True).filter(
    lambda key: key not in ("partitions", "replication", "bootstrap.servers")
)
_VALUES = st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), max_size=30).map(str.strip)


@given(st.dictionaries(_KEYS, _VALUES, max_size=8))
def test_what_is_written_is_read(settings: dict[str, str]) -> None:
    assert parse_configuration("".join(f"{k} = {v}\n" for k, v in settings.items())).settings == settings
