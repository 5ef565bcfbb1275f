"""The sieve of Eratosthenes."""
import numpy as np

from pyjitc import njit


@njit
def count_primes(n):
    composite = np.zeros(n + 1, np.bool_)
    count = 0
    for i in range(2, n + 1):
        if not composite[i]:
            count += 1
            for multiple in range(i * i, n + 1, i):
                composite[multiple] = True
    return count


def load():
    return (2_000_000,)


def run(n):
    return count_primes(n)


def report(count, folder):
    return f"{count:,} primes up to 2,000,000"
