"""Compiled code on disk, keyed by content.

The key of a file is a hash of the function's code, the argument types, the options, the versions of everything involved
and the processor. A file holds a few *variants*, one for each set of values on which the code depends: globals, cells,
callees' code (see `portable.fingerprint`); in a source tree of pyjitc it also has the state of the modules that made
the code. Looking up needs neither the compiler nor llvmlite.

Every failure here (no space, no permission, a damaged file, another process at the same time, a process that is killed)
counts as a miss, never as an error: files are replaced atomically and contain a checksum. A folder or a file that
others may write is not used, because its content is executed.

All files together keep within the size limit: the least recently used ones are removed first. The file `size` holds a
number of bytes that the others do not exceed, which each process that adds a file increases while it holds a lock; only
where that reaches the limit are all folders read and files removed, a tenth of the limit at once.
"""
from __future__ import annotations

import marshal
import os
import stat
import sys
import time
import warnings

import numpy as np

from ..base.finder import STATES
from ..base.kept import digest
from ..base.lazy import lazy
from ..base.options import Options, environment
from ..base.trace import timed
from ..runtime.loader import LoadError
from ..runtime.platform import cpu_identity, numpy_core, take_as_checked
from . import portable

__all__ = ["Making", "key_of", "read", "write", "kept", "folder", "of_images", "sources", "unchanged", "unsafe",
           "limit", "Variant", "versions"]

_fcntl = lazy("fcntl")  # needed only for a compile, which takes longer than the import
_shared = lazy("pyjitc.codegen.shared")
_PACKAGE = __name__.partition(".")[0]
_MAGIC = b"pyjitc2\n"
_MAX_VARIANTS = 8
_MEGABYTES = 256  # the limit, unless PYJITC_CACHE_SIZE is set
_MINUTE, _HOUR = 60.0, 3600.0
_PATIENCE = 30.0  # seconds for which a process waits for the compile of another
_BRIEFLY = 2.0  # seconds for which it waits to add a file
_TOTAL = "size"  # the name of the file with the size of the others
_IO_ERRORS = (OSError, ValueError, TypeError, EOFError, KeyError, IndexError, AttributeError)

# A variant: (objects that are loaded as one, objects of the helpers they call, entry, next, result text, {symbol:
# recipe} as pairs, guards as (symbol, path, key, fingerprint, shared numbers)); for a kernel (its parts, guards of
# `portable.keep`).
Variant = tuple
_versions: list[str] = []
of_images: set[str] = set()  # the files of sources() for each image that was read (images.py)
_looked_at: dict[str, bool] = {}  # folder -> whether it may be used


def key_of(function, types, options: Options, target=()) -> str | None:
    """The key of `function` for argument `types`, or None when it cannot be stored on disk. target: further
    dependencies of the code, where it is not for this processor."""
    parts = tuple(map(portable.type_key, types))
    if not portable.portable(parts):
        return None
    text = repr((portable.code_hash(function.__code__), parts, tuple(options._replace(cache=False)), versions(),
                 environment("PYJITC_BLAS"), *target))
    return digest(text.encode("utf-8", "surrogatepass")).hex()


def versions() -> str:
    """A digest of the versions of everything that makes the code, computed once for each process."""
    if not _versions:
        parts = (sys.version, sys.abiflags, np.__version__, _state(os.stat(numpy_core().__file__)), _llvmlite_state(),
                 _own_state(), cpu_identity())
        _versions.append(digest(repr(parts).encode("utf-8", "surrogatepass")).hex())
    return _versions[0]


def _llvmlite_state() -> str:
    """A key of the version of llvmlite, without importing it."""
    for folder in sys.path:
        try:
            return _state(os.stat(f"{folder or os.curdir}/llvmlite/_version.py"))
        except OSError:
            pass
    return ""


def _own_state() -> str:
    """A key of this version of pyjitc: for an installed package the record of its installation; for a source tree its
    folder, since each file names the modules that made its code (see `sources`)."""
    root = _root()
    return f"{root} {_installation(root)}"


def _root() -> str:
    return sys.modules[_PACKAGE].__path__[0]


def _installation(root: str) -> str:
    """The state of the record of the installation; an empty text for a source tree."""
    above, name = os.path.split(root)
    version = sys.modules[_PACKAGE].__version__
    try:
        record = os.stat(os.path.join(above, f"{name}-{version}.dist-info", "RECORD"))
        return f"{version} {record.st_ino} {_state(record)}"
    except OSError:
        return ""


