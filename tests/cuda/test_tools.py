"""NVIDIA's tools, replaced by scripts; code on disk that another process finds."""
import os
import subprocess
import sys

import numpy as np
import pytest

from pyjitc import cuda
from pyjitc.codegen import ptxas

SIGNATURE = "void(float64[::1])"


@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """The only folder with tools; tool(name, script) puts one there."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(ptxas, "_toolkits", lambda: [])
    monkeypatch.setattr(ptxas, "_from_packages", lambda function, name: None)
    usual = ptxas.shutil.which
    monkeypatch.setattr(ptxas.shutil, "which", lambda name: usual(name, path=str(tmp_path)))

    def tool(name, script):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho \"{name} $*\" >> {tmp_path}/log\n{script}\n")
        path.chmod(0o755)

    tool.log = lambda: (tmp_path / "log").read_text().splitlines()
    return tool


# This assembler writes its arguments, and prints what ptxas prints for a kernel.
ASSEMBLER = """for last; do :; done
previous=; for word; do [ "$previous" = -o ] && cp "$last" "$word"; previous=$word; done
cat >&2 <<'END'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'other' for 'sm_90'
ptxas info    : Used 99 registers, used 0 barriers
ptxas info    : Compiling entry function 'twice' for 'sm_90'
ptxas info    : Function properties for twice
    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers, 64 bytes smem, 368 bytes cmem[0]
END"""


def test_machine_code_by_either_disassembler(tools):
    tools("ptxas", ASSEMBLER)
    with pytest.raises(ptxas.AssemblyError,
                       match="nvdisasm and cuobjdump are not installed; they come with the CUDA toolkit"):
        twice.inspect_sass(SIGNATURE, "sm_90")
    tools("cuobjdump", "for last; do :; done\ngrep -c '.entry twice' \"$last\" && echo '/*0000*/ EXIT ;'")
    assert twice.inspect_sass(SIGNATURE, "sm_90") == "1\n/*0000*/ EXIT ;\n"
    assert tools.log()[-2].startswith("ptxas -v -arch=sm_90 -o ") and tools.log()[-1].startswith("cuobjdump -sass ")
    tools("nvdisasm", "echo from nvdisasm")
    assert twice.inspect_sass(SIGNATURE, "sm_90") == "from nvdisasm\n" and tools.log()[-1].startswith("nvdisasm -c ")
    tools("nvdisasm", "echo this is no cubin >&2; exit 1")
    with pytest.raises(ptxas.AssemblyError, match="nvdisasm: this is no cubin"):
        twice.inspect_sass(SIGNATURE, "sm_90")


def test_report_of_registers_and_spills(tools):
    tools("ptxas", ASSEMBLER)
    assert (twice.report(SIGNATURE, "sm_90")
            == ptxas.Report(registers=12, stack=16, spill_stores=24, spill_loads=32, shared=64, constant=368))
    tools("ptxas", "echo 'ptxas fatal: Unresolved extern function' >&2; exit 255")
    with pytest.raises(ptxas.AssemblyError,
                       match="ptxas refuses the code for sm_90:\nptxas fatal: Unresolved extern function"):
        twice.report(SIGNATURE, "sm_90")


# ---------------------------------------------------------------- code on disk

PROGRAM = """\
import sys
import numpy as np
from pyjitc import cuda
from pyjitc.cuda import devices
from pyjitc.codegen import link
from tests.cuda import fake_driver

SCALE = {scale}

@cuda.jit(cache=True)
def scaled(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] *= SCALE

library = fake_driver.FakeLibrary()
fake_driver.install(library)
x = cuda.to_device(np.ones(8))
scaled[1, 8](x, 8)
scaled[1, 8](x, 8)
(text, _), = library.modules.values()
print(".target sm_90" in text, len(library.launches), [name for name, *_ in library.launches], bool(link._machines),
      "llvmlite" in sys.modules)
"""
GRID = """\
import numpy as np
from pyjitc import cuda
from pyjitc.codegen import link

SCALE = {scale}

@cuda.jit(cache=True, debug={debug})
def scaled(x, n):
    s = cuda.shared.array(8, np.float64)
    i = cuda.grid(1)
    s[7 - i] = x[i]
    cuda.syncthreads()
    if i < n:
        x[i] = s[i] * SCALE

x = np.arange(8.0)
scaled[1, 8](x, 8)
print(x.tolist(), bool(link._machines))
"""


def run(folder, text, **values):
    path = folder / "program.py"
    content = text.format(**values)
    if not path.exists() or path.read_text() != content:
        path.write_text(content)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    environment = {**os.environ, "PYTHONPATH": root, "PYJITC_CACHE_DIR": str(folder / "cache"), "PYJITC_CUDA": "cpu"}
    done = subprocess.run([sys.executable, str(path)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_ptx_is_kept_for_other_processes(tmp_path):
    assert run(tmp_path, PROGRAM, scale=2.0) == "True 2 ['scaled', 'scaled'] True False"
    assert run(tmp_path, PROGRAM, scale=2.0) == "True 2 ['scaled', 'scaled'] False False"  # no compiler was needed
    # a global whose value is a constant in the code
    assert run(tmp_path, PROGRAM, scale=3.0) == "True 2 ['scaled', 'scaled'] True False"


@pytest.mark.parametrize("debug", [False, True])
def test_code_for_the_grid_is_kept_for_other_processes(tmp_path, debug):
    result = str((2.0 * np.arange(8.0)[::-1]).tolist())
    assert [run(tmp_path, GRID, scale=2.0, debug=debug) for _ in range(2)] == [f"{result} True", f"{result} False"]
    assert run(tmp_path, GRID, scale=4.0, debug=debug) == f"{(4.0 * np.arange(8.0)[::-1]).tolist()} True"


def test_typed_ir(capsys):
    kernel = cuda.jit(twice.py_func)
    kernel[1, 32](np.zeros(3))
    kernel.inspect_types()
    every = capsys.readouterr().out
    assert every.startswith("twice(float64[::1])\nfn twice(x: float64[::1]) -> None:") and "thread_id" in every
    kernel.inspect_types(sys.stderr, SIGNATURE)
    assert "thread_id" in capsys.readouterr().err
