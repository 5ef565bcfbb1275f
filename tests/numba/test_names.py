"""pyjitc.numba: Numba's names, their meanings, and their use under the name `numba`."""
import ctypes
import enum
import gc
import os
import pathlib
import pickle
import subprocess
import sys
import types as pytypes
import warnings

import numpy as np
import pytest

import pyjitc
from pyjitc import numba as nb
from pyjitc.numba import errors, types
from pyjitc.numba.experimental import jitclass
from pyjitc.numba.typed import Dict, List
from tests.oracle import same

ROOT = pathlib.Path(pyjitc.__file__).parents[1]
Colour, Size = enum.Enum("Colour", "RED BLUE"), enum.IntEnum("Size", {"BIG": 3})
Bits, Mixed = enum.IntFlag("Bits", "LOW HIGH"), enum.Enum("Mixed", {"A": 1, "B": "x"})


def run(code, *arguments, **variables):
    done = subprocess.run([sys.executable, *arguments, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", nb.__all__)
def test_every_public_name_is_there(name):
    assert getattr(nb, name) is not None


@pytest.mark.parametrize("options", [
    {}, {"nopython": True}, {"nogil": True}, {"cache": True}, {"parallel": True}, {"fastmath": True},
    {"fastmath": {"nnan", "contract"}}, {"error_model": "numpy"}, {"boundscheck": True}, {"boundscheck": None},
    {"inline": "always"}, {"inline": lambda *a: True}, {"locals": {"x": nb.float32}}, {"looplift": False},
    {"debug": True}, {"no_cpython_wrapper": True}, {"device": True}, {"target_backend": "cpu"}, {"overflow": "wrap"}])
def test_options(options):
    def total(a):
        s = 0.0
        for i in nb.prange(len(a)):
            s += a[i]
        return s

    a = np.arange(5.0)
    assert nb.njit(**options)(total)(a) == nb.jit(**options)(total)(a) == 10.0
    assert nb.njit(nb.float64(nb.float64[::1]), **options)(total)(a) == 10.0


def test_mistakes_in_options():
    with pytest.raises(ValueError, match="Only one of"):
        nb.jit(forceobj=True, nopython=True)
    with pytest.raises(KeyError, match="Unrecognized options: {'parrallel'}; did you mean 'parallel'"):
        nb.njit(parrallel=True)
    with pytest.raises(ValueError, match="either a bool or a dict"):
        nb.njit(parallel="yes")
    with pytest.raises(TypeError, match="not a function"):
        nb.njit(5)
    with pytest.raises(TypeError, match="jitclass"):
        nb.njit(int)


@pytest.mark.parametrize("value, text", [
    (1, "int64"), (1.0, "float64"), (True, "bool"), (1j, "complex128"), (np.int8(1), "int8"), (None, "none"),
    (np.ones(3), "array(float64, 1d, C)"), (np.ones((3, 4))[:, ::2], "array(float64, 2d, A)"),
    (np.ones((3, 4)).T, "array(float64, 2d, F)"), ((1, 2), "UniTuple(int64 x 2)"), ((1, 2.0), "Tuple(int64, float64)"),
    ("x", "unicode_type"), ([1], "reflected list(int64)<iv=None>"), ({1: 2.0}, "DictType[int64,float64]<iv=None>"),
    ([[], [1]], "reflected list(reflected list(int64)<iv=None>)<iv=None>"),
    ({1: [], 2: [1.5]}, "DictType[int64,reflected list(float64)<iv=None>]<iv=None>"),
    (b"x", "readonly bytes(uint8, 1d, C)"), (Colour.RED, "Enum<int64>(Colour)"), (Colour, "Enum class<int64>(Colour)"),
    (Size.BIG, "IntEnum<int64>(Size)"), (Size, "IntEnum class<int64>(Size)"), (Bits.LOW, "int64"),
    (np.random.default_rng(1), "NumPyRandomGeneratorType")])
def test_typeof(value, text):
    found = nb.typeof(value)
    assert str(found) == text and found == nb.typeof(value) and hash(found) == hash(nb.typeof(value))
    assert pickle.loads(pickle.dumps(found)) == found


def test_an_enum_with_values_of_several_types_has_no_type():
    for value in (Mixed, Mixed.A):
        with pytest.raises(ValueError, match="have several types"):
            nb.typeof(value)


def test_reflected_is_a_list_or_set_of_the_caller():
    assert str(types.List(types.int32)) == "list(int32)<iv=None>" and not types.List(types.int32).reflected
    assert str(types.List(types.int32, True)) == "reflected list(int32)<iv=None>" and nb.typeof([1]).reflected
    assert str(types.Set(types.int32)) == "set(int32)" and str(nb.typeof({1})) == "reflected set(int64)"
    f = nb.njit(lambda x: len(x))
    assert f([1]) == f({1}) == 1
    assert f.signatures == [(nb.typeof([1]),), (nb.typeof({1}),)]


def test_types_as_values():
    assert types.int64[:, ::1] == types.Array(types.int64, 2, "C") and types.int64[:].layout == "A"
    assert types.int64.bitwidth == 64 and not types.uint8.signed and types.int8.minval == -128
    assert isinstance(types.int64, types.Integer) and isinstance(types.float32, types.Float)
    assert types.Tuple((types.int64,) * 2) == types.UniTuple(types.int64, 2)
    assert types.i8 is types.int64 and types.intp is types.int64 and nb.f4 is types.float32
    assert types.optional(types.int64).type is pyjitc.optional(pyjitc.int64).type
    assert types.unliteral(types.literal(3)) == types.int64 and types.literal(3).literal_value == 3
    assert nb.int32(3.7) == np.int32(3) and type(nb.float32(1)) is np.float32
    signature = nb.float64(nb.int64, nb.float64[:])
    assert signature.return_type == nb.float64 and signature.args == (nb.int64, nb.float64[:])
    assert repr(signature) == "(int64, array(float64, 1d, A)) -> float64"
    assert pyjitc.signature_of(signature) == pyjitc.float64(pyjitc.int64, pyjitc.float64[:])


def test_the_type_of_an_iteration_over_several_arrays():
    a, b, c, d = (types.Array(t, n, layout) for t, n, layout in (
        (types.float32, 1, "C"), (types.float32, 2, "C"), (types.complex64, 2, "F"), (types.int16, 2, "A")))
    e, f = types.Array(types.int16, 0, "C"), types.Array(types.float32, 1, "A")
    for operands, ndim, layout, indexers, shaped in (
            ((e, types.complex64), 0, "C", [("0d", 0, 0, [0]), ("scalar", 0, 0, [1])], False),
            ((a, a, e), 1, "C", [("flat", 0, 1, [0, 1]), ("0d", 0, 0, [2])], False),
            ((f,), 1, "C", [("indexed", 0, 1, [0])], True), ((c,), 2, "F", [("flat", 0, 2, [0])], False),
            ((a, b), 2, "C", [("flat", 1, 2, [0]), ("flat", 0, 2, [1])], True),
            ((b, c, c, d, a), 2, "F", [("indexed", 0, 2, [0, 3]), ("flat", 0, 2, [1, 2]), ("flat", 0, 1, [4])], True)):
        made = types.NumpyNdIterType(operands)
        assert (made.ndim, made.layout, made.indexers, made.need_shaped_indexing) == (ndim, layout, indexers, shaped)
        assert made.dtypes == tuple(getattr(t, "dtype", t) for t in operands)
        assert made == types.NumpyNdIterType(operands)
        assert made.yield_type == (types.Tuple(made.views) if len(operands) > 1 else made.views[0])


def test_arrays_of_records_that_are_not_aligned():
    t = types.Array(nb.from_dtype(np.dtype([("a", "f8", (4,))])), 2, "C")
    assert not t.aligned and types.Array(nb.from_dtype(np.dtype([("a", "f8")], align=True)), 1, "C").aligned


@pytest.mark.parametrize("code", "?bBhHiIlLfdFD")
def test_dtypes(code):
    dtype = np.dtype(code)
    assert nb.as_dtype(nb.from_dtype(dtype)) == dtype


def test_structured_dtypes():
    dtype = np.dtype([("a", "f8"), ("b", "i4", (2,))])
    found = nb.from_dtype(dtype)
    assert nb.as_dtype(found) == dtype and found.typeof("a") == types.float64


def test_the_number_of_a_type():
    """A type keeps its number as long as it lives; another type of its name has another number afterwards."""
    made = types.Dummy("passing")
    number = made._code
    assert types.Dummy("passing")._code == number == pickle.loads(pickle.dumps(made))._code
    assert types.Dummy("other")._code != number
    del made
    gc.collect()
    assert types.Dummy("passing")._code != number
    assert types.Array(types.int16, 2, "C")._code != types.Array(types.int16, 2, "F")._code


def test_types_in_compiled_code():
    def f(x):
        return nb.int32(x), nb.float64(x), nb.literally(x), nb.uint8(7)

    assert same(nb.njit(f)(3), f(3))


def test_threads():
    before = nb.get_num_threads()
    nb.set_num_threads(1)
    assert nb.get_num_threads() == 1
    nb.set_num_threads(before)
    with pytest.raises((ValueError, TypeError)):
        nb.set_num_threads(0)
    assert nb.threading_layer() in ("tbb", "omp", "workqueue")
    with nb.parallel_chunksize(4):
        pass


def test_typed_containers_are_those_of_python():
    assert List([1, 2]) == [1, 2] and isinstance([1], List) and List.empty_list(types.int64) == []
    assert Dict.empty(types.int64, types.float64) == {} and isinstance({}, Dict)

    @nb.njit
    def filled(n):
        found, items, empty = Dict.empty(types.int64, types.float64), List(), List.empty_list(types.int64)
        for k in range(n):
            found[k] = k / 2
            items.append(k)
        return found, items, empty, Dict(), List((1, 2))

    assert filled(2) == ({0: 0.0, 1: 0.5}, [0, 1], [], {}, [1, 2])
    assert nb.njit(lambda x: sum(x))(List([1, 2])) == 3
    assert types.ListType(types.int64).type is nb.typeof([1]).type


@pytest.mark.parametrize("call, text", [
    (lambda: List(23), "List() argument must be iterable"), (lambda: List(2.5), "List() argument must be iterable"),
    (lambda: List(iterable=(0, 1)), "List() takes no keyword arguments"),
    (lambda: Dict(a=1), "Dict() takes no keyword arguments"),
    (lambda: List(1, 2), "ist() expected at most 1 argument, got 2"),
    (lambda: List((1, 2), key=1), "List() takes no keyword arguments")])
def test_items_of_typed_containers(call, text):
    call = pytypes.FunctionType(call.__code__, {"List": List, "Dict": Dict})
    for function, error in ((call, TypeError), (nb.njit(call), errors.TypingError)):
        with pytest.raises(error) as caught:
            function()
        assert text in str(caught.value)
    assert List.empty_list(types.int64, allocated=5) == List(allocated=3) == [] and Dict(n_keys=3) == {}
    assert nb.njit(lambda: (List.empty_list(types.int64, 5), List(allocated=3), Dict(n_keys=3)))() == ([], [], {})


def test_jitclass_keeps_the_class():
    @jitclass([("x", nb.float64)])
    class Point:
        def __init__(self, x):
            self.x = x

    assert Point(2.0).x == 2.0


def test_errors():
    assert errors.TypingError is pyjitc.TypingError and issubclass(errors.NumbaValueError, nb.TypingError)
    assert issubclass(errors.NumbaPerformanceWarning, errors.NumbaWarning)
    assert issubclass(errors.NumbaDeprecationWarning, DeprecationWarning)
    with pytest.raises(nb.NumbaError):
        nb.njit(lambda x: x.nothing)(1)
    assert str(errors.RequireLiteralValue("a text")).startswith("a text")


def test_functions_that_are_deprecated():
    @errors.deprecated("new")
    def old(x):
        return x + 1

    with pytest.warns(DeprecationWarning, match="(?s)\"old\".*\"new\""):
        assert old(1) == 2
    assert old.__name__ == "old"


def test_warnings_that_are_given_later():
    later = errors.WarningsFixer(errors.NumbaWarning)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        with later.catch_warnings("a.py", 10):
            for category in (errors.NumbaWarning, errors.NumbaPerformanceWarning, errors.NumbaWarning, UserWarning):
                warnings.warn(category("slow"))
        assert [w.category for w in given] == [UserWarning]
        later.flush()
        later.flush()
    assert [(w.category, str(w.message), w.filename, w.lineno) for w in given[1:]] == [
        (errors.NumbaPerformanceWarning, "slow", "a.py", 10), (errors.NumbaWarning, "slow", "a.py", 10)]


def test_a_cache_that_a_program_sets():
    from pyjitc.numba.core import caching

    doubled = nb.njit(lambda x: 2 * x)
    doubled._cache = caching.NullCache()
    assert doubled(3) == 6 and doubled._cache.load_overload(None, None) is None


def test_options_that_a_decorator_ignores():
    for name in ("forceobj", "nopython"):
        with pytest.warns(RuntimeWarning, match=f"{name} is set for njit and is ignored"):
            nb.njit(**{name: True})
    with pytest.raises(KeyError, match="Unrecognized options"):
        nb.vectorize(nonexistent=2)(lambda x: x)


def test_object_mode_has_no_signatures():
    for options, count in (({"nopython": True}, 1), ({"forceobj": True}, 0)):
        compiled = nb.jit(**options)(lambda x: x)
        assert compiled(1) == 1 and len(compiled.nopython_signatures) == count
        assert compiled.func_code is compiled.py_func.__code__


def test_functions_with_signatures_keep_their_globals():
    space = {}
    exec("def scaled(x): return x * factor", space)
    made = []
    for factor in (2, 3):
        space["factor"] = factor
        made.append(nb.njit("int64(int64)")(space["scaled"]))
        made.append(nb.vectorize(["int64(int64)"])(space["scaled"]))
    assert [f(5) for f in made] == [10, 10, 15, 15]
    first = made[1]
    assert nb.njit(lambda x: first(x))(5) == 10
    lazy = nb.njit(space["scaled"])
    assert lazy(5) == 15
    space["factor"] = 7
    assert lazy(5) == 35


def test_functions_with_signatures_keep_captured_variables():
    shift = 10

    def shifted(x):
        return x + shift

    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    count = 0

    def counted(x):
        nonlocal count
        count += 1
        return x + count

    made = [nb.njit("int64(int64)")(shifted), nb.jit("int64(int64)", forceobj=True)(shifted)]
    lazy, recursive, counting = nb.njit(shifted), nb.njit("int64(int64)")(factorial), nb.njit("int64(int64)")(counted)
    shift = 20
    assert [f(1) for f in made] == [11, 11] and lazy(1) == 21 and recursive(5) == 120
    assert counting(1) == 2 and counting(1) == 3 and count == 2
    for f in made:
        f.recompile()
    assert [f(1) for f in made] == [21, 21]
    assert nb.jit((), forceobj=True)(lambda: globals())() is globals()


def test_locals_of_callbacks_are_declared():
    def quotient(a, b):
        c = a / b
        return c

    assert nb.cfunc("float64(int64, int64)", locals={"c": nb.int64})(quotient).ctypes(8, 3) == 2.0


class Sub(np.ndarray):
    pass


def test_arrays_of_subclasses_are_arrays():
    a = np.arange(4.0).view(Sub)
    assert nb.njit(lambda a: a.sum())(a) == 6.0 and nb.njit("float64(float64[:])")(lambda a: a.sum())(a) == 6.0
    with pytest.raises(TypeError, match="a subclass of ndarray"):
        pyjitc.njit(lambda a: a.sum())(a)


# -- overloads


def which(x, scale=1):
    raise NotImplementedError


@nb.extending.overload(which)
def _(x, scale=1):
    if isinstance(x, types.Integer):
        return lambda x, scale=1: x * scale
    if isinstance(x, types.Array) and x.ndim == 1:
        def of_array(x, scale=1):
            return x.sum() * scale
        return of_array


@nb.extending.overload_method(types.Array, "twice")
def _(a, n=2):
    return lambda a, n=2: a * n


@nb.extending.overload_attribute(types.Array, "first")
def _(a):
    return lambda a: a[0]


def test_overloads():
    assert nb.njit(lambda x: which(x))(3) == 3
    assert nb.njit(lambda x: which(x, scale=2))(np.arange(4.0)) == 12.0
    with pytest.raises(nb.TypingError, match=r"no overload of which\(\) accepts \(float64\)"):
        nb.njit(lambda x: which(x))(1.5)
    got = nb.njit(lambda a: (a.twice(), a.twice(3), a.first))(np.arange(1, 4))
    assert same(got, (np.arange(2, 8, 2), np.arange(3, 12, 3), np.int64(1)))
    with pytest.raises(nb.TypingError, match="twice"):
        nb.njit(lambda x: x.twice())(1.0)


def test_an_overload_that_raises_is_an_error_of_types():
    def checked(x):
        raise NotImplementedError

    @nb.extending.overload(checked)
    def _(x):
        raise errors.TypingError("wants an array")

    with pytest.raises(nb.TypingError, match="wants an array"):
        nb.njit(lambda x: checked(x))(1)


def test_register_jitable_and_is_jitted():
    @nb.extending.register_jitable
    def helper(x):
        return x + 1

    use = nb.njit(lambda x: helper(x))
    assert helper(1) == use(1) == 2
    assert nb.extending.is_jitted(use) and not nb.extending.is_jitted(helper)


# -- names without a counterpart


def test_what_is_not_there_says_so_when_it_is_used():
    from pyjitc.numba.core import cgutils
    with pytest.raises(nb.NotThere, match="pyjitc has no numba.core.cgutils.create_struct_proxy: "):
        cgutils.create_struct_proxy(1)

    @nb.extending.intrinsic
    def low(context, x):
        return None

    with pytest.raises(nb.TypingError, match=r"low\(\) does not accept \(int64\)"):
        nb.njit(lambda x: low(x))(1)
    with pytest.raises(AttributeError):
        nb.no_such_name


# -- the name


def test_install():
    assert run("""
import pyjitc.numba
pyjitc.numba.install()
import numba, sys
import numba.core.types
from numba.core.types import npytypes, scalars
from numba.core.types.misc import Literal
from numba.core.errors import TypingError
from numba.core import config, types, cgutils
from numba.np.ufunc import vectorize
from numba.np.numpy_support import from_dtype
from numba.typed import List
from numba.experimental import jitclass
from numba.misc.special import literal_unroll
from numba.core.typing.templates import AbstractTemplate
import numba.cuda
assert numba is pyjitc.numba and types is numba.types and numba.cuda.grid is pyjitc.cuda.grid
assert not any("site-packages/numba" in (getattr(m, "__file__", None) or "") for m in sys.modules.values())
try:
    import numba.no_such_module
except ModuleNotFoundError as error:
    print(error.name)
print(numba.njit(lambda x: x + 1)(2))
""") == "numba.no_such_module\n3\n"


def test_install_comes_first():
    assert "imported before" in run("""
import sys, types
sys.modules["numba"] = types.ModuleType("numba")
import pyjitc.numba
try:
    pyjitc.numba.install()
except RuntimeError as error:
    print(error)
""")


def test_the_command(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("from numba import njit, int64\nimport numba\n@njit(int64(int64))\ndef f(x): return x * 2\n"
                      "print(f(4), numba.__version__)\n")
    done = subprocess.run([sys.executable, "-m", "pyjitc", "run", "--as-numba", str(script)], capture_output=True,
                          text=True, cwd=ROOT)
    assert done.stdout == f"8 {nb.__version__}\n", done.stderr


def test_the_variable_by_the_line_that_an_installation_has(tmp_path):
    space = {}
    text = (ROOT / "pyjitc" / "numba" / "wheel.py").read_text()
    exec(text[text.index("LINE ="):text.index("class WithStart")], space)
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nexec({space['LINE']!r})\nprint('numba' in sys.modules)"
    assert run(code, "-S", PYTHONPATH=os.pathsep.join(p for p in sys.path if p), PYJITC_AS_NUMBA="1") == "True\n"
    assert run(code, PYJITC_AS_NUMBA="0") == "False\n"


def test_importing_pyjitc_loads_none_of_it():
    assert run("import pyjitc, sys; print([m for m in sys.modules if m.startswith('pyjitc.numba')])") == "[]\n"


def test_functions_as_arguments():
    @nb.cfunc("int64(int64)")
    def first(x):
        return x + 1

    @nb.njit("int64(int64)")
    def second(x):
        return x * 2

    function = nb.types.FunctionType(nb.types.int64(nb.types.int64))

    @nb.njit(nb.types.int64(function, nb.types.int64))
    def applied(f, x):
        return f(x)

    @nb.njit
    def folded(functions, x):
        for f in functions:
            x = f(x)
        return x

    for _ in range(2):
        assert (applied(first, 3), applied(second, 3)) == (4, 6)
        assert folded((first, second), 3) == folded([first, second], 3) == 8 and folded((second, first), 3) == 7


def test_fields_of_records_are_attributes():
    dtype = np.dtype([("a", np.int32), ("v", np.float64, (3,))])
    rows = np.zeros(4, dtype)

    @nb.njit
    def filled(row, i):
        row.a = i
        row.v[:] = i / 2
        return row.a, row.v.sum()

    @nb.njit
    def f(rows):
        return [filled(rows[i], i) for i in range(len(rows))]

    assert f(rows) == [(i, i * 1.5) for i in range(4)]
    assert rows["a"].tolist() == [0, 1, 2, 3] and rows["v"][3].tolist() == [1.5] * 3


def test_c_functions_are_arguments_and_keep_their_code():
    libm = ctypes.CDLL(None)
    libm.cos.argtypes, libm.cos.restype = [ctypes.c_double], ctypes.c_double
    call = nb.njit(lambda f, x: f(x))

    class Cosine(types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return ctypes.cast(libm.cos, ctypes.c_void_p).value

        def signature(self):
            return nb.float64(nb.float64)

    def address():
        return nb.cfunc("int64(int64)")(lambda i: i + 1).address

    later = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address())
    gc.collect()
    assert later(3) == call(later, 3) == 4
    assert call(libm.cos, 0.5) == call(Cosine(), 0.5) == libm.cos(0.5)
    assert Cosine().signature() == nb.float64(nb.float64)


def test_disabled_compilation():
    same = nb.njit(lambda x: x)
    same(1)
    same.disable_compile()
    with pytest.raises(RuntimeError, match="compilation disabled"):
        same.compile("(complex128,)")
    assert len(same.signatures) == 1
    assert list(same.inspect_asm()) == same.signatures == [(nb.int64,)]
    assert same.inspect_llvm(same.signatures[0]) == same.inspect_llvm((nb.int64,)) == same.inspect_llvm("(int64,)")
    assert "digraph" in str(same.inspect_cfg((nb.int64,), show_wrapper="python"))


def test_report_of_all_signatures():
    f = nb.njit(lambda x: x + 1)
    f(1), f(np.arange(3.0))
    assert len(f.report()) == 2


def test_types_of_records():
    made = types.Record.make_c_struct([("a", types.int8), ("b", types.float64)])
    assert (made.offset("b"), made.alignof("b"), made.size, made.is_title("a"), made.aligned) == (8, 8, 16, False, True)


@pytest.mark.parametrize("signature, layout, text", [
    ("int32[:], int32[:]", "(m, n)->(n)", "type and shape signature mismatch for arg #1"),
    ("int32[:], int32[:,:]", "(n)->(n)", "type and shape signature mismatch for arg #2"),
    ("int32[:], int32, int32[:]", "(n),(n)->(n)", "scalar type int32 given for non scalar argument #2")])
def test_guvectorize_compares_types_with_the_layout(signature, layout, text):
    function = {2: lambda x, out: None, 3: lambda x, y, out: None}[signature.count("int")]
    with pytest.raises(TypeError) as caught:
        nb.guvectorize([signature], layout)(function)
    assert str(caught.value) == text


def _add(x, y):
    return x + y


@pytest.mark.parametrize("call, error, text", [
    (lambda: nb.jit("(intc,intc)")(_add)(1j, np.ones(2)), TypeError,
     "No matching definition for argument type(s) complex128, array(float64, 1d, C)"),
    (lambda: nb.jit("(intc,)")(_add), TypeError,
     "Signature mismatch: 1 argument types given, but function takes 2 arguments"),
    (lambda: nb.jit("(intc,)", forceobj=True)(_add), TypeError,
     "Signature mismatch: 1 argument types given, but function takes 2 arguments"),
    (lambda: nb.jit(nb.njit(_add)), TypeError, "A jit decorator was called on an already jitted function _add"),
    (lambda: nb.jit(int), TypeError, "The decorated object is not a function (got type <class 'type'>)"),
    (lambda: nb.njit(fastmath={"spqr": False})(_add), ValueError, "Unrecognized fastmath flags: 'spqr'"),
    (lambda: nb.njit(fastmath=1337)(_add), ValueError, "Expected fastmath option(s) to be"),
    (lambda: nb.jit(["(f4,f4)", "(i4,i4)"])(_add).compile("(c8,c8)"), RuntimeError, "compilation disabled"),
    (lambda: nb.vectorize(["f8(f8,f8)"], identity=2)(_add), ValueError, "Invalid identity value 2"),
    (lambda: nb.guvectorize(["(f8[:],f8[:])"], "(n)->(n)", identity="none"), ValueError, "Invalid identity value"),
    (lambda: nb.guvectorize(["(f8[:],f8[:])"], ")-:"), ValueError, "bad token in signature"),
    (lambda: nb.guvectorize(["(f8[:],f8[:])"], "(x)->(z,v)"), NameError, "undefined output symbols: v,z"),
    (lambda: nb.set_num_threads("two"), TypeError, "The number of threads specified must be an integer"),
])
def test_mistakes_have_numbas_words(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)
    assert nb.jit("()", forceobj=True)(_add)(1, 2) == 3 == nb.njit(_add).compile("(intc, intc)")(1, 2)


def test_guvectorize_writes_back_to_inputs_that_are_converted():
    def spread(x, y):
        for i in range(x.size):
            x[i] = y[0]

    for dtype in (np.float64, np.float32):
        made = nb.guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=("x",))(spread)
        x = np.zeros(3, dtype)
        made(x, dtype(2))
        assert x.tolist() == [2, 2, 2]
    for wrong, error in (((2,), ValueError), ((-1,), ValueError), (("z",), RuntimeError)):
        with pytest.raises(error, match="writable_args has"):
            nb.guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=wrong)(spread)


def test_modules_and_names_without_a_counterpart_can_be_imported():
    print_all = """
import pyjitc.numba
pyjitc.numba.install()
import numba
from numba.core import cgutils, dispatcher, withcontexts, callwrapper
from numba.core.datamodel.registry import register_default
from numba.core.errors import termcolor
from numba.np.types import NPDatetime
from numba.typed.typedlist import ListType, NativeValue
from numba.types import Poison, c_int64, np_signed_domain, pyfunc_type
print(c_int64, isinstance(1, Poison), hasattr(numba.types, "nothing"), hasattr(numba.core, "nothing"),
      NPDatetime is numba.types.NPDatetime, numba.types.functions.Array is numba.types.scalars.Array)
try:
    termcolor(1)
except NotImplementedError as error:
    print(error)
"""
    shown = run(print_all).splitlines()
    assert shown == ["int64 False False False True True",
                     "pyjitc has no numba.core.errors.termcolor"]


def test_private_modules_that_extensions_use():
    """Registrations of an extension have no effect, and helpers with a meaning in Python have it."""
    found = run("""if True:
        import numba, numpy as np
        from numba.core import types
        from numba.core.imputils import Registry, impl_ret_untracked, lower_builtin
        from numba.core.datamodel import models, register_default
        from numba.core.datamodel.models import StructModel
        from numba.core.pythonapi import NativeValue, box, unbox
        from numba.core.sigutils import is_signature, normalize_signature
        from numba.core.typing.templates import AbstractTemplate, infer_global, signature
        from numba.cpython.unsafe.tuple import tuple_setitem
        from numba.np.extensions import cross2d
        from numba.np.unsafe.ndarray import to_fixed_tuple

        class Kind(types.Type):
            pass

        @register_default(Kind)
        class Model(StructModel):
            pass

        @infer_global(len)
        class Length(AbstractTemplate):
            def generic(self, args, kws):
                return signature(types.intp, *args)

        @Registry("own").lower(len, Kind)
        @lower_builtin(len, Kind)
        def length(context, builder, sig, args):
            return impl_ret_untracked(context, builder, sig.return_type, None)

        @numba.njit
        def f(a):
            shape = to_fixed_tuple(a, 2)
            return shape, tuple_setitem(shape, 1, 9), cross2d(a, np.ones(2, a.dtype))

        a = np.array([2, 3])
        print(f(a) == f.py_func(a), f(a)[0] == (2, 3), f(a)[1] == (2, 9), f(a)[2] == -1)
        print(is_signature("f8(f8)"), is_signature(len), normalize_signature("f8(i8)"), normalize_signature("(i8,)"))
    """, PYJITC_AS_NUMBA="1")
    assert found.split("\n")[0] == "True True True True", found
    assert found.split("\n")[1] == "True False ((int64,), float64) ((int64,), None)"


def test_parts_of_sparse_arrays():
    sparse = pytest.importorskip("scipy.sparse")

    def product(a, x):
        y = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            for k in range(a.indptr[i], a.indptr[i + 1]):
                y[i] += a.data[k] * x[a.indices[k]]
        return y, a.nnz

    a = sparse.csr_array(np.array([[0.0, 2.0], [1.5, 0.0], [0.0, 0.0]]))
    f = nb.njit(product)
    for each in (a, sparse.csr_matrix(a)):
        same(f(each, np.array([1.0, 3.0])), (np.array([6.0, 1.5, 0.0]), 2))
    same(nb.njit(lambda a: (a.row, a.data))(a.tocoo()), (a.tocoo().row, a.data))


def test_names_of_cuda():
    """Kernels read fields of records as attributes; NUMBA_ENABLE_CUDASIM says that there is a GPU."""
    code = """if True:
        import pyjitc.numba
        pyjitc.numba.install()
        import numba, numpy as np
        from numba import cuda
        from numba.cuda.random import create_xoroshiro128p_states
        import numba.cuda.cudadrv.driver

        @cuda.jit
        def moved(points):
            points[cuda.grid(1)].x += 3.0

        @numba.vectorize(["float32(float32, float32)", "float64(float64, float64)"], target="cuda")
        def total(x, y):
            return x + y

        points = np.zeros(2, [("x", "f4"), ("n", "i4")])
        moved[1, 2](points)
        print(points["x"], total(np.arange(3.0), 1.0), cuda.is_available(), cuda.cudadrv is numba.cuda.cudadrv)
    """
    for simulated in ("0", "1"):
        out = run(code, NUMBA_ENABLE_CUDASIM=simulated, NUMBA_DISABLE_CUDA="1")
        assert out == f"[3. 3.] [1. 2. 3.] {simulated == '1'} True\n"


def test_variables_of_the_environment(tmp_path, monkeypatch):
    code = """if True:
        import pyjitc.numba
        pyjitc.numba.install()
        import numba
        function = numba.njit(boundscheck=False)(lambda a, i: a[i])
        print(type(function).__name__, numba.config.CACHE_DIR, numba.get_num_threads())
        print(getattr(function, "options", None))
    """
    for name in ("PYJITC_CACHE_DIR", "PYJITC_NUM_THREADS", "PYJITC_DISABLE"):
        monkeypatch.delenv(name, raising=False)
    given = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(code, **given, NUMBA_DISABLE_JIT="1").startswith(f"function {tmp_path}")
    out = run(code, **given, NUMBA_NUM_THREADS="1", NUMBA_BOUNDSCHECK="1")
    assert out.startswith(f"Dispatcher {tmp_path} 1\n") and "boundscheck=True" in out
    assert "boundscheck=False" in run(code, **given)


def test_ufuncs_without_a_compiler(monkeypatch):
    monkeypatch.setenv("PYJITC_DISABLE", "1")
    for decorate in (nb.vectorize, nb.vectorize(["f8(f8, f8)"])):
        assert decorate(lambda x, y: x + 2 * y)(np.arange(3.0), 1.5).tolist() == [3.0, 4.0, 5.0]


def test_a_program_turns_the_compiler_off(monkeypatch):
    def f(x):
        return x

    class Point:
        pass

    monkeypatch.setattr(nb.config, "DISABLE_JIT", 1)
    assert nb.jit(f) is nb.njit(f) is nb.njit(parallel=True)(f) is nb.jit("int64(int64)")(f) is f
    assert jitclass([("x", nb.int64)])(Point) is jitclass(Point) is Point
    monkeypatch.undo()
    assert nb.njit(f) is not f and nb.njit(f)(3) == 3


def test_modules_by_which_extensions_register_as_attributes():
    """As awkward and pysheds use them."""
    core, typed = nb.core, nb.typed
    assert core.typing.templates.infer_global is nb.extending.infer_global
    for decorator in (core.datamodel.registry.register_default(types.Type),
                      core.imputils.iternext_impl(core.imputils.RefType.BORROWED)):
        assert decorator(len) is len
    assert typed.typedlist.List is typed.List and typed.typeddict.Dict is typed.Dict


def first_and_doubled(a, more):
    first = a + 1
    if more:
        doubled = 2 * first.reshape(1, -1)
    return first, (doubled, 7)


def with_one_more(a, more):
    if more:
        found = a + 1
    return a, found[0]


def with_a_number(a, more):
    if more:
        found = 3
    return a, found


def alone(a, more):
    if more:
        found = a + 1
    return found


def test_an_array_that_is_not_set_is_returned_without_elements():
    """Beside other results, as functions of scanpy return it; what is read, numbers and single results raise."""
    a = np.arange(3.0)
    compiled = nb.njit(first_and_doubled)
    same(compiled(a, True), first_and_doubled(a, True))
    first, (doubled, seven) = compiled(a, False)
    same(first, a + 1)
    assert doubled.shape == (0, 0) and doubled.dtype == float and seven == 7

    @nb.njit
    def total(a, more):
        first, (doubled, _) = compiled(a, more)
        return first.sum() + doubled.sum() if more else first.sum()

    assert total(a, True) == 18.0 and total(a, False) == 6.0
    with pytest.raises(UnboundLocalError, match="'doubled'"):
        pyjitc.njit(first_and_doubled)(a, False)
    for function in (with_one_more, with_a_number, alone):
        same(nb.njit(function)(a, True), function(a, True))
        with pytest.raises(UnboundLocalError, match="'found'"):
            nb.njit(function)(a, False)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_a_system_of_equations_is_solved_in_place(dtype):
    from pyjitc.numba.np.linalg import _LAPACK
    gesv = _LAPACK().numba_xgesv(nb.from_dtype(np.dtype(dtype)))

    @nb.njit
    def solved(a, b):
        n, pivots = len(a), np.empty(len(a), np.int32)
        return gesv(ord("x"), n, b.shape[-1] if b.ndim == 2 else 1, a.ctypes, n, pivots.ctypes, b.ctypes, n)

    a = np.array([[4, 1], [2, 3]], dtype)
    for b in (np.array([1, 2], dtype), np.array([[1, 2], [5, 7]], dtype)):
        wanted = np.linalg.solve(a.T, b.T).T  # the order of Fortran
        assert solved(a, b) == 0
        np.testing.assert_allclose(b, wanted, rtol=1e-6)
    assert solved(np.zeros((2, 2), dtype), np.ones(2, dtype)) == 1


@pytest.mark.parametrize("place", [0, 1])
def test_a_parallel_loop_whose_iterations_depend_on_each_other_runs_on_one_thread(place):
    def carries(a):
        s = 0.0
        for i in nb.prange(len(a)):
            s = s * 0.5 + a[i]
        return s

    def writes_one_element(a):
        for i in nb.prange(len(a)):
            a[0] = a[0] * 0.5 + a[i]
        return a

    function = (carries, writes_one_element)[place]
    a = np.arange(20.0)
    with pytest.warns(pyjitc.ParallelWarning, match="runs on one thread"):
        found = nb.njit(parallel=True)(function)(a.copy())
    assert same(found, function(a.copy()))


def test_a_callback_that_is_returned_is_the_object_that_was_passed():
    @nb.cfunc("int64(int64)")
    def more(x):
        return x + 1

    @nb.cfunc("int64(int64)")
    def less(x):
        return x - 1

    def chosen(f, g, first):
        f(1)
        return f if first else g

    compiled = nb.njit(chosen)
    for _ in range(2):
        assert compiled(more, less, True) is more and compiled(more, less, False) is less
    assert nb.jit(forceobj=True)(chosen)(more, less, True) is more
