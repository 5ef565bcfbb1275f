"""Random programs for tests of derivatives: loops, branches, writes into arrays, views and whole-array expressions."""
import random

__all__ = ["program"]

_SCALARS = ("a", "b", "c")
_ARRAYS = ("x", "u", "v")
_UNARY = ("math.sin({})", "math.tanh({})", "math.exp(-abs({}))", "math.sqrt({} * {} + 0.5)", "math.atan({})", "abs({})",
          "-{}", "math.log(1.5 + {} * {})")
_BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} / (1.5 + abs({}))", "max({}, {})", "min({}, {})")
_WHOLE = ("np.sin({})", "np.tanh({})", "{} * {}", "{} + {}", "{} - {}", "{} / (1.5 + {} * {})", "np.maximum({}, {})",
          "np.where({} > 0.1, {}, 0.5 * {})", "{} * {s}", "np.exp(-{} * {})", "np.roll({}, 1)", "{}[::-1]",
          "np.cumsum({}) * 0.2", "m @ {}", "{} @ m")
# further forms, in programs that are `wide`
_WIDE_WHOLE = ("{0}[np.argsort({0})]", "np.sort({})", "np.concatenate(({}[2:], {}[:2]))", "np.stack(({}, {}))[1]",
               "np.outer({}, {})[2]", "np.clip({}, -0.5, 0.6)", "np.hypot({}, 0.3)", "({} + 1j * {}).imag",
               "np.where({} < 0.2, {}[::-1], s§)", "np.interp({}, np.linspace(-3.0, 3.0, 7), np.arange(7.0) ** 2)")
_WIDE_FOLDS = ("np.sum({0}[{0} > 0.2])", "np.linalg.norm({} + 2.0)", "np.sum(np.diff({}) * {}[1:])", "sum({})",
               "max({0}[0], {0}[1], {0}[2] * {0}[3])", "np.abs(np.prod({} + 0.5j))", "np.sum(np.sort({})[:3])")
