"""Benchmarks: `python -m bench [SUITE ...] [--peers numba,cpython] [--json FILE] [--quick]`."""
