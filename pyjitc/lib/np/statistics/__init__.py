"""Order statistics, histograms, covariance."""
