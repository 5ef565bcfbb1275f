# ruff: noqa: F821
"""Programs of Python's own data types: lists, dicts, sets, text, small classes. `njit` is each contender's own
decorator, as in bench.programs.

CASES: name -> (function, makes its arguments from a random generator).
"""
import heapq
import math
from collections import deque
from dataclasses import dataclass

import numpy as np


# ---------------------------------------------------------------- lists

@njit
def sieve_list(n):
    composite = [False] * (n + 1)
    primes = []
    for i in range(2, n + 1):
        if not composite[i]:
            primes.append(i)
            for k in range(i * i, n + 1, i):
                composite[k] = True
    return primes


@njit
def sum_floats(values):
    total = 0.0
    for x in values:
        total += x
    return total


@njit
def smooth(values):
    for i in range(1, len(values)):
        values[i] = values[i - 1] * 0.5 + values[i]
    return values[-1]


@njit
def count_up(values):
    for i in range(len(values)):
        values[i] += 1
    return values[0]


@njit
def bisect_left(values, x):
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def append_floats(n):
    result = []
    x = 0.5
    for i in range(n):
        x = 3.7 * x * (1.0 - x)
        result.append(x)
    return result


@njit
def flood_fill(grid, start_row, start_column, colour):
    old = grid[start_row, start_column]
    stack = [(start_row, start_column)]
    filled = 0
    while stack:
        row, column = stack.pop()
        if row < 0 or column < 0 or row >= grid.shape[0] or column >= grid.shape[1]:
            continue
        if grid[row, column] != old:
            continue
        grid[row, column] = colour
        filled += 1
        stack.append((row + 1, column))
        stack.append((row - 1, column))
        stack.append((row, column + 1))
        stack.append((row, column - 1))
    return filled


@njit
def matmul_lists(a, b):
    n, m, p = len(a), len(b), len(b[0])
    c = [[0.0] * p for _ in range(n)]
    for i in range(n):
        for j in range(p):
            total = 0.0
            for k in range(m):
                total += a[i][k] * b[k][j]
            c[i][j] = total
    return c


@njit
def floyd_warshall_lists(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i][k] + d[k][j]
                if through < d[i][j]:
                    d[i][j] = through
    return d[0][n - 1]


@njit
def n_queens(n):
    columns = [-1] * n
    row, found = 0, 0
    while row >= 0:
        columns[row] += 1
        while columns[row] < n:
            good = True
            for other in range(row):
                if columns[other] == columns[row] or abs(columns[other] - columns[row]) == row - other:
                    good = False
                    break
            if good:
                break
            columns[row] += 1
        if columns[row] == n:
            row -= 1
        elif row == n - 1:
            found += 1
        else:
            row += 1
            columns[row] = -1
    return found


@njit
def convex_hull(points):
    points = sorted(points)
    lower = []
    for p in points:
        while len(lower) >= 2 and ((lower[-1][0] - lower[-2][0]) * (p[1] - lower[-2][1])
                                   - (lower[-1][1] - lower[-2][1]) * (p[0] - lower[-2][0])) <= 0.0:
            lower.pop()
        lower.append(p)
    upper = []
    for i in range(len(points) - 1, -1, -1):
        p = points[i]
        while len(upper) >= 2 and ((upper[-1][0] - upper[-2][0]) * (p[1] - upper[-2][1])
                                   - (upper[-1][1] - upper[-2][1]) * (p[0] - upper[-2][0])) <= 0.0:
            upper.pop()
        upper.append(p)
    return lower[:-1] + upper[:-1]


@njit
def sort_floats(values):
    return sorted(values)


@njit
def sort_tuples(pairs):
    pairs = list(pairs)
    pairs.sort(key=lambda pair: (pair[1], pair[0]))
    return pairs


@njit
def evaluate_stack(program):
    stack = []
    for code, value in program:
        if code == 0:
            stack.append(value)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(a + b if code == 1 else a - b if code == 2 else a * b)
    return stack[0]


# ---------------------------------------------------------------- heaps and queues

