"""The classes, data, expressions and statements of which `data.py` makes programs.

In expressions and statements `{int}`, `{str}`, `{list}` and `{cond}` stand for random expressions, and two braces for
one, as in a format. The variables i, k, s and word are the trip, a small random number, the state of the random
numbers, and a random short text."""

__all__ = ["CONDITIONS", "DATA", "HEAD", "INTS", "LISTS", "STATEMENTS", "TEXTS"]

HEAD = '''import heapq
import itertools
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum


class Mode(Enum):
    IDLE = 0
    BUSY = 1
    DONE = 2

    def after(self):
        return Mode((self.value + 1) % 3)


class Full(Exception):
    def __init__(self, name, size):
        super().__init__(f"{name} is full")
        self.size = size


@dataclass
class Item:
    name: str
    count: int = 0
    price: float = 1.0
    tags: list = field(default_factory=list)

    def add(self, n):
        if n < 0 and self.count + n < 0:
            raise ValueError(f"{self.name}: {self.count}, not {-n}")
        self.count += n
        return self.count

    @property
    def worth(self):
        return self.count * self.price

    def __lt__(self, other):
        return (self.count, self.name) < (other.count, other.name)


@dataclass(frozen=True, order=True)
class Event:
    time: int
    name: str = "e"

    def later(self, by):
        return Event(self.time + by, self.name)


class Stack:
    def __init__(self, items=(), limit=6):
        self._items = list(items)
        self.limit = limit

    def push(self, x):
        if len(self._items) >= self.limit:
            raise Full("stack", len(self._items))
        self._items.append(x)
        return self

    def pop(self):
        return self._items.pop()

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __getitem__(self, k):
        return self._items[k]

    def __contains__(self, x):
        return x in self._items

    def __bool__(self):
        return len(self._items) > 1


class Trie:
    def __init__(self):
        self.children = {}
        self.ends = 0

    def insert(self, word):
        node = self
        for c in word:
            if c not in node.children:
                node.children[c] = Trie()
            node = node.children[c]
        node.ends += 1

    def count(self, prefix):
        node = self
        for c in prefix:
            node = node.children.get(c)
            if node is None:
                return 0
        return node.total()

    def total(self):
        return self.ends + sum(child.total() for child in self.children.values())


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(self.x + other.x, self.y + other.y)
        return Vector(self.x + other, self.y + other)

    def __mul__(self, k):
        return Vector(self.x * k % 101, self.y * k % 101)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __repr__(self):
        return f"<{self.x} {self.y}>"


def tokens(text):
    k = 0
    while k < len(text):
        c = text[k]
        if c.isdigit():
            end = k
            while end < len(text) and text[end].isdigit():
                end += 1
            yield "number", text[k:end]
            k = end
            continue
        if not c.isspace():
            yield ("name" if c.isalpha() else "sign"), c
        k += 1


def chunks(items, size):
    for k in range(0, len(items), size):
        yield items[k:k + size]


def positive(items):
    for x in items:
        if x > 0:
            yield x


def merged(a, b):
    i = j = 0
    made = []
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            made.append(a[i])
            i += 1
        else:
            made.append(b[j])
            j += 1
    return made + a[i:] + b[j:]


def encoded(text):
    made = []
    for c, group in itertools.groupby(text):
        n = len(list(group))
        made.append(f"{n}{c}" if n > 1 else c)
    return "".join(made)


def reached(groups, start):
    seen, todo = {start}, [start]
    while todo:
        for x in groups.get(todo.pop(), ()):
            if x not in seen:
                seen.add(x)
                todo.append(x)
    return seen


def depth(tree):
    return 1 + max((depth(x) for x in tree), default=0)


def checked(x, low=-100, *, high=100):
    if not low <= x <= high:
        raise ValueError(f"{x} is not in {low}..{high}")
    return x


class Shape:
    sides = 0

    def __init__(self, size):
        self.size = size

    def area(self):
        raise NotImplementedError(f"{type(self).__name__}.area")

    def grown(self, by=1):
        return type(self)(self.size + by)

    def __str__(self):
        return f"{type(self).__name__}({self.size}, {self.sides})"


class Square(Shape):
    sides = 4

    def area(self):
        return self.size ** 2


class Disk(Shape):
    def __init__(self, size, colour="red"):
        super().__init__(size)
        self.colour = colour

    def area(self):
        return 3.0 * self.size * self.size

    def __str__(self):
        return self.colour + super().__str__()


class Blob(Shape):
    pass


class Tree:
    def __init__(self, key, left=None, right=None):
        self.key, self.left, self.right = key, left, right

    def insert(self, key):
        if key == self.key:
            return False
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
                return True
            return self.left.insert(key)
        if self.right is None:
            self.right = Tree(key)
            return True
        return self.right.insert(key)

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.key
        if self.right:
            yield from self.right

    def __bool__(self):
        return True

    def __contains__(self, key):
        node = self
        while node is not None and node.key != key:
            node = node.left if key < node.key else node.right
        return node is not None

    def height(self):
        return 1 + max(t.height() if t else 0 for t in (self.left, self.right))


class Account:
    made = 0

    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance
        type(self).made += 0

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, value):
        if value < 0:
            raise ValueError(f"{self.owner} has no {-value}")
        self._balance = value

    @classmethod
    def of(cls, text):
        owner, _, balance = text.partition(":")
        return cls(owner, int(balance or 0))

    @staticmethod
    def valid(n):
        return 0 < n < 90

    def move(self, other, n):
        self.balance -= n
        try:
            other.balance += n
        finally:
            self._balance += 0


class Restored:
    def __init__(self, items):
        self.items = items

    def __enter__(self):
        self.kept = self.items[:]
        return self.items

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.items[:] = self.kept
        return kind is KeyError


def counter(start, step=1):
    n = start
    while n < 40:
        got = yield n
        n += step if got is None else got


def guarded(items, log):
    try:
        for x in items:
            yield x * 2
    finally:
        log.append("end")


def total_of(*numbers, scale=1, **named):
    return scale * sum(numbers) + sum(named.values()) + len(named)


def power(x, n, known={}):
    if (x, n) not in known:
        known[x, n] = 1 if n <= 0 else x * power(x, n - 1) % 1009
    return known[x, n]


def flat(x):
    if isinstance(x, (list, tuple)):
        for y in x:
            yield from flat(y)
    else:
        yield x


def described(x):
    match x:
        case None:
            return "none"
        case bool():
            return "bool"
        case int() | float() if x > 3:
            return "big"
        case int(n):
            return f"int {n}"
        case str() as t:
            return t + "!"
        case [a, b]:
            return f"two {described(a)} {described(b)}"
        case (a, *rest) | [a, *rest]:
            return f"{len(rest)} after {a}"
        case {"a": a}:
            return f"a={a}"
    return type(x).__name__


def found(items, wanted):
    for k, x in enumerate(items):
        try:
            if x == wanted:
                return k
            if not x:
                continue
        finally:
            wanted = wanted or x
    return -1


def averaged(numbers):
    if not numbers:
        raise ZeroDivisionError("no numbers")
    mean = sum(numbers) / len(numbers)
    return mean, sum((x - mean) ** 2 for x in numbers) / len(numbers)


def compose(*functions):
    def composed(x):
        for g in functions:
            x = g(x)
        return x

    return composed


def made_adder(n):
    calls = 0

    def add(x):
        nonlocal calls
        calls += 1
        return x + n + calls

    return add
'''

