"""Random numbers, as NumPy draws them, number for number."""
