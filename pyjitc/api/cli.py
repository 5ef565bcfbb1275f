"""The command `pyjitc`: run a script, inspect a compilation, compare with tracing, show the installation, run examples
and benchmarks.

A wrong command line gives one line on stderr and exit code 2; an error of a compilation or a script gives its own
message and exit code 1. Colour is used only on a terminal.
"""
from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import linecache
import math
import os
import pathlib
import platform
import re
import runpy
import sys
import traceback
from typing import Callable

from ..base.errors import CompileError, suggest
from ..base.lazy import lazy
from ..base.options import ENVIRONMENT, Options
from ..types import text

__all__ = ["main"]

_stages = lazy("pyjitc.pipeline.stages")
_cache = lazy("pyjitc.pipeline.cache")
_contrast, _reporting = lazy("pyjitc.api.contrast"), lazy("pyjitc.api.reporting")
_dispatch, _sampling = lazy("pyjitc.api.dispatch"), lazy("pyjitc.api.sampling")
_numpy = lazy("numpy")
_ahead = lazy("pyjitc.api.ahead")
_blas = lazy("pyjitc.runtime.blas")
_driver = lazy("pyjitc.runtime.driver")

UNTYPED = ("bytecode", "cfg", "ir")  # stages that need no types
STAGES = (*UNTYPED, "typed", "opt", "llvm", "asm")
_TREE = pathlib.Path(__file__).resolve().parents[2]  # the source tree, when the package runs from one


class _Wrong(Exception):
    """The command line refers to something that does not exist."""


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] in (["examples"], ["bench"]):  # they have parsers of their own, `--help` included
        action = {"examples": _examples, "bench": _bench}[arguments[0]]
        options = argparse.Namespace(action=action, arguments=arguments[1:])
    else:
        options = _parser().parse_args(arguments)
    try:
        return options.action(options) or 0
    except _Wrong as error:
        print(f"{_red('pyjitc:')} {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyjitc", description="Compiles Python functions to native code.")
    parser.add_argument("--version", action="version", version=f"pyjitc {_version('pyjitc')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    run = commands.add_parser("run", help="run a script", description="Run a script, watching its compilations.",
                              usage="pyjitc run [--time] [--dump STAGE[:FUNCTION]] [--perf] [--disable] "
                                    "[--as-numba] SCRIPT [ARGUMENT ...]")
    run.add_argument("--time", action="store_true", help="print the time of every stage of compiling at the end")
    run.add_argument("--dump", metavar="STAGE[:FUNCTION]", help="print what a stage of compiling made")
    run.add_argument("--perf", action="store_true", help="name compiled functions to perf and py-spy")
    run.add_argument("--disable", action="store_true", help="leave every function to the interpreter")
    run.add_argument("--as-numba", action="store_true", help="`import numba` gives pyjitc.numba")
    run.add_argument("script", metavar="SCRIPT")
    run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT").required = False
    run.set_defaults(action=_run)

    look = commands.add_parser("inspect", help="print what a stage of compiling makes of a function")
    look.add_argument("target", metavar="FILE::FUNCTION", help="FUNCTION may be dotted: Class.method")
    look.add_argument("--stage", default="ir", metavar="STAGE", help=f"{', '.join(STAGES)} (default: %(default)s)")
    look.add_argument("--types", metavar="TYPES", help='types of the arguments, as in "float64[::1], int"; int and '
                      "float are Python's, int64 and float64 are NumPy's")
    look.set_defaults(action=_inspect)

    both = commands.add_parser("contrast",
                               help="a function traced, and compiled as it is: both programs and what they cost")
    both.add_argument("target", metavar="FILE::FUNCTION")
    both.add_argument("arguments", nargs="*", metavar="ARGUMENT", default=[],
                      help='a Python expression, as in 3 or "np.arange(5.0)"')
    both.set_defaults(action=_compare)

    slow = commands.add_parser("report", help="a page that says what costs time in each line of a function",
                               description="One HTML page: source beside types, and for each line the Python objects, "
                                           "the memory, the checks and the loops that are not vectorised.")
    slow.add_argument("target", metavar="FILE::FUNCTION", help="FUNCTION may be dotted: Class.method")
    slow.add_argument("arguments", nargs="*", metavar="ARGUMENT", default=[],
                      help='a Python expression, as in 3 or "np.arange(5.0)"; names of FILE are known')
    slow.add_argument("--types", metavar="TYPES", help='instead of arguments, their types: "float64[::1], int"')
    slow.add_argument("-o", "--output", default="report.html", metavar="FILE",
                      help="where the page goes (default: %(default)s)")
    slow.add_argument("--profile", nargs="?", const=2.0, type=float, metavar="SECONDS",
                      help="call the function for so long (default: 2) and show the share of each line")
    slow.add_argument("--speedscope", metavar="FILE", help="write the profile as a file of speedscope.app, too")
    slow.set_defaults(action=_report)

    commands.add_parser("info", help="versions, processor, cache").set_defaults(action=_info)

    ahead = commands.add_parser("build", help="a package with its compiled code, which runs without the compiler",
                                description="Compile a package or a module ahead of time: what it makes runs where "
                                            "NumPy is, without LLVM and without pyjitc.")
    ahead.add_argument("target", metavar="TARGET", help="a module's file, a package's folder, a wheel, or the folder "
                       "of a project that pip can make a wheel of")
    ahead.add_argument("--types", action="append", default=[], metavar="SIGNATURE",
                       help='a function and the types of its arguments, as in "total(float64[:], int64)"')
    ahead.add_argument("--run", action="append", default=[], metavar="SCRIPT",
                       help='compile for the types that a script calls functions with; "-m pytest tests" runs a module')
    ahead.add_argument("-o", "--output", default="build/pyjitc", metavar="DIR",
                       help="where files go (default: %(default)s)")
    ahead.add_argument("--wheel", action="store_true", help="make a wheel")
    ahead.add_argument("--cpu", default="x86-64-v2,x86-64-v3", metavar="LEVELS",
                       help="processors to make code for, of which the best that fits is taken at run time: "
                            "x86-64-v2, x86-64-v3, x86-64-v4, native (default: %(default)s)")
    ahead.add_argument("--version", default="0.0.0", help="version of a wheel that is made of a module or a package "
                       "(default: %(default)s)")
    ahead.add_argument("--platform", default="linux_x86_64", metavar="TAG", help="platform tag of the wheel "
                       "(default: %(default)s)")
    ahead.set_defaults(action=_build)

    commands.add_parser("examples", help="run the examples in CPython and compiled")
    commands.add_parser("bench", help="run benchmark suites")

    cache = commands.add_parser("cache", help="the cache of compiled functions on disk")
    cache.add_argument("what", choices=("info", "clear"))
    cache.set_defaults(action=_cache_command)
    return parser


