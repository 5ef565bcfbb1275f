"""Ufuncs and operators, of one number and of whole arrays: the loop that NumPy selects, and what it computes for an
element."""
