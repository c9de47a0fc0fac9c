"""The picture of a data flow: every box drawn once, none over another, flows around boxes, names as text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from streamgauge.applications import all_applications
from streamgauge.lab.application_facts import application_facts
from streamgauge.report.data_flow import NODE_HEIGHT_PX, data_flow

SVG = "{http://www.w3.org/2000/svg}"


def facts(graph: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    stages = [{"name": name, "reads": reads, "uses": [], "key": more.get("key", [])} for name, reads in graph.items()]
    read = {name for reads in graph.values() for name in reads}
    leaves = [name for name in graph if name not in read]
    outputs = [{"stage": name, "leaf": True, "emits": "per event", "key": []} for name in leaves]
    return {
        "name": "small",
        "inputs": {"in": "lines"},
        "tables": {},
        "cuts": [],
        "graph": stages,
        "outputs": outputs,
    } | {k: v for k, v in more.items() if k != "key"}


def boxes(svg: str) -> list[tuple[str, float, float, float]]:
    found = []
    for each in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        left, top, width = (float(each.attrib[name]) for name in ("x", "y", "width"))
        found.append((each.attrib["class"].split()[1], left, top, width))
    return found


def texts(svg: str) -> list[str]:
    return [str(each.text) for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_chain_stands_in_one_column() -> None:
    svg = data_flow(facts({"split": ["in"], "count": ["split"]}))
    found = boxes(svg)
    assert [kind for kind, *_ in found] == ["stream", "stage", "stage", "output"]
    middles = [left + width / 2 for _, left, _, width in found]
    assert max(middles) - min(middles) < 0.5
    assert [top for _, _, top, _ in found] == sorted(top for _, _, top, _ in found)


def test_a_cut_is_a_topic_that_the_next_stage_reads() -> None:
    svg = data_flow(facts({"split": ["in"], "count": ["split"]}, cuts=["split"], key=["word"]))
    assert [kind for kind, *_ in boxes(svg)] == ["stream", "stage", "topic", "stage", "output"]
    assert "by word" in texts(svg)


def test_a_table_stands_right_above_its_reader() -> None:
    graph = {"parse": ["in"], "look_up": ["parse", "places"]}
    svg = data_flow(facts(graph, tables={"places": "ip-places"}))
    found = {kind: top for kind, _, top, _ in boxes(svg)}
    tops = [top for kind, _, top, _ in boxes(svg) if kind == "stage"]
    assert found["table"] == tops[0] < tops[1]
    assert "stored table ip-places" in texts(svg)


def test_a_flow_over_several_layers_passes_beside_the_boxes() -> None:
    svg = data_flow(facts({"a": ["in"], "b": ["a"], "c": ["b"], "join": ["in", "c"]}))
    middle = {top: (left, left + width) for _, left, top, width in boxes(svg)}
    long_flow = max(re.findall(r' d="([^"]+)"', svg), key=len)
    points = [tuple(map(float, pair)) for pair in re.findall(r"L (\S+) (\S+)", long_flow)]
    assert len(points) == 3
    for x, bottom in points:
        left, right = middle[bottom - NODE_HEIGHT_PX]
        assert not left <= x <= right


def test_names_are_text() -> None:
    svg = data_flow(facts({"<b>&": ["in"]}))
    assert "<b>&" in texts(svg)


@pytest.mark.parametrize("name", sorted(all_applications()))
def test_no_box_lies_over_another(name: str) -> None:
    found = boxes(data_flow(application_facts(all_applications()[name])))
    for number, (_, left, top, width) in enumerate(found):
        assert left >= 0
        for _, other, other_top, other_width in found[number + 1 :]:
            assert top != other_top or left + width < other or other + other_width < left
