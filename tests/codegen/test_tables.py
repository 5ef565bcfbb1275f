"""The searches of the tables of dicts and sets, compared with the interpreter: the items that they find and add, and
the cases that they leave to it."""
import ctypes
import random

import pytest

from pyjitc.codegen import link, shared, tables
from pyjitc.runtime import loader, platform



class Pair(ctypes.c_int64 * 2):
    """A key of two ints, in the form in which the helpers take it."""

    @classmethod
    def from_param(cls, key):
        return ctypes.byref(cls(*key))


_TYPES = {"int": ctypes.c_int64, "str": ctypes.py_object, "float": ctypes.c_double, "object": ctypes.py_object,
          "pair": Pair}
_EDGES = [-1, -2, 0, 2**61 - 1, 2**61, 1 - 2**61, -2**63, 2**63 - 1, 2**30, 2**31, -2**30, 2**60, 2**60 - 1]


@pytest.fixture(scope="module")
def helper():
    names = [name for name, text in tables.TEXT.items() if shared.is_shared(name)] if shared.declaration(
        "pyj_dict_get_int") else []
    loader.provide(shared.objects_for(names, link.host_target()))

    def found(name, result=ctypes.c_int):
        _, kind, _, *classes = name.split("_")
        return ctypes.PYFUNCTYPE(result, ctypes.py_object, *(_TYPES[one] for one in classes))(loader.resolve(name))

    return found


def ints(n, R):
    return R.choice([lambda: R.randrange(-n, n), lambda: R.getrandbits(63), lambda: -R.getrandbits(63),
                     lambda: R.choice(_EDGES), lambda: R.randrange(n) * 1024, lambda: R.randrange(n)])()


def texts(n, R):
    return R.choice(["", "é", "Ж", "😀", "a"]) + R.choice([str(R.randrange(n)), "x" * R.randrange(20)])


def pairs(n, R):
    return ints(n, R) if R.random() < 0.3 else R.randrange(-2, n), R.randrange(5)


def test_layouts_are_known():
    assert platform.tables_are_known()


@pytest.mark.parametrize("size", [3, 10, 100, 1000, 20000])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("values", ["int", "float"])
@pytest.mark.parametrize("key, make", [("int", ints), ("str", texts), ("pair", pairs)])
def test_dicts(helper, key, make, values, mixed, size):
    R = random.Random(size)
    get, has, put = (helper(f"pyj_dict_get_{key}", ctypes.c_void_p), helper(f"pyj_dict_has_{key}"),
                     helper(f"pyj_dict_put_{key}_{values}"))
    one = {x: 0 for x in (None, (1, 2), 2.5, b"x", "q", 3)} if mixed else {}
    two = dict(one)
    for _ in range(3 * size):
        k = make(size, R)
        step = R.random()
        if step < 0.5:
            v = R.choice([R.randrange(-10, 300), R.getrandbits(40), -R.getrandbits(29), R.getrandbits(29)])
            v = v if values == "int" else v / 3
            one[k] = v
            assert put(two, k, v) == 0
        elif step < 0.7:
            found = get(two, k)
            assert (found is not None) == (k in one) == has(two, k)
            if found is not None:
                value = ctypes.cast(found, ctypes.py_object).value
                assert (type(value), value) == (type(one[k]), one[k])
        else:
            one.pop(k, None)
            two.pop(k, None)
    assert list(one.items()) == list(two.items())


@pytest.mark.parametrize("size", [3, 10, 100, 1000, 20000])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("key, make", [("int", ints), ("str", texts), ("pair", pairs)])
def test_sets(helper, key, make, mixed, size):
    """The order is compared too, because it shows the position of each key."""
    R = random.Random(size)
    has, add = helper(f"pyj_set_has_{key}"), helper(f"pyj_set_add_{key}")
    one = {None, (1, 2), 2.5, b"x", "q", 3} if mixed else set()
    two = set(one)
    assert list(one) == list(two) or one.clear() is two.clear()
    for _ in range(3 * size):
        k = make(size, R)
        step = R.random()
        if step < 0.5:
            one.add(k)
            assert add(two, k) == 0
        elif step < 0.7:
            assert has(two, k) == (k in one)
        else:
            one.discard(k)
            two.discard(k)
    assert list(one) == list(two)


class Text(str):
    pass


class Odd:
    def __hash__(self):
        return 7

    def __eq__(self, other):
        raise ValueError("odd")


def test_keys_of_other_classes(helper):
    """2.0, True and a subclass of str are equal to native keys; a foreign __eq__ runs, and may raise."""
    get, has = helper("pyj_dict_get_int", ctypes.c_void_p), helper("pyj_dict_has_str")
    d = {2.0: "two", True: "one"}
    assert get(d, 2) == id(d[2.0]) and get(d, 1) == id(d[1])
    assert has({Text("a"): 1}, "a") == 1 and has({1: 2}, "a") == 0 and get({"a": 1}, 3) is None
    assert helper("pyj_set_has_int")({2.0}, 2) == 1
    with pytest.raises(ValueError, match="odd"):
        get({Odd(): 1}, 7)
    with pytest.raises(ValueError, match="odd"):
        helper("pyj_set_add_int")({Odd()}, 7)


def test_attributes_of_instances(helper):
    """Their dicts have separate tables of keys and values."""
    class Point:
        def __init__(self):
            self.x = 5

    p = Point()
    assert helper("pyj_dict_get_str", ctypes.c_void_p)(p.__dict__, "x") == id(5)
    assert helper("pyj_dict_has_str")(p.__dict__, "y") == 0
    assert helper("pyj_dict_put_str_int")(p.__dict__, "x", 77777) == 0 and p.x == 77777


def test_values_in_place(helper):
    """A number is changed in place only if there is no other reference to the object."""
    put = helper("pyj_dict_put_int_int")
    held = int("1000")
    d = {1: held, 2: int("2000"), 3: int("300"), 4: 7}
    before = id(d[2])
    for k, v in ((1, 5000), (2, 5000), (3, 7), (4, 5000)):
        put(d, k, v)
    assert held == 1000 and d == {1: 5000, 2: 5000, 3: 7, 4: 5000} and d[3] is int("7") and id(d[2]) == before
    assert 7 == int("7")
    floats = helper("pyj_dict_put_int_float")
    kept = float("1.5")
    d = {1: kept, 2: float("2.5")}
    floats(d, 1, 9.5)
    floats(d, 2, 9.5)
    assert kept == 1.5 and d == {1: 9.5, 2: 9.5}


@pytest.mark.skipif(platform.DICT_VERSION is None, reason="dicts have no version in this Python")
@pytest.mark.parametrize("key, k", [("int", 5), ("str", "a")])
def test_a_change_gives_a_new_version(helper, key, k):
    """A replaced value changes the version of a namespace; its lowest bits stay the same."""
    put = helper(f"pyj_dict_put_{key}_int")
    d, e = {k: 1}, {k: 1}
    seen = set()
    for v in (2, 3, 1000, 5):  # each replaces an object with other references
        for one in (d, e):
            before = ctypes.c_uint64.from_address(id(one) + platform.DICT["version"]).value
            put(one, k, v)
            after = ctypes.c_uint64.from_address(id(one) + platform.DICT["version"]).value
            assert after not in seen and after & platform.DICT_WATCHERS == before & platform.DICT_WATCHERS
            seen.add(after)
    assert d == e == {k: 5}
