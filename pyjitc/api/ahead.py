"""`pyjitc build`: a package or a module with the compiled code of its functions, which runs where NumPy is.

The result is the package itself, file by file, with two additions:

- a folder `_NAME_pyjitc` with the part of pyjitc that runs code (a copy of some packages, not the compiler: `PARTS`),
  in which cache.py and stages.py are exchanged for shipped.py and uncompiled.py. `from pyjitc import njit` in the
  package becomes `from _NAME_pyjitc import njit`, and nothing else of its text changes;
- in the folder `code` of it a file for each module, Python and level of processors: the objects that LLVM made, which
  the loader links at the first call of a function, as it does with those of the disk cache.

So calls of functions, their errors and tracebacks are those of pyjitc, and a module without code for its Python or its
processor is interpreted. No linker is needed, and functions that no program calls are never loaded.

The package is imported and compiled in a process of its own for each level of processors (`work`). Its functions are
compiled for the signatures that they declare, for those of `--types` and of `__pyjitc_types__`, and for those with
which the script of `--run` calls them: everything that `specialisation.make` compiles meanwhile is included.
"""
from __future__ import annotations

import __future__
import ast
import gc
import importlib
import linecache
import marshal
import os
import pathlib
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import traceback
import zipfile
from base64 import urlsafe_b64encode
from importlib.machinery import ModuleSpec

from ..base import relocated
from ..base.errors import CompileError
from ..codegen import link
from ..pipeline import cache, portable, shipped, specialisation
from ..types import text
from . import shipped as door
from .dispatch import CompiledFunction
from .signature import signature_of

__all__ = ["BuildError", "LEVELS", "build", "make", "work"]

LEVELS = tuple(shipped.FLAGS)
_PACKAGE = pathlib.Path(__file__).resolve().parents[1]
_NAME = _PACKAGE.name
# The part of pyjitc that runs code: packages, and files of packages; and the files that replace others
PARTS = ("base", "types", "runtime", "pipeline/__init__.py", "pipeline/portable.py", "pipeline/specialisation.py",
         "pipeline/shipped.py", "pipeline/uncompiled.py", "api/__init__.py", "api/dispatch.py", "api/methods.py",
         "api/pickled.py", "api/pickling.py", "api/shipped.py", "api/signature.py")
_WITHOUT = {"runtime/driver.py", "runtime/hostdevice.py", "base/launch_bounds.py"}  # files for GPUs
_IN_PLACE = {"pipeline/cache.py": "from .shipped import Making, key_of, read, write\n\n"
                                  "__all__ = ['Making', 'key_of', 'read', 'write']\n",
             "pipeline/stages.py": "from .uncompiled import compile_signature, inspect, report\n\n"
                                   "__all__ = ['compile_signature', 'inspect', 'report']\n"}
_TOP = '''"""The part of {name} {version} that runs the functions of {project}, which were compiled ahead of time."""
import gc
import marshal
import os
import sys
from _imp import _fix_co_filename
from importlib.machinery import ModuleSpec


class _Together:
    """Loads the modules that every program needs from one file, which takes a third of the time. Each has a file of its
    own as well."""

    def __init__(self, codes):
        self.codes = codes

    def find_spec(self, name, path=None, target=None):
        if name not in self.codes:
            return None
        package, path, _ = self.codes[name]
        path = os.path.join(__path__[0], path)
        spec = ModuleSpec(name, self, origin=path, is_package=package)
        spec.has_location = True
        if package:
            spec.submodule_search_locations.append(os.path.dirname(path))
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        code = self.codes[module.__spec__.name][2]
        _fix_co_filename(code, module.__spec__.origin)
        exec(code, module.__dict__)


_collects = gc.isenabled()
gc.disable()  # nothing of what is loaded is garbage
try:
    with open(os.path.join(__path__[0], "code", sys.implementation.cache_tag), "rb", 0) as _file:
        _finder = _Together(marshal.loads(_file.read()))
except (OSError, ValueError, EOFError, TypeError):  # of another Python: each module is found by itself
    _finder = _Together({{}})
sys.meta_path.insert(0, _finder)
try:
    from .api.shipped import jit, njit, own_names
    from .base import relocated
finally:
    sys.meta_path.remove(_finder)
    if _collects:
        gc.enable()

__all__ = ["jit", "njit"]
relocated.ROOTS.append(os.path.dirname(__path__[0]) + os.sep)
__getattr__ = own_names(__name__)
'''


class BuildError(Exception):
    """Raised where a package cannot be built; the message says why."""


# ---------------------------------------------------------------- the project


