"""Heap sort and quicksort in place, on the same random numbers."""
import numpy as np

from pyjitc import njit


@njit
def sift_down(a, start, end):
    root = start
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and a[child] < a[child + 1]:
            child += 1
        if a[root] >= a[child]:
            return
        a[root], a[child] = a[child], a[root]
        root = child


@njit
def heap_sort(a):
    for start in range(len(a) // 2 - 1, -1, -1):
        sift_down(a, start, len(a))
    for end in range(len(a) - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift_down(a, 0, end)


@njit
def quick_sort(a, low, high):
    while high - low > 16:
        pivot = a[(low + high) // 2]
        i = low
        j = high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if j - low < high - i:
            quick_sort(a, low, j)
            low = i
        else:
            quick_sort(a, i, high)
            high = j
    for k in range(low + 1, high + 1):
        value = a[k]
        place = k
        while place > low and a[place - 1] > value:
            a[place] = a[place - 1]
            place -= 1
        a[place] = value


def load():
    return (np.random.default_rng(7).normal(size=30_000),)


def run(numbers):
    first, second = numbers.copy(), numbers.copy()
    heap_sort(first)
    quick_sort(second, 0, len(second) - 1)
    return first, second


def report(result, folder):
    first, second = result
    ordered = bool((first[1:] >= first[:-1]).all()) and bool((first == second).all())
    return f"{len(first):,} numbers, {'in order both ways' if ordered else 'NOT SORTED'}"
