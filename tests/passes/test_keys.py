"""The object of a key is made once for all operations that take the key."""
import re
from collections import Counter, defaultdict

import pytest

from pyjitc import njit
from tests.oracle import agree


def counts(words):
    found = {}
    for a, b in zip(words, words[1:]):
        found[a, b] = found.get((a, b), 0) + 1
    return found


def asked(words, xs):
    found = {}
    for word, x in zip(words, xs):
        key = word, x
        if key in found:
            found[key] += 1
        else:
            found[key] = 1
    return found, [found[word, x] for word, x in zip(words, xs)]


def by_floats(xs):
    seen, found = set(), {}
    for x in xs:
        if x not in seen:
            seen.add(x)
            found[x] = 0
        found[x] += 1
    return found, len(seen)


def handled(words):
    found, lost = {}, []
    for a, b in zip(words, words[1:]):
        try:
            found[b, a] += 1
        except KeyError as error:
            lost.append(error.args)
            found[a, b] = found.get((a, b), 0) + 1
    return found, lost


def groups(words):
    found = defaultdict(list)
    for i, word in enumerate(words):
        found[word, word[:1]].append(i)
        found[word, word[:1]].append(len(word))
    return found


WORDS = "a b a b c a".split()


@pytest.mark.parametrize("function, args", [
    (counts, (WORDS,)), (counts, ([],)), (asked, (WORDS, [1.5, 2.5] * 3)), (by_floats, ([0.0, -0.0, 1.5, 1.5],)),
    (handled, (WORDS,)), (groups, (WORDS,)), (lambda words: Counter(zip(words, words[1:])), (WORDS,)),
    (lambda words: Counter((w, 1) for w in words)["z", 1], (WORDS,)),
    (lambda words: counts(words)["x", "y"], (WORDS,))])
def test_keys(function, args):
    agree(function, *args)


def test_a_key_is_boxed_once():
    compiled = njit(counts)
    compiled(WORDS)
    (text,) = compiled._inspect("opt", None).values()
    one, two = re.findall(r"dict_(?:find|set) \S+ ([v.\d]+)", text)
    assert one == two and f"{one} = py_box" in text
