"""What the build of a wheel adds (`cmdclass` in setup.cfg): PYJITC_AS_NUMBA=1 holds for programs that never import
pyjitc, by a line that Python runs when it starts (`site` module, files that end in .pth)."""
import pathlib

from setuptools.command.build_py import build_py

__all__ = ["WithStart"]

LINE = ('import os; os.environ.get("PYJITC_AS_NUMBA", "0") not in ("", "0") and '
        '__import__("pyjitc.numba", fromlist=["install"]).install()\n')


class WithStart(build_py):
    """The command `build_py`, which writes that line beside the package."""

    def run(self):
        super().run()
        pathlib.Path(self.build_lib).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(self.build_lib) / "pyjitc_as_numba.pth").write_text(LINE)
