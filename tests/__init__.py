"""Tests, with a folder for every room of the package. `tests.oracle` compares compiled functions with the
interpreter."""
