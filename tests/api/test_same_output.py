"""The same input gives the same output in every process, whatever its hashes, its addresses and the functions compiled
before."""
import os
import subprocess
import sys


def test_three_processes_make_the_same_of_a_hundred_functions(tmp_path):
    """Two of them find whatever typed library functions other processes have left on disk, the third finds none."""
    command = [sys.executable, "-m", "tests.api.compile_many"]
    processes = [subprocess.Popen([*command, order], stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONHASHSEED": seed, "PYJITC_VERIFY": "0",
                                       "PYJITC_CUDA": "cpu", **prefix})
                 for seed, order, prefix in (("1", "forwards", {}), ("2", "backwards", {}),
                                             ("3", "forwards", {"PYTHONPYCACHEPREFIX": str(tmp_path)}))]
    outputs = [sorted(process.communicate(timeout=300)[0].splitlines()) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    first, *others = outputs
    assert len(first) >= 100
    for other in others:
        assert [line for line in other if line not in first] == []
