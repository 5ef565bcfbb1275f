"""raise, try/except/else/finally in all nestings, exception variables, chaining, tracebacks.

PYTEST_DONT_REWRITE: the asserts in the functions have to be compiled unchanged."""
import traceback

import numpy as np
import pytest

from pyjitc import njit
from tests.language.corpus import check, corpus, each
from tests.oracle import agree_on, outcome

case, CASES = corpus()


class Custom(Exception):
    pass


class WithArguments(ValueError):
    def __init__(self, code, text="none"):
        super().__init__(code, text)
        self.code = code

    def __str__(self):
        return f"code {self.code}"


class Child(WithArguments):
    pass


# Raising

@case((0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,), (8,), (9,), (10,), (11,))
def raises(k):
    if k == 0:
        raise ValueError
    if k == 1:
        raise ValueError()
    if k == 2:
        raise KeyError("key", k, 2.5)
    if k == 3:
        raise IndexError(f"{k} is too large: {k * 0.5:.3f}")
    if k == 4:
        raise Custom(k)
    if k == 5:
        raise WithArguments(k, "text")
    if k == 6:
        raise Child(k)
    if k == 7:
        raise StopIteration(k)
    if k == 8:
        raise OSError(2, "not there")
    if k == 9:
        raise Exception((k, None, True))
    if k == 10:
        raise ArithmeticError("a" "b", "c")
    return k


@case((1, 0), (5, 2), (1.0, 0.0))
def divides(a, b):
    return a // b


@case((np.arange(3), 3), (np.arange(3), -4), (np.arange(3), 2))
def indexes(a, i):
    return a[i]


# Catching

@case((0,), (1,), (2,), (3,), (4,))
def which(k):
    try:
        if k == 0:
            raise ValueError("zero")
        if k == 1:
            raise KeyError("one")
        if k == 2:
            raise IndexError("two")
        if k == 3:
            raise Custom(k)
    except ValueError:
        return "value"
    except (KeyError, IndexError) as e:
        return e.args
    except Exception as e:
        return e.args[0]
    else:
        return "else"


@case((0,), (1,))
def catch_all(k):
    try:
        return 10 // k
    except:  # noqa: E722
        return -1


@case((0,), (1,))
def catch_base(k):
    try:
        if k:
            raise Child(k)
        raise WithArguments(k)
    except Child as e:
        return e.code + 100
    except ValueError as e:
        return str(e), e.args


@case((0,), (1,))
def not_caught(k):
    try:
        return 10 // k
    except ValueError:
        return -1


@case((0,), (1,), (2,))
def else_clause(k):
    log = 0
    try:
        log += 1
        if k == 0:
            raise ValueError
    except ValueError:
        log += 10
    else:
        log += 100
        if k == 2:
            raise KeyError(log)
    finally:
        log += 1000
    return log


@case((0,), (1,), (2,))
def finally_runs(k):
    log = 0
    try:
        if k == 1:
            return log
        if k == 2:
            raise ValueError("x")
        log += 1
    except ValueError:
        log += 10
    finally:
        log += 100
    return log


@case((0, np.zeros(1)), (1, np.zeros(1)), (2, np.zeros(1)))
def finally_writes(k, a):
    try:
        if k == 1:
            raise KeyError(k)
        if k == 2:
            return 5
    finally:
        a[0] += 1.0
    return 6


@case((0,), (1,))
def finally_returns(k):
    try:
        if k:
            raise ValueError
        return 1
    finally:
        return 2  # noqa: B012


@case((4,))
def finally_continues(n):
    out = 0
    for i in range(n):
        try:
            if i == 2:
                raise ValueError
            out += i
        finally:
            out += 10
            continue  # noqa: B012
    return out


@case((4,))
def finally_breaks(n):
    out = 0
    for i in range(n):
        try:
            if i == 2:
                raise ValueError
            out += i
        finally:
            if i == 2:
                break  # noqa: B012
    return out


@case((5,))
def break_continue_through_finally(n):
    out = 0
    for i in range(n):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            out += i
        finally:
            out += 100
    else:
        out = -1
    return out


@case((5,))
def return_through_finally(n):
    out = 0
    for i in range(n):
        try:
            try:
                if i == 2:
                    return out
            finally:
                out += 10
        finally:
            out += 100
    return -1


@case((0,), (1,), (2,))
def nested_try(k):
    log = 0
    try:
        try:
            if k == 0:
                raise ValueError
            if k == 1:
                raise KeyError
        except ValueError:
            log += 1
        finally:
            log += 10
        log += 100
    except KeyError:
        log += 1000
    return log


