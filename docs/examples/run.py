"""Runs every example in CPython and compiled, each in a process of its own, and compares the results.

    python docs/examples/run.py [EXAMPLE ...] [--out FOLDER]

An example has `load()` for its input, `run(*input)` for the work and `report(result, folder)` for one line about the
result. CPython's side is the same file with PYJITC_DISABLE=1. Equal means: same types, dtypes, shapes and bits.
"""
import argparse
import importlib
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ("black_scholes", "edit_distance", "kmeans", "life", "mandelbrot", "matmul", "nbody", "roots", "sieve",
         "sorting")
COLUMNS = "{:<14} {:>11} {:>11} {:>11} {:>9}  {}"


def work(name, folder, answer):
    """In the child: run once and time it; when compiled, run again and take the best time."""
    example = importlib.import_module(name)
    data = example.load()
    start = time.perf_counter()
    result = example.run(*data)
    first = best = time.perf_counter() - start
    if os.environ.get("PYJITC_DISABLE") != "1":
        end = time.perf_counter() + 0.5
        runs = 0
        while runs < 3 or (runs < 50 and time.perf_counter() < end):
            start = time.perf_counter()
            example.run(*data)
            best = min(best, time.perf_counter() - start)
            runs += 1
    with open(answer, "wb") as file:
        pickle.dump((first, best, result, example.report(result, folder)), file)


def child(name, folder, disable):
    """(first, best, result, report) of one example, or the text of what went wrong."""
    paths = os.pathsep.join(filter(None, (str(HERE.parents[1]), os.environ.get("PYTHONPATH"))))  # not installed
    environment = {**os.environ, "PYTHONPATH": paths, "PYJITC_DISABLE": "1" if disable else ""}
    with tempfile.TemporaryDirectory() as scratch:
        answer = os.path.join(scratch, "answer")
        done = subprocess.run([sys.executable, __file__, "--work", name, "--answer", answer, "--out", folder],
                              env=environment, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            return "\n".join(done.stderr.strip().splitlines()[-12:]) or f"the process ended with code {done.returncode}"
        with open(answer, "rb") as file:
            return pickle.load(file)


def difference(expected, actual, where="result"):
    """'' when both are the same to the last bit, else where they differ."""
    if type(expected) is not type(actual):
        return f"{where}: {type(expected).__name__} in CPython, {type(actual).__name__} compiled"
    if isinstance(expected, tuple):
        if len(expected) != len(actual):
            return f"{where}: {len(expected)} elements in CPython, {len(actual)} compiled"
        pairs = enumerate(zip(expected, actual))
        return next(filter(None, (difference(x, y, f"{where}[{k}]") for k, (x, y) in pairs)), "")
    if isinstance(expected, np.ndarray):
        if (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
            return (f"{where}: {expected.dtype} {expected.shape} in CPython, {actual.dtype} {actual.shape} compiled")
        if expected.tobytes() == actual.tobytes():
            return ""
        k = next(i for i in np.ndindex(expected.shape) if expected[i].tobytes() != actual[i].tobytes())
        return f"{where}[{', '.join(map(str, k))}]: {expected[k]!r} in CPython, {actual[k]!r} compiled"
    if expected == actual or (expected != expected and actual != actual):
        return ""
    return f"{where}: {expected!r} in CPython, {actual!r} compiled"


def compare(name, folder):
    """Runs one example both ways: (CPython s, compiled s, first call s, report, '' or what is wrong)."""
    plain, compiled = child(name, folder, True), child(name, folder, False)
    for side, answer in ("CPython", plain), ("compiled", compiled):
        if isinstance(answer, str):
            return None, None, None, "", f"{side}: {answer}"
    return plain[1], compiled[1], compiled[0], compiled[3], difference(plain[2], compiled[2])


def milliseconds(seconds):
    return f"{seconds * 1e3:,.1f} ms" if seconds < 0.1 else f"{seconds * 1e3:,.0f} ms"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="pyjitc examples", description="Run examples in CPython and compiled.")
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help=f"one of {', '.join(NAMES)}; default all")
    parser.add_argument("--out", default=str(HERE / "out"), help="folder for pictures (default: %(default)s)")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.work:
        work(options.work, options.out, options.answer)
        return 0
    for name in options.examples:
        if name not in NAMES:
            parser.error(f"there is no example {name}; there are {', '.join(NAMES)}")
    os.makedirs(options.out, exist_ok=True)
    print(COLUMNS.format("example", "CPython", "compiled", "first call", "speed-up", "result"), flush=True)
    wrong = []
    for name in options.examples or NAMES:
        plain, compiled, first, report, problem = compare(name, options.out)
        if plain is None:
            row = COLUMNS.format(name, "", "", "", "", "FAILED")
        else:
            row = COLUMNS.format(name, milliseconds(plain), milliseconds(compiled), milliseconds(first),
                                 f"{plain / compiled:,.0f}x", "DIFFERENT" if problem else "same result: " + report)
        print(row, flush=True)
        if problem:
            wrong.append(name)
            print("    " + problem.replace("\n", "\n    "), flush=True)
    total = len(options.examples or NAMES)
    print(f"{total - len(wrong)} of {total} examples give the same result")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
