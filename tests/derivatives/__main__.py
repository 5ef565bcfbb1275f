"""Differentiates generated programs by the thousand: python -m tests.derivatives FIRST LAST [--wide] [--memory]
[--second] [--batch] [--single] [--quick].

Each program's gradient is compared with forward mode in one direction, and the values of both with the interpreter's;
where the modes disagree, the interpreter's central differences say which is right. Batches run in processes of
their own, so that a crash is one finding. Prints what differs, and a count of each outcome at the end.
--wide: programs with more forms; --memory: also the gradient in bounded memory; --second: also the derivative of the
gradient in one direction, against differences of gradients; --batch: also a batch of gradients, and the gradient of a
batch, against the gradient of each example; --single: arrays of float32; --quick: without LLVM's
optimiser and the passes that only make code faster, which takes less than half the time.
"""
import dataclasses
import math
import subprocess
import sys
from collections import Counter

import numpy as np

from tests.derivatives.generated import program

_BATCH = 50
_FINE = ("agrees", "refused", "not finite", "raises", "no number in reverse mode", "memory refused", "second refused",
         "batch refused")


def _failed(error):
    """The word for what a derivative raised: whether it says that there is none, or fails otherwise."""
    from pyjitc import TypingError, UnsupportedError
    refused = isinstance(error, UnsupportedError) or (
        isinstance(error, TypingError) and error.diagnostic.message.endswith(("no derivative", "not compiled yet")))
    return "refused" if refused else "error"


def outcome(seed, options=()):
    """(word, detail) of the program of a seed."""
    from pyjitc import jvp, value_and_grad

    random = np.random.default_rng(5)
    x, m = random.normal(size=6), random.normal(size=(6, 6)) * 0.4
    dx, da, dm = random.normal(size=6), 0.37, random.normal(size=(6, 6))
    exact, close = 1e-9, 1e-8
    if "--single" in options:
        x, m, dx, dm = (y.astype(np.float32) for y in (x, m, dx, dm))
        exact, close = 1e-4, 1e-3
    space = {"np": np, "math": math, "dataclasses": dataclasses, "__name__": "generated"}
    exec(compile(program(seed, "--wide" in options), f"<program {seed}>", "exec"), space)
    function = space["f"]
    try:
        with np.errstate(all="ignore"):
            expected = function(x.copy(), 0.8, m.copy(), 3)
    except Exception as error:
        return "raises", repr(error)
    try:
        value, (by_x, by_a, by_m) = value_and_grad(function, (0, 1, 2))(x, 0.8, m, 3)
        again, change = jvp(function, (x, 0.8, m, 3), (dx, da, dm, None))
    except Exception as error:
        return _failed(error), f"{type(error).__name__}: {error}".partition("\n")[0]
    if not np.array_equal(value, again, equal_nan=True) or not np.allclose(value, expected, exact, exact,
                                                                             equal_nan=True):
        return "VALUE", f"{value} {again} {expected}"
    if "--memory" in options:
        word, detail = _in_bounded_memory(function, (x, 0.8, m, 3), (value, by_x, by_a, by_m), exact)
        if word != "agrees":
            return word, detail
    if "--second" in options:
        word, detail = _second(function, (x, 0.8, m, 3), (dx, da, dm, None))
        if word != "agrees":
            return word, detail
    if "--batch" in options:
        word, detail = _batched(function, (x, 0.8, m, 3), exact)
        if word != "agrees":
            return word, detail
    product = by_x @ dx + by_a * da + np.sum(by_m * dm)
    scale = 1 + max(np.max(np.abs(by_x)), abs(by_a), np.max(np.abs(by_m)))
    if not math.isfinite(change) or not math.isfinite(product):
        # 0 * inf: the root of 0, or a product with an overflowed value
        if math.isnan(product) and math.isfinite(change):
            return "no number in reverse mode", f"forward {change}"
        return ("not finite", "") if not math.isfinite(change) and not math.isfinite(product) else (
            "DIFFERS", f"reverse {product}, forward {change}")
    if math.isclose(product, change, rel_tol=close, abs_tol=close * scale):
        return "agrees", ""

    def at(h):
        with np.errstate(all="ignore"):
            return float(function(x + h * dx, 0.8 + h * da, m + h * dm, 3))

    differences = " ".join(f"{(at(h) - at(-h)) / (2 * h):.10g}" for h in (1e-5, 1e-6, 1e-7))
    return "DIFFERS", f"reverse {product}, forward {change}, differences {differences}"


def _in_bounded_memory(function, args, expected, exact):
    from pyjitc import value_and_grad
    try:
        value, gradients = value_and_grad(function, (0, 1, 2), memory=400)(*args)
    except Exception as error:
        return f"memory {_failed(error)}", f"{type(error).__name__}: {error}".partition("\n")[0]
    for found, wanted in zip((value, *gradients), expected):
        if not np.allclose(found, wanted, exact, exact, equal_nan=True):
            return "MEMORY", f"{found} {wanted}"
    return "agrees", ""


