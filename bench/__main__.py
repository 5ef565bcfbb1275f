"""Runs benchmark suites and prints a table for each. The exit code is 1 when a program failed, a budget is missed or a
figure got worse. A quick run does not judge budgets, because its figures are rough.

Every figure is measured in the same run as those of its peers: the contenders take turns round by round. A figure is
the median of the rounds, with half the interquartile range as its spread. Results are compared before anything is
timed.
"""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial

from pyjitc.base.errors import suggest

from . import against, page, readme
from .machine import describe
from .measure import progress
from .peers import PEERS, available
from .results import REPEATS, Results, WrongFile, check_place, load, regressions
from .table import Row, render

__all__ = ["main", "SUITES"]

MODULES = {"contrast": "contrast", "budgets": "budgets", "loops": "loops", "small": "small", "c": "c",
           "containers": "containers", "npbench": "npbench",
           "math": "vector_math", "accuracy": "accuracy", "gpu": "gpu", "registers": "registers", "opening": "opening",
           "parallel": "parallel", "grad": "grad", "vmap": "vmap", "numba": "packages"}
SUITES = {name: f"bench.{module}" for name, module in MODULES.items() if importlib.util.find_spec(f"bench.{module}")}
PEER_NAMES = tuple(name for name in PEERS if name != "pyjitc")


def main(arguments=None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    wanted = _checked(parser, options)
    try:
        if options.charts:
            os.makedirs(options.charts, exist_ok=True)
        for path in (options.json, options.html, *(options.readme or ()), options.charts
                     and os.path.join(options.charts, "x.svg")):
            if path:
                check_place(path)
        if options.against:
            against.check_tree(options.against)
        old = load(options.compare) if options.compare else None
        results = load(options.use) if options.use else None
    except (WrongFile, OSError) as error:
        parser.error(str(error))
    if options.against:
        return _compared(parser, options)
    if results is None:
        results = _measured(options, wanted)
        if not results.rows and options.only:
            parser.error(f"no row of {', '.join(options.suites or SUITES)} has {options.only!r} in its name")
    else:
        print("\n".join(f"{key:<12} {value}" for key, value in results.machine.items()))
        if options.suites:
            results.rows = [row for row in results.rows if row.suite in options.suites]
        for name, rows in results.suites().items():
            print("\n" + render(name, rows))
    if options.html:
        page.write(results, options.html)
    if options.charts:
        page.charts(results, options.charts)
    for path in options.readme or ():
        try:
            readme.update(path, results, options.use or options.json)
        except WrongFile as error:
            parser.error(str(error))
    try:
        return _verdict(results, old, (lambda row: None) if options.use else partial(_again, options.quick, wanted))
    except KeyboardInterrupt:  # while a figure is measured again
        print("\nstopped", file=sys.stderr)
        return 130
    finally:
        progress("")


def _compared(parser, options) -> int:
    try:
        return against.compare(options.against, options.suites, quick=options.quick, only=options.only)
    except WrongFile as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    finally:
        progress("")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Run benchmark suites.",
        epilog="Exit code: 0 all is well; 1 a program failed, a budget is missed (not with --quick) or a figure got "
               "worse; "
        "2 the command is wrong; 130 it was stopped.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; default all")
    parser.add_argument("--peers", default=",".join(PEER_NAMES), help="peers to compare with, where installed "
                        "(default: %(default)s; 'none' for none)")
    parser.add_argument("--only", metavar="TEXT", default="",
                        help="only rows whose name contains TEXT; of the suite budgets, the groups: import, dispatch, "
                             "first call, checks, ...")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it works, not to quote")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--html", metavar="FILE", help="write a page with charts to FILE (needs matplotlib)")
    parser.add_argument("--charts", metavar="FOLDER", help="write the charts to FOLDER as SVG, one for each suite")
    parser.add_argument("--compare", metavar="OLD.json", help="exit code 1 when a figure is worse than in OLD.json "
                        f"in {1 + REPEATS} measurements")
    parser.add_argument("--against", metavar="FOLDER",
                        help="measure only, in turns, how long the programs of the suites "
                        f"{', '.join(against.SUITES)} take under this pyjitc and under that of FOLDER, a source tree; "
                        f"exit code 1 when one takes {against.TOLERANCE:.0%}% longer in {1 + REPEATS} measurements")
    parser.add_argument("--use", metavar="FILE.json", help="measure nothing: take the figures of FILE.json")
    parser.add_argument("--readme", metavar="FILE.md", nargs="+",
                        help="write the tables of these pages anew, between their marks "
                        "(with --json or --use)")
    return parser


