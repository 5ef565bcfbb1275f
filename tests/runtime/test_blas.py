"""The libraries in which BLAS and LAPACK functions are found."""
import subprocess
import sys

import numpy as np
import pytest

from pyjitc.runtime import blas, loader


def test_functions_of_numpys_libraries():
    for name in ("dgemm", "sgemv", "ddot", "zgemm", "dgesv", "zheevd", "dgelsd"):
        assert blas.found(name) and loader.resolve(f"pyjitc_blas_{name}") == blas.address(name)


def test_a_name_that_no_library_has():
    assert blas.address("dnothing") is None and not blas.found("dnothing")
    with pytest.raises(loader.LoadError, match="unresolved symbol 'pyjitc_blas_dnothing'"):
        loader.resolve("pyjitc_blas_dnothing")


def test_scipys_functions_are_the_next_choice(monkeypatch):
    pytest.importorskip("scipy")
    import ctypes

    monkeypatch.setattr(blas, "_known", {})
    monkeypatch.setattr(blas, "_SPELLINGS", ())
    assert "SciPy" in blas.provider()
    assert blas.found("dgesv") and not blas.found("dnothing")
    dot = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * 5)(blas.address("ddot"))
    x = np.array([1.0, 2.0, 3.0])
    n, one = ctypes.c_int64(3), ctypes.c_int64(1)
    assert dot(ctypes.addressof(n), x.ctypes.data, ctypes.addressof(one), x.ctypes.data, ctypes.addressof(one)) == 14.0


def test_doing_without(monkeypatch):
    monkeypatch.setenv("PYJITC_BLAS", "none")
    assert not blas.found("dgemm") and blas.provider() == "none: own loops"


def test_info_names_the_library():
    shown = subprocess.run([sys.executable, "-m", "pyjitc", "info"], capture_output=True, text=True).stdout
    assert f"BLAS and LAPACK    {blas.provider()}" in shown


def test_cached_code_finds_them(tmp_path):
    script = tmp_path / "cached.py"
    script.write_text("import numpy as np\nfrom pyjitc import njit\n@njit(cache=True)\ndef f(a):\n    return "
                      "np.linalg.inv(a) @ a\n"
                      "print(abs(f(np.arange(9.0).reshape(3, 3) + 5 * np.eye(3)) - np.eye(3)).max() < 1e-12)\n")
    import os

    for _ in range(2):
        done = subprocess.run([sys.executable, str(script)],
                              env={**os.environ, "PYJITC_CACHE_DIR": str(tmp_path / "cache")}, capture_output=True,
                              text=True)
        assert done.stdout == "True\n", done.stderr