# name -> (how it is made, summaries, what keeps it small)
DATA = {
    "nums": ("[3, 1, 2]", ("sum(nums)", "len(nums)", "sorted(nums)[:3]", "nums[:2]"), "del nums[8:]"),
    "vals": ("[0.5, -1.25, 3.0]", ("sum(vals)", "len(vals)", "max(vals, default=0.0)"), "del vals[8:]"),
    "words": ("['b', 'ab', 'c']", ("''.join(words)[:30]", "len(words)", "sorted(words)[:2]"), "del words[8:]"),
    "rows": ("[[1, 2], [3], []]", ("len(rows)", "sum(sum(row) for row in rows)", "[len(row) for row in rows]"),
             "del rows[5:]\nfor row in rows:\n    del row[6:]"),
    "index": ("{'a': 1, 'b': 2}", ("len(index)", "sum(index.values())", "''.join(index)"),
              "if len(index) > 9:\n    index.clear()"),
    "groups": ("{1: [2, 3], 2: [3]}", ("len(groups)", "sum(len(x) for x in groups.values())", "sorted(groups)"),
               "if len(groups) > 9:\n    groups.clear()"),
    "pairs": ("[(1, 'a'), (2, 'b')]", ("len(pairs)", "pairs[:1]", "sum(a for a, _ in pairs)"), "del pairs[8:]"),
    "seen": ("{1, 5}", ("len(seen)", "sum(seen)", "sorted(seen)[:4]"), "if len(seen) > 12:\n    seen.clear()"),
    "edges": ("{(0, 1), (1, 2)}", ("len(edges)", "sorted(edges)[:3]", "sum(a * b for a, b in edges)"),
              "if len(edges) > 12:\n    edges.clear()"),
    "queue": ("deque([(1, 'x')])", ("len(queue)", "list(queue)[:2]"), "while len(queue) > 8:\n    queue.popleft()"),
    "heap": ("[(1, 0)]", ("len(heap)", "heap[:1]", "sorted(heap)"), "while len(heap) > 9:\n    heapq.heappop(heap)"),
    "events": ("[Event(2, 'p'), Event(3)]", ("len(events)", "sum(e.time for e in events)", "[e.name for e in events]"),
               "del events[8:]"),
    "count": ("Counter('abca')", ("len(count)", "sum(count.values())", "count.most_common(2)"),
              "if len(count) > 9:\n    count.clear()"),
    "text": ("'ab 12+x'", ("len(text)", "text[:5]", "text.count('a')"), "text = text[-12:]"),
    "data": ("bytearray(b'ab')", ("len(data)", "sum(data)", "bytes(data[:4])"), "del data[10:]"),
    "items": ("[Item('a', 2), Item('b', 1, 2.5)]", ("len(items)", "sum(x.count for x in items)",
              "[x.name for x in items]", "sum(x.worth for x in items)"), "del items[7:]"),
    "book": ("{'a': Item('a', 3), 'c': Item('c')}", ("len(book)", "sum(x.count for x in book.values())",
             "sorted(book)"), "if len(book) > 9:\n    book.clear()"),
    "table": ("defaultdict(list)", ("len(table)", "sum(sum(x) for x in table.values())", "sorted(table)"),
              "if len(table) > 9:\n    table.clear()"),
    "tally": ("defaultdict(int)", ("len(tally)", "sum(tally.values())", "sorted(tally.items())[:3]"),
              "if len(tally) > 9:\n    tally.clear()"),
    "grid": ("{(0, 0): 'a', (1, 0): 'b'}", ("len(grid)", "''.join(grid.values())", "sorted(grid)[:2]"),
             "if len(grid) > 12:\n    grid.clear()"),
    "nested": ("{'a': {'b': 1}, 'c': {}}", ("len(nested)", "sum(len(x) for x in nested.values())", "sorted(nested)"),
               "if len(nested) > 8:\n    nested.clear()"),
    "mode": ("Mode.IDLE", ("mode.name", "mode.value", "mode is Mode.DONE"), ""),
    "last": ("None", ("last is None", "last if last is not None else -1"), ""),
    "stack": ("Stack()", ("len(stack)", "list(stack)", "bool(stack)"), ""),
    "trie": ("Trie()", ("trie.total()", "trie.count('a')", "len(trie.children)"),
             "if trie.total() > 9:\n    trie = Trie()"),
    "place": ("Vector(1, 2)", ("place.x", "str(place)", "place.x + place.y"), "place = place * 1"),
    "spots": ("{Vector(0, 1): 2}", ("len(spots)", "sum(spots.values())", "sum(v.x for v in spots)"),
              "if len(spots) > 7:\n    spots.clear()"),
    "window": ("deque(maxlen=3)", ("len(window)", "list(window)", "sum(window)"), ""),
    "pool": ("[Vector(1, 1), Vector(0, 2)]", ("len(pool)", "sum(v.x for v in pool)", "str(pool[:2])"), "del pool[7:]"),
    "shapes": ("[Square(2), Disk(1), Square(3)]", ("len(shapes)", "[str(x) for x in shapes]",
               "sum(x.area() for x in shapes)", "sum(isinstance(x, Square) for x in shapes)"), "del shapes[6:]"),
    "mixed": ("[1, 'a', None, 2.5, (1, 2)]", ("len(mixed)", "str(mixed)[:60]", "[described(x) for x in mixed]"),
              "del mixed[7:]"),
    "actions": ("{'inc': lambda x: x + 1, 'dbl': lambda x: 2 * x}", ("len(actions)", "sorted(actions)",
                "sum(g(2) for g in actions.values())"), "if len(actions) > 5:\n    actions.popitem()"),
    "tree": ("Tree(5, Tree(2))", ("list(tree)[:9]", "tree.height()", "sum(tree) % 1000"),
             "if tree.height() > 6:\n    tree = Tree(4)"),
    "optional": ("[3, None, 1]", ("len(optional)", "sum(x or 0 for x in optional)", "optional[:2]"), "del optional[6:]"),
    "state": ("{'n': 1, 'name': 'a', 'xs': [1]}", ("len(state)", "sorted(state)", "str(state)[:60]"), ""),
    "trio": ("(1, 'a', 2.5)", ("trio", "trio[1]", "len(trio)"), ""),
    "chain": ("(1, 2)", ("len(chain)", "sum(chain)", "chain[:2]"), "chain = chain[-5:]"),
    "frozen": ("{frozenset([1, 2])}", ("len(frozen)", "sum(map(len, frozen))", "sorted(map(sorted, frozen))[:2]"),
               "if len(frozen) > 6:\n    frozen.clear()"),
    "account": ("Account('ann', 5)", ("account.balance", "account.owner"), ""),
    "accounts": ("{'a': Account('a', 9), 'b': Account('b')}", ("len(accounts)",
                 "sum(x.balance for x in accounts.values())"), "if len(accounts) > 6:\n    accounts.clear()"),
    "matrix": ("[[1.0, 0.5], [2.0, -1.0]]", ("len(matrix)", "sum(map(sum, matrix))", "matrix[0][:2]"),
               "del matrix[4:]"),
    "raw": ("b'a1b'", ("len(raw)", "raw[:4]", "sum(raw)"), "raw = raw[-8:]"),
    "triples": ("{(1, 'a', True)}", ("len(triples)", "sorted(triples)[:2]"), "if len(triples) > 8:\n    triples.clear()"),
    "log": ("[]", ("len(log)", "log[-2:]", "'|'.join(log)[-40:]"), "del log[:-6]"),
}

