"""Random numbers, with the same streams as NumPy's."""
