
from pyjitc import njit
def inner(x): return x + 20
@njit
def outer(x, y=2): return inner(x)