INTS = ("i", "k", "i % 5", "s % 7", "k - 2", "1", "0", "-1", "total % 10", "len(nums)", "nums[k % 3]", "nums[-1]",
         "index['a']", "index.get(word, 3)", "len(groups)", "sum(nums) % 9", "max(nums)", "len(text)", "count[word]",
         "pairs[0][0]", "len(seen & {1, 2, 3})", "heap[0][0]", "items[0].count", "tally[k]", "place.x % 10", "len(word)",
         "data[0] % 8", "len(rows[0])", "rows[0][0]", "mode.value", "nums.count(1)", "ord(word[0]) % 5", "stack[0]",
         "abs(k - i)", "int(i > k)", "divmod(s, 5)[1]", "(last or 0) % 6", "len(queue)", "events[0].time % 9",
         "book['a'].count", "trie.count('a')", "len(window)", "next(positive(nums))", "sum(positive(nums)) % 11",
         "min(nums, default=4)", "len(grid)", "i // (k + 1)", "i % k", "7 // (i % 3)", "next(iter(seen), 2)",
         "bool(seen) + 1", "len([x for x in nums if x > k])", "sum(1 for w in words if w < word)", "int(vals[0]) % 9", "shapes[0].size", "tree.height()", "sum(tree) % 20", "optional[0] or 2", "state['n']",
        "trio[0]", "chain[0]", "len(chain)", "account.balance % 20", "len(state['xs'])", "len(raw)", "raw[0] % 9",
        "power(3, k)", "total_of(k, i, scale=2)", "total_of(*nums[:3], a=k)", "found(nums, k)", "found(words, word)",
        "actions['inc'](k)", "len(mixed)", "k.bit_length()", "len(described(mixed[0]))", "compose(abs, str, len)(i - 9)",
        "made_adder(2)(k)", "int(matrix[0][0]) % 9", "len(frozen)", "sum(x for x in optional if x is not None)",
        "round(averaged(nums)[0])", "int(word or 3)", "-k // 2", "-i % 3", "i ** 2 % 7", "1 << k", "i >> 1", "i & 6 ^ k",
        "len(str(i * 1000))", "sum(x is None for x in optional)", "len(range(k, i, 2))", "int(k in chain)",
        "accounts['a'].balance", "sum(map(len, words))", "max(len(w) for w in words)", "hash(k) % 5")
TEXTS = ("word", "'a'", "'b'", "word + 'x'", "word[0]", "str(k)", "words[0]", "words[-1]", "text[:2]", "word.upper()",
          "word * 2", "pairs[-1][1]", "items[0].name", "f'{i}{word}'", "''.join(words[:2])", "mode.name[:1]",
          "queue[0][1]", "grid.get((0, 0), 'z')", "word[::-1]", "chr(97 + k)", "text.strip()[:3]", "str(place)",
          "'ab'[k % 2]", "next(iter(index))", "max(words)", "min(words, key=len)", "encoded(word)", "word.replace('a', '')",
          "text.split()[0]", "'%d-%s' % (k, word)", "word.rjust(3, '.')", "sorted(word)[0]", "events[0].name",
          "f'{vals[0]:.1f}'", "words[k]", "(word or 'q')", "word.partition('b')[2]",
         "str(shapes[0])", "described(mixed[k])", "state['name']", "trio[1]", "account.owner", "raw.decode()",
         "raw.hex()[:3]", "str(optional[:1])", "f'{k:+d}'", "f'{word:^4}'", "f'{i / 3:.2f}'", "repr(word)[1:3]",
         "'-'.join(sorted(words)[:2])", "described([k, word])", "str(chain)", "type(mixed[k]).__name__",
         "word.encode().hex()", "' '.join(word)", "word.center(4, '*')", "str(k > 1)", "f'{nums[:2]}'", "''.join(index)",
         "str(trio)", "f'{k!r:>2}{word!s}'", "str(bool(words))", "word.zfill(2)", "'%5.1f' % (k / 2)",
         "''.join(map(str, chain))", "word.title()", "str(2.0 * k)", "(word + '?')[k]", "word[-2:]", "word[::2]")