def sources() -> dict[str, tuple[int, int]]:
    """The files of a source tree that may have had a part in a compile, those of all modules that are loaded or were
    when an image was made that this process has read, with the size and time of modification of each when it was
    loaded. Only these are compared when the code is read: asking for the state of every file takes as long as all the
    rest of a warm first call."""
    root = _root()
    if _installation(root):
        return {}
    files = [*_loaded(), *of_images]
    _ask(files)
    return {file: STATES[file] for file in files}


def _loaded() -> list[str]:
    """The files of the modules of this package that are loaded."""
    return [module.__file__ for name, module in list(sys.modules.items())
            if name.partition(".")[0] == _PACKAGE and getattr(module, "__file__", None)]


def _ask(files) -> None:
    """Add the states of files that were not imported in this process, or were imported in another way."""
    for file in files:
        if file not in STATES:
            found = os.stat(file)
            STATES[file] = found.st_size, found.st_mtime_ns


def unchanged(sources: dict[str, tuple[int, int]]) -> bool:
    """Whether the files of `sources` are still as they were."""
    _ask(sources.keys() - STATES.keys())
    return sources.items() <= STATES.items()


def _state(file: os.stat_result) -> str:
    return f"{file.st_size} {file.st_mtime_ns}"


def folder() -> str:
    """The folder for files (which may not exist yet)."""
    chosen = environment("PYJITC_CACHE_DIR")
    if chosen:
        return chosen
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "pyjitc")


def limit() -> int:
    """The number of bytes that the cache may hold."""
    try:
        return int(max(float(environment("PYJITC_CACHE_SIZE")), 0.0) * 1e6)
    except (ValueError, OverflowError):
        return _MEGABYTES * 1_000_000


def unsafe(directory: str) -> str:
    """The reason why the content of a folder cannot be trusted, or an empty text. Raises OSError where there is no such
    folder."""
    state = os.stat(directory)
    if state.st_uid != os.geteuid():
        return "belongs to another user"
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "may be written by others"
    return ""


def _usable(directory: str) -> bool:
    """Whether the cache may use a folder, which is checked once for each process. A warning names a folder that the
    user can repair."""
    found = _looked_at.get(directory)
    if found is None:
        why = unsafe(directory)
        found = _looked_at[directory] = not why
        if "others" in why:
            warnings.warn(f"pyjitc keeps no compiled code in {directory}: the folder {why}, and what lies there is "
                          f"run; write `chmod go-w {directory}`, or choose another with PYJITC_CACHE_DIR",
                          RuntimeWarning, 2)
    return found


def _file(key: str) -> str:
    return os.path.join(folder(), key[:2], key[2:])


def read(key: str) -> list[Variant]:
    """The variants of a function stored under `key`, the latest first; [] on any failure."""
    variants = _read(key)[1]
    if variants:  # the process that wrote them has checked the layouts, with the same Python and NumPy
        take_as_checked()
    return variants


def _read(key: str) -> tuple[dict[str, tuple[int, int]], list[Variant]]:
    """The content of the file for `key`, see `sources` and `read`."""
    if environment("PYJITC_DUMP") not in ("", "0"):  # a dump of the IR of a compile needs the compile
        return {}, []
    path = _file(key)
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            if state.st_uid != os.geteuid() or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or not _usable(folder()):
                return {}, []  # another user could have written it
            data = file.read()
        if time.time() - state.st_mtime > _MINUTE:
            os.utime(path)  # marks the file as used, for _trimmed
        header = len(_MAGIC) + 16
        if data[:len(_MAGIC)] != _MAGIC or digest(data[header:]) != data[len(_MAGIC):header]:
            return {}, []
        sources, *variants = marshal.loads(data[header:])
        return (sources, variants) if unchanged(sources) else ({}, [])
    except _IO_ERRORS:
        return {}, []


class Making:
    """`with Making(key):` around the compile of code that is to be stored under a key. If several processes need it at
    the same time, one compiles; the others wait, which `waited` says, and search again. Where files cannot be locked
    every process compiles, and so does one that has waited for long: the other may be waiting for something that this
    one holds."""

    __slots__ = ("path", "handle", "waited")

    def __init__(self, key: str):
        self.path = f"{_file(key)}.lock"
        self.handle = -1
        self.waited = False

    def __enter__(self):
        if _prepared(folder()):
            try:
                os.makedirs(os.path.dirname(self.path), 0o700, exist_ok=True)
                self.handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                self.waited = _waited(self.handle, _PATIENCE)
            except OSError:
                pass
            except BaseException:
                self.__exit__()
                raise
        return self

    def __exit__(self, *exception):
        if self.handle >= 0:
            try:
                os.unlink(self.path)
            except OSError:
                pass
            os.close(self.handle)
            self.handle = -1