@njit
def dijkstra(starts, ends, weights, source):
    n = len(starts) - 1
    distance = [math.inf] * n
    distance[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        d, node = heapq.heappop(heap)
        if d > distance[node]:
            continue
        for e in range(starts[node], starts[node + 1]):
            other = ends[e]
            through = d + weights[e]
            if through < distance[other]:
                distance[other] = through
                heapq.heappush(heap, (through, other))
    return distance


@njit
def order_book(sides, prices, amounts):
    bids, asks = [], []
    traded = 0
    for i in range(len(prices)):
        amount = amounts[i]
        if sides[i]:
            while amount > 0 and asks and asks[0][0] <= prices[i]:
                price, number, left = heapq.heappop(asks)
                n = min(amount, left)
                traded += n
                amount -= n
                if left > n:
                    heapq.heappush(asks, (price, number, left - n))
            if amount > 0:
                heapq.heappush(bids, (-prices[i], i, amount))
        else:
            while amount > 0 and bids and -bids[0][0] >= prices[i]:
                price, number, left = heapq.heappop(bids)
                n = min(amount, left)
                traded += n
                amount -= n
                if left > n:
                    heapq.heappush(bids, (price, number, left - n))
            if amount > 0:
                heapq.heappush(asks, (prices[i], i, amount))
    return traded, len(bids), len(asks)


@njit
def servers(arrivals, services, count):
    free = [0.0] * count
    heapq.heapify(free)
    waited = 0.0
    for i in range(len(arrivals)):
        start = heapq.heappop(free)
        if start < arrivals[i]:
            start = arrivals[i]
        waited += start - arrivals[i]
        heapq.heappush(free, start + services[i])
    return waited / len(arrivals)


@njit
def breadth_first(starts, ends, source):
    n = len(starts) - 1
    level = [-1] * n
    level[source] = 0
    queue = deque([source])
    while queue:
        node = queue.popleft()
        for e in range(starts[node], starts[node + 1]):
            other = ends[e]
            if level[other] < 0:
                level[other] = level[node] + 1
                queue.append(other)
    return level


# ---------------------------------------------------------------- dicts and sets

@njit
def count_keys(keys):
    counts = {}
    for k in keys:
        counts[k] = counts.get(k, 0) + 1
    return counts


@njit
def group_by(keys, values):
    groups = {}
    for i in range(len(keys)):
        if keys[i] not in groups:
            groups[keys[i]] = []
        groups[keys[i]].append(values[i])
    best, most = -1, -1.0
    for key, group in groups.items():
        mean = sum(group) / len(group)
        if mean > most:
            best, most = key, mean
    return best, most


@njit
def two_sum(values, target):
    seen = {}
    for i, x in enumerate(values):
        if target - x in seen:
            return seen[target - x], i
        seen[x] = i
    return -1, -1


@njit
def life_on_a_set(alive, steps):
    for _ in range(steps):
        neighbours = {}
        for x, y in alive:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx != 0 or dy != 0:
                        cell = (x + dx, y + dy)
                        neighbours[cell] = neighbours.get(cell, 0) + 1
        after = set()
        for cell, n in neighbours.items():
            if n == 3 or n == 2 and cell in alive:
                after.add(cell)
        alive = after
    return len(alive)


@njit
def distinct(values):
    seen = set()
    for x in values:
        seen.add(x)
    return len(seen)


@njit
def ways_to_change(coins, amount, known):
    if amount == 0:
        return 1
    if amount < 0 or len(coins) == 0:
        return 0
    key = (len(coins), amount)
    if key in known:
        return known[key]
    found = ways_to_change(coins, amount - coins[0], known) + ways_to_change(coins[1:], amount, known)
    known[key] = found
    return found


# ---------------------------------------------------------------- text

@njit
def word_count(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


@njit
def count_vowels(text):
    n = 0
    for c in text:
        if c in "aeiou":
            n += 1
    return n


@njit
def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i in range(1, len(a) + 1):
        diagonal = row[0]
        row[0] = i
        for j in range(1, len(b) + 1):
            old = row[j]
            cost = diagonal if a[i - 1] == b[j - 1] else diagonal + 1
            row[j] = min(cost, old + 1, row[j - 1] + 1)
            diagonal = old
    return row[len(b)]


@njit
def parse_numbers(text):
    total = 0.0
    for line in text.split("\n"):
        for field in line.split(","):
            total += float(field)
    return total


@njit
def caesar(text, shift):
    result = ""
    for c in text:
        if "a" <= c <= "z":
            result += chr((ord(c) - 97 + shift) % 26 + 97)
        else:
            result += c
    return result


@njit
def tokenise(text):
    tokens = []
    i, n = 0, len(text)
    while i < n:
        c = text[i]
        if c.isspace():
            i += 1
        elif c.isdigit():
            start = i
            while i < n and text[i].isdigit():
                i += 1
            tokens.append(text[start:i])
        elif c == '"':
            start = i
            i += 1
            while text[i] != '"':
                i += 1
            i += 1
            tokens.append(text[start:i])
        else:
            tokens.append(c)
            i += 1
    return len(tokens), tokens[-1]


@njit
def report_lines(names, values):
    lines = []
    for i in range(len(values)):
        lines.append(f"{names[i % len(names)]}: {values[i]:.2f}")
    return "\n".join(lines)


@njit
def is_palindrome(words):
    n = 0
    for word in words:
        if word == word[::-1]:
            n += 1
    return n


# ---------------------------------------------------------------- small classes

@dataclass
class Agent:
    x: float
    y: float
    speed: float
    heading: float

    def step(self, size):
        self.x = (self.x + self.speed * math.cos(self.heading)) % size
        self.y = (self.y + self.speed * math.sin(self.heading)) % size


class Body:
    __slots__ = ("x", "y", "vx", "vy", "mass")

    def __init__(self, x, y, vx, vy, mass):
        self.x, self.y, self.vx, self.vy, self.mass = x, y, vx, vy, mass


class Node:
    def __init__(self, key):
        self.key = key
        self.left = None
        self.right = None


@njit
def move_agents(agents, steps, size):
    for _ in range(steps):
        for agent in agents:
            agent.step(size)
    return agents[0].x


@njit
def n_body(bodies, steps, dt):
    for _ in range(steps):
        for i in range(len(bodies)):
            a = bodies[i]
            for j in range(i + 1, len(bodies)):
                b = bodies[j]
                dx, dy = a.x - b.x, a.y - b.y
                r2 = dx * dx + dy * dy + 0.01
                factor = dt / (r2 * math.sqrt(r2))
                a.vx -= dx * b.mass * factor
                a.vy -= dy * b.mass * factor
                b.vx += dx * a.mass * factor
                b.vy += dy * a.mass * factor
        for body in bodies:
            body.x += dt * body.vx
            body.y += dt * body.vy
    return bodies[0].x


@njit
def tree_of(keys):
    root = Node(keys[0])
    for key in keys:
        node = root
        while True:
            if key < node.key:
                if node.left is None:
                    node.left = Node(key)
                    break
                node = node.left
            elif key > node.key:
                if node.right is None:
                    node.right = Node(key)
                    break
                node = node.right
            else:
                break
    depth, level = 0, [root]
    while level:
        below = []
        for node in level:
            if node.left is not None:
                below.append(node.left)
            if node.right is not None:
                below.append(node.right)
        depth += 1
        level = below
    return depth


WORDS = ("the quick brown fox jumps over a lazy dog while seven other animals look at it from far away and "
         "wonder what all this noise is about").split()


def _text(r, n):
    return " ".join(WORDS[i] for i in r.integers(0, len(WORDS), n))


def _floats(r, n):
    return r.random(n).tolist()


def _graph(r, nodes, degree):
    starts = list(range(0, nodes * degree + 1, degree))
    return starts, r.integers(0, nodes, nodes * degree).tolist(), r.random(nodes * degree).tolist()


def _letters(r, n):
    return "".join(map(chr, r.integers(97, 101, n).tolist()))


def _program(r, n):
    codes = [(0, x) for x in r.random(n).tolist()]
    program = codes[:2]
    for one in codes[2:]:
        program += [(int(r.integers(1, 4)), 0.0), one]
    return [*program, (1, 0.0)]


CASES = {
    "sieve in a list": (sieve_list, lambda r: (20_000,)),
    "sum of a list": (sum_floats, lambda r: (_floats(r, 10_000),)),
    "smooth a list in place": (smooth, lambda r: (_floats(r, 10_000),)),
    "count up in a list": (count_up, lambda r: (r.integers(1000, 9000, 10_000).tolist(),)),
    "bisect in a list": (bisect_left, lambda r: (sorted(_floats(r, 100_000)), 0.7)),
    "append and return": (append_floats, lambda r: (10_000,)),
    "flood fill with a stack": (flood_fill, lambda r: (np.zeros((60, 60), np.int64), 30, 30, 1)),
    "matmul of nested lists": (matmul_lists, lambda r: (r.random((40, 40)).tolist(), r.random((40, 40)).tolist())),
    "floyd-warshall of nested lists": (floyd_warshall_lists, lambda r: (r.random((40, 40)).tolist(),)),
    "n-queens": (n_queens, lambda r: (7,)),
    "convex hull": (convex_hull, lambda r: (list(map(tuple, r.random((2000, 2)).tolist())),)),
    "sort floats": (sort_floats, lambda r: (_floats(r, 20_000),)),
    "sort tuples by a key": (sort_tuples, lambda r: ([(i, x) for i, x in enumerate(_floats(r, 5_000))],)),
    "stack machine": (evaluate_stack, lambda r: (_program(r, 4_000),)),
    "dijkstra with a heap": (dijkstra, lambda r: (*_graph(r, 1_000, 5), 0)),
    "order book with heaps": (order_book, lambda r: ((r.random(4_000) < 0.5).tolist(),
                                                      r.integers(900, 1100, 4_000).tolist(),
                                                      r.integers(1, 100, 4_000).tolist())),
    "queue with servers": (servers, lambda r: (np.cumsum(r.random(5_000)).tolist(), (r.random(5_000) * 3).tolist(), 4)),
    "breadth first with a deque": (breadth_first, lambda r: (*_graph(r, 2_000, 5)[:2], 0)),
    "count ints in a dict": (count_keys, lambda r: (r.integers(0, 1_000, 10_000).tolist(),)),
    "group by key": (group_by, lambda r: (r.integers(0, 100, 5_000).tolist(), _floats(r, 5_000))),
    "two sum": (two_sum, lambda r: (list(range(0, 20_000, 2)), 39_994)),
    "life on a set of cells": (life_on_a_set, lambda r: (
        {(int(x), int(y)) for x, y in r.integers(0, 40, (400, 2))}, 5)),
    "distinct values": (distinct, lambda r: (r.integers(0, 5_000, 10_000).tolist(),)),
    "memoised recursion": (ways_to_change, lambda r: ((1, 2, 5, 10, 20, 50), 300, {(99, 99): 0})),
    "word count": (word_count, lambda r: (_text(r, 10_000),)),
    "count vowels": (count_vowels, lambda r: (_text(r, 5_000),)),
    "edit distance": (levenshtein, lambda r: (_letters(r, 150), _letters(r, 150))),
    "parse numbers": (parse_numbers, lambda r: (
        "\n".join(",".join(map(str, row)) for row in r.random((200, 10)).tolist()),)),
    "caesar": (caesar, lambda r: (_text(r, 1_000), 3)),
    "tokenise": (tokenise, lambda r: ('{"a": 12, "bcd": [1, 22, 333]} ' * 200,)),
    "report of f-strings": (report_lines, lambda r: (WORDS, _floats(r, 1_000))),
    "palindromes": (is_palindrome, lambda r: ([_letters(r, int(n)) for n in r.integers(1, 6, 3_000)],)),
    "agents as dataclasses": (move_agents, lambda r: ([Agent(*row) for row in r.random((100, 4)).tolist()], 20, 10.0)),
    "n-body of slots": (n_body, lambda r: ([Body(*row) for row in r.random((5, 5)).tolist()], 50, 0.01)),
    "binary tree": (tree_of, lambda r: (r.permutation(3_000).tolist(),)),
}
