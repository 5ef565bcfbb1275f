"""Typed library functions on disk: the next process reads what inference made, and compiles the same code."""
import calendar
import copy
import functools
import gc
import marshal
import math
import operator
import os
import sys
import types
import weakref

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import pyjitc
from pyjitc import njit, typed
from pyjitc.base import kept
from pyjitc.base.options import Options
from pyjitc.codegen import link
from pyjitc.infer import analysis
from pyjitc.lib import extended
from pyjitc.numba.extending import overload
from pyjitc.passes import inline
from pyjitc.pipeline import cache, images, specialisation, stages
from pyjitc.types.typeof import typeof

A = np.linspace(-2.0, 3.0, 12).reshape(3, 4)


def expression(a, b):
    return np.exp(a) * 2.0 + b


def reductions(a):
    return a.mean(axis=0), a.sum(), np.argmax(a), np.median(a.ravel())


def products(a, b):
    c = a @ b.T
    return c, c @ c[0], np.linalg.solve(c + 5.0 * np.eye(3), c[1])


def views(a):
    b = a.reshape(-1)[2:8].copy()
    b[1:3] += 1
    b[a.ravel()[:6] > 0] = 7.0
    return b, np.concatenate((b, b[::-1])), np.where(b > 1, b, 0), np.clip(b, 0.0, 2.0)


def texts(words):
    found = {}
    for word in words.split(","):
        found[word.strip()] = found.get(word.strip(), 0) + 1
    return sorted(found), [len(word) for word in found]


def random(n):
    np.random.seed(3)
    return np.random.normal(0.0, 1.0, n), np.random.randint(0, 9, n)


PROGRAMS = {"expression": (expression, (A, A[::-1])), "reductions": (reductions, (A,)),
            "products": (products, (A, A + 1.0)), "views": (views, (A,)),
            "random": (random, (5,)), "complex": (expression, (A + 2j, A)), "single": (reductions, (A.astype("f4"),))}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for name in ("OF_LIBRARY", "METHODS", "ATTRIBUTES", "OPERATORS"):  # where another test gives meanings
        monkeypatch.setattr(extended, name, type(getattr(extended, name))())
    forget(monkeypatch)
    return tmp_path


def forget(monkeypatch):
    """Compile from now on as a new process does."""
    library = stages.LIBRARY
    monkeypatch.setattr(library, "memo", {})
    monkeypatch.setattr(library, "_images", images.Images(library))
    monkeypatch.setattr(stages, "_bodies", [])
    specialisation._table.clear()


@pytest.fixture
def watched(monkeypatch):
    """(the library functions that were inferred, the texts that LLVM got)."""
    inferred, made = [], []
    begin, to_object = analysis.Analysis.__init__, link.to_object

    def init(self, session, spec):
        if spec.proto.library:
            inferred.append(spec.proto.qualname)
        begin(self, session, spec)

    def compiled(text, target, *level):
        made.append(text)
        return to_object(text, target, *level)

    monkeypatch.setattr(analysis.Analysis, "__init__", init)
    monkeypatch.setattr(link, "to_object", compiled)
    return inferred, made


def ir_of(function, args) -> str:
    """The text of the last IR of a function, with the names of the library functions in it."""
    return stages.inspect(function, tuple(map(typeof, args)), Options(), "opt")


def check(function, args):
    actual, expected = njit(function)(*copy.deepcopy(args)), function(*copy.deepcopy(args))
    assert type(actual) is type(expected)
    for x, y in zip(actual, expected) if type(expected) is tuple else [(actual, expected)]:
        assert type(x) is type(y)
        if isinstance(y, (np.ndarray, np.generic)):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-5)
        else:
            assert x == y


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_next_process_infers_nothing_of_the_library(name, folder, watched, monkeypatch):
    inferred, made = watched
    function, args = PROGRAMS[name]
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    check(function, args)
    assert not list(folder.rglob("*.typed"))
    first, count = made[-1], len(inferred)
    assert count
    forget(monkeypatch)
    ir = ir_of(function, args)
    del inferred[count:]
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    forget(monkeypatch)
    check(function, args)
    assert made[-1] == first and len(inferred) == 2 * count and list(folder.rglob("*.typed"))
    forget(monkeypatch)
    check(function, args)
    # the rest: calls of which nothing is left in the end
    assert made[-1] == first and len(inferred) <= 2 * count + {"reductions": 2, "single": 2, "views": 1}.get(name, 0)
    forget(monkeypatch)
    assert ir_of(function, args) == ir


