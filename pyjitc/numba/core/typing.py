"""numba.core.typing"""
from ..absent import module_attribute
from ..install import module
from ..special import typeof
from ..types import Signature, Type

__all__ = ["signature", "typeof"]


def signature(result: Type, *args: Type) -> Signature:
    """A signature with this result type and these argument types."""
    return result(*args)


def __getattr__(name: str):
    found = None if name.startswith("_") else module(f"core.typing.{name}")
    return _others(name) if found is None else found


_others = module_attribute("core.typing")
