"""Linear algebra: products of arrays, factorisations by LAPACK, eigenvalues, norms."""