def test_a_function_that_is_also_in_an_image_is_made_once(folder, watched, monkeypatch):
    """An image is not read where a function in it is being made: there would be two of it in the code."""
    _, made = watched

    def both(a):
        b = a[::2] * 2.0
        a[1:] += a[:-1]
        a[:-1] += a[1:] * 3.0
        return b, a.reshape(2, -1)

    def one(a):
        a[:-1] += a[1:] * 3.0
        return a

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    check(both, (A.ravel(),))
    expected = made[-1]
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    forget(monkeypatch)
    njit(one)(A.ravel().copy())
    for _ in range(3):
        forget(monkeypatch)
        check(both, (A.ravel(),))
        assert made[-1] == expected


def reachable(fn):
    found = [fn]
    for one in found:
        found += [callee for callee in inline.callees(one) if callee not in found]
    return found


def test_what_is_read_is_what_was_written(folder):
    """Encoding what was decoded gives the same again."""
    for function, args in PROGRAMS.values():
        njit(function)(*args)
    count = 0
    for spec in list(stages.LIBRARY.memo.values()):
        try:
            encoded = images._Encoder(stages.LIBRARY.images).run(spec.typed) if spec.typed is not None else None
        except images._NotStored:
            continue
        if encoded is None:
            continue
        other = images.Images(stages.LIBRARY)
        again = images._Decoder(other).run(*marshal.loads(marshal.dumps(encoded)))
        assert (again.result, again.raises, again.image) == (spec.result, spec.raises, spec.image)
        assert images._Encoder(other).run(again.typed) == encoded
        assert all(one.library and one.flags.simplified for one in reachable(again.typed))
        count += 1
    assert count > 50


def test_damaged_images_and_those_of_other_versions_are_not_read(folder, watched, monkeypatch):
    inferred, made = watched
    check(expression, (A, A))
    first, count, files = made[-1], len(inferred), list(folder.rglob("*.typed"))
    for damage in (lambda data: b"", lambda data: data[:-1], lambda data: data[:40] + b"x" + data[41:]):
        for path in files:
            path.write_bytes(damage(path.read_bytes()))
        forget(monkeypatch)
        before = len(inferred)
        check(expression, (A, A))
        assert made[-1] == first and len(inferred) == before + count
    for path in files:  # a right checksum of what no version has written
        kept.keep({str(path): marshal.dumps(({}, ([("pyjitc.types.kinds", "Missing", ())], [], [], [], [])))}, 9)
    forget(monkeypatch)
    check(expression, (A, A))
    assert made[-1] == first
    forget(monkeypatch)
    monkeypatch.setattr(cache, "_versions", ["another version"])
    before = len(inferred)
    check(expression, (A, A))
    assert len(inferred) == before + count and len(list(folder.rglob("*.typed"))) == 2 * len(files)


def test_images_of_changed_files_are_made_again(folder, watched, monkeypatch):
    """A file that is imported counts as it was when it was imported; one without a part in an image does not count."""
    inferred, made = watched
    check(expression, (A, A))
    first, count, files = made[-1], len(inferred), list(folder.rglob("*.typed"))
    states = dict(cache.STATES)
    monkeypatch.setattr(cache, "STATES", states)
    root = os.path.dirname(pyjitc.__file__)
    for path, expected in ((f"{root}/types/kinds.py", count), (None, 0), (f"{root}/unrelated.py", 0),
                           (f"{root}/infer/analysis.py", count)):
        if path is not None:
            states[path] = 1, 2
        forget(monkeypatch)
        before = len(inferred)
        check(expression, (A, A))
        assert made[-1] == first and len(inferred) == before + expected, path
        assert list(folder.rglob("*.typed")) == files


