"""llvmlite's shared library, called directly: the functions that are needed to make object code.

Importing `llvmlite.binding` costs 35 ms of a first call's 60, two thirds of it for modules that are not needed here
(docs/performance.md); loading the library alone costs 10. The names and signatures are those of llvmlite 0.50, which
setup.cfg pins. A context of its own separates it from other users of the library in the process.
"""
from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_size_t, c_void_p
from importlib.machinery import PathFinder

from ..base import pages
from ..base.lazy import lazy
from .partition import BODY, FORM, LIBRARY, ORDERED, PACKS, REMAINDERS, STEPS

importing = lazy("importlib.util")  # for installations that the search path alone does not find

__all__ = ["LLVMError", "Machine", "Module", "host", "scalar_stores", "version", "optimise"]

_P = c_void_p
_OUT = POINTER(c_void_p)  # the address of a string that the library allocates
_LARGE = 1 << 16  # characters of a text that counts as large: some 1,500 instructions
_HUGE = 1 << 20
# The most characters of a text in which the mark STEPS counts: in a longer one, other loops would take most of the
# time.
_STEPPED = 1 << 15
_AVAILABLE_EXTERNALLY, _INTERNAL = 1, 8  # linkages: the definition is for inlining only; private to the module
_SIGNATURES = {
    "InitializeNativeTarget": (c_int, ()), "InitializeNativeAsmPrinter": (c_int, ()), "ContextCreate": (_P, ()),
    "InitializeAllTargetInfos": (None, ()), "InitializeAllTargets": (None, ()), "InitializeAllTargetMCs": (None, ()),
    "InitializeAllAsmPrinters": (None, ()),
    "GetProcessTriple": (None, (_OUT,)), "GetHostCPUName": (None, (_OUT,)), "GetHostCPUFeatures": (c_int, (_OUT,)),
    "GetTargetFromTriple": (_P, (c_char_p, _OUT)),
    "CreateTargetMachine": (_P, (_P, c_char_p, c_char_p, c_char_p, c_int, c_char_p, c_char_p, c_int, c_int, c_char_p)),
    "CreateTargetMachineData": (_P, (_P,)), "CopyStringRepOfTargetData": (None, (_P, _OUT)),
    "DisposeTargetData": (None, (_P,)), "ParseAssembly": (_P, (_P, c_char_p, _OUT)),
    "ParseBitcode": (_P, (_P, c_char_p, c_size_t, _OUT)), "LinkModules": (c_int, (_P, _P, _OUT)),
    "SetTarget": (None, (_P, c_char_p)), "SetDataLayout": (None, (_P, c_char_p)), "ModuleFunctionsIter": (_P, (_P,)),
    "FunctionsIterNext": (_P, (_P,)), "DisposeFunctionsIter": (None, (_P,)), "GetValueName": (c_char_p, (_P,)),
    "IsDeclaration": (c_int, (_P,)), "SetLinkage": (None, (_P, c_int)), "DisposeModule": (None, (_P,)),
    "PrintModuleToString": (None, (_P, _OUT)), "SetCommandLine": (None, (c_char_p, c_char_p)),
    "VerifyModule": (c_int, (_P, _OUT)), "DisposeString": (None, (_P,)), "CreatePipelineTuningOptions": (_P, ()),
    "DisposePipelineTuningOptions": (None, (_P,)), "PTOSetLoopInterleaving": (None, (_P, c_bool)),
    "PTOSetLoopVectorization": (None, (_P, c_bool)), "PTOSetSLPVectorization": (None, (_P, c_bool)),
    "PTOSetLoopUnrolling": (None, (_P, c_bool)), "CreatePassBuilder": (_P, (_P, _P)),
    "DisposePassBuilder": (None, (_P,)), "buildPerModuleDefaultPipeline": (_P, (_P, c_int)),
    "RunNewModulePassManager": (None, (_P, _P, _P)), "DisposeNewModulePassManger": (None, (_P,)),
    "CreateNewModulePassManager": (_P, ()), "module_AddAlwaysInlinerPass": (None, (_P, c_bool)),
    "module_AddSROAPass": (None, (_P,)), "module_AddInstCombinePass": (None, (_P,)),
    "module_AddSimplifyCFGPass": (None, (_P,)), "module_AddLoopRotatePass": (None, (_P,)),
    "TargetMachineEmitToMemory": (_P, (_P, _P, c_int, _OUT)), "GetBufferStart": (_P, (_P,)),
    "GetBufferSize": (c_size_t, (_P,)), "DisposeMemoryBuffer": (None, (_P,)),
}


