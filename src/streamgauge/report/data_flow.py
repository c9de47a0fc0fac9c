"""An application's data flow as a picture: inputs at the top, stages in layers below, outputs at the bottom."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

CHARACTER_PX = 7.4
"""A generous width of a character at 13 px: a picture cannot ask the font."""
PADDING_PX = 16
NODE_HEIGHT_PX = 44
LAYER_PX = 84
GAP_PX = 28
MARGIN_PX = 10
SWEEPS = 24

_STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1d2529; }
  text.about { font-size: 11px; fill: #5a666d; }
  .box { fill: #ffffff; stroke: #7b8a91; stroke-width: 1.2; }
  .stream { fill: #e3f0f9; stroke: #0a7abf; }
  .table { fill: #f4efdc; stroke: #8c7a00; }
  .topic { fill: #e5f4ee; stroke: #0b9a6f; stroke-dasharray: 5 3; }
  .output { fill: #e5f4ee; stroke: #0b9a6f; }
  .flow { fill: none; stroke: #7b8a91; stroke-width: 1.4; }
  .tip { fill: #7b8a91; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6ebec; }
    text.about { fill: #a9b6bb; }
    .box { fill: #1a2125; stroke: #8b9aa1; }
    .stream { fill: #10293a; stroke: #55b0ec; }
    .table { fill: #2e2a14; stroke: #cdb93c; }
    .topic, .output { fill: #12302a; stroke: #53d0a3; }
    .flow { stroke: #8b9aa1; }
    .tip { fill: #8b9aa1; }
  }
"""


@dataclass
class Node:
    """A box of the picture, or a point that a long flow passes."""

    name: str
    kind: str
    """stream, table, stage, topic, output; or bend, which is not drawn."""
    title: str = ""
    about: str = ""
    layer: int = 0
    x: float = 0.0
    above: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)

    @property
    def width(self) -> float:
        """How wide the box is, by its longer line."""
        if self.kind == "bend":
            return 0.0
        return max(len(self.title) * CHARACTER_PX, len(self.about) * CHARACTER_PX * 0.87) + 2 * PADDING_PX


def data_flow(facts: Mapping[str, Any]) -> str:
    """The picture as SVG, from the facts of an application; readable on light and dark paper."""
    nodes = _graph(facts)
    _layer(nodes)
    _bend(nodes)
    layers = _ordered(nodes)
    _place(nodes, layers)
    return _drawn(facts["name"], nodes, layers)


def _graph(facts: Mapping[str, Any]) -> dict[str, Node]:
    """Boxes and flows; a stage behind a cut reads the topic, and every leaf ends in an output."""
    nodes: dict[str, Node] = {}
    for name, stream in facts["inputs"].items():
        nodes[name] = Node(name, "stream", name, f"stream {stream}")
    for name, table in facts["tables"].items():
        nodes[name] = Node(name, "table", name, f"stored table {table}")
    cuts = set(facts["cuts"])
    for stage in facts["graph"]:
        about = ", ".join(stage["uses"]) or "row by row"
        nodes[stage["name"]] = Node(stage["name"], "stage", stage["name"], about)
        for read in stage["reads"]:
            _join(nodes, _topic(read) if read in cuts else read, stage["name"])
        if stage["name"] in cuts:
            key = f"by {', '.join(stage['key'])}" if stage["key"] else "round robin"
            nodes[_topic(stage["name"])] = Node(_topic(stage["name"]), "topic", "topic between queries", key)
            _join(nodes, stage["name"], _topic(stage["name"]))
    for output in facts["outputs"]:
        if output["leaf"]:
            name = f"output of {output['stage']}"
            about = output["emits"] if not output["key"] else f"latest per {', '.join(output['key'])}"
            nodes[name] = Node(name, "output", "output topic", about)
            _join(nodes, output["stage"], name)
    return nodes


def _topic(stage: str) -> str:
    return f"topic after {stage}"


def _join(nodes: dict[str, Node], above: str, below: str) -> None:
    nodes[above].below.append(below)
    nodes[below].above.append(above)


def _layer(nodes: dict[str, Node]) -> None:
    """Every box below all that it reads; what is only read stands right above its first reader."""
    for node in nodes.values():
        node.layer = max((nodes[name].layer + 1 for name in node.above), default=0)
    for node in nodes.values():
        if not node.above and node.below:
            node.layer = min(nodes[name].layer for name in node.below) - 1


def _bend(nodes: dict[str, Node]) -> None:
    """Give a flow over several layers a point in each layer that it passes, so that it goes around the boxes."""
    for node in list(nodes.values()):
        for position, name in enumerate(list(node.below)):
            above = node
            for layer in range(node.layer + 1, nodes[name].layer):
                bend = Node(f"{node.name} to {name} at {layer}", "bend", layer=layer, above=[above.name])
                nodes[bend.name] = bend
                if above is node:
                    node.below[position] = bend.name
                else:
                    above.below.append(bend.name)
                above = bend
            if above is not node:
                above.below.append(name)
                nodes[name].above[nodes[name].above.index(node.name)] = above.name


def _ordered(nodes: dict[str, Node]) -> list[list[Node]]:
    """The layers, each ordered by where its neighbours stand, so that few flows cross."""
    layers: list[list[Node]] = [[] for _ in range(max(node.layer for node in nodes.values()) + 1)]
    for node in nodes.values():
        layers[node.layer].append(node)
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            places = {node.name: place for each in layers for place, node in enumerate(each)}
            layer.sort(key=lambda node: _middle(node, sweep % 2 == 0, places))
    return layers


