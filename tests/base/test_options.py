"""Options and tracing."""
import pytest

from pyjitc.base import trace
from pyjitc.base.options import ENVIRONMENT, Options, environment, make_options


def test_defaults_and_values():
    assert make_options({}) == Options() and hash(Options()) == hash(make_options({"boundscheck": None}))
    assert make_options({"nopython": True, "fastmath": True, "cache": True}) == Options(fastmath=True, cache=True)
    assert make_options({"fastmath": {"nnan", "contract"}}).fastmath == ("contract", "nnan")
    assert make_options({"nogil": True}, Options(debug=True)) == Options(nogil=True, debug=True)
    assert make_options({"parallel": False, "forceobj": False}) == Options()
    with pytest.raises(AttributeError):
        Options().cache = True


@pytest.mark.parametrize("given, error, text", [
    ({"fast_math": True}, TypeError, "did you mean 'fastmath'"), ({"chace": True}, TypeError, "did you mean 'cache'"),
    ({"paralel": True}, TypeError, "did you mean 'parallel'"),
    ({"static_argname": "n"}, TypeError, "did you mean 'static_argnames'"),
    ({"qqq": 1}, TypeError, "options are boundscheck"), ({"parallel": 2}, TypeError, "parallel"),
    ({"forceobj": True}, TypeError, "no object mode"), ({"overflow": "saturate"}, ValueError, "'raise', 'wrap'"),
    ({"cache": 1}, TypeError, "True or False"), ({"fastmath": {"quick"}}, ValueError, "'quick'"),
])
def test_errors(given, error, text):
    with pytest.raises(error, match=text):
        make_options(given)


def test_environment(monkeypatch):
    monkeypatch.setenv("PYJITC_DUMP", "llvm:f,typed")
    assert environment("PYJITC_DUMP") == "llvm:f,typed" and set(ENVIRONMENT) >= {"PYJITC_DISABLE", "PYJITC_CACHE_DIR"}
    with pytest.raises(KeyError):
        environment("HOME")


def test_dump(monkeypatch, capsys):
    monkeypatch.setenv("PYJITC_DUMP", "llvm:f,typed")
    trace.dump("llvm", "K.f", lambda: "text of f")
    trace.dump("llvm", "g", lambda: 1 / 0)
    trace.dump("typed", "g", lambda: "typed g")
    shown = capsys.readouterr().err
    assert "text of f" in shown and "typed g" in shown
    monkeypatch.delenv("PYJITC_DUMP")
    trace.dump("llvm", "f", lambda: 1 / 0)


def test_times_of_nested_stages(capsys, monkeypatch):
    moments = iter([0.0, 1.0, 3.0, 3.5, 6.0, 7.0])  # outer begins, inner begins and ends twice, outer ends
    monkeypatch.setattr(trace.time, "perf_counter", lambda: next(moments))
    trace.times.clear()
    with trace.timed("outer"):
        for _ in range(2):
            with trace.timed("inner"):
                pass
    monkeypatch.undo()
    assert trace.times == {"outer": [2.5, 1], "inner": [4.5, 2]}
    trace.report()
    assert "inner" in capsys.readouterr().err
    trace.times.clear()


def test_a_wrong_value_is_answered_with_those_that_are_right():
    for name, allowed in (("debug", "True, False or 'races'"), ("nogil", "True or False")):
        with pytest.raises(TypeError, match=f"option {name}='race': must be {allowed}"):
            make_options({name: "race"})
