"""numba.cuda: `pyjitc.cuda`, with kernels that read fields of records as attributes, and with placeholders for the
modules that it does not have."""
from __future__ import annotations

import importlib as _importlib

from ..base.options import Options as _Options
from . import config as _config
from .install import module as _module

_cuda = _importlib.import_module("pyjitc.cuda")  # neither package is below the other
__all__ = _cuda.__all__


def jit(signature=None, device=False, **options):
    """cuda.jit, with Numba's semantics."""
    return _cuda.kernel.jit_with(_Options(numba=True), signature, device, **options)


def is_available() -> bool:
    """Whether kernels run on a GPU, or NUMBA_ENABLE_CUDASIM says that the CPU takes its place."""
    return bool(_config.ENABLE_CUDASIM) or _cuda.is_available()


def __getattr__(name: str):
    try:
        found = getattr(_cuda, name)
    except AttributeError:
        found = None if name.startswith("_") else _module(f"cuda.{name}")
        if found is None:
            raise
    globals()[name] = found
    return found