class LLVMError(RuntimeError):
    """Raised where LLVM refuses a module, or its library cannot be used: a defect of the compiler or of the
    installation."""


class _Library:
    """The functions of the library by their short names, as attributes."""

    def __init__(self):
        spec = PathFinder.find_spec("llvmlite") or importing.find_spec("llvmlite")
        if spec is None:
            raise LLVMError("llvmlite is not installed; pyjitc needs llvmlite 0.50")
        name = {"win32": "llvmlite.dll", "darwin": "libllvmlite.dylib"}.get(sys.platform, "libllvmlite.so")
        self.path = path = os.path.join(next(iter(spec.submodule_search_locations)), "binding", name)
        try:
            self.library = library = ctypes.CDLL(path)
        except OSError as error:
            raise _unusable(error) from None
        self.InitializeNativeTarget()
        self.InitializeNativeAsmPrinter()
        self.context = self.ContextCreate()
        if sys.platform == "linux":
            pages.release(library, "LLVMPY_ContextCreate")
        self.others = False  # whether targets other than this machine's have been initialised


    def __getattr__(self, short: str):
        """A function at its first use: most are not used in a first call."""
        try:
            function = getattr(self.library, f"LLVMPY_{short}")
        except AttributeError as error:
            raise _unusable(error) from None
        function.restype, function.argtypes = _SIGNATURES[short]
        setattr(self, short, function)
        return function


def _unusable(error: Exception) -> LLVMError:
    return LLVMError(f"the library of llvmlite cannot be used: {error}; pyjitc needs llvmlite 0.50")


_loaded: list[_Library] = []


def _library() -> _Library:
    if not _loaded:
        _loaded.append(_Library())
    return _loaded[0]


def _text(call, *args) -> str:
    """The string that `call` stores at its last parameter."""
    out = c_void_p()
    call(*args, byref(out))
    return _take(out)


def _take(out: c_void_p) -> str:
    if not out.value:
        return ""
    text = ctypes.string_at(out.value).decode("utf-8", "replace")
    _library().DisposeString(out)
    return text


def host() -> tuple[str, str, str]:
    """(triple, CPU, features) of this process."""
    lib = _library()
    features = sorted(_text(lib.GetHostCPUFeatures).split(","), key=lambda f: f[1:])
    name = _text(lib.GetHostCPUName)
    return _text(lib.GetProcessTriple), name, ",".join(features + scalar_stores(features) + scalar_loads(name))


def scalar_stores(features: list[str]) -> list[str]:
    """Feature flags that LLVM needs besides those of the processor: storing the elements of a vector one by one is
    faster than the scatter instruction of AVX-512."""
    return ["+prefer-no-scatter"] if "+avx512f" in features else []


def scalar_loads(name: str) -> list[str]:
    """Feature flags for loads: the gather instructions of AMD's processors are slower than single loads, those of
    Intel's are faster. name: what LLVM calls the processor."""
    return ["+prefer-no-gather"] if name.startswith("znver") else []


def version() -> tuple[int, int]:
    """A key of this build of LLVM: size and modification time of the library's file."""
    state = os.stat(_library().path)
    return state.st_size, state.st_mtime_ns