class Project:
    """The files of a package or a module. files: path -> contents; root: the folder that contains them."""

    def __init__(self, name: str, root: pathlib.Path, paths):
        self.name = name
        self.root = root
        self.files = {str(path.relative_to(root)): path.read_bytes() for path in sorted(paths)}
        self.runtime = f"_{name}_pyjitc"
        self.rewritten: list[str] = []
        for path, data in self.files.items():
            if path.endswith(".py") and _NAME.encode() in data:
                new = _rewritten(data.decode(), str(root / path), self.runtime).encode()
                if new != data:
                    self.files[path] = new
                    self.rewritten.append(path)
        if not self.rewritten:
            raise BuildError(f"nothing in {name} imports {_NAME}, so there is nothing to compile")


def project_of(target: pathlib.Path) -> Project:
    """The project of a module's file or of a package's folder."""
    target = target.resolve()
    if target.is_file():
        return Project(target.stem, target.parent, [target])
    if not (target / "__init__.py").is_file():
        raise BuildError(f"{target} is no package: it has no __init__.py")
    return Project(target.name, target.parent, _files(target))


def _files(folder: pathlib.Path):
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".pyo")
            and "__pycache__" not in path.parts]


def module_of(path: str) -> str:
    """The name of the module that is in a file."""
    parts = list(pathlib.PurePosixPath(path).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _rewritten(source: str, filename: str, runtime: str) -> str:
    """The text of a module with `runtime` in place of pyjitc in its imports; all lines keep their numbers."""
    lines = source.splitlines(keepends=True)
    changes = []  # (line, offset in bytes, old, new) of names in import statements
    for node in ast.walk(ast.parse(source, filename)):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == _NAME:
            if node.module != _NAME:
                raise BuildError(f"{filename}:{node.lineno} imports from {node.module}, which a package that is built "
                                 f"ahead of time is without; it has what is imported from {_NAME} itself")
            for alias in node.names:
                if alias.name not in door.LATER and alias.name not in ("njit", "jit"):
                    raise BuildError(f"{filename}:{node.lineno} imports {alias.name} from {_NAME}, which needs the "
                                     "compiler at run time; functions under njit and jit can be built ahead of time")
            line = lines[node.lineno - 1].encode()
            found = re.compile(rb"from\s+").match(line, node.col_offset)
            if found is None or not line[found.end():].startswith(_NAME.encode()):
                raise BuildError(f"{filename}:{node.lineno}: write `from {_NAME} import` in one line")
            changes.append((node.lineno, found.end(), _NAME, runtime))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] != _NAME:
                    continue
                if alias.name != _NAME:
                    raise BuildError(f"{filename}:{node.lineno} imports {alias.name}, which a package that is built "
                                     "ahead of time is without")
                changes.append((alias.lineno, alias.col_offset, _NAME,
                                runtime if alias.asname else f"{runtime} as {_NAME}"))
    for number, offset, old, new in sorted(changes, reverse=True):
        line = lines[number - 1].encode()
        lines[number - 1] = (line[:offset] + new.encode() + line[offset + len(old):]).decode()
    return "".join(lines)


def runtime_files(project: Project) -> dict[str, bytes]:
    """The part of pyjitc that is shipped with the project."""
    version = sys.modules[_NAME].__version__
    found = {"__init__.py": _TOP.format(name=_NAME, version=version, project=project.name).encode()}
    for part in PARTS:
        for path in [_PACKAGE / part] if part.endswith(".py") else sorted((_PACKAGE / part).glob("*.py")):
            found[path.relative_to(_PACKAGE).as_posix()] = path.read_bytes()
    found |= {path: content.encode() for path, content in _IN_PLACE.items()}
    named = f"{project.runtime}.".encode()
    found = {path: re.sub(rb'(lazy\(f?")' + _NAME.encode() + rb"\.", lambda m: m[1] + named, data)
             for path, data in found.items() if path not in _WITHOUT}
    for licence in (_PACKAGE.parent / "LICENSE", *_PACKAGE.parent.glob(f"{_NAME}-*.dist-info/**/LICENSE")):
        if licence.is_file():
            found["LICENSE"] = licence.read_bytes()
            break
    found = {f"{project.runtime}/{path}": data for path, data in found.items()}
    found[f"{project.runtime}/code/{sys.implementation.cache_tag}"] = _together(found, project.runtime)
    return found


