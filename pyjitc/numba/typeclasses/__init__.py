"""The classes of Numba's types. `pyjitc.numba.types` has all their names."""
