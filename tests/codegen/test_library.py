"""The loaded library of LLVM: the memory that it keeps."""
import subprocess
import sys

import pytest

PAGES = '''
from pyjitc.codegen import llvm
from pyjitc import njit

def resident():
    """Kilobytes of the library's code that are in memory."""
    found, ours = 0, False
    for line in open("/proc/self/smaps"):
        if "-" in line.split()[0]:
            ours = line.rstrip().endswith("libllvmlite.so") and " r-xp " in line
        elif ours and line.startswith("Rss:"):
            found += int(line.split()[1])
    return found

llvm._library()
print(resident())
assert njit(lambda x: x + 1)(2) == 3
print(resident())
'''


@pytest.mark.skipif(sys.platform != "linux", reason="pages are counted in /proc")
def test_pages_that_only_loading_reads_are_let_go():
    done = subprocess.run([sys.executable, "-c", PAGES], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    loaded, used = map(int, done.stdout.split())
    assert loaded < 2_000 < used  # the pages that compiling needs are loaded again
