"""Compares every NumPy callable with its compiled form and writes docs/conformance.json and the table
docs/conformance.md of it.

python docs/conformance.py [--group numpy] [--names sum,mean] [--jobs 2] [--results FILE]
What is called: tests/lib/np/conformance/calls.py. Where only some names are asked for, the table is printed, not
written. With --results a run that was broken off goes on where it stopped, at the same commit: a table is of one.
"""
import argparse
import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.machine import describe  # noqa: E402
from tests.lib.np.conformance import calls, run  # noqa: E402

GROUPS = {"numpy": "numpy", "linalg": "numpy.linalg", "fft": "numpy.fft", "random": "numpy.random",
          "Generator": "numpy.random.Generator", "ndarray": "numpy.ndarray", "ufunc methods": "methods of ufuncs"}
DATA, PAGE = ROOT / "docs" / "conformance.json", ROOT / "docs" / "conformance.md"
BUGS = ("DIFFERS", "CRASH", "HANG")


class Worker:
    """A process that runs cases; a new one where it ends or hangs."""

    def __init__(self, seconds, module="tests.lib.np.conformance.run"):
        self.seconds, self.module = seconds, module
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-m", self.module], cwd=ROOT,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        self.done = 0

    def run(self, case):
        if self.process is None or self.done == 1500:  # what is compiled stays in memory
            self.stop()
            self.start()
        self.done += 1
        timer = threading.Timer(self.seconds, self.process.kill)
        timer.start()
        try:
            print(json.dumps(case), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        late = not timer.is_alive()
        timer.cancel()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.process = None
        return ("HANG", f"more than {self.seconds} s") if late else ("CRASH", f"the process ended with {code}")

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def measure(names, jobs, keep=None, seconds=60):
    """[(case, status, detail)]"""
    todo, found = queue.Queue(), {}
    for group, name in names:
        todo.put((group, name))

    def work():
        worker = Worker(seconds)
        while True:
            try:
                group, name = todo.get_nowait()
            except queue.Empty:
                return worker.stop()
            found[group, name] = [(case, *worker.run(case)) for case in run.cases(group, name)]
            if keep and found[group, name]:
                keep(found[group, name])
            for case, status, detail in found[group, name]:
                if status in (*BUGS, "message"):
                    print(f"{status:8} {case.call} {case.dtype} {case.layout}: {detail}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [row for key in names for row in found[key]]


def verdict(rows):
    """('supported' | 'partly' | 'not', what is missing)"""
    if not rows:
        return "not", ""
    refused = [(case, detail) for case, status, detail in rows if status in ("error", *BUGS)]
    if not refused:
        return "supported", ""
    if not any(status == "same" for _, status, _ in rows):
        return "not", refused[0][1]
    missing = defaultdict(list)
    for case, detail in refused:
        missing[case.call].append((case, detail))
    main = missing.pop(rows[0][0].call, [])
    parts = [", ".join(dict.fromkeys(c.dtype if c.layout == "C" else c.layout for c, _ in main))] if main else []
    parts += [f"`{call}`" for call in missing]
    return "partly", "; ".join(parts) + f" ({refused[0][1]})"


def summary(machine, wanted, results):
    """What the page says of the wanted names, as plain data: the machine, and of each group its counts and its
    names."""
    by_name = defaultdict(list)
    for row in results:
        by_name[row[0].group, row[0].name].append(row)
    groups = {}
    for group in GROUPS:
        names = {}
        for name in [name for one, name in wanted if one == group]:
            rows = by_name.get((group, name), [])
            if rows or name in calls.NOT_CALLED:
                state, missing = verdict(rows) if rows else ("not", calls.NOT_CALLED[name])
                bugs = dict.fromkeys(case.call for case, status, _ in rows if status in BUGS)
                note = f" **differs**: {', '.join(f'`{call}`' for call in bugs)}" if bugs else ""
                names[name] = [state, (re.sub(r" \(/[^)]*\)", "", missing) + note)[:400]]  # without paths of files
        ended = Counter(status for case, status, _ in results if case.group == group)
        if ended:
            groups[group] = {"calls": sum(ended.values()), "same": ended["same"] + ended["raises"],
                             "refused": ended["error"], "text": ended["message"],
                             "bugs": sum(ended[bug] for bug in BUGS), "names": names}
    return {"machine": machine, "groups": groups}


def page(found):
    """The table, of what `summary` found."""
    machine = found["machine"]
    lines = ["# NumPy, name by name", "",
             "Written by `python docs/conformance.py`, which calls every name compiled and in the interpreter, over",
             "dtypes, layouts, axes and edge shapes (`tests/lib/np/conformance/calls.py` has the calls), and compares",
             "values, dtypes, shapes, exceptions and what is written to. *partly*: some dtypes or calls are refused",
             "with an error when the function is compiled; the first such error stands in parentheses.", "",
             f"{machine['date']}, NumPy {machine['numpy']}, Python {machine['Python']}, {machine['processor']}, "
             f"{machine['pyjitc']}: [conformance.json](conformance.json).", "",
             "| | callables | supported | partly | not | calls | same | refused | other exception text | differ or "
             "crash |", "|---|---|---|---|---|---|---|---|---|---|"]
    for group, counts in found["groups"].items():
        states = Counter(state for state, _ in counts["names"].values())
        lines.append(f"| {GROUPS[group]} | {sum(states.values())} | {states['supported']} | {states['partly']} | "
                     f"{states['not']} | "
                     + " | ".join(str(counts[key]) for key in ("calls", "same", "refused", "text", "bugs")) + " |")
    for group, counts in found["groups"].items():
        lines += ["", f"## {GROUPS[group]}", "", "| name | | what is missing |", "|---|---|---|"]
        lines += [f"| {name} | {state} | {missing.replace('|', chr(92) + '|')} |"
                  for name, (state, missing) in counts["names"].items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--group", choices=list(GROUPS))
    parser.add_argument("--names")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path,
                        help="keep all results in this file, and take those that it has from it")
    options = parser.parse_args()
    whole = options.group is None and options.names is None
    machine = describe([])
    if whole and "+" in machine["pyjitc"]:
        parser.error("files differ from the commit that is checked out: the table names a commit, and is of it")
    names = [(group, name) for group in GROUPS if options.group in (None, group) for name in run.names(group)
             if options.names is None or name in options.names.split(",")]
    results = []
    if options.results and options.results.exists():
        first, *kept = [json.loads(line) for line in options.results.read_text().splitlines()]
        if first != machine["pyjitc"]:
            parser.error(f"{options.results} has results of {first}, this is {machine['pyjitc']}: begin a new file")
        results = [(run.Case(*case), status, detail) for case, status, detail in kept]
    elif options.results:
        options.results.write_text(json.dumps(machine["pyjitc"]) + "\n")
    done = {(case.group, case.name) for case, _, _ in results}
    with open(options.results or os.devnull, "a") as file:
        results += measure([name for name in names if name not in done], options.jobs,
                           lambda rows: print("\n".join(map(json.dumps, rows)), file=file, flush=True))
    found = summary(machine, names, [row for row in results if (row[0].group, row[0].name) in names])
    if whole:
        DATA.write_text(json.dumps(found, indent=1) + "\n")
        PAGE.write_text(page(found))
    else:
        print(page(found))


if __name__ == "__main__":
    main()
