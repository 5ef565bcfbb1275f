"""Types for type checkers; Numba's other names are Any."""
from typing import Any

from pyjitc import jit as jit
from pyjitc import njit as njit
from pyjitc import prange as prange

def __getattr__(name: str) -> Any: ...
