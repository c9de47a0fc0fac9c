"""The table of address ranges: disjoint ranges, both forms of a GeoIP file, and mistakes in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.tables.ip_places import TABLE, client_addresses_of, generated_ranges
from streamgauge.streams.visitors import client_addresses

DATA = Path(__file__).parent / "data"
TEST_NET_1, TEST_NET_2, TEST_NET_3 = 0xC0000200, 0xC6336400, 0xCB007100
"""192.0.2.0, 198.51.100.0 and 203.0.113.0."""


def _rows(path: Path) -> list[tuple[Any, ...]]:
    assert TABLE.recorded is not None
    return [tuple(row.values()) for row in TABLE.recorded(path).to_pylist()]


def test_generated_ranges_are_disjoint_and_public() -> None:
    ranges = generated_ranges()
    first, last = ranges["first_address"].to_numpy(), ranges["last_address"].to_numpy()
    assert np.all(first <= last) and np.all(first[1:] > last[:-1])
    assert not np.any((last >= 10 << 24) & (first < 11 << 24)) and last[-1] < 224 << 24
    sizes = last - first + 1
    assert np.all(first % sizes == 0) and np.all(np.isin(sizes, 1 << np.arange(8, 20)))
    assert np.any(first >> 16 != last >> 16), "some ranges are larger than a bucket of the look-up"
    assert 0.05 < ranges["city"].null_count / len(ranges) < 0.15
    assert len(pc.unique(ranges["country"])) > 40


def test_clients_lie_in_the_ranges_for_the_most_part() -> None:
    ranges = generated_ranges()
    first, last = ranges["first_address"].to_numpy(), ranges["last_address"].to_numpy()
    parts = np.array([text.split(".") for text in client_addresses().to_pylist()], np.int64)
    address = parts @ np.array([1 << 24, 1 << 16, 1 << 8, 1])
    place = np.searchsorted(first, address, side="right") - 1
    inside = (place >= 0) & (address <= last[place])
    assert 0.93 < inside.mean() < 0.97
    assert np.all(parts[~inside, 0] == 10)


def test_anonymous_clients_get_an_address_each() -> None:
    numbers = np.arange(0, 3_000_000, 7)
    addresses = client_addresses_of(numbers)
    assert len(np.unique(addresses)) == len(numbers)
    assert np.array_equal(client_addresses_of(numbers[5:6]), addresses[5:6])


def test_blocks_of_geolite2_get_the_names_of_its_locations() -> None:
    assert _rows(DATA / "geolite2" / "GeoLite2-City-Blocks-IPv4.csv") == [
        (TEST_NET_1, TEST_NET_1 + 255, "Sylvania", None),
        (TEST_NET_2, TEST_NET_2 + 63, "Freedonia", None),
        (TEST_NET_2 + 128, TEST_NET_2 + 191, "Freedonia", "Zürn"),
        (TEST_NET_3, TEST_NET_3 + 127, "Freedonia", "Quill, New"),
        (TEST_NET_3 + 128, TEST_NET_3 + 255, "Freedonia", "Plonk"),
    ]


def test_ranges_are_read_from_dotted_and_whole_numbers() -> None:
    assert _rows(DATA / "ip-ranges-sample.csv") == [
        (TEST_NET_1, TEST_NET_1 + 255, "Sylvania", None),
        (TEST_NET_3, TEST_NET_3 + 127, "Freedonia", "Quill, New"),
        (TEST_NET_3 + 128, TEST_NET_3 + 255, "Freedonia", "Plonk"),
    ]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a,b\n1,2\n", "has the columns a, b"),
        ("start_ip,end_ip,country,city\n", "no range"),
        ("start_ip,end_ip,country,city\n1.0.0.0,1.0.0.9,A,\n1.0.0.9,1.0.0.20,B,\n", "from 1.0.0.0 on overlaps"),
        ("start_ip,end_ip,country,city\n1.0.0.9,1.0.0.0,A,\n", "ends before it begins"),
        ("start_ip,end_ip,country,city\n1.0.0.300,1.0.1.90,A,\n", "an address that is none"),
        ("start_ip,end_ip,country,city\nx,y,A,\n", "x"),
        ("network,geoname_id,registered_country_geoname_id\n1.0.0.0/24,1,1\n", "no locations file beside"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "ranges.csv"
    file.write_text(content)
    with pytest.raises(UserError, match=told) as raised:
        _rows(file)
    assert str(file) in raised.value.cause


def test_locations_without_names_are_named(tmp_path: Path) -> None:
    blocks = tmp_path / "GeoLite2-City-Blocks-IPv4.csv"
    blocks.write_text("network,geoname_id,registered_country_geoname_id\n1.0.0.0/24,1,1\n")
    (tmp_path / "GeoLite2-City-Locations-de.csv").write_text("geoname_id,name\n1,A\n")
    with pytest.raises(UserError, match="no column 'country_name'"):
        _rows(blocks)