class Machine:
    """A target machine; lives as long as the process. layout: its data layout; gpu: code for a GPU's threads, in
    assembly."""

    def __init__(self, triple: str, cpu: str, features: str, level: int = 2):
        lib = _library()
        error = c_void_p()
        self.triple = triple
        self.gpu = triple.startswith("nvptx")
        self.x86 = triple.startswith("x86_64")
        if self.gpu and not lib.others:
            lib.InitializeAllTargetInfos()
            lib.InitializeAllTargets()
            lib.InitializeAllTargetMCs()
            lib.InitializeAllAsmPrinters()
            lib.others = True
        target = lib.GetTargetFromTriple(triple.encode(), byref(error))
        if not target:
            raise LLVMError(_take(error) or f"no target {triple}")
        # Position-independent code reaches every external symbol through a table or a stub, so that images may be
        # anywhere in memory.
        self.pointer = lib.CreateTargetMachine(target, triple.encode(), cpu.encode(), features.encode(), level, b"pic",
                                               b"small", 0, 0, b"")
        if not self.pointer:
            raise LLVMError(f"no code can be made for {cpu}")
        data = lib.CreateTargetMachineData(self.pointer)
        self.layout = _text(lib.CopyStringRepOfTargetData, data)
        lib.DisposeTargetData(data)

    def emit(self, module: "Module", object_code: bool) -> bytes:
        """Object code, or assembly text, of an optimised module."""
        lib = _library()
        error = c_void_p()
        # On x86 loop strength reduction takes a third of the emission, for computations that addressing modes do as
        # well, unless a loop was unrolled or computes the sums of several rows. Region splitting of live ranges takes
        # four fifths of the emission of a function of 1,000 lines at LLVM's own budget, and makes its code larger by
        # half. The options are those of the process, and are restored. Setting one takes 0.1 ms. The copies of a loop
        # with branches need fewer jumps where short blocks are duplicated, as at LLVM's level 3. On x86 LLVM would also
        # turn the selects in these copies, such as the greater of two numbers, into branches, which are predicted
        # badly.
        options = []
        if not (module.unrolled or module.steps):
            options.append((b"-disable-lsr=1", b"-disable-lsr=0"))
        if module.unrolled:
            options.append((b"-tail-dup-placement-threshold=4", b"-tail-dup-placement-threshold=2"))
        if module.unrolled and self.x86:
            options.append((b"-x86-cmov-converter=0", b"-x86-cmov-converter=1"))
        if module.large:
            options.append((b"-grow-region-complexity-budget=2000", b"-grow-region-complexity-budget=10000"))
        if module.huge:  # the scheduler clears a table of all registers of the function for every block
            options.append((b"-enable-misched=0", b"-enable-misched=1"))
        with _options(options):
            buffer = lib.TargetMachineEmitToMemory(self.pointer, module.pointer, int(object_code), byref(error))
        if not buffer:
            raise LLVMError(_take(error) or "no code was made")
        try:
            return ctypes.string_at(lib.GetBufferStart(buffer), lib.GetBufferSize(buffer))
        finally:
            lib.DisposeMemoryBuffer(buffer)


class Module:
    """A parsed module. Raises LLVMError with LLVM's message for an invalid text."""

    def __init__(self, text: str):
        lib = _library()
        error = c_void_p()
        self.large, self.huge = len(text) > _LARGE, len(text) > _HUGE
        self.unrolled = "llvm.loop.unroll.count" in text
        self.packs, self.remainders, self.ordered = PACKS in text, REMAINDERS in text, ORDERED in text
        self.steps = STEPS in text and len(text) <= _STEPPED
        self.allocates = " = alloca " in text  # otherwise the pass that removes variables in memory has nothing to do
        self.pointer = lib.ParseAssembly(lib.context, text.encode(), byref(error))
        message = _take(error)
        if message or not self.pointer:
            raise LLVMError(f"LLVM IR parsing error\n{message}")

    def verify(self) -> None:
        error = c_void_p()
        wrong = _library().VerifyModule(self.pointer, byref(error))
        message = _take(error)
        if wrong:
            raise LLVMError(message)

    def link(self, bitcode: bytes, triple: str, layout: str) -> None:
        """Add a library in bitcode; its definitions become private to this module, and are removed where they are not
        used."""
        lib = _library()
        error = c_void_p()
        other = lib.ParseBitcode(lib.context, bitcode, len(bitcode), byref(error))
        message = _take(error)
        if message or not other:
            raise LLVMError(f"bitcode cannot be read: {message}")
        own = {name for name, defined in self._functions() if defined}
        lib.SetTarget(other, triple.encode())
        lib.SetDataLayout(other, layout.encode())
        self._take_over(other)
        self._functions(lambda name, defined: defined and name not in own, _INTERNAL)

    def join(self, text: str, machine: "Machine") -> None:
        """Add the part of the text that is not to be vectorised (partition.py), after a few passes over it alone."""
        other = self._part(text, machine)
        names = {name for name, _ in other._functions()}
        other.run_few_passes(machine)
        self._take_over(other.pointer)
        self._functions(lambda name, defined: (
            defined and name in names and not name.startswith((LIBRARY, BODY))), _INTERNAL)

    def add_forms(self, text: str, machine: "Machine") -> None:
        """Add the definitions of the vector variants that the vectoriser has called (forms.py), and inline them.
        Definitions that were needed only for that get no code."""
        self._take_over(self._part(text, machine).pointer)
        self._functions(lambda name, defined: defined and name.startswith(FORM), _INTERNAL)
        self._run(machine)
        self._functions(lambda name, defined: name.startswith(FORM) and "." in name, _AVAILABLE_EXTERNALLY)

    @staticmethod
    def _part(text: str, machine: "Machine") -> "Module":
        return Module(f'target triple = "{machine.triple}"\ntarget datalayout = "{machine.layout}"\n{text}')

    def run_few_passes(self, machine: "Machine", combines: bool = True) -> None:
        """Run the few passes after which code without anything to vectorise is nearly as good as after all of them.
        combines: whether the one that combines instructions is among them."""
        lib = _library()
        self._run(machine, *[lib.module_AddSROAPass] * self.allocates, *[lib.module_AddInstCombinePass] * combines,
                  lib.module_AddSimplifyCFGPass, lib.module_AddLoopRotatePass)

    def _run(self, machine: "Machine", *more) -> None:
        """Inline `alwaysinline` functions, then run the passes that `more` adds to a pass manager."""
        lib = _library()
        tuning = lib.CreatePipelineTuningOptions()
        builder = lib.CreatePassBuilder(machine.pointer, tuning)
        passes = lib.CreateNewModulePassManager()
        lib.module_AddAlwaysInlinerPass(passes, False)
        for add in more:
            add(passes)
        lib.RunNewModulePassManager(passes, self.pointer, builder)
        lib.DisposeNewModulePassManger(passes)
        lib.DisposePassBuilder(builder)
        lib.DisposePipelineTuningOptions(tuning)

    def _take_over(self, other) -> None:
        error = c_void_p()
        if _library().LinkModules(self.pointer, other, byref(error)):
            raise LLVMError(f"a module cannot be linked: {_take(error)}")

    def _functions(self, change=None, linkage=_INTERNAL) -> list[tuple[str, bool]]:
        """The (name, whether it is defined here) of all functions; those for which `change` is true get another
        linkage."""
        lib = _library()
        found = []
        functions = lib.ModuleFunctionsIter(self.pointer)
        while function := lib.FunctionsIterNext(functions):
            entry = lib.GetValueName(function).decode(), not lib.IsDeclaration(function)
            if change is None or change(*entry):
                found.append(entry)
                if change is not None:
                    lib.SetLinkage(function, linkage)
        lib.DisposeFunctionsIter(functions)
        return found

    def __str__(self) -> str:
        return _text(_library().PrintModuleToString, self.pointer)

    def dispose(self) -> None:
        """Release the module. It must be called, since the interpreter drops a Ctrl-C that arrives while it runs a
        `__del__`."""
        _library().DisposeModule(self.pointer)


