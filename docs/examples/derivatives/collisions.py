"""A ball thrown so that it comes down in a basket after it has bounced: the gradient goes through the collisions.

How often the ball bounces, and on which step, depends on the throw. `python collisions.py`
"""
import math

import pyjitc

STEP, BASKET = 1e-3, 6.0


def distance(speed, angle):
    """How far from the basket the ball comes to the ground for the third time."""
    x, y = 0.0, 1.5
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    bounces = 0
    while bounces < 3:
        vy -= 9.81 * STEP
        x += vx * STEP
        y += vy * STEP
        if y < 0.0:
            back = y / vy  # the time since it touched the ground
            x -= vx * back
            y = 0.0
            vx, vy = 0.9 * vx, -0.7 * vy
            bounces += 1
    return (x - BASKET) ** 2


def throw(speed=3.0, angle=0.9, rounds=60):
    """A throw that hits: (speed, angle, distance)."""
    gradient = pyjitc.value_and_grad(distance, (0, 1))
    for _ in range(rounds):
        value, (by_speed, by_angle) = gradient(speed, angle)
        step = value / (by_speed ** 2 + by_angle ** 2 + 1e-12)
        speed -= step * by_speed
        angle -= step * by_angle
    return speed, angle, math.sqrt(distance(speed, angle))


if __name__ == "__main__":
    print("speed {:.3f}, angle {:.3f}, {:.1e} from the basket".format(*throw()))
