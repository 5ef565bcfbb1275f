"""numba.core.imputils, .datamodel, .pythonapi and .typing.templates: how extensions of Numba register the layout of
their types and the code of their functions. Registrations have no effect, as in numba.extending; other names are
placeholders."""
from __future__ import annotations

import enum
import sys

from .. import extending
from ..absent import Absent
from ..extending import (  # noqa: F401
    NativeValue, box, infer, infer_getattr, infer_global, lower_builtin, lower_cast, lower_constant, lower_getattr,
    lower_getattr_generic, lower_setattr, lower_setattr_generic, models, reflect, type_callable, typeof_impl, unbox,
)
from ..signatures import Signature

__all__ = ["Registry", "register_default", "signature"]

_models = extending.models  # `models` becomes a module when a program imports that submodule
register = register_default = bound_function = extending.register_model
iternext_impl = iterator_impl = lower_builtin


class RefType(enum.Enum):
    """How the iterators of an extension return references: as new ones, or borrowed."""

    BORROWED, NEW, UNTRACKED = 1, 2, 3


def signature(return_type, *args, **kwargs) -> Signature:
    return Signature(return_type, *args)


def impl_ret_borrowed(context, builder, return_type, value):
    """The result of code that an extension writes."""
    return value


impl_ret_new_ref = impl_ret_untracked = impl_ret_borrowed


class Registry:
    """A registry of an extension's own. Its methods register, and have no effect."""

    def __init__(self, name="unspecified"):
        self.name, self.functions, self.getattrs, self.setattrs, self.casts, self.constants = name, [], [], [], [], []

    def __getattr__(self, name: str):
        if name.startswith(("lower", "register", "resolves")):
            return extending.lower_builtin
        raise AttributeError(name)


class _Template:
    """A class of signatures of a function of an extension."""

    key = metadata = None


def make_overload_template(*args, **kwargs) -> type:
    """A class of signatures that an extension makes of an overload. It has no effect."""
    return type("Template", (_Template,), {})


make_overload_attribute_template = make_overload_method_template = make_intrinsic_template = make_overload_template
make_callable_template = make_concrete_template = make_overload_template
AbstractTemplate = AttributeTemplate = CallableTemplate = ConcreteTemplate = _Template


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "registry":  # core.datamodel.registry, which is this module, too
        return sys.modules[__name__]
    return getattr(_models, name, None) or Absent(f"core.{name}")
