"""The object loader: relocations of every code model, externals, protection, errors."""
import ctypes
import gc
import itertools
import math
import re
import signal
import struct
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.runtime import layouts, loader, platform, thunks
from pyjitc.runtime.loader import Image, LoadError, load

llvm = pytest.importorskip("llvmlite.binding")


def compile_(text, codemodel="jitdefault", reloc="default", opt=2):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True, opt=opt, codemodel=codemodel,
                                                                      reloc=reloc)
    return machine.emit_object(llvm.parse_assembly(text))


def function(image: Image, name, result, *args):
    return ctypes.PYFUNCTYPE(result, *args)(image.address(name))


MIXED = """
@counter = global i64 40
@table = internal constant [4 x double] [double 1.0, double 2.0, double 4.0, double 8.0]
@scratch = internal global [1000 x i64] zeroinitializer
@pointer = internal global ptr @counter
@late = common global i64 0
@PyExc_IndexError = external global ptr
@PyFloat_Type = external global i8
declare double @sin(double)
declare ptr @PyFloat_FromDouble(double)
declare i32 @PyErr_Occurred()
define internal double @inner(double %x) noinline {
  %s = call double @sin(double %x)
  %r = fadd double %s, 1.0e-3
  ret double %r
}
define i64 @count() {
  %p = load ptr, ptr @pointer
  %v = load i64, ptr %p
  %w = add i64 %v, 1
  store volatile i64 %w, ptr @counter
  %q = getelementptr [1000 x i64], ptr @scratch, i64 0, i64 999
  store volatile i64 %w, ptr %q
  %u = load volatile i64, ptr %q
  store volatile i64 %u, ptr @late
  ret i64 %u
}
define ptr @boxed(double %x, i64 %i) {
  %p = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %v = load double, ptr %p
  %s = call double @inner(double %x)
  %r = fmul double %v, %s
  %b = call ptr @PyFloat_FromDouble(double %r)
  ret ptr %b
}
define ptr @float_type() {
  ret ptr @PyFloat_Type
}
define ptr @index_error() {
  %p = load ptr, ptr @PyExc_IndexError
  ret ptr %p
}
define i64 @switch(i64 %x) {
  switch i64 %x, label %other [ i64 0, label %a  i64 1, label %b  i64 2, label %c
                                i64 3, label %d  i64 4, label %e  i64 5, label %f ]
a:
  %v0 = call i64 @count()
  ret i64 %v0
b:
  call i32 @PyErr_Occurred()
  ret i64 12
c:
  %v2 = mul i64 %x, 77
  ret i64 %v2
d:
  %v3 = sub i64 %x, 1000
  ret i64 %v3
e:
  ret i64 -5
f:
  %v5 = load volatile i64, ptr @counter
  ret i64 %v5
other:
  ret i64 99
}
"""
MODELS = [m for m in itertools.product(("jitdefault", "small", "large"), ("default", "pic", "static", "dynamicnopic"))]


@pytest.mark.parametrize("codemodel, reloc", MODELS)
@pytest.mark.parametrize("opt", [0, 2])
def test_code_models(codemodel, reloc, opt):
    data = compile_(MIXED, codemodel, reloc, opt)
    try:
        image = load(data)
    except LoadError as error:
        # Without indirection, distant data cannot be reached in the small model: refused, not mislinked.
        assert "too far away" in str(error) and codemodel == "small" and reloc != "pic"
        return
    count = function(image, "count", ctypes.c_int64)
    assert (count(), count()) == (41, 42)
    assert ctypes.c_int64.from_address(image.address("late")).value == 42
    assert ctypes.c_int64.from_address(image.address("counter")).value == 42
    boxed = function(image, "boxed", ctypes.py_object, ctypes.c_double, ctypes.c_int64)
    assert boxed(0.5, 3) == 8.0 * (math.sin(0.5) + 1e-3)
    assert function(image, "float_type", ctypes.c_void_p)() == id(float)
    assert function(image, "index_error", ctypes.c_void_p)() == id(IndexError)
    switch = function(image, "switch", ctypes.c_int64, ctypes.c_int64)
    assert [switch(i) for i in (0, 1, 2, 3, 4, 5, 6)] == [43, 12, 154, -997, -5, 43, 99]
    assert "inner" not in image.symbols


