"""An importer for the package's modules with two system calls for each instead of ten: a first call imports about
ninety modules, and the import system takes longer to find most of them than to run them.

The modules that are found, and when source is compiled again, are the same as usual; unusual cases are left to the
import system.
"""
import marshal
import os
import sys
from _imp import _fix_co_filename
# importlib.util exports these, too, but takes long to import
from importlib._bootstrap_external import MAGIC_NUMBER, cache_from_source
from importlib.machinery import BuiltinImporter, ModuleSpec, SourceFileLoader
from types import ModuleType

__all__ = ["STATES", "find_quickly"]

# (size, time of modification in ns) of the files of modules, when they were last imported
STATES: dict[str, tuple[int, int]] = {}
_ROOM = 1 << 17  # bytes; longer code is cut off, so that marshal fails and the import system reads the module
# 0 -> memory for the code of a module. Each import uses it again, since the kernel would have to supply new pages for
# other memory. The entry is absent while a thread reads into it.
_SPARE: dict[int, bytearray] = {}
_NOTHING = compile("", "", "exec")


class _Spec(ModuleSpec):
    """A ModuleSpec with attributes instead of properties: each relative import asks for `parent`, and the import of a
    module several times for the others."""

    parent = cached = None
    has_location = True


class _Loader(SourceFileLoader):
    """found: the os.stat result of the file; cached: the path of its compiled code."""

    def __init__(self, name: str, path: str, found: os.stat_result, cached: str):
        self.name, self.path = name, path
        self.found = found
        self.cached = cached

    def create_module(self, spec):
        """A module with the attributes of its file: the import system would ask for each first, which raises and drops
        an error."""
        module = ModuleType(spec.name)
        module.__dict__.update(__file__=spec.origin, __cached__=spec.cached)
        return module

    def get_code(self, name: str):
        if not self.found.st_size:  # the file of a package in which there are only modules
            return _NOTHING
        stamp = int(self.found.st_mtime) & 0xFFFFFFFF, self.found.st_size & 0xFFFFFFFF
        try:
            file = os.open(self.cached, os.O_RDONLY | os.O_CLOEXEC)
            buffer = _SPARE.pop(0, None) or bytearray(_ROOM)
            try:
                size = os.readv(file, (buffer,))
            finally:
                os.close(file)
            # the head of a .pyc file: magic number, flags (0: checked by time and size), time, size (PEP 552)
            if buffer[:16] == MAGIC_NUMBER + bytes(4) + stamp[0].to_bytes(4, "little") + stamp[1].to_bytes(4, "little"):
                with memoryview(buffer) as data:
                    code = marshal.loads(data[16:size])
                _SPARE[0] = buffer
                # compiled under another name, for example by `python -m compileall` with a relative path
                if code.co_filename != self.path:
                    _fix_co_filename(code, self.path)
                return code
        except (OSError, ValueError, EOFError, TypeError, AttributeError):
            pass
        return super().get_code(name)


class _Finder:
    """Finds the modules below one package, before the finders of the import system are asked in turn. A path of
    compiled code is `before`, the folder of the source, `below`, the name of the module, and `after`."""

    def __init__(self, package: str, folder: str):
        self.inside = f"{package}."
        path, _, self.after = cache_from_source(os.path.join(folder, "*.py")).rpartition("*")
        self.before, _, self.below = path.rpartition(folder)

    def find_spec(self, name: str, path=None, target=None):
        """The spec of a module whose package is in the first folder of `path`; None where it is not there."""
        if not path or not name.startswith(self.inside):  # without a path: a module that stands for a package
            return None
        parent, _, tail = name.rpartition(".")
        folder = path[0]
        source, package = f"{folder}{os.sep}{tail}.py", None
        try:
            found = os.stat(source)
        except OSError:
            folder = package = f"{folder}{os.sep}{tail}"
            source, tail = f"{package}{os.sep}__init__.py", "__init__"
            try:
                found = os.stat(source)
            except OSError:
                return None
        STATES[source] = found.st_size, found.st_mtime_ns
        spec = _Spec(name, None, origin=source, is_package=package is not None)
        spec.parent = parent if package is None else name
        spec.cached = f"{self.before}{folder}{self.below}{tail}{self.after}"
        spec.loader = _Loader(name, source, found, spec.cached)
        if package is not None:
            spec.submodule_search_locations.append(package)
        return spec


def find_quickly(package: str, folder: str) -> None:
    """From now on use this importer for the modules of a package that lies in a folder. Finders that the program has
    put before those of the import system are asked first."""
    finders = sys.meta_path
    finders.insert(finders.index(BuiltinImporter) if BuiltinImporter in finders else 0, _Finder(package, folder))
