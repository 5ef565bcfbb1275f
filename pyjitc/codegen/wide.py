"""Innermost loops over contiguous elements, written in vectors.

LLVM's default pipeline vectorises such loops, but takes far longer than the few passes (partition.py) that the rest of
an array expression needs. Here a loop whose iterations are one straight line of arithmetic gets a second copy, in whose
instructions each operand is a vector of as many elements as are computed at once:

    b2:       is the loop long enough?
    b2.long:  are all strides those of neighbours, and do no stores change what is still to load?
    b2.ready: what all iterations share, as vectors
    b2.wide:  the copy
    b2.rest:  the loop itself, for the elements that are left, and where one of the conditions does not hold

The copy is made from the text of the loop. Each value in it is one of three kinds: one that differs from iteration to
iteration becomes a vector; an index or an address that advances by a fixed step keeps its value for the first element;
one that all iterations share is computed before the copy. A loop with anything else is left to LLVM.
"""
from __future__ import annotations

__all__ = ["copied"]

_SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}  # of the types that are stored in memory
_TYPES = {*_SIZES, "i1"}
_LEAST = 4  # bytes of the largest elements in memory: vectors of shorter ones would leave many iterations
_NUMBER = "#"  # in a line: the number of the vector
_SUFFIXES = {"f32": "float", "f64": "double", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64"}
# operations whose operands and results have one type, and comparisons -> number of operands
_OPERANDS = {"fneg": 1, **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "add", "sub", "mul", "and", "or", "xor", "shl",
                                         "lshr", "ashr", "icmp", "fcmp"), 2)}
_CASTS = frozenset(("sitofp", "uitofp", "fpext", "fptrunc", "zext", "sext", "trunc", "bitcast"))
_UP, _DOWN = (("add", "1"),), (("sub", "1"), ("add", "-1"))  # the steps of indices, and of what counts down
_LINEAR = frozenset(("add", "sub", "mul"))  # what keeps a fixed step, as `_step` says
_INTRINSICS = frozenset(("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "roundeven", "fma", "copysign",
                         "minnum", "maxnum", "minimum", "maximum", "abs", "smin", "smax", "umin", "umax"))


class _Refused(Exception):
    """The loop has something that is not written in vectors."""


def _parsed(text: str) -> tuple[str, str, list[str], str, list[str]]:
    """(name of the result or "", operation, flags, type, operands) of a line; the type is that of the first operand.
    Other operands state theirs where operations have several types."""
    name, equals, right = text.partition(" = ")
    if not equals:
        name, right = "", text
    op, _, rest = right.partition(" ")
    first, *others = rest.split(", ")
    words = first.partition(" to ")[0].split(" ")
    if "(" in rest or len(words) < 2:
        raise _Refused
    return name, op, words[:-2], words[-2], [words[-1], *others]


def _typed(text: str) -> tuple[str, str]:
    """(type, value) of an operand."""
    t, _, value = text.partition(" ")
    if not value or " " in value:
        raise _Refused
    return t, value