def test_code_that_was_made_with_an_image_depends_on_the_files_that_made_the_image(folder, monkeypatch):
    """They need not be loaded where the image is read."""
    monkeypatch.setattr(cache, "of_images", set())
    unloaded = f"{os.path.dirname(pyjitc.__file__)}/unloaded.py"
    monkeypatch.setitem(cache.STATES, unloaded, (1, 2))
    check(expression, (A, A))
    for path in folder.rglob("*.typed"):
        files, image = marshal.loads(kept.read(str(path)))
        assert files == cache.sources() and any(file.endswith("analysis.py") for file in files)
        kept.keep({str(path): marshal.dumps(({**files, unloaded: (1, 2)}, image))}, 2048)
    assert unloaded not in cache.sources()
    forget(monkeypatch)
    check(expression, (A, A))
    assert cache.sources()[unloaded] == (1, 2)


def test_derivatives_and_batches_are_those_of_the_functions(folder, monkeypatch):
    """A function of an image has its derivatives and its form for batches, which are objects of the library."""
    def loss(x):
        return np.sum((x @ A) ** 2) + np.linalg.solve(x[:, :3] + 9.0 * np.eye(3), x[0, :3]).sum()

    x = np.linspace(0.0, 1.0, 9).reshape(3, 3)
    found = []
    for _ in range(3):
        found.append((njit(loss)(x), pyjitc.grad(loss)(x), pyjitc.vmap(loss)(np.stack((x, x + 1.0)))))
        forget(monkeypatch)
    for value, gradient, batch in found[1:]:
        assert value == found[0][0]
        np.testing.assert_array_equal(gradient, found[0][1])
        np.testing.assert_array_equal(batch, found[0][2])


def test_functions_of_one_text_whose_names_mean_something_else_are_not_confused(folder, monkeypatch):
    """The forms of np.cumsum and np.cumprod for batches are made by one text, with the rule among their globals."""
    def sums(x):
        return x.cumsum()

    def products(x):
        return x.cumprod()

    rows = A[:2] + 5.0
    for function in (sums, products, sums):
        np.testing.assert_array_equal(pyjitc.vmap(function)(rows), [function(row) for row in rows])
        forget(monkeypatch)


def test_exceptions(folder, monkeypatch):
    def fails(a, n):
        return a.reshape(n, 5)

    for _ in range(2):
        with pytest.raises(ValueError) as expected:
            fails(A, 3)
        with pytest.raises(ValueError) as actual:
            njit(fails)(A, 3)
        assert str(actual.value) == str(expected.value)
        forget(monkeypatch)


def test_meanings_that_a_program_registers_are_in_no_image(folder, monkeypatch):
    monkeypatch.setitem(extended.METHODS, "unknown", [lambda args, kwargs: None])
    check(expression, (A, A))
    assert not list(folder.rglob("*.typed"))


@pytest.mark.parametrize("function, stored", [(texts, True), (np.trapezoid, False), (len, False), (math.hypot, False)])
def test_only_overloads_of_what_the_library_may_call_leave_no_image(folder, monkeypatch, function, stored):
    monkeypatch.setattr(extended, "FUNCTIONS", {})
    overload(function)(lambda *args: None)
    check(expression, (A, A))
    assert bool(list(folder.rglob("*.typed"))) == stored


def test_an_entry_that_is_of_the_library_is_compiled_where_a_program_has_called_it(folder, monkeypatch):
    def grouped(values):
        groups = typed.Dict[int, typed.List[float]]()
        for value in values:
            if int(value) not in groups:
                groups[int(value)] = typed.List[float]()
            groups[int(value)].append(value)
        return groups

    for _ in range(2):
        groups = njit(grouped)([1.5, 1.25, 2.5])
        groups[1].append(7)
        assert groups[1].tolist() == [1.5, 1.25, 7.0] and groups[2].tolist() == [2.5]
        forget(monkeypatch)


def test_functions_on_lists_and_dicts_have_none(folder, monkeypatch):
    """The types of their items are those of one program."""
    for _ in range(2):
        check(texts, ("a, b,a",))
        forget(monkeypatch)
    assert not list(folder.rglob("*.typed"))


def test_a_result_with_the_type_variables_of_one_compile_serves_no_other(folder, monkeypatch):
    """The type of the items of a list that a library function returns is found anew in every compile."""
    for _ in range(2):
        check(expression, (A, A))  # from now on functions are looked up
        check(lambda a: a.ravel().tolist(), (A,))
        check(lambda a: [(x, len(a)) for x in a.ravel().tolist()], (A,))
        check(lambda a: list(map(str, np.unique(a).tolist())), (A,))
        forget(monkeypatch)


