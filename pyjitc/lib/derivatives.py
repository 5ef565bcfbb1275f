"""What the functions that `pyjitc.grad` and its kin make call: names for the compiler, each with its rule."""
from __future__ import annotations

from ..infer.meaning import Apply, Derived
from ..ops import structure as s
from .rule import Constant, intrinsic

__all__ = ["gradients", "pulled", "pushed"]


@intrinsic
def gradients(f, argnums: Constant, has_aux: Constant, *args):
    """(f(*args), the gradients of it by the arguments at `argnums`); with has_aux of the first item of the result."""
    return Derived(f, args, "gradient", argnums, (), has_aux)


@intrinsic
def pulled(f, argnums: Constant, cotangent, *args):
    """(f(*args), what the cotangent of the result becomes at the arguments at `argnums`)."""
    return Derived(f, args, "pull", argnums, (cotangent,))


@intrinsic
def pushed(f, argnums: Constant, tangents, *args):
    """(f(*args), its change for these tangents, a tuple, of the arguments at `argnums`)."""
    return Derived(f, args, "push", argnums, [Apply(s.TUPLE_GET, tangents, index=n) for n in range(len(argnums))])
