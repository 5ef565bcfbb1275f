"""Operations on text and bytes: references to Python objects, of which str and bytes are immutable.

`text_call` calls a method or a function of the interpreter whose operands are numbers, text and bytes: it has no
visible effect besides its result. Lengths, code points and bytes are read from the object directly.
"""
from __future__ import annotations

import operator
from typing import Any, NamedTuple

from ..ir.core import (ALLOCATES, CONSUMES, HOST, MAKES_TEXT, NEW_OBJECT, OBJECTS, ONE_FOR_ALL, ONLY_MEMORY_ERROR,
                       PURE, RAISES, READS, WRITES, Op, reads, writes)
from ..runtime.platform import BYTEARRAY_DATA, BYTES_DATA, OB_SIZE, STR, STR_STATE
from ..types.kinds import ByteArray, Bytes, Float, Int, List, NoneType, Str
from .effects import NO_RULE, NONDIFF, UNVARIED
from .memory import owned
from .signature import signature

__all__ = ["TEXT_OPS"]

_MAKES = RAISES | ALLOCATES | HOST
# Calls whose result has one of these kinds return the value itself; other results are unboxed.
_REFERENCES = (Str, Bytes, ByteArray)


def _load(e, kind, pointer, offset, align=8):
    where = e.assign(f"getelementptr i8, ptr {pointer}, i64 {offset}")
    return e.assign(f"load {kind}, ptr {where}, align {align}")


# ---------------------------------------------------------------- calls of the interpreter's functions


def _call_lower(e, inst, callee, *operands):
    args = [x[0] for x in operands]
    api = inst.attrs.get("api")
    if api:
        found = _checked(e, inst, e.assign(f"call ptr @{api}({', '.join(f'ptr {x}' for x in args)})"))
    else:
        for x in args:
            e.line(f"call void {e.helper('pyj_retain_object')}(ptr {x})")
        found = e.python_call(inst, callee[0], args, inst.attrs.get("kwnames") or ())
    t = inst.attrs["type"]
    if t in _REFERENCES or isinstance(t, List):
        return [found]
    if t is NoneType:
        e.line(f"call void {e.helper('pyj_release_object')}(ptr {found})")
        return []
    wrong, done = e.label("wrong"), e.label("opened")
    values = owned(e, t, e.unbox(t, found, wrong))
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {found})")
    e.jump(done)
    e.start(wrong)
    e.line(f"call void {e.helper('pyj_release_object')}(ptr {found})")
    e.error(inst, "OverflowError", "the int does not fit in 64 bits")
    e.start(done)
    return values


def _call(function, *args, kwnames=(), type=None, api=None):
    count = len(args) - len(kwnames)
    return function(*args[:count], **dict(zip(kwnames, args[count:])))


def _given(types, attrs):
    return attrs["type"]


_DOC = ("call the interpreter's {}; the last operands are the keywords {{kwnames}}; the result as {{type}}; {{api}}: "
        "the function of the C API that does it, or None")
TEXT_CALL = Op("text_call", _given, _MAKES, lower=_call_lower, eval=_call, eval_attrs=True, partials=NONDIFF,
               doc=_DOC.format("function of numbers, text and bytes, which changes nothing"),
               traits=NEW_OBJECT | MAKES_TEXT)
OBJECT_CALL = Op("object_call", _given, _MAKES | READS | WRITES, lower=_call_lower, eval=_call, eval_attrs=True,
                 partials=NO_RULE, doc=_DOC.format("function of any objects"), traits=NEW_OBJECT)

# ---------------------------------------------------------------- direct reads of the object


def _op(name: str, takes: str, effects: int, lower: Any, eval: Any, doc: str, partials: Any = NONDIFF, **more: Any):
    return Op(name, signature(takes), effects, lower=lower, eval=eval, partials=partials, doc=doc, **more)


def _length_lower(offset: int):
    return lambda e, inst, x: [_load(e, "i64", x[0], offset)]


_SIZE = (0, (1 << 60) - 1)
STR_LEN = _op("str_len", "s: str -> int", PURE, _length_lower(STR["length"]), len, "the number of characters",
              bounds=_SIZE, cost=1)
