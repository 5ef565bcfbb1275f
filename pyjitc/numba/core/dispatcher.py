"""numba.core.dispatcher"""
from ...api.dispatch import CompiledFunction as Dispatcher
from ..absent import module_attribute

__all__ = ["Dispatcher"]
__getattr__ = module_attribute("core.dispatcher", frozenset(("LiftedLoop", "LiftedCode", "LiftedWith",
                                                             "ObjModeLiftedWith", "OmittedArg")))
