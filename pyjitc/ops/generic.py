"""Python's own operations, as the front end emits them: no types, no lowering.

Inference finds the meaning of each in the library (`lib/table.py`) and replaces it by leaf operations and calls.
Attributes are Python values; operands are SSA values. The terminators are shared with typed IR and live
in ops/control.py.
"""
from ..ir.core import ERRORS, GENERIC, OBJECTS, RAISES, READS, WRITES, Op, reads, writes

__all__ = ["GENERIC_OPS"]


def _op(name, doc, effects=RAISES | READS | WRITES):
    return Op(name, None, effects | GENERIC, doc=doc)


GLOBAL = _op("global", "global {name} -> value of the global or builtin `name`", RAISES | reads(OBJECTS))
STORE_GLOBAL = _op("store_global", "store_global {name} (value): global name = value; no result")
FREEVAR = _op("freevar", "freevar {name, rebound: bool} -> the closure cell (type Cell) of free variable `name`; "
                         "rebound: whether the function, or one inside it, assigns it", 0)
BINARY = _op("binary", "binary {op: '+', '-', '*', '/', '//', '%', '**', '@', '<<', '>>', '&', '|', '^'} (x, y)")
INPLACE = _op("inplace", "inplace {op: as binary} (x, y): x op= y, result is the new x")
UNARY = _op("unary", "unary {op: '-', '+', '~', 'not'} (x)")
COMPARE = _op("compare", "compare {op: '<', '<=', '==', '!=', '>', '>=', 'is', 'is not', 'in', 'not in'} (x, y)")
TRUTH = _op("truth", "truth (x) -> bool: what `if x` tests")
GETATTR = _op("getattr", "getattr {name, managed: bool} (object); managed: whether it is the look-up of a `with` "
                         "statement")
SETATTR = _op("setattr", "setattr {name} (object, value); no result")
DELATTR = _op("delattr", "delattr {name} (object); no result")
GETITEM = _op("getitem", "getitem (object, index)")
SETITEM = _op("setitem", "setitem (object, index, value); no result")
DELITEM = _op("delitem", "delitem (object, index); no result")
SLICE = _op("slice", "slice (start, stop, step) -> slice object; absent ones are the constant None", 0)
CALL = _op("call", "call {kwnames: tuple of str} (callee, positional..., keyword values in the order of kwnames)")
CALL_STAR = _op("call_star", "call_star {kwargs: bool} (callee, args tuple[, kwargs mapping], first...): "
                "f(*first, *args, **kwargs)")
TUPLE = _op("build_tuple", "build_tuple (elements...)", 0)
LIST = _op("build_list", "build_list (elements...)")
SET = _op("build_set", "build_set (elements...)")
DICT = _op("build_dict", "build_dict (key, value, key, value...)")
STRING = _op("build_string", "build_string (parts...): join str values of an f-string", RAISES)
LIST_EXTEND = _op("list_extend", "list_extend (list, iterable): also `[*a]`; result is the list")
LIST_TO_TUPLE = _op("list_to_tuple", "list_to_tuple (list) -> tuple: `(*a, b)` is built as a list first")
LIST_APPEND = _op("list_append", "list_append (list, value); no result")
SET_ADD = _op("set_add", "set_add (set, value); no result")
SET_UPDATE = _op("set_update", "set_update (set, iterable): `{*a}`; result is the set")
DICT_SET = _op("dict_set", "dict_set (dict, key, value); no result: dict comprehension")
DICT_MERGE = _op("dict_merge",
                 "dict_merge {unique} (dict, mapping): `{**a}` and `f(**a)` (unique: no key twice); result is the dict")
DICT_WITHOUT = _op("dict_without",
                   "dict_without {may_miss: bool} (dict, key) -> a new dict without a key; KeyError where it has none, "
                   "unless may_miss: `del` in functions with derivatives")
FORMAT = _op("format",
             "format {conversion: '', 's', 'r', 'a'} (value, spec): one part of an f-string; spec may be constant None")
