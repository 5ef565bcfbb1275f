"""Compare CPython, compiled code and the IR interpreter on generated programs: python -m tests.generate --seconds 60
--seed 1

--count N: that many programs; --skip N: after the first N; --interpreter K: every K-th by the IR interpreter too (0:
none); --passes K: every K-th by the IR interpreter after each pass; --refused: list what does not compile too; --show
SEED: print a program and check it; --containers: programs about containers, text and objects, each called many times
(memory stays flat) and from two threads; every 20th, and each that njit refuses, under jit too; --objects: the same
with programs about objects that they keep for themselves; --data: the same with programs that keep their data in
containers of many kinds at once; --loops: loop nests over arrays that may share memory;
--mixed: loops over several arrays of different dtypes, which may share memory; --parallel: loops
over prange, on four threads."""
import argparse
import re
import signal
import time
import warnings
from collections import Counter

from . import containers, data, loops, mixed, objects, parallel, programs
from .shrink import shrink
from .worker import Worker


def key_of(status, text):
    """The key by which two failures count as the same: the text without numbers and names of variables."""
    line = text.splitlines()[0] if text else ""
    if status == "crash":
        return status, ""
    return status, re.sub(r"'?\b(?:array\(.*|[vpgh]?[-\d.+e]+|np\.\w+|nan|inf|True|False|b\d+)\b'?", "_", line)[:110]


def rough(key):
    """A coarser key, which a shrunk program must share with the original: the status and the kind of difference."""
    return key[0], re.sub(r"\(.*|_| |in block.*", "", key[1])[:60]


def main():
    options = argparse.ArgumentParser(prog="tests.generate")
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=0)
    options.add_argument("--skip", type=int, default=0)
    options.add_argument("--interpreter", type=int, default=5)
    options.add_argument("--passes", type=int, default=0)
    options.add_argument("--refused", action="store_true")
    options.add_argument("--show", type=int)
    options.add_argument("--containers", action="store_true")
    options.add_argument("--objects", action="store_true")
    options.add_argument("--data", action="store_true")
    options.add_argument("--loops", action="store_true")
    options.add_argument("--mixed", action="store_true")
    options.add_argument("--parallel", action="store_true")
    given = options.parse_args()
    program, how = ((containers.program, "containers") if given.containers
                    else (objects.program, "containers") if given.objects
                    else (data.program, "containers") if given.data
                    else (loops.program, "loops") if given.loops
                    else (mixed.program, "loops") if given.mixed
                    else (parallel.program, "parallel") if given.parallel else (programs.program, "check"))
    if how != "check":
        given.interpreter = given.passes = 0
    warnings.simplefilter("ignore", SyntaxWarning)  # from the programs that the shrinker tries
    worker = Worker()
    if given.show is not None:
        print(program(given.show))
        print(*worker.ask(program(given.show), how))
        if how != "check":
            return worker.stop()
        print(worker.ask(program(given.show), "stages")[1], worker.ask(program(given.show), "passes")[1], sep="\n")
        return worker.stop()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # prints the findings so far
    signal.signal(signal.SIGINT, signal.default_int_handler)
    start, counts, found = time.monotonic(), Counter(), {}
    seed = given.seed * 1_000_000
    first = seed = seed + given.skip
    try:
        while (seed - first < given.count) if given.count else time.monotonic() - start < given.seconds:
            one(worker, seed, program(seed), how, given, counts, found)
            seed += 1
            if (seed - first) % 500 == 0:
                print(f"# {seed - first} programs: {dict(counts)}", flush=True)
    except KeyboardInterrupt:
        pass
    worker.stop()
    print(f"\n{seed - first} programs in {time.monotonic() - start:.0f} s: "
          + ", ".join(f"{n} {status}" for status, n in counts.most_common()))
    for key, seeds in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(seeds):5d} x  {key[0]}: {key[1]}  (seeds {', '.join(map(str, seeds[:3]))})")
    raise SystemExit(1 if any(key[0] not in ("refused", "unsteady") for key in found) else 0)


def one(worker, seed, source, how, given, counts, found):
    status, text = worker.ask(source, how)
    if status in ("crash", "hang") and (again := worker.ask(source, how))[0] not in ("crash", "hang"):
        found.setdefault(("unsteady", f"{status}, then {again[0]}: {text}"), []).append(seed)
        counts["unsteady"] += 1
        return
    if status == "refused" and text.startswith("the int "):  # a constant beyond 64 bits
        status = "skipped"
    counts[status] += 1
    if how == "containers" and (status == "refused" or status == "ok" and seed % 20 == 0):
        if status == "refused" and given.refused:
            found.setdefault(key_of(status, text), []).append(seed)
        counts["under jit"] += 1
        how = "forgiving"
        status, text = worker.ask(source, how)
    if status == "ok" and given.interpreter and seed % given.interpreter == 0:
        status, text = worker.ask(source, "stages")
        status = {"wrong": "wrong IR", "skipped": "ok"}.get(status, status)
        counts["interpreted"] += 1
    if status == "ok" and given.passes and seed % given.passes == 0:
        status, text = worker.ask(source, "passes")
        status = {"wrong": "wrong pass", "skipped": "ok"}.get(status, status)
        counts["interpreted after each pass"] += 1
    if status not in ("ok", "skipped") and (status != "refused" or given.refused):
        key = key_of(status, text)
        new = key not in found
        found.setdefault(key, []).append(seed)
        if new and not (how == "containers" and status == "refused"):
            report(worker, source, seed, {"wrong IR": "stages", "wrong pass": "passes"}.get(status, how), status, text)


def report(worker, source, seed, how, status, text):
    wanted = rough(key_of(status, text))

    def ask(candidate):
        if how in ("stages", "passes") and worker.ask(candidate)[0] != "ok":
            return "other", ""
        found, text = worker.ask(candidate, how)
        return status if how in ("stages", "passes") and found == "wrong" else found, text

    small = shrink(source, lambda candidate: rough(key_of(*ask(candidate))) == wanted)
    again = ask(small)
    if rough(key_of(*again)) != wanted:
        print(f"\n# ---- seed {seed}: once {status}: {text[:600]}", flush=True)
    print(f"\n# ---- seed {seed}: {again[0]}: {again[1][:600]}\n{small}", flush=True)
    if again[0] == "wrong" and how == "check":
        print("# " + worker.ask(small, "passes")[1].replace("\n", "\n# ")[:600], flush=True)


if __name__ == "__main__":
    main()
