"""Sorting, searching in what is sorted, and sets."""
