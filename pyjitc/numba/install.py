"""The name `numba` for this package: `install()` before the first `import numba`.

`numba` and the modules below it are the ones of this package then. Modules of Numba that have no counterpart are there
with names that raise when they are used, so that what imports them is imported; modules that Numba never had raise
ModuleNotFoundError.
"""
from __future__ import annotations

import importlib
import importlib.machinery
import sys

from .absent import PRIVATE, private_module

__all__ = ["install", "module"]

_PACKAGE = __package__
_ROOT = "numba"
# Modules of Numba -> those here that have their names.
_PLACES = {
    "types": "types", "errors": "errors", "config": "config", "extending": "extending", "core.types": "types",
    "core.errors": "errors", "core.config": "config", "core.extending": "extending",
    "core.decorators": "decorators", "core.dispatcher": "core.dispatcher", "core.typing.typeof": "special",
    "misc.special": "special", "special": "special", "np.numpy_support": "np.numpy_support",
    "np.ufunc": "np.ufunc", "np.types": "types", "typed": "typed", "typed.typedlist": "typed",
    "typed.typeddict": "typed", "experimental": "experimental", "experimental.jitclass": "experimental",
    "experimental.jitclass.base": "experimental", "experimental.structref": "structref",
    "extending.overload": "extending",
    "core.registry": "core.registry", "core.utils": "core.utils", "core.withcontexts": "core.withcontexts",
    "core.cgutils": "core.cgutils", "core.typing": "core.typing", "core": "core",
    "np": "np", "misc": "misc", "core.types.abstract": "types", "core.types.common": "types",
    "core.types.containers": "types", "core.types.npytypes": "types", "core.types.scalars": "types",
    "core.types.misc": "types", "core.types.functions": "types", "np.ufunc.decorators": "np.ufunc",
}


def module(path: str):
    """The module that stands for numba.<path>, or None where Numba has no such module."""
    if not path:
        return sys.modules[_PACKAGE]
    if path == "cuda" or path.startswith("cuda."):
        try:
            return importlib.import_module(f"{_PACKAGE.rpartition('.')[0]}.{path}")
        except ModuleNotFoundError:
            return None
    if path in _PLACES:
        found = importlib.import_module(f"{_PACKAGE}.{_PLACES[path]}")
        if not hasattr(found, "__path__"):  # in Numba some are packages
            found.__path__ = []
        return found
    if path in PRIVATE:
        name = f"{_PACKAGE}.{path}"
        if name not in sys.modules:
            sys.modules[name] = private_module(path)
        return sys.modules[name]
    return None


class _Finder:  # importlib.abc would cost 5 ms
    def __init__(self, root: str):
        self.root = root

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self.root and not fullname.startswith(self.root + "."):
            return None
        part = fullname[len(self.root) + 1:]
        if self.root == _PACKAGE and _PLACES.get(part) == part:
            return None
        found = module(part)
        if found is None:
            if self.root == _PACKAGE:
                return None  # a file of the package, or nothing
            raise ModuleNotFoundError(f"No module named {fullname!r}: Numba has none, or pyjitc has no counterpart",
                                      name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, made):
        sys.modules[made.__name__] = module(made.__name__[len(self.root) + 1:])


def install() -> None:
    """From here on `import numba` gives this package. RuntimeError where Numba itself was imported before."""
    known = sys.modules.get(_ROOT)
    if known is sys.modules[_PACKAGE]:
        return
    if known is not None:
        raise RuntimeError("numba was imported before pyjitc.numba.install(): call it first")
    sys.meta_path.insert(0, _Finder(_ROOT))
    sys.modules[_ROOT] = sys.modules[_PACKAGE]


def serve_own() -> None:
    """Names of Numba's modules below this package, `import pyjitc.numba.core.types`, that are no files of it."""
    sys.meta_path.append(_Finder(_PACKAGE))
