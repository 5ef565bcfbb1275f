"""Names of Numba without a counterpart in this package: objects that can be imported, and raise an error when they are
used."""
from __future__ import annotations

import importlib.machinery
import types

from ..base.lazy import lazy

_unavailable = lazy("pyjitc.numba.unavailable")

__all__ = ["Absent", "NotThere", "module_attribute", "PRIVATE", "private_module"]


class NotThere(NotImplementedError):
    """Raised where a name of Numba without a counterpart here is used."""


_INSTEAD = {
    "cgutils": "LLVM code of intrinsics is about numbers and pointers; write the function in Python",
    "typed": "pass lists and dicts of Python",
    "libdevice": "kernels compile functions of math and NumPy",
    "jitclass": "njit compiles the methods of ordinary classes: pass their objects",
}



class Absent:
    """A placeholder for numba.<name>."""

    def __init__(self, name: str):
        self.__dict__.update(_name=name, __name__=name.rpartition(".")[2], __module__="numba")

    def _raise(self):
        name = self.__dict__["_name"]
        instead = next((text for part, text in _INSTEAD.items() if part in name.split(".")), None)
        raise NotThere(f"pyjitc has no numba.{name}" + (f": {instead}" if instead else ""))

    def __call__(self, *args, **kwargs):
        self._raise()

    def __getattr__(self, name: str):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__dict__['_name']}.{name}")

    def __getitem__(self, item):
        self._raise()

    def __iter__(self):
        self._raise()

    def __instancecheck__(self, value):
        return False  # nothing is an instance of a class that does not exist

    def __mro_entries__(self, bases):
        return (_of(self.__dict__["_name"]),)

    def __repr__(self):
        return f"<numba.{self.__dict__['_name']}, which pyjitc has not>"


def _of(name: str) -> type:
    def __init__(self, *args, **kwargs):
        Absent(name)._raise()

    return type(name.rpartition(".")[2], (), {"__init__": __init__})


