"""The code of derivatives: no tape where none is needed, and loop nests that remain nests."""
import subprocess
import sys

import numpy as np
import pytest

import pyjitc
from pyjitc import grad, hessian, jacfwd, jvp, njit
from pyjitc.base.options import Options
from pyjitc.ir.parse import parse_module
from pyjitc.ir.show import show_module
from pyjitc.ops.table import OPS
from pyjitc.passes import pipeline
from pyjitc.passes.derivatives import merged
from pyjitc.pipeline import stages
from tests.derivatives.differences import agree

VECTOR = np.ones(5)


def body(function, *args):
    """The typed IR of the gradient of a function with respect to its first argument, before it is optimised."""
    made = grad(function)
    made(*args)
    seen = []

    def look(functions, name):
        if name == "derivatives":
            seen.append(show_module(functions))

    typed = stages.infer(made.py_func, made.signatures[0], Options())
    pipeline.run(typed.functions, Options(), stages._body, stages._helper, look)
    (text,) = seen
    return text


def is_kept(text):
    return "grown" in text or "roomy" in text or "pushed" in text or "zero: False" in text


def linear(u, n):
    for t in range(n):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * u[i - 1] + 0.25 * u[i + 1]
    return u[2]


def squares(x):
    s = 0.0
    for i in range(len(x)):
        s += (x[i] - 1.0) ** 2
    return s


def repeated(x, n):
    for t in range(n):
        x = x * x + 0.5
    return x


def while_loop(x, n):
    while x < 10.0:
        x = x * x + 0.5
    return x


def test_what_a_tape_holds_is_told():
    def told(function, *args):
        made = grad(function)
        made(*args)
        (text,) = made.inspect_tape().values()
        return text.split("\n")

    line = linear.__code__.co_firstlineno
    assert told(linear, VECTOR, 2) == [
        f"linear(), line {line + n}: the loop keeps nothing: what its derivative reads is not changed, or is computed "
        "again" for n in (1, 2)]
    line = repeated.__code__.co_firstlineno + 1
    assert told(repeated, 1.5, 3) == [f"repeated(), line {line}: the loop keeps 8 bytes for each visit, in an array "
                                      "that is made before it, with room for all: x"]
    assert "in an array that grows: x" in told(while_loop, 1.5, 3)[0]
    assert told(lambda x: x * x, 1.5) == ["no loop is reversed"]


def test_what_can_be_computed_again_is_not_kept():
    assert not is_kept(body(linear, VECTOR, 3))
    assert not is_kept(body(squares, VECTOR))


def test_a_counted_loop_keeps_what_it_needs_in_one_array():
    text = body(repeated, 1.0, 3)
    assert "roomy" not in text and "grown" not in text and text.count("array_store") == 1


def test_other_loops_have_a_tape_that_grows():
    text = body(while_loop, 1.0, 3)
    assert "roomy" in text


def test_whole_arrays_stay_nests():
    text = body(lambda x: np.sum(np.sin(x) * x), VECTOR)
    assert text.count(" nest ") >= 4 and "array_load" not in text and "branch" not in text


def test_programs_without_derivatives_load_nothing_of_them():
    code = ("import sys, numpy, pyjitc; f = pyjitc.njit(lambda x: x * 2.0, cache=False); f(1.0); f(numpy.ones(3)); "
            "print([n for n in sys.modules if 'derivatives' in n or 'adjoints' in n or 'transforms' in n])")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]", found.stdout


def test_a_gradient_is_inspected_as_any_compiled_function():
    made = grad(squares)
    made(VECTOR)
    (signature,) = made.signatures
    assert "fn squares.gradient(" in made.inspect_ir(signature) and "fmul" in made.inspect_llvm(signature)
    assert made.__name__ == "grad" and made.__qualname__ == "grad(squares)"


@pytest.mark.parametrize("n", [0, 1, 7])
def test_loops_that_do_not_run(n):
    x = np.arange(1.0, n + 1)
    np.testing.assert_allclose(grad(squares)(x), 2 * (x - 1))
    assert jvp(squares, (x,), (np.ones(n),))[0] == njit(squares)(x)


