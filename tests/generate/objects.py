"""Random programs about objects of a small class that the function makes and keeps for itself: in lists, deques, heaps
and dicts, and linked to each other. `f` returns numbers and texts that depend on all of them.

Which statement runs when is decided at run time, by a random number: objects lose their last reference in one
iteration and are used in another."""
import random

__all__ = ["program"]

_HEAD = '''import heapq
from collections import deque


class N:
    def __init__(self, value, below=None):
        self.value = value
        self.below = below
        {fields}

    def add(self, x):
        self.value += x
        if self.value % 13 == 5:
            raise ValueError(f"bad {{self.value}}")
        {added}
        return self.value

    def depth(self):
        n, x = 0, self
        while x is not None:
            n += 1
            x = x.below
        return n

    def total(self):
        return self.value + (self.below.total() if self.below is not None else 0)


def swapped(pool, k, i):
    x = pool[k]
    pool[k] = N(i, x.below)
    {replaced}
    return x.value


def emptied(x, pool):
    n = x.value
    {emptied}
    return n + x.value


def last_of(x):
    while x.below is not None:
        x = x.below
    return x
'''
_FIELDS = {"name": ("str(value)", "self.name += 'x'", "len({0}.name)"), "items": ("[value]", "self.items.append(x)",
           "sum({0}.items)"), "pair": ("(value, 0.5)", "self.pair = (x, self.pair[1] + 1.0)", "{0}.pair[0]"),
           "flag": ("False", "self.flag = not self.flag", "int({0}.flag)"),
           "other": ("None", "self.other = N(x)", "({0}.other.value if {0}.other else 2)"),
           "known": ("{{}}", "self.known[x] = self.value", "len({0}.known)")}
_STATEMENTS = (
    "pool[k].value += i", "pool[k] = N(i)", "pool.append(N(i, head))", "head = N(i, head)",
    "if head is not None:\n    head = head.below", "x = pool[k]\npool[k] = N(s % 7)\nx.value += 1\ntotal += x.value",
    "x = head\nhead = N(1)\nif x is not None:\n    total += x.value + x.depth()",
    "if head is not None and head.below is not None:\n    x = head.below\n    head.below = x.below\n"
    "    total += x.value",
    "x = head\nwhile x is not None:\n    if x.value % 3 == 0 and x.below is not None:\n"
    "        x.below = x.below.below\n    x = x.below", "known[s % 5] = pool[k]",
    "x = known.pop(s % 5, None)\nif x is not None:\n    total += x.value",
    "if s % 5 in known:\n    known[s % 5].value += 2", "known[s % 5] = N(i)\ntotal += known[s % 5].add(1)",
    "stack.append(pool[k])", "if stack:\n    x = stack.pop()\n    total += x.add(i)", "stack.clear()",
    "queue.append(pool[k])", "queue.append(N(s % 11))", "if queue:\n    total += queue.popleft().value",
    "heapq.heappush(heap, (s % 9, i, pool[k]))",
    "if heap:\n    _, _, x = heapq.heappop(heap)\n    x.value += 1\n    total += x.value",
    "pool.sort(key=lambda p: (p.value, p.depth()))", "pool.reverse()",
    "if len(pool) > 2:\n    x = pool.pop(k)\n    total += x.value", "pool.insert(k, N(i))",
    "if len(pool) > 3:\n    del pool[k]", "pool[0], pool[-1] = pool[-1], pool[0]",
    "x, y = pool[0], pool[-1]\npool[0] = N(3)\nif x is y:\n    total += 1\nelse:\n    total += x.value - y.value",
    "total += swapped(pool, k, i)", "total += emptied(pool[k], pool)", "total += sum(p.value for p in pool)",
    "total += max(pool, key=lambda p: p.value).value",
    "x = pool[k] if s % 2 else head\nif x is not None:\n    total += x.total()",
    "kept = [p for p in pool if p.value % 2]\ntotal += len(kept)", "x = last_of(pool[k])\ntotal += x.value",
    "for p in pool:\n    if p.value == i % 5:\n        total += p.add(i)", "for p in pool:\n    p.value -= 1",
    "try:\n    total += pool[k].add(i)\nexcept ValueError as error:\n    texts.append(str(error))",
    "if len(pool) > 8:\n    pool[:] = pool[3:]", "pool += [N(i), N(s % 3)]",
    "x = N(i)\ny = x\nx = N(2, y)\ntotal += x.total()",
    "pair = (pool[k], N(i))\npool[k] = pair[1]\ntotal += pair[0].value", "rows[k % 2].append(pool[k])",
    "if rows[0]:\n    x = rows[0][0]\n    rows[0] = rows[1]\n    rows[1] = []\n    total += x.value",
    "x = pool[k]\nfor j in range(3):\n    pool[k] = N(j)\n    total += x.value\n    x = pool[k]",
)


def program(seed) -> str:
    """The text of one program."""
    r = random.Random(seed)
    fields = r.sample(sorted(_FIELDS), r.choice((0, 1, 2, 3)))
    head = _HEAD.format(
        fields="\n        ".join(f"self.{name} = {_FIELDS[name][0].format()}" for name in fields) or "pass",
        added="\n        ".join(_FIELDS[name][1] for name in fields) or "pass",
        replaced=r.choice(("pass", "x.value += 1", "pool.append(x)", "x = pool[k]")),
        emptied=r.choice(("pool.clear()\n    pool.append(N(1))", "pool[0] = N(4)", "del pool[1:]", "pool.reverse()",
                          "pool[:] = [N(7)]", "x = N(n, x)\n    pool[-1] = x")))
    chosen = r.sample(_STATEMENTS, r.randint(2, 9))
    lines = []
    for n, text in enumerate(chosen):
        lines.append(f"{'elif' if n else 'if'} op == {n}:")
        body = text.split("\n")
        lines += ["    " + line for line in (["try:", *("    " + line for line in body), "except ValueError:",
                                              "    total -= 1"] if r.random() < .1 else body)]
    used = "\n".join(chosen)
    made = {"known": "{}", "stack": "[]", "queue": "deque()", "heap": "[]", "texts": "[]", "rows": "[[], []]",
            "head": "None"}
    start = ["total = 0", "pool = [N(j) for j in range(4)]", *(f"{name} = {text}" for name, text in made.items()
                                                             if name in used)]
    ends = ["total", "len(pool)", "[p.value for p in pool]",
            *(f"len({name})" for name in made if name in used and name != "head")]
    ends += ["head.total() if head is not None else -1"] if "head" in used else []
    ends += [f"sum({_FIELDS[name][2].format('p')} for p in pool)" for name in fields]
    body = [*start, "for i in range(n):", "    s = (s * 1103515245 + 12345) % 2147483648",
            "    if len(pool) == 0 or len(pool) > 30:", "        pool = [N(j) for j in range(3)]",
            "    k = s // 65536 % len(pool)", f"    op = s // 1024 % {len(chosen)}",
            *("    " + line for line in lines), f"return {', '.join(ends)}"]
    text = "\n".join("    " + line for line in body)
    calls = "\n".join(f"    lambda: ({r.choice((3, 20, 60))}, {r.randrange(1000)})," for _ in range(3))
    return f"{head}\n\n@njit\ndef f(n, s):\n{text}\n\n\nCALLS = [\n{calls}\n]\n"
