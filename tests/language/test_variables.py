"""Variables of the interpreter that compiled code assigns: globals, and those of the function around it."""
import types

import numpy as np
import pytest

from pyjitc import jit, njit

SOURCE = """
count, name, table, ratio = 0, "a", None, 0.5

def touch():
    global count
    count += 10
    return count

@compiler
def summed(n):
    global count, name
    for i in range(n):
        count += i
        touch()
        if count > 1000:
            raise ValueError(f"at {count}")
    name = "b" if n > 3 else "c"
    return count, name

@compiler
def filled(n):
    global table
    before = table
    table = np.zeros(n)
    table[n // 2] = ratio
    return before, table.sum()

@compiler
def scaled(x):
    global ratio
    for _ in range(3):
        ratio = ratio * x
    return ratio

@compiler
def fresh(x):
    global made
    if x > 1:
        made = x
    return made + 1
"""


def modules():
    """The same module for the interpreter and compiled."""
    made = []
    for compiler in (lambda f: f, njit):
        module = types.ModuleType("variables")
        module.np, module.compiler = np, compiler
        exec(compile(SOURCE, "variables.py", "exec"), vars(module))
        made.append(module)
    return made


def both(call, *names):
    def result(module):
        try:
            return call(module)
        except Exception as error:
            return type(error), str(error)

    for plain, compiled in [pair]:
        expected, found = result(plain), result(compiled)
        assert repr(found) == repr(expected)
        for name in names:
            a, b = getattr(plain, name, "missing"), getattr(compiled, name, "missing")
            assert type(a) is type(b) and np.all(a == b), name


@pytest.fixture(autouse=True)
def _pair():
    global pair
    pair = modules()


def test_globals_are_assigned():
    for n in (3, 5, 0, 4):
        both(lambda m: m.summed(n), "count", "name")
    both(lambda m: m.summed(60), "count", "name")  # raises in the middle of the loop


def test_the_interpreter_assigns_between_calls():
    both(lambda m: m.summed(3), "count")
    for value in (5, 2.5, True, np.float32(3), 7):
        for module in pair:
            module.count = value
        both(lambda m: m.summed(2), "count", "name")


def test_types_that_change():
    for x in (2, 0.5, 3, np.float64(2)):
        both(lambda m: m.scaled(x), "ratio")
    both(lambda m: m.filled(4), "table")
    both(lambda m: m.filled(7), "table")


def test_a_global_that_there_was_not():
    both(lambda m: m.fresh(0), "made")
    both(lambda m: m.fresh(5), "made")
    both(lambda m: m.fresh(0), "made")


def test_a_text_where_a_number_was():
    both(lambda m: m.summed(2), "count")
    for module in pair:
        module.count = "text"
        with pytest.raises(TypeError, match="can only concatenate str"):
            module.summed(2)


def counter(compiler):
    k, seen = 0, None

    @compiler
    def add(x):
        nonlocal k, seen
        seen = (k, x)
        k += x
        return k

    @compiler
    def twice(x):
        def inner():
            nonlocal k
            k *= 2
            return k
        return add(x) + inner() + k

    @compiler
    def unset(x):
        nonlocal late
        if x:
            late = x
        return late

    if compiler is None:
        late = 1

    return add, twice, lambda: (k, seen), unset


def test_variables_of_the_function_around():
    plain, compiled = counter(lambda f: f), counter(njit)
    for calls in (((0, 3), (0, 4), (1, 5), (0, 2.5), (1, 2), (1, 0.25)), ((3, 0), (3, 2), (3, 0))):
        for which, x in calls:
            outcomes = []
            for functions in (plain, compiled):
                try:
                    outcomes.append((functions[which](x), functions[2]()))
                except NameError as error:
                    outcomes.append(str(error))
            assert repr(outcomes[0]) == repr(outcomes[1])


G = 5


class Changer(types.SimpleNamespace):
    def change(self):
        global G
        G += 1
        return self


def test_what_the_interpreter_assigns_while_code_runs_is_seen():
    global G
    G = 5

    @jit
    def f(o):
        a = G
        o.change()
        return a, G, sum(G for _ in range(2) if o.change())

    expected = f.py_func(Changer())
    G = 5
    assert f(Changer()) == expected


def test_a_type_that_another_function_changes_is_an_error():
    @jit
    def f(o):
        total = G + 1
        o.become()
        return total + G

    class Text(types.SimpleNamespace):
        def become(self):
            global G
            G = "text"

    global G
    G = 5
    with pytest.raises(TypeError, match="the variable 'G' was of type int when this was compiled"):
        f(Text())
    G = 5


ROUNDS = 0
LAST: object = None


def counted(n):
    global ROUNDS, LAST
    ROUNDS += n
    LAST = n
    return ROUNDS


def test_a_stub_tests_the_types_of_variables_that_are_assigned():
    global ROUNDS, LAST
    compiled = njit(counted)
    for start, last in ((0, None), (5, 1), (2.5, 2), (7, "a"), (True, 3), (1, [1])):
        ROUNDS, LAST = start, last
        result = compiled(2)
        assert result == start + 2 and type(result) is type(start + 2) and LAST == 2
    assert all([native.guarded for native in compiled._natives.values()]), "no call takes the slow path"
    ROUNDS = 1 << 70
    with pytest.raises((TypeError, OverflowError)):
        compiled(2)
    ROUNDS = 0
    assert compiled(2) == 2
