"""Specialisations: compiled forms of a function, which are found in memory or on disk, or made by the compiler, and
then linked.

An *Entry* is object code whose references are relative to the function object, so that it also serves another closure
or lambda with the same code and equal captured values. Linking it to a function object makes a *Native*: loaded code
with the objects and expected values of that function. Entries live as long as some Native uses them; the last few
entries of a code object live as long as the code object, since a lambda made in a loop may be freed before the next one
is made.
"""
from __future__ import annotations

import ctypes
import sys
import weakref
from collections import deque
from importlib.machinery import SourceFileLoader
from types import ModuleType

from ..base.forks import COMPILE
from ..base.lazy import lazy
from ..base.options import Options
from ..base.stack import COMPILING, DEPTH, with_stack
from ..base.trace import COUNTED, timed
from ..base.uncollected import Uncollected
from ..runtime.loader import Image, LoadError, load, provide
from ..types.kinds import CONTAINERS
from . import portable
from .portable import ABSENT

__all__ = ["Entry", "Native", "alone", "entry_of", "find", "make", "link", "profiled", "statistics"]

stages = lazy("pyjitc.pipeline.stages")
cache = lazy("pyjitc.pipeline.cache")
linecache = lazy("linecache")

_ATTEMPTS = 8
statistics = dict.fromkeys(COUNTED, 0)  # of the whole process


def _count(what: str, own: dict[str, int]) -> None:
    statistics[what] += 1
    own[what] += 1


def alone(function, *args):
    """The result of function(*args), which may compile: one thread at a time, on a large enough stack. The lock is
    taken on that stack, because a finaliser that runs during a compile may compile, too."""
    return with_stack(COMPILING, _locked, function, *args, calls=DEPTH)


def _locked(function, *args):
    with COMPILE:
        return function(*args)


class Entry:
    """The object code of one specialisation. object: files that are loaded as one; runtime: those that are loaded
    before; objects: (symbol, recipe) pairs; guards: (symbol, path, key, fingerprint, numbers of
    `portable.shared_by`)."""

    __slots__ = ("object", "runtime", "entry", "next", "result", "objects", "guards", "__weakref__")

    def __init__(self, object: tuple[bytes, ...], runtime: tuple[bytes, ...], entry: str, next: str,
                 result: str, objects, guards):
        self.object = object
        self.runtime = runtime
        self.entry = entry
        self.next = next
        self.result = result
        self.objects = tuple(objects)
        self.guards = tuple(guards)

    @property
    def size(self) -> int:
        """The number of bytes of the object code."""
        return sum(map(len, self.object))

    @property
    def variant(self) -> tuple:
        return self.object, self.runtime, self.entry, self.next, self.result, self.objects, self.guards


class Native:
    """An Entry linked to a function object. guards: [word address or None, container, key, fingerprint, present value];
    guarded: the stub compares all of them, so that it may be called without a call of `changed`. origin: 'compiled',
    'memory' or 'disk'; seconds: the time to get it."""

    __slots__ = ("entry", "image", "address", "next", "guards", "guarded", "active", "origin", "seconds")

    def __init__(self, entry: Entry, image: Image, guards: list[list]):
        self.entry = entry
        self.image = image
        self.address = image.address(entry.entry)
        self.next = image.address(entry.next)
        self.guards = guards
        self.guarded = all(guard[0] is not None for guard in guards)
        self.active = image.symbols.get("pyjitc_active")
        self.origin = "compiled"
        self.seconds = 0.0

    def changed(self) -> list[list]:
        """The guards whose value is now another object, as [guard, value] pairs."""
        found = []
        for guard in self.guards:
            now = portable.lookup(guard[1], guard[2])
            if now is not guard[4]:
                found.append([guard, now])
        return found

    def stale(self) -> bool:
        """Whether a list on which the code depends contains items of other types than at compile time."""
        return any([any([type(x) in CONTAINERS for x in portable.objects_in(guard[4])])
                    and portable.fingerprint(guard[4]) != guard[3] for guard in self.guards])

    def refresh(self, changes: list[list]) -> bool:
        """Accept new objects with an equal meaning. False where the code must be linked or compiled again."""
        inside = {id(value) for value in self.image.objects.values()}
        for guard, now in changes:
            if portable.fingerprint(now) != guard[3] or any([id(x) in inside for x in portable.objects_in(guard[4])]):
                return False
        new = {id(guard): now for guard, now in changes}
        if portable.shared_by([guard[4] for guard in self.guards]) != portable.shared_by(
                [new.get(id(guard), guard[4]) for guard in self.guards]):
            return False
        for guard, now in changes:
            _expect(guard[0], now)
            guard[4] = now
        return True

    def busy(self) -> bool:
        """Whether a call may be running the code; True where that is not known."""
        return self.active is None or ctypes.c_int64.from_address(self.active).value != 0


def _expect(word: int | None, value) -> None:
    if word is not None:
        ctypes.c_void_p.from_address(word).value = 0 if value is ABSENT else id(value)


def profiled(function) -> str:
    """The name of the code in profilers, in the style of the interpreter's functions."""
    return f"{function.__qualname__}:{function.__code__.co_filename}"


