"""The representation of compiled functions in a notebook: HTML without scripts."""
from __future__ import annotations

import os
from html import escape

from ..base.options import Options

__all__ = ["html"]

_CELL = "text-align:left;padding:2px 10px"
_ORIGINS = {"compiled": "compiled", "memory": "found in memory", "disk": "read from the disk cache"}


def html(function) -> str:
    """The specialisations of a function: a row for each signature, with the types of all arguments and of the
    result."""
    code = function.py_func.__code__
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    names = code.co_varnames[:count]
    changed = [f"{name}={value!r}" for name, value, usual in zip(Options._fields, function.options, Options())
               if value != usual]
    about = (f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
             + "".join(f" · {option}" for option in changed))
    head = (f'<div><code><b>{escape(function.__qualname__)}</b>({escape(", ".join(names))})</code> '
            f'<span style="opacity:.7">pyjitc · {escape(about)}</span></div>')
    if function._given_up:
        return f"{head}<div>runs in the interpreter: this Python has no place for native calls</div>"
    rows = []
    for types in function.signatures:
        native = function._natives[types]
        cells = [*(f"<code>{escape(str(t))}</code>" for t in types), f"<code>{escape(native.entry.result)}</code>",
                 _ORIGINS[native.origin], f"{native.seconds * 1e3:.1f} ms", f"{native.entry.size / 1e3:.1f} kB"]
        rows.append("<tr>" + "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells) + "</tr>")
    if not rows:
        return f"{head}<div>not compiled yet: the first call does, for the types of its arguments</div>"
    titles = "".join(f'<th style="{_CELL}">{escape(title)}</th>'
                     for title in (*names, "result", "code", "took", "size"))
    return f'{head}<table style="margin:4px 0"><thead><tr>{titles}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
