"""Lloyd's k-means on scikit-learn's 1,797 handwritten digits of 8 x 8 pixels."""
import numpy as np
from sklearn.datasets import load_digits

from pyjitc import njit


@njit
def nearest(point, centers):
    best = 0
    smallest = np.inf
    for k in range(centers.shape[0]):
        distance = 0.0
        for j in range(len(point)):
            d = point[j] - centers[k, j]
            distance += d * d
        if distance < smallest:
            smallest = distance
            best = k
    return best


@njit
def kmeans(points, centers, rounds):
    """Moves `centers` in place until no point changes its cluster; returns (labels, rounds needed)."""
    n, width = points.shape
    clusters = centers.shape[0]
    labels = np.full(n, -1)
    sums = np.empty((clusters, width))
    counts = np.empty(clusters, np.int64)
    for done in range(rounds):
        moved = 0
        for i in range(n):
            k = nearest(points[i], centers)
            if k != labels[i]:
                labels[i] = k
                moved += 1
        if moved == 0:
            return labels, done
        for k in range(clusters):
            counts[k] = 0
            for j in range(width):
                sums[k, j] = 0.0
        for i in range(n):
            k = labels[i]
            counts[k] += 1
            for j in range(width):
                sums[k, j] += points[i, j]
        for k in range(clusters):
            if counts[k] > 0:
                for j in range(width):
                    centers[k, j] = sums[k, j] / counts[k]
    return labels, rounds


def load():
    digits = load_digits()
    return digits.data, digits.target


def run(points, digit):
    centers = points[:10].copy()  # the first ten images show the digits 0 to 9
    labels, rounds = kmeans(points, centers, 6)
    return labels, rounds, centers, digit


def report(result, folder):
    labels, rounds, _, digit = result
    right = sum(np.bincount(digit[labels == k]).max() for k in range(10) if (labels == k).any())
    return f"{rounds} rounds, {right / len(digit):.1%} of the digits share a cluster with their kind"
