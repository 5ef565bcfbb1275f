"""Making arrays and asking about them: creation, ranges, grids, dtypes, bytes, structured arrays."""
