"""Generic IR as text, and the result of inference: cases/*.ir. `python -m tests.infer.test_cases --update` writes the
expected results.

A case: `# case: what it shows`, `# types: int, float` of the arguments, a generic function `f`, and `# expect:` with
typed IR, or with the expected error. Names of globals are Python's builtins.
"""
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from pyjitc.base.errors import CompileError
from pyjitc.base.options import Options
from pyjitc.front import functions
from pyjitc.infer.specialise import specialise
from pyjitc.ir.parse import parse, parse_module
from pyjitc.ir.show import show_module
from pyjitc.ir.verify import verify, verify_module
from pyjitc.pipeline import stages
from pyjitc.ops.table import GENERIC
from pyjitc.types.text import parse as parse_type

FOLDER = Path(__file__).parent / "cases"


class Case(NamedTuple):
    name: str
    types: tuple
    head: str
    before: str
    after: str


def read(path):
    for text in re.split(r"(?m)^(?=# case: )", path.read_text())[1:]:
        head, fn, rest = text.partition("fn ")
        before, _, after = (fn + rest).partition("# expect:")
        types = re.search(r"(?m)^# types: ?(.*)$", head)[1]
        yield Case(re.search(r"# case: (.*)", head)[1], tuple(map(parse_type, filter(None, types.split("; ")))), head,
                   before, after.strip() + "\n")


def result(case):
    generic = parse(case.before, GENERIC)
    verify(generic, generic=True)
    space: dict = {"__name__": "program"}
    exec(f"def f({', '.join(p.name for p in generic.params)}): pass", space)
    whole = functions.prototype_of(space["f"])

    def build(proto, as_objects):
        return generic if proto is whole else stages.build(proto, as_objects)

    def prototype(function):
        return whole if function is space["f"] else functions.prototype_of(function)

    try:
        found = specialise(space["f"], case.types, library=stages.LIBRARY, build=build, prototype=prototype,
                           nested=functions.nested, options=Options())[0]
    except CompileError as error:
        return f"{error.diagnostic.message}\n"
    verify_module(found, "inference")
    return show_module([fn for fn in found if not fn.library])


CASES = {path.stem: list(read(path)) for path in sorted(FOLDER.glob("*.ir"))}


@pytest.mark.parametrize("case", [case for cases in CASES.values() for case in cases], ids=lambda case: case.name)
def test_case(case):
    assert result(case) == case.after


def test_generic_text_is_read_back():
    for cases in CASES.values():
        for case in cases:
            text = show_module(parse_module(case.before, GENERIC))
            assert show_module(parse_module(text, GENERIC)) == text


if __name__ == "__main__" and "--update" in sys.argv:
    for path in sorted(FOLDER.glob("*.ir")):
        text = "\n".join(f"{case.head}{case.before.rstrip()}\n# expect:\n{result(case)}" for case in read(path))
        if text != path.read_text():
            path.write_text(text)
            print("rewritten:", path.name)
