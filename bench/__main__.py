"""Runs benchmark suites and prints a table of each; exit code 1 when a budget is missed.

Every figure is measured beside its peers in the same run, the contenders taking turns round by round, and is shown
as the median of the rounds with half the distance of the quartiles. Results are compared before anything is timed.
"""
from __future__ import annotations

import argparse
import json
import sys

from . import budgets, loops, npbench, vector_math
from .machine import describe
from .peers import PEERS, available
from .table import render

__all__ = ["main"]

SUITES = {"budgets": budgets, "loops": loops, "npbench": npbench, "math": vector_math}


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run benchmark suites.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; default all")
    parser.add_argument("--peers", default="cpython,numba,jax", help="peers to compare with, where installed "
                        "(default: %(default)s; 'none' for none)")
    parser.add_argument("--only", metavar="TEXT", default="", help="only rows whose name contains TEXT")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it works, not to quote")
    options = parser.parse_args(arguments)
    for name in options.suites:
        if name not in SUITES:
            parser.error(f"there is no suite {name}; suites are {', '.join(SUITES)}")
    wanted = [] if options.peers == "none" else [p for p in options.peers.split(",") if p]
    for name in wanted:
        if name not in PEERS:
            parser.error(f"there is no peer {name}; peers are {', '.join(PEERS)}")
    peers = [name for name in wanted if available(name)]
    machine = describe(peers)
    for key, value in machine.items():
        print(f"{key:<12} {value}")
    for name in wanted:
        if name not in peers:
            print(f"{name:<12} not installed, skipped")
    rows = []
    for name in options.suites or SUITES:
        suite = SUITES[name]
        taking_part = getattr(suite, "PEERS", ("cpython", "numba"))
        made = suite.measure([peer for peer in peers if peer in taking_part], quick=options.quick, only=options.only)
        print("\n" + render(name, made), flush=True)
        rows += made
    if options.json:
        with open(options.json, "w") as file:
            plain = [row.plain() for row in rows]
            json.dump({"machine": machine, "quick": options.quick, "rows": plain}, file, indent=1)
    missed = [row for row in rows if row.passed is False]
    judged = sum(row.passed is not None for row in rows)
    print(f"\n{judged - len(missed)} of {judged} budgets hold")
    for row in missed:
        print(f"  missed: {row.suite}: {row.name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