def _together(files: dict[str, bytes], runtime: str) -> bytes:
    """The modules that the import of this part of pyjitc loads, as one file for this Python: {module: (whether it is a
    package, its file, its code)}."""
    found: dict[str, tuple] = {}

    def visit(path: str) -> None:
        name = module_of(path)
        if name in found or path not in files:
            return
        package = path.endswith("/__init__.py")
        tree = ast.parse(files[path].decode())
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        tree.body = [node for node in tree.body if node not in imports or node.module != "__future__"]
        code = compile(tree, path, "exec", __future__.annotations.compiler_flag, dont_inherit=True, optimize=2)
        found[name] = package, path[len(runtime) + 1:], code
        for node in imports:
            if node.level:
                base = name.split(".")[:len(name.split(".")) - node.level + package]
                inside = "/".join(base + (node.module or "").split(".") if node.module else base)
                for other in (inside, *(f"{inside}/{alias.name}" for alias in node.names)):
                    visit(f"{other}.py")
                    visit(f"{other}/__init__.py")

    visit(f"{runtime}/api/__init__.py")
    for package in ("base", "runtime"):
        visit(f"{runtime}/{package}/__init__.py")
    visit(f"{runtime}/api/shipped.py")
    visit(f"{runtime}/base/finder.py")
    return marshal.dumps(found)


# ---------------------------------------------------------------- compiling, in a process of its own


class _Finder:
    """Imports the modules of a project with placeholders for file names in their code."""

    def __init__(self, root: str, files: dict[str, bytes]):
        self.root = root
        self.paths = {module_of(path): path for path in files if path.endswith(".py")}
        self.files = files

    def find_spec(self, name: str, path=None, target=None):
        path = self.paths.get(name)
        if path is None:
            return None
        full = os.path.join(self.root, path)
        package = path.endswith("__init__.py")
        spec = ModuleSpec(name, self, origin=full, is_package=package)
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [os.path.dirname(full)]
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module) -> None:
        path = self.paths[module.__spec__.name]
        name, source = relocated.placeholder(path), self.files[path].decode()
        linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
        exec(compile(source, name, "exec", dont_inherit=True), vars(module))


class _Made:
    """Records what the compiler makes. tables: name of a module -> (signatures, variants); rows: (module, function,
    signature), for the report to the user; refused: (function, why)."""

    def __init__(self, modules, runtime: str):
        self.modules = modules
        self.runtime = runtime
        self.tables: dict[str, tuple[dict, dict]] = {}
        self.rows: dict[tuple[str, str, str], None] = {}
        self.refused: dict[tuple[str, str], None] = {}

    def note(self, function, types, options, form, entry) -> None:
        if function.__module__ not in self.modules or form is not None:
            return
        refused = self.why_not(types, entry)
        if refused:
            self.refused[f"{function.__module__}.{function.__qualname__}", refused] = None
            return
        signatures, variants = self.tables.setdefault(function.__module__, ({}, {}))
        shown = f"({', '.join(map(str, types))})"
        known = signatures.setdefault(shipped.name_of(function), [])
        signature = shown, options.declared, _is_named(shown, types)
        if signature not in known:
            known.append(signature)
        code, runtime, *rest = entry.variant
        variant = (code, runtime, *_renamed(tuple(rest), self.runtime))
        there = variants.setdefault(shipped.key_of(function, types, options), [])
        if all(other[-1] != variant[-1] for other in there):
            there.append(variant)
        self.rows[function.__module__, function.__qualname__, f"{shown} -> {entry.result}"] = None

    def why_not(self, types, entry) -> str:
        if not portable.portable(tuple(map(portable.type_key, types))):
            return "the type of an argument has no name by which the package could find it"
        if any(made[0] == "name" and made[1] == f"{_NAME}.runtime.native_iterators" for _, made in entry.objects):
            return "it returns an iterator, whose steps are compiled where it runs; return an array or a list"
        for _, made in entry.objects:
            if not portable.portable(made):
                return f"its code refers to {made[1].value!r}, which has no name by which the package could find it"
        if not portable.portable(entry.guards):
            return "it depends on a value that has no name by which the package could find it"
        return ""


def _is_named(shown: str, types) -> bool:
    """Whether a text determines these types."""
    try:
        return tuple(text.parse_list(shown)[1]) == tuple(types)
    except ValueError:
        return False


def _renamed(part, runtime: str):
    """A part of a variant with the names that pyjitc's modules have in the package."""
    if type(part) is tuple:
        return tuple(_renamed(one, runtime) for one in part)
    if type(part) is str and part.startswith(f"{_NAME}."):
        return runtime + part[len(_NAME):]
    return part


