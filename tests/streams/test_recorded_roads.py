"""roads: a shapefile and GeoJSON give the same segments; the generated city is one a vehicle can drive in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapefile

from streamgauge.model.errors import UserError
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables import get_table
from streamgauge.streams.tables.roads import EAST, FIELDS, NORTH, SOUTH, WEST

TABLE = get_table("roads")
EXPECTED = [
    (701, "High Street", 0, 116.3, 39.9, 116.31, 39.9),
    (701, "High Street", 1, 116.31, 39.9, 116.31, 39.92),
    (702, None, 0, 116.2, 39.8, 116.2, 39.81),
    (702, None, 1, 116.25, 39.85, 116.26, 39.85),
]
HIGH_STREET = [[116.3, 39.9], [116.31, 39.9], [116.31, 39.9], [116.31, 39.92]]
BYPASS = [[[116.2, 39.8], [116.2, 39.81]], [[116.25, 39.85], [116.26, 39.85]]]


def _rows(path: Path) -> list[tuple[Any, ...]]:
    assert TABLE.recorded is not None
    table = TABLE.recorded(path)
    assert table.schema.equals(arrow_schema(FIELDS))
    return [tuple(row.values()) for row in table.to_pylist()]


def _shapefile(path: Path, ids: str = "OSM_ID", kind: int = shapefile.POLYLINE) -> Path:
    with shapefile.Writer(path, shapeType=kind) as writer:
        writer.field("NAME", "C", size=40)
        writer.field(ids, "N", size=12)
        lines = [[HIGH_STREET], BYPASS]
        for line, record in zip(lines, (("High Street", 701), ("", 702)), strict=True):
            if kind == shapefile.POLYLINEZ:
                writer.linez([[[*point, 43.5] for point in part] for part in line])
            else:
                writer.line(line)
            writer.record(*record)
    return path


def _geojson(path: Path, features: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def _feature(kind: str, coordinates: Any, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, **more}


def test_a_shapefile_gives_a_row_for_each_segment(tmp_path: Path) -> None:
    assert _rows(_shapefile(tmp_path / "roads.shp")) == EXPECTED


def test_heights_are_left_out(tmp_path: Path) -> None:
    assert _rows(_shapefile(tmp_path / "roads.shp", kind=shapefile.POLYLINEZ)) == EXPECTED


def test_without_a_known_number_a_road_has_its_place_in_the_file(tmp_path: Path) -> None:
    rows = _rows(_shapefile(tmp_path / "roads.shp", ids="LANES"))
    assert [row[0] for row in rows] == [1, 1, 2, 2]


def test_a_shapefile_without_attributes_is_read(tmp_path: Path) -> None:
    path = _shapefile(tmp_path / "roads.shp")
    path.with_suffix(".dbf").unlink()
    assert [row[:3] for row in _rows(path)] == [(1, None, 0), (1, None, 1), (2, None, 0), (2, None, 1)]


def test_geojson_gives_the_same(tmp_path: Path) -> None:
    features = [
        _feature(
            "LineString", [[*point, 43.5] for point in HIGH_STREET], properties={"osm_id": "701", "name": "High Street"}
        ),
        _feature("Point", [116.3, 39.9], properties={"osm_id": 9}),
        _feature("MultiLineString", BYPASS, properties={"osm_id": 702, "name": None}),
        {"type": "Feature", "geometry": None, "properties": {}},
    ]
    assert _rows(_geojson(tmp_path / "roads.geojson", features)) == EXPECTED


def test_a_features_own_id_will_do(tmp_path: Path) -> None:
    features = [_feature("LineString", HIGH_STREET, id=701), _feature("MultiLineString", BYPASS, id=702)]
    assert [row[0] for row in _rows(_geojson(tmp_path / "roads.json", features))] == [701, 701, 702, 702]


def test_what_is_no_road_network_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "none.shp"
    with pytest.raises(UserError, match="there is no file"):
        _rows(missing)
    points = tmp_path / "points.shp"
    with shapefile.Writer(points, shapeType=shapefile.POINT) as writer:
        writer.field("NAME", "C", size=10)
        writer.point(116.3, 39.9)
        writer.record("a")
    with pytest.raises(UserError, match="holds point shapes, no polylines"):
        _rows(points)
    broken = tmp_path / "broken.shp"
    broken.write_bytes(b"no shapefile")
    with pytest.raises(UserError, match=r"broken\.shp cannot be read as a shapefile"):
        _rows(broken)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("no json", "is no GeoJSON"),
        ("[1]", "is no GeoJSON FeatureCollection"),
        ('{"type": "FeatureCollection", "features": []}', "has no roads"),
        (
            '{"features": [{"geometry": {"type": "LineString", "coordinates": [[448262, 4417130], [4483, 441]]}}]}',
            r"point \(448262, 4\.41713e\+06\) that is not in degrees",
        ),
        ('{"features": [{"geometry": {"type": "LineString", "coordinates": ["ab", 3]}}]}', "not made of points"),
    ],
)
def test_bad_geojson_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "bad.geojson"
    file.write_text(content)
    with pytest.raises(UserError, match=told):
        _rows(file)


def test_the_generated_city_lies_within_its_borders() -> None:
    table = TABLE.synthetic()
    assert table.schema.equals(arrow_schema(FIELDS)) and table.equals(TABLE.synthetic())
    lon = np.concatenate([table[f"{end}_lon"].to_numpy() for end in ("from", "to")])
    lat = np.concatenate([table[f"{end}_lat"].to_numpy() for end in ("from", "to")])
    assert lon.min() > WEST and lon.max() < EAST and lat.min() > SOUTH and lat.max() < NORTH
    assert table.num_rows > 3000 and len(table["name"].unique()) == len(table["road_id"].unique()) > 400
