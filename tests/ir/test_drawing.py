"""The picture of a control-flow graph: it is well formed, contains every block and edge, and no two boxes overlap."""
import itertools
import xml.etree.ElementTree as ElementTree

import pytest

from pyjitc.front import functions
from pyjitc.front.build import build
from pyjitc.ir.drawing import svg

SVG = "{http://www.w3.org/2000/svg}"


def straight(x):
    return x + 1


def self_loop(n):
    while n > 3:
        n -= 1
    return n


def nested(n):
    total = 0
    for i in range(n):
        for j in range(i):
            if j % 3 == 0:
                continue
            try:
                total += 1 // (i - j - 2)
            except ZeroDivisionError:
                total -= 1 if total < "<&>" else 2
        else:
            total *= 2
    return total


def wide(k):
    match k:
        case 0:
            return 1
        case 1:
            return 2
        case 2:
            return 3
    return k


@pytest.mark.parametrize("function", [straight, self_loop, nested, wide])
def test_picture(function):
    fn = build(functions.prototype_of(function))
    root = ElementTree.fromstring(svg(fn))
    boxes = [[float(group[0].get(key)) for key in ("x", "y", "width", "height")] for group in root.iter(f"{SVG}g")]
    assert len(boxes) == len(fn.blocks)
    for (x, y, w, h), (u, v, p, q) in itertools.combinations(boxes, 2):
        assert x + w <= u or u + p <= x or y + h <= v or v + q <= y
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in boxes)
    heads = [group.find(f"{SVG}text").text for group in root.iter(f"{SVG}g")]
    assert all(head.startswith(block.name) for head, block in zip(heads, fn.blocks))
    edges = sum(len(inst.targets) for block in fn.blocks for inst in block.insts)
    edges += sum(len({inst.unwind.block for inst in block.insts if inst.unwind}) for block in fn.blocks)
    assert len([p for p in root.iter(f"{SVG}path") if "edge" in p.get("class", "")]) == edges