def work(job: dict) -> dict:
    """Import a project and compile it for one level of processors. job: the dict that `_compiled` makes."""
    if job["level"] != "native":
        link.choose(job["level"])
    cache.key_of = lambda *_, **__: None  # code that another process has cached is for another processor
    finder = _Finder(job["root"], job["files"])
    sys.meta_path.insert(0, finder)
    sys.path.insert(0, job["root"])
    importlib.import_module(f"{_NAME}.api.jit")
    sys.modules[job["runtime"]] = sys.modules[_NAME]
    made = _Made(finder.paths, job["runtime"])
    make = specialisation.make

    def recorded(function, types, options, args, own, form=None):
        native = make(function, types, options, args, own, form)
        made.note(function, types, options, form, native.entry)
        return native

    specialisation.make = recorded
    try:
        modules = [importlib.import_module(module_of(path)) for path in job["modules"]]
        given = list(job["types"])
        for module in modules:
            given += [f"{module.__name__}.{one}" for one in getattr(module, "__pyjitc_types__", ())]
        for one in given:
            _compile(one, modules)
        for command in job["runs"]:
            _run(command)
    except BuildError as error:
        return {"error": str(error)}
    except CompileError as error:
        return {"error": relocated.shown(str(error))}
    except Exception:
        return {"error": relocated.shown(traceback.format_exc())}
    known = {name for _, name, _ in made.rows}
    silent = [one for one in gc.get_objects() if isinstance(one, CompiledFunction)
              and one.__module__ in finder.paths and one.__qualname__ not in known]
    for one in silent:  # a module without code has a file that says so
        made.tables.setdefault(one.__module__, ({}, {}))
    return {"tables": made.tables, "rows": list(made.rows), "refused": list(made.refused),
            "silent": sorted({f"{one.__module__}.{one.__qualname__}" for one in silent}),
            "flags": sorted(shipped.flags_here()) if job["level"] == "native" else []}


def _compile(given: str, modules) -> None:
    """Compile for a signature as `--types` gives it, "f(float64[:], int64)"; the name may begin with the module's."""
    name, bracket, rest = given.partition("(")
    for module in modules:
        inner = name[len(module.__name__) + 1:] if name.startswith(f"{module.__name__}.") else name
        found = module
        for part in inner.strip().split("."):
            found = getattr(found, part, None)
        if isinstance(found, CompiledFunction):
            found.compile(_checked(given))
            return
    raise BuildError(f"{given!r}: no module that is built has a compiled function {name.strip()!r}")


def _checked(given: str) -> str:
    """The types of a signature as `--types` gives it."""
    name, bracket, rest = given.partition("(")
    if not bracket:
        raise BuildError(f"{given!r}: write a function and the types of its arguments, as in 'total(float64[:])'")
    try:
        signature_of(bracket + rest)
    except (ValueError, TypeError) as error:
        raise BuildError(f"{given!r}: {error}") from None
    return bracket + rest


def _run(command: str) -> None:
    words = shlex.split(command)
    sys.argv = words[1:] if words[0] == "-m" else words
    try:
        if words[0] == "-m":
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(pathlib.Path(words[0]).resolve().parent))
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as error:
        if error.code not in (None, 0):
            raise BuildError(f"--run {command!r} ended with {error.code!r}") from None


def _compiled(project: Project, level: str, types, runs) -> dict:
    """The result of `work`, run in a process of its own."""
    job = {"level": level, "root": str(project.root), "files": project.files, "runtime": project.runtime,
           "modules": project.rewritten, "types": list(types), "runs": list(runs)}
    environment = {name: value for name, value in os.environ.items() if name not in ("PYJITC_CACHE", "PYJITC_DISABLE")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_PACKAGE.parent), environment.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory() as folder:
        given, made = os.path.join(folder, "given"), os.path.join(folder, "made")
        with open(given, "wb") as file:
            marshal.dump(job, file)
        program = (f"import marshal; from {__name__} import work\n"
                   f"made = work(marshal.load(open({given!r}, 'rb'))); marshal.dump(made, open({made!r}, 'wb'))")
        code = subprocess.run([sys.executable, "-c", program], env=environment).returncode
        if code or not os.path.exists(made):
            raise BuildError(f"the process that compiles for {level} ended with exit code {code}")
        with open(made, "rb") as file:
            found = marshal.load(file)
    if "error" in found:
        raise BuildError(found["error"])
    return found


# ---------------------------------------------------------------- the result