def _run(options) -> int:
    script = _existing(options.script)
    for item in options.dump.split(",") if options.dump else ():
        stage, stages = item.strip().partition(":")[0], _stages.dumped_stages()
        if stage not in stages:
            raise _Wrong(f"there is no stage {stage!r} to dump{_near(stage, stages)}; stages are {', '.join(stages)}")
    asked = {"PYJITC_TIME": options.time, "PYJITC_DUMP": options.dump, "PYJITC_PERF": options.perf,
             "PYJITC_DISABLE": options.disable, "PYJITC_AS_NUMBA": options.as_numba}
    os.environ.update({name: value if isinstance(value, str) else "1" for name, value in asked.items() if value})
    sys.argv = [str(script), *options.arguments]
    sys.path[0] = str(script.parent.resolve())
    if options.as_numba:
        importlib.import_module(f"{__name__.partition('.')[0]}.numba").install()
    try:
        runpy.run_path(str(script), run_name="__main__")
    except Exception as error:
        _print_exception(error, str(script))
        return 1
    return 0


def _report(options) -> int:
    holder, function = _found(options.target)
    chosen = getattr(holder, "options", Options())
    args: tuple = ()
    if options.types is not None:
        types = _types(options.types)
        _check_count(function, types)
        if options.profile or options.speedscope:
            raise _Wrong("--profile calls the function: give it arguments, not --types")
    else:
        args, types = _of_call(options, function, chosen)
    try:
        made = _reporting.report(function, types, chosen)
        if options.profile or options.speedscope:
            _profile(options, made, function, types, chosen, args)
        html = _reporting.page([made])
    except ImportError as error:
        raise _Wrong(error) from None
    pathlib.Path(options.output).write_text("<!doctype html>\n<meta charset=\"utf-8\">\n"
                                            f"<title>{made.title.partition('(')[0]}</title>\n{html}")
    print(made)
    print(options.output)
    return 0


def _of_call(options, function, chosen: Options) -> tuple[tuple, tuple]:
    """(the values of all parameters, their types) in the call that the command line gives."""
    args = _arguments(options, function, vars(sys.modules[function.__module__]))
    compiled = _dispatch.Dispatcher(function, chosen)
    try:
        return compiled._types(compiled._bind(args, {}))
    except (TypeError, OverflowError) as error:
        raise _Wrong(f"{options.target}: {error}") from None