def test_objects_lie_at_their_symbols():
    word = ["a list"]
    text = "@pyjitc_object_0 = external global i8\ndefine ptr @get() {\n ret ptr @pyjitc_object_0\n}"
    image = load(compile_(text), {"pyjitc_object_0": word})
    assert function(image, "get", ctypes.c_void_p)() == id(word)
    assert image.objects["pyjitc_object_0"] is word


@pytest.mark.parametrize("locked", [True, False])
@pytest.mark.parametrize("fails", [False, True])
def test_polls_for_signals_keep_registers(fails, locked):
    """The code holds 14 numbers in registers while a handler of the program runs. locked: whether it runs with the
    interpreter lock; without, the poll takes it."""
    def handler(*_):
        seen.append(sum(math.sin(x) for x in range(100)))
        if fails:
            raise KeyError("raised by the handler")

    seen = []
    names = [f"%p{n}" for n in range(14)]
    lines = ["%sum0 = zext i32 %status to i64"]
    for n, name in enumerate(names):
        lines += [f"%term{n} = mul i64 {name}, {3 ** n}", f"%sum{n + 1} = add i64 %sum{n}, %term{n}"]
    image = load(compile_(f"""
declare i32 @raise(i32)
declare preserve_mostcc i32 @pyj_signals()
define i64 @entry({", ".join(f"i64 {name}" for name in names)}) {{
  %raised = call i32 @raise(i32 {signal.SIGUSR1.value})
  %status = call preserve_mostcc i32 @pyj_signals()
  {"  ".join(f"{line}{chr(10)}" for line in lines)}  ret i64 %sum{len(names)}
}}"""))
    kind = ctypes.PYFUNCTYPE if locked else ctypes.CFUNCTYPE
    entry = kind(ctypes.c_int64, *[ctypes.c_int64] * len(names))(image.address("entry"))
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        if fails:
            with pytest.raises(KeyError if locked else SystemError) as raised:  # ctypes looks for none without the lock
                entry(*range(14))
            assert "raised by the handler" in repr(raised.value if locked else raised.value.__cause__)
        else:
            assert entry(*range(5, 19)) == sum(k * 3 ** n for n, k in enumerate(range(5, 19)))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(seen) == 1


def test_numpy_externals():
    text = """@pyjitc_ndarray_type = external global i8
@pyjitc_numpy_api_3 = external global i8
declare ptr @pyjitc_numpy_api_45(i32)
define ptr @array() {\n ret ptr @pyjitc_ndarray_type\n}
define ptr @descr() {\n ret ptr @pyjitc_numpy_api_3\n}
define ptr @float32() {\n %r = call ptr @pyjitc_numpy_api_45(i32 11)\n ret ptr %r\n}"""
    image = load(compile_(text))
    assert function(image, "array", ctypes.c_void_p)() == id(np.ndarray)
    assert function(image, "descr", ctypes.c_void_p)() == id(np.dtype)
    assert function(image, "float32", ctypes.py_object)() == np.dtype("f4")


def test_given_addresses():
    callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: x * 3)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    text = ("declare i64 @triple(i64)\ndefine i64 @f(i64 %x) {\n %r = call i64 @triple(i64 %x)\n %s = add i64 %r, 1\n "
            "ret i64 %s\n}")
    for codemodel in ("small", "large"):
        image = load(compile_(text, codemodel), addresses={"triple": address})
        assert function(image, "f", ctypes.c_int64, ctypes.c_int64)(5) == 16


