"""Tracebacks show the frames of compiled functions, with their source, and no frames of the dispatcher."""
import copy
import inspect
import linecache
import os
import pathlib
import subprocess
import sys
import traceback
import warnings
import zipfile


import numpy as np
import pytest

from pyjitc import TypingError, njit
from tests.generate.programs import program


@njit
def inner(a, i):
    k = i + 1

    return a[k]


@njit
def outer(a, i):
    one = 1
    return inner(a, i) + one


@njit
def with_keywords(a, *, i):
    return a[i]


def entries(error, function, *args, **kwargs):
    with pytest.raises(error) as caught:
        function(*args, **kwargs)
    found, entry = [], caught.value.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename != __file__ or entry.tb_frame.f_code.co_name != "entries":
            found.append(entry)
        entry = entry.tb_next
    return found


def line_of(function, distance):
    return function.py_func.__code__.co_firstlineno + distance


def test_frames_show_their_function():
    found = entries(IndexError, outer, np.zeros(3), 7)
    assert [e.tb_frame.f_code.co_name for e in found] == ["outer", "inner"]
    assert [e.tb_lineno for e in found] == [line_of(outer, 3), line_of(inner, 4)]
    for entry, function in zip(found, (outer, inner)):
        frame = entry.tb_frame
        assert frame.f_lineno == entry.tb_lineno
        assert frame.f_code.co_filename == __file__ and frame.f_code.co_firstlineno == line_of(function, 0)
        assert inspect.getsource(frame) == inspect.getsource(function.py_func)
        if sys.version_info >= (3, 11):
            assert {p[:2] for p in frame.f_code.co_positions()} == {(entry.tb_lineno, entry.tb_lineno)}
    shown = "".join(traceback.format_tb(found[0]))
    assert "return inner(a, i) + one" in shown and "return a[k]" in shown


def test_code_of_a_frame_is_made_once():
    first, second = entries(IndexError, inner, np.zeros(3), 7), entries(IndexError, inner, np.zeros(4), 7)
    assert first[0].tb_frame is not second[0].tb_frame and first[0].tb_frame.f_code is second[0].tb_frame.f_code


def test_far_lines():
    source = "def far(a, i):\n    x = 0\n" + "    x += 1\n" * 200 + "    return a[i] + x\n"
    space = {}
    exec(compile(source, "far.py", "exec"), space)
    found = entries(IndexError, njit(space["far"]), np.zeros(1), 3)
    assert [(e.tb_lineno, e.tb_frame.f_lineno, e.tb_frame.f_code.co_firstlineno) for e in found] == [(203, 203, 1)]
    assert "line 203" in traceback.format_tb(found[0])[0]


@pytest.mark.parametrize("error, function, args, kwargs", [
    # numbers and names of arguments
    (TypeError, outer, (), {}), (TypeError, outer, (1, 2, 3), {}), (TypeError, outer, (1,), {"j": 2}),
    (TypeError, outer, (np.array([None]), 1), {}),  # an argument without native form
    # an error of the compiler; the second time it comes from memory
    (TypingError, outer, (1.5, 1), {}), (TypingError, outer, (1.5, 1), {}),
])
def test_no_frames_of_the_dispatcher(error, function, args, kwargs):
    assert entries(error, function, *args, **kwargs) == []


def test_no_frames_of_the_dispatcher_where_it_passes_arguments_on():
    found = entries(IndexError, with_keywords, np.zeros(2), i=5)
    assert [e.tb_frame.f_code.co_name for e in found] == ["with_keywords"]


def test_errors_keep_their_cause():
    @njit
    def chained(x):
        try:
            return 1 // x
        except ZeroDivisionError as error:
            raise ValueError("no") from error

    with pytest.raises(ValueError) as caught:
        chained(0)
    cause = caught.value.__cause__
    assert type(cause) is ZeroDivisionError and cause.__traceback__.tb_lineno == line_of(chained, 3)


# -- exactly the text of the interpreter's tracebacks

RAISING = pathlib.Path(__file__).with_name("raising.py")


def calls(disabled: str):
    """The calls of raising.py by name; with PYJITC_DISABLE=1 the interpreter runs its functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYJITC_DISABLE", disabled)
        space = {"__name__": "raising"}
        exec(compile(RAISING.read_text(encoding="utf-8"), str(RAISING), "exec"), space)
    return space["CALLS"]


INTERPRETED, COMPILED = calls("1"), calls("0")


def without_numpy(entry):
    """Unlink the frames of NumPy's own Python code, because compiled code that replaces it has no frames."""
    while entry is not None:
        while entry.tb_next is not None and "numpy" in pathlib.Path(entry.tb_next.tb_frame.f_code.co_filename).parts:
            entry.tb_next = entry.tb_next.tb_next
        entry = entry.tb_next


