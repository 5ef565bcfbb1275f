"""numba.core.withcontexts: context managers for `with` statements in compiled functions."""
from __future__ import annotations

from ..absent import module_attribute
from ..special import objmode as objmode_context
from ..special import parallel_chunksize

__all__ = ["objmode_context", "parallel_chunksize"]

__getattr__ = module_attribute("core.withcontexts")
