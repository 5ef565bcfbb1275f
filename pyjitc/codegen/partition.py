"""The text of a module in parts that LLVM optimises in different ways.

Its default pipeline is made for what may be vectorised and inlined, and takes ten times as long as the few passes after
which the loops of a library function marked `unvectorised` (lib/build.py) are nearly as good. It works on modules, so
these functions are a module of their own, which joins the other before code is made. The text of both is one, with a
line between them.
"""
from __future__ import annotations

import re

__all__ = ["joined", "with_forms", "parted", "LINE", "FORMS", "FORM", "FEW_PASSES", "PACKS"]

LINE = "\n; novectorize\n"
FORMS = "\n; forms\n"  # before what forms.py defines
FORM = "pyjitc_form_"  # the names of those begin so
PACKS = "\n; packs\n"  # in a text: LLVM looks for scalars that make a vector
FEW_PASSES = "\n; few passes\n"  # at the end of a text: the few passes are enough for the whole module
_DEFINED = r"(?m)^define (internal )?(.*?@([\w.]+)\(.*\)) .*\{$"
_DECLARED = r"(?m)^(?:declare .*?@|@)([\w.]+)\b.*$"
_METADATA = r"(?m)^![0-9]+ = .*$"


def joined(text: str, bodies: list[str]) -> str:
    """The text of a module of which the functions `bodies` are a part: each part declares what it uses of the other."""
    part = "\n".join(bodies)
    used = set(re.findall(r"@([\w.]+)", part))
    own = [f"declare {found[2]} nounwind" for found in re.finditer(_DEFINED, part)]
    given = []

    def shared(found):
        if found[3] not in used:
            return found[0]
        given.append(f"declare {found[2]} nounwind")
        return found[0].replace("define internal ", "define hidden ", 1)

    text = re.sub(_DEFINED, shared, text)
    needed = [found[0] for found in re.finditer(_DECLARED, text) if found[1] in used]
    return "\n".join([text, *own, LINE, *needed, *given, part.replace("define internal ", "define hidden "),
                      *re.findall(_METADATA, text)])


def with_forms(text: str, definitions: str) -> str:
    """The text of a module that forms for vectors belong to."""
    return f"{text}{FORMS}{definitions}"


def parted(text: str) -> tuple[str, str, str]:
    """The parts of a text: the module; the functions that are not vectorised, or ""; what defines its forms for
    vectors, or ""."""
    text, _, forms = text.partition(FORMS)
    head, _, part = text.partition(LINE)
    return head, part, forms
