"""Ufuncs and operators, of one number and of whole arrays: which loop NumPy takes, and what an element becomes."""
