"""Numerical analysis of one variable: differences, integrals, interpolation, polynomials, convolution, windows."""
