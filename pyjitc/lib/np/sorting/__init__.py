"""Sorting, searching in sorted arrays, and sets."""
