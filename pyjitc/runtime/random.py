"""NumPy's random number generators for native code: the address of an object's `bitgen_t`, and NumPy's own C functions
for distributions, which its extension module exports (NumPy manual, "Extending", numpy/random/distributions.h).

A `bitgen_t` is {state, next_uint64, next_uint32, next_double, next_raw}: compiled code that draws through it moves the
Python object's own state, so the stream is NumPy's.
"""
from __future__ import annotations

import ctypes
import importlib

import numpy as np

__all__ = ["address", "bitgen_offset", "gauss_offset", "normal_tables", "python_global",
           "python_state_offset", "twister"]

_WORD = 8
_found: dict[type, int] = {}
_library: list = []


def address(name: str) -> int | None:
    """The address of NumPy's C function with a name `random_...`, or of what another name means: `global` for the
    RandomState behind np.random's functions, `Generator` and `RandomState` for the classes, `Python` for random.Random,
    and `python_global`, `normal_tables` and `twister` for the results of the functions below. None where it is not
    found."""
    if name == "global":
        return id(np.random.mtrand._rand)
    if name in ("Generator", "RandomState"):
        return id(getattr(np.random, name))
    if name == "Python":
        return id(importlib.import_module("random").Random)
    if name == "python_global":
        return id(python_global())
    if name == "normal_tables":
        tables = normal_tables()
        return None if tables is None else tables.ctypes.data
    if name == "twister":
        return twister()
    if not _library:
        _library.append(ctypes.CDLL(np.random._generator.__file__))
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(_library[0], name))
    except ValueError:
        return None


def normal_tables() -> np.ndarray | None:
    """The tables of NumPy's ziggurat for normal numbers, rows f, w, k of 256 (k: integers, as their bits), or None.
    They are contiguous in NumPy's extension module, and are accepted if they satisfy their definition."""
    if not _tables:
        _tables.append(_read_tables())
    return _tables[0]


_tables: list = []
_FIRST_K = 0x000EF33D8025EF6A


def _read_tables():
    with open(np.random._generator.__file__, "rb") as file:
        data = file.read()
    at = data.find(_FIRST_K.to_bytes(8, "little")) - 4096
    if at < 0 or len(data) < at + 6144:
        return None
    found = np.frombuffer(data, np.float64, 768, at).reshape(3, 256).copy()
    x = found[1] * 2.0**52
    k = found[2].view(np.uint64) / 2.0**52
    with np.errstate(all="ignore"):
        good = (np.abs(found[0, 1:] - np.exp(-0.5 * x[1:] ** 2)).max() < 1e-12
                and np.abs(k[2:] - x[1:-1] / x[2:]).max() < 1e-12
                and found[0, 0] == 1.0 and k[1] == 0.0 and abs(x[255] - 3.654152885361009) < 1e-12)
    return found if good else None


def bitgen_offset(cls: type) -> int | None:
    """Offset of the `bitgen_t` in objects of class Generator or RandomState; None where it is not found."""
    if cls not in _found:
        _found[cls] = _search(cls)
    return _found[cls]


def _words(at: int, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(at))


def _bitgen(generator) -> list[int]:
    """The words of the `bitgen_t` of a bit generator."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return _words(get(generator.capsule, b"BitGenerator"), 5)


def twister() -> int:
    """Address of the function `next_uint32` of NumPy's Mersenne Twister, whose state is {uint32 words[624], int32 pos}
    (numpy/random/src/mt19937/mt19937.h). If the state has another layout, the result is an address that differs from
    every such function's."""
    sample = np.random.MT19937(1)
    sample.random_raw(5)
    state, _, function, *_ = _bitgen(sample)
    known = sample.state["state"]
    found = np.ctypeslib.as_array((ctypes.c_uint32 * 625).from_address(state))
    return function if found.tolist() == [*known["key"], known["pos"]] else id(np.random)


def _search(cls: type):
    sample = cls(np.random.PCG64(1))
    wanted = _bitgen(sample.bit_generator if cls is np.random.Generator else sample._bit_generator)
    words = _words(id(sample), cls.__basicsize__ // _WORD)
    places = [i for i in range(2, len(words) - 4) if words[i:i + 5] == wanted]
    if len(places) != 1:
        return None
    return places[0] * _WORD


def gauss_offset() -> int | None:
    """Offset in a RandomState of {bitgen_t *, int has_gauss, double gauss}: the normal number that the polar method
    stores."""
    cls = np.random.RandomState
    bitgen = bitgen_offset(cls)
    if bitgen is None:
        return None
    sample = cls(1)
    sample.standard_normal()
    for i, word in enumerate(_words(id(sample), cls.__basicsize__ // _WORD)):
        if word == id(sample) + bitgen:
            kept = ctypes.c_double.from_address(id(sample) + _WORD * i + 16).value
            state = sample.get_state(legacy=False)
            if (_words(id(sample) + _WORD * i + 8, 1)[0] & 0xFFFFFFFF == state["has_gauss"] == 1
                and kept == state["gauss"]):
                return _WORD * i
    return None


def python_global():
    """The random.Random object whose methods are the functions of the module random."""
    return importlib.import_module("random").random.__self__


def python_state_offset() -> int | None:
    """Offset in a random.Random of {int index, uint32 words[624]}, the state of its Mersenne Twister (CPython's
    Modules/_randommodule.c); None where it is not found."""
    if not _python_state:
        sample = importlib.import_module("random").Random(1)
        sample.random()
        *words, index = sample.getstate()[1]
        offset = object.__basicsize__
        found = np.ctypeslib.as_array((ctypes.c_uint32 * 625).from_address(id(sample) + offset))
        _python_state.append(offset if found.tolist() == [index, *words] else None)
    return _python_state[0]


_python_state: list[int | None] = []
