"""Runs the examples of the documents and compares what they show.

python docs/pages.py [--update] [PAGE.md ...]

A ```python block runs in the namespace of its page, as a cell of a notebook does: the value of a last expression is
shown. A ```text block right after it, where there is one, is what it shows, to the character; `...` stands for any text
within a line, a line with nothing else for any lines. An exception that leaves the block is shown as the interpreter
would, and must be expected.
A comment `<!-- needs: jax -->` before a block: it runs where that package is installed. A ```sh block is run by the
shell, and may not fail; it sees as a file every ```python block whose first line is `# NAME.py`.

--update writes what the blocks show today into the pages.
"""
from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import io
import linecache
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))  # the package beside it, installed or not
PAGES = [ROOT / "README.md", *sorted(HERE.glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.S | re.M)


class Block(NamedTuple):
    """One ```python or ```sh block; expected: the ```text block after it, or None; place: where that lies in the
    page."""

    kind: str
    source: str
    line: int
    expected: str | None
    place: tuple[int, int] | None
    needs: str


def blocks(text: str) -> list[Block]:
    fences = list(_FENCE.finditer(text))
    found = []
    for k, fence in enumerate(fences):
        if fence[1] not in ("python", "sh"):
            continue
        after = fences[k + 1] if k + 1 < len(fences) else None
        shown = after is not None and after[1] == "text" and not text[fence.end():after.start()].strip()
        needs = re.search(r"<!-- needs: (\w+) -->\s*$", text[:fence.start()])
        found.append(Block(fence[1], fence[2], text.count("\n", 0, fence.start()) + 2, after[2] if shown else None,
                           after.span(2) if shown else None, needs[1] if needs else ""))
    return found


class Page:
    """The state in which the blocks of one page run, one after the other."""

    def __init__(self, path: pathlib.Path, folder: str):
        self.path = path
        self.folder = folder
        self.space = {"__name__": "__main__", "__builtins__": __builtins__}
        self.count = 0

    def run(self, block: Block) -> str | None:
        """What the block shows; None when it needs a package that is not there."""
        if block.needs and importlib.util.find_spec(block.needs) is None:
            return None
        return self._shell(block) if block.kind == "sh" else self._python(block)

    def _python(self, block: Block) -> str:
        self.count += 1
        name = f"<cell {self.count}>"
        linecache.cache[name] = len(block.source), None, block.source.splitlines(True), name
        file = re.match(r"# ([\w-]+\.py)\n", block.source)
        if file:
            pathlib.Path(self.folder, file[1]).write_text(block.source)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            try:
                tree = ast.parse(block.source, name)
                last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
                exec(compile(tree, name, "exec"), self.space)
                if last is not None:
                    value = eval(compile(ast.Expression(last.value), name, "eval"), self.space)
                    if value is not None:
                        print(repr(value))
            except (Exception, KeyboardInterrupt) as error:
                if block.expected is None:
                    raise
                print(_exception(error))
        return shown.getvalue()

    def _shell(self, block: Block) -> str:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(["bash", "-ec", f'pyjitc() {{ "{sys.executable}" -m pyjitc "$@"; }}\n'
                               f'python() {{ "{sys.executable}" "$@"; }}\n{block.source}'],
                              cwd=self.folder, env={**os.environ, "PYTHONPATH": path},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}\n{done.stdout}")
        return done.stdout


def _exception(error: BaseException) -> str:
    """As the interpreter prints it, from the first cell on; without marks under the lines, which depend on the
    version."""
    entries = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename.startswith("<cell")]
    lines = ["Traceback (most recent call last):\n"]
    for entry in entries:
        lines.append(f'  File "{entry.filename}", line {entry.lineno}, in {entry.name}\n')
        lines.append(f"    {entry.line}\n" if entry.line else "")
    return "".join([*lines, *traceback.format_exception_only(type(error), error)]).rstrip("\n")


def matches(expected: str, shown: str) -> bool:
    lines = []
    for line in expected.rstrip().splitlines():
        lines.append(r"(?:.*\n)*?" if line.strip() == "..." else
                     ".*".join(map(re.escape, line.rstrip().split("..."))) + r"[ ]*\n")
    return re.fullmatch("".join(lines), shown.rstrip() + "\n") is not None


def check(path: pathlib.Path, update: bool = False) -> list[str]:
    """What is wrong with the examples of a page."""
    text = path.read_text()
    wrong, changes = [], []
    with tempfile.TemporaryDirectory() as folder:
        page = Page(path, folder)
        for block in blocks(text):
            where = f"{path.name}:{block.line}"
            try:
                shown = page.run(block)
            except Exception as error:
                wrong.append(f"{where}: {type(error).__name__}: {error}")
                continue
            if shown is not None and block.expected is not None and not matches(block.expected, shown):
                wrong.append(f"{where} shows\n{shown}instead of\n{block.expected}")
                changes.append((block.place, "\n".join(line.rstrip() for line in shown.rstrip().splitlines()) + "\n"))
    if update and changes:
        for (start, end), shown in reversed(changes):
            text = text[:start] + shown + text[end:]
        path.write_text(text)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="write what the examples show into the pages")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    wrong = [line for path in options.pages or PAGES for line in check(path, options.update)]
    print("\n".join(wrong))
    return bool(wrong) and not options.update


if __name__ == "__main__":
    sys.exit(main())