def test_steps_of_a_descent_leave_memory_flat():
    """Three programs: with a tape that grows, with one of array elements, and with one that is allocated for a counted
    loop."""
    import os

    def f(x, n):
        for i in range(n):
            x = np.sin(x) * 1.01
        y = x[0]
        while y < 10.0:
            y = y * y + 0.5
        return np.sum(x) + y

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    if not os.path.exists("/proc/self/statm"):
        pytest.skip("needs /proc")
    made, x = grad(f), np.linspace(1.1, 2.0, 1000)
    for _ in range(20):
        made(x, 20)
    before = resident()
    for _ in range(1000):
        made(x, 20)  # keeps 160 kB each
    assert resident() - before < 2_000_000


def relaxed(u, n):
    for t in range(n):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * u[i - 1] + 0.25 * u[i + 1]
    s = 0.0
    for i in range(len(u)):
        s += u[i] * u[i]
    return s


def overwritten(u):
    s = 0.0
    for i in range(len(u)):
        s += u[i] * u[i]
        u[i] = 1.0
    return s


def test_elements_that_nobody_changes_afterwards_are_read_again():
    assert not is_kept(body(relaxed, VECTOR, 3))
    assert is_kept(body(overwritten, VECTOR))
    agree(relaxed, np.linspace(0.0, 1.0, 7), 3)
    agree(overwritten, np.linspace(0.0, 1.0, 7))


def test_long_chains_of_numbers_that_are_read_twice_compile():
    space = {}
    exec("def chain(x):\n    s = 0.0\n    for i in range(len(x)):\n        y = x[i]\n"
         + "        y = y * y + 0.25 * y\n" * 40 + "        x[i] = y\n        s += y\n    return s\n", space)
    x = np.array([0.1, 0.2])
    y, d = x, np.ones(2)
    for _ in range(40):
        y, d = y * y + 0.25 * y, d * (2 * y + 0.25)
    np.testing.assert_allclose(grad(space["chain"])(x), d)


def stepped(u, a, n):
    for t in range(n):
        u = u + 0.1 * (np.tanh(a @ u) - u)
    return np.sum(u * u)


def test_a_step_of_whole_arrays_keeps_the_result_of_a_costly_function_and_copies_nothing():
    text = body(stepped, VECTOR, np.eye(5), 3)
    assert "@copied" not in text and "@put_row" in text
    assert "apply1.adjoint.1($0, $1, $2, $1)" in text  # of the adjoint and the result
    a = np.linspace(-0.4, 0.7, 25).reshape(5, 5)
    for n in (0, 1, 4):
        agree(stepped, np.linspace(0.1, 1.0, 5), a, n)
    agree(stepped, np.array([0.3]), a[:, :1], 1)  # the step broadcasts
    agree(stepped, np.array([0.3]), a[:1, :1], 3)


def test_products_in_a_loop_are_summed_and_assigned():
    def f(u, a, n):
        s, v = 0.0, np.zeros(len(u))
        for t in range(n):
            s += np.max(a @ u) + np.sum(np.exp(a @ u))
            v[:] = np.exp(u @ a)
            u = u + 0.1 * v
        return s + np.sum(u)

    agree(f, np.linspace(0.1, 1.0, 4), np.linspace(-0.4, 0.7, 16).reshape(4, 4), 3)


def sums(x, y, n):
    for t in range(n):
        x, y = x + y, x * y
    return np.sum(x) + np.sum(y)


def test_no_two_gradients_are_the_same_array():
    x, y = np.linspace(0.5, 1.0, 4), np.linspace(-1.0, 0.2, 4)
    for n in (0, 1, 2):
        agree(sums, x, y, n)
        by_x, by_y = grad(sums, (0, 1))(x, y, n)
        assert not np.shares_memory(by_x, by_y)
        by_x[:] = 7.0
        assert not np.any(by_y == 7.0)


@pytest.mark.parametrize("make", [
    lambda x: x, lambda x: x.astype(np.float32), lambda x: x[:0], lambda x: x[:1]])