def _checked(parser, options) -> list[str]:
    """The peers that the command line selects. Ends the program where the command line is wrong."""
    for name in options.suites:
        if name not in SUITES:
            near = suggest(name, SUITES)
            parser.error(f"there is no suite {name}{f'; did you mean {near}?' if near else ''}; suites are "
                         f"{', '.join(SUITES)}")
    wanted = [] if options.peers == "none" else [p.strip() for p in options.peers.split(",") if p.strip()]
    for name in wanted:
        if name not in PEER_NAMES:
            near = suggest(name, PEER_NAMES)
            parser.error(f"there is no peer {name}{f'; did you mean {near}?' if near else ''}; peers are "
                         f"{', '.join(PEER_NAMES)}")
    if (options.html or options.charts) and not page.available():
        parser.error("--html and --charts need matplotlib: pip install 'pyjitc[bench]'")
    if options.against:
        for name in options.suites:
            if name not in against.SUITES:
                parser.error(f"--against has no programs of the suite {name}; it has those of "
                             f"{', '.join(against.SUITES)}")
        if options.json or options.html or options.charts or options.compare or options.use or options.readme:
            parser.error("--against prints what is slower, and writes and reads no figures")
    if options.readme and not (options.json or options.use):
        parser.error("--readme goes with --json or --use: the table names the file that its figures come from")
    return wanted


def _measured(options, wanted) -> Results:
    peers = [name for name in wanted if available(name)]
    results = Results(describe(peers), options.quick, [])
    for key, value in results.machine.items():
        print(f"{key:<12} {value}")
    for name in wanted:
        if name not in peers:
            print(f"{name:<12} not installed, skipped")
    for name in options.suites or SUITES:
        suite = importlib.import_module(SUITES[name])
        taking_part = getattr(suite, "PEERS", ("cpython", "numba"))
        try:
            rows = suite.measure([peer for peer in peers if peer in taking_part], quick=options.quick,
                                 only=options.only)
        except KeyboardInterrupt:
            progress("")
            kept = (f"; {options.json} has the suites that were measured to the end" if options.json and results.rows
                    else "")
            print(f"\nstopped{kept}", file=sys.stderr)
            sys.exit(130)
        if not rows:
            continue
        print("\n" + render(name, rows), flush=True)
        results.rows += rows
        if options.json:
            results.save(options.json)  # after each suite, so that an interrupted run keeps what was measured
    return results


def _again(quick: bool, wanted: list[str], row: Row) -> Row | None:
    """The row, measured again in a new process; None if that fails."""
    progress(f"{row.suite}: {row.name}, again")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "row.json")
        command = [sys.executable, "-m", "bench", row.suite, "--only", row.name, "--json", path,
                   "--peers", ",".join(wanted) or "none", *["--quick"] * quick]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return load(path).row(row.suite, row.name)
        except (WrongFile, KeyError):
            return None


def _verdict(results: Results, old: Results | None, again: Callable[[Row], Row | None]) -> int:
    missed = [row for row in results.rows if row.passed is False]
    judged = sum(row.passed is not None for row in results.rows)
    print(f"\n{judged - len(missed)} of {judged} budgets hold")
    for row in missed:
        print(f"  missed: {row.suite}: {row.name}")
    worse = []
    if old is not None:
        worse, remarks = regressions(old, results, again)
        print(f"\n{len(worse)} figures got worse since {old.machine.get('date', 'then')}")
        for line in worse:
            print(f"  worse: {line}")
        for line in remarks:
            print(f"  ({line})")
    failed = [row for row in missed if row.figure is None]
    return 1 if (failed if results.quick else missed) or worse else 0


if __name__ == "__main__":
    sys.exit(main())
