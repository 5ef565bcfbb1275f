"""Iteration over arrays and shapes, and functions that apply a function."""