LISTS = ("nums", "nums[1:]", "nums[::-1]", "[{int}, {int}]", "[x + 1 for x in nums]", "list(range(k))", "sorted(seen)",
          "rows[0]", "rows[-1]", "list(positive(nums))", "groups.get(k, [])", "groups[k]", "table[word]",
          "sorted(nums, reverse=True)", "merged(sorted(nums), rows[0])", "[len(w) for w in words]", "nums + rows[0]",
          "list(set(nums))", "[a for a, _ in pairs]", "[x for row in rows for x in row]", "list(index.values())", "[]",
          "[{int}] * 2", "list(stack)", "list(map(abs, nums))", "nums or [1]", "items[0].tags", "[*seen]",
          "list(data[:3])", "[v.x for v in pool]", "list(window)", "[{int} for _ in range(3)]",
         "list(tree)", "[x for x in optional if x]", "state['xs']", "list(chain)", "[len(described(x)) for x in mixed]",
         "list(flat([nums[:2], (k, [i])]))", "sorted(nums, key=lambda x: -x)", "[x.size for x in shapes]",
         "[g(k) for g in actions.values()]", "list(filter(None, nums))", "[*chain, k]", "list(raw)[:4]",
         "[y for x in frozen for y in sorted(x)]", "[i for i in range(k)]", "[(lambda: x)() for x in nums]",
         "list(counter(k, 9))", "[x.balance for x in accounts.values()]", "list(guarded(nums[:2], log))",
         "list(map(lambda a, b: a - b, nums, chain))", "[a + b for a, b in zip(nums, nums[1:])]", "sorted(groups)",
         "[x if x > k else -x for x in nums]", "sum(rows, [])", "list(dict.fromkeys(nums))", "list(reversed(nums))",
         "[int(c) for c in str(i * 7)]", "[ord(c) % 7 for c in word]", "nums * 2", "[x for x in nums if x not in seen]")
CONDITIONS = ("i % 2", "{int} > {int}", "{str} in index", "k in seen", "{str} < {str}", "word in words", "last is None",
               "not nums", "rows[0]", "mode is Mode.BUSY", "(k, i % 3) in edges", "len(words) > 2 and words[0] != word",
               "any(x > k for x in nums)", "all(words)", "text.startswith(word)", "stack", "k in stack", "word in text",
               "nums == rows[0]", "nums < [{int}]", "items[0] < items[-1]", "isinstance(last, int)", "{int} in nums",
               "place == Vector(1, k)", "word.isalpha()", "(last or k) > 2", "nums is rows[0]", "{int} == {int}",
               "index.keys() & {'a', word}", "groups.get(k)", "0 <= k < len(nums)", "pairs < [(k, word)]",
              "isinstance(shapes[k], Square)", "{int} in tree", "optional[k] is None", "None in optional", "{str} in state",
              "trio[0] == k", "k in chain", "isinstance(mixed[k], str)", "mixed[k]", "{str} in actions",
              "account.balance > {int}", "raw.startswith(b'a')", "chain < (k, 2)", "word.isdigit()", "mixed[0] == {int}",
              "frozenset([1, k]) in frozen", "Account.valid({int})", "hasattr(shapes[0], 'colour')", "not chain",
              "(k, word, True) in triples", "all(x is not None for x in optional)", "{cond} and {cond}", "{cond} or {cond}",
              "not ({cond})", "nums and nums[0] > k", "type(shapes[0]) is Disk", "any(w.startswith('a') for w in words)",
              "set(nums) >= {k, 1}", "nums[:1] == [k]", "words != sorted(words)", "max(nums) > {int} > min(nums)")
