"""Structured arrays, records and mutable structures."""
import numpy as np
from numba import from_dtype, int32, njit, types, typeof
from numba.core.extending import overload_method
from numba.experimental import structref

PARTICLE = np.dtype([("x", np.float64), ("y", np.float64), ("mass", np.float32), ("kind", np.int32)])


@njit
def centre_of_mass(particles):
    x = y = mass = 0.0
    for i in range(particles.size):
        p = particles[i]
        x += p.x * p.mass
        y += p["y"] * p["mass"]
        mass += p.mass
    return x / mass, y / mass


@njit
def pushed(particles, by):
    for i in range(len(particles)):
        particles[i].x += by
        particles[i]["kind"] = i
    return particles


@njit
def columns(particles):
    return particles["x"].sum() + particles.y.max(), particles.kind.copy()


@njit
def potential(p, q):
    return p.mass * q.mass / np.sqrt((p.x - q.x) ** 2 + (p.y - q.y) ** 2)


@njit
def heaviest(particles):
    best = particles[0]
    for p in particles:
        if p.mass > best.mass:
            best = p
    return best.kind


@structref.register
class AccountType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(t)) for name, t in fields)


class Account(structref.StructRefProxy):
    def __new__(cls, owner, balances):
        return structref.StructRefProxy.__new__(cls, owner, balances)

    @property
    def owner(self):
        return owner_of(self)

    @property
    def balances(self):
        return balances_of(self)


@njit
def owner_of(self):
    return self.owner


@njit
def balances_of(self):
    return self.balances


structref.define_proxy(Account, AccountType, ["owner", "balances"])


@overload_method(AccountType, "total")
def account_total(self):
    def total(self):
        return self.balances.sum()
    return total


@njit
def booked(account, n, amount):
    account.balances[n] += amount
    return account.total()


@njit
def opened(owner, n):
    return Account(owner, np.zeros(n))


def main():
    particles = np.zeros(3, PARTICLE)
    particles["x"], particles["y"], particles["mass"] = [0, 1, 2], [1, 1, 4], [1, 2, 1]
    assert centre_of_mass(particles) == (1.0, 1.75)
    assert pushed(particles, 0.5) is particles or particles["x"][0] == 0.5
    total, kinds = columns(particles)
    assert total == 4.5 + 4.0 and kinds.tolist() == [0, 1, 2]
    assert abs(potential(particles[0], particles[1]) - 2.0) < 1e-12
    assert heaviest(particles) == 1
    record = from_dtype(PARTICLE)
    assert record.typeof("mass") == types.float32 and typeof(particles).dtype == record and len(record) == 4
    account = Account("ada", np.array([1.0, 2.0]))
    assert booked(account, 1, 5.0) == 8.0 and account.owner == "ada" and account.balances.tolist() == [1.0, 7.0]
    assert opened("bob", 3).balances.tolist() == [0.0] * 3
    assert int32(2.9) == 2


if __name__ == "__main__":
    main()
