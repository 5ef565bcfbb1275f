"""The control-flow graph of a function as a picture (SVG), for notebooks and documents, without the graphviz program.

Layers from top to bottom as Sugiyama, Tagawa and Toda draw them ("Methods for Visual Understanding of Hierarchical
System Structures", 1981): a block lies below all blocks that come before it; edges over several layers bend at places
kept free for them; a few sweeps order each layer by the mean place of its neighbours. Edges back to a loop run up on
the right.
"""
from __future__ import annotations

from html import escape

from .core import Function
from .show import show

__all__ = ["svg"]

_WIDE, _HIGH = 6.65, 15.0  # width and height of a character, in pixels
_BOX_GAP, _LAYER_GAP = 26.0, 42.0  # distances between boxes of one layer, and between layers
_STYLE = """<style>
.block rect { fill: #f6f8fa; stroke: #57606a; } .block text { font: 11px monospace; fill: #1f2328; white-space: pre; }
.block .head { font-weight: bold; } .edge { fill: none; stroke: #57606a; stroke-width: 1.2; }
.back { stroke: #8250df; } .caught { stroke: #cf222e; stroke-dasharray: 4 3; }
.label { font: 11px sans-serif; fill: #1a7f37; } .title { font: 12px monospace; fill: #57606a; }
</style>"""


class _Node:
    """A box, or (without lines) the bend of an edge that passes through its layer."""

    def __init__(self, lines):
        self.lines = lines
        self.wide = max(map(len, lines)) * _WIDE + 16 if lines else 4.0
        self.high = len(lines) * _HIGH + 10
        self.layer = 0
        self.x = self.y = 0.0  # its horizontal centre, and its top
        self.above: list[_Node] = []
        self.below: list[_Node] = []


def svg(fn: Function) -> str:
    """A picture of the blocks of `fn` with their text, and of the edges between them."""
    nodes, edges, title = _graph(fn)
    layers, paths, back = _layered(nodes, edges)
    width = _place(layers)
    lanes = _lanes(back, nodes, width)
    width = max([width, *(lane + 12 for lane in lanes.values())])
    height = max(node.y + node.high for node in nodes) + 14
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'height="{height:.0f}" '
           'role="img">', f"<title>{escape(title)}</title>", _STYLE,
           f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
           f'<text class="title" x="8" y="16">{escape(title)}</text>',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
           '<path d="M0 0 L8 4 L0 8 z" fill="#57606a"/></marker></defs>']
    for (source, target, label, caught), path in paths:
        out.append(_forward(path, source, target, label, caught, edges))
    for edge in back:
        source, target = edge[0], edge[1]
        lane, top, bottom = lanes[edge], target.y + target.high / 2, source.y + source.high / 2
        if source is target:
            top, bottom = top - 9, bottom + 9
        out.append(f'<path class="edge back" marker-end="url(#tip)" d="M{source.x + source.wide / 2:.1f} {bottom:.1f} '
                   f'H{lane - 8:.1f} '
                   f'Q{lane:.1f} {bottom:.1f} {lane:.1f} {bottom - 8:.1f} V{top + 8:.1f} Q{lane:.1f} {top:.1f} '
                   f'{lane - 8:.1f} {top:.1f} '
                   f'H{target.x + target.wide / 2 + 1:.1f}"/>')
    for node in nodes:
        left = node.x - node.wide / 2
        out.append(f'<g class="block"><rect x="{left:.1f}" y="{node.y:.1f}" width="{node.wide:.1f}" '
                   f'height="{node.high:.1f}" rx="4"/>')
        for k, line in enumerate(node.lines):
            head = ' class="head"' if k == 0 else ""
            out.append(f'<text{head} x="{left + 8:.1f}" '
                       f'y="{node.y + 5 + _HIGH * (k + 0.75):.1f}">{escape(line)}</text>')
        out.append("</g>")
    return "\n".join([*out, "</svg>"]) + "\n"


def _graph(fn: Function):
    """(nodes in the order of the blocks; edges (source, target, label, whether it is exceptional); the head of the
    function)."""
    title, *rest = show(fn).splitlines()
    texts: list[list[str]] = []
    for line in rest:
        if line.startswith("    "):
            texts[-1].append(_shortened(line[4:]))
        else:
            texts.append([_shortened(line[2:])])
    nodes = [_Node(text) for text in texts]
    of = dict(zip(fn.blocks, nodes))
    edges = []
    for block in fn.blocks:
        caught = set()
        for inst in block.insts:
            labels = ("true", "false") if inst.op.name == "branch" else ("",) * len(inst.targets)
            edges += [(of[block], of[edge.block], label, False) for edge, label in zip(inst.targets, labels)]
            if inst.unwind is not None and inst.unwind.block not in caught:
                caught.add(inst.unwind.block)
                edges.append((of[block], of[inst.unwind.block], "", True))
    return nodes, edges, title


def _shortened(line: str) -> str:
    return line if len(line) <= 72 else line[:71] + "…"