STATEMENTS = (
    "nums.append({int})", "nums[k % len(nums)] = {int}", "nums[k] += {int}", "nums.insert(k, {int})",
    "total += nums.pop()", "total += nums.pop(k)", "nums.remove({int})", "nums.sort()", "nums.reverse()",
    "nums.sort(key=lambda x: (x % 3, -x))", "nums.sort(key=lambda x: -x, reverse={cond0})", "nums.extend({list}[:4])",
    "nums = {list}", "nums += {list}[:3]", "nums[k:] = {list}[:3]", "del nums[k]", "nums[::2] = [0] * len(nums[::2])",
    "nums[0], nums[-1] = nums[-1], nums[0]", "a, *rest = {list}\ntotal += a + len(rest)",
    "a, b = {list}\ntotal += a - b", "total += nums.index({int})", "for x in nums:\n    if x == k:\n        break\nelse:\n    total += 1",
    "for j, x in enumerate(nums):\n    nums[j] = x + {int} % 3", "for x in nums[:]:\n    if x % 2:\n        nums.remove(x)",
    "for x, y in zip(nums, {list}):\n    total += x * y % 7", "total += sum(x * y for x, y in zip(nums, nums[1:])) % 50",
    "vals.append({int} / 4)", "vals[k] *= 0.5", "vals = [x / 2 for x in vals if x]", "vals.sort()",
    "total += int(sum(vals)) % 20", "vals = [float(x) for x in {list}]", "total += round(max(vals))",
    "vals.append(float({str}))", "vals = sorted(vals, key=abs)", "vals.append(sum(vals) / len(vals))",
    "words.append({str})", "words[k] = {str}", "words.sort(key=lambda w: (len(w), w))", "words = ({str}).split('a')",
    "words = [w.upper() for w in words if w]", "words.insert(0, words.pop())", "text = ' '.join(words)",
    "words = sorted(set(words))", "total += len(max(words, key=len))", "words.extend({str})", "words += [{str}, {str}]",
    "words = [w for w, n in sorted(Counter(words).items(), key=lambda p: (-p[1], p[0]))]",
    "rows.append({list})", "rows[k].append({int})", "rows.append(rows[0])", "rows[0] = {list}", "rows[k % 3][0] += 1",
    "rows = [row[:] for row in rows]", "rows.sort()", "rows.sort(key=len)", "rows = [list(x) for x in zip(*rows)]",
    "rows = [[x + {int} % 4 for x in row] for row in rows if row]", "row = rows[k % len(rows)]\nrow += {list}[:2]",
    "rows.append(sum(rows, [])[:5])", "total += max(map(len, rows))", "rows = list(chunks({list}, 2))",
    "for row in rows:\n    for x in row:\n        if x > {int}:\n            break\n        total += x",
    "rows, nums = [nums] + rows[:2], rows[-1] + [k]", "nums = max(rows, key=lambda row: sum(row))",
    "index[{str}] = {int}", "index[{str}] += 1", "index[word] = index.get(word, 0) + 1", "del index[{str}]",
    "total += index.pop({str}, 0)", "total += index.pop({str})", "index.update({{{str}: {int}}})",
    "index = {{w: len(w) for w in words}}", "index = {{v: str(v) for v in {list}}}\nindex = {{w: v for v, w in index.items()}}",
    "for w, n in index.items():\n    total += n\n    if w > word:\n        break", "total += index.setdefault({str}, {int})",
    "word2, n = index.popitem()\ntotal += n + len(word2)", "index |= {{{str}: 1}}",
    "total += max(index.values())", "words = sorted(index, key=lambda w: (index[w], w))", "index = dict(sorted(index.items()))",
    "for w in list(index):\n    if index[w] > {int}:\n        del index[w]", "best = max(index, key=index.get)\nwords.append(best)",
    "for w in index:\n    if {cond}:\n        index[w] += 2", "index = dict(zip(words, {list}))",
    "groups[k] = {list}", "groups.setdefault(k, []).append({int})", "groups[{int}].append({int})", "groups[k] = groups[1]",
    "total += len(reached(groups, k))", "nums = sorted(reached(groups, 1))", "groups = {{x: [x, k] for x in {list}}}",
    "for x, ys in groups.items():\n    for y in ys:\n        edges.add((x, y))", "del groups[{int}]",
    "groups = {{a: sorted(b) for a, b in groups.items() if b}}", "total += sum(len(x) for x in groups.values())",
    "for x in {list}:\n    if x not in groups:\n        groups[x] = []\n    groups[x].append(i)",
    "pairs.append(({int}, {str}))", "pairs.sort()", "pairs.sort(key=lambda p: (p[1], -p[0]))", "pairs[k] = ({int}, {str})",
    "for a, w in pairs:\n    total += a\n    if w == word:\n        continue\n    log.append(w)",
    "pairs = [(b, a) for a, b in index.items()]", "pairs = list(zip(nums, words))", "pairs = sorted(pairs, reverse=True)[:4]",
    "pairs = [(n, w) for n, w in pairs if n > {int}]", "pairs = list(enumerate(words))", "a, (b, w) = k, pairs[0]\ntotal += b",
    "index = {{w: n for n, w in pairs}}", "(n, w), *others = pairs\ntotal += n + len(others)", "total += max(pairs)[0]",
    "seen.add({int})", "seen.discard({int})", "seen.remove({int})", "seen |= set({list})", "seen = seen ^ {{k, {int}}}",
    "seen = {{x % 5 for x in {list}}}", "total += len(seen & set(nums))", "seen -= {{{int}}}", "total += seen.pop()",
    "if {int} in seen:\n    total += 3\nelse:\n    seen.add({int})", "seen.update({list}, [k])", "nums = sorted(seen - {{{int}}})",
    "edges.add((k, {int}))", "edges |= {{(b, a) for a, b in edges}}", "edges.discard(({int}, 1))",
    "for a, b in sorted(edges):\n    total += a * b", "edges = {{(x, y) for x in nums[:3] for y in nums[:3] if x < y}}",
    "seen = {{a for a, _ in edges}}", "edges = set(zip(nums, nums[1:]))", "total += sum((x, k) in edges for x in nums)",
    "queue.append(({int}, {str}))", "n, w = queue.popleft()\ntotal += n + len(w)", "queue.appendleft((k, word))",
    "queue.rotate({int})", "if queue and queue[0][0] > {int}:\n    queue.pop()", "queue.extend([(x, 'q') for x in {list}[:3]])",
    "while queue:\n    n, w = queue.popleft()\n    total += n\n    if n > 3:\n        break", "pairs = list(queue)",
    "heapq.heappush(heap, ({int}, {int}))", "a, b = heapq.heappop(heap)\ntotal += a * 2 + b", "heap = [(x, k) for x in {list}]\nheapq.heapify(heap)",
    "total += heapq.heappushpop(heap, (k, i))[0]", "total += sum(a for a, _ in heapq.nsmallest(2, heap))",
    "while heap and heap[0][0] < {int}:\n    total += heapq.heappop(heap)[1]", "total += heapq.heapreplace(heap, ({int}, i))[0]",
    "heapq.heappush(events, Event({int}, {str}))", "e = heapq.heappop(events)\ntotal += e.time\nwords.append(e.name)",
    "events.append(events[0].later({int}))", "events.sort()", "events = [Event(x) for x in {list}]", "total += max(events).time",
    "seen |= {{e.time for e in events}}", "if Event(k) in events:\n    total += 1", "events = sorted(set(events))[:5]",
    "spread = {{e: e.time for e in events}}\ntotal += spread[events[0]]", "events[k] = Event({int}, word)",
    "count[{str}] += 1", "count.update({str})", "total += count[{str}]", "words = [w for w, _ in count.most_common(3)]",
    "count = Counter({str})", "count = Counter({str}) + count", "count.subtract({str})", "del count[word]",
    "for c, n in count.items():\n    total += n * ord(c[0]) % 13", "count = +count", "total += sum(count.values())",
    "text += {str}", "text = text.replace({str}, {str})", "text = ''.join(reversed(text))", "text = text[k:] + text[:k]",
    "text = ''.join(sorted(text))", "text = encoded(text)", "for kind, t in tokens(text):\n    if kind == 'number':\n        total += int(t) % 100\n    else:\n        words.append(t)",
    "total += sum(int(t) for kind, t in tokens(text) if kind == 'number') % 1000", "total += text.find({str})",
    "total += text.index({str})", "text = f'{{text:>8}}|{{k:03d}}|{{word!r}}'", "text = text.title().swapcase()",
    "for c in text:\n    count[c] += 1", "for j in range(len(text)):\n    if text[j] == 'a':\n        total += j",
    "text = ''.join(c for c in text if c.isalnum())", "words = text.split()", "text = ', '.join(map(str, {list}))",
    "text = '%s:%d' % ({str}, {int})", "total += int(text)", "text = ''.join(chr(97 + x % 26) for x in {list})",
    "word = {str}\ntext = word + text", "head, sep, tail = text.partition('a')\ntext = tail + sep + head",
    "data.append({int} % 256)", "data[k] = {int}", "data.extend(({str}).encode())", "data += bytes({list}[:3])",
    "text = data.decode('latin-1')", "data = bytearray(b % 100 for b in data)", "total += data[-1]", "data.reverse()",
    "for b in data:\n    total += b % 3", "total += data.find(b'a')", "text = bytes(data).hex()",
    "items.append(Item({str}, {int}))", "items[k].add({int})", "items[k].count -= 1", "items.sort()", "total += items[0].add({int})",
    "items.sort(key=lambda x: (x.worth, x.name))", "items[0].tags.append({int})", "items[0].tags = {list}", "item = items[k]\nitem.name += 'n'\nitem.price *= 2",
    "items.append(items[0])", "total += sum(x.count for x in items)", "total += int(max(x.worth for x in items)) % 90",
    "items = [x for x in items if x.count != {int}]", "book = {{x.name: x for x in items}}", "if Item({str}, {int}) in items:\n    total += 2",
    "for x in items:\n    if x.count > {int}:\n        x.add(-1)\n        break", "words = [x.name for x in items]",
    "item = max(items, key=lambda x: x.count)\nbook[item.name] = item", "items.insert(0, Item(word, tags={list}))", "total += min(items).count",
    "book[{str}] = Item({str}, {int})", "book[word].add({int})", "book['a'].tags.append(k)", "items.append(book[{str}])",
    "book.setdefault(word, Item(word)).add(1)", "total += book.pop({str}).count", "for w, x in book.items():\n    total += x.count\n    x.price += 0.5",
    "if word in book:\n    book[word].count += {int}", "x = book.get({str})\nif x is not None:\n    total += x.add(k)\nelse:\n    total -= 1",
    "items = sorted(book.values(), key=lambda x: x.name)[:4]",
    "table[{str}].append({int})", "table[word] += {list}[:2]", "table = defaultdict(list)\nfor x in {list}:\n    table[str(x % 3)].append(x)",
    "total += len(table[{str}])", "nums = table.pop(word, nums)", "for w in sorted(table):\n    total += sum(table[w])",
    "tally[{int}] += 1", "for x in {list}:\n    tally[x] += k", "total += tally[{int}]", "del tally[{int}]",
    "nums = sorted(tally, key=lambda x: (tally[x], x))", "tally = defaultdict(int, {{x: 1 for x in {list}}})",
    "grid[k, {int}] = {str}", "total += len(grid[k, 0])", "grid[0, 0] += word", "for (a, b), c in grid.items():\n    if c == word:\n        total += a - b",
    "grid = {{(b, a): c for (a, b), c in grid.items()}}", "total += sum((k + a, b) in grid for a in (-1, 0, 1) for b in (-1, 0, 1))",
    "for a in range(3):\n    for b in range(2):\n        grid.setdefault((a, b), word)", "words.append(grid.pop((k, 1), 'none'))",
    "grid = {{(a, b): 'xo'[(a + b) % 2] for a in range(3) for b in range(k)}}", "cells = {{p for p, c in grid.items() if c}}\nedges |= cells",
    "nested[{str}] = {{word: {int}}}", "nested['a'][word] = {int}", "nested.setdefault({str}, {{}})[word] = i", "total += nested[{str}][word]",
    "for w, inner in nested.items():\n    for v, n in inner.items():\n        total += n\n        index[w + v] = n",
    "total += sum(sum(x.values()) for x in nested.values())", "nested['b'] = nested['a']", "nested = {{w: dict(x) for w, x in nested.items()}}",
    "nested['c'] = index", "nested[word].update(index)",
    "mode = mode.after()", "mode = Mode({int})", "mode = Mode[{str}]", "if mode is Mode.IDLE:\n    mode = Mode.BUSY\nelif mode == Mode.BUSY:\n    total += 2\n    mode = Mode.DONE\nelse:\n    mode = Mode.IDLE",
    "match mode:\n    case Mode.IDLE:\n        total += 1\n    case Mode.BUSY if k > 1:\n        total += 2\n    case _:\n        mode = Mode.IDLE",
    "match {list}:\n    case []:\n        total -= 1\n    case [x]:\n        total += x\n    case [x, y, *rest]:\n        total += x - y + len(rest)",
    "match ({int}, {str}):\n    case (0, w):\n        words.append(w)\n    case (n, 'a' | 'b'):\n        total += n\n    case (n, w) if n > 3:\n        log.append(w)\n    case other:\n        total += len(other)",
    "match items[k]:\n    case Item(name='a', count=n):\n        total += n\n    case Item(count=0):\n        total -= 1\n    case Item(name=w):\n        words.append(w)",
    "match index:\n    case {{'a': n, **rest}}:\n        total += n + len(rest)\n    case {{}}:\n        total += 1",
    "last = {int}", "last = None", "if last is not None:\n    total += last", "last = index.get({str})", "total += last",
    "last = next((x for x in nums if x > {int}), None)", "last = last + 1 if last is not None and last < 50 else k",
    "stack.push({int})", "total += stack.pop()", "stack.push(k).push(i)", "total += stack[k]", "for x in stack:\n    total += x",
    "stack = Stack({list}, {int})", "if k in stack:\n    total += 4", "try:\n    stack.push(i)\nexcept Full as e:\n    total += e.size\n    log.append(str(e))\n    stack.pop()",
    "trie.insert({str})", "total += trie.count({str})", "for w in words:\n    trie.insert(w)", "if 'a' in trie.children:\n    total += trie.children['a'].total()",
    "place += Vector({int}, k)", "place = place + {int}", "place = -place * 3", "place.x, place.y = place.y, place.x", "total += place.x",
    "spots[Vector(k, {int})] = {int}", "spots[place] = spots.get(place, 0) + 1", "total += spots[Vector(0, k)]", "pool.append(place)",
    "pool.append(Vector({int}, {int}))", "pool[k] = pool[0] + pool[-1]", "for v in pool:\n    v.x += 1", "place = sum(pool, Vector(0, 0)) * 1",
    "pool[k] += Vector(1, {int})", "pool.sort(key=lambda v: (v.y, v.x))", "if Vector(k, 1) in pool:\n    total += pool.index(Vector(k, 1))",
    "window.append({int})", "if len(window) == 3:\n    total += window[0] - window[-1]", "window.extend({list}[:2])", "window = deque({list}, maxlen=3)",
    "total += max(window)", "if window:\n    total += window.popleft()", "total += sum(window)",
    "log.append({str})", "log.append(f'{{i}}: {{{list}}}')", "log.append(repr({str}))", "log.append(str(({int}, {str})))", "log.append(f'{{total % 100:>5}}{{word:<3}}')",
    "total += checked({int})", "total += checked({int}, high={int})", "try:\n    total += checked({int}, 0, high=3)\nexcept ValueError as e:\n    log.append(str(e))\nfinally:\n    total += 1",
    "try:\n    total += nums[{int}]\nexcept IndexError:\n    total -= 1\nelse:\n    nums.append(k)", "try:\n    total += index[{str}]\nexcept KeyError as e:\n    log.append(e.args[0])",
    "try:\n    a, b = {list}\nexcept ValueError as e:\n    log.append(str(e))", "try:\n    total += int({str})\nexcept ValueError:\n    total += 1\nfinally:\n    nums.append(i)",
    "if {cond}:\n    raise ValueError({str})", "assert {cond}, {str}", "total += next(positive({list}), 0)", "it = iter({list})\nfor x in it:\n    total += x - next(it, 0)",
    "for part in chunks({list}, 2):\n    total += sum(part) % 5\n    rows.append(part)", "total += depth([[], [[{int}]]]) if k < 0 else 2",
    "nums = list(itertools.chain(nums, {list}))[:6]", "nums = list(itertools.accumulate({list}))", "for a, b in itertools.combinations({list}[:4], 2):\n    total += a * b % 5",
    "nums = [x for x, _ in itertools.groupby(sorted({list}))]", "for a, b in itertools.product(nums[:2], words[:2]):\n    pairs.append((a, b))",
    "make = lambda x: x + k\nnums = [make(x) for x in nums]", "total += (lambda a, b=2: a * b)({int})", "if (n := len({list})) > 1:\n    total += n",
    "total += sum(map(lambda p: p[0] * p[1], zip({list}, {list}))) % 31", "nums, words = words, nums\nnums, words = words, nums",
    "x = {list} if {cond} else {list}\ntotal += len(x)", "x = {list}\ny = x\ny.append(k)\ntotal += len(x)", "x = y = {list}\nx += [1]\ntotal += len(y)",
    "if {cond}:\n    words.append({str})\nelse:\n    nums.append({int})", "while nums and nums[-1] > {int}:\n    total += nums.pop()",
    "for j in range(k):\n    if {cond}:\n        continue\n    nums.append(j)", "total += {int} if {cond} else {int}",
    "shapes.append(Square({int}))", "shapes.append(Disk({int}, {str}))", "shapes[k] = shapes[0].grown({int})",
    "total += int(sum(x.area() for x in shapes)) % 100", "shapes.append(Blob(k))", "log.append(str(shapes[k]))",
    "shapes.sort(key=lambda x: (x.area(), str(x)))", "for x in shapes:\n    if isinstance(x, Disk):\n        x.colour += 'c'\n    else:\n        x.size += 1",
    "best = max(shapes, key=lambda x: x.size)\ntotal += best.size\nlog.append(type(best).__name__)", "shapes = [x.grown() for x in shapes if x.sides]",
    "sides = {{type(x).__name__: x.sides for x in shapes}}\ntotal += sum(sides.values())", "x = shapes[k]\ntotal += x.sides\nif type(x) is Square:\n    x.sides = 5",
    "try:\n    total += int(shapes[k].area())\nexcept NotImplementedError as e:\n    log.append(str(e))", "log.append(shapes[0].colour)",
    "mixed.append({int})", "mixed.append({str})", "mixed[k] = None", "log.append(described(mixed[k]))", "mixed.append([k, word])", "mixed.insert(0, {list})",
    "for x in mixed:\n    if isinstance(x, str):\n        total += len(x)\n    elif isinstance(x, (int, float)):\n        total += int(x) % 9\n    elif x is None:\n        total -= 1",
    "mixed = [x for x in mixed if x]", "nums = [x for x in mixed if type(x) is int]", "mixed[0], mixed[-1] = mixed[-1], mixed[0]", "total += mixed[k] + 1",
    "mixed = [x + x if isinstance(x, str) else x for x in mixed]", "total += sum(x == {int} for x in mixed)", "total += mixed.index({str})", "mixed.remove(None)",
    "total += actions['inc'](k)", "actions[{str}] = lambda x: x - {int}", "for name, g in actions.items():\n    total += g(k)\n    log.append(name)", "actions['dbl'] = made_adder(k)",
    "total += compose(*actions.values())({int})", "nums = list(map(actions['inc'], nums))", "g = actions.get({str})\nif g is not None:\n    total += g(i)", "total += actions[word](i)",
    "total += tree.insert({int})", "tree = Tree({int}, tree)", "nums = list(tree)", "if {int} in tree:\n    total += 5", "for x in tree:\n    if x > k:\n        total += x\n        break",
    "if tree.left:\n    tree.left = tree.left.right", "tree.key += k", "total += sum(x * x for x in tree) % 100", "tree, other = Tree(k), tree\ntree.right = other", "for x in {list}:\n    tree.insert(x)",
    "optional.append({int})", "optional.append(None)", "optional[k] = None", "total += optional[0] + 1", "optional = [x if x is not None else k for x in optional]", "optional = sorted(optional, key=lambda x: (x is None, x or 0))",
    "for x in optional:\n    if x is None:\n        continue\n    total += x", "optional = [index.get(w) for w in words]", "x = next((x for x in optional if x), None)\nif x is not None:\n    total += x", "optional.sort()",
    "state['n'] += {int}", "state['xs'].append(k)", "state['name'] += word", "state[word] = {int}", "state['xs'] = {list}", "total += state['n'] % 7", "log.append(f\"{{state['name']}}\"[-6:])", "for key, value in state.items():\n    if isinstance(value, int):\n        total += value\n    elif isinstance(value, str):\n        log.append(key + value[-3:])",
    "trio = ({int}, {str}, trio[2] / 2)", "a, b, c = trio\ntotal += a + int(c)\nlog.append(b)", "trio = (trio[0] + 1, *trio[1:])", "total += len(trio[1]) + trio[0]", "pairs.append(trio[:2])",
    "chain += ({int},)", "chain = chain + (k, i)", "chain = tuple({list})", "chain = tuple(x for x in chain if x != {int})", "total += chain[k]", "chain = chain[::-1]", "a, *rest = chain\nchain = (*rest, a)", "total += chain.index({int})", "index[str(chain)] = len(chain)", "for a, b in zip(chain, chain[1:]):\n    edges.add((a, b))", "chain = tuple(sorted(chain))",
    "frozen.add(frozenset({list}))", "frozen.discard(frozenset([1, 2]))", "total += sum(len(x) for x in frozen)", "frozen = {{x | {{k}} for x in frozen}}", "for x in frozen:\n    if k in x:\n        total += 1",
    "account.balance += {int}", "account.balance -= {int}", "account = Account.of(f'{{word}}:{{k}}')", "total += account.balance", "account.owner = {str}", "account = Account.of({str})", "account.move(Account('x'), {int})",
    "accounts[word] = Account(word, {int})", "accounts['a'].move(accounts['b'], {int})", "accounts[{str}].balance += 2", "for name, x in accounts.items():\n    x.balance += k\n    total += x.balance", "rich = max(accounts.values(), key=lambda x: x.balance)\nlog.append(rich.owner)", "account = accounts.get(word, account)", "total += sum(x.balance > 3 for x in accounts.values())",
    "matrix[k % 2][0] += 0.5", "matrix = [list(row) for row in zip(*matrix)]", "matrix = [[sum(a * b for a, b in zip(row, column)) for column in zip(*matrix)] for row in matrix]", "total += int(sum(map(sum, matrix))) % 50", "matrix.append([float(x) for x in {list}])", "matrix = [[x % 3.0 for x in row] for row in matrix]", "for row in matrix:\n    row[:] = sorted(row)", "for r, row in enumerate(matrix):\n    for c, x in enumerate(row):\n        if r == c:\n            matrix[r][c] = -x",
    "raw += ({str}).encode()", "raw = raw.replace(b'a', b'bb')", "raw = bytes({list}[:3])", "total += raw[k]", "raw = raw[::-1] + b'z'", "total += raw.find(b'b')", "words = raw.decode('latin-1').split('b')", "raw = b','.join(raw.split(b'b'))", "raw = bytes(x ^ 1 for x in raw)", "for x in raw:\n    total += x % 5",
    "triples.add(({int}, {str}, {cond0}))", "for a, w, b in sorted(triples):\n    total += a * b\n    log.append(w)", "triples = {{(a + 1, w, not b) for a, w, b in triples}}", "triples.discard((1, 'a', True))",
    "gen = counter(k, 7)\ntotal += next(gen) + gen.send(3)", "gen = counter(i)\nfor x in gen:\n    if x > 3:\n        break\n    total += x", "total += sum(itertools.islice(counter(k), 4))", "for x in guarded({list}, log):\n    if x > {int}:\n        break\n    total += x",
    "gen = guarded(nums, log)\ntotal += next(gen, 1)\ngen.close()", "total += total_of({int}, k, scale={int}, a=i)", "total += total_of(*{list}, **{{'x': k}})", "kw = {{'b': k, 'scale': 2}}\ntotal += total_of(i, **kw)", "total += power({int}, k)", "nums = list(flat(rows))", "total += found({list}, {int})", "mean, spread = averaged({list})\ntotal += int(mean + spread) % 40",
    "add = made_adder({int})\ntotal += add(1) + add(2)", "total += compose(lambda x: x + k, lambda x: x * 2)({int})", "with Restored(nums) as ns:\n    ns.append(k)\n    if {cond}:\n        raise KeyError(k)", "with Restored(words):\n    words.clear()\n    total += index[{str}]", "with Restored(nums):\n    nums.pop()\n    total += int({str})",
    "while True:\n    try:\n        total += nums.pop()\n    except IndexError:\n        break\n    if total % 3 == 0:\n        break", "for j in range(3):\n    try:\n        if j == k:\n            continue\n        if j > {int}:\n            break\n        total += j\n    finally:\n        nums.append(j)",
    "try:\n    try:\n        total += nums[{int}]\n    except IndexError as e:\n        raise KeyError(k) from e\nexcept KeyError as e:\n    log.append(repr(e.__cause__)[:9])", "try:\n    raise Full({str}, k)\nexcept (Full, KeyError) as e:\n    total += e.size\n    log.append(str(e)[:9])",
    "nums, rest = nums[:k], nums[k:]\nnums = rest + nums", "nums[k:k + 2] = reversed(nums[k:k + 2])", "del nums[::2]", "nums[:] = [x for x in nums if x % 2]", "nums[-k:] = []", "nums = [*nums, *chain][:6]", "rows[k:] = [{list}]", "nums *= 2", "words[1:2] = [{str}, {str}]",
    "total += sum(1 for a, b in itertools.pairwise({list}) if a < b)", "pairs = [(len(list(g)), w) for w, g in itertools.groupby(sorted(words))]", "for a, b in zip({list}, words, strict=True):\n    total += a + len(b)", "for j, w in enumerate(words, start=k):\n    index[w] = j", "for a, b in itertools.zip_longest(nums, {list}, fillvalue=0):\n    total += a - b",
    "order = sorted(range(len(nums)), key=nums.__getitem__)\nnums = [nums[j] for j in order]", "order = sorted(range(len(nums)), key=lambda j: (nums[j] % 2, -j))\ntotal += order[0]", "low, high = min(nums), max(nums)\ntotal += high - low", "words.sort(key=str.lower, reverse=True)", "words = list(map(str.upper, words))", "pairs.sort(key=lambda p: p[1], reverse=True)",
    "if any((hit := x) > {int} for x in nums):\n    total += hit", "while (x := len(nums)) > 4:\n    nums.pop(0)\n    total += x", "made = {{x: y for x, y in zip(nums, {list})}}\ntotal += sum(made.values())\nif k in made:\n    del made[k]\ntotal += len(made)", "inverse = {{}}\nfor w, x in index.items():\n    inverse.setdefault(x, []).append(w)\nwords = inverse.get(k, words)",
    "def inner(a, b=k):\n    return a * b if a else total\ntotal += inner({int}) - inner(0)", "def walk(j):\n    if j <= 0:\n        return 0\n    return nums[j % len(nums)] + walk(j - 1)\ntotal += walk(k) % 99", "def gen(xs):\n    for x in xs:\n        if x == k:\n            return\n        yield x + 1\nnums = list(gen({list}))",
    "keys = index.keys() - {{word}}\ntotal += len(keys)", "if index.keys() <= {{'a', 'b', word}}:\n    total += 1", "index = {{**index, word: k}}", "index.update(zip(words, nums))", "first = next(iter(index.items()))\ntotal += first[1]", "groups = {{x: [w for w in nums if w > x] for x in {list}}}", "for x in list(groups):\n    groups[x] = groups[x][::-1]\n    if not groups[x]:\n        del groups[x]",
    "values = sorted(index.values(), reverse=True)\ntotal += values[0]", "copied = [row.copy() for row in rows]\ncopied[0].append(k)\ntotal += len(copied[0]) - len(rows[0])", "for w in reversed(words):\n    total += len(w)", "for x in reversed(range(k)):\n    nums.append(x)", "total += int(''.join(map(str, chain)) or 0) % 1000", "total += sum(ord(c) for w in words for c in w) % 77",
    "text = text.translate(str.maketrans('ab', 'xy'))", "text = text.rstrip('0123456789 ')", "parts = text.rsplit(' ', 1)\ntext = parts[-1]", "total += text.rfind({str}) + text.count({str})", "text = text.center(9, '.').strip('.')", "lines = text.splitlines()\ntotal += len(lines)", "text = '{{:>4}}|{{:<4}}'.format({str}, k)", "text = text[:k] + {str} + text[k + 1:]", "text = text.expandtabs().lower().lstrip()", "total += sum(c.isdigit() for c in text)", "key, _, value = text.partition('=')\nindex[key] = len(value)",
)