BODY = """
@table = internal constant [4 x i64] [i64 1, i64 2, i64 4, i64 8]
@given = external global i8
define hidden i64 @pyjitc_body.f(i64 %n) {
  %at = getelementptr [4 x i64], ptr @table, i64 0, i64 %n
  %v = load i64, ptr %at
  %w = add i64 %v, ptrtoint (ptr @given to i64)
  ret i64 %w
}
"""
CALLER = """
@table = internal constant [2 x i64] [i64 10, i64 20]
@calls = global i64 0
@given = external global i8
declare i64 @pyjitc_body(i64)
define i64 @entry(i64 %n) {
  %c = load i64, ptr @calls
  %d = add i64 %c, 1
  store i64 %d, ptr @calls
  %at = getelementptr [2 x i64], ptr @table, i64 0, i64 %n
  %v = load i64, ptr %at
  %called = call i64 @pyjitc_body(i64 %n)
  %w = sub i64 %called, ptrtoint (ptr @given to i64)
  %r = add i64 %v, %w
  ret i64 %r
}
"""


@pytest.mark.parametrize("reloc", ["default", "pic"])
def test_two_objects_are_one_image(reloc):
    """Their private names are their own, what one does not define the other may, and externals are found once."""
    given = object()
    for order in (1, -1):
        image = load(tuple(compile_(text, reloc=reloc) for text in (BODY, CALLER)[::order]), {"given": given})
        entry = function(image, "entry", ctypes.c_int64, ctypes.c_int64)
        assert [entry(0), entry(1)] == [11, 22]
        assert ctypes.c_int64.from_address(image.address("calls")).value == 2
    with pytest.raises(LoadError):
        load(compile_(CALLER, reloc=reloc), {"given": given})


def test_half_floats():
    text = ("define double @f(double %x) {\n %h = fptrunc double %x to half\n %d = fpext half %h to double\n ret "
            "double %d\n}")
    assert function(load(compile_(text)), "f", ctypes.c_double, ctypes.c_double)(1 / 3) == float(np.float16(1 / 3))


def test_unresolved_symbol():
    text = ("declare void @no_such_function_anywhere()\ndefine void @f() {\n call void @no_such_function_anywhere()\n "
            "ret void\n}")
    with pytest.raises(LoadError, match="unresolved symbol 'no_such_function_anywhere'"):
        load(compile_(text))
    with pytest.raises(LoadError, match="defines no symbol 'g'"):
        load(compile_("define void @f() {\n ret void\n}")).address("g")


def test_weak_symbol_may_be_missing():
    text = """@maybe = extern_weak global i8
define i1 @f() {\n %r = icmp eq ptr @maybe, null\n ret i1 %r\n}"""
    assert function(load(compile_(text)), "f", ctypes.c_bool)() is True


def test_damaged_objects_are_refused():
    good = compile_(MIXED)
    with pytest.raises(LoadError):
        load(b"")
    with pytest.raises(LoadError):
        load(b"\x7fELF" + b"\0" * 100)
    for cut in range(64, len(good), 61):
        with pytest.raises(LoadError):
            load(good[:cut])
    table, = struct.unpack_from("<Q", good, 40)
    count, = struct.unpack_from("<H", good, 60)
    broken = bytearray(good)
    for n in range(count):
        kind, = struct.unpack_from("<I", good, table + 64 * n + 4)
        if kind == 4:
            offset, = struct.unpack_from("<Q", good, table + 64 * n + 24)
            struct.pack_into("<I", broken, offset + 8, 200)  # unknown relocation type
            break
    with pytest.raises(LoadError, match="relocation type 200"):
        load(bytes(broken))


def protection(address):
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, flags = line.split()[:2]
            start, end = (int(x, 16) for x in span.split("-"))
            if start <= address < end:
                return flags[:3]
    return None


def test_write_xor_execute_and_unmapping():
    image = load(compile_(MIXED))
    code, data = image.address("count"), image.address("counter")
    assert protection(code) == "r-x" and protection(data) == "rw-"
    gone = weakref.ref(image)
    del image
    gc.collect()
    assert gone() is None
    with open("/proc/self/maps") as maps:
        spans = [line.split()[0].split("-") for line in maps if line.split()[1].startswith("r-x")]
    assert not any(int(a, 16) <= code < int(b, 16) for a, b in spans)