_WIDE_STATEMENTS = (
    ("{u}[{u} > 0.1] = {a}",), ("{u}[{x} < 0.3] *= {b}",), ("{u}[{v} > 0] = {x}[{v} > 0] * {a}",), ("u, v = v, u",),
    ("a, b = b, a",), ("{u}[0], {u}[-1] = {u}[-1], {u}[0]",), ("w = {u}[::2]", "w *= {a}", "w[0] += {u}[1]"),
    ("w = {u}[::-1]", "w[1:3] = {x}[:2]"), ("{u}[np.array([0, 2, 0])] += {a}",), ("np.add.at({u}, [1, 1, 4], {b})",),
    ("q = []", "for z in {u}:", "    q.append(z * {a})", "    if z > 0.4:", "        q.append({b})",
     "{c} = q[-1] + sum(q) * 0.1"),
    ("q = [{a}, {b}, {c}]", "q[1] = q.pop() * q[0]", "{c} = q[0] + len(q) * q[-1]"),
    ("try:", "    {a} = math.sqrt({b}) + {u}[{i}]", "except ValueError:", "    {a} = {b} * {c}"),
    ("{u}[1:], {u}[0] = {u}[:-1] * 1.0, {a}",), ("{u}[:3] = {u}[2:5]",), ("{u}[:] = {u}[::-1]",),
    ("q = np.empty((2, len(x)))", "q[0], q[1] = {u}, {v}", "q.T[2] += {a}", "{u} = q.sum(axis=0)"),
    ("{a}, {b} = ({a} + {b}, {a} - {b}) if {a} > {b} else ({b}, {c})",),
    ("for z, y in zip({u}, {x}[::-1]):", "    {c} = {c} * 0.7 + z * y"),
    ("z = {a} + 1j * {b}", "z = z * z + {c}", "{c} = abs(z) + z.real"),
    ("def g(z):", "    return z * {a} + {u}[{i}]", "{c} = g(g({b}))"),
    ("def g(z):", "    if z > 0.2:", "        return z * {a}, z", "    return z, {b} - z", "{a}, {c} = g({c})"),
    ("w = {u}[1:]", "w[::2][1:] = {x}[:2] * {a}", "w += {b}"), ("w = {u}[::-1][:3]", "w[0], w[2] = w[2] * {a}, w[0]"),
    ("q = m * {a}", "w = q[:, 2]", "w *= {u}", "q[1, :] = {v}", "q[2:4, 1:3] += {b}", "{u} = q.sum(axis=0) * 0.3"),
    ("q = m.copy()", "for z in q:", "    z[1:] *= {u}[:-1]", "{c} += np.sum(q * q) * 0.1"),
    ("k = 0", "while True:", "    k += 1", "    {a} = {a} * 0.9 + {u}[k % len({u})]", "    if {a} > 0.8 or k > 4:",
     "        break", "    {b} -= 0.2 * {a}"),
    ("for z in {u}:", "    if z < {b}:", "        continue", "    {c} = {c} * 0.5 + z", "    if {c} > 1.5:",
     "        break", "else:", "    {a} = {a} * {c}"),
    ("p = ({a}, {u}[{i}])", "{b} = p[0] * p[1]", "p = (p[1], {c})", "{c} = p[0] - p[1] * 0.5"),
    ("q = [{a}]", "for z in {u}[:3]:", "    q.append(q[-1] * 0.5 + z)", "while len(q) > 2:",
     "    {c} += q.pop() * 0.3"),
    ("q = [[{a}, {b}], [{c}, 1.0]]", "q[0][1] *= {u}[{i}]", "{c} = q[0][1] * q[1][0]"),
    ("w = {u} * 1.0", "while len(w) > 1:", "    {c} = {c} * 0.5 + w[0]",
     "    w = w[1:] if w[0] > {b} else w[:-1] * {a}"),
    ("w = {x}", "for k in range(4):", "    w = w[k % 2:] if k % 2 else {u}[:len(w)] * w", "    {c} += np.sum(w) * 0.1"),
    ("w = {u} if {a} > {b} else {v}", "{c} += np.sum(w * {x}) * 0.1"),
    ("w, q = {u} * {a}, {v} * 1.0", "for k in range(3):", "    z = np.empty(len(w))", "    for j in range(len(w)):",
     "        z[j] = w[j] * q[-1 - j]", "    w, q = (z, w[::-1]) if z[0] > w[0] else (w, z)",
     "{u} = w * 0.5 + q * 0.2"),
    ("for w in ({u}, {v}, {x}):", "    {c} = {c} * 0.5 + np.sum(w * {x}) * 0.1"),
    ("q = np.asfortranarray(m * {a})", "w = np.sin(q) * m", "{u} = w.sum(axis=1) * {u}", "{c} = np.max(q * 2.0)"),
    ("q = np.asfortranarray(np.outer({u}, {v}))", "q[1] *= {x}", "{c} += np.sum(np.tanh(q) * q.T) * 0.1"),
    ("q = {{'p': {u}, 'q': {v}}}", "for k in range(3):", "    q = {{'p': q['q'] * {a}, 'q': q['p'] * 0.5 + {x}}}",
     "{u} = q['p'] + 0.0"),
    ("q = {{'p': {u} * 1.0, 'q': {v} * 1.0}}", "q['p'][1:] *= q['q'][:-1]", "q['q'] = q['p'] * {a}",
     "{c} += np.sum(q['q'] * q['p']) * 0.1"),
    ("{u}[1:] *= {u}[:-1]",), ("{u}[:-1] += {u}[1:] * {v}[1:]",),
    ("q = list({u})", "q += [{a}, 0.5]", "{c} = q[-1] * q[0]"),
    ("o = Pair({a}, {b})", "for z in {u}:", "    o.turn(z)", "    if o.p > 1.0:", "        break", "{c} = o.both()"),
    ("o, p = Pair({a}, {u}[{i}]), Pair({b}, 0.5)", "for k in range(3):", "    o.turn(p.p)", "    p.q += o.both() * 0.1",
     "{a}, {b} = o.p * 0.5, p.both()"),
    ("o = Pair({a}, {b}) if {a} > {b} else Other({b}, {c})", "o.turn({u}[{i}])", "{c} = o.both()"),
    ("o = State({u} * {a}, {b})", "for k in range(3):", "    o = o.moved({a}, {x})", "{u} = o.at * 1.0",
     "{c} += o.size"),
    ("o = State({u} * 1.0, {b})", "o.at[1:] *= {v}[:-1]", "o.size += o.total() * 0.1", "{c} = o.size"),
    ("q = [Pair(z, {a}) for z in {u}]", "for o in q:", "    o.turn({b})", "{c} = q[1].both() + q[-1].p * 0.3"),
    ("k = 0", "while True:", "    try:", "        {a} = math.sqrt({u}[k]) + {a} * 0.5", "        if {a} > 1.1:",
     "            break", "    except ValueError:", "        {b} -= {u}[k] * 0.3", "    k += 1", "    if k > 4:",
     "        break"),
    ("k = 0", "while k < 5:", "    k += 1", "    try:", "        if {u}[k] > {a}:", "            break",
     "        {c} = {c} * 0.8 + math.log({u}[k] + 0.5)", "    except ValueError:", "        {u}[k] = {b} * 0.5",
     "        continue", "    finally:", "        {a} -= 0.1 * {c}"),
    ("try:", "    for k in range(9):", "        {c} += {u}[k] * {a}", "except IndexError:", "    {b} = {c} * 0.5"),
    ("{c} = walked({u}[1:], {a}, {x})",),
    ("{c} += walked({u}, {a}, {v}[::-1]) * 0.3", "{u}[0] = walked({v}[:3], {b}, {x})"),
    ("w, {a} = turned({u}, {a}, {x})", "{v}[1:] += w[1:] * 0.5"), ("{c} = shrunk({u}, {a}, 3) * 0.3",),
    ("q = {{'p': {u} * {a}, 'q': {v} + {x}}}", "q = {{**q, 'q': q['p'] * {b}}}", "{u} = q['q'] * 0.5 + q['p']"),
    ("q = {{'p': {a}, 'q': {b}}}", "for k in range(3):", "    q = {{**q, 'p': q['q'] * 0.8 + q['p']}}",
     "{c} = q['p'] * q['q']"),
    ("q = dict(p={u} * 1.0, q={v} * 1.0)", "for k in q:", "    q[k] = q[k] * {a} + {x}", "{v} = q['p'] * q['q']"),
    ("q = {{'p': {u}, 's': {a}}}", "q = {{k: z * 0.7 for k, z in q.items()}}",
     "{c} += np.sum(q['p']) * q['s'] * 0.1"),
    ("q = [{u} * {a}, {v}, {x} * 2.0]", "q = [np.sin(w) for w in q]", "for w in q:",
     "    {c} = {c} * 0.5 + np.sum(w * {x})"),
    ("q = [{u} * 1.0]", "for k in range(3):", "    q.append(np.tanh(q[-1] * {a} + {v}))", "{u} = q[-1] + q[1]"),
    ("q = ({u} * 1.0, ({a}, {v} + 0.0))", "q[0][1:] *= q[1][1][:-1]", "{u} = q[0] * q[1][0]"),
    ("z = {u} * (1.0 + 2.0j)", "z[1:] *= np.exp(0.3j * {v}[1:])", "{u} = np.abs(z + 3.0) * 0.5 + z.real * 0.2"),
)
_FOLDS = ("np.sum({})", "np.mean({} * {})", "np.max({})", "{} @ {}", "np.sum({}[1:] * {}[:-1])", "np.std({})",
          "np.sum(np.outer({}, {}))", "np.prod({} * 0.5 + 1.0)", "np.sum(m + {})", "np.mean({} + {s})",
          "np.sum(np.sum(m + {}, axis=1) * {})")