def _waited(handle: int, patience: float) -> bool:
    """Lock an open file, or give up after `patience` seconds; returns whether another process had locked it."""
    until, pause, waited = time.monotonic() + patience, 0.001, False
    while time.monotonic() < until:
        try:
            _fcntl.flock(handle, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
            break
        except BlockingIOError:
            waited = True
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
    return waited


def _prepared(root: str) -> bool:
    """Whether the folder of the cache exists, or was made now, and may be used."""
    try:
        if not os.path.isdir(root):
            os.makedirs(os.path.dirname(os.path.abspath(root)), exist_ok=True)
            os.makedirs(root, 0o700, exist_ok=True)
        return _usable(root)
    except OSError:
        return False


def write(key: str, variant: Variant) -> bool:
    """Add a variant; returns whether that was possible within the limit."""
    path, root = _file(key), folder()
    temporary = f"{path}.{os.getpid()}.{id(variant):x}"
    try:
        if not _prepared(root):
            return False
        named, others = _read(key)
        same = [v for v in others if v[-1] != variant[-1]]
        payload = marshal.dumps(({**named, **sources()}, variant, *same[:_MAX_VARIANTS - 1]))
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(handle, "wb") as file:
                file.write(_MAGIC + digest(payload) + payload)
            added = _added(root, temporary, path, len(_MAGIC) + 16 + len(payload))
        except BaseException:
            os.unlink(temporary)
            raise
        if not added:
            os.unlink(temporary)
        return added
    except _IO_ERRORS:
        return False


def kept(function, types, options: Options, target: tuple, make, flatten, restore):
    """The code of a kernel: from disk if code there is valid for `function`, otherwise the result of `make()`, which is
    then written. The code has `guards`. flatten(code): its parts as plain values; restore(parts, guards): the code."""
    name = None
    if options.cache:
        with timed("cache"):
            name = key_of(function, types, options, target)
            for variant in _read(name)[1] if name is not None else ():
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


def _added(root: str, temporary: str, path: str, size: int) -> bool:
    """Give a file its name, after others were removed where there is no room for it; False if it exceeds the limit."""
    handle = os.open(os.path.join(root, _TOTAL), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            _waited(handle, _BRIEFLY)
        except OSError:
            pass  # files cannot be locked there: the number may be too small until the folders are read again
        most, digits = limit(), os.read(handle, 20)
        held = int(digits) if digits.isdigit() else None  # None: the cache is new, or of an earlier version
        fits = size <= most
        if held is None or held + size > most:
            held = _trimmed(root, temporary, min(most * 9 // 10, most - size) if fits else most)
        if fits:
            held += size
        os.pwrite(handle, b"%020d" % held, 0)  # before the file is there: this process may be killed in between
        if fits:
            os.replace(temporary, path)
        return fits
    finally:
        try:
            _fcntl.flock(handle, _fcntl.LOCK_UN)  # a process that was forked meanwhile has the file open, too
        except OSError:
            pass
        os.close(handle)


def _trimmed(root: str, own: str, most: int) -> int:
    """Remove the least recently used files until the others have `most` bytes, and files that killed processes have
    left an hour ago; returns how many bytes stay. own: a temporary file that counts for nothing."""
    found = [(state.st_mtime, state.st_size, path) for path, state in _states(root) if path != own]
    held, now = sum(size for _, size, _ in found), time.time()
    for used, size, path in sorted(found):
        in_work = "." in os.path.basename(path) and not path.endswith(_shared.STUB)  # a temporary file, or a lock
        if now - used > _HOUR if in_work else held > most:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass  # another process has removed it
            except OSError:
                continue
            held -= size
    return held


def _states(root: str):
    """(path, state) of all files of the cache, and of the stubs that the package keeps for all functions."""
    folders = [entry.path for entry in os.scandir(root) if len(entry.name) == 2 and entry.is_dir()]
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    yield entry.path, entry.stat(follow_symlinks=False)
                except OSError:
                    pass  # another process has removed it
    for path in _shared.stubs():
        try:
            yield path, os.stat(path)
        except OSError:
            pass