def _middle(node: Node, downwards: bool, places: Mapping[str, int]) -> float:
    near = [places[name] for name in (node.above if downwards else node.below)]
    return sum(near) / len(near) if near else float(places[node.name])


def _place(nodes: Mapping[str, Node], layers: Sequence[list[Node]]) -> None:
    """Move every box towards its neighbours' middle, never over the box beside it; tables go where room is left."""
    streaming = [[node for node in layer if node.kind != "table"] for layer in layers]
    for layer in streaming:
        at = 0.0
        for node in layer:
            node.x = at + node.width / 2
            at += node.width + GAP_PX
    for sweep in range(SWEEPS):
        for layer in streaming if sweep % 2 else reversed(streaming):
            wanted = [_pull(node, nodes) for node in layer]
            _set_apart(layer, wanted)
    for layer, taken in zip(layers, streaming, strict=True):
        for table in layer:
            if table.kind == "table":
                table.x = _free_place(table, taken, _pull(table, nodes))
                taken.append(table)
    left = min(node.x - node.width / 2 for node in nodes.values())
    for node in nodes.values():
        node.x += MARGIN_PX - left


def _pull(node: Node, nodes: Mapping[str, Node]) -> float:
    """Where a box would stand best: in the middle of its neighbours; a table draws nobody aside."""
    near = [nodes[name].x for name in (*node.above, *node.below) if nodes[name].kind != "table"]
    return sum(near) / len(near) if near else node.x


def _free_place(table: Node, taken: Sequence[Node], wanted: float) -> float:
    """The free place that is nearest to the wanted one: there, or beside a box of the layer; of two, the right one."""
    apart = {node.name: (node.width + table.width) / 2 + GAP_PX for node in taken}
    places = [wanted, *(node.x + side * apart[node.name] for node in taken for side in (-1, 1))]
    free = [x for x in places if all(abs(x - node.x) >= apart[node.name] - 0.01 for node in taken)]
    return min(free, key=lambda x: (round(abs(x - wanted)), -x))


def _set_apart(layer: Sequence[Node], wanted: Sequence[float]) -> None:
    """The wanted places where they leave room; where they do not, half of the shift goes to each side."""
    rightwards, edge = [], float("-inf")
    for node, x in zip(layer, wanted, strict=True):
        rightwards.append(max(x, edge + node.width / 2))
        edge = rightwards[-1] + node.width / 2 + GAP_PX
    leftwards, edge = [], float("inf")
    for node, x in reversed(list(zip(layer, wanted, strict=True))):
        leftwards.append(min(x, edge - node.width / 2))
        edge = leftwards[-1] - node.width / 2 - GAP_PX
    for node, one, other in zip(layer, rightwards, reversed(leftwards), strict=True):
        node.x = (one + other) / 2


def _drawn(name: str, nodes: Mapping[str, Node], layers: Sequence[Sequence[Node]]) -> str:
    width = max(node.x + node.width / 2 for node in nodes.values()) + MARGIN_PX
    height = (len(layers) - 1) * LAYER_PX + NODE_HEIGHT_PX + 2 * MARGIN_PX
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
        f"<title>{html.escape(f'Data flow of {name}')}</title>",
        f"<style>{_STYLE}</style>",
        *(_flow(node, nodes) for node in nodes.values() if node.kind != "bend"),
        *(_box(node) for node in nodes.values() if node.kind != "bend"),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _top(node: Node) -> float:
    return MARGIN_PX + node.layer * LAYER_PX


def _flow(node: Node, nodes: Mapping[str, Node]) -> str:
    """The flows that leave a box, each followed through its bends to the box where it ends."""
    return "\n".join(_path([node, *_followed(name, nodes)]) for name in node.below)


def _followed(name: str, nodes: Mapping[str, Node]) -> Iterable[Node]:
    while True:
        yield nodes[name]
        if nodes[name].kind != "bend":
            return
        name = nodes[name].below[0]


def _path(passed: Sequence[Node]) -> str:
    x, y = passed[0].x, _top(passed[0]) + NODE_HEIGHT_PX
    drawn = [f"M {x:.1f} {y:.1f}"]
    for node in passed[1:]:
        end = _top(node) - (7 if node.kind != "bend" else 0)
        middle = (y + end) / 2
        drawn.append(f"C {x:.1f} {middle:.1f} {node.x:.1f} {middle:.1f} {node.x:.1f} {end:.1f}")
        x, y = node.x, end
        if node.kind == "bend":
            y += NODE_HEIGHT_PX
            drawn.append(f"L {x:.1f} {y:.1f}")
    tip = f"{x - 4.5:.1f},{y:.1f} {x + 4.5:.1f},{y:.1f} {x:.1f},{y + 7:.1f}"
    return f'<path class="flow" d="{" ".join(drawn)}"/><polygon class="tip" points="{tip}"/>'


def _box(node: Node) -> str:
    left, top = node.x - node.width / 2, _top(node)
    round_px = {"stage": 8, "table": 2}.get(node.kind, NODE_HEIGHT_PX / 2)
    return (
        f'<rect class="box {node.kind}" x="{left:.1f}" y="{top}" width="{node.width:.1f}" '
        f'height="{NODE_HEIGHT_PX}" rx="{round_px:g}"/>'
        f'<text x="{node.x:.1f}" y="{top + 19}" text-anchor="middle">{html.escape(node.title)}</text>'
        f'<text class="about" x="{node.x:.1f}" y="{top + 35}" text-anchor="middle">{html.escape(node.about)}</text>'
    )
