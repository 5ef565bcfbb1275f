"""Compiled functions in notebooks: their representation, and cells that are run again, contain an error, are
interrupted or run in another kernel."""
import pathlib
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from pyjitc import njit

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rows(function):
    """The table of a function's HTML as text, row by row."""
    root = ElementTree.fromstring(f"<all>{function._repr_html_()}</all>")
    return ["".join(root.find("div").itertext()),
            *([["".join(cell.itertext()) for cell in row] for row in root.iter("tr")])]


def test_table_of_signatures():
    @njit(fastmath=True)
    def scaled(a, factor=2.0):
        return a * factor

    assert "not compiled yet" in scaled._repr_html_()
    scaled(1.5)
    scaled(np.ones(3), 2)
    about, titles, first, second = rows(scaled)
    assert "scaled" in about and "test_notebook.py" in about and "fastmath=True" in about
    assert titles == ["a", "factor", "result", "code", "took", "size"]
    assert (first[:4] == ["float", "float", "float", "compiled"]
            and second[:3] == ["float64[::1]", "int", "float64[::1]"])
    assert first[4].endswith(" ms") and float(first[4][:-3]) > 0 and first[5].endswith(" kB")


def test_code_found_in_memory_says_so():
    def made():
        return njit(lambda x: x + 0.4375)

    first, second = made(), made()
    first(1.0)
    second(1.0)
    assert rows(first)[2][2] == "compiled" and rows(second)[2][2] == "found in memory"


def test_names_are_escaped():
    f = njit(lambda x: x)
    f((1, None))
    assert "<lambda>" in rows(f)[0]


def test_graph_is_text_and_picture():
    f = njit(lambda n: 1 if n > 2 else 0)
    graph = f.inspect_cfg("(int64,)")
    assert isinstance(graph, str) and graph.startswith("digraph")
    assert ElementTree.fromstring(graph._repr_svg_()).tag.endswith("svg")


# -- in a kernel

CELLS = {
    "define": "from pyjitc import njit\nimport warnings\n\n@njit(cache=True)\ndef f(x):\n    return x + 1\n\nf(1), "
              "f.stats['compiled']",
    "again": "@njit(cache=True)\ndef f(x):\n    return x + 2\n\nf(1)",
    "same again": "@njit(cache=True)\ndef f(x):\n    return x + 2\n\nf(1)",
    "counted": "f.stats['compiled']",
    "shown": "f",
    "graph": "f.inspect_cfg('(int64,)')",
    "raises": "@njit\ndef g(a, i):\n    k = i + 1\n    return a[k]\n\nimport numpy as np\ng(np.zeros(2), 5)",
    "locals": "import sys\nframe = sys.last_value.__traceback__\nwhile frame.tb_next: frame = frame.tb_next\n"
              "eval('k', frame.tb_frame.f_globals, frame.tb_frame.f_locals)",
    "does not compile": "@njit\ndef h(n):\n    m = n + 1\n    return m.real.nothing\n\nh(3)",
    "prints": "@njit\ndef steps(n):\n    for i in range(n):\n        print('step', i)\n\nsteps(3)",
    "warns": "@njit\ndef warned(x):\n    return x\n\nwarnings.warn('look out')\nwarned(1)",
    "global": "rate = 2\n@njit\ndef scaled(x):\n    return x * rate\n\nscaled(5)",
    "global again": "rate = 3\nscaled(5)",
    "travels": "try:\n    import cloudpickle\n    again = cloudpickle.loads(cloudpickle.dumps(scaled))\n"
               "    print(again is not scaled, again(5))\nexcept ImportError:\n    print('no cloudpickle')",
    "interrupt": "import os, subprocess\n@njit\ndef long(n):\n    s = 0\n    for i in range(n):\n        s ^= i * 3 % "
                 "7\n    return s\n"
                 "long(1)\nsubprocess.Popen(['sh', '-c', f'sleep 0.3; kill -INT {os.getpid()}'])\n"
                 "try:\n    long(10 ** 11)\nexcept KeyboardInterrupt:\n    print('interrupted')",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYJITC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
    patch.setenv("PYTHONPATH", str(ROOT))

    def run(cells):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
        return [cell["outputs"] for cell in notebook["cells"]]

    try:
        return dict(zip(CELLS, run(CELLS.values()))), run([CELLS["define"]])
    finally:
        patch.undo()


def text(shown):
    return "".join(part.get("text", "") + part.get("data", {}).get("text/plain", "") for part in shown)


def trace(shown):
    return "\n".join(shown[-1]["traceback"])


def test_cells_that_are_run_again(outputs):
    shown, _ = outputs
    assert text(shown["define"]) == "(2, 1)" and text(shown["again"]) == "3"
    assert text(shown["same again"]) == "3" and text(shown["counted"]) == "0"


def test_another_kernel_reads_the_cache(outputs):
    assert text(outputs[1][0]) == "(2, 0)"


def test_rich_display(outputs):
    shown, _ = outputs
    data = shown["shown"][0]["data"]
    assert "<table" in data["text/html"] and data["text/plain"].startswith("<pyjitc function f")
    assert shown["graph"][0]["data"]["image/svg+xml"].startswith("<svg") and "digraph" in text(shown["graph"])


def test_traceback_points_into_the_cell(outputs):
    shown, _ = outputs
    assert shown["raises"][-1]["ename"] == "IndexError"
    shown = re.sub(r"\x1b\[[\d;]*m", "", trace(shown["raises"]))
    assert "line 4" in shown and "----> 4     return a[k]" in shown and "index 6 is out of bounds" in shown
    assert "dispatch.py" not in shown


def test_functions_of_cells_travel(outputs):
    assert text(outputs[0]["travels"]) in ("True 15\n", "no cloudpickle\n")


def test_a_debugger_is_told_why_there_are_no_locals(outputs):
    """The text that %debug shows for a local variable of the function that raised."""
    shown = outputs[0]["locals"][-1]
    assert shown["ename"] == "NameError" and "PYJITC_DISABLE=1" in shown["evalue"]


def test_compile_error_points_into_the_cell(outputs):
    shown, _ = outputs
    assert shown["does not compile"][-1]["ename"] == "TypingError"
    assert ("return m.real.nothing" in shown["does not compile"][-1]["evalue"]
            and "^^^" in shown["does not compile"][-1]["evalue"])


def test_effects(outputs):
    shown, _ = outputs
    assert text(shown["prints"]) == "step 0\nstep 1\nstep 2\n"
    assert "look out" in text(shown["warns"]) and "pyjitc" not in text(shown["warns"])
    assert text(shown["global"]) == "10" and text(shown["global again"]) == "15"
    assert text(shown["interrupt"]) == "interrupted\n"