BYTES_LEN = _op("bytes_len", "b: bytes -> int", PURE, _length_lower(OB_SIZE), len, "the number of bytes", bounds=_SIZE,
                cost=1)
BYTEARRAY_LEN = _op("bytearray_len", "b: bytearray -> int", reads(OBJECTS), _length_lower(OB_SIZE), len,
                    "the present number of bytes", bounds=_SIZE, cost=1)


def _form_lower(e, inst, s):
    """The form of a text, or any number for a null pointer: the instruction may be moved out of a loop that tests
    whether a union holds a text, to where the union holds none."""
    none = e.assign(f"icmp eq ptr {s[0]}, null")
    s = [e.assign(f"select i1 {none}, ptr @PyUnicode_Type, ptr {s[0]}")]
    bits = e.assign(f"and i32 {_load(e, 'i32', s[0], STR['state'], 4)}, {STR_STATE['sizes'] | STR_STATE['ascii']}")
    return [e.assign(f"zext i32 {bits} to i64")]


def _form(s: str) -> int:
    size = "one" if max(s, default="") < "\u0100" else "two" if max(s) < "\U00010000" else "four"
    return STR_STATE[size] | (STR_STATE["ascii"] if s.isascii() else 0)


STR_FORM = _op("str_form", "s: str -> int", PURE, _form_lower, _form,
               "the size of the characters and whether they are ASCII, as bits of the state of the object",
               bounds=(0, 127), cost=1, traits=ONE_FOR_ALL)


def _code_lower(e, inst, s, i, form):
    """The form is an operand, so that it is loaded, and LLVM tests it, before a loop over the characters."""
    plain = e.assign(f"icmp ugt i64 {form[0]}, {STR_STATE['ascii'] - 1}")
    offset = e.assign(f"select i1 {plain}, i64 {STR['ascii']}, i64 {STR['wide']}")
    data = e.assign(f"getelementptr i8, ptr {s[0]}, i64 {offset}")
    kind = e.assign(f"and i64 {form[0]}, {STR_STATE['sizes']}")
    one, wide, two, four, done = (e.label(name) for name in ("one", "wide", "two", "four", "code"))
    e.branch(e.assign(f"icmp eq i64 {kind}, {STR_STATE['one']}"), one, wide, likely=True)
    arms = []
    for label, size in ((one, 1), (two, 2), (four, 4)):
        if size == 2:
            e.start(wide)
            e.branch(e.assign(f"icmp eq i64 {kind}, {STR_STATE['two']}"), two, four)
        e.start(label)
        where = e.assign(f"getelementptr i{8 * size}, ptr {data}, i64 {i[0]}")
        found = e.assign(f"load i{8 * size}, ptr {where}, align {size}")
        arms.append((e.assign(f"zext i{8 * size} {found} to i64"), label))
        e.jump(done)
    e.start(done)
    return [e.phi("i64", arms)]


STR_CODE = _op("str_code", "s: str, i: int, form: int -> int", PURE, _code_lower,
               lambda s, i, form: ord(s[i]) if i != len(s) else 0,
               "the code point of character i of a text of this form, 0 <= i <= length; 0 at the end",
               bounds=(0, 0x10FFFF), cost=2)


def _char_lower(e, inst, code):
    return [_checked(e, inst, e.assign(f"call ptr {e.helper('pyj_str_char')}(i64 {code[0]})"))]


def _checked(e, inst, pointer):
    e.check_null(pointer, inst)
    return pointer


STR_CHAR = _op("str_char", "code: int -> str", _MAKES, _char_lower, chr, "the character of a code point", cost=8,
               traits=ONLY_MEMORY_ERROR | MAKES_TEXT)


def _slice_lower(e, inst, s, i, j):
    return [_checked(e, inst, e.assign(f"call ptr @PyUnicode_Substring(ptr {s[0]}, i64 {i[0]}, i64 {j[0]})"))]


STR_SLICE = _op("str_slice", "s: str, i: int, j: int -> str", _MAKES, _slice_lower, lambda s, i, j: s[i:j],
                "the characters from i to before j, 0 <= i, j <= length", traits=ONLY_MEMORY_ERROR | MAKES_TEXT)


def _reversed_lower(e, inst, s):
    slice_ = e.object(_BACKWARDS)
    return [_checked(e, inst, e.assign(f"call ptr {e.helper('pyj_str_reversed')}(ptr {s[0]}, ptr {slice_})"))]