# Private modules of Numba that programs import nevertheless.
PRIVATE = frozenset("""
core.analysis core.annotations core.annotations.pretty_annotate core.annotations.type_annotations core.base
core.boxing core.bytecode core.byteflow core.caching core.callconv core.callwrapper core.ccallback core.codegen
core.compiler core.compiler_lock core.compiler_machinery core.consts core.controlflow core.cpu core.cpu_options
core.datamodel core.datamodel.manager core.datamodel.models core.datamodel.packer core.datamodel.registry
core.datamodel.testing core.debuginfo core.descriptors core.entrypoints core.environment core.event core.extending
core.externals core.fastmathpass core.funcdesc core.generators core.imputils core.inline_closurecall core.interpreter
core.intrinsics core.ir core.ir_utils core.itanium_mangler core.llvm_bindings core.lowering core.object_mode_passes
core.optional core.options core.postproc core.pylowering core.pythonapi core.registry core.removerefctpass
core.retarget core.rewrites core.rewrites.ir_print core.rewrites.registry core.rewrites.static_binop
core.rewrites.static_getitem core.rewrites.static_raise core.runtime core.runtime.context core.runtime.nrt
core.runtime.nrtdynmod core.runtime.nrtopt core.serialize core.sigutils core.ssa core.target_extension
core.targetconfig core.tracing core.transforms core.typeconv core.typeconv.castgraph core.typeconv.rules
core.typeconv.typeconv core.typed_passes core.typeinfer core.types.abstract core.types.common core.types.containers
core.types.function_type core.types.functions core.types.iterators core.types.misc core.types.npytypes
core.types.scalars core.typing.arraydecl core.typing.asnumbatype core.typing.bufproto core.typing.builtins
core.typing.cffi_utils core.typing.cmathdecl core.typing.collections core.typing.context core.typing.ctypes_utils
core.typing.dictdecl core.typing.enumdecl core.typing.listdecl core.typing.mathdecl core.typing.npydecl
core.typing.setdecl core.typing.templates core.unsafe core.unsafe.bytes core.unsafe.eh core.unsafe.nrt
core.unsafe.refcount core.untyped_passes core.utils cpython cpython.builtins cpython.charseq cpython.cmathimpl
cpython.dictimpl cpython.enumimpl cpython.hashing cpython.heapq cpython.iterators cpython.listobj cpython.mathimpl
cpython.numbers cpython.old_hashing cpython.printimpl cpython.randomimpl cpython.rangeobj cpython.setobj
cpython.slicing cpython.tupleobj cpython.unicode cpython.unicode_support cpython.unsafe cpython.unsafe.numbers
cpython.unsafe.tuple experimental.function_type experimental.jitclass.boxing experimental.jitclass.decorators
experimental.jitclass.overloads misc.POST misc.appdirs misc.cffiimpl misc.coverage_support misc.dump_style
misc.findlib misc.firstlinefinder misc.gdb_hook misc.help misc.help.inspector misc.init_utils misc.inspection
misc.literal misc.llvm_pass_timings misc.memoryutils misc.mergesort misc.numba_entry misc.numba_gdbinfo
misc.numba_sysinfo misc.quicksort misc.timsort np.arraymath np.arrayobj np.extensions np.linalg np.math
np.math.cmathimpl np.math.mathimpl np.math.numbers np.npdatetime np.npdatetime_helpers np.npyfuncs np.npyimpl
np.polynomial np.polynomial.polynomial_core np.polynomial.polynomial_functions np.random np.random.distributions
np.random.generator_core np.random.generator_methods np.random.legacy np.random.random_methods np.types
np.types.datetime np.types.datetime_registry np.ufunc.array_exprs np.ufunc.decorators np.ufunc.dufunc np.ufunc.gufunc
np.ufunc.parallel np.ufunc.sigparse np.ufunc.ufunc_base np.ufunc.ufuncbuilder np.ufunc.wrappers np.ufunc_db np.unsafe
np.unsafe.ndarray parfors parfors.array_analysis parfors.ir_utils parfors.parfor parfors.parfor_lowering
parfors.parfor_lowering_utils pycc pycc.cc stencils stencils.stencil stencils.stencilparfor testing typed.dictimpl
typed.dictobject typed.listobject typed.setobject typed.typedobjectutils typed.typedset
cuda.api cuda.api_util cuda.args cuda.cg cuda.codegen cuda.compiler cuda.cuda_paths cuda.cudadecl cuda.cudadrv
cuda.cudadrv.devicearray cuda.cudadrv.devices cuda.cudadrv.driver cuda.cudadrv.drvapi cuda.cudadrv.dummyarray
cuda.cudadrv.enums cuda.cudadrv.error cuda.cudadrv.libs cuda.cudadrv.nvrtc cuda.cudadrv.nvvm cuda.cudadrv.rtapi
cuda.cudadrv.runtime cuda.cudaimpl cuda.cudamath cuda.decorators cuda.descriptor cuda.deviceufunc cuda.dispatcher
cuda.errors cuda.extending cuda.intrinsics cuda.kernels cuda.kernels.reduction cuda.kernels.transpose cuda.libdevice
cuda.models cuda.nvvmutils cuda.simulator cuda.stubs cuda.target cuda.testing cuda.types cuda.ufuncs cuda.vector_types
cuda.vectorizers
""".split())
for _name in list(PRIVATE):
    while "." in _name:
        _name = _name.rpartition(".")[0]
        PRIVATE |= {_name}


def module_attribute(path: str, missing: frozenset[str] | None = None):
    """The `__getattr__` of the module numba.<path>, which returns placeholders for the names in `missing` (for any
    name, where that is None), and for the names that unavailable.py lists for the module."""
    def get(name: str):
        if name.startswith("__") or missing is not None and name not in missing and (
                name not in _unavailable.NAMES.get(path, "").split()):
            raise AttributeError(f"module 'numba{'.' * bool(path)}{path}' has no attribute {name!r}")
        return Absent(f"{path}{'.' * bool(path)}{name}")

    return get


def private_module(path: str) -> types.ModuleType:
    """A module all of whose names are placeholders."""
    made = types.ModuleType(f"pyjitc.numba.{path}")
    made.__path__ = []
    made.__spec__ = importlib.machinery.ModuleSpec(made.__name__, None, is_package=True)
    made.__getattr__ = module_attribute(path)
    return made
