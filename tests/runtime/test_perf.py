"""PYJITC_PERF: names of compiled code for `perf` and py-spy."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import os
import numpy as np
from pyjitc import cuda, njit
from pyjitc.runtime import perf

class Sums:
    @staticmethod
    @njit
    def of_products(a):
        s = 0.0
        for i in range(len(a)):
            for j in range(len(a)):
                s += a[i] * helper(a, j) // (1 + i)
        return s + np.sort(a)[0]

@njit
def helper(a, j):
    return j if j < 2 else helper(a, j - 1) + helper(a, j - 2)

@cuda.jit
def kernel(x):
    x[cuda.grid(1)] += 1.0

Sums.of_products(np.ones(3))
kernel[1, 4](np.ones(4))
def entries():
    found = {}
    with open(perf.path()) as lines:
        for line in lines:
            address, size, name = line.rstrip().split(" ", 2)
            found.setdefault(name, []).append((int(address, 16), int(size, 16)))
    return found
"""
CHECKS = {
    "names": """
assert f"pyjitc::Sums.of_products:{__file__}" in entries() and "pyjitc::helper" in entries(), entries()
assert f"pyjitc::kernel:{__file__}" in entries() and f"pyjitc::kernel:{__file__} (entry)" in entries()
""",
    "addresses": """
(native,) = Sums.of_products._natives.values()
entry = [native.address]
assert entry == [a for a, n in entries()[f"pyjitc::Sums.of_products:{__file__} (entry)"]]
import ctypes
start = ctypes.addressof(ctypes.c_char.from_buffer(native.image._memory))
for name in (f"pyjitc::Sums.of_products:{__file__}", "pyjitc::helper"):
    for address, size in entries()[name]:
        assert size > 0 and start <= address < address + size <= start + native.image.size
spans = sorted(span for spans in entries().values() for span in spans)
assert all(one + size <= other for (one, size), (other, _) in zip(spans, spans[1:]))
""",
    "files": """
import struct
(native,) = Sums.of_products._natives.values()
def mapped(address):
    with open("/proc/self/maps") as lines:
        for line in lines:
            span, rights, offset, _, _, *file = line.split()
            first, last = (int(x, 16) for x in span.split("-"))
            if first <= address < last:
                return rights, file[0], address - first + int(offset, 16)
def functions(content):
    at, = struct.unpack_from("<Q", content, 40)
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, at + 64 * n) for n in range(5)]
    table, names = sections[2], sections[3]
    for at in range(table[4] + 24, table[4] + table[5], 24):
        name, _, _, _, value, size = struct.unpack_from("<IBBHQQ", content, at)
        start = names[4] + name
        yield content[start:content.index(b"\\0", start)].decode(), value, size
for name, spans in entries().items():
    for address, size in spans:
        rights, file, place = mapped(address)
        assert rights == "r-xp" and os.path.dirname(file) == perf.folder(), (name, rights, file)
        with open(file, "rb") as content:
            content = content.read()
        assert (name, place, size) in set(functions(content))  # the addresses of the table are places in the file
assert os.stat(perf.folder()).st_mode & 0o77 == 0
assert Sums.of_products(np.ones(3)) == Sums.of_products.py_func(np.ones(3))
""",
    "child of a fork": """
before = entries()
child = os.fork()
if child == 0:
    njit(lambda x: x + 0.5)(1)
    now = entries()
    os.remove(perf.path())
    same = all(now[name] == spans for name, spans in before.items())
    os._exit(0 if same and any("<lambda>" in name for name in now) else 1)
assert os.waitpid(child, 0)[1] == 0 and entries() == before
""",
}


def run(tmp_path, source, **variables):
    script = tmp_path / "program.py"
    script.write_text(source)
    place = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), **variables}
    return subprocess.run([sys.executable, str(script)], env=place, capture_output=True, text=True)


@pytest.mark.parametrize("what", CHECKS)
def test_map(what, tmp_path):
    done = run(tmp_path, PROGRAM + CHECKS[what] + "os.remove(perf.path())\n", PYJITC_PERF="1")
    assert done.returncode == 0, done.stderr


