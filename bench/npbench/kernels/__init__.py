"""Kernels of NPBench (github.com/spcl/npbench), many of which come from PolyBench, rewritten in the NumPy style in
which they are published there: the same operations on the same shapes. Sizes `small` are its preset S.

A kernel's function is named as the kernel. Functions that it calls stand beside it in its file; functions whose names
begin with `make_` make arguments and are never compiled.
"""
