"""Derivatives of typed functions, as typed functions: see make.py."""