# functions and classes of programs that are `wide`
_BESIDE = """
class Pair:
    def __init__(self, p, q):
        self.p, self.q = p, q

    def turn(self, z):
        self.p, self.q = self.p - z * self.q * 0.5, self.q + z * self.p * 0.5

    def both(self):
        return self.p * self.q


class Other(Pair):
    def both(self):
        return super().both() - self.p


@dataclasses.dataclass
class State:
    at: np.ndarray
    size: float

    def moved(self, z, x):
        return State(self.at * 0.5 + z * x, self.size * z)

    def total(self):
        return np.sum(self.at) * self.size


def walked(w, z, x):
    for i in range(len(w) - 1):
        if w[i] > 1.5:
            w[i] = 0.5 * z
            break
        w[i + 1] += w[i] * x[i % len(x)] * 0.3
    part = w[::2]
    part *= z
    if z > 0.7:
        return part[0]
    for i in range(len(part)):
        part[i] = math.sin(part[i]) + w[0] * 0.2
    return part[-1] * w[0]


def turned(w, z, x):
    made = np.empty(len(w))
    for i in range(len(w)):
        made[i] = w[-1 - i] * x[i]
        z = z * 0.9 + made[i] * 0.1
        if z > 2.0:
            return w, z
    w[:2] = made[:2] * z
    return made, z


def shrunk(w, z, n):
    if n == 0 or len(w) < 3:
        return np.sum(w * w) * z
    return shrunk(w[1:] * z + w[0], z * 0.9, n - 1) + w[-1]


"""


