"""Creating and inspecting arrays: creation, ranges, grids, dtypes, bytes, structured arrays."""
