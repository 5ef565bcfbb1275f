"""Reductions along axes (sums, products, extremes, means) and scans (running sums, positions of extremes)."""
