"""numba.core.withcontexts: what `with` statements of compiled functions name."""
from __future__ import annotations

from ..absent import module_attribute
from ..special import objmode as objmode_context
from ..special import parallel_chunksize

__all__ = ["objmode_context", "parallel_chunksize"]

__getattr__ = module_attribute("core.withcontexts")
