# ruff: noqa: F821
"""The programs whose figures tutorials of a tracing JIT quote. The free name `njit` is as in bench.programs; `np` is
jax.numpy for JAX, and bench.contrast sets TRIPS."""


@njit
def selu(x, alpha=1.6732632423543772, scale=1.0507009873554805):
    return scale * np.where(x > 0, x, alpha * np.exp(x) - alpha)


@njit
def dense(x, weights, bias):
    return x @ weights + bias


@njit
def dense_relu(weights, x):
    return np.maximum(0, weights @ x)


@njit
def cube(x):
    return x * x * x


@njit
def long_loop(x):
    kept = x.copy()
    for _ in range(TRIPS):
        x = x * x
    return kept


@njit
def compounded(x):
    for _ in range(TRIPS):
        x = x * 1.0000001
    return x


@njit
def repeat_multiply(x, n):
    product = 1.0
    count = 0
    while count < n:
        product *= x
        count += 1
    return product


def anew():
    """A function that is made and compiled in each trip of a loop, as in a training loop or a notebook."""
    return njit(lambda x: x * 3.5 + 1.25)


# A user of a tracing JIT writes this instead of `repeat_multiply`: the loop stays in Python, its body is compiled.

@njit
def multiply(product, x):
    return product * x


def repeat_in_parts(x, n):
    product = 1.0
    count = 0
    while count < n:
        product = multiply(product, x)
        count += 1
    return product
