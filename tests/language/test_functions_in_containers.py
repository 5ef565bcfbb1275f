"""Functions as values: in lists, dicts, tuples and attributes, with the values that they capture, compared with the
interpreter."""
import functools
import heapq
import math
import warnings
from types import MethodType

import pytest

from pyjitc import njit
from tests.language.corpus import check, corpus, each
from tests.oracle import agree

case, CASES = corpus()


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


@njit
def mul(a, b):
    return a * b


OPS = {"+": add, "-": sub, "*": mul, "p": math.pow, "l": lambda a, b: a // b}
STEPS = [math.sin, math.cos, abs]


@case(("3 4 + 2 * 3 - 2 p",), ("1 2 ?",))
def rpn(s):
    st = []
    for t in s.split():
        if t in OPS:
            b = st.pop()
            a = st.pop()
            st.append(OPS[t](a, b))
        else:
            st.append(float(t))
    return st[0]


@case((0.5,))
def steps(x):
    for f in STEPS:
        x = f(x)
    return x


@case((0.5,))
def get(x):
    f = OPS.get("+")
    if f is None:
        return 0.0
    return (f(x, x), f is add, OPS["*"] is mul)


@case(("a", 3), ("b", 4), ("zz", 1))
def dispatch(cmd, n):
    out = []

    def push(x):
        out.append(x)

    def pop(x):
        return out.pop() if out else None
    table = {"a": push, "b": pop}
    push(9)
    f = table.get(cmd)
    if f is None:
        return "unknown"
    r = f(n)
    return (out, r)


class Bus:

    def __init__(self):
        self.handlers = {}

    def on(self, name, f):
        self.handlers.setdefault(name, []).append(f)

    def emit(self, name, x):
        return [f(x) for f in self.handlers.get(name, [])]


@case((3,))
def bus(n):
    b = Bus()
    b.on("x", lambda v: v + n)
    b.on("x", lambda v: v * n)
    b.on("y", add1)
    return (b.emit("x", 2), b.emit("y", 1), b.emit("z", 0))


def add1(x):
    return x + 1


class Task:

    def __init__(self, name, f):
        self.name = name
        self.f = f


@case((3,))
def tasks(n):
    ts = [Task("a", lambda x: x + 1), Task("b", lambda x: x * n)]
    return [(t.name, t.f(n)) for t in ts]


@case((3,))
def tup(n):
    table = [("a", add), ("b", sub)]
    out = {}
    for name, f in table:
        out[name] = f(n, 1)
    return out


@case((3,))
def kwdef(n):
    fs = []
    for i in range(n):

        def f(x, *, k=i, m="s"):
            return (x + k, m)
        fs.append(f)
    return ([f(1) for f in fs], [f(1, k=7) for f in fs])


@case((5,))
def recursive_local(n):

    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)
    fs = [fact, lambda k: k]
    return [f(n) for f in fs]


@case(([1, 2, 3], "double"), ([1, 2, 3], "neg"))
def choose(xs, how):
    table = {"double": lambda x: 2 * x, "neg": lambda x: -x}
    return (list(map(table[how], xs)), sorted(xs, key=table[how]))


@case((3,))
def closure_of_closure(n):
    fs = []
    for i in range(n):
        g = lambda x, i=i: x + i
        h = lambda x, g=g: g(x) * 2
        fs.append(h)
    return [f(1) for f in fs]


@case((3,))
def stack_machine(n):
    prog = [("push", n), ("push", 4), ("add", 0), ("dup", 0), ("mul", 0)]
    st = []

    def push(a):
        st.append(a)

    def do_add(a):
        st.append(st.pop() + st.pop())

    def do_mul(a):
        st.append(st.pop() * st.pop())

    def dup(a):
        st.append(st[-1])
    ops = {"push": push, "add": do_add, "mul": do_mul, "dup": dup}
    for op, a in prog:
        ops[op](a)
    return st


@case(([add, sub], 3))
def given(fs, n):
    return [f(n, 1) for f in fs]


@case(({"a": add, "b": sub}, 3))
def given_dict(fs, n):
    return {k: f(n, 1) for k, f in fs.items()}


def make_adder(n):
    return lambda x: x + n


