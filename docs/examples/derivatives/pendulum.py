"""A pendulum that is swung up by a weak motor: the push is found by gradients through a `while` loop.

The motor pushes the way the pendulum moves, until the pendulum has enough energy to get to the top: how long that takes
depends on the push. Wanted is the push with which it is there after four seconds. `python pendulum.py`
"""
import math

import pyjitc

STEP = 1e-3


def time_to_the_top(push):
    angle, speed, time = 0.1, 0.0, 0.0
    energy = before = 0.5 * speed * speed - 9.81 * math.cos(angle)
    while energy < 9.81:
        way = 1.0 if speed >= 0.0 else -1.0
        speed += STEP * (push * way - 9.81 * math.sin(angle))
        angle += STEP * speed
        time += STEP
        before, energy = energy, 0.5 * speed * speed - 9.81 * math.cos(angle)
    return time - STEP * (energy - 9.81) / (energy - before)  # the moment between two steps


def find(wanted=4.0, push=2.0, rounds=25):
    """Newton's method for the push: (push, time that it takes)."""
    slope = pyjitc.value_and_grad(time_to_the_top)
    time = 0.0
    for _ in range(rounds):
        time, by_push = slope(push)
        push = max(0.5, push - max(-0.5, min(0.5, (time - wanted) / by_push)))
        if abs(time - wanted) < 1e-3:
            break
    return push, time


if __name__ == "__main__":
    print("push {:.4f}: at the top after {:.4f} s".format(*find()))