def test_arrays_that_a_loop_makes_are_kept_in_any_form(make):
    def f(x, n):
        for t in range(n):
            x = np.sort(x, axis=0) * x + x.copy()[::-1]
        return np.sum(x)

    x = make(np.linspace(-1.0, 0.7, 20).reshape(5, 4))
    _, change = jvp(f, (x, 3), (np.cos(x), None))
    by_x = grad(f)(x, 3)
    assert by_x.dtype == x.dtype and by_x.shape == x.shape
    np.testing.assert_allclose(np.sum(by_x * np.cos(x)), change, 1e-5 if x.dtype == np.float32 else 1e-12)


def test_equal_functions_of_the_library_are_compiled_once():
    """The helpers of derivatives are inferred one by one; the product of matrices is in the module once, though the
    function and both of its adjoints call it."""
    made = grad(lambda a, b: np.mean(np.tanh(a @ b) ** 2), (0, 1))
    made(np.ones((3, 4)), np.ones((4, 2)))
    (text,) = made.inspect_llvm().values()
    assert len([line for line in text.splitlines() if line.startswith("define") and ".matmat(" in line]) == 1


@pytest.mark.parametrize("second, left", [("float32(0.0)", 2), ("float32(-0.0)", 3), ("float64(0.0)", 3)])
def test_equal_helpers_are_merged(second, left):
    of = second.partition("(")[0]
    main, *helpers = parse_module(f"""
fn main(x: int) -> int:
  entry(x: int):
    a = invoke @one(x) : float32
    b = invoke @two(x) : {of}
    return x
fn one(x: int) -> float32:
  entry(x: int):
    z = const float32(0.0) : float32
    return z
fn two(x: int) -> {of}:
  entry(x: int):
    z = const {second} : {of}
    return z
""", OPS)
    for fn in helpers:
        fn.library, fn.qualname = True, "helper"
    assert len(merged.run([main, *helpers])) == left


def test_constants_that_are_not_read_do_not_count():
    """An earlier compile of the process may have removed them from one of two functions."""
    main, *helpers = parse_module("""
fn main(x: int) -> int:
  entry(x: int):
    a = invoke @one(x) : int
    b = invoke @two(x) : int
    c = invoke @three(x) : int
    return x
fn one(x: int) -> int:
  entry(x: int):
    y = const 2 : int
    z = iadd x, y : int
    return z
fn two(x: int) -> int:
  entry(x: int):
    unread = const 1.0 : float
    y = const 2 : int
    z = iadd x, y : int
    return z
fn three(x: int) -> int:
  entry(x: int):
    y = const 3 : int
    z = iadd x, y : int
    return z
""", OPS)
    for fn in helpers:
        fn.library, fn.qualname = True, "helper"
    assert len(merged.run([main, *helpers])) == 3


def test_the_order_in_which_blocks_are_listed_does_not_count():
    """It differs between a function that was read from disk and one that this process has made."""
    main, *helpers = parse_module("""
fn main(x: int) -> int:
  entry(x: int):
    a = invoke @one(x) : int
    b = invoke @two(x) : int
    return x
fn one(x: int) -> int:
  entry(x: int):
    z = const 0 : int
    t = igt x, z : bool
    branch t -> more(), less()
  more():
    return x
  less():
    return z
fn two(x: int) -> int:
  entry(x: int):
    z = const 0 : int
    t = igt x, z : bool
    branch t -> more(), less()
  less():
    return z
  more():
    return x
""", OPS)
    for fn in helpers:
        fn.library, fn.qualname = True, "helper"
    assert len(merged.run([main, *helpers])) == 2


def filtered(params, seen):
    """The negative log-likelihood of measurements by a Kalman filter."""
    f, q, r = params["f"], np.diag(np.exp(params["q"])), np.diag(np.exp(params["r"]))
    mean, covariance = np.zeros(2), np.eye(2)
    total = 0.0
    for t in range(len(seen)):
        mean, covariance = f @ mean, f @ covariance @ f.T + q
        spread = covariance + r
        gain = covariance @ np.linalg.inv(spread)
        error = seen[t] - mean
        mean, covariance = mean + gain @ error, covariance - gain @ covariance
        total += error @ np.linalg.solve(spread, error)
    return total


PARAMETERS = {"f": np.array([[1.0, 0.1], [-0.2, 0.9]]), "q": np.array([0.1, 0.2]), "r": np.array([0.3, 0.1])}
SEEN = np.cos(np.arange(10.0).reshape(5, 2))


