"""The modules with the protocols of the kinds of values: a compile loads those of the kinds that it meets.

A module listed here has them in `PROTOCOLS`; tests/lib/test_index.py compares the lists with the modules.
"""
from __future__ import annotations

import contextlib
import enum
import operator
from functools import partial

import numpy as np

from ..base.lazy import lazy
from ..types import kinds as k
from .protocol import declare, declare_object

__all__ = ["HOMES", "OBJECT_HOMES", "declare_all"]

_objects, _iteration = lazy("pyjitc.lib.py.objects"), lazy("pyjitc.lib.py.iteration")
_iterators = lazy("pyjitc.lib.np.iteration.iterators")

# Module -> the kinds whose protocols it has: one of their types, their class, or the name of a Struct.
HOMES: dict = {
    lazy("pyjitc.lib.py.scalars"): (k.Int, k.Float, k.Bool, k.Complex, k.NpBool, k.NpInt, k.NpFloat, k.NpComplex,
                                    k.NpTime),
    _objects: (k.Object, k.NoneType, k.Ellipsis_, k.Slice, k.DType, k.Function, k.FunctionObject, k.Method,
               k.Exception_, k.Iterator, k.Generator, k.Ended, "object_iterator"),
    lazy("pyjitc.lib.py.random_numbers"): (k.PythonRandom,),
    lazy("pyjitc.lib.py.texts"): (k.Str, k.Bytes, k.ByteArray, k.MemoryView),
    lazy("pyjitc.lib.py.textfn"): ("str_iterator", "bytes_iterator", "bytearray_iterator", "memory_iterator"),
    lazy("pyjitc.lib.py.ranges"): (k.Range, "range_iterator"),
    lazy("pyjitc.lib.py.displays"): (k.Tuple, k.ListDisplay, k.DictDisplay),
    lazy("pyjitc.lib.py.dicts"): (k.Dict, k.DefaultDict, k.OrderedDict_, k.CounterDict, k.DictKeys, k.DictValues,
                                  k.DictItems, "dict_keyiterator", "dict_valueiterator", "dict_itemiterator"),
    lazy("pyjitc.lib.py.sets"): (k.Set, k.FrozenSet, k.Deque, "set_iterator"),
    lazy("pyjitc.lib.py.tables"): ("container_iterator",),
    lazy("pyjitc.lib.py.any_length"): (k.TupleOf,),
    lazy("pyjitc.lib.py.lists"): (k.List, "list_iterator", "list_reverseiterator"),
    lazy("pyjitc.lib.py.natives"): (k.NativeList,),
    lazy("pyjitc.lib.py.typed"): ("typed_list_iterator", "typed_dict_keyiterator", "typed_dict_valueiterator",
                                  "typed_dict_itemiterator", "typed_set_iterator", "typed_dict_keys",
                                  "typed_dict_values", "typed_dict_items"),
    lazy("pyjitc.lib.py.instances"): (k.Attributes,),
    lazy("pyjitc.lib.py.ofclasses"): (k.ObjectOf, k.Super),
    lazy("pyjitc.lib.py.iterators"): ("chain", "zip_longest", "group", "now", "repeat", "tee"),
    _iteration: ("tuple_iterator", "array_iterator", "element_iterator", "enumerate", k.Zip, k.StrictZip, "map",
                 "filter"),
    lazy("pyjitc.lib.np.arrays.operations"): (k.Array,),
    lazy("pyjitc.lib.np.arrays.attributes"): (k.ArrayFlags, k.FlatArray),
    lazy("pyjitc.lib.np.arrays.records"): (k.RecordView,),
    _iterators: (k.Broadcast, "ndindex", "ndenumerate", "flatiter"),
    lazy("pyjitc.lib.np.random.random"): (k.Instance,),
}
# Module -> classes: it has the protocols of their objects that are known when a function is compiled.
OBJECT_HOMES: dict = {
    lazy("pyjitc.lib.py.getters"): (operator.itemgetter, operator.attrgetter, operator.methodcaller,
                                        contextlib.suppress),
    lazy("pyjitc.lib.py.enums"): (enum.EnumMeta, enum.Enum),
    _objects: (object, np.ufunc, np.finfo, np.iinfo, np.vectorize, dict, list, set, frozenset,
               bytearray, type(np.mgrid), type(np.ogrid), type(np.r_), type(np.c_)),
}


def declare_all() -> None:
    for table, add in ((HOMES, declare), (OBJECT_HOMES, declare_object)):
        for home, listed in table.items():
            for kind in listed:
                add(kind, partial(_protocol, home, type(kind) if isinstance(kind, k.Type) else kind))


def _protocol(home, key):
    return home.PROTOCOLS[key]