_BACKWARDS = slice(None, None, -1)
STR_REVERSED = _op("str_reversed", "s: str -> str", _MAKES, _reversed_lower, lambda s: s[::-1],
                   "the characters from the last to the first", traits=ONLY_MEMORY_ERROR | MAKES_TEXT)


def _equal_lower(e, inst, x, y):
    return [e.assign(f"call i1 {e.helper('pyj_str_equal')}(ptr {x[0]}, ptr {y[0]})")]


def _append_lower(e, inst, x, y):
    return [_checked(e, inst, e.assign(f"call ptr {e.helper('pyj_str_append')}(ptr {x[0]}, ptr {y[0]})"))]


# passes/refcount.py gives this operation its own reference to the first operand: if that is the only reference, the
# object grows in place.
STR_APPEND = _op("str_append", "x: str, y: str -> str", _MAKES | CONSUMES, _append_lower, lambda x, y: x + y, "x + y",
                 traits=ONLY_MEMORY_ERROR | MAKES_TEXT)


def _append_code_lower(e, inst, x, code):
    return [_checked(e, inst, e.assign(f"call ptr {e.helper('pyj_str_append_code')}(ptr {x[0]}, i64 {code[0]})"))]


STR_APPEND_CODE = _op("str_append_code", "x: str, code: int -> str", _MAKES | CONSUMES, _append_code_lower,
                      lambda x, code: x + chr(code), "x followed by the character of a code point",
                      traits=ONLY_MEMORY_ERROR)


STR_EQ = _op("str_eq", "x: str, y: str -> bool", PURE, _equal_lower, lambda x, y: x == y, "whether two texts are equal",
             cost=8)


def _part_equal_lower(e, inst, s, i, j, other):
    helper = e.helper("pyj_str_part_equal")
    return [e.assign(f"call i1 {helper}(ptr {s[0]}, i64 {i[0]}, i64 {j[0]}, ptr {other[0]})")]


STR_PART_EQ = _op("str_part_eq", "s: str, i: int, j: int, other: str -> bool", PURE, _part_equal_lower,
                  lambda s, i, j, other: s[i:j] == other, "whether s[i:j] equals `other`, 0 <= i, j", cost=8)


def _mirrored_lower(e, inst, s, other):
    return [e.assign(f"call i1 {e.helper('pyj_str_mirrored')}(ptr {s[0]}, ptr {other[0]})")]


STR_MIRRORED = _op("str_mirrored", "s: str, other: str -> bool", PURE, _mirrored_lower,
                   lambda s, other: s[::-1] == other, "whether s[::-1] equals `other`", cost=8)


def _compare_lower(e, inst, x, y):
    found = e.assign(f"call i32 @PyUnicode_Compare(ptr {x[0]}, ptr {y[0]})")
    return [e.assign(f"sext i32 {found} to i64")]


STR_COMPARE = _op("str_compare", "x: str, y: str -> int", HOST, _compare_lower, lambda x, y: (x > y) - (x < y),
                  "the order of two texts, as -1, 0 or 1", bounds=(-1, 1))


def _in_lower(e, inst, s, part):
    found = e.assign(f"call i32 @PyUnicode_Contains(ptr {s[0]}, ptr {part[0]})")
    failed, done = e.label("failed"), e.label("searched")
    e.branch(e.assign(f"icmp slt i32 {found}, 0"), failed, done, likely=False)
    e.start(failed)
    e.jump(e.fail(inst))
    e.start(done)
    return [e.assign(f"icmp ne i32 {found}, 0")]


STR_IN = _op("str_in", "s: str, part: str -> bool", RAISES | HOST, _in_lower, lambda s, part: part in s,
             "whether a text contains another one")


_SEARCHES = {"find": ("PyUnicode_Find", ", i32 1"), "rfind": ("PyUnicode_Find", ", i32 -1"),
             "count": ("PyUnicode_Count", ""), "startswith": ("PyUnicode_Tailmatch", ", i32 -1"),
             "endswith": ("PyUnicode_Tailmatch", ", i32 1")}