def shown(function, args, kwargs):
    args = copy.deepcopy(args)
    try:
        function(*args, **kwargs)
    except Exception as error:
        without_numpy(error.__traceback__)
        return "".join(traceback.format_exception(type(error), error, error.__traceback__.tb_next))
    return "nothing was raised"


@pytest.mark.parametrize("name", INTERPRETED)
def test_text_is_the_interpreters(name):
    expected = shown(*INTERPRETED[name])
    assert str(RAISING) in expected
    assert shown(*COMPILED[name]) == expected
    assert shown(*COMPILED[name]) == expected  # from the code objects that the first error made


@pytest.mark.parametrize("name", ["chain", "expression_over_lines", "raise_from", "try_finally"])
def test_text_at_the_end_of_a_program(name, tmp_path):
    """The interpreter itself writes the last traceback, in C up to 3.12."""
    program = tmp_path / "program.py"
    last = f"\n\nfunction, args, kwargs = CALLS[{name!r}]\nfunction(*args, **kwargs)\n"
    program.write_text(RAISING.read_text(encoding="utf-8") + last, encoding="utf-8")
    place = {**os.environ, "PYTHONPATH": str(RAISING.parents[2])}
    runs = [subprocess.run([sys.executable, str(program)], env={**place, "PYJITC_DISABLE": disabled},
                           capture_output=True, text=True) for disabled in ("0", "1")]
    assert runs[0].returncode == runs[1].returncode == 1
    assert runs[0].stderr == runs[1].stderr


def test_columns_far_to_the_right_and_many_lines():
    """Larger positions take more bytes, and the record of a place in the code has room for 16."""
    far = "a[0] + " * 400
    source = "def f(a, i):\n" + "\n" * 70_000 + f"    return ({far}\n{' ' * 5000}a[i])\n"
    space = {}
    exec(compile(source, "far.py", "exec"), space)
    found, expected = (entries(IndexError, f, np.zeros(1), 3) for f in (njit(space["f"]), space["f"]))
    assert [e.tb_lineno for e in found] == [e.tb_lineno for e in expected] == [70_003]
    if sys.version_info >= (3, 11):
        position = list(expected[0].tb_frame.f_code.co_positions())[expected[0].tb_lasti // 2]
        assert list(found[0].tb_frame.f_code.co_positions())[found[0].tb_lasti // 2] == position


def test_a_debugger_is_told_why_there_are_no_locals():
    frame = entries(IndexError, inner, np.zeros(3), 7)[0].tb_frame
    assert frame.f_locals == {}
    with pytest.raises(NameError, match="no value of 'k' is known here.*PYJITC_DISABLE=1"):
        eval("k + 1", frame.f_globals, frame.f_locals)
    assert eval("len('abc')", frame.f_globals, frame.f_locals) == 3


@pytest.mark.parametrize("seed", range(10))
def test_text_of_generated_programs(seed):
    """Where a program raises the same exception (docs/semantics.md lists intended differences), the traceback is the
    same."""
    source, name = program(seed), f"<generated {seed}>"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    interpreted, compiled = {"njit": lambda function: function}, {"njit": njit}
    for space in interpreted, compiled:
        exec(compile(source, name, "exec"), space)
    f = compiled["f"] if hasattr(compiled["f"], "py_func") else njit(compiled["f"])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args in interpreted["CALLS"]:
            expected = shown(interpreted["f"], args, {})
            given = shown(f, args, {})
            if given.splitlines()[-1] == expected.splitlines()[-1]:
                assert given == expected


def test_frames_of_numpy_are_not_there():
    def f(a):
        return np.linalg.inv(a)

    names = []
    for function in (f, njit(f)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
            function(np.zeros((2, 2)))
        frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
        names.append(frames[frames.index("f"):])
    assert names[1] == ["f"] and names[0][:2] == ["f", "inv"]


def test_a_module_in_an_archive_has_its_lines(tmp_path):
    """As for functions of the interpreter, whose frames have the loader of their module."""
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("in_archive.py", "from pyjitc import njit\n\n@njit\ndef f(a, i):\n    return a[i] + 1\n")
    sys.path.insert(0, str(path))
    try:
        import in_archive
    finally:
        sys.path.remove(str(path))
        sys.modules.pop("in_archive", None)
    texts = []
    for function in (in_archive.f, in_archive.f.py_func):
        with pytest.raises(IndexError) as caught:
            function([1], 3)
        texts.append("".join(traceback.format_tb(caught.value.__traceback__)).partition("in_archive.py")[2])
        linecache.cache.pop(f"{path}/in_archive.py", None)
    assert "return a[i] + 1" in texts[0] and texts[0] == texts[1]