@case((0,), (1,), (2,))
def try_in_handler(k):
    log = 0
    try:
        raise ValueError("first")
    except ValueError as e:
        try:
            if k == 0:
                raise KeyError("second")
            if k == 1:
                raise IndexError("second")
        except KeyError as f:
            log += 1
            log += len(f.args)
        finally:
            log += 10
        log += len(e.args) * 100
    return log


@case((0,), (1,))
def try_in_finally(k):
    log = 0
    try:
        log += 1
        if k:
            log += 10 // (k - 1)
    finally:
        try:
            raise KeyError
        except KeyError:
            log += 100
    return log


@case((0,), (1,), (2,), (3,))
def reraises(k):
    try:
        try:
            if k < 3:
                raise ValueError("inner", k)
        except ValueError:
            if k == 0:
                raise
            if k == 1:
                raise KeyError("outer")
            return "swallowed"
    except KeyError as e:
        return e.args
    return "none"


@case((0,), (1,))
def raise_variable(k):
    try:
        raise ValueError("v", k)
    except ValueError as e:
        if k:
            raise e
        saved = e
    raise saved


@case((0,), (1,))
def exception_as_value(k):
    e = ValueError("made", k)
    if k:
        raise e
    return e.args


@case((0,), (1,))
def variable_is_deleted(k):
    e = 1
    try:
        if k:
            raise ValueError
    except ValueError as e:
        pass
    return e


@case((0,), (1,))
def text_of_exception(k):
    try:
        if k:
            raise KeyError("k", k)
        raise ValueError(f"value {k}")
    except (KeyError, ValueError) as e:
        return str(e), repr(e), f"{e}", e.args


@case((3,), (0,))
def exceptions_in_a_loop(n):
    caught = 0
    for i in range(-n, n + 1):
        try:
            caught += 10 // i
        except ZeroDivisionError:
            caught += 1000
        else:
            caught += 1
        finally:
            caught += 10
    return caught


@case((10,))
def retry(n):
    tries = 0
    while True:
        try:
            tries += 1
            if tries < n:
                raise ValueError(tries)
            return tries
        except ValueError as e:
            if e.args[0] > 5:
                n = 7
            continue


def may_fail(k):
    if k == 0:
        raise ValueError("callee", k)
    return k * 2


def middle(k):
    return may_fail(k) + 1


@case((0,), (1,))
def across_frames(k):
    try:
        return middle(k)
    except ValueError as e:
        return e.args


@case((0,), (1,))
def uncaught_across_frames(k):
    return middle(k) + 1


@case((0,), (1,))
def in_closure(k):
    count = 0

    def work():
        nonlocal count
        count += 1
        if k == 0:
            raise Custom("from inside", count)
        return count

    try:
        work()
    except Custom as e:
        return e.args, count
    return count


@case((0,), (1,), (2,))
def variables_at_the_handler(k):
    x = 1
    y = 2.5
    try:
        x = 2
        if k == 1:
            raise ValueError
        x = 3
        y = x * 1.5
        if k == 2:
            raise KeyError
        x = 4
    except ValueError:
        return x, y, "v"
    except KeyError:
        return x, y, "k"
    return x, y


@case((0,), (1,))
def unbound_at_the_handler(k):
    try:
        if k:
            raise ValueError
        z = 1
    except ValueError:
        pass
    return z


@case((0,), (1,))
def type_changes_in_try(k):
    x = 1
    try:
        x = 2.5
        if k:
            raise ValueError
        x = None
    except ValueError:
        return x
    return x


@case((0,), (1,))
def none_from_handler(k):
    try:
        return 1 // k
    except ZeroDivisionError:
        pass


@case((5,))
def assert_caught(n):
    try:
        assert n < 3, "large"
    except AssertionError as e:
        return e.args
    return 0


@case((0,), (1,), (2,))
def exception_class_in_variable(k):
    kind = ValueError if k else KeyError
    if k == 2:
        return 0
    raise kind("chosen", k)


@case((0, 0), (0, 1), (1, 0), (1, 1))
def caught_class_in_variable(k, j):
    kind = ValueError if k else KeyError
    try:
        if j:
            raise ValueError(k)
        raise KeyError(k)
    except kind as e:
        return e.args


ERRORS = (ValueError, KeyError)