def _search_lower(e, inst, s, part, i, j):
    name = inst.attrs["function"]
    api, direction = _SEARCHES[name]
    found = e.assign(f"call i64 @{api}(ptr {s[0]}, ptr {part[0]}, i64 {i[0]}, i64 {j[0]}{direction})")
    error = -2 if api == "PyUnicode_Find" else -1
    fine, good = e.assign(f"icmp ne i64 {found}, {error}"), e.label("searched")
    e.branch(fine, good, e.fail(inst), likely=True)
    e.start(good)
    return [found]


STR_SEARCH = _op("str_search", "s: str, part: str, i: int, j: int -> int", RAISES | HOST, _search_lower,
                 lambda s, part, i, j, *, function: int(getattr(s, function)(part, i, j)),
                 "the result of the method {function}: find, rfind, count, startswith or endswith", eval_attrs=True)


def _has_lower(e, inst, s, code):
    wanted, size = e.assign(f"trunc i64 {code[0]} to i32"), _load(e, "i64", s[0], STR["length"])
    found = e.assign(f"call i64 @PyUnicode_FindChar(ptr {s[0]}, i32 {wanted}, i64 0, i64 {size}, i32 1)")
    return [e.assign(f"icmp sge i64 {found}, 0")]


STR_HAS = _op("str_has", "s: str, code: int -> bool", HOST, _has_lower, lambda s, code: chr(code) in s,
              "whether a text contains the character of a code point")

# Methods that test the characters of a text -> the functions of the interpreter that test one character.
TESTS = {"isalpha": ("IsAlpha",), "isdecimal": ("IsDecimalDigit",), "isdigit": ("IsDigit",),
         "isnumeric": ("IsNumeric",), "isalnum": ("IsAlpha", "IsDecimalDigit", "IsDigit", "IsNumeric"),
         "islower": ("IsLowercase",), "isupper": ("IsUppercase",), "isspace": ("IsWhitespace",),
         "isprintable": ("IsPrintable",)}


def _is_lower(e, inst, code):
    """ASCII is tested in a bit table, other characters by the interpreter's function."""
    test = inst.attrs["test"]
    bits = sum(1 << n for n in range(128) if getattr(chr(n), test)())
    ascii_, other, done = e.label("ascii"), e.label("other"), e.label("asked")
    e.branch(e.assign(f"icmp ult i64 {code[0]}, 128"), ascii_, other, likely=True)
    e.start(ascii_)
    wide = e.assign(f"zext i64 {code[0]} to i128")
    quick = e.assign(f"trunc i128 {e.assign(f'lshr i128 {bits}, {wide}')} to i1")
    e.jump(done)
    e.start(other)
    one, found = e.assign(f"trunc i64 {code[0]} to i32"), "0"
    for name in TESTS[test]:
        e.declare(f"declare i32 @_PyUnicode_{name}(i32) nounwind willreturn memory(none)")
        found = e.assign(f"or i32 {found}, {e.assign(f'call i32 @_PyUnicode_{name}(i32 {one})')}")
    slow = e.assign(f"icmp ne i32 {found}, 0")
    e.jump(done)
    e.start(done)
    return [e.phi("i1", [(quick, ascii_), (slow, other)])]


CODE_IS = _op("code_is", "code: int -> bool", PURE, _is_lower, lambda code, *, test: getattr(chr(code), test)(),
              "whether {test}, a method of text, is true of the character of a code point", eval_attrs=True, cost=4)


def _case_lower(e, inst, code):
    """The object that the interpreter has for an ASCII character; for others, the result of the method."""
    name = inst.attrs["method"]
    quick, other, done = e.label("ascii"), e.label("other"), e.label("cased")
    e.branch(e.assign(f"icmp ult i64 {code[0]}, 128"), quick, other, likely=True)
    e.start(quick)
    first = ord("A" if name == "lower" else "a")
    place = e.assign(f"sub i64 {code[0]}, {first}")
    changes = e.assign(f"icmp ult i64 {place}, 26")
    changed = e.assign(f"select i1 {changes}, i64 {e.assign(f'xor i64 {code[0]}, 32')}, i64 {code[0]}")
    kept = _checked(e, inst, e.assign(f"call ptr {e.helper('pyj_str_char')}(i64 {changed})"))
    here = e.current
    e.jump(done)
    e.start(other)
    char = _checked(e, inst, e.assign(f"call ptr {e.helper('pyj_str_char')}(i64 {code[0]})"))
    made = e.python_call(inst, e.object(getattr(str, name)), [char], ())
    there = e.current
    e.jump(done)
    e.start(done)
    return [e.phi("ptr", [(kept, here), (made, there)])]


