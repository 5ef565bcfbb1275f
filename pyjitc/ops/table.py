"""All operations by name, from an explicit list of the modules that define them."""
from __future__ import annotations

from ..ir.core import Op
from .arith import ARITH_OPS
from .blas import BLAS_OPS
from .containers import CONTAINER_OPS
from .control import CONTROL_OPS
from .exceptions import EXCEPTION_OPS
from .foreign import FOREIGN_OPS
from .generic import GENERIC_OPS
from .gpu import GPU_OPS
from .grid import GRID_OPS
from .guards import GUARD_OPS
from .instances import INSTANCE_OPS
from .localtables import LOCAL_TABLE_OPS
from .math import MATH_OPS
from .memory import MEMORY_OPS
from .natives import NATIVE_OPS
from .nest import NEST_OPS
from .objects import OBJECT_OPS
from .owned import OWNED_OPS
from .parallel import PARALLEL_OPS
from .pyobject import PYOBJECT_OPS
from .random import RANDOM_OPS
from .sorting import SORTING_OPS
from .structure import STRUCTURE_OPS
from .tables import TABLE_OPS
from .text import TEXT_OPS
from .vectors import VECTOR_OPS

__all__ = ["OPS", "GENERIC"]


def _merged(*tables: dict[str, Op]) -> dict[str, Op]:
    merged: dict[str, Op] = {}
    for table in tables:
        for name, op in table.items():
            if merged.setdefault(name, op) is not op:
                raise ValueError(f"two operations are called {name!r}")
    return merged


# Operations of typed IR, and operations that only the front end emits; terminators are in both. A generic operation and
# a typed one may have the same name (exc_match): they never occur in one function.
OPS = _merged(ARITH_OPS, MATH_OPS, CONTROL_OPS, STRUCTURE_OPS, MEMORY_OPS, NEST_OPS, EXCEPTION_OPS, PYOBJECT_OPS,
              OBJECT_OPS, RANDOM_OPS, BLAS_OPS, GPU_OPS, GRID_OPS, PARALLEL_OPS, CONTAINER_OPS, TEXT_OPS, TABLE_OPS,
              LOCAL_TABLE_OPS, SORTING_OPS, FOREIGN_OPS, NATIVE_OPS, GUARD_OPS, INSTANCE_OPS, OWNED_OPS, VECTOR_OPS)
GENERIC = _merged(GENERIC_OPS, CONTROL_OPS)