def _layered(nodes, edges):
    """(layers of nodes, bends included; the path of each forward edge; the back edges)."""
    following: dict = {node: [] for node in nodes}
    for edge in edges:
        following[edge[0]].append(edge)
    back, state, order = [], {nodes[0]: 1}, []
    stack = [(nodes[0], iter(following[nodes[0]]))]
    while stack:
        node, rest = stack[-1]
        edge = next(rest, None)
        if edge is None:
            state[node] = 2
            order.append(node)
            stack.pop()
        elif state.get(edge[1]) == 1:
            back.append(edge)
        elif edge[1] not in state:
            state[edge[1]] = 1
            stack.append((edge[1], iter(following[edge[1]])))
    forward = [edge for edge in edges if edge not in back]
    for node in reversed(order):
        for edge in following[node]:
            if edge not in back:
                edge[1].layer = max(edge[1].layer, node.layer + 1)
    layers: list[list[_Node]] = [[] for _ in range(max(node.layer for node in nodes) + 1)]
    for node in reversed(order):
        layers[node.layer].append(node)
    paths = []
    for edge in forward:
        source, target = edge[0], edge[1]
        path = [source]
        for k in range(source.layer + 1, target.layer):
            bend = _Node([])
            bend.layer = k
            layers[k].append(bend)
            path.append(bend)
        path.append(target)
        for upper, lower in zip(path, path[1:]):
            upper.below.append(lower)
            lower.above.append(upper)
        paths.append((edge, path))
    for _ in range(4):
        for way, some in (("above", layers[1:]), ("below", layers[-2::-1])):
            for layer in some:
                _spread(layer)
                layer.sort(key=lambda node: _mean(getattr(node, way), node.x))
                _spread(layer)
    return layers, paths, back


def _mean(nodes, otherwise):
    return sum(node.x for node in nodes) / len(nodes) if nodes else otherwise


def _spread(layer):
    """Put the nodes of a layer side by side, with the layer centred at 0."""
    x = -(sum(node.wide for node in layer) + _BOX_GAP * (len(layer) - 1)) / 2
    for node in layer:
        node.x = x + node.wide / 2
        x += node.wide + _BOX_GAP


def _place(layers) -> float:
    """Compute coordinates: each node as near to the mean of its neighbours as its layer has room. Returns the width."""
    for _ in range(6):
        for way, some in (("above", layers[1:]), ("below", layers[-2::-1])):
            for layer in some:
                wanted = [_mean(getattr(node, way), node.x) for node in layer]
                edge = float("-inf")
                for node, x in zip(layer, wanted):
                    node.x = max(x, edge + node.wide / 2)
                    edge = node.x + node.wide / 2 + _BOX_GAP
                shift = sum(x - node.x for node, x in zip(layer, wanted)) / len(layer)
                for node in layer:
                    node.x += shift
    left = min(node.x - node.wide / 2 for layer in layers for node in layer)
    y = 28.0
    for layer in layers:
        for node in layer:
            node.x += 10 - left
            node.y = y
        high = max(node.high for node in layer)
        for node in layer:
            if not node.lines:
                node.high = high
        y += high + _LAYER_GAP
    return max(node.x + node.wide / 2 for layer in layers for node in layer) + 10


def _lanes(back, nodes, width) -> dict:
    """The horizontal position at which each back edge runs up: right of all boxes that it passes; inner loops further
    left."""
    lanes: dict = {}
    for edge in sorted(back, key=lambda edge: edge[0].layer - edge[1].layer):
        if edge[0] is edge[1]:
            lanes[edge] = edge[0].x + edge[0].wide / 2 + 14
            continue
        passed = [node.x + node.wide / 2 for node in nodes if edge[1].layer <= node.layer <= edge[0].layer]
        taken = [lane for other, lane in lanes.items() if other[0].layer >= edge[1].layer
                 and other[1].layer <= edge[0].layer]
        lanes[edge] = max(max(passed) + 18, *(lane + 14 for lane in taken), 0)
    return lanes


def _forward(path, source, target, label, caught, edges) -> str:
    leaving = [edge for edge in edges if edge[0] is source and not edge[3]]
    start = source.x
    if label and len(leaving) == 2:  # the edge for true on the side to which it goes
        other = next(edge[1] for edge in leaving if edge[2] != label)
        start += (14 if path[1].x > other.x or path[1].x == other.x and label == "false" else -14)
    points = [(start, source.y + source.high)]
    for node in path[1:]:
        points.append((node.x, node.y))
        if not node.lines:
            points.append((node.x, node.y + node.high))
    d = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        half = (y0 + y1) / 2
        d += f" L{x1:.1f} {y1:.1f}" if x0 == x1 else f" C{x0:.1f} {half:.1f} {x1:.1f} {half:.1f} {x1:.1f} {y1:.1f}"
    kind = " caught" if caught else ""
    text = (f'<text class="label" x="{start + (9 if start >= source.x else -9 - 5.5 * len(label)):.1f}" '
            f'y="{points[0][1] + 11:.1f}">{label}</text>')
    return f'<path class="edge{kind}" marker-end="url(#tip)" d="{d}"/>' + (text if label else "")
