"""Tests, a folder for every room of the package; `tests.oracle` compares with the interpreter."""