def test_many_loads_keep_memory_flat():
    data = compile_(MIXED)
    for _ in range(50):
        load(data)

    def mapped():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0])

    before = mapped()
    for _ in range(500):
        load(data)
    assert mapped() - before < 200  # pages


def test_freed_memory_is_used_again():
    resource = pytest.importorskip("resource")

    @njit
    def four(a):
        b = np.sort(a)
        return b[::-1].copy() - np.cumsum(a)

    a = np.arange(300000.0)
    for _ in range(5):
        four(a)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        four(a)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 10 * 500  # an array has 586 pages


def test_vectorcall_of_python_3_10():
    call = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_size_t,
                             ctypes.c_void_p)(thunks.vectorcall())
    values = (1.5, "text", [])
    args = (ctypes.py_object * 3)(*values)
    assert call(lambda *a: a, args, 3, None) == values
    assert call(lambda *a, k: (a, k), args, 2, id(("k",))) == (values[:2], values[2])
    assert call(dict, args, 0, None) == {}

    class Plain:
        def __call__(self, *a, **k):
            return a, k

    names = ("k",)
    assert call(Plain(), args, 2 | 1 << 63, id(names)) == (values[:2], {"k": values[2]})
    with pytest.raises(TypeError):
        call(3, args, 1, None)


def test_platform_check(monkeypatch):
    platform.check()
    monkeypatch.setattr(platform, "_checked", [])
    monkeypatch.setattr(platform, "FLOAT_VALUE", 24)
    with pytest.raises(platform.ABIError, match="layout of float"):
        platform.check()
    with pytest.raises(platform.ABIError):  # remembered
        loader.load(b"")
    monkeypatch.setattr(platform, "_checked", [])
    monkeypatch.setattr(platform, "PLATFORM", ("darwin", "arm64"))
    with pytest.raises(platform.ABIError, match="64-bit x86 Linux"):
        platform.check()


def test_layouts_are_compared_again_where_python_numpy_or_offsets_differ(monkeypatch, tmp_path, tmp_path_factory):
    def checked():
        monkeypatch.setattr(platform, "_checked", [])
        count = len(checks)
        platform.check()
        return len(checks) > count

    checks = []
    monkeypatch.setattr(platform.__spec__, "cached", str(tmp_path / "platform.cpython-311.pyc"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(layouts, "_compare_objects", lambda p: checks.append(1))
    assert checked() and checked() and not list(tmp_path.iterdir())
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert checked() and not checked()
    one, = tmp_path.iterdir()
    one.write_bytes(b"")  # damaged
    assert checked() and not checked()
    with monkeypatch.context() as other:
        other.setattr(sys, "version", "3.11.99")
        assert checked()
    with monkeypatch.context() as other:
        other.setattr(np, "__version__", "2.99.0")
        assert checked()
    with monkeypatch.context() as other:
        folder = tmp_path_factory.mktemp("changed")
        (folder / "layouts.py").write_text("")  # another state of what is compared
        other.setattr(platform, "__file__", str(folder / "platform.py"))
        assert checked()
    with monkeypatch.context() as other:  # NumPy is being replaced while the process runs
        other.setattr(platform, "numpy_core", lambda: SimpleNamespace(__file__=str(tmp_path / "gone.so")))
        other.setattr(layouts, "_compare_numpy", lambda p: None)
        assert checked() and checked()
    with monkeypatch.context() as other:
        other.setattr(platform, "DESCR", {**platform.DESCR, "more": 25})
        assert checked()
    assert not checked()


def test_the_processor_is_known_by_its_model_and_features():
    with open("/proc/cpuinfo") as lines:
        first = dict(re.split(r"\s*:\s?", line, maxsplit=1) for line in lines.read().partition("\n\n")[0].splitlines())
    found = platform.cpu_identity()
    assert all(f": {first[name]}'" in found for name in ("vendor_id", "cpu family", "model", "model name", "stepping",
                                                         "flags"))
    assert "MHz" not in found and first["bogomips"] not in found  # these change
