"""The parts of a module's text that LLVM optimises in different ways.

Its default pipeline is meant for code that can be vectorised and inlined, and takes ten times as long as the few passes
after which the loops of a library function marked `unvectorised` (lib/build.py) are nearly as good. A pipeline runs
over a whole module, so these functions are a module of their own, which is linked with the other before code is made.
Both are in one text, with a line between them.
"""
from __future__ import annotations

import re

__all__ = ["joined", "with_forms", "parted", "LINE", "FORMS", "FORM", "FEW_PASSES", "FEWEST",
           "PACKS", "STEPS", "REMAINDERS", "LIBRARY", "ORDERED", "BODY"]

LINE = "\n; novectorize\n"
FORMS = "\n; forms\n"  # marks the definitions of forms.py
FORM = "pyjitc_form_"  # the prefix of their names
REMAINDERS = "\n; remainders\n"  # in a text: the remainder of an unrolled loop is a loop of its own
LIBRARY = "pyjitc_library_"  # the prefix of the names of library functions that are images of their own
BODY = "pyjitc_body"  # what a stub that is a module of its own calls; the prefix of the name of that function
ORDERED = "\n; ordered\n"  # in a text: LLVM vectorises loops that sum floats in order
PACKS = "\n; packs\n"  # in a text: LLVM combines scalars to vectors
STEPS = "\n; steps\n"  # in a text: LLVM reduces the strength of addresses in loops
FEW_PASSES = "\n; few passes\n"  # in a text: a few passes are enough for the whole module
FEWEST = f"\n; not combined{FEW_PASSES}"  # and among these the pass that combines instructions is not needed
_DEFINED = r"(?m)^define (internal )?(.*?@([\w.]+)\(.*(?:\n {8,}.*)?\)) .*\{$"  # parameters may take two lines
_DECLARED = r"(?m)^(?:declare .*?@|@)([\w.]+)\b.*$"
_METADATA = r"(?m)^!(?:[0-9]+|llvm\.[\w.]+) = .*$"


def joined(text: str, bodies: list[str]) -> str:
    """The text of a module in which the functions `bodies` are a separate part. Each of the two parts declares what it
    uses of the other."""
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
    declared = {found[1]: found[0] for found in re.finditer(_DECLARED, text)}
    work = [line for name, line in declared.items() if name in used]
    for line in work:  # appended to: constants refer to others
        more = set(re.findall(r"@([\w.]+)", line)) - used
        used |= more
        work += [declared[name] for name in more if name in declared]
    needed = [line for name, line in declared.items() if name in used]
    return "\n".join([text, *own, LINE, *needed, *given, part.replace("define internal ", "define hidden "),
                      *re.findall(_METADATA, text)])


def with_forms(text: str, definitions: str) -> str:
    """The text of a module together with the definitions of vector variants."""
    return f"{text}{FORMS}{definitions}"


def parted(text: str) -> tuple[str, str, str]:
    """The parts of a text: the module; the functions that are not vectorised, or ""; the definitions of vector
    variants, or ""."""
    text, _, forms = text.partition(FORMS)
    head, _, part = text.partition(LINE)
    return head, part, forms
