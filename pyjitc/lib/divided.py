"""The reverse sweep over a loop in bounded memory: the schedule by which its trips are run again.

A state is all that a trip of the loop reads and an earlier trip may have changed. The functions `again`, `pull` and
`kept_by_one` stand for those that passes/derivatives/divided.py makes of the loop. They take the state before a trip as
two tuples, of the values that vary and of the others, each with what the loop changes before what it only reads.

The schedule is binomial checkpointing (Griewank and Walther, "Algorithm 799: Revolve", 2000): with room for c states,
C(c + r, c) parts are reversed by running none of them forward more than r times. A part is as many trips as the tape
has room for.
"""
from __future__ import annotations

import numpy as np

from .build import outlined
from .trees import is_tuple, items

__all__ = ["again", "backward", "check_disjoint", "kept_by_one", "pull", "put_back"]

MOST_STATES = 100  # of a hundred, three repetitions reverse 176,851 parts; each is a call on the stack


@outlined
def again(varied, others, count):
    """The state after `count` trips."""
    return varied, others


@outlined
def pull(varied, others, count, g):
    """(the adjoints of the state before `count` trips, given those of the state after them; the bytes of the tape)"""
    return g, count


@outlined
def kept_by_one(varied, others):
    """The bytes of the tape of one trip."""
    return others[0][0]


def check_disjoint(x, y):
    if np.may_share_memory(x, y):
        raise ValueError("memory= divides a loop that writes into two arrays which share memory: each would get a "
                         "copy; differentiate it without memory=")


def put_back(x, y):
    x[...] = y


def backward(varied, others, count, g, memory):
    """The adjoints of the state before a loop of `count` trips, given the adjoints `g` of the state after it."""
    if count == 0:
        return g
    state = max(1, bytes_of(varied[0]) + bytes_of(others[0]))
    states = max(0, min(memory // 2 // state - 1, MOST_STATES))
    return swept(varied, others, count, g, max(1, kept_by_one(varied, others)), memory, states)[0]


@outlined
def swept(varied, others, count, g, each, memory, states):
    """(the adjoints of the state before `count` trips, the bytes that a trip keeps); states: how many more states may
    be kept."""
    while True:
        most = max(1, memory // 2 // each)
        if count <= most:
            found, kept = pull(varied, others, count, g)
            return found, max(1, kept // count)
        parts = (count + most - 1) // most
        start = split(parts, states) * most
        middle, beside = again(varied, others, start)
        if states > 0:
            g, each = swept(middle, beside, count - start, g, each, memory, states - 1)
        else:
            g, kept = pull(middle, beside, count - start, g)
            each = max(1, kept // (count - start))
        count = start


def split(parts, states):
    """How many of `parts` parts to run before the next state is kept, if `states` may be kept beside the first one."""
    if states == 0:
        return parts - 1
    kept, repeats, reach = states + 1, 1, states + 2  # reach: C(kept + repeats, kept)
    while reach < parts:
        repeats += 1
        reach = reach * (kept + repeats) // repeats
    before = reach * repeats // (kept + repeats)  # the parts that one repetition fewer reverses
    return min(before, parts - before * kept // (kept + repeats - 1))


def bytes_of(x):
    if is_tuple(x):
        x = items(x)
        if len(x) == 0:
            return 0
        return bytes_of(x[0]) + bytes_of(x[1:])
    if isinstance(x, np.ndarray):
        return x.nbytes
    return 8
