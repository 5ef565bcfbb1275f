"""`except*`: what each clause gets of a group, and what leaves the statement.

The programs are a text, since Python 3.10 cannot read them."""
import sys

import pytest

from pyjitc import CompileError, jit, njit
from tests.oracle import agree

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="except* is of Python 3.11")

PROGRAMS = '''
import sys

class Failures(ExceptionGroup):
    def __new__(cls, message, errors, code):
        made = super().__new__(cls, message, errors)
        made.code = code
        return made

    def derive(self, errors):
        return Failures(self.message, errors, self.code)

def fail(kind):
    if kind == 0:
        return 0
    if kind == 1:
        raise ValueError("one")
    if kind == 2:
        raise ExceptionGroup("flat", [ValueError(1), TypeError(2), ValueError(3)])
    if kind == 3:
        raise ExceptionGroup("deep", [ExceptionGroup("inner", [KeyError("k"), ValueError(4)]), OSError("o")])
    if kind == 4:
        raise KeyError("k")
    raise Failures("own", [ValueError(1), TypeError(2)], 7)

def counted(kind):
    n = 0
    try:
        n += fail(kind)
    except* ValueError:
        n += 1
    except* (TypeError, KeyError):
        n += 10
    else:
        n += 100
    finally:
        n += 1000
    return n

def named(kind):
    seen = []
    try:
        fail(kind)
    except* ValueError as e:
        seen.append(repr(e))
        print("value", e.message, [x.args for x in e.exceptions])
    except* KeyError as e:
        seen.append(str(e))
    return seen

def raised_again(kind):
    try:
        fail(kind)
    except* ValueError:
        raise
    except* TypeError:
        raise RuntimeError("from the clause")

def left(kind):
    """What leaves the statement, with causes and contexts."""
    try:
        try:
            fail(kind)
        except* ValueError as e:
            raise RuntimeError("v") from e
        except* TypeError:
            raise OSError("t")
        except* KeyError:
            pass
    except ExceptionGroup as g:
        return [(repr(x), repr(x.__cause__), repr(x.__context__)) for x in g.exceptions]
    except RuntimeError as x:
        return [(repr(x), repr(x.__cause__), repr(x.__context__))]
    return []

def handled(kind):
    """The handled exception is the part that the clause caught."""
    seen = []
    try:
        try:
            fail(kind)
        except* ValueError:
            seen.append(repr(sys.exc_info()[1]))
            try:
                raise ExceptionGroup("new", [OSError(1), ValueError(2)])
            except* OSError:
                seen.append(repr(sys.exc_info()[1]))
        except* Exception:
            seen.append(repr(sys.exc_info()[1]))
    except* ValueError as g:
        seen += [repr(g), repr(g.__context__)]
    return seen, sys.exc_info()[1]

def collected(xs):
    errors = []
    for x in xs:
        try:
            if x < 0:
                raise ValueError(x)
            print(10 // x)
        except Exception as e:
            errors.append(e)
    if errors:
        raise ExceptionGroup("some", errors)
    return len(xs)

def summed(xs):
    bad = 0
    try:
        return collected(xs)
    except* ValueError as g:
        for e in g.exceptions:
            bad += e.args[0]
    except* ZeroDivisionError as g:
        bad += 1000 * len(g.exceptions)
    return bad

def in_a_loop(xs):
    found = []
    for x in xs:
        try:
            if x % 3 == 0:
                raise ExceptionGroup("e", [ValueError(x), KeyError(x)])
            found.append(x)
        except* ValueError:
            found.append(-x)
        except* KeyError:
            found.append(1000 + x)
    return found

def of_groups(kind):
    try:
        fail(kind)
    except* ExceptionGroup:
        return_ = 1
    return 2

def of_no_exceptions(kind):
    try:
        fail(kind)
    except* (ValueError, int):
        pass
    return 2

def noted(kind):
    try:
        try:
            made = ExceptionGroup("x", [ValueError(1), ExceptionGroup("y", [TypeError(2), OSError(3)])])
            made.add_note("note")
            raise made
        except* TypeError:
            raise
        except* ValueError:
            if kind:
                raise KeyError(kind) from None
        except* OSError as e:
            if kind > 1:
                raise e
    except BaseExceptionGroup as g:
        return repr(g), repr(g.__context__), [(repr(x), repr(x.__context__)) for x in g.exceptions]

def stepped(kinds):
    for kind in kinds:
        try:
            fail(kind)
            yield kind
        except* ValueError as e:
            yield len(e.exceptions)

def generated(kinds):
    return [*stepped(kinds)]
'''
KINDS = [(kind,) for kind in range(6)]
CALLS = {"counted": KINDS, "named": KINDS, "raised_again": KINDS, "left": KINDS, "handled": KINDS,
         "summed": [([1, 2],), ([-1, -2, 0, 5],), ([0],)], "in_a_loop": [([1, 3, 4, 6],)], "of_groups": KINDS,
         "of_no_exceptions": KINDS, "noted": KINDS[:3], "generated": [([0, 1, 2],), ([0, 3],)]}


@pytest.fixture(scope="module")
def programs():
    space = {"__name__": __name__}
    exec(PROGRAMS, space)
    return space


@pytest.mark.parametrize("decorator", (njit, jit))
@pytest.mark.parametrize("name", CALLS)
def test_groups(programs, name, decorator):
    compiled = decorator(programs[name])
    for arguments in CALLS[name]:
        agree(programs[name], *arguments, compiled=compiled)
    assert compiled.signatures, "the interpreter was not left to do it"


def test_what_the_block_does_is_compiled():
    """Only the clauses are the interpreter's: a refusal in the block is one."""
    space = {}
    exec("def f(n):\n    try:\n        n = id(n)\n    except* ValueError:\n        n = 5\n    return n\n", space)
    with pytest.raises(CompileError, match="id\\(\\) has no meaning"):
        njit(space["f"])(0)
