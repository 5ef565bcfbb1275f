"""Commands for building the wheel (`cmdclass` in setup.cfg): PYJITC_AS_NUMBA=1 takes effect in programs that never
import pyjitc, by a line that Python runs at its start (`site` module, files that end in .pth)."""
import pathlib

from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

__all__ = ["EditableWithStart", "WithStart"]

FILE = "pyjitc_as_numba.pth"
LINE = ('import os; os.environ.get("PYJITC_AS_NUMBA", "0") not in ("", "0") and '
        '__import__("pyjitc.numba", fromlist=["install"]).install()\n')


class WithStart(build_py):
    """The command `build_py`, which also writes that line into a file next to the package."""

    def run(self):
        super().run()
        pathlib.Path(self.build_lib).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(self.build_lib) / FILE).write_text(LINE)


class EditableWithStart(editable_wheel):
    """The command of `pip install -e`, which adds the line to the finder of the package."""

    def _select_strategy(self, name, tag, build_lib):
        return _Added(super()._select_strategy(name, tag, build_lib))


class _Added:
    """A way to find the package, and the line."""

    def __init__(self, strategy):
        self.strategy = strategy

    def __enter__(self):
        self.strategy.__enter__()
        return self

    def __exit__(self, *error):
        return self.strategy.__exit__(*error)

    def __call__(self, wheel, files, mapping):
        self.strategy(wheel, files, mapping)
        wheel.writestr(FILE, LINE)
