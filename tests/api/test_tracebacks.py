"""What tracebacks show: the frames of compiled functions, with their source, and none of the dispatcher's own."""
import inspect
import sys
import traceback

import numpy as np
import pytest

from pyjitc import TypingError, njit


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
    (TypeError, outer, (), {}), (TypeError, outer, (1, 2, 3), {}), (TypeError, outer, (1,), {"j": 2}),  # numbers and names of arguments
    (TypeError, outer, ({}, 1), {}),  # an argument without native form
    (TypingError, outer, (1.5, 1), {}), (TypingError, outer, (1.5, 1), {}),  # found by the compiler; again, from memory
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
