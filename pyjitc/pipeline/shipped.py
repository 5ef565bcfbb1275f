"""Compiled code that is shipped with a package built ahead of time. In the part of pyjitc in such a package, this
module replaces cache.py: lookups are the same, and nothing is written.

A file holds the code of one module of the package, for one version of Python and one level of processors: (flags of the
processor that the code needs, {function: signatures}, {key: variants}). A signature is (its types as a text, whether it
was declared, whether the text determines the types); variants are as in cache.py.
"""
from __future__ import annotations

import marshal
import os
import sys

from ..base import relocated
from ..base.kept import digest
from ..base.options import Options
from . import portable

__all__ = ["FLAGS", "FOLDER", "Making", "file_name", "flags_here", "is_other", "key_of",
           "name_of", "read", "signatures_of", "whole", "write"]

# For each level, the highest first: the processor flags, in Linux's names, that it has in addition to those of the
# level below.
FLAGS = {"native": (),
         "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
         "x86-64-v3": ("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"),
         "x86-64-v2": ("cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3")}
FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "code")
_signatures: dict[str, dict | None] = {}  # module -> the signatures in its file, None where no file fits
_variants: dict[str, list] = {}


def key_of(function, types, options: Options, target=()) -> str | None:
    """As in cache.py; the versions and the processor are those of the file."""
    parts = tuple(map(portable.type_key, types))
    if not portable.portable(parts):
        return None
    text = repr((portable.code_hash(function.__code__), parts, tuple(options._replace(cache=False)), *target))
    return digest(text.encode("utf-8", "surrogatepass")).hex()


def read(key: str) -> list[tuple]:
    """The variants under `key`, with the actual paths of the package's files."""
    return [(tuple(map(relocated.filled, code)), *rest) for code, *rest in _variants.get(key, ())]


def whole(key: str | None) -> bool:
    """Whether the package has code under `key`."""
    return key in _variants


def write(key: str, variant: tuple) -> bool:
    return False


class Making:
    """Replaces cache.Making: a package that was built ahead of time compiles nothing."""

    waited = False

    def __init__(self, key):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


def name_of(function) -> str:
    """The key of a function: its name and its code."""
    return f"{function.__qualname__} {portable.code_hash(function.__code__)}"


def file_name(module: str, level: str) -> str:
    return f"{module}.{sys.implementation.cache_tag}.{level}"


def signatures_of(function) -> list[tuple[str, bool, bool]] | None:
    """The signatures for which there is code of a function; None where there is no file of its module for this Python
    and this processor."""
    module = function.__module__
    if module not in _signatures:
        _signatures[module] = _load(module)
    known = _signatures[module]
    return None if known is None else known.get(name_of(function), [])


def is_other(function) -> bool:
    """Whether there is code of a function of this name, but not of this one: its source was changed since, or Python
    has removed its assertions or its docstring (-O, -OO)."""
    known = _signatures.get(function.__module__) or {}
    return name_of(function) not in known and any(name.startswith(f"{function.__qualname__} ") for name in known)


def _load(module: str) -> dict | None:
    flags = flags_here()
    for level in FLAGS:
        lower = list(FLAGS)[list(FLAGS).index(level):]
        if level != "native" and not flags.issuperset(flag for one in lower for flag in FLAGS[one]):
            continue
        try:
            with open(os.path.join(FOLDER, file_name(module, level)), "rb") as file:
                needs, signatures, variants = marshal.load(file)
        except (OSError, ValueError, EOFError, TypeError):
            continue
        if flags.issuperset(needs):
            _variants.update(variants)
            return signatures
    return None


def flags_here() -> frozenset[str]:
    """The flags of the first processor of this machine."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            return frozenset(next(line for line in lines if line.startswith("flags")).partition(":")[2].split())
    except (OSError, StopIteration):
        return frozenset()
