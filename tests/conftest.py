"""Every compile in the tests verifies its IR, in child processes too: after each pass in the folders that test the
compiler, and after inference and the last passes in the others, where verification took a tenth of the time. Ctrl-C
interrupts, also where a shell started the tests in the background and so had it ignored: tests send it to themselves.
Compiled code is found on disk only in tests that set a folder for it. A test fails if LLVM writes to stderr while it
runs.

Nothing that is there before the first test, or that the tests of a finished file have left, is garbage: the collector
need not visit it in every test that asks for a full collection. Automatic collections are rarer than by default, where
they took an eighth of the time of the tests; tests of leaks ask for collections themselves.

What functions of the library, derivatives and whole programs for the contrast with tracing mean is in their IR: two
of three tests of these are compiled without LLVM's optimiser, which took nearly half of their time. Which ones follows
from their names. Of the third, modules beyond a size are, too: the optimiser takes more than in proportion to it. All
others, and what tests inspect or run in other processes, is compiled as it is for users, and so are tests with the mark
`optimised`, whose results depend on it."""
import gc
import os
import pathlib
import signal
import zlib

import pytest

_EACH_PASS = {"codegen", "generate", "infer", "ir", "language", "ops", "passes", "pipeline", "safety"}
_UNOPTIMISED = {"contrast", "derivatives", "lib"}
_OF = 3  # one of so many tests is compiled with the optimiser there
_LARGE = 100_000  # characters of LLVM's text

os.environ["PYJITC_VERIFY"] = "1"
os.environ["PYJITC_CACHE_DIR"] = os.path.join(os.devnull, "nowhere")

from pyjitc.codegen import link, shared  # noqa: E402  # behind the variables, which the package reads

_to_object, _image, _optimised_up_to = link.to_object, shared.image, float("inf")
link.to_object = lambda text, target, level=link.LEVEL: _to_object(
    text, target, level if len(text) <= _optimised_up_to else 0)
# Images of the library are kept on disk by their text and their level. If the level were left as it is, programs that
# run from the same tree later would find images for which the optimiser was left out. Declarations are added to the
# text later, so half the limit is asked for here.
shared.image = lambda source, target, level=0, kind=".o": _image(
    source, target, level if len(source) <= _optimised_up_to / 2 else 0, kind)

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    folder = item.path.relative_to(pathlib.Path(__file__).parent).parts[0]
    os.environ["PYJITC_VERIFY"] = "1" if folder in _EACH_PASS else "last"
    global _optimised_up_to
    if folder not in _UNOPTIMISED or item.get_closest_marker("optimised") is not None:
        _optimised_up_to = float("inf")
    else:
        _optimised_up_to = _LARGE if zlib.crc32(item.nodeid.encode()) % _OF == 0 else -1


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """LLVM raises no exception for a loop that it cannot transform: it writes a warning to the file descriptor of
    stderr."""
    report = (yield).get_result()
    said = [line for line in report.capstderr.splitlines() if "<unknown>:0:0" in line]
    if said and report.passed:
        report.outcome, report.longrepr = "failed", f"LLVM wrote to stderr: {said[0]}"
