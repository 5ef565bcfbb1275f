"""Prices of European options after Black and Scholes, one option at a time."""
import math

import numpy as np

from pyjitc import njit


@njit
def normal(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@njit
def price(spot, strike, years, rate, volatility):
    """(call, put)"""
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    discounted = strike * math.exp(-rate * years)
    call = spot * normal(d1) - discounted * normal(d2)
    return call, call - spot + discounted


@njit
def prices(spot, strike, years, rate, volatility):
    n = len(spot)
    call = np.empty(n)
    put = np.empty(n)
    for i in range(n):
        call[i], put[i] = price(spot[i], strike[i], years[i], rate, volatility)
    return call, put


def load():
    random = np.random.default_rng(11)
    n = 200_000
    return random.uniform(10, 50, n), random.uniform(10, 50, n), random.uniform(0.1, 3, n), 0.03, 0.25


def run(spot, strike, years, rate, volatility):
    return prices(spot, strike, years, rate, volatility)


def report(result, folder):
    call, put = result
    return f"{len(call):,} options, mean call {call.mean():.4f}, mean put {put.mean():.4f}"
