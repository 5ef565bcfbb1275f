"""BLAS and LAPACK: the Fortran functions in the libraries that NumPy itself has loaded, or else those that SciPy
provides.

NumPy's extension modules depend on its BLAS, so a symbol is looked up through them. Sizes are passed by pointers to
64-bit words that hold small non-negative numbers, so both 32-bit and 64-bit Fortran integers read them.
"""
from __future__ import annotations

import ctypes
import importlib
import os
import re
from functools import cache

import numpy as np
import numpy.linalg

from ..base.options import environment
from . import thunks

__all__ = ["THREADS", "address", "provider", "found", "missing"]

THREADS = "openblas_get_num_threads"

# Spellings of Fortran names: those of the OpenBLAS that SciPy's project builds, and of distributions with 64-bit and
# 32-bit integers.
_SPELLINGS = ("scipy_{}_64_", "{}_64_", "{}64_", "scipy_{}_", "{}_")
_libraries: list[ctypes.CDLL] = []
_capsules: list[dict] = []
_known: dict[str, tuple[int, str] | None] = {}


def missing() -> bool:
    """Whether to pretend that there is no BLAS, for tests of the fallbacks."""
    return environment("PYJITC_BLAS") == "none"


def _in_numpy(name: str):
    if not _libraries:
        for module in (np._core._multiarray_umath, np.linalg._umath_linalg):
            try:
                _libraries.append(ctypes.CDLL(module.__file__))
            except OSError:
                pass
    for library in _libraries:
        for spelling in _SPELLINGS:
            try:
                symbol = spelling.format(name)
                return ctypes.addressof(ctypes.c_char.in_dll(library, symbol)), f"NumPy's own, as {symbol}"
            except ValueError:
                pass
    return None


def _in_scipy(name: str):
    if not _capsules:
        try:
            for module in ("cython_blas", "cython_lapack"):
                _capsules.append(importlib.import_module(f"scipy.linalg.{module}").__pyx_capi__)
        except ImportError:
            _capsules.append({})
    for table in _capsules:
        if name in table:
            api = ctypes.pythonapi
            api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
            api.PyCapsule_GetPointer.restype = ctypes.c_void_p
            api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
            return api.PyCapsule_GetPointer(table[name], api.PyCapsule_GetName(table[name])), "SciPy's"
    return None


def _find(name: str):
    if name not in _known:
        _known[name] = _in_numpy(name) or _in_scipy(name)
    return _known[name]


def address(name: str) -> int | None:
    """The address of a Fortran function, such as 'dgemm'. In place of `THREADS`, which only OpenBLAS has, other BLAS
    libraries get a function that returns the largest int, since the number of threads is not known: code that was
    compiled beside OpenBLAS can still be loaded."""
    place = _find(name)
    if place is None and name == THREADS:
        return _unknown_number()
    return place and place[0]


@cache
def _unknown_number() -> int:
    """The address of a function that returns the largest int of 32 bits."""
    return thunks.place("b8ffffff7f c3")  # mov eax, 0x7fffffff; ret


def found(name: str) -> bool:
    """Whether the function exists, so that code may call it."""
    return not missing() and _find(name) is not None


def provider() -> str:
    """The description of the libraries with BLAS and LAPACK, for users."""
    place = _find("dgemm")
    if place is None or missing():
        return "none: own loops"
    library = _library_of(place[0])
    return f"{place[1]}{f' in {os.path.basename(library)}' if library else ''}{'' if found('dgesv') else '; no LAPACK'}"


def _library_of(at: int) -> str | None:
    """The file mapped at an address."""
    try:
        with open("/proc/self/maps") as lines:
            for line in lines:
                low, high = re.match(r"(\w+)-(\w+)", line).groups()
                if int(low, 16) <= at < int(high, 16):
                    return line.split()[-1]
    except OSError:
        pass
    return None