def build(project: Project, levels, types=(), runs=()) -> tuple[dict[str, bytes], dict]:
    """(files of the built project, result of `work` for the first level)."""
    files = {**project.files, **runtime_files(project)}
    first = None
    for level in levels:
        found = _compiled(project, level, types, runs)
        first = first or found
        for module, (signatures, variants) in found["tables"].items():
            path = f"{project.runtime}/code/{shipped.file_name(module, level)}"
            files[path] = marshal.dumps((found["flags"], signatures, variants))
    if not first["rows"]:
        for name, why in first["refused"]:
            raise BuildError(f"{name} cannot be built ahead of time: {why}")
        raise BuildError("no function has a signature to be compiled for: write one in its decorator, as in "
                         'njit("float64(float64[:])"), or give --types or --run')
    return files, first


def make(target: pathlib.Path, levels, types, runs, output: pathlib.Path, wheel: bool, version: str,
         platform: str) -> tuple[pathlib.Path, dict]:
    """(the wheel or the folder that was made, result of `work`)."""
    for one in types:
        _checked(one)
    with tempfile.TemporaryDirectory() as folder:
        if target.is_dir() and not (target / "__init__.py").is_file():
            target, wheel = _wheel_of(target, folder), True
        if target.suffix == ".whl":
            project, about = opened(target, pathlib.Path(folder) / "unpacked")
            wheel = True
        else:
            project = project_of(target)
            about = metadata(project.name, version)
        files, found = build(project, levels, types, runs)
    if wheel:
        return write_wheel(files, about, output, platform), found
    write_tree(files, output)
    return output, found


def _wheel_of(folder: pathlib.Path, where: str) -> pathlib.Path:
    """The wheel that pip makes of a project, with the build backend that is installed here."""
    if not any((folder / name).is_file() for name in ("pyproject.toml", "setup.py", "setup.cfg")):
        raise BuildError(f"{folder} is no package, it has no __init__.py, and no project, it has no pyproject.toml and "
                         "no setup.py")
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", where,
                           str(folder)], capture_output=True, text=True)
    made = list(pathlib.Path(where).glob("*.whl"))
    if done.returncode or not made:
        why = [line.strip() for line in done.stderr.splitlines() if re.match(r"\s*\w*(error|Error):? ", line)]
        raise BuildError(f"pip made no wheel of {folder}: {'; '.join(why) or done.stderr.strip()[-500:]} (install "
                         "what its build backend needs, such as setuptools and wheel)")
    return made[0]


def write_tree(files: dict[str, bytes], folder: pathlib.Path) -> None:
    for path, data in files.items():
        full = folder / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(data)


def opened(wheel: pathlib.Path, folder: pathlib.Path) -> tuple[Project, dict[str, bytes]]:
    """The project in a wheel, unpacked into the folder, and the wheel's metadata."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    paths = _files(folder)
    about = {str(path.relative_to(folder)): path.read_bytes() for path in paths
             if path.relative_to(folder).parts[0].endswith(".dist-info")}
    rest = [path for path in paths if not path.relative_to(folder).parts[0].endswith((".dist-info", ".data"))]
    return Project(wheel.name.split("-")[0], folder, rest), about


def metadata(name: str, version: str) -> dict[str, bytes]:
    """The metadata for a wheel of a module or package that has none."""
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    return {f"{name}-{version}.dist-info/METADATA": about.encode()}


def write_wheel(files: dict[str, bytes], about: dict[str, bytes], folder: pathlib.Path, platform: str) -> pathlib.Path:
    """Write a wheel of the files for this Python; about: its metadata, in which fields that differ are replaced."""
    info = next(iter(about)).partition("/")[0]
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    about = {path: data for path, data in about.items() if path.rpartition("/")[2] not in ("RECORD", "WHEEL")}
    main = f"{info}/METADATA"
    about[main] = _requiring(about[main].decode()).encode()
    about[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: {_NAME} {sys.modules[_NAME].__version__}\n"
                              f"Root-Is-Purelib: false\nTag: {tag}-{tag}-{platform}\n").encode()
    every = {**files, **about}
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in every.items())
    every[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{info.removesuffix('.dist-info')}-{tag}-{tag}-{platform}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in every.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(importlib.import_module("hashlib").sha256(data).digest()).rstrip(b"=").decode()


def _requiring(about: str) -> str:
    """Metadata of a package that needs NumPy, and not pyjitc."""
    head, blank, body = about.partition("\n\n")
    lines = [line for line in head.splitlines()
             if not re.match(rf"Requires-Dist:\s*{_NAME}\b", line) or "extra ==" in line]
    if not any(re.match(r"Requires-Dist:\s*numpy\b", line) for line in lines):
        lines.append("Requires-Dist: numpy>=2.0")
    return "\n".join(lines) + (blank + body if blank else "\n")
