"""Indexing by numbers, integer arrays and boolean masks; taking, putting and choosing elements."""
