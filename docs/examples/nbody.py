"""The sun and the four large planets under Newton's gravity: the classic n-body benchmark, on arrays."""
import math

import numpy as np

from pyjitc import njit

YEAR = 365.24
SOLAR_MASS = 4 * math.pi ** 2


@njit
def advance(position, velocity, mass, dt, steps):
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                square = dx * dx + dy * dy + dz * dz
                pull = dt / (square * math.sqrt(square))
                velocity[i, 0] -= dx * mass[j] * pull
                velocity[i, 1] -= dy * mass[j] * pull
                velocity[i, 2] -= dz * mass[j] * pull
                velocity[j, 0] += dx * mass[i] * pull
                velocity[j, 1] += dy * mass[i] * pull
                velocity[j, 2] += dz * mass[i] * pull
        for i in range(n):
            for k in range(3):
                position[i, k] += dt * velocity[i, k]


@njit
def energy(position, velocity, mass):
    total = 0.0
    n = len(mass)
    for i in range(n):
        speed = velocity[i, 0] ** 2 + velocity[i, 1] ** 2 + velocity[i, 2] ** 2
        total += 0.5 * mass[i] * speed
        for j in range(i + 1, n):
            dx = position[i, 0] - position[j, 0]
            dy = position[i, 1] - position[j, 1]
            dz = position[i, 2] - position[j, 2]
            total -= mass[i] * mass[j] / math.sqrt(dx * dx + dy * dy + dz * dz)
    return total


def load():
    position = np.array([
        [0, 0, 0],
        [4.84143144246472090, -1.16032004402742839, -0.103622044471123109],
        [8.34336671824457987, 4.12479856412430479, -0.403523417114321381],
        [12.8943695621391310, -15.1111514016986312, -0.223307578892655734],
        [15.3796971148509165, -25.9193146099879641, 0.179258772950371181],
    ])
    velocity = YEAR * np.array([
        [0, 0, 0],
        [0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023],
        [-0.00276742510726411030, 0.00499852801234917238, 0.0000230417297573763929],
        [0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556],
        [0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870],
    ])
    mass = SOLAR_MASS * np.array([1, 0.000954791938424326609, 0.000285885980666130812,
                                  0.0000436624404335156298, 0.0000515138902046611451])
    velocity[0] = -(velocity * mass[:, None]).sum(axis=0) / SOLAR_MASS  # the sun moves against the planets
    return position, velocity, mass


def run(position, velocity, mass):
    position, velocity = position.copy(), velocity.copy()
    before = energy(position, velocity, mass)
    advance(position, velocity, mass, 0.01, 20_000)
    return before, energy(position, velocity, mass), position


def report(result, folder):
    before, after, _ = result
    return f"energy {before:.9f} before, {after:.9f} after 20,000 steps"