def set_option(text: str) -> None:
    """Set an option of LLVM, for the process."""
    _library().SetCommandLine(b"pyjitc", text.encode())


@contextmanager
def _options(pairs):
    """Context manager: set options of the process, and restore them. pairs: (value inside the block, usual value)."""
    lib = _library()
    for ours, _ in pairs:
        lib.SetCommandLine(b"pyjitc", ours)
    try:
        yield
    finally:
        for _, usual in pairs:
            lib.SetCommandLine(b"pyjitc", usual)


def optimise(module: Module, machine: Machine, level: int) -> None:
    """Run the default pipeline of `level` once."""
    lib = _library()
    tuning = lib.CreatePipelineTuningOptions()
    vectorize = not machine.gpu
    lib.PTOSetLoopVectorization(tuning, vectorize)
    lib.PTOSetLoopInterleaving(tuning, vectorize)
    # Unrolling costs compile time, without a measurable gain besides interleaving. The threads of a GPU are its vector
    # lanes: there loops are unrolled, and never vectorised.
    lib.PTOSetLoopUnrolling(tuning, machine.gpu)
    lib.PTOSetSLPVectorization(tuning, vectorize and module.packs)
    builder = lib.CreatePassBuilder(machine.pointer, tuning)
    # A pass manager may run only once: LLVM aborts the process otherwise.
    passes = lib.buildPerModuleDefaultPipeline(builder, level)
    # The copies of an unrolled loop that may raise test for its end once, not each: a loop of its own makes the other
    # iterations. Sums over short rows whose indices are checked are slower with two loops.
    options = [(b"-unroll-runtime-multi-exit=1", b"-unroll-runtime-multi-exit=0")] if module.remainders else []
    if module.ordered:
        options.append((b"-force-ordered-reductions=1", b"-force-ordered-reductions=0"))
    with _options(options):
        lib.RunNewModulePassManager(passes, module.pointer, builder)
    lib.DisposeNewModulePassManger(passes)
    lib.DisposePassBuilder(builder)
    lib.DisposePipelineTuningOptions(tuning)
