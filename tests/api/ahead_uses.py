"""A script that compares the compiled functions of ahead_sample with the interpreter, where only NumPy is installed."""
import pickle
import sys
import traceback

import ahead_sample as sample
import numpy as np


def outcome(function, args):
    try:
        return function(*args)
    except Exception as error:
        entries = traceback.extract_tb(error.__traceback__)[1:]
        return type(error), str(error), [(entry.name, entry.lineno, entry.line, entry.filename) for entry in entries]


def same(a, b):
    return type(a) is type(b) and (np.array_equal(a, b) and a.dtype == b.dtype if isinstance(a, np.ndarray) else a == b)


def entered(function, *args):
    """The number of Python functions that a call enters."""
    seen = []
    function(*args)
    sys.setprofile(lambda frame, event, arg: seen.append(event) if event == "call" else None)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return len(seen)


assert not any(name.partition(".")[0] in ("pyjitc", "llvmlite") for name in sys.modules)
for function, args in sample.CALLS:
    found, expected = outcome(function, args), outcome(function.__wrapped__, args)
    assert same(found, expected), (function, args, found, expected)
assert same(sample.keywords(sample.A, high=3.0), sample.keywords.__wrapped__(sample.A, high=3.0))
counter = sample.Counter(1)
assert (counter.add(2), counter.add(3), counter.count) == (3, 6, 6)
assert sample.total(n=np.int64(3), a=sample.A) == sample.total(sample.A, 3)
assert sample.total.__doc__ == "The sum of the first elements, scaled."
assert pickle.loads(pickle.dumps(sample.total)) is sample.total
assert pickle.loads(pickle.dumps(sample.ADDERS[1]))(1) == 11
for function, args in ((sample.total, (sample.A, 3)), (sample.twice, (3,)), (sample.fibonacci, (5,))):
    assert entered(function, *args) == 0, function
shown = {}
for name, call in {"types": lambda: sample.total("x", 3), "count": lambda: sample.total(),
                   "more": lambda: sample.product(sample.A, 3)}.items():
    try:
        call()
    except TypeError as error:
        shown[name] = str(error)
    else:
        raise AssertionError(name)
assert shown["types"] == ("total() has no code for (str, int); the package was built with code for "
                          "(float64[:], int)"), shown
assert shown["count"] == "total() missing 1 required positional argument: 'a'", shown
assert shown["more"].startswith("product() has no code for (float64[::1], int); the package"), shown
sample.SCALE = 3.0  # only the default has been used before
assert sample.total(sample.A, 3) == 7.5
sample.TABLE = [1.0, 2.0, 4.0]
try:
    sample.looked_up(1)
except TypeError as error:
    assert "TABLE has another value than when the package was built" in str(error), error
else:
    raise AssertionError
assert not any(name.partition(".")[0] in ("pyjitc", "llvmlite") for name in sys.modules)
print("all as in the interpreter")