@case((3,))
def returned(n):
    return [f(1) for f in [make_adder(i) for i in range(n)]]


@case((3,))
def sorted_fs(n):
    q = [(2, add), (1, sub)]
    q.sort(key=lambda t: t[0])
    return [f(n, 1) for _, f in q]


@case((3,))
def memo(n):
    cache = {}

    def fib(k):
        if k in cache:
            return cache[k]
        r = k if k < 2 else fib(k - 1) + fib(k - 2)
        cache[k] = r
        return r
    return fib(n)


@case((3,))
def eq(n):
    f = lambda x: x
    fs = [f, add1]
    return (f in fs, fs.index(add1), fs[0] is f, fs[0] is fs[1], add1 in fs, len({f, add1}), callable(fs[0]), fs[1].__name__)


@case((3,))
def part(n):
    ps = [functools.partial(add, i) for i in range(n)]
    return [p(10) for p in ps]


@case((3,))
def opt(n):
    f = None
    for i in range(n):
        if i == 1:
            f = add1
    return f(1) if f else 0


@case((3,))
def state_machine(n):

    def idle(x):
        return "run" if x > 1 else "idle"

    def run(x):
        return "idle" if x > 2 else "run"
    states = {"idle": idle, "run": run}
    s = "idle"
    hist = []
    for i in range(n + 2):
        s = states[s](i)
        hist.append(s)
    return hist


def make_counter(start=0):
    n = start

    def inc(k=1):
        nonlocal n
        n += k
        return n
    return inc


@case((3,))
def counters(n):
    cs = [make_counter(i) for i in range(n)]
    for i, cc in enumerate(cs):
        for _ in range(i):
            cc()
    a = cs[0]
    a(100)
    return [cc(0) for cc in cs]


def account(balance):

    def deposit(x):
        nonlocal balance
        balance += x
        return balance

    def withdraw(x):
        nonlocal balance
        if x > balance:
            raise ValueError("insufficient")
        balance -= x
        return balance
    return {"deposit": deposit, "withdraw": withdraw}


@case((30,), (300,))
def bank(x):
    a = account(100.0)
    a["deposit"](50.0)
    b = account(10.0)
    return (a["withdraw"](x), b["deposit"](1.0))


@case((3,))
def nonlocal_text(n):
    log = ""
    hooks = []

    def add(s):
        nonlocal log
        log += s
    for i in range(n):
        hooks.append(add)
    for h in hooks:
        h("x")
    return log


