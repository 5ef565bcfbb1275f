"""Compares every NumPy callable with its compiled form and writes the table docs/conformance.md.

python docs/conformance.py [--group numpy] [--names sum,mean] [--jobs 2] [--results FILE]
What is called: tests/lib/np/conformance/calls.py. Where only some names are asked for, the table is printed, not written.
"""
import argparse
import datetime
import json
import os
import platform
import queue
import re
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.lib.np.conformance import calls, run  # noqa: E402

GROUPS = {"numpy": "numpy", "linalg": "numpy.linalg", "fft": "numpy.fft", "random": "numpy.random", "Generator": "numpy.random.Generator",
          "ndarray": "numpy.ndarray", "ufunc methods": "methods of ufuncs"}
BUGS = ("DIFFERS", "CRASH", "HANG")


class Worker:
    """A process that runs cases; a new one where it ends or hangs."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, "-m", "tests.lib.np.conformance.run"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
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


def table(results):
    by_name = defaultdict(list)
    for row in results:
        by_name[row[0].group, row[0].name].append(row)
    seen = {group for group, _ in by_name}
    order = [(group, name) for group in GROUPS if group in seen for name in run.names(group)]
    verdicts = {key: verdict(by_name[key]) if key in by_name else ("not", calls.NOT_CALLED[key[1]]) for key in order
                if key in by_name or key[1] in calls.NOT_CALLED}
    groups = list(dict.fromkeys(group for group, _ in verdicts))
    lines = ["# NumPy, name by name", "",
             "Written by `python docs/conformance.py`, which calls every name compiled and in the interpreter, over dtypes, layouts, axes and edge",
             "shapes (`tests/lib/np/conformance/calls.py` has the calls), and compares values, dtypes, shapes, exceptions and what is written to.",
             "*partly*: some dtypes or calls are refused with an error when the function is compiled; the first such error stands in parentheses.", "",
             f"Of {datetime.date.today()}, with NumPy {np.__version__} and Python {platform.python_version()}.", "",
             "| | callables | supported | partly | not | calls | same | refused | other exception text | differ or crash |", "|---|---|---|---|---|---|---|---|---|---|"]
    for group in groups:
        states = Counter(v[0] for (g, _), v in verdicts.items() if g == group)
        cases = Counter(status for case, status, _ in results if case.group == group)
        lines.append(f"| {GROUPS[group]} | {sum(states.values())} | {states['supported']} | {states['partly']} | {states['not']} | {sum(cases.values())} | "
                     f"{cases['same'] + cases['raises']} | {cases['error']} | {cases['message']} | {sum(cases[b] for b in BUGS)} |")
    for group in groups:
        lines += ["", f"## {GROUPS[group]}", "", "| name | | what is missing |", "|---|---|---|"]
        for (g, name), (state, missing) in verdicts.items():
            if g == group:
                bugs = [case.call for case, status, _ in by_name[g, name] if status in BUGS]
                note = f" **differs**: {', '.join(f'`{c}`' for c in dict.fromkeys(bugs))}" if bugs else ""
                missing = re.sub(r" \(/[^)]*\)", "", missing)  # paths of files
                lines.append(f"| {name} | {state} | {(missing + note).replace('|', chr(92) + '|')[:400]} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--group")
    parser.add_argument("--names")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", help="keep all results in this file, and take those of other names from it")
    options = parser.parse_args()
    names = [(group, name) for group in GROUPS if options.group in (None, group) for name in run.names(group)
             if options.names is None or name in options.names.split(",")]
    path = options.results and Path(options.results)
    if path and path.exists():
        kept = [json.loads(line) for line in path.read_text().splitlines() if line]
        results = {run.Case(*case): (run.Case(*case), status, detail) for case, status, detail in kept}  # the latest of each
    else:
        results = {}
    with open(path or os.devnull, "a") as file:
        fresh = measure(names, options.jobs, lambda rows: print("\n".join(map(json.dumps, rows)), file=file, flush=True))
    results.update((row[0], row) for row in fresh)
    wanted = {case for group in GROUPS for name in run.names(group) for case in run.cases(group, name)}
    results = [row for case, row in results.items() if case in wanted]
    whole = options.group is None and options.names is None
    text = table(results)
    if whole or options.results:
        (Path(__file__).parent / "conformance.md").write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
