"""A defect in a library function is an error at each call in the program: no crash, no wrong number, no endless
compile."""
import numpy as np
import pytest

from pyjitc import CompileError, TypingError, jit, njit
from pyjitc.infer import analysis, displays, emit, evaluate, operations
from pyjitc.lib.np.arrays import operations as array_operations
from pyjitc.lib.np.elementwise import elementwise
from pyjitc.passes import pipeline
from tests.oracle import agree


@pytest.mark.parametrize("parameters", ["*args", "x, *args", "x, **rest"])
def test_an_element_function_takes_elements_one_by_one(parameters, monkeypatch):
    space: dict = {}
    exec(f"def kernel({parameters}):\n    return 1.0", space)
    # the first is a lazy reference, which caches attributes of the second
    for reader in (array_operations.elementwise, elementwise):
        monkeypatch.setattr(reader, "unary", lambda op, x: elementwise.over(space["kernel"], [], [x]))
    with pytest.raises(TypingError, match=r"the element function kernel\(\) has \* or \*\* parameters"):
        njit(lambda a: -a)(np.arange(3.0))


def test_a_function_that_cannot_be_analysed_is_never_one_without_a_result(monkeypatch):
    def broken(x):
        return x + 1

    made = analysis.Analysis.__init__

    def failing(self, session, spec):
        if spec.proto.qualname.endswith("broken"):
            raise KeyError("a defect")
        made(self, session, spec)

    def f(n):
        s = 0
        for i in range(n):
            s += broken(i) if i > 2 else broken(i)
        return s

    monkeypatch.setattr(analysis.Analysis, "__init__", failing)
    with pytest.raises(TypingError, match="KeyError in the compiler"):
        njit(f)(4)


def test_a_defect_of_a_pass_is_no_exception_of_the_program(monkeypatch):
    """Under jit the interpreter runs the function."""
    def failing(fn, options=None):
        raise KeyError("a defect")

    def first(values, key):
        try:
            return [values[key] + 1]
        except KeyError:
            return []

    monkeypatch.setattr(pipeline.refcount, "run", failing)  # a lazy reference, which keeps what it has found
    with pytest.raises(CompileError, match="KeyError in the compiler: 'a defect'") as found:
        njit(cache=False)(first)({1: 2}, 1)
    assert type(found.value.__cause__) is KeyError and found.value.diagnostic.function.endswith("first")
    assert found.value.diagnostic.line == first.__code__.co_firstlineno
    assert jit(cache=False)(first)({1: 2}, 1) == [3]


def test_a_defect_is_told_where_it_is_found_and_leaves_nothing_half_analysed(monkeypatch):
    def of(x, k):
        made = [x]
        return made.pop() * k

    def f(x):
        return of(x, 1) + of(x, 2.5)

    def unmarked(of_analysis, block, inst):
        raise AssertionError("a list that is written out is no list")

    # the lazy references cache attributes of the module, so the module is the last one
    for reader in (analysis.displays, evaluate.displays, operations.displays, displays):
        monkeypatch.setattr(reader, "changed", lambda fn, shape: set())
        monkeypatch.setattr(reader, "mark", unmarked)
    with pytest.raises(TypingError, match="AssertionError in the compiler"):
        njit(f)(2.0)


def test_a_defect_in_emitting_is_no_exception_of_the_program(monkeypatch):
    def second(values, key):
        try:
            return values[key] + 1
        except KeyError:
            return 0

    def failing(self, gvalue):
        raise KeyError("a defect")

    monkeypatch.setattr(emit._Emission, "use", failing)
    with pytest.raises(TypingError, match="KeyError in the compiler: 'a defect'") as found:
        njit(cache=False)(second)({1: 2}, 1)
    assert found.value.diagnostic.function.endswith("second") and found.value.diagnostic.line


def test_errors_in_functions_that_call_each_other_come_to_an_end():
    """Each visit of an instruction that is refused makes another error, of which only the first is news to callers."""
    def f(tokens):
        place = 0

        def take():
            nonlocal place
            place += 1
            return tokens[place - 1]

        def factor():
            token = take()
            if token == "-":
                return -factor()
            return total() if token == "(" else token

        def product():
            found = factor()
            while place < len(tokens) and tokens[place] == "*":
                take()
                found *= factor()
            return found

        def total():
            found = product()
            while place < len(tokens) and tokens[place] == "-":
                take()
                found -= product()
            return found

        return total()

    with pytest.raises(TypingError, match="unsupported operand|bad operand|can't multiply"):
        njit(f)(["a", "*", "b"])
    agree(f, [2, "*", 3.5, "-", 1])