CHAR_CASE = _op("char_case", "code: int -> str", _MAKES, _case_lower,
                lambda code, *, method: getattr(chr(code), method)(),
                "the result of {method}, lower or upper, for the character of a code point", eval_attrs=True)

# ---------------------------------------------------------------- numbers


def _made_of_lower(helper: str, kind: str):
    return lambda e, inst, x: [_checked(e, inst, e.assign(f"call ptr {e.helper(helper)}({kind} {x[0]})"))]


def _parsed_lower(helper: str, kind: str):
    def lower(e, inst, s, *bounds):
        slot = e.alloca(kind)
        given = "".join(f"i64 {at[0]}, " for at in bounds)
        e.check_status(e.assign(f"call i32 {e.helper(helper)}(ptr {s[0]}, {given}ptr {slot})"), inst)
        return [e.assign(f"load {kind}, ptr {slot}")]

    return lower


def _fixed_lower(e, inst, x):
    call = f"{e.helper('pyj_decimal_fixed')}(double {x[0]}, i32 {inst.attrs['digits']})"
    return [_checked(e, inst, e.assign(f"call ptr {call}"))]


STR_OF_INT = _op("str_of_int", "x: int -> str", _MAKES, _made_of_lower("pyj_decimal_of_int", "i64"), str, "str(x)",
                 traits=ONLY_MEMORY_ERROR)
STR_OF_FLOAT = _op("str_of_float", "x: float -> str", _MAKES, _made_of_lower("pyj_decimal_of_float", "double"), str,
                   "str(x), with the fewest digits that identify x")
STR_FIXED = _op("str_fixed", "x: float -> str", _MAKES, _fixed_lower, lambda x, *, digits: f"{x:.{digits}f}",
                "x with {digits} digits after the point", eval_attrs=True, traits=ONLY_MEMORY_ERROR)


class Style(NamedTuple):
    """A format for a text, an int or a float that compiled code writes."""

    digits: int  # after the point of a float; -1: as many as str() writes
    width: int  # of the whole text, which is padded with `fill`
    align: str
    fill: str
    zeros: int  # the width up to which zeros follow the sign
    commas: bool
    plus: bool
    percent: bool


_AS_STR = Style(-1, 0, "<", " ", 0, False, False, False)
PART_SIZE = 96  # bytes of the memory for a part of a text, as in codegen/decimals.py
_WIDEST = 40  # characters of a part: the head of its object has 48 bytes, and a sign and commas may be added


def style_of(spec: str, t) -> Style | None:
    """The style that a format describes for values of type t, Str, Int or Float; None where the interpreter formats
    them."""
    align, fill, rest = "<" if t is Str else ">", " ", spec
    aligned = rest[1:2] != "" and rest[1] in "<>^"
    if aligned:
        fill, align, rest = rest[0], rest[1], rest[2:]
    elif rest[:1] != "" and rest[0] in "<>^":
        aligned, align, rest = True, rest[0], rest[1:]
    plus = rest[:1] == "+"
    number = rest[plus:].lstrip("0123456789")
    width = rest[plus:len(rest) - len(number)]
    commas = number[:1] == ","
    kind = number[commas:]
    zeros = width[:1] == "0"
    digits = 6 if kind else -1
    if t is Float and kind[:1] == "." and kind[1:-1].isdecimal() and len(kind) <= 4:
        digits, kind = int(kind[1:-1]), kind[-1]
    if (kind not in {Str: ("", "s"), Int: ("", "d"), Float: ("", "f", "%")}[t] or not spec.isascii() or len(width) > 3
            or int(width or 0) > _WIDEST or zeros and (aligned or commas) or t is Str and (plus or commas or zeros)
            or t is Float and (kind == "%" or not 0 <= digits <= 9) and (plus or commas or zeros)):
        return None
    size = int(width or 0)
    return Style(digits, 0 if zeros else size, align, fill, size if zeros else 0, commas, plus, kind == "%")


