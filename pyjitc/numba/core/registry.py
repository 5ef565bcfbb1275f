"""numba.core.registry"""
from ...api.dispatch import CompiledFunction as CPUDispatcher
from ..absent import module_attribute

__all__ = ["CPUDispatcher"]
__getattr__ = module_attribute("core.registry", frozenset(("cpu_target", "CPUTarget", "dispatcher_registry",
                                                           "TargetRegistry", "DelayedRegistry")))