class _Copy:
    """The vector copy of one loop. header: the name of its first block; start: parameter of that block -> where it
    starts; left: the parameter that counts down to 0; lines: those of the other block; register: the bytes of a vector;
    vectors: how many to compute at once; independent: whether no iteration accesses an element that another one
    stores."""

    def __init__(self, header: str, start: dict[str, str], left: str, lines: list[str], register: int,
                 vectors: int, independent: bool):
        self.header, self.start, self.left, self.independent = header, start, left, independent
        self.lines = lines
        self.copies = vectors  # how many vectors each line computes
        self.lanes = self._lanes(register)
        self.defined = {name for line in lines for name in [line.strip().partition(" = ")[0]] if name[0] == "%"}
        self.before: list[str] = []  # lines of the block with the conditions
        self.ready: list[str] = []  # lines of the block before the copy
        self.late: set[str] = set()  # shared values that are computed there
        self.wide: list[str] = []  # lines of the copy
        self.vectors: set[str] = set()
        # value with a fixed step -> the step, in bytes for an address: a constant and a shared factor, or None
        self.stepping: dict[str, tuple[int, str | None]] = {p: (1, None) for p in start if p != left}
        self.moving: list[str] = []  # the lines that compute such values
        self.splats: dict[tuple[str, str], str] = {}
        self.rows: set[str] = set()  # indices of which there are vectors
        self.placed: set[str] = set()  # addresses for which those of the other vectors are computed
        self.factors: dict[str, int] = {}  # what they have to be for the elements to be neighbours
        self.scaled: list[tuple[int, str, str]] = []  # (number of a line of `wide`, operand, factor) of their products
        self.accesses: list[tuple[str, str, int]] = []  # (load or store, address, bytes)
        for line in lines:
            self._add(line)
        if not any(kind == "store" for kind, _, _ in self.accesses):
            raise _Refused

    def _lanes(self, register: int) -> int:
        """The number of elements of a vector."""
        sizes = []
        for line in self.lines:
            text = line.strip()
            at = text.find("load ") if " = load " in text else 0 if text.startswith("store ") else -1
            if at >= 0:
                t = text[at:].split(" ")[1].rstrip(",")
                if t not in _SIZES:
                    raise _Refused
                sizes.append(_SIZES[t])
        if not sizes or max(sizes) < _LEAST:
            raise _Refused
        return register // max(sizes)

    # -- operands

    def _is_shared(self, value: str) -> bool:
        return value not in self.vectors and value not in self.stepping and value != self.left

    def _own(self, value: str) -> str:
        """The name of a shared value, or of one with a fixed step, in the copy."""
        return f"{value}.w" if value in self.defined or value in self.start else value

    def _vector(self, t: str, value: str) -> str:
        """The operand as a vector."""
        if value in self.vectors:
            return f"{value}.w{_NUMBER}"
        if value == self.left or t not in _TYPES:
            raise _Refused
        if value in self.stepping:
            return self._row(t, value)
        if value[0] != "%":
            return f"splat ({t} {value})"
        return self._splat(t, self._own(value))

    def _splat(self, t: str, value: str, lines: list[str] | None = None) -> str:
        found = self.splats.get((t, value)) if lines is None else None
        if found is None:
            found = f"{value}.{t}.{self.header}.all"
            n = self.lanes
            where = self.ready if lines is None else lines
            where += [f"  {found}.1 = insertelement <{n} x {t}> poison, {t} {value}, i64 0",
                      f"  {found} = shufflevector <{n} x {t}> {found}.1, <{n} x {t}> poison, <{n} x i32> "
                      "zeroinitializer"]
            if lines is None:
                self.splats[t, value] = found
        return found

    def _row(self, t: str, value: str) -> str:
        """The indices of a vector as numbers."""
        if t != "i64" or self.stepping[value] != (1, None):
            raise _Refused
        if value not in self.rows:
            self.rows.add(value)
            first = self._splat(t, self._own(value), self.wide)
            for k in range(self.copies):
                numbers = ", ".join(f"i64 {k * self.lanes + j}" for j in range(self.lanes))
                self.wide.append(f"  {value}.row{k} = add <{self.lanes} x i64> {first}, <{numbers}>")
        return f"{value}.row{_NUMBER}"

    # -- lines

    def _add(self, line: str) -> None:
        text = line.strip().partition(", !")[0]
        kind = text.partition(" = ")[2].partition(" ")[0]
        if text.startswith("br "):
            return
        if kind in _OF_LINES:
            _OF_LINES[kind](self, text)
            return
        name, op, flags, t, operands = _parsed(text)
        if op == "store":
            self._store(t, operands)
        elif op == "select" and len(operands) == 3 and not flags:
            self._apply(name, op, [(t, operands[0]), *map(_typed, operands[1:])])
        elif op in _CASTS:
            to = text.rpartition(" to ")[2]
            shared = self._is_shared(operands[0])
            self._apply(name, " ".join([op, *(() if shared else flags)]), [(t, operands[0])],
                        f" to {to if shared else self._type(to)}", to == "i64")
        elif len(operands) != _OPERANDS.get(op):
            raise _Refused
        elif op not in _LINEAR or t != "i64" or not self._step(name, op, operands):
            if all(map(self._is_shared, operands)):
                # without the flags: what they promise is true where the loop makes a trip
                flags = flags if op[-3:] == "cmp" else []
                self._share(name, f"{' '.join([op, *flags, t])} {', '.join(map(self._own, operands))}", operands,
                            t == "i64")
            else:
                self._emit(name, f"{' '.join([op, *flags, self._type(t)])} "
                                 f"{', '.join([self._vector(t, v) for v in operands])}")

    def _type(self, t: str) -> str:
        if t not in _TYPES:
            raise _Refused
        return f"<{self.lanes} x {t}>"

    def _emit(self, name: str, right: str) -> None:
        self.vectors.add(name)
        self._each(f"  {name}.w{_NUMBER} = {right}")

    def _each(self, line: str) -> None:
        """Add a line for each of the vectors that are computed at once."""
        self.wide += [line.replace(_NUMBER, str(k)) for k in range(self.copies)]

    def _places(self, address: str, size: int) -> str:
        """The addresses of the vectors that begin at an address."""
        if self.copies == 1:
            return self._own(address)
        if address not in self.placed:
            self.placed.add(address)
            self.wide += [f"  {address}.p{k} = getelementptr i8, ptr {self._own(address)}, i64 {k * self.lanes * size}"
                          for k in range(self.copies)]
        return f"{address}.p{_NUMBER}"

    def _apply(self, name: str, head: str, typed, close: str = "", early: bool = False) -> None:
        values = [v for _, v in typed]
        if all(map(self._is_shared, values)):
            self._share(name, f"{head} {', '.join([f'{t} {self._own(v)}' for t, v in typed])}{close}", values, early)
        else:
            vectors = [f"{self._type(t)} {self._vector(t, v)}" for t, v in typed]
            self._emit(name, f"{head} {', '.join(vectors)}{close}")

    def _share(self, name: str, right: str, operands, early: bool = False) -> None:
        """Compute a value that all iterations share before the copy; early: it may be needed by a condition."""
        if early and self.late.isdisjoint(operands):
            self.before.append(f"  {name}.w = {right}")
        else:
            self.late.add(name)
            self.ready.append(f"  {name}.w = {right}")

    def _step(self, name: str, op: str, operands) -> bool:
        """Whether the result has a fixed step, or is the next value of `left`."""
        a, b = operands
        if a == self.left:
            if (op, b) not in _DOWN:
                raise _Refused
            return True
        if op == "mul" and a not in self.stepping:
            a, b = b, a
        elif op == "add" and a not in self.stepping:
            a, b = b, a
        if a not in self.stepping or not self._is_shared(b):
            return False
        constant, factor = self.stepping[a]
        if op == "mul":
            if b.lstrip("-").isdigit():
                constant *= int(b)
            elif factor is None and b not in self.late:
                factor = self._own(b)
                self.scaled.append((len(self.wide), self._own(a), factor))
            else:
                raise _Refused
        self.stepping[name] = constant, factor
        self._move(name, f"{op} i64 {self._own(operands[0])}, {self._own(operands[1])}")
        return True

    def _move(self, name: str, right: str) -> None:
        line = f"  {name}.w = {right}"
        self.moving.append(line)
        self.wide.append(line)

    def _address(self, text: str) -> None:
        name, _, right = text.partition(" = getelementptr ")
        head, *typed = right.split(", ")
        t = head.removeprefix("inbounds ")
        if len(typed) != 2:
            raise _Refused
        (_, base), (_, index) = map(_typed, typed)
        if t not in _SIZES or base in self.vectors or index in self.vectors or self.left in (base, index):
            raise _Refused
        right = f"getelementptr {t}, ptr {self._own(base)}, i64 {self._own(index)}"
        if base in self.stepping:
            if index in self.stepping:
                raise _Refused
            self.stepping[name] = self.stepping[base]
            self._move(name, right)
        elif index in self.stepping:
            constant, factor = self.stepping[index]
            self.stepping[name] = constant * _SIZES[t], factor
            self._move(name, right)
        else:
            self._share(name, right, (base, index), True)

    def _neighbours(self, address: str, size: int) -> None:
        """Let the copy be taken only where the elements at an address are side by side."""
        constant, factor = self.stepping[address]
        if factor is None:
            if constant != size:
                raise _Refused
        elif constant == 0 or size % constant or self.factors.setdefault(factor, size // constant) != size // constant:
            raise _Refused

    def _load(self, text: str) -> None:
        name, _, right = text.partition(" = load ")
        t, pointer, *more = right.split(", ")
        _, address = _typed(pointer)
        size = _SIZES[t]
        if address in self.stepping:
            self._neighbours(address, size)
            self.accesses.append(("load", address, size))
            self._emit(name, ", ".join([f"load {self._type(t)}", f"ptr {self._places(address, size)}", *more]))
        elif self._is_shared(address) and self.independent:
            self.late.add(name)
            self.ready.append(f"  {name}.w = " + ", ".join([f"load {t}", f"ptr {self._own(address)}", *more]))
        else:
            raise _Refused

    def _store(self, t: str, operands) -> None:
        value, pointer, *more = operands
        _, address = _typed(pointer)
        if address not in self.stepping:
            raise _Refused
        self._neighbours(address, _SIZES[t])
        self.accesses.append(("store", address, _SIZES[t]))
        self._each("  " + ", ".join([f"store {self._type(t)} {self._vector(t, value)}",
                                     f"ptr {self._places(address, _SIZES[t])}", *more]))

    def _call(self, text: str) -> None:
        name, _, right = text.partition(" = call ")
        head, _, rest = right.partition("(")
        *flags, t, symbol = head.split(" ")
        intrinsic, _, suffix = symbol.rpartition(".")
        what = intrinsic.removeprefix("@llvm.")
        if what not in _INTRINSICS or rest[-1:] != ")" or "(" in rest or _SUFFIXES.get(suffix) != t:
            raise _Refused
        typed, close = [*map(_typed, rest[:-1].split(", "))], ")"
        if what == "abs":
            close = f", i1 {typed.pop()[1]})"
        if not all(self._is_shared(v) for _, v in typed):
            t, symbol = self._type(t), f"{intrinsic}.v{self.lanes}{suffix}"
        self._apply(name, f"call {' '.join([*flags, t])} {symbol}(", typed, close)

    # -- the blocks

    def text(self, rest: list[str], carried: list[tuple[str, str, str]], body: str) -> list[str]:
        """The lines that replace the header. rest: its own lines; carried: (parameter, start, next value) of each
        parameter; body: the name of the other block."""
        n, header, count = self.lanes * self.copies, self.header, self.start[self.left]
        lines = [f"{header}:", f"  %{header}.enough = icmp uge i64 {count}, {n}",
                 f"  br i1 %{header}.enough, label %{header}.long, label %{header}.rest, !prof !0",
                 f"{header}.long:", *self.before]
        conditions = [f"icmp eq i64 {factor}, {value}" for factor, value in self.factors.items()]
        if not self.independent:
            lines += self._first()
            conditions += self._apart(lines)
        every = "true"
        for k, condition in enumerate(conditions):
            lines += [f"  %{header}.c{k} = {condition}", f"  %{header}.d{k} = and i1 {every}, %{header}.c{k}"]
            every = f"%{header}.d{k}"
        lines += [f"  br i1 {every}, label %{header}.ready, label %{header}.rest, !prof !0",
                  f"{header}.ready:", *self.ready, f"  %{header}.over = and i64 {count}, {n - 1}",
                  f"  br label %{header}.wide", f"{header}.wide:"]
        lines += [f"  {p}.w = phi i64 [ {start}, %{header}.ready ], [ {p}.x, %{header}.wide ]"
                  for p, start, _ in carried]
        for place, operand, factor in self.scaled:
            if factor in self.factors:
                name = self.wide[place].partition(" = ")[0]
                self.wide[place] = f"{name} = mul i64 {operand}, {self.factors[factor]}"
        lines += self.wide
        lines += [f"  {p}.x = add i64 {p}.w, {-n if p == self.left else n}" for p, _, _ in carried]
        lines += [f"  %{header}.more = icmp ne i64 {self.left}.x, %{header}.over",
                  f"  br i1 %{header}.more, label %{header}.wide, label %{header}.rest", f"{header}.rest:"]
        lines += [f"  {p} = phi i64 [ {start}, %{header} ], [ {start}, %{header}.long ], [ {p}.x, %{header}.wide ], "
                  f"[ {following}, %{body} ]" for p, start, following in carried]
        return lines + rest

    def _first(self) -> list[str]:
        """The lines that compute the addresses of the first iteration."""
        found = []
        for line in self.moving:
            if any(f"{value}.w" in line for value in self.late):
                raise _Refused
            for p, start in self.start.items():
                line = line.replace(f"{p}.w", start)
            found.append(line.replace(".w", ".f"))
        shared = {line.partition(" = ")[0].strip() for line in self.before}
        for name in shared:  # these are computed once
            found = [line.replace(f"{name[:-2]}.f", name) for line in found]
        return found

    def _apart(self, lines: list[str]):
        """Iterate over the conditions that no load of the loop reads what an earlier iteration of the copy stores."""
        stores = [access for access in self.accesses if access[0] == "store"]
        if len(stores) != 1 or self.accesses[-1] is not stores[0]:
            raise _Refused
        _, target, size = stores[0]
        words = {}
        for k, address in enumerate(dict.fromkeys(address for _, address, _ in self.accesses)):
            words[address] = f"%{self.header}.a{k}"
            lines.append(f"  {words[address]} = ptrtoint ptr {address}.f to i64")
        for k, (address, other) in enumerate(dict.fromkeys((a, s) for kind, a, s in self.accesses if kind == "load")):
            if other != size:  # elements of different sizes do not stay as far apart as they begin
                raise _Refused
            lines += [f"  %{self.header}.s{k} = sub i64 {words[target]}, {words[address]}",
                      f"  %{self.header}.t{k} = add i64 %{self.header}.s{k}, -1"]
            yield f"icmp uge i64 %{self.header}.t{k}, {self.lanes * self.copies * size - 1}"


_OF_LINES = {"getelementptr": _Copy._address, "load": _Copy._load, "call": _Copy._call}


def copied(header: str, params, entries, lines: list[str], body: str, body_lines: list[str], register: int,
           vectors: int, independent: bool) -> list[str]:
    """The lines of the blocks that replace the header of a loop, each of which begins with its label; empty where the
    loop has something that is not written in vectors. params: (LLVM type, name) of its parameters; entries: (origin,
    values) of its two edges; lines: of the header; body: the name of the other block; register: bytes of a register;
    vectors: how many of them to compute at once; independent: see _Copy."""
    try:
        return _copied(header, params, entries, lines, body, body_lines, register, vectors, independent)
    except _Refused:
        return []


def _copied(header, params, entries, lines, body, body_lines, register, vectors, independent):
    names = [name for _, name in params]
    test = lines[0].split(" ")
    if (len(entries) != 2 or entries[0][0] == body or entries[1][0] != body or len(lines) != 2
            or any(t != "i64" for t, _ in params) or not all(line.startswith("  ") for line in body_lines)
            or test[4:7] != ["icmp", "ne", "i64"] or test[8:] != ["0"] or test[7].rstrip(",") not in names
            or not lines[1].startswith(f"  br i1 {test[2]}, label %{body}, label %")
            or not body_lines[-1].startswith(f"  br label %{header}")):
        raise _Refused
    left, made = test[7].rstrip(","), dict(line.strip().split(" = ", 1) for line in body_lines if " = " in line)
    (_, starts), (_, nexts) = entries
    for name, following in zip(names, nexts):
        op, _, rest = made.get(following, "").partition(" ")
        before, _, step = rest.rpartition(", ")
        if before.rpartition(" ")[2] != name or (op, step) not in (_DOWN if name == left else _UP):
            raise _Refused
    copy = _Copy(header, dict(zip(names, starts)), left, body_lines, register, vectors, independent)
    return copy.text(lines, [*zip(names, starts, nexts)], body)