@case((0,), (1,), (2,))
def classes_from_global(k):
    try:
        if k == 0:
            raise ValueError
        if k == 1:
            raise KeyError
        raise IndexError("no")
    except ERRORS:
        return k


@case((0,), (1,))
def raise_in_else(k):
    try:
        pass
    except ValueError:
        return -1
    else:
        if k:
            raise ValueError("else")
    return 0


@case((0,))
def raise_in_finally(k):
    try:
        raise ValueError("first")
    finally:
        raise KeyError("second")


@case((0,), (1,))
def raise_in_except(k):
    try:
        return 1 // k
    except ZeroDivisionError:
        raise Custom("replaced", k)  # noqa: B904


@case((0,), (1,), (2,))
def raise_from(k):
    try:
        return 1 // k
    except ZeroDivisionError as e:
        if k == 0:
            raise Custom("with a cause") from e
    if k == 2:
        raise KeyError("none") from None
    return k


@case((0,))
def raise_from_class(k):
    raise ValueError("v") from KeyError


@case((0,))
def raise_from_new(k):
    raise ValueError("v") from KeyError("k", k)


@case((0,))
def raise_from_none_in_handler(k):
    try:
        return 1 // k
    except ZeroDivisionError:
        raise ValueError("clean") from None


@case((0,))
def context_through_frames(k):
    try:
        middle(k)
    except ValueError:
        middle(k)
    return 0


@case((0,))
def context_three(k):
    try:
        try:
            return 1 // k
        except ZeroDivisionError:
            raise KeyError("two")  # noqa: B904
    except KeyError:
        raise Custom("three")  # noqa: B904


@case((0,), (1,))
def handled_then_raised_again(k):
    try:
        raise ValueError("gone")
    except ValueError:
        pass
    raise KeyError("alone")


@case((0,))
def exception_attributes(k):
    try:
        raise ValueError("first")
    except ValueError as e:
        f = KeyError("second")
        return e.__class__ is ValueError, e.args[0], f.args, e.__cause__ is None


@case((0,), (3,))
def isinstance_of_exception(k):
    try:
        if k:
            raise KeyError(k)
        raise ValueError(k)
    except Exception as e:
        if isinstance(e, KeyError):
            return 1
        return 2


@case((5,))
def raise_not_exception(n):
    if n > 3:
        raise TypeError("plain")
    return n


@case((5,))
def bare_raise_without_exception(n):
    if n > 3:
        raise
    return n


@case((3,))
def deep_loop_of_handlers(n):
    total = 0
    for i in range(n):
        for j in range(n):
            try:
                try:
                    total += i // j
                except ZeroDivisionError:
                    total += 100
                    if i == 2:
                        raise
                finally:
                    total += 1
            except ZeroDivisionError:
                total += 10000
                break
    return total


@case((0,), (1,), (2,), (3,))
def missing_key_is_returned(k):
    """The item of a dict display that has no such key is certain to raise."""
    try:
        if k == 1:
            return {}["q"]
        if k == 2:
            return {"p": k}["q"], k
        if k == 3:
            raise ValueError(k) from KeyError("b")
    except KeyError as e:
        return e.args
    return k


def chain(error):
    """(class, args, kind of link) of an exception and of its causes and contexts."""
    out = []
    while error is not None:
        out.append((type(error), error.args, error.__cause__ is not None, error.__suppress_context__))
        error = error.__cause__ or error.__context__
    return out


def frames(error, files):
    return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__) if f.filename in files
            and f.name not in ("outcome", "check", "test_chains_and_tracebacks")]


@each(CASES)
def test_agrees(function, calls):
    check(function, calls)


@each([row for row in CASES if row[0] is not bare_raise_without_exception])  # it has no traceback entry yet
def test_chains_and_tracebacks(function, calls):
    compiled = njit(function)
    for args in calls:
        how, expected, *_ = outcome(function, args)
        how2, actual, *_ = outcome(compiled, args)
        assert how == how2
        if how == "raises":
            assert chain(actual) == chain(expected)
            while expected is not None:
                assert frames(actual, [__file__]) == frames(expected, [__file__])
                assert (actual.__context__ is None) == (expected.__context__ is None)
                expected, actual = expected.__context__, actual.__context__


def test_exception_class_that_refuses_its_arguments():
    def refuses(k):
        raise WithArguments()

    with pytest.raises(TypeError, match="missing 1 required positional argument: 'code'"):
        njit(refuses)(1)


