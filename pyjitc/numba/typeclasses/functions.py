"""The types of functions and of classes that are called."""
from __future__ import annotations

import ctypes

import numpy as np

from ...types import kinds
from ..signatures import Signature
from .abstract import Callable, Dummy, Opaque, Type
from .arrays import CPointer, as_dtype
from .scalars import NoneType, RawPointer


class Function(Callable, Opaque):
    """The type of a function that the compiler knows, such as np.sum."""

    def __init__(self, template):
        self.typing_key = template
        super().__init__(f"Function({template})")


class Dispatcher(Callable, Dummy):
    """The type of a compiled function."""

    def __init__(self, dispatcher):
        self.dispatcher = dispatcher
        super().__init__(f"type({dispatcher})")

    @property
    def key(self):
        return self.dispatcher

    @property
    def type(self):
        return kinds.Singleton(self.dispatcher)


class FunctionType(Type):
    """The type of a function with one signature: FunctionType(int64(int64))."""

    def __init__(self, signature):
        self.signature = signature
        arguments = ", ".join(map(str, signature.args))
        super().__init__(f"FunctionType[{signature.return_type}({arguments})]")


Signature.function_type = FunctionType


class NumberClass(Callable, Opaque):
    """The type of a class of numbers, such as np.float64."""

    def __init__(self, instance_type):
        self.instance_type = self.dtype = instance_type
        super().__init__(f"class({instance_type})")


class ExceptionClass(Callable, Opaque):
    def __init__(self, exc_class):
        self.exc_class = exc_class
        super().__init__(exc_class.__name__)


class WrapperAddressProtocol:
    """A function given by its address: subclasses define __wrapper_address__() and signature(). It becomes a ctypes
    function, which compiled code and the interpreter call."""

    def __new__(cls, *args, **kwargs):
        described = object.__new__(cls)
        described.__init__(*args, **kwargs)
        declared = described.signature()
        kinds_of_c = [None if isinstance(t, NoneType) else ctypes.c_void_p if isinstance(t, (CPointer, RawPointer))
                      else np.ctypeslib.as_ctypes_type(as_dtype(t)) for t in (declared.return_type, *declared.args)]
        made = ctypes.PYFUNCTYPE(*kinds_of_c)(described.__wrapper_address__())
        vars(made).update(vars(described), signature=described.signature,
                          __wrapper_address__=described.__wrapper_address__)
        return made
