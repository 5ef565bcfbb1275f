"""Levenshtein distance between two source files of the standard library, as arrays of code points."""
import bisect
import heapq
import inspect

import numpy as np

from pyjitc import njit


@njit
def edit_distance(a, b):
    row = np.empty(len(b) + 1, np.int64)
    for j in range(len(row)):
        row[j] = j
    for i in range(len(a)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            cost = diagonal if a[i] == b[j] else diagonal + 1
            diagonal = row[j + 1]
            row[j + 1] = min(cost, diagonal + 1, row[j] + 1)
    return row[len(b)]


def code_points(text):
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def load():
    return code_points(inspect.getsource(bisect)[:1000]), code_points(inspect.getsource(heapq)[:1000])


def run(a, b):
    return edit_distance(a, b)


def report(distance, folder):
    return f"{distance} edits lead from bisect.py to heapq.py (first 1,000 characters)"
