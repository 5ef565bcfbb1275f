"""Drop functions: helpers that release the references in a value, one for each layout (`ops/layouts.py`), so that types
of one layout share it.

`pyj_drop_box_...` gives up a reference to a cell or an iterator, and what it holds where that was the last;
`pyj_drop_all_...` gives up the references in a tuple or a union, each an argument.
"""
from __future__ import annotations

import re

from ..ops.layouts import components_of, giver

__all__ = ["text_of"]

_BOX, _ALL = "pyj_drop_box_", "pyj_drop_all_"


def text_of(name: str) -> str:
    parts = components_of(name[len(_BOX):])
    if not re.fullmatch("(box|all)_([naoCLRE]|B[a-z])*", name[len("pyj_drop_"):]):
        raise KeyError(name)
    if name.startswith(_ALL):
        given = "".join([f"\n  call void @{giver(part)}(ptr %x{k})" for k, part in enumerate(parts)])
        return f"""
define internal void @{name}({", ".join([f"ptr %x{k}" for k in range(len(parts))])}) nounwind noinline {{{given}
  ret void
}}"""
    given = "".join([f"""
  %x{k} = load ptr, ptr (getelementptr i8, ptr %box, i64 {16 + 8 * k}), align 8
  call void @{giver(part)}(ptr %x{k})""" for k, part in enumerate(parts) if part != "n"])
    return f"""
define internal void @{name}(ptr %box) nounwind noinline {{
  br i1 (call i1 @pyj_drop(ptr %box)), label %dead, label %done
dead:{given}
  call void @free(ptr %box)
  br label %done
done:
  ret void
}}"""