class _Program:
    def __init__(self, seed, wide):
        self.wide = wide
        self.random = random.Random(seed)
        self.lines = []
        self.counters = 0
        self.indices = []

    def pick(self, options):
        return self.random.choice(options)

    def index(self):
        if self.indices and self.random.random() < 0.8:
            return self.pick(self.indices)
        return str(self.random.randrange(-3, 3))

    def number(self, depth=2):
        kind = self.random.random()
        if depth == 0 or kind < 0.25:
            return self.pick((*_SCALARS, *_SCALARS, f"{self.pick(_ARRAYS)}[{self.index()}]", "0.7", "-1.3"))
        if kind < 0.35:
            return self.fold(depth - 1)
        if kind < 0.6:
            text = self.pick(_UNARY)
            inner = self.number(depth - 1)
            return text.format(*[f"({inner})"] * text.count("{}"))
        text = self.pick(_BINARY)
        return "(" + text.format(*(self.number(depth - 1) for _ in range(text.count("{}")))) + ")"

    def whole(self, depth=2):
        if depth == 0 or self.random.random() < 0.3:
            return self.pick(_ARRAYS)
        return self.filled(self.pick((*_WHOLE, *_WIDE_WHOLE) if self.wide else _WHOLE), depth - 1)

    def filled(self, text, depth):
        inner = [f"({self.whole(depth)})" for _ in range(text.count("{}") or text.count("{0}") > 0)]
        return text.replace("{s}", "§").format(*inner).replace("s§", "§").replace("§", self.pick(_SCALARS))

    def fold(self, depth):
        return f"({self.filled(self.pick((*_FOLDS, *_WIDE_FOLDS) if self.wide else _FOLDS), depth)})"

    def test(self):
        return f"{self.number(1)} {self.pick('<>')} {self.pick(('0.1', '-0.4', 'a', 'b', 'n', 'c * 0.5'))}"

    def block(self, indent, depth, in_loop):
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent, depth, in_loop)

    def statement(self, indent, depth, in_loop):
        pad, kind = "    " * indent, self.random.random()
        add = self.lines.append
        if self.wide and self.random.random() < 0.3:
            names = {name: self.pick(_SCALARS) for name in "abc"}
            names.update(u=self.pick(("u", "v")), v=self.pick(("u", "v")), x=self.pick(_ARRAYS), i=self.index())
            self.lines += [pad + line.format(**names) for line in self.pick(_WIDE_STATEMENTS)]
            return
        if depth == 0 or kind < 0.3:
            add(f"{pad}{self.pick(_SCALARS)} {self.pick(('=', '=', '+=', '-='))} {self.number()}")
        elif kind < 0.45:
            add(f"{pad}{self.pick(('u', 'v'))}[{self.index()}] {self.pick(('=', '+=', '*='))} {self.number(1)}")
        elif kind < 0.55:
            name = self.pick(("u", "v"))
            form = self.random.random()
            if form < 0.4:
                add(f"{pad}{name} = {self.whole()} + 0.0")
            elif form < 0.7:
                add(f"{pad}{name}[...] = {self.whole()}")
            else:
                add(f"{pad}{name}[1:] {self.pick(('=', '+=', '*='))} {self.pick(_ARRAYS)}[:-1]")
        elif kind < 0.7:
            add(f"{pad}if {self.test()}:")
            self.block(indent + 1, depth - 1, in_loop)
            if in_loop and self.random.random() < 0.25:
                add(f"{pad}    {self.pick(('break', 'continue'))}")
            elif self.random.random() < 0.1:
                add(f"{pad}    return {self.number(1)}")
            elif self.random.random() < 0.5:
                add(f"{pad}else:")
                self.block(indent + 1, depth - 1, in_loop)
        elif kind < 0.9:
            name = f"i{self.counters}"
            self.counters += 1
            add(f"{pad}for {name} in range({self.pick(('len(x)', '3', 'n', '1, len(x)', 'len(x) - 1, -1, -1'))}):")
            self.indices.append(name)
            self.block(indent + 1, depth - 1, True)
            self.indices.pop()
        else:
            name = f"t{self.counters}"
            self.counters += 1
            add(f"{pad}{name} = 0")
            add(f"{pad}while {name} < 4 and {self.test()}:")
            add(f"{pad}    {name} += 1")
            self.block(indent + 1, depth - 1, True)


def program(seed, wide=False):
    """The text of `f(x, a, m, n)`: x an array of 6 numbers or more, m a matrix of as many rows and columns. wide: with
    masks, swaps, views, lists, dicts, objects, `try`, complex numbers, inner functions and functions that write into
    what they are given."""
    made = _Program(seed, wide)
    made.lines += ["def f(x, a, m, n):", "    b, c = 0.3 * a, x[0]", "    u = x * 0.5", "    v = np.zeros(len(x))"]
    for _ in range(made.random.randrange(2, 6)):
        made.statement(1, 3, False)
    made.lines.append("    return " + made.pick(("a + b * c + np.sum(u * v)", "c - b + u[0] * v[-1] + a",
                                                 "np.sum(np.tanh(u) + v) + a * b * c")))
    return (_BESIDE if wide else "") + "\n".join(made.lines) + "\n"
