"""Helpers that are the same in every module, which are compiled to images of their own.

Most are called rarely or spend their time in malloc, and LLVM compiles them without optimising; searches of tables are
optimised in an image of their own. As the interpreter does with bytecode, images are stored next to the package's
files, in `__pycache__`, so that only one process after an installation makes them; where files cannot or must not be
written there (PYTHONDONTWRITEBYTECODE), every process does. In the disk cache they are stored with the objects that use
them.
"""
from __future__ import annotations

import os
import sys
from importlib._bootstrap_external import cache_from_source

from ..base import kept
from ..base.forks import LLVM
from ..ir.cfg import closure
from . import link, llvm
from .declarations import declared
from .definitions import expanded
from .helpers import TEXT, is_often_called, needed, search_of, text
from .link import Target

__all__ = ["declaration", "STUB", "image", "is_shared", "objects_for", "stubs"]

# Most functions on arrays need some of these: the shared ones among them are one image. The others are compiled when
# they are needed.
COMMON = ("pyj_box_array", "pyj_box_new", "pyj_fetch", "pyj_let_go", "pyj_new", "pyj_new_1", "pyj_new_2", "pyj_new_3",
          "pyj_release_header", "pyj_step")
_MAX_FILES = 512  # the most files, for other versions, processors, sets of helpers and library functions
STUB = ".stub"  # the ending of the names of stubs, which count for the size of the disk cache
_MAX_STUBS = 128
# [(names, object)] in the order in which they were made: each calls only helpers of earlier ones and its own
_made: list[tuple[frozenset[str], bytes]] = []


def is_shared(name: str) -> bool:
    """Whether a helper needs nothing from the module that calls it, and is called so seldom that an image pays. An
    image costs more than a few lines of text, unless it is there in any case."""
    body = TEXT[name]
    return name in COMMON or (
            " noinline" in body and body.count("\n") + body.count(" (") > 8 and not is_often_called(name)
            and name not in ("pyj_stack", "pyj_int_truediv"))


def objects_for(names, target: Target) -> tuple[bytes, ...]:
    """Relocatable objects that define the helpers `names` and those that they call, in the order in which they are to
    be loaded."""
    wanted = frozenset(filter(is_shared, _closure(names)))
    # Helpers that search one kind of table are one image.
    searched = sorted(set(map(search_of, wanted)) - {""})
    if searched:
        wanted |= frozenset(filter(is_shared, _closure([name for name in TEXT if search_of(name) in searched])))
    with LLVM:
        missing = wanted.difference(*(held for held, _ in _made))
        if missing:
            common = frozenset(filter(is_shared, COMMON)) if missing & frozenset(COMMON) else frozenset()
            groups = {"common": common} if common else {}
            for name in sorted(missing - common):
                groups.setdefault(search_of(name), set()).add(name)
            for of in _called_first(groups):
                _made.append((frozenset(groups[of]), image(_module(sorted(groups[of]), target), target,
                                                           link.LEVEL if of in searched else 0)))
        return tuple(made for held, made in _made if held & wanted)


def _called_first(groups: dict[str, set[str]]) -> dict[str, None]:
    """The groups in an order in which each comes after those whose helpers it calls."""
    group_of = {name: of for of, group in groups.items() for name in group}
    ordered: dict[str, None] = {}

    def visit(of: str) -> None:
        for other in dict.fromkeys(group_of.get(name, of) for name in _closure(sorted(groups[of]))):
            if other != of and other not in ordered:
                visit(other)
        ordered[of] = None

    for of in groups:
        if of not in ordered:
            visit(of)
    return ordered


def image(source: str, target: Target, level: int = 0, kind: str = ".o") -> bytes:
    """The object that LLVM makes of a text and of the declarations that follow from it; it may have been made before.
    kind: the ending of the names of files with such objects, of which a limited number is kept."""
    digest = kept.digest(repr((source, target, level, llvm.version())).encode()).hex()
    path = f"{cache_from_source(__file__).rpartition('.')[0]}.{digest}{kind}"
    data = kept.read(path)
    if data is None:
        data = link.to_object(declared(expanded(source)), target, level)
        if not sys.dont_write_bytecode:
            kept.keep({path: data}, _MAX_STUBS if kind == STUB else _MAX_FILES)
    return data


def stubs() -> list[str]:
    """The files with stubs, of all functions and versions."""
    folder = os.path.dirname(cache_from_source(__file__))
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(STUB)]
    except OSError:
        return []


def declaration(name: str) -> str:
    """The declaration of a helper that is defined elsewhere."""
    head, _, rest = TEXT[name].partition("define internal ")[2].partition("(")
    parameters, _, rest = rest.partition(")")
    attributes = rest.partition("{")[0].replace(" noinline", "").strip() if name in COMMON else "nounwind"
    return f"declare {head}({', '.join(p.split()[0] for p in parameters.split(',') if p)}) {attributes}"


def _closure(names) -> dict[str, None]:
    """`names` and the helpers that they call."""
    return closure(names, needed)


def _module(names, target: Target) -> str:
    """The text that defines the shared helpers `names`, and declares the other shared helpers that they call."""
    used = _closure(names)
    return "\n".join([
        f'target triple = "{target.triple}"', f'target datalayout = "{target.layout}"',
        text([name for name in used if not is_shared(name)]),
        *(declaration(name) for name in used if is_shared(name) and name not in names),
        *(TEXT[name].replace("define internal ", "define ") for name in names)])