def split(x):
    return {"f": x[:4].reshape(2, 2), "q": x[4:6], "r": x[6:]}


def joined(params):
    return np.concatenate([x.ravel() for x in params.values()])


@pytest.fixture
def compiled_functions(monkeypatch):
    """The functions that derivatives were made of, and then those that are left of a module after inlining: (stage,
    name, number of instructions)."""
    seen = []

    def look(functions, name):
        if name in ("derivatives", "inline"):
            seen.extend((name, fn.name, sum(len(block.insts) for block in fn.blocks)) for fn in functions)

    monkeypatch.setattr(stages, "_observer", lambda: look)
    return seen


def test_a_hessian_by_all_leaves_of_a_tree_has_one_forward_derivative(compiled_functions):
    """The columns for all leaves are calls of one function: its tangents are zero except for one leaf. It is not larger
    than that of the Hessian by one array by more than what takes the leaves apart, a tenth."""
    found = hessian(filtered)(PARAMETERS, SEEN)
    functions = compiled_functions[:]
    assert len([name for stage, name, _ in functions if stage == "derivatives" and name.endswith(".push")]) == 1
    # the forward derivative computes the gradient, too: nothing else calls that
    assert not [name for stage, name, _ in functions if stage == "inline" and (
        name.endswith(".gradient") or name.startswith("grad("))], functions
    compiled_functions.clear()
    expected = hessian(lambda x, seen: filtered(split(x), seen))(joined(PARAMETERS), SEEN)
    sizes = [sum(size for stage, _, size in found if stage == "derivatives") for found in (
        functions, compiled_functions)]
    assert sizes[0] < 1.1 * sizes[1], (functions, compiled_functions)
    rows = [np.concatenate([block.reshape(x.size, -1) for block in found[name].values()], axis=1)
            for name, x in PARAMETERS.items()]
    np.testing.assert_allclose(np.concatenate(rows), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(expected, expected.T, rtol=1e-9, atol=1e-9)


def of_several(x, n, a, single, z):
    return np.array([a * x[0] * n, a * a + x[1] * x[0], single * a]) * z.real


def test_jacobians_by_several_arguments_have_one_forward_derivative(compiled_functions):
    """Also by a number, an array of float32 and one without elements; an argument that cannot vary is refused."""
    args = np.array([0.5, 2.0]), 3, 1.5, np.float32(0.25), np.zeros(0)
    made = jacfwd(lambda x, n, a, single, empty: of_several(x, n, a, single, 2.0) + np.sum(empty), (0, 2, 3, 4))
    by_x, by_a, by_single, by_empty = made(*args)
    np.testing.assert_allclose(by_x, [[9.0, 0.0], [4.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(by_a, [3.0, 6.0, 0.5])
    np.testing.assert_allclose(by_single, [0.0, 0.0, 3.0])
    assert by_empty.shape == (3, 0)
    assert len([name for stage, name, _ in compiled_functions if stage == "derivatives" and name.endswith(
        ".push")]) == 1
    with pytest.raises(pyjitc.TypingError, match="derivative of of_several.. by argument 1 is asked for, which is"):
        jacfwd(of_several, (0, 1))(np.array([0.5, 2.0]), 3, 1.5, np.float32(0.25), 1.0)
    with pytest.raises(TypeError, match="a Jacobian by complex numbers is"):
        jacfwd(of_several, (0, 4))(np.array([0.5, 2.0]), 3, 1.5, np.float32(0.25), 1j)


def test_an_argument_at_a_singular_point_does_not_disturb_the_jacobians_by_others():
    """Its tangents are zero in the sweeps for the others, where the derivatives of sqrt and norm are infinite."""
    def f(x, c):
        return np.sum(np.sqrt(x)) + np.linalg.norm(x) + np.hypot(x[0], x[1]) + c * c

    by_x, by_c = jacfwd(f, (0, 1))(np.zeros(2), 3.0)
    assert by_c == 6.0 and np.array_equal(by_x, jacfwd(f)(np.zeros(2), 3.0))
    by_w, by_c = hessian(lambda p: f(p[0], 0.0) * 0.0 + p[1] * p[1], 0)((np.ones(2), 3.0))[1]
    assert np.array_equal(by_w, np.zeros(2)) and by_c == 2.0
