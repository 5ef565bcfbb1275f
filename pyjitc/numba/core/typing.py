"""numba.core.typing"""
from ..absent import module_attribute
from ..special import typeof
from ..types import Signature, Type

__all__ = ["signature", "typeof"]


def signature(result: Type, *args: Type) -> Signature:
    """A signature with this result type and these argument types."""
    return result(*args)


__getattr__ = module_attribute("core.typing")