def test_multi_line_expressions_have_the_line_of_the_part():
    def spread(a, b):
        x = (a +
             b +
             a // b)
        return middle(
            x - x
        )

    for args in ((1, 0), (1, 1)):
        expected, actual = outcome(spread, args)[1], outcome(njit(spread), args)[1]
        assert frames(actual, [__file__]) == frames(expected, [__file__])


def formatted(i, small, x):
    if i == 1:
        raise IndexError(f"no {i} of {small} 100%s {{}} %d")
    if i == 2:
        raise KeyError(f"{i}")
    if i == 3:
        raise ValueError("plain 50%")
    if i == 4:
        try:
            raise ValueError(f"a{i}b")
        except ValueError as error:
            raise KeyError(f"c{i}") from error
    if i == 5:
        try:
            raise ValueError(f"a{i}b")
        except ValueError:
            raise KeyError(f"c{i}")
    if i == 6:
        raise OSError(f"x{i}")
    if i == 7:
        raise ValueError(f"{x}{i}{x} é")
    message = f"{i}"
    if i == 8:
        raise ValueError(message)
    if i == 9:
        raise ValueError(message)
    if i == 10:
        raise UnicodeError(f"{i}")
    if i == 11:
        raise StopIteration(f"x{i:5d}{small!r}")
    return i


@pytest.mark.parametrize("i", range(13))
def test_formatted_messages(i):
    compiled = njit(formatted)
    for small in (np.uint8(200), np.int16(-3), np.uint64(2**64 - 1), -7):
        results = []
        for function in (formatted, compiled):
            try:
                results.append(function(i, small, 2.5))
            except Exception as error:
                results.append((type(error), error.args, type(error.__cause__), type(error.__context__),
                                error.__suppress_context__))
        assert results[0] == results[1]


# Attributes of exceptions besides their arguments

def undefined(k):
    return k + not_defined_anywhere


def empty_cell(k):
    def inner():
        return value
    if k > 1:
        value = k
    return inner()


def empty_local(k):
    if k > 1:
        value = k
    return value


def imports(k):
    if k == 0:
        raise ImportError("no such thing", name="module", path="somewhere")
    if k == 1:
        raise ModuleNotFoundError(name="module")
    raise AttributeError("nothing", name="field")


def wrong_keyword(k):
    raise ImportError("a", nothing=k)


@pytest.mark.parametrize("function, args", [(undefined, (1,)), (empty_cell, (1,)), (empty_local, (1,)),
                                            *((imports, (k,)) for k in range(3)), (wrong_keyword, (1,))])
def test_attributes_of_exceptions(function, args):
    def told(f):
        with pytest.raises(Exception) as caught:
            f(*args)
        error = caught.value
        return type(error), error.args, *(getattr(error, name, "none") for name in ("name", "path", "obj"))

    assert told(njit(function)) == told(function)


# Attributes of exceptions

class Coded(ValueError):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def fails(k):
    if k == 0:
        raise Coded(5)
    if k == 1:
        raise OSError(2, "no")
    raise KeyError("k")


def asked(k, name):
    try:
        fails(k)
    except ValueError as e:
        return getattr(e, "code", None), hasattr(e, "code"), hasattr(e, "zz"), getattr(e, "zz", 7), hasattr(e, name)
    except Exception as e:
        return getattr(e, "errno", -1), hasattr(e, "errno"), getattr(e, "args"), getattr(e, name, "none")


def assigned(xs):
    found, err = [], None
    for i, x in enumerate(xs):
        try:
            found.append(10 // x)
        except ZeroDivisionError as e:
            e.index, e.items, e.pair = i, xs, (i, "s", [1.5])
            xs.append(99)
            found.append(e.index + 1)
            err = e
            break
    else:
        return found, None
    err.items.append(7)
    del err.pair
    try:
        err.pair
    except AttributeError as e:
        found.append(str(e))
    return found, err.items, xs, hasattr(err, "pair")


def arguments(n):
    e = ValueError("m")
    e.__cause__ = KeyError(n)
    e.args = (n, 2)
    held = [1, 2]
    e.held = held
    held.append(3)
    try:
        raise e
    except ValueError as e:
        print(e.args, e.held, repr(e.__cause__))
        raise


@pytest.mark.parametrize("function, calls", [
    (asked, [(0, "code"), (1, "errno"), (2, "qq")]), (assigned, [([5, 0, 2],), ([1],)]), (arguments, [(4,)])])
def test_attributes(function, calls):
    agree_on(function, *calls)