def test_nothing_is_written_unasked(tmp_path):
    assert run(tmp_path, PROGRAM + "assert not os.path.exists(perf.path())", PYJITC_PERF="0").returncode == 0


def test_a_file_that_cannot_be_written_is_told_once(tmp_path):
    link = "import os\nos.symlink('/nowhere', f'/tmp/perf-{os.getpid()}.map')\n"
    done = run(tmp_path, link + PROGRAM + "os.remove(perf.path())\n", PYJITC_PERF="1")
    assert done.returncode == 0 and done.stderr.count("RuntimeWarning: PYJITC_PERF: /tmp/perf-") == 1, done.stderr


def test_code_runs_where_it_cannot_be_mapped_from_a_file(tmp_path):
    nowhere = "from pyjitc.runtime import perf\nperf._folders.append('/nowhere')\n"
    done = run(tmp_path, nowhere + PROGRAM + CHECKS["addresses"] + "os.remove(perf.path())\n", PYJITC_PERF="1")
    assert done.returncode == 0 and done.stderr.count("RuntimeWarning: PYJITC_PERF: code cannot") == 1, done.stderr


BUSY = "from pyjitc import njit\n\n@njit\ndef busy(n):\n    s = 0\n    for i in range(n):\n" \
       "        s ^= i * i % 7\n    return s\n\nbusy(400_000_000)\n"


@pytest.mark.skipif(shutil.which("py-spy") is None, reason="py-spy is not installed")
def test_py_spy_finds_the_names(tmp_path):
    script, stacks = tmp_path / "busy.py", tmp_path / "stacks"
    script.write_text(BUSY)
    place = {**os.environ, "PYTHONPATH": str(ROOT), "PYJITC_PERF": "1", "TMPDIR": str(tmp_path)}
    command = ["py-spy", "record", "--native", "-f", "raw", "-o", str(stacks), "--", sys.executable, str(script)]
    recorded = subprocess.run(command, env=place, capture_output=True, text=True)
    if recorded.returncode:
        pytest.skip(f"py-spy may not record here: {recorded.stderr.strip()[:100]}")
    assert ";pyjitc::busy:" in stacks.read_text()


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is not installed")
def test_perf_finds_the_names(tmp_path):
    script, data = tmp_path / "busy.py", tmp_path / "perf.data"
    script.write_text(BUSY)
    place = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    command = ["perf", "record", "-q", "-o", str(data), sys.executable, "-m", "pyjitc", "run", "--perf", str(script)]
    recorded = subprocess.run(command, env=place, capture_output=True, text=True)
    if recorded.returncode:
        pytest.skip(f"perf may not record here: {recorded.stderr.strip()[:100]}")
    report = subprocess.run(["perf", "report", "-i", str(data), "--stdio"], capture_output=True, text=True).stdout
    first = next(line for line in report.splitlines() if line and not line.startswith("#"))
    assert "pyjitc::busy:" in first, report[:2000]


def test_folders_of_processes_that_ended_a_day_ago_are_removed(tmp_path, monkeypatch):
    from pyjitc.runtime import perf

    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    made = {name: tmp_path / name for name in (
        f"pyjitc-{ended.pid}-old", f"pyjitc-{ended.pid}-new", f"pyjitc-{os.getpid()}-living", "pyjitc-cache-old",
        f"other-{ended.pid}-old")}
    for name, path in made.items():
        path.mkdir()
        (path / "code.so").touch()
        if not name.endswith("new"):
            os.utime(path, (0, 0))
    (tmp_path / f"pyjitc-{ended.pid}-link").symlink_to(made["pyjitc-cache-old"])
    monkeypatch.setattr(perf.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(perf, "_folders", [])
    own = pathlib.Path(perf.folder())
    assert own.parent == tmp_path and own.is_dir()
    assert [name for name, path in made.items() if not path.exists()] == [f"pyjitc-{ended.pid}-old"]
    assert all((path / "code.so").exists() for path in made.values() if path.exists())