def _batched(function, args, exact):
    """Batches of values and of gradients, and the gradient of the sum of a batch, in which examples take other paths
    than each other."""
    from pyjitc import value_and_grad, vmap
    x, a, m, n = args
    xs = np.stack([x, x[::-1] * 0.5, x + 1.0, -x]).astype(x.dtype)
    scales = np.array([a, -0.3, 1.7, 0.2])
    gradient = value_and_grad(function, (0, 1, 2))
    try:
        with np.errstate(all="ignore"):
            each = [gradient(one, scale, m, n) for one, scale in zip(xs, scales)]
    except Exception as error:
        return "agrees", repr(error)  # one of the other examples raises
    values, by_x, by_a, by_m = (np.stack(y) for y in zip(*((value, *gs) for value, gs in each)))
    space = {"vmap": vmap, "np": np, "function": function}
    exec("def total(xs, scales, m, n):\n    return np.sum(vmap(function, (0, 0, None, None))(xs, scales, m, n))", space)
    wanted = [(values, by_x, by_a, by_m), (values,), (by_x, by_a, np.sum(by_m, axis=0))]
    made = [lambda: (lambda value, gs: (value, *gs))(*vmap(gradient, (0, 0, None, None))(xs, scales, m, n)),
            lambda: (vmap(function, (0, 0, None, None))(xs, scales, m, n),),
            lambda: value_and_grad(space["total"], (0, 1, 2))(xs, scales, m, n)[1]]
    for what, one, want in zip(("vmap(grad)", "vmap", "grad(vmap)"), made, wanted):
        try:
            with np.errstate(all="ignore"):
                found = one()
        except Exception as error:
            return f"batch {_failed(error)}", f"{what}: {type(error).__name__}: {error}".partition("\n")[0]
        for y, z in zip(found, want, strict=True):
            scale = 1 + np.max(np.abs(z[np.isfinite(z)]), initial=0.0)
            if not np.allclose(y, z, exact, exact * scale, equal_nan=True):
                return "BATCH", f"{what} {y} {z}"
    return "agrees", ""


def _second(function, args, tangents):
    """The derivative of the gradient by x in one direction."""
    from pyjitc import grad, jvp
    by_x = grad(function)
    try:
        change = jvp(by_x, args, tangents)[1]
    except Exception as error:
        return f"second {_failed(error)}", f"{type(error).__name__}: {error}".partition("\n")[0]

    def at(h):
        return by_x(*[x if t is None else x + h * t for x, t in zip(args, tangents)])

    for h in (1e-5, 1e-6, 1e-7):
        difference = (at(h) - at(-h)) / (2 * h)
        if not np.all(np.isfinite(difference)) or np.max(np.abs(difference)) > 1e6 or np.allclose(
                change, difference, 1e-4, 1e-4 * (1 + np.max(np.abs(difference)))):
            return "agrees", ""
    return "SECOND", f"{change} {difference}"


def be_quick():
    """From now on compile without LLVM's optimiser, and without the passes that code need not have."""
    from pyjitc.codegen import link
    from pyjitc.passes import pipeline
    needed = {"dce", "elementary", "messages", "refcount", "relax", "simplify"}
    wanted, to_object = pipeline._wanted, link.to_object
    pipeline._wanted = lambda fn, options, first=0: (
        one for one in wanted(fn, options, first) if one.__name__.rpartition(".")[2] in needed)
    link.to_object = lambda text, target, level=0: to_object(text, target, 0)


def batch(seeds, options):
    if "--quick" in options:
        be_quick()
    for seed in seeds:
        print(seed, flush=True)
        print(*outcome(seed, options), sep="\t", flush=True)


def main(first, last, options):
    found: Counter = Counter()
    for start in range(first, last, _BATCH):
        left = list(range(start, min(start + _BATCH, last)))
        while left:
            run = subprocess.run([sys.executable, "-m", "tests.derivatives", "batch", *map(str, left), *options],
                                 capture_output=True, text=True)
            lines = run.stdout.splitlines()
            for seed, line in zip(lines[::2], lines[1::2]):
                word, _, detail = line.partition("\t")
                found[word] += 1
                if word not in _FINE:
                    print(seed, word, detail, flush=True)
                if word.endswith("refused"):
                    found[f"{word}: {detail}"] += 1
            done = len(lines) // 2
            if run.returncode:
                found["CRASH"] += 1
                print(left[done], "CRASH", run.returncode, run.stderr[-300:], flush=True)
                done += 1
            left = left[done:]
        if start % (20 * _BATCH) == 0:
            print(start, dict(found.most_common(4)), flush=True)
    for word, count in found.most_common():
        print(count, word)
    return any(word.isupper() for word in found)


if __name__ == "__main__":
    if len(sys.argv) < 3 or "--help" in sys.argv:
        sys.exit(__doc__)
    given = [x for x in sys.argv[1:] if not x.startswith("--")]
    chosen = [x for x in sys.argv[1:] if x.startswith("--")]
    if given[0] == "batch":
        batch(map(int, given[1:]), chosen)
    else:
        sys.exit(main(int(given[0]), int(given[1]), chosen))
