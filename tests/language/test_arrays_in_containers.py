"""Arrays in containers and attributes: views of one type may have several orders in memory, since a view of one
element, or of none, is contiguous whatever its strides."""
import numpy as np
import pytest

from tests.oracle import agree

ROW = np.arange(12.0)


class Holder:
    def __init__(self, a):
        self.a = a


def in_a_list(a, n):
    a, found = a[::2], []
    for k in range(n):
        found.append(a[k:k + 2])
    return sum([part.sum() for part in found]), found


def in_a_list_that_stays(a, n):
    a, found, total = a[::2], [], 0.0
    for k in range(n):
        found.append(a[k:k + 2])
    for part in found:
        total += part.sum() * len(part)
    return total


def in_an_attribute(a, n):
    a, total = a[::2], 0.0
    holder = Holder(a[:2])
    kept = [holder]
    for k in range(n):
        holder.a = a[k:k + 2]
        total += kept[0].a.sum()
    return total


def in_a_dict(a, n):
    a, found = a[::2], {}
    for k in range(n):
        found[k] = a[k:k + 2]
    return sum([found[k].sum() for k in found])


def in_tuples_of_a_dict(a, n):
    a, found = a[::2], {}
    for k in range(n):
        found[str(k)] = a[k:k + 2], k
    return [part.sum() * k for part, k in found.values()]


def in_tuples_of_a_list(a, n):
    a, found, total = a[::2], [], 0.0
    for k in range(n):
        found.append((a[k:k + 2], k))
    for part, k in found:
        total += part.sum() * k
    return total, found[-1][0][0]


def in_a_cell(a, n):
    a = a[::2]
    last, total = a[:2], 0.0

    def summed():
        return last.sum()

    functions = [summed]
    for k in range(n):
        last = a[k:k + 2]
        total += functions[0]()
    return total


def sorted_views(a, n):
    a = a[::2]
    found = [a[k:k + 2] for k in range(n)]
    found.sort(key=lambda part: -part.sum())
    return found[0].sum(), found.pop()[0], len(found[1:3][0])


def in_lists_of_lists(a, n):
    a = a[::2]
    found = [[a[k:k + 2]] for k in range(n)]
    return sum([part[0].sum() for part in found])


def columns(a, n):
    square, found, total = np.asfortranarray(a.reshape(3, 4)), [], 0.0
    for k in range(n):
        found.append(square[:, k:k + 2])
    for part in found:
        total += part.sum() * part.shape[1]
    return total


def mixed(a, n):
    strided, found, total = a[::2], [], 0.0
    for k in range(n):
        found.append(strided[k:k + 2] if k % 2 else a[k:k + 2])
    for part in found:
        part[0] += 1
        total += part.sum()
    return total, a


@pytest.mark.parametrize("function", (
    in_a_list, in_a_list_that_stays, in_an_attribute, in_a_dict, in_tuples_of_a_dict, in_tuples_of_a_list, in_a_cell,
    sorted_views, in_lists_of_lists, mixed))
def test_views_of_several_orders(function):
    agree(function, ROW, 6)


def test_columns():
    agree(columns, ROW, 4)
