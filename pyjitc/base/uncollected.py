"""Stretches of work that make many objects and hardly any garbage: an import, a compile.

Looking for cycles among what they make took a fifth of an import and a seventh of a first call, and more the larger the
program around it is.
"""
import gc
import sys

__all__ = ["Uncollected"]

_MANY = 3  # modules: where more were loaded, most of what was made will stay
# objects: 3.12 starts with some hundred; a program that freezes has thousands
_FROZEN = 1000 if sys.version_info[:2] == (3, 12) else 0


class Uncollected:
    """`with Uncollected():` no automatic garbage collection inside. The switch is the process's: put back at the end.

    Where modules were loaded inside, what was made is old at the end, as after the full collection that would be next:
    the collector need not go through it at once. What the program itself has frozen stays so.
    """

    __slots__ = ("collects", "modules")

    def __enter__(self):
        self.collects = gc.isenabled()
        self.modules = len(sys.modules)
        gc.disable()

    def __exit__(self, *exception):
        if self.collects:
            if len(sys.modules) > self.modules + _MANY and gc.get_freeze_count() <= _FROZEN:
                gc.freeze()
                gc.unfreeze()
            gc.enable()