def _styled_part(e, t, x: str, spec: str, style: Style) -> str:
    """The text of a number, in memory of this frame where the interpreter does not make it."""
    room = e.alloca("i64", PART_SIZE >> 3)
    flags = style.plus + 2 * style.commas
    if t is Int:
        call = (f"{e.helper('pyj_decimal_int_styled')}(i64 {x}, i64 {style.zeros}, i32 {flags}, ptr {room})"
                if style.zeros or flags else f"{e.helper('pyj_decimal_int_part')}(i64 {x}, ptr {room})")
    elif style.zeros or flags:
        call = (f"{e.helper('pyj_decimal_fixed_styled')}(double {x}, i32 {style.digits}, i64 {style.zeros}, "
                f"i32 {flags}, ptr {e.object(spec)}, ptr {room})")
    elif style.digits < 0:
        call = f"{e.helper('pyj_decimal_of_float')}(double {x})"
    else:
        x = e.assign(f"fmul double {x}, 1.0e2") if style.percent else x
        call = f"{e.helper('pyj_decimal_fixed_part')}(double {x}, i32 {style.digits}, ptr {room})"
    return e.assign(f"call ptr {call}")


def _padding(e, part: str, style: Style) -> tuple[str | None, str | None]:
    """The padding before a part and the one after it."""
    length = _load(e, "i64", part, STR["length"])
    missing = e.assign(f"sub i64 {style.width - style.percent}, {length}")
    missing = e.assign(f"call i64 @llvm.smax.i64(i64 {missing}, i64 0)")
    before = missing if style.align == ">" else e.assign(f"lshr i64 {missing}, 1")
    counts = {"<": (None, missing), ">": (missing, None)}.get(style.align) or (
        before, e.assign(f"sub i64 {missing}, {before}"))

    def filled(n):
        room = e.alloca("i64", PART_SIZE >> 3)
        return e.assign(f"call ptr {e.helper('pyj_decimal_padding')}(i64 {n}, i8 {ord(style.fill)}, ptr {room})")

    return counts[0] and filled(counts[0]), counts[1] and filled(counts[1])


def _build_lower(e, inst, *values):
    """The text of each number is written into memory of this frame, in the form of a str object that only the join
    below reads."""
    made, parts = [], []
    styles = [style_of(spec, v.type) or _AS_STR for v, spec in zip(inst.args, inst.attrs["specs"])]
    for v, x, spec, style in zip(inst.args, values, inst.attrs["specs"], styles):
        parts.append(x[0] if v.type is Str else _styled_part(e, v.type, x[0], spec, style))
        if v.type is not Str:
            made.append(parts[-1])

    def release():
        for part in made:
            e.line(f"call void {e.helper('pyj_release_object')}(ptr {part})")

    def failed():
        release()
        e.jump(e.fail(inst))

    for part in made:  # the text of a large float is a str of the interpreter, whose allocation may fail
        e.fail_unless(e.assign(f"icmp ne ptr {part}, null"), failed)
    joined = []
    for part, style in zip(parts, styles):
        before, behind = _padding(e, part, style) if style.width else (None, None)
        sign = e.object("%") if style.percent else None
        joined += [one for one in (before, part, sign, behind) if one is not None]
    table = e.alloca("ptr", len(joined))
    for n, part in enumerate(joined):
        e.line(f"store ptr {part}, ptr {e.assign(f'getelementptr ptr, ptr {table}, i64 {n}')}")
    text = e.assign(f"call ptr {e.helper('pyj_str_join')}(ptr {table}, i64 {len(joined)})")
    release()
    return [_checked(e, inst, text)]


STR_BUILD = Op("str_build", lambda types, attrs: Str, _MAKES, lower=_build_lower, partials=NONDIFF, eval_attrs=True,
               eval=lambda *parts, specs: "".join(map(format, parts, specs)),
               doc="concatenate texts, ints and floats, formatted as {specs} say")
STR_TO_INT = _op("str_to_int", "s: str -> int", RAISES | HOST, _parsed_lower("pyj_decimal_to_int", "i64"), int,
                 "int(s)")
STR_TO_FLOAT = _op("str_to_float", "s: str -> float", RAISES | HOST, _parsed_lower("pyj_decimal_to_float", "double"),
                   float,
                   "float(s)", UNVARIED)