def link(entry: Entry, roots) -> Native | None:
    """`entry` for roots (function, arguments...), or None when the function depends on other values."""
    guards = []
    objects = {}
    try:
        for symbol, path, key, expected, _ in entry.guards:
            container = portable.follow(path, roots)
            value = portable.lookup(container, key)
            if portable.fingerprint(value) != expected:
                return None
            guards.append([symbol, container, key, expected, value])
        if portable.shared_by([guard[4] for guard in guards], roots) != [guard[4] for guard in entry.guards]:
            return None
        for symbol, made in entry.objects:
            objects[symbol] = portable.rebuild(made, roots)
    except (LookupError, AttributeError, TypeError, ValueError):
        return None
    with timed("load"):
        provide(entry.runtime)
        image = load(entry.object, objects, title=profiled(roots[0]))
    for guard in guards:
        if guard[0] is not None:
            guard[0] = image.address(guard[0])
            _expect(guard[0], guard[4])
    _announce_source(roots[0])
    return Native(entry, image, guards)


def _announce_source(function) -> None:
    """Let tracebacks show lines of a module that does not come from a file of its own, such as one in a zip archive:
    entries of compiled functions do not say which loader has them."""
    loader = function.__globals__.get("__loader__")
    if type(loader) is not SourceFileLoader and hasattr(loader, "get_source"):
        linecache.lazycache(function.__code__.co_filename, function.__globals__)


class _Known:
    """The entries of one code object. entries: key -> weak references, the latest first; recent: strong references to
    the last ones."""

    __slots__ = ("entries", "recent")

    def __init__(self):
        self.entries: dict[tuple, list[weakref.ref]] = {}
        self.recent: deque[Entry] = deque(maxlen=16)


_table: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def _memory_keys(function, types, options: Options, form) -> tuple[tuple, ...]:
    """The keys of an entry: first for functions of the same module, whose entries may refer to objects that are found
    by their identity alone; last for all functions, such as an unpickled one, which has new globals. The key holds the
    module and not the address of its globals: a new dict may get the address of one that was freed."""
    # Equal code objects may come from different files, which tracebacks show.
    rest = function.__code__.co_filename, options._replace(cache=False), tuple(map(portable.type_key, types)), form
    module = sys.modules.get(function.__globals__.get("__name__"))
    if not isinstance(module, ModuleType) or vars(module) is not function.__globals__:
        return ((None, *rest),)
    return (weakref.ref(module), *rest), (None, *rest)


def find(function, types, options: Options, args, own: dict[str, int], form=None) -> Native | None:
    """A specialisation that is valid for this function object, linked; from memory, or else from disk. own: the
    statistics of the function; form: the kind of entry, see `stages.compile_signature`."""
    roots = (function, *args)
    keys = _memory_keys(function, types, options, form)
    known = _table.get(function.__code__)
    if known is not None:
        found = [ref() for key in keys for ref in known.entries.get(key, ())]
        for entry in {id(entry): entry for entry in found if entry is not None}.values():
            native = link(entry, roots)
            if native is not None:
                _count("memory", own)
                native.origin = "memory"
                return native
    if options.cache:
        with timed("cache"):
            name = cache.key_of(function, types, options, _target(form))
            variants = cache.read(name) if name is not None else []
        for variant in variants:
            try:
                native = link(Entry(*variant), roots)
            except (LoadError, TypeError, ValueError):  # written by another version of pyjitc, or damaged
                continue
            if native is not None:
                _count("disk", own)
                native.origin = "disk"
                _remember(function.__code__, keys, native.entry)
                return native
        _count("missed", own)
    return None


def _target(form) -> tuple:
    """The part of a file's key for the form."""
    return () if form is None else (type(form).__name__, tuple(form))


def make(function, types, options: Options, args, own: dict[str, int], form=None) -> Native:
    """Compile, store and link a specialisation; or use one that another process has compiled meanwhile."""
    key = cache.key_of(function, types, options, _target(form)) if options.cache else None
    if key is None:
        return _make(function, types, options, args, own, form)
    with cache.Making(key) as making:
        if making.waited:
            native = find(function, types, options, args, own, form)
            if native is not None:
                return native
        return _make(function, types, options, args, own, form)


def _make(function, types, options: Options, args, own: dict[str, int], form) -> Native:
    roots = (function, *args)
    for _ in range(_ATTEMPTS):
        with Uncollected():
            compiled = stages.compile_signature(function, types, options, form)
        _count("compiled", own)
        entry = entry_of(compiled, types, roots)
        native = link(entry, roots)
        if native is not None:  # otherwise another thread has changed a global meanwhile
            break
    else:
        raise RuntimeError(f"{function.__qualname__} changed while it was compiled")
    anywhere = portable.portable((entry.objects, entry.guards))
    keys = _memory_keys(function, types, options, form)
    _remember(function.__code__, keys if anywhere else keys[:-1], entry)
    if options.cache and anywhere:
        with timed("cache"):
            name = cache.key_of(function, types, options, _target(form))
            if name is not None and cache.write(name, entry.variant):
                _count("written", own)
    return native


def entry_of(compiled, types, roots) -> Entry:
    """The entry of compiled code for roots (function, arguments...), with references relative to these."""
    paths = portable.Paths(roots, compiled.guards, types)
    return Entry(
        compiled.object, compiled.runtime, compiled.entry, compiled.next, str(compiled.result),
        [(symbol, portable.recipe(value, paths)) for symbol, value in compiled.objects.items()],
        [(g.symbol, paths.of(g.container), g.key, portable.fingerprint(g.value), shared) for g, shared in zip(
            compiled.guards, portable.shared_by([g.value for g in compiled.guards], roots))])


def _remember(code, keys, entry: Entry) -> None:
    known = _table.get(code)
    if known is None:
        known = _table[code] = _Known()
    for key in keys:
        known.entries[key] = [weakref.ref(entry), *(r for r in known.entries.get(key, ()) if r() is not None)]
    if keys:
        known.recent.append(entry)