def _profile(options, made, function, types, chosen, args) -> None:
    found = _sampling.profile(function, types, chosen, args, options.profile or 2.0)
    _reporting.with_profile(made, found)
    if options.speedscope:
        pathlib.Path(options.speedscope).write_text(json.dumps(_sampling.speedscope(made.title, found)))
    print(f"{found.calls} calls, {found.seconds / found.calls * 1e3:.3g} ms each; {found.total} samples, "
          f"{found.called / max(found.total, 1):.0%} of them in functions that its lines call")
    for (filename, line), count in found.lines.most_common(5):
        source = linecache.getline(filename, line).strip()
        print(f"  {count / found.total:4.0%}  {os.path.basename(filename)}:{line}: {source}")


def _types(given: str) -> tuple:
    try:
        return tuple(text.parse_list(f"({given})")[1])
    except ValueError as error:
        words = [word for word in str(error).split("'")[1:2] if word not in text.NAMES]
        raise _Wrong(f"--types: {error}{_near(words[0], text.NAMES) if words else ''}") from None


def _check_count(function, types) -> None:
    code = function.__code__
    flags = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    parameters = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount + flags]
    if len(types or ()) != len(parameters):
        given = f"{len(types)} {'is' if len(types) == 1 else 'are'} given" if types else "none is given"
        raise _Wrong(f"--types: {function.__qualname__} takes {len(parameters)} "
                     f"argument{'s' * (len(parameters) != 1)} ({', '.join(parameters)}), {given}")


def _arguments(options, function, names) -> tuple:
    """The values of a call, from the command line."""
    try:
        args = tuple(eval(text, {**names, "np": _numpy, "math": math}) for text in options.arguments)
        inspect.signature(function).bind(*args)
    except SyntaxError as error:
        raise _Wrong(f"{error.text!r} is not a Python expression") from None
    except Exception as error:
        apart = ("; write each argument apart, as in 'np.arange(5.0)' 2"
                 if any("," in text for text in options.arguments) else "")
        raise _Wrong(f"{options.target}: {type(error).__name__}: {error}{apart}") from None
    return args


def _inspect(options) -> int:
    if options.stage not in STAGES:
        near = _near(options.stage, STAGES)
        raise _Wrong(f"there is no stage {options.stage!r}{near}; stages are {', '.join(STAGES)}")
    function = _target(options.target)
    types = None if options.types is None else _types(options.types)
    if options.stage not in UNTYPED:
        _check_count(function, types)
    try:
        print(_stages.inspect(function, tuple(types or ()), Options(), options.stage))
    except CompileError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _compare(options) -> int:
    function = _target(options.target)
    print(_contrast.contrast(function, _arguments(options, function, {})))
    return 0


def _info(options) -> int:
    rows = [("pyjitc", f"{_version('pyjitc')} in {pathlib.Path(__file__).resolve().parents[1]}"),
            ("Python", f"{platform.python_implementation()} {platform.python_version()} in {sys.executable}")]
    rows += [(package, _version(package)) for package in ("numpy", "llvmlite", "bytecode", "numba", "jax")]
    system = platform.system(), platform.release(), platform.machine(), *platform.libc_ver()
    rows += [("system", " ".join(system)),
             ("processor", f"{_processor()}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} cores"),
             ("GPU", _gpus()),
             ("BLAS and LAPACK", _blas.provider()),
             ("cache", _cache_state())]
    rows += [(name, os.environ[name]) for name in ENVIRONMENT if name in os.environ]
    for name, value in rows:
        print(f"{name:<18} {value}")
    return 0


def _build(options) -> int:
    levels = [one.strip() for one in options.cpu.split(",") if one.strip()]
    for level in levels:
        if level not in _ahead.LEVELS:
            raise _Wrong(f"--cpu: there is no level {level!r}{_near(level, _ahead.LEVELS)}; levels are "
                         f"{', '.join(_ahead.LEVELS)}")
    if not os.path.exists(options.target):
        _existing(options.target)
    try:
        made, found = _ahead.make(pathlib.Path(options.target), levels, options.types, options.run,
                                  pathlib.Path(options.output), options.wheel, options.version, options.platform)
    except _ahead.BuildError as error:
        print(f"{_red('pyjitc:')} {error}", file=sys.stderr)
        return 1
    for module, name, signature in found["rows"]:
        print(f"{module}.{name}{signature}")
    for name, why in found["refused"]:
        print(f"{name} is left out for some types: {why}")
    for name in found["silent"]:
        print(f"{name} has no signature: the interpreter runs its calls from Python (give --types, or --run)")
    print(f"{made}: {', '.join(levels)}")
    return 0