STR_PART_TO_INT = _op("str_part_to_int", "s: str, i: int, j: int -> int", RAISES | HOST,
                      _parsed_lower("pyj_decimal_part_to_int", "i64"), lambda s, i, j: int(s[i:j]),
                      "int() of the characters from i to before j, 0 <= i, j <= length")
STR_PART_TO_FLOAT = _op("str_part_to_float", "s: str, i: int, j: int -> float", RAISES | HOST,
                        _parsed_lower("pyj_decimal_part_to_float", "double"), lambda s, i, j: float(s[i:j]),
                        "float() of the characters from i to before j, 0 <= i, j <= length", UNVARIED)


def _hash_lower(e, inst, x):
    known = _load(e, "i64", x[0], STR["hash"])
    here, compute, done = e.current, e.label("compute"), e.label("hashed")
    e.branch(e.assign(f"icmp eq i64 {known}, -1"), compute, done, likely=False)
    e.start(compute)
    found = e.assign(f"call i64 @PyObject_Hash(ptr {x[0]})")
    e.jump(done)
    e.start(done)
    return [e.phi("i64", [(known, here), (found, compute)])]


STR_HASH = _op("str_hash", "x: str | bytes -> int", HOST, _hash_lower, hash, "the hash of a text or of bytes", cost=4)


def _byte_lower(e, inst, b, i):
    where = e.assign(f"getelementptr i8, ptr {b[0]}, i64 {BYTES_DATA}")
    at = e.assign(f"getelementptr i8, ptr {where}, i64 {i[0]}")
    return [e.assign(f"zext i8 {e.assign(f'load i8, ptr {at}, align 1')} to i64")]


BYTES_AT = _op("bytes_at", "b: bytes, i: int -> int", PURE, _byte_lower, lambda b, i: b[i], "byte i, which exists",
               bounds=(0, 255), cost=1)



def _place(e, b, i):
    """The address of byte i of a bytearray."""
    return e.assign(f"getelementptr i8, ptr {_load(e, 'ptr', b[0], BYTEARRAY_DATA)}, i64 {i[0]}")


def _get_lower(e, inst, b, i):
    return [e.assign(f"zext i8 {e.assign(f'load i8, ptr {_place(e, b, i)}, align 1')} to i64")]


def _set_lower(e, inst, b, i, value):
    e.line(f"store i8 {e.assign(f'trunc i64 {value[0]} to i8')}, ptr {_place(e, b, i)}, align 1")
    return []


BYTEARRAY_AT = _op("bytearray_at", "b: bytearray, i: int -> int", reads(OBJECTS), _get_lower, lambda b, i: b[i],
                   "byte i, which exists", bounds=(0, 255), cost=1)
BYTEARRAY_SET = _op("bytearray_set", "b: bytearray, i: int, value: int", writes(OBJECTS), _set_lower,
                    operator.setitem, "store the value, which is below 256, as byte i, which exists", cost=1)


def _slice_of(make: str, start):
    def lower(e, inst, b, i, j):
        first, size = start(e, b, i), e.assign(f"sub i64 {j[0]}, {i[0]}")
        return [_checked(e, inst, e.assign(f"call ptr @{make}(ptr {first}, i64 {size})"))]

    return lower


def _place_of_bytes(e, b, i):
    data = e.assign(f"getelementptr i8, ptr {b[0]}, i64 {BYTES_DATA}")
    return e.assign(f"getelementptr i8, ptr {data}, i64 {i[0]}")


BYTES_SLICE = _op("bytes_slice", "b: bytes, i: int, j: int -> bytes", _MAKES,
                  _slice_of("PyBytes_FromStringAndSize", _place_of_bytes), lambda b, i, j: b[i:j],
                  "the bytes from i to before j, 0 <= i <= j <= length")
BYTEARRAY_SLICE = _op("bytearray_slice", "b: bytearray, i: int, j: int -> bytearray", _MAKES | reads(OBJECTS),
                      _slice_of("PyByteArray_FromStringAndSize", _place), lambda b, i, j: b[i:j],
                      "a new bytearray with the bytes from i to before j, 0 <= i <= j <= length")

TEXT_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