def renamed(function, k: int):
    """The function under another name: it has code of its own, but calls the same functions of the library."""
    return types.FunctionType(function.__code__.replace(co_name=f"f{k}"), globals())


SERIES = Polynomial([1.0, 2.0, 3.0])


@pytest.mark.parametrize("function, args", [
    (lambda c, domain: Polynomial(c, domain).coef, (A[0], A[0, :2])),
    (lambda c, domain: len(Polynomial(c, domain)), (A[0], A[0, :2])),
    (lambda p: p + p * p, (SERIES,)),
    (lambda p: functools.reduce(Polynomial.__add__, (p, p, p)).coef, (SERIES,)),
    (lambda c: [p.coef for p in map(Polynomial, (c, c))], (A[0],)),
    (lambda years: functools.reduce(calendar.leapdays, years), ((1999, 2000, 2004),)),
    (lambda n: np.fromfunction(calendar.leapdays, (n, 3)), (2,)),
    (lambda years: [isleap for isleap in map(calendar.isleap, years)], ((1999, 2000),)),
    (lambda p: operator.attrgetter("coef")(p), (SERIES,))])
def test_functions_of_python_and_numpy_that_the_library_calls_serve_one_compile(function, args, folder):
    """Passes change functions outside the library in place, and a compile that does not infer them does not find the
    attributes of their objects."""
    check(expression, (A, A))  # from now on functions are looked up
    for k in range(3):
        actual, expected = njit(renamed(function, k))(*args), function(*args)
        assert repr(actual) == repr(expected)


def test_what_a_failed_constructor_has_made_is_released_once(folder):
    """In a function that is compiled after another one with the same constructor."""
    def made(c, window):
        try:
            return repr(Polynomial(c, None, window).window)
        except ValueError as error:
            return str(error)

    check(expression, (A, A))
    for k, window in enumerate((np.array([0, 1]), np.array([0, 1, 2]))):
        check(renamed(made, k), (np.array([1, 2]), window))


def test_an_attribute_that_a_library_function_reads_has_the_types_of_one_compile(folder):
    def read(p):
        return functools.reduce(getattr, ("coef",), p)

    check(expression, (A, A))
    for k, coef in enumerate(([1, 2], [1.5, 2.5], [1j, 2j])):
        assert njit(renamed(read, k))(Polynomial(coef)).tolist() == coef


def test_objects_of_the_program_are_neither_stored_nor_kept_alive(folder):
    def made():
        def key(x):
            return -x

        assert njit(lambda words: sorted(words, key=key))([1, 3, 2]) == [3, 2, 1]
        return weakref.ref(key)

    held = made()
    gc.collect()
    assert held() is None


def test_a_process_holds_a_limited_number_of_specialisations(monkeypatch):
    monkeypatch.setattr(images, "_MOST_HELD", 40)
    held = stages.LIBRARY.images
    for k in range(30):  # library functions are specialised on the constants of the program
        code = expression.__code__.replace(co_consts=tuple(k + 0.5 if c == 2.0 else c
                                                           for c in expression.__code__.co_consts))
        function = type(expression)(code, globals())
        np.testing.assert_allclose(njit(cache=False)(function)(A, A), function(A, A), rtol=1e-15)
        assert len(held.found) + len(held.fresh) <= 40


def test_what_a_held_specialisation_calls_is_held_with_it(monkeypatch):
    """Otherwise a module that calls both would contain the called function twice: once from its caller, once new."""
    monkeypatch.setattr(images, "_MOST_HELD", 12)
    held = stages.LIBRARY.images
    forgotten = 0
    for call in (lambda a: np.mean(a @ a.T), lambda a: np.linalg.det(a @ a), lambda a: np.median(a, axis=0),
                 lambda a: np.sort(a @ a), lambda a: np.linalg.norm(a @ a), lambda a: np.cov(a), lambda a: a @ a):
        before = set(held.found)
        njit(cache=False)(call)(np.eye(3))
        forgotten += len(before - set(held.found))
        for spec in held.found.values():
            for callee in inline.callees(spec.typed):
                image = callee.memo["spec"].image
                assert image is None or held.found[image].typed is callee
    assert forgotten
