"""The name `numba` for this package: `install()` before the first `import numba`.

Afterwards `numba` and its submodules are those of this package. Modules of Numba without a counterpart can be imported,
and their names raise errors when they are used; modules that Numba does not have raise ModuleNotFoundError.
"""
from __future__ import annotations

import importlib
import importlib.machinery
import sys

from .absent import PRIVATE, private_module

__all__ = ["install", "module", "package_attribute"]

_PACKAGE = __package__
_ROOT = "numba"
# Modules of Numba -> modules here that contain their names.
_PLACES = {
    "types": "types", "errors": "errors", "config": "config", "extending": "extending", "core.types": "types",
    "core.errors": "errors", "core.config": "config", "core.extending": "extending",
    "core.decorators": "decorators", "core.dispatcher": "core.dispatcher", "core.typing.typeof": "special",
    "misc.special": "special", "special": "special", "np.numpy_support": "np.numpy_support",
    "np.ufunc": "np.ufunc", "np.types": "types", "typed": "typed", "typed.typedlist": "typed",
    "typed.typeddict": "typed", "experimental": "experimental", "experimental.jitclass": "experimental",
    "experimental.jitclass.base": "experimental", "experimental.structref": "structref",
    "extending.overload": "extending",
    **dict.fromkeys(("core.imputils", "core.datamodel", "core.datamodel.models", "core.datamodel.registry",
                     "core.pythonapi", "core.typing.templates", "core.boxing"), "core.registrations"),
    **dict.fromkeys(("np.extensions", "np.unsafe.ndarray", "cpython.unsafe.tuple"), "np.extensions"),
    "np.linalg": "np.linalg", "core.sigutils": "core.sigutils", "core.caching": "core.caching",
    "core.registry": "core.registry", "core.utils": "core.utils", "core.withcontexts": "core.withcontexts",
    "cuda": "cuda", "cuda.libdevice": "libdevice", "core.cgutils": "core.cgutils", "core.typing": "core.typing",
    "core": "core", "np": "np", "misc": "misc", "core.types.abstract": "types", "core.types.common": "types",
    "core.types.containers": "types", "core.types.npytypes": "types", "core.types.scalars": "types",
    "core.types.misc": "types", "core.types.functions": "types", "core.types.function_type": "types",
    "core.types.iterators": "types", "np.ufunc.decorators": "np.ufunc",
}


def module(path: str):
    """The module in place of numba.<path>, or None where Numba has no such module."""
    if not path:
        return sys.modules[_PACKAGE]
    if path.startswith("cuda."):
        try:
            return importlib.import_module(f"{_PACKAGE.rpartition('.')[0]}.{path}")
        except ModuleNotFoundError:
            if path not in PRIVATE:
                return None
    if path in _PLACES:
        found = importlib.import_module(f"{_PACKAGE}.{_PLACES[path]}")
        if not hasattr(found, "__path__"):  # in Numba some of these are packages
            found.__path__ = []
        return found
    if path in PRIVATE:
        name = f"{_PACKAGE}.{path}"
        if name not in sys.modules:
            sys.modules[name] = private_module(path)
        return sys.modules[name]
    return None


def package_attribute(path: str):
    """The `__getattr__` of the package numba.<path>: its submodules."""
    def get(name: str):
        found = None if name.startswith("_") else module(f"{path}.{name}")
        if found is None:
            raise AttributeError(f"module 'numba.{path}' has no attribute {name!r}")
        return found

    return get


class _Finder:  # importing importlib.abc would cost 5 ms
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
    """Make `import numba` import this package from now on. Raises RuntimeError where Numba itself was imported
    before."""
    known = sys.modules.get(_ROOT)
    if known is sys.modules[_PACKAGE]:
        return
    if known is not None:
        raise RuntimeError("numba was imported before pyjitc.numba.install(): call it first")
    sys.meta_path.insert(0, _Finder(_ROOT))
    sys.modules[_ROOT] = sys.modules[_PACKAGE]


def serve_own() -> None:
    """Make submodules with Numba's names that are no files of this package importable, such as
    pyjitc.numba.core.types."""
    sys.meta_path.append(_Finder(_PACKAGE))
