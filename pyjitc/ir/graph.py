"""The control-flow graph of a function as a drawing: DOT, the language of Graphviz. Exceptional edges are dashed."""
from __future__ import annotations

from typing import Callable

from .core import Function
from .show import show

__all__ = ["Graph", "dot"]


class Graph(str):
    """A control-flow graph: as text in DOT, the language of Graphviz; in a notebook as a picture."""

    __slots__ = ("_draw",)
    _draw: Callable[[], str]

    def __new__(cls, text: str, draw: Callable[[], str]):
        graph = super().__new__(cls, text)
        graph._draw = draw
        return graph

    def _repr_svg_(self) -> str:
        return self._draw()

    def _repr_pretty_(self, printer, cycle) -> None:  # where pictures cannot be shown
        printer.text(str(self))

    def __reduce__(self):
        return str, (str(self),)


def dot(fn: Function) -> str:
    """`digraph` with one node for each block, holding its text."""
    lines = [f"digraph {_quoted(fn.name)} {{", '  node [shape=box, fontname="monospace"];']
    number = {block: k for k, block in enumerate(fn.blocks)}
    head, *rest = show(fn).splitlines()
    lines.append(f"  label={_quoted(head)};")
    texts: list[list[str]] = []
    for line in rest:
        if line.startswith("    "):
            texts[-1].append(line[4:])
        else:
            texts.append([line[2:]])
    for k, text in enumerate(texts):
        lines.append(f"  b{k} [label={_quoted(*text)}];")
    for block in fn.blocks:
        seen = set()
        for inst in block.insts:
            labels = ("true", "false") if inst.op.name == "branch" else ("",) * len(inst.targets)
            for edge, label in zip(inst.targets, labels):
                lines.append(f"  b{number[block]} -> b{number[edge.block]}" + (f" [label={label}];" if label else ";"))
            if inst.unwind is not None and inst.unwind.block not in seen:
                seen.add(inst.unwind.block)
                lines.append(f"  b{number[block]} -> b{number[inst.unwind.block]} [style=dashed];")
    return "\n".join(lines) + "\n}\n"


def _quoted(*lines: str) -> str:
    """A DOT string; `\\l` ends a line that is flush left."""
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return f'"{escaped[0]}"' if len(lines) == 1 else '"' + "".join(f"{line}\\l" for line in escaped) + '"'