def _gpus() -> str:
    found, why = _driver.connect()
    return ", ".join(f"{device.name}" for device in found.devices) if found is not None else f"none: {why}"


def _examples(options) -> int:
    script = _TREE / "docs" / "examples" / "run.py"
    if not script.exists():
        raise _Wrong("the examples are in docs/examples of the source tree, and not in the installed package")
    sys.path.insert(0, str(script.parent))
    return runpy.run_path(str(script))["main"](options.arguments)


def _bench(options) -> int:
    if not (_TREE / "bench" / "__main__.py").exists():
        raise _Wrong("the benchmarks are in bench/ of the source tree, and not in the installed package")
    sys.path.insert(0, str(_TREE))
    return runpy.run_module("bench.__main__", run_name="bench")["main"](options.arguments)


def _cache_command(options) -> int:
    if options.what == "info":
        print(_cache_state())
        return 0
    removed = stay = 0
    for path in _cached():
        try:
            path.unlink()
            removed += 1
        except OSError as error:  # another process has removed it already
            if path.exists():
                print(f"{_red('pyjitc:')} {path} stays: {error.strerror}", file=sys.stderr)
                stay += 1
    print(f"{_files(removed)} removed from {_cache.folder()}")
    return int(stay > 0)


def _cached() -> list[pathlib.Path]:
    """The cache's own files: a folder that the user chose may contain others."""
    return [path for path in pathlib.Path(_cache.folder()).glob("[0-9a-f][0-9a-f]/*")
            if re.match(r"[0-9a-f]{30}(\.|$)", path.name)]


def _cache_state() -> str:
    files, folder = _cached(), pathlib.Path(_cache.folder())
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if os.path.exists(path))
    kept = "" if there.is_dir() and os.access(there, os.W_OK) else ", and nothing can be kept there"
    if there == folder.absolute() and there.is_dir() and (why := _cache.unsafe(str(there))):
        kept = f", and nothing is kept there: it {why}"
    size = 0
    for path in files:
        with contextlib.suppress(OSError):  # another process has removed it
            size += path.stat().st_size
    return f"{folder}: {_files(len(files))}, {size / 1e3:,.0f} kB of {_cache.limit() / 1e3:,.0f} kB{kept}"


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"


def _target(text: str) -> Callable:
    """The function that FILE::FUNCTION names."""
    return _found(text)[1]


def _found(text: str) -> tuple:
    """(what FILE::FUNCTION names, the Python function in it)."""
    filename, separator, name = text.partition("::")
    if not separator or not name:
        raise _Wrong(f"{text!r}: write FILE::FUNCTION, as in program.py::total")
    path = _existing(filename)
    return _find(_load(path), name, path)


def _existing(name: str) -> pathlib.Path:
    path = pathlib.Path(name)
    if path.is_file():
        return path
    if path.is_dir():
        raise _Wrong(f"{name} is a folder, not a file")
    beside = [p.stem for p in path.parent.iterdir() if p.suffix == ".py"] if path.parent.is_dir() else []
    near = suggest(path.stem, beside)
    raise _Wrong(f"there is no file {name}" + (f"; did you mean {near}.py?" if near else ""))


def _load(path: pathlib.Path):
    """The file as a module, as if it were imported from its own folder."""
    sys.path.insert(0, str(path.parent.resolve()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None:
        raise _Wrong(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        _print_exception(error, os.path.abspath(path))
        raise _Wrong(f"{path} could not be loaded") from None
    return module


def _find(module, name: str, path) -> tuple:
    holder = module
    for part in name.split("."):
        if not hasattr(holder, part):
            names = [key for key, value in getattr(holder, "__dict__", {}).items() if callable(value)]
            raise _Wrong(f"{path} has no function {name}{_near(part, names)}")
        holder = getattr(holder, part)
    function = getattr(holder, "__wrapped__", holder)
    if not hasattr(function, "__code__"):
        raise _Wrong(f"{name} in {path} is of class {type(holder).__name__}, not a Python function")
    return holder, function


def _near(name: str, candidates) -> str:
    found = suggest(name, candidates)
    return f"; did you mean {found}?" if found else ""


def _print_exception(error: BaseException, filename: str) -> None:
    """Print the exception as the interpreter does, without the frames of this command."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename != filename:
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _red(message: str) -> str:
    return f"\x1b[31m{message}\x1b[0m" if sys.stderr.isatty() and "NO_COLOR" not in os.environ else message
