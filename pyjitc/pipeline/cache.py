"""Compiled code on disk, keyed by content.

The key of a file is a hash of the function's code, the argument types, the options, the versions of everything
involved and the processor. A file holds a few *variants*, one for each set of values the code depends on: globals,
cells, callees' code (see `portable.fingerprint`). Looking up needs neither the compiler nor llvmlite.

Whatever goes wrong here (no space, no permission, a damaged file, another process at the same time) is a miss,
never an error: files are replaced in one step and carry a checksum.
"""
from __future__ import annotations

import marshal
import os
import sys
from _blake2 import blake2b  # hashlib would load OpenSSL: as much time as all the rest of a warm first call
from importlib.machinery import PathFinder

import numpy as np

from ..base.options import Options, environment
from ..base.trace import timed
from ..runtime.loader import LoadError
from ..runtime.platform import cpu_identity
from . import portable

__all__ = ["key_of", "read", "write", "kept", "folder", "Variant"]

_MAGIC = b"pyjitc1\n"
_MAX_VARIANTS = 8
_MAX_FILES = 400  # in each of 256 folders
_IO_ERRORS = (OSError, ValueError, TypeError, EOFError, KeyError, IndexError)

# A variant: (object, objects of the helpers it calls, entry, next, result text, {symbol: recipe} as pairs, guards as
# (symbol, path, key, fingerprint)); of a kernel (its parts, guards of `portable.keep`).
Variant = tuple
_versions: list[str] = []


def key_of(function, types, options: Options, target=()) -> str | None:
    """The key of `function` for argument `types`, or None when it cannot be kept on disk. target: what else the code
    depends on, where it is not for this processor."""
    parts = tuple(map(portable.type_key, types))
    if not portable.portable(parts):
        return None
    text = repr((portable.code_hash(function.__code__), parts, tuple(options._replace(cache=False)), _environment(),
                 *target))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def _environment() -> str:
    """Versions of all that makes the code, once a process."""
    if not _versions:
        _versions.append(repr((sys.version, np.__version__, _package_state("llvmlite", ("_version.py",)),
                               _package_state(__name__.partition(".")[0], None), cpu_identity())))
    return _versions[0]


def _package_state(name: str, files: tuple[str, ...] | None) -> list:
    """Names, sizes and times of a package's files (all Python files, or those named), without importing it."""
    spec = sys.modules[name].__spec__ if name in sys.modules else PathFinder.find_spec(name)
    found: list = []
    waiting = list(spec.submodule_search_locations or ()) if spec else []
    root = len(waiting[0]) if waiting else 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    if files is None or entry.name in files:
                        state = entry.stat()
                        found.append((entry.path[root:], state.st_size, state.st_mtime_ns))
                elif files is None and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return sorted(found)


def folder() -> str:
    """Where files go (it may not exist yet)."""
    chosen = environment("PYJITC_CACHE_DIR")
    if chosen:
        return chosen
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "pyjitc")


def _file(key: str) -> str:
    return os.path.join(folder(), key[:2], key[2:])


def read(key: str) -> list[Variant]:
    """The variants kept under `key`, the latest first; [] for whatever reason."""
    try:
        with open(_file(key), "rb") as file:
            state = os.fstat(file.fileno())
            if state.st_uid != os.geteuid() or state.st_mode & 0o022:
                return []  # somebody else could have written it
            data = file.read()
        header = len(_MAGIC) + 16
        if data[:len(_MAGIC)] != _MAGIC or blake2b(data[header:], digest_size=16).digest() != data[len(_MAGIC):header]:
            return []
        return list(marshal.loads(data[header:]))
    except _IO_ERRORS:
        return []


def write(key: str, variant: Variant) -> bool:
    """Add a variant; whether that worked."""
    path = _file(key)
    temporary = f"{path}.{os.getpid()}.{id(variant):x}"
    try:
        same = [v for v in read(key) if v[-1] != variant[-1]]
        payload = marshal.dumps((variant, *same[:_MAX_VARIANTS - 1]))
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(handle, "wb") as file:
                file.write(_MAGIC + blake2b(payload, digest_size=16).digest() + payload)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        _trim(os.path.dirname(path))
        return True
    except _IO_ERRORS:
        return False


def kept(function, types, options: Options, target: tuple, make, flatten, restore):
    """Code of a kernel: from disk where some is there that holds for `function`, otherwise what `make()` gives, which
    is written. The code has `guards`. flatten(code): its parts as plain values; restore(parts, guards): the code."""
    name = None
    if options.cache:
        with timed("cache"):
            name = key_of(function, types, options, target)
            for variant in read(name) if name is not None else ():
                try:
                    parts, expected = variant
                    guards = portable.restore(expected, (function,))
                    if guards is not None:
                        return restore(parts, guards)
                except (LookupError, AttributeError, TypeError, ValueError, LoadError):
                    continue
    made = make()
    if name is not None:
        with timed("cache"):
            expected = portable.keep(made.guards, (function,))
            if expected is not None:
                write(name, (flatten(made), expected))
    return made


def _trim(directory: str) -> None:
    """Keep a folder from growing without end: the oldest half goes."""
    names = os.listdir(directory)
    if len(names) > _MAX_FILES:
        paths = sorted((os.path.join(directory, name) for name in names), key=os.path.getmtime)
        for path in paths[:len(paths) // 2]:
            os.unlink(path)
