"""Views and the shape of arrays: basic slices, reshape, transpose, joining, splitting, padding, sliding windows."""