UNPACK = _op("unpack", "unpack {count} (iterable) -> tuple of `count` values; ValueError as CPython")
UNPACK_EX = _op("unpack_ex", "unpack_ex {before, after} (iterable) -> tuple: before..., list, after...")
ITER = _op("iter", "iter (iterable) -> iteration state of a `for` loop (a value: not shared)")
NEXT = _op("next", "next {delegates: bool, absent for False} (state) -> (has: bool, item, next state); item has no "
                   "value where `has` is false; delegates: for `yield from`, which needs the return value of the "
                   "iterator")
RETURNED = _op("returned", "returned (the last result of next) -> the return value of a generator, None for any other "
                           "iterator", 0)
ELEMENT = _op("element", "element {index} (tuple) -> element: a part of the result of unpack or next", 0)
MAKE_FUNCTION = _op("make_function",
                    "make_function {code, qualname, has: set of 'defaults', 'kwdefaults', 'annotations', 'closure'} "
                    "(defaults tuple?, kwdefaults dict?, closure tuple?) -> function", 0)
MAKE_CELL = _op("make_cell", "make_cell {name} (initial value or the unbound constant) -> cell")
CELL_GET = _op("cell_get", "cell_get {name, free: bool} (cell) -> content; UnboundLocalError or NameError when empty")
CELL_SET = _op("cell_set", "cell_set {name} (cell, value, or the unbound constant for `del`); no result")
CHECK_BOUND = _op("check_bound", "check_bound {name} (value) -> the value; UnboundLocalError when it is unbound",
                  RAISES)
IMPORT = _op("import", "import {name, level, fromlist} -> module (a constant when it is importable)")
IMPORT_FROM = _op("import_from", "import_from {name} (module)")
EXC_MATCH = _op("exc_match", "exc_match (exception, class or tuple of classes) -> bool: `except C`", RAISES)
GROUP_MATCH = _op("group_match", "group_match (exception or None, class or tuple of classes) -> (rest, the part that "
                                 "`except*` catches or None, the exception that is handled then)")
GROUP_LEFT = _op("group_left", "group_left (exception, list of the exceptions that leave the clauses of `except*`) -> "
                               "the exception that leaves the statement, or None")
CATCH = _op("catch", "catch -> the exception that arrived: first instruction of a handler block", writes(ERRORS))
EXC_ENTER = _op("exc_enter", "exc_enter (exception) -> previous: the exception becomes the handled one (sys.exc_info)",
                writes(ERRORS))
EXC_LEAVE = _op("exc_leave", "exc_leave (previous): the handled exception is `previous` again; no result",
                writes(ERRORS))
WITH_LEAVE = _op("with_leave", "with_leave (__exit__ of a context manager, exception) -> its result: true ends the "
                               "exception")
MATCH_SEQUENCE = _op("match_sequence", "match_sequence (subject) -> bool: whether it is a sequence for `match`", 0)
MATCH_MAPPING = _op("match_mapping", "match_mapping (subject) -> bool", 0)
MATCH_KEYS = _op("match_keys", "match_keys (subject, keys tuple) -> tuple of values or None")
MATCH_REST = _op("match_rest", "match_rest (subject, keys tuple) -> dict of the items of all other keys")
MATCH_CLASS = _op("match_class", "match_class {count, kwnames} (subject, class) -> tuple of attributes or None")
LENGTH = _op("length", "length (x) -> int: GET_LEN of sequence patterns")
YIELD = _op("yield", "yield (value) -> value sent in")
GENERATOR_STATE = _op("generator_state", "generator_state {step} (generator function, live values...) -> the state "
                                         "from which step `step` continues", 0)
POLL = _op("poll_signals",
           "poll_signals: a jump back inside a protected range, where an interrupt would be raised; no result")
BUILTIN = _op("builtin", "builtin {name}: LOAD_ASSERTION_ERROR and the like -> the class", 0)
UNSUPPORTED = _op("unsupported",
                  "unsupported {construct, hint}: a located compile error if control can reach it; any operands")

GENERIC_OPS = {op.name: op for op in list(globals().values()) if isinstance(op, Op)}