@case((3,))
def late(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return [f() for f in fs]


@case((3,))
def last(n):
    best = None

    def consider(x):
        nonlocal best
        if best is None or x > best:
            best = x
    for f in [consider, consider]:
        f(n)
        f(n + 1)
    hs = {"c": consider}
    hs["c"](99)
    return best


class Counter:

    def __init__(self, n):
        self.n = n
        self.table = {"inc": self.inc, "dec": self.dec}

    def inc(self, k=1):
        self.n += k
        return self.n

    def dec(self, k=1):
        if k > 100:
            raise ValueError(k)
        self.n -= k
        return self.n

    def apply(self, name, k):
        return self.table[name](k)


class Doubled(Counter):

    def inc(self, k=1):
        return super().inc(2 * k)


@case(("inc", 3), ("dec", 4), ("dec", 101), ("neg", 1))
def bound_methods_by_key(name, k):
    c = Counter(10)
    table = {"inc": c.inc, "dec": c.dec}
    r = table[name](k)
    return r, c.n, c.apply(name, k), c.n


@case(("inc", 3), ("neg", 4), ("add", 1), ("x", 1))
def bound_methods_and_functions(name, k):
    c = Counter(10)
    table = {"inc": c.inc, "neg": lambda x: -x, "add": add1}
    f = table.get(name)
    if f is None:
        return name in table, len(table)
    return f(k), c.n


@case((3,))
def bound_methods_of_several_objects(n):
    cs = [Counter(i) for i in range(n)]
    b = Bus()
    for c in cs:
        b.on("x", c.inc)
    b.on("x", Doubled(5).inc)
    b.on("y", cs[0].dec)
    return b.emit("x", 2), b.emit("y", 1), b.emit("z", 0), [c.n for c in cs]


@case((3,))
def bound_methods_compared(n):
    c = Counter(n)
    d = Counter(n)
    table = {"inc": c.inc, "dec": c.dec, "other": d.inc}
    found = [table["inc"] == c.inc, table["inc"] != c.inc, table["inc"] == c.dec, table["inc"] == table["other"]]
    handlers = [c.inc, d.inc]
    handlers.remove(d.inc)
    f = table["dec"]
    return found, c.inc in handlers, d.inc in handlers, f.__name__, f.__qualname__, f.__self__.n, callable(f)


@case((3,))
def bound_methods_as_attributes(n):
    c = Counter(n)
    ts = [Task("a", c.inc), Task("b", c.dec), Task("c", Doubled(n).inc)]
    return [(t.name, t.f(n)) for t in ts], sorted([3, 1, 2], key={"f": c.inc}["f"]), c.n


class Signal:
    def __init__(self):
        self.handlers = {}

    def on(self, name, f):
        self.handlers.setdefault(name, []).append(f)
        return f

    def emit(self, name, *args):
        return [f(*args) for f in self.handlers.get(name, ())]


@case((3,))
def methods_of_built_in_types_as_handlers(n):
    signal, seen, known = Signal(), [], {1}
    signal.on("a", seen.append)
    signal.on("a", lambda x: x * 2)
    signal.on("b", known.add)
    handlers = []
    handlers.append("x-{}".format)
    found = signal.emit("a", n), signal.emit("b", n), signal.emit("c", n)
    return found, seen, known, [f(n) for f in handlers]


@each(CASES)
def test_functions_in_containers(function, calls):
    check(function, calls)


def test_a_function_of_a_container_is_one_of_the_interpreter():
    @njit
    def made(n):
        k = n

        def add(d=1):
            nonlocal k
            k += d
            return k

        def get():
            return k

        return [add, get]

    add, get = made(3)
    assert [type(add), add.__name__, add.__closure__[0]] == [type(made.py_func), "add", get.__closure__[0]]
    assert (add(), add(5), get()) == (4, 9, 9)


def test_a_method_that_an_object_has_replaced_is_not_called_by_key():
    c = Counter(3)
    c.inc = lambda k: -k
    with pytest.raises(TypeError, match="a value of a dict is of class 'function', where the items were method"):
        njit(lambda c, name: {"inc": c.inc, "dec": c.dec}[name](2))(c, "inc")


@pytest.mark.parametrize("cls", [Counter, Doubled])
@pytest.mark.parametrize("name", ["inc", "dec", "neg"])
def test_an_argument_has_a_table_of_its_methods(cls, name):
    def f(cls, run, k):
        c = cls(4)
        try:
            return run(c, name, k), c.n
        except (KeyError, ValueError) as error:
            return repr(error), c.n

    def twice(c, name, k):
        return c.apply(name, k), c.table[name](k), c.n

    compiled = njit(twice)
    for k in (3, 200):
        assert f(cls, compiled, k) == f(cls, twice, k)


def test_containers_with_bound_methods_are_arguments():
    def called(table, k):
        return [f(k) for f in table.values()], table["b"](k)

    a, b = Counter(1), Counter(1)
    compiled = njit(called)
    for k in (2, 3, 200):
        results = []
        for run, c in ((called, a), (compiled, b)):
            try:
                results.append((run({"a": c.inc, "b": c.dec}, k), c.n))
            except ValueError as error:
                results.append((error.args, c.n))
        assert results[0] == results[1]
    other = MethodType(lambda self, k: k, b)
    with pytest.raises(TypeError, match="method, which has no native form"):
        compiled({"a": other, "b": other}, 1)


def test_a_returned_bound_method_is_one_of_the_interpreter():
    @njit
    def made(n):
        c = Counter(n)
        return [c.inc, c.dec], c.inc

    (inc, dec), first = made(3)
    assert type(inc) is type(first) is MethodType and inc == first and inc.__func__ is Counter.inc
    assert (inc(), dec(5), first(), inc.__self__ is dec.__self__) == (4, -1, 0, True)


def test_handlers_are_removed_again():
    @njit
    def f(n):
        handlers = []

        def one(x):
            return x + n

        def two(x):
            return x * n

        handlers.append(one)
        handlers.append(two)
        before = [h(5) for h in handlers]
        handlers.remove(one)
        return before, [h(5) for h in handlers], one in handlers, two in handlers

    agree(f.py_func, 3, compiled=f)


def functions_that_call_each_other(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    named = {"even": even, "odd": odd}
    return [g(n) for g in [even, odd][:n]], [named["even"](k) for k in range(n)], named["odd"](n)


class Agenda:
    """Calls that are due, with the time of each."""

    def __init__(self):
        self.now, self.due = 0.0, []

    def at(self, delay, function, *args):
        heapq.heappush(self.due, (self.now + delay, len(self.due), function, args))

    def run(self, until):
        while self.due and self.due[0][0] <= until:
            self.now, _, function, args = heapq.heappop(self.due)
            function(*args)


def calls_itself_later(n):
    agenda, seen = Agenda(), []

    def tick(k):
        seen.append((agenda.now, k))
        if k < n:
            agenda.at(0.5, tick, k + 1)

    agenda.at(0.0, tick, 0)
    agenda.run(10.0)
    return seen


def call_each_other_later(n):
    agenda, seen, busy, waiting = Agenda(), [], False, []

    def arrive(k):
        seen.append(("arrive", k, agenda.now))
        waiting.append(k)
        if not busy:
            start()
        if k < n:
            agenda.at(1.0, arrive, k + 1)

    def start():
        nonlocal busy
        busy = True
        agenda.at(1.5, finish, waiting.pop(0))

    def finish(k):
        nonlocal busy
        busy = False
        seen.append(("finish", k, agenda.now))
        if waiting:
            start()

    agenda.at(0.0, arrive, 0)
    agenda.run(6.0)
    return seen, waiting, busy, agenda.now


def in_a_list_that_they_read(n):
    due, seen = [], []

    def first(k):
        seen.append(k)
        if k < n:
            due.append((second, k + 1))

    def second(k):
        seen.append(-k)
        due.append((first, k + 2))

    due.append((first, 0))
    while due:
        function, k = due.pop()
        function(k)
    return seen


def the_other_one(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return odd if n else even


def test_functions_that_call_each_other():
    for function in (functions_that_call_each_other, calls_itself_later, call_each_other_later,
                     in_a_list_that_they_read):
        compiled = njit(function)
        for n in (0, 1, 3, 4):
            agree(function, n, compiled=compiled)
        assert compiled.signatures, "the interpreter was not left to do it"
    for n in (0, 1):
        left = njit(the_other_one)(n)
        assert [left(k) for k in range(4)] == [the_other_one(n)(k) for k in range(4)]


def test_something_else_in_a_shared_variable():
    @njit
    def made(n):
        k = n

        def get():
            return k + 1

        def put(x):
            nonlocal k
            k = x

        return [get, put]

    get, put = made(3)
    put(7)
    assert get() == 8

    @njit
    def call(f, x):
        return f[0]() + x

    assert call([get], 1) == 9


def test_a_variable_that_holds_one_of_two_functions_that_use_it():
    @njit
    def f(n):
        if n:
            def g(k):
                return 1 if k == 0 else g(k - 1) * 2
        else:
            def g(k):
                return k
        return g(n)

    for n in (0, 1, 5):
        agree(f.py_func, n, compiled=f)


def made_for_each_call():
    """Containers of functions as a program writes them in a call: each time other functions of the same code."""
    return [lambda x: x + 1, lambda x: x * 2], {"a": lambda x: x - 3}, (lambda x: -x, 4)


def test_functions_that_are_made_for_each_call_are_compiled_once():
    def f(functions, named, pair, n):
        total = pair[0](n) * pair[1]
        for g in functions:
            total += g(n)
        named["b"] = lambda x: x * n
        functions.append(named["a"])
        return total, [g(n) for g in named.values()], functions[-1] is named["a"], functions[0] == functions[1]

    compiled = njit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(4):
            assert compiled(*made_for_each_call(), n) == f(*made_for_each_call(), n)
    assert compiled.stats["compiled"] == 1 and compiled.stats["missed"] == 1


def test_a_function_from_an_argument_is_returned_as_it_is():
    functions, named, pair = made_for_each_call()

    @njit
    def f(functions, named, pair):
        return functions[0], named["a"], pair[0], [functions[1]]

    first, second, third, others = f(functions, named, pair)
    assert first is functions[0] and second is named["a"] and third is pair[0] and others[0] is functions[1]


def adding(k):
    return lambda x: x + k


def scaled(k, m):
    def scale(x, y=m, *, z=0.5):
        return x * k, y, z

    return scale


def one_after_the_other(first, second):
    return lambda x: second(first(x))


def stored(value):
    def get(x):
        return value, x

    def put(x):
        nonlocal value
        value = x

    return [get, put]


def each_of(functions, x):
    return [f(x) for f in functions]


def first_and_same(functions, x):
    functions.append(functions[0])
    return functions[0] is functions[-1], functions.index(functions[1]), functions[1](x)


def by_name(table, x):
    return {name: f(x) for name, f in table.items()}


def read_and_written(functions, x):
    before = functions[0](x)
    functions[1](x)
    return before, functions[0](x)


def of_tasks(tasks, x):
    return [(task.name, task.f(x)) for task in tasks]


@pytest.mark.parametrize("function, calls", [
    (each_of, [lambda: ([adding(1), adding(2)], 5), lambda: ([adding(1), adding(2.5)], 5),
               lambda: ([adding("a"), adding("b")], "c"), lambda: ([adding(1), adding("b")], 3),
               lambda: ([adding((1, 2))], (3,)), lambda: ((adding(1), adding(2)), 3), lambda: ([adding([1])], [2]),
               lambda: ([scaled(2, "a"), scaled(2.5, None)], 3), lambda: ([adding(True), abs, add1], -3),
               lambda: ([one_after_the_other(adding(1), abs), one_after_the_other(adding(2), adding(3))], -3),
               lambda: ([lambda x, i=i: x + i for i in range(3)], 4), lambda: ([adding(i) for i in range(30)], 4),
               lambda: ([lambda x, *, i=i: (x, i) for i in "ab"], 4), lambda: ([adding(2**62), adding(1)], -5)]),
    (first_and_same, [lambda: ([adding(1), adding(2)], 3)]),
    (by_name, [lambda: ({"a": adding(1), "b": adding(2.5), "c": add1}, 3)]),
    (read_and_written, [lambda: (stored(1), 2), lambda: (stored("s"), "t")]),
    (of_tasks, [lambda: ([Task("a", adding(1)), Task("b", adding(2))], 3), lambda: ([Task("a", adding("s"))], "t")]),
])
def test_functions_with_captured_values_are_arguments(function, calls):
    compiled = njit(function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in calls:
            assert outcome(compiled, *make()) == outcome(function, *make())


def outcome(function, *args):
    try:
        return repr(function(*args))
    except Exception as error:
        return type(error), str(error)


def test_functions_with_other_captured_values_are_not_compiled_again():
    compiled = njit(each_of)
    assert compiled([adding(1), adding(2)], 3) == [4, 5]
    count = len(compiled.signatures)
    for k in range(5):
        assert compiled([adding(k), adding(2 * k)], 3) == [3 + k, 3 + 2 * k]
    assert len(compiled.signatures) == count


@pytest.mark.filterwarnings("ignore:native code of")
def test_a_captured_variable_gets_a_value_of_another_class():
    compiled = njit(read_and_written)
    for one, other in ((1, "s"), ("s", 2.5), (1, 2)):
        assert compiled(stored(one), other) == read_and_written(stored(one), other)


def test_a_captured_variable_that_another_function_changes_to_another_class_is_an_error():
    def made():
        k = 1

        def change():
            nonlocal k
            k = 2.5
        return [lambda x: x + k], change

    functions, change = made()

    @njit
    def total(functions, n):
        found = 0.0
        for i in range(n):
            found += functions[0](i)
            if i == 1:
                change()
        return found

    assert total.py_func(functions, 4) == 13.0
    functions, change = made()
    with pytest.raises(TypeError, match="an item of a list is of class 'function', where the items were object of "
                                        "function .*<lambda>"):
        total(functions, 4)
