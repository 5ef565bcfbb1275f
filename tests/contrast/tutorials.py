"""Programs of the kinds that tutorials of JAX show, each written twice by one text: `jax` is the module jax or pyjitc,
`np` is jax.numpy or NumPy. Each returns what is compared.

`python -m tests.contrast.tutorials` runs them with JAX and writes what it returns, as one number for each, which
`test_tutorials.py` expects also where there is no JAX."""
import inspect
import json
import sys
from collections import namedtuple
from functools import partial
from pathlib import Path

import numpy

FILE = Path(__file__).with_suffix(".json")

R = numpy.random.default_rng(0)
POINTS, TARGETS = R.normal(size=(4, 3)), numpy.array([1.0, 1.0, 0.0, 1.0])
W, MATRIX, ROWS = R.normal(size=3), R.normal(size=(150, 100)), R.normal(size=(10, 100))
LAYERS = [(R.normal(size=(n, m)) * 0.5, R.normal(size=m) * 0.1) for n, m in ((3, 5), (5, 4), (4, 1))]
ALONG_W, ALONG_ROWS = R.normal(size=3), R.normal(size=4)
TABLE, ALONG_TABLE = R.normal(size=(30, 100)), R.normal(size=(30, 100))
LAST = R.normal(size=(5, 1)), R.normal(size=1)
State = namedtuple("State", "hidden cell")
Mixture = namedtuple("Mixture", "logits means spread")


# the quickstart and the cookbook of derivatives

def derivatives_of_tanh(jax, np):
    def tanh(x):
        return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))

    g = jax.grad(tanh)
    return g(2.0), jax.grad(g)(2.0), jax.grad(jax.grad(jax.grad(tanh)))(2.0)


def selu(jax, np):
    def f(x, alpha=1.67, lmbda=1.05):
        return lmbda * np.where(x > 0, x, alpha * np.exp(x) - alpha)

    x = np.arange(5.0)
    return jax.jit(f)(x), jax.grad(lambda x: np.sum(f(x)))(x), jax.vmap(jax.grad(f))(x - 2.0)


def sum_of_logistics(jax, np):
    def f(x):
        return np.sum(1.0 / (1.0 + np.exp(-x)))

    x = np.arange(3.0)
    return jax.grad(f)(x), jax.jit(jax.jacfwd(jax.jacrev(f)))(x), jax.hessian(f)(x)


def logistic(jax, np):
    def sigmoid(x):
        return 0.5 * (np.tanh(x / 2) + 1)

    def predict(W, b, inputs):
        return sigmoid(np.dot(inputs, W) + b)

    def loss(W, b):
        preds = predict(W, b, inputs)
        label_probs = preds * targets + (1 - preds) * (1 - targets)
        return -np.sum(np.log(label_probs))

    inputs, targets, w, b = np.array(POINTS), np.array(TARGETS), np.array(W), 0.3
    first = jax.grad(loss, argnums=0)(w, b)
    second = jax.grad(loss, 1)(w, b)
    both = jax.grad(loss, (0, 1))(w, b)
    value, pair = jax.value_and_grad(loss, (0, 1))(w, b)

    def loss2(params_dict):
        preds = predict(params_dict["W"], params_dict["b"], inputs)
        label_probs = preds * targets + (1 - preds) * (1 - targets)
        return -np.sum(np.log(label_probs))

    by_dict = jax.grad(loss2)({"W": w, "b": b})
    def f(W):
        return predict(W, b, inputs)

    J, K = jax.jacfwd(f)(w), jax.jacrev(f)(w)
    hess = jax.jacfwd(jax.jacrev(f))(w)
    trees = jax.jacrev(lambda p: predict(p["W"], p["b"], inputs))({"W": w, "b": b})
    return first, second, both, value, pair, by_dict, J, K, hess, trees


def products_with_jacobians(jax, np):
    def f(W):
        return 0.5 * (np.tanh((np.dot(inputs, W) + 0.3) / 2) + 1)

    inputs, w, v, u = np.array(POINTS), np.array(W), np.array(ALONG_W), np.array(ALONG_ROWS)
    y, u1 = jax.jvp(f, (w,), (v,))
    y2, vjp_fun = jax.vjp(f, w)
    return y, u1, y2, vjp_fun(u)[0]


def products_with_hessians(jax, np):
    def hvp(f, primals, tangents):
        return jax.jvp(jax.grad(f), primals, tangents)[1]

    def f(X):
        return np.sum(np.tanh(X) ** 2)

    def hvp_revfwd(f, primals, tangents):
        def g(primals):
            return jax.jvp(f, primals, tangents)[1]

        return jax.grad(g)(primals)

    def hvp_revrev(f, primals, tangents):
        x, = primals
        v, = tangents
        return jax.grad(lambda x: np.vdot(jax.grad(f)(x), v))(x)

    X, V = np.array(TABLE), np.array(ALONG_TABLE)
    return (hvp(f, (X,), (V,)), hvp_revfwd(f, (X,), (V,)), hvp_revrev(f, (X,), (V,)),
            jax.grad(lambda x: np.vdot(jax.grad(f)(x), V))(X))


def matrices_of_products(jax, np):
    """Rows of cotangents by vmap, as the cookbook's vmjp."""
    def f(W):
        return 0.5 * (np.tanh((np.dot(inputs, W) + 0.3) / 2) + 1)

    def vmjp(f, x, M):
        y, vjp_fun = jax.vjp(f, x)
        outs, = jax.vmap(vjp_fun)(M)
        return outs

    def jmp(f, W, M):
        def _jvp(s):
            return jax.jvp(f, (W,), (s,))[1]

        return jax.vmap(_jvp)(M)

    def our_jacrev(f):
        def jacfun(x):
            y, vjp_fun = jax.vjp(f, x)
            J, = jax.vmap(vjp_fun, in_axes=0)(np.eye(len(y)))
            return J
        return jacfun

    def our_jacfwd(f):
        def jacfun(x):
            def _jvp(s):
                return jax.jvp(f, (x,), (s,))[1]

            Jt = jax.vmap(_jvp, in_axes=1)(np.eye(len(x)))
            return np.transpose(Jt)
        return jacfun

    inputs, w = np.array(POINTS), np.array(W)
    return (vmjp(f, w, np.eye(4)), jmp(f, w, np.eye(3)), our_jacrev(f)(w), our_jacfwd(f)(w))


def complex_numbers(jax, np):
    def f(z):
        x, y = np.real(z), np.imag(z)
        return x * x + 2.0 * y

    def g(z):
        return np.sin(z) * z

    def h(z):
        return np.abs(z) ** 2 * np.real(np.exp(z))

    z = 3.0 + 4j
    return jax.grad(f)(z), jax.grad(g, holomorphic=True)(z), jax.grad(h)(1.0 + 0.5j), jax.vjp(f, z)[1](1.0)


def cholesky(jax, np):
    def f(x):
        a = np.array([[5.0, 2.0 + x, 1.0], [2.0 + x, 7.0, x], [1.0, x, 6.0]])
        return np.sum(np.linalg.cholesky(a) ** 3)

    return jax.grad(f)(0.5)


def per_example(jax, np):
    def loss(params, x, y):
        w, b = params
        return (np.dot(w, x) + b - y) ** 2

    params = (np.array(W), 0.2)
    grads = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0), out_axes=0))(params, np.array(POINTS),
                                                                              np.array(TARGETS))
    return grads


def temporal_difference(jax, np):
    def value_fn(theta, state):
        return np.dot(theta, state)

    def td_loss(theta, s_prev, r_t, s_t):
        v_prev = value_fn(theta, s_prev)
        target = r_t + value_fn(theta, s_t)
        return -0.5 * ((jax.lax.stop_gradient(target) if hasattr(jax, "lax") else jax.stop_gradient(target))
                       - v_prev) ** 2

    theta, s_prev, s_t = np.array([0.1, -0.1, 0.0]), np.array([1.0, 2.0, -1.0]), np.array([2.0, 1.0, 0.0])
    return jax.grad(td_loss)(theta, s_prev, np.array(1.0), s_t)


def straight_through(jax, np):
    stop = jax.lax.stop_gradient if hasattr(jax, "lax") else jax.stop_gradient

    def f(x):
        return np.round(x)

    def straight(x):
        zero = x - stop(x)
        return zero + stop(f(x))

    return jax.grad(f)(5.6), jax.grad(straight)(5.6), straight(5.6)


def meta_learning(jax, np):
    def loss(w, x):
        return np.sum((np.tanh(x @ w) - 0.3) ** 2)

    def meta_loss(w, x):
        grads = jax.grad(loss)(w, x)
        return loss(w - 0.1 * grads, x)

    return jax.grad(meta_loss)(np.array(W), np.array(POINTS))


# automatic vectorisation

def convolutions(jax, np):
    def convolve(x, w):
        output = []
        for i in range(1, len(x) - 1):
            output.append(np.dot(x[i - 1:i + 2], w))
        return np.array(output)

    x, w = np.arange(5.0), np.array([2.0, 3.0, 4.0])
    xs, ws = np.stack([x, x, x]), np.stack([w, 2 * w, 3 * w])
    return (convolve(x, w), jax.vmap(convolve)(xs, ws), jax.vmap(convolve, in_axes=1, out_axes=1)(xs.T, ws.T),
            jax.vmap(convolve, in_axes=[0, None])(xs, w), jax.jit(jax.vmap(convolve))(xs, ws))


def matrices_by_vectors(jax, np):
    mat = np.array(MATRIX)
    def apply_matrix(x):
        return np.dot(mat, x)

    return jax.jit(jax.vmap(apply_matrix))(np.array(ROWS))


def nested_batches(jax, np):
    def dot(x, y):
        return np.vdot(x, y)

    outer = jax.vmap(jax.vmap(dot, (0, None)), (None, 0))
    mm = jax.vmap(jax.vmap(dot, (None, 1)), (0, None))
    return outer(np.array(POINTS), np.array(POINTS)[:2]), mm(np.array(POINTS), np.array(POINTS).T)


def axes_in_trees(jax, np):
    def f(tree, y):
        return tree["a"] * y + np.sum(tree["b"][0])

    tree = {"a": np.arange(3.0), "b": (np.array(POINTS),)}
    return (jax.vmap(f, in_axes=({"a": 0, "b": (1,)}, None))(tree, 2.0),
            jax.vmap(lambda x: (x, {"s": x * 2}), out_axes=(0, {"s": 0}))(np.arange(3.0)))


# custom rules

def log1pexp(jax, np):
    @jax.custom_jvp
    def log1pexp(x):
        return np.log(1.0 + np.exp(x))

    @log1pexp.defjvp
    def log1pexp_jvp(primals, tangents):
        x, = primals
        x_dot, = tangents
        ans = log1pexp(x)
        ans_dot = (1 - 1 / (1 + np.exp(x))) * x_dot
        return ans, ans_dot

    return (jax.grad(log1pexp)(3.0), jax.vmap(jax.jit(jax.grad(log1pexp)))(np.arange(3.0)), jax.grad(log1pexp)(100.0),
            jax.jvp(log1pexp, (3.0,), (1.0,)), jax.grad(jax.grad(log1pexp))(2.0))


def custom_jvps(jax, np):
    @jax.custom_jvp
    def f(x, y):
        return np.sin(x) * y

    f.defjvps(lambda x_dot, primal_out, x, y: np.cos(x) * x_dot * y,
              lambda y_dot, primal_out, x, y: np.sin(x) * y_dot)
    return jax.grad(f, (0, 1))(2.0, 3.0), jax.jvp(f, (2.0, 3.0), (1.0, 0.5))


def clipped_gradients(jax, np):
    @partial(jax.custom_vjp, nondiff_argnums=(0, 1))
    def clip_gradient(lo, hi, x):
        return x

    def clip_gradient_fwd(lo, hi, x):
        return x, None

    def clip_gradient_bwd(lo, hi, _, g):
        return (np.clip(g, lo, hi),)

    clip_gradient.defvjp(clip_gradient_fwd, clip_gradient_bwd)

    def clip_sin(x):
        x = clip_gradient(-0.75, 0.75, x)
        return np.sin(x)

    t = np.linspace(0, 10, 20)
    return jax.vmap(clip_sin)(t), jax.vmap(jax.grad(clip_sin))(t)


def custom_vjp_with_residuals(jax, np):
    @jax.custom_vjp
    def f(x, y):
        return np.sin(x) * y

    def f_fwd(x, y):
        return f(x, y), (np.cos(x), np.sin(x), y)

    def f_bwd(res, g):
        cos_x, sin_x, y = res
        return (cos_x * g * y, sin_x * g)

    f.defvjp(f_fwd, f_bwd)
    return jax.grad(f, (0, 1))(2.0, 3.0), jax.vmap(jax.grad(f), (0, None))(np.arange(3.0), 2.0)


Point = namedtuple("Point", "x y")


def custom_rules_of_trees(jax, np):
    @jax.custom_jvp
    def f(pt):
        return {"a": pt.x ** 2, "b": (np.sin(pt.x), np.cos(pt.y))}

    @f.defjvp
    def f_jvp(primals, tangents):
        pt, = primals
        pt_dot, = tangents
        ans = f(pt)
        return ans, {"a": 2 * pt.x * pt_dot.x, "b": (np.cos(pt.x) * pt_dot.x, -np.sin(pt.y) * pt_dot.y)}

    def fun(pt):
        dct = f(pt)
        return dct["a"] + dct["b"][0]

    return jax.grad(fun)(Point(1.0, 2.0))


def fixed_point(jax, np):
    """Newton's method for the square root, and its derivative by the implicit function theorem."""
    def solve(a):
        x = a
        for _ in range(30):
            x = 0.5 * (x + a / x)
        return x

    @jax.custom_vjp
    def root(a):
        return solve(a)

    root.defvjp(lambda a: (root(a), root(a)), lambda x, g: (g / (2 * x),))
    return jax.grad(root)(2.0), jax.grad(solve)(2.0)


# trees

def networks(jax, np):
    def forward(params, x):
        for w, b in params[:-1]:
            x = np.tanh(x @ w + b)
        w, b = params[-1]
        return x @ w + b

    def loss(params, x, y):
        return np.mean((forward(params, x) - y) ** 2)

    tree = jax.tree
    params = [(np.array(w), np.array(b)) for w, b in LAYERS]
    x, y = np.array(POINTS), np.array(TARGETS)[:, None]
    for _ in range(5):
        grads = jax.grad(loss)(params, x, y)
        params = tree.map(lambda p, g: p - 0.05 * g, params, grads)
    return params, loss(params, x, y)


def networks_of_dicts(jax, np):
    def forward(params, x):
        *hidden, last = params
        for layer in hidden:
            x = np.maximum(x @ layer["weights"] + layer["biases"], 0.0)
        return x @ last["weights"] + last["biases"]

    def loss(params, x, y):
        return np.mean((forward(params, x) - y) ** 2)

    def update(params, x, y):
        grads = jax.grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)

    params = [dict(weights=np.array(w), biases=np.array(b)) for w, b in (LAYERS[0], LAST)]
    for _ in range(5):
        params = jax.jit(update)(params, np.array(POINTS), np.array(TARGETS)[:, None])
    return params


def tree_utilities(jax, np):
    tree = jax.tree
    example = [1, {"k1": 2, "k2": (3, 4)}, [5.0, None]]
    leaves, definition = tree.flatten(example)
    return (tree.map(lambda x: x * 2, example), leaves, tree.unflatten(definition, leaves),
            tree.leaves(example), tree.map(lambda x, y: x + y, [1, 2], [3, 4]))


# optimisers

def adam(jax, np):
    def loss(params, x, y):
        return np.mean((x @ params["w"] + params["b"] - y) ** 2)

    def init(params):
        zeros = jax.tree.map(lambda p: np.zeros_like(p), params)
        return zeros, jax.tree.map(lambda p: np.zeros_like(p), params)

    def step(params, state, t, x, y):
        m, v = state
        value, g = jax.value_and_grad(loss)(params, x, y)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        params = jax.tree.map(lambda p, m, v: p - 0.1 * (m / (1 - 0.9 ** t)) / (np.sqrt(v / (1 - 0.999 ** t)) + 1e-8),
                              params, m, v)
        return params, (m, v), value

    params = {"w": np.array(W), "b": np.array(0.0)}
    state = init(params)
    values = []
    step = jax.jit(step)
    for t in range(1, 11):
        params, state, value = step(params, state, float(t), np.array(POINTS), np.array(TARGETS))
        values.append(value)
    return params, values


def momentum(jax, np):
    def loss(w):
        return np.sum((np.array(POINTS) @ w - np.array(TARGETS)) ** 2)

    w, velocity = np.array(W), np.zeros(3)
    g = jax.jit(jax.grad(loss))
    for _ in range(20):
        velocity = 0.9 * velocity - 0.01 * g(w)
        w = w + velocity
    return w


def newton(jax, np):
    def f(x):
        return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    x = np.array([0.9, 0.7, 0.6])
    for _ in range(5):
        x = x - np.linalg.solve(jax.hessian(f)(x), jax.grad(f)(x))
    return x


# models

def recurrent(jax, np):
    """A recurrent network, by a loop where JAX's tutorials have scan."""
    def step(params, state, x):
        return np.tanh(state @ params["hidden"] + x @ params["input"] + params["bias"])

    def loss(params, xs, target):
        state = np.zeros(4)
        outputs = []
        for x in xs:
            state = step(params, state, x)
            outputs.append(state @ params["output"])
        return np.mean((np.stack(outputs) - target) ** 2)

    params = {"hidden": np.array(MATRIX[:4, :4]) * 0.3, "input": np.array(MATRIX[:3, 4:8]), "bias": np.zeros(4),
              "output": np.array(MATRIX[4:8, 0])}
    return jax.value_and_grad(loss)(params, np.array(POINTS), np.array(TARGETS))


def gated(jax, np):
    """A recurrent network with gates, whose state is a named tuple."""
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    def step(w, state, x):
        gates = np.concatenate((state.hidden, x)) @ w
        i, f, g, o = gates[:2], gates[2:4], gates[4:6], gates[6:]
        cell = sigmoid(f) * state.cell + sigmoid(i) * np.tanh(g)
        return State(sigmoid(o) * np.tanh(cell), cell)

    def loss(w, xs):
        state = State(np.zeros(2), np.zeros(2))
        for n in range(xs.shape[0]):
            state = step(w, state, xs[n])
        return np.sum(state.hidden ** 2) + np.sum(state.cell)

    w = np.array(TABLE[:5, :8]) * 0.5
    return jax.value_and_grad(loss)(w, np.array(POINTS)), jax.jvp(jax.grad(loss), (w, np.array(POINTS)), (
        np.array(TABLE[5:10, :8]), np.array(POINTS) * 0.1))


def attention(jax, np):
    def normalised(x, gain):
        return gain * (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5)

    def softmax(x):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    def block(params, x):
        y = normalised(x, params["gain"])
        q, k, v = (y @ params[name] for name in ("q", "k", "v"))
        scores = np.where(np.tril(np.ones((x.shape[0], x.shape[0]))) > 0, q @ k.T / np.sqrt(3.0), -1e9)
        return x + softmax(scores) @ v

    def loss(params, x):
        return np.sum(block(params, block(params, x)) ** 2)

    params = {name: np.array(TABLE[3 * n:3 * n + 3, :3]) for n, name in enumerate(("q", "k", "v"))}
    params = {**params, "gain": np.ones(3)}
    return jax.value_and_grad(loss)(params, np.array(POINTS)), jax.vmap(loss, in_axes=(None, 0))(
        params, np.stack([np.array(POINTS), np.array(POINTS) * 2.0]))


def differential_equation(jax, np):
    """A network as the right side of a differential equation, solved by Runge's and Kutta's method."""
    def slope(params, y, t):
        (w1, b1), (w2, b2) = params
        return np.tanh(y @ w1 + b1 * t) @ w2 + b2

    def solve(params, y, steps):
        h = 1.0 / steps
        for n in range(steps):
            t = n * h
            k1 = slope(params, y, t)
            k2 = slope(params, y + 0.5 * h * k1, t + 0.5 * h)
            k3 = slope(params, y + 0.5 * h * k2, t + 0.5 * h)
            k4 = slope(params, y + h * k3, t + h)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return y

    def loss(params, ys):
        ends = jax.vmap(lambda y: solve(params, y, 8))(ys)
        return np.mean(ends ** 2)

    params = [(np.array(TABLE[:3, :6]), np.array(TABLE[3, :6])), (np.array(TABLE[4:10, :3]), np.array(TABLE[10, :3]))]
    return jax.value_and_grad(loss)(params, np.array(POINTS))


def pendulums(jax, np):
    """The accelerations that follow from a Lagrange function, as its second derivatives say."""
    def lagrange(q, v):
        kinetic = v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1])
        return kinetic + 9.81 * (2.0 * np.cos(q[0]) + np.cos(q[1]))

    def acceleration(q, v):
        mass = jax.hessian(lagrange, 1)(q, v)
        force = jax.grad(lagrange, 0)(q, v) - jax.jacfwd(jax.grad(lagrange, 1), 0)(q, v) @ v
        return np.linalg.solve(mass, force)

    q, v = np.array([0.3, -0.7]), np.array([0.5, 1.1])
    qs, vs = np.stack([q, 2 * q, 3 * q]), np.stack([v, v, -v])
    return acceleration(q, v), jax.vmap(acceleration)(qs, vs)


def hamilton(jax, np):
    """Steps of the leapfrog method with the gradient of the energy inside of the loop, and the gradient of it all."""
    def energy(q, p, k):
        return 0.5 * np.sum(p ** 2) + 0.25 * k * np.sum(q ** 4)

    def end(q, p, k):
        for _ in range(10):
            p = p - 0.05 * jax.grad(energy, 0)(q, p, k)
            q = q + 0.1 * jax.grad(energy, 1)(q, p, k)
            p = p - 0.05 * jax.grad(energy, 0)(q, p, k)
        return np.sum(q * p) + energy(q, p, k)

    q, p = np.array(W), np.array(ALONG_W)
    return jax.value_and_grad(end, (0, 1, 2))(q, p, 1.5)


def gaussian_process(jax, np):
    def kernel(params, x, y):
        return np.exp(params["scale"]) * np.exp(-0.5 * np.sum((x - y) ** 2) * np.exp(-params["length"]))

    def gram(params, xs):
        return jax.vmap(lambda x: jax.vmap(lambda y: kernel(params, x, y))(xs))(xs)

    def loss(params, xs, ys):
        covariance = gram(params, xs) + np.exp(params["noise"]) * np.eye(xs.shape[0])
        half = np.linalg.cholesky(covariance)
        white = np.linalg.solve(half, ys)
        return 0.5 * np.sum(white ** 2) + np.sum(np.log(np.diag(half)))

    params = {"scale": np.array(0.1), "length": np.array(0.3), "noise": np.array(-1.0)}
    return jax.value_and_grad(loss)(params, np.array(POINTS), np.array(TARGETS))


def variational(jax, np):
    """The evidence's lower bound by samples that are reparametrised."""
    def log_density(z):
        return -0.5 * np.sum(z ** 2) + np.sum(np.cos(z))

    def bound(params, noise):
        mean, log_deviation = params
        samples = jax.vmap(lambda e: mean + np.exp(log_deviation) * e)(noise)
        return np.mean(jax.vmap(log_density)(samples)) + np.sum(log_deviation)

    noise = np.array(TABLE[:10, :3])
    params = (np.array(W), np.array(ALONG_W) * 0.1)
    for _ in range(5):
        value, gradient = jax.value_and_grad(bound)(params, noise)
        params = jax.tree.map(lambda p, g: p + 0.1 * g, params, gradient)
    return params, value


def mixture(jax, np):
    """A mixture of normal distributions, with logarithms of sums of exponentials."""
    def log_sum_exp(x):
        m = np.max(x)
        return m + np.log(np.sum(np.exp(x - m)))

    def log_likelihood(params, x):
        logits = params.logits - log_sum_exp(params.logits)
        each = logits - 0.5 * np.sum((x - params.means) ** 2 * np.exp(-params.spread), axis=1) - 0.5 * np.sum(
            params.spread, axis=1)
        return log_sum_exp(each)

    def loss(params, xs):
        return -np.mean(jax.vmap(log_likelihood, in_axes=(None, 0))(params, xs))

    params = Mixture(np.zeros(2), np.array(TABLE[:2, :3]), np.zeros((2, 3)))
    return jax.value_and_grad(loss)(params, np.array(POINTS)), jax.vmap(jax.grad(log_likelihood), in_axes=(None, 0))(
        params, np.array(POINTS))


def filtered(jax, np):
    """The likelihood of measurements by Kalman's filter."""
    def loss(params, seen):
        a, noise = params["a"], np.exp(params["noise"])
        mean, covariance = np.zeros(2), np.eye(2)
        total = 0.0
        for n in range(seen.shape[0]):
            mean, covariance = a @ mean, a @ covariance @ a.T + noise * np.eye(2)
            spread = covariance[0, 0] + 0.1
            gain = covariance[:, 0] / spread
            error = seen[n] - mean[0]
            total = total + 0.5 * (error * error / spread + np.log(spread))
            mean, covariance = mean + gain * error, covariance - np.outer(gain, covariance[0])
        return total

    params = {"a": np.array([[1.0, 0.1], [-0.2, 0.9]]), "noise": -1.0}
    return jax.value_and_grad(loss)(params, np.array(TABLE[0, :12])), jax.jit(jax.grad(loss))(
        params, np.array(TABLE[1, :12]))


def images(jax, np):
    """A convolution of images by slices, the largest of each two, and a gradient for each example."""
    def convolved(x, w):
        n = x.shape[0] - 2
        return sum(w[i, j] * x[i:i + n, j:j + n] for i in range(3) for j in range(3))

    def loss(params, x, y):
        h = np.maximum(convolved(x, params["filter"]) + params["bias"], 0.0)
        pooled = np.max(h.reshape(4, 2, 4, 2), axis=(1, 3))
        return (np.sum(pooled * params["dense"]) - y) ** 2

    params = {"filter": np.array(TABLE[:3, :3]), "bias": np.array(0.1), "dense": np.array(TABLE[3:7, :4])}
    xs = np.array(TABLE[10:30, :50]).reshape(10, 10, 10)
    return jax.vmap(jax.value_and_grad(loss), in_axes=(None, 0, 0))(params, xs, np.arange(10.0))


def implicit_layer(jax, np):
    """The fixed point of a layer, by iteration until it is found, and its derivative by the implicit function
    theorem, of which the equation is solved by iteration, too."""
    def iterate(f, x):
        for _ in range(60):
            x = f(x)
        return x

    def layer(params, x, z):
        w, u = params
        return np.tanh(w @ z + u @ x)

    @jax.custom_vjp
    def equilibrium(params, x):
        return iterate(lambda z: layer(params, x, z), np.zeros(3))

    def forward(params, x):
        z = equilibrium(params, x)
        return z, (params, x, z)

    def backward(kept, g):
        params, x, z = kept
        _, by_z = jax.vjp(lambda z: layer(params, x, z), z)
        v = iterate(lambda v: g + by_z(v)[0], np.zeros(3))
        _, by_rest = jax.vjp(lambda params, x: layer(params, x, z), params, x)
        return by_rest(v)

    equilibrium.defvjp(forward, backward)
    params = (np.array(TABLE[:3, :3]) * 0.2, np.array(TABLE[3:6, :3]))

    def loss(params, x):
        return np.sum(equilibrium(params, x) ** 2)

    return jax.value_and_grad(loss, (0, 1))(params, np.array(W))


def higher_jacobians(jax, np):
    def f(x):
        return np.stack([x[0] * x[1] ** 2, np.sin(x[2]) * x[0], np.prod(x)])

    x = np.array(W)
    return jax.jacfwd(jax.jacrev(f))(x), jax.jacrev(jax.jacfwd(f))(x), jax.jacrev(jax.jacrev(f))(x)


def jacobians_by_several_arguments(jax, np):
    """The derivatives by the arguments form a tuple at each leaf of the result, also inside of a compiled function."""
    def f(p, x, s):
        return {"y": np.tanh(p["w"] * x) * p["b"], "z": [s * np.sum(x * x), x]}

    def beside(p, x, s):
        return f(p, x, s), {"scaled": s * x}

    def loss(p, x, s):
        return np.sum(np.tanh(p["w"] * x) * s) * p["b"]

    def compiled(made):
        return jax.jit(lambda w, x: made({"w": w, "b": 0.7}, x, 1.5))(np.array(W), np.array(ALONG_W))

    given = {"w": np.array(W), "b": 0.7}, np.array(ALONG_W), 1.5
    of = [jax.jacfwd(f, (0, 1)), jax.jacrev(f, (2, 0)), jax.jacrev(f, (-2,)), jax.jacfwd(beside, (1, 2), has_aux=True),
          jax.jacrev(beside, (0, 1, 2), has_aux=True), jax.hessian(loss, (0, 1)), jax.hessian(loss, (2, 1)),
          jax.jacrev(jax.jacrev(loss, (1, 2)), (0, 2))]
    return [one(*given) for one in of], [compiled(one) for one in of]


def influences(jax, np):
    """How each example influences the solution, by products with the inverse of a Hessian, by conjugate gradients."""
    def loss(w, x, y):
        return np.log1p(np.exp(-(2.0 * y - 1.0) * (x @ w)))

    def total(w):
        return np.mean(jax.vmap(loss, in_axes=(None, 0, 0))(w, xs, ys)) + 0.05 * np.sum(w ** 2)

    def product(w, v):
        return jax.jvp(jax.grad(total), (w,), (v,))[1]

    def solved(w, b):
        x, r, p = np.zeros(3), b, b
        for _ in range(3):
            ap = product(w, p)
            step = (r @ r) / (p @ ap)
            x, rest = x + step * p, r - step * ap
            p, r = rest + (rest @ rest) / (r @ r) * p, rest
        return x

    xs, ys, w = np.array(POINTS), np.array(TARGETS), np.array(W)
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(w, xs, ys)
    return jax.vmap(lambda g: solved(w, g))(each)


def devices(jax, np):
    """One device, as where pmap has one: a leading axis of length 1."""
    def loss(params, x, y):
        return np.mean((x @ params["w"] + params["b"] - y) ** 2)

    params = {"w": np.array(W), "b": np.array(0.5)}
    return jax.pmap(jax.value_and_grad(loss), in_axes=(None, 0, 0))(
        params, np.array(POINTS)[None], np.array(TARGETS)[None])


# sharp bits, with what tracing can take of them

def side_results(jax, np):
    def loss(w, x, y):
        predictions = x @ w
        return np.mean((predictions - y) ** 2), {"predictions": predictions}

    return jax.value_and_grad(loss, has_aux=True)(np.array(W), np.array(POINTS), np.array(TARGETS))


def branches(jax, np):
    def f(x):
        if x < 3:
            return 3.0 * x ** 2
        return -4 * x

    return jax.grad(f)(2.0), jax.grad(f)(4.0)


def linearised(jax, np):
    def f(x):
        return 3.0 * np.sin(x) + np.cos(x / 2.0)

    y, f_jvp = jax.linearize(f, 2.0)
    return y, f_jvp(3.0), f_jvp(-1.0)


def rematerialised(jax, np):
    def g(w, x):
        return np.sin(np.sin(w * x))

    def f(w1, w2, x):
        x = jax.checkpoint(g)(w1, x)
        return jax.checkpoint(g)(w2, x)

    return jax.grad(f, (0, 1))(1.5, -0.5, 0.7)


def safe_roots(jax, np):
    def f(x):
        safe = np.where(x > 0, x, 1.0)
        return np.sum(np.where(x > 0, np.sqrt(safe), 0.0))

    return jax.grad(f)(np.array([-1.0, 0.0, 4.0]))


def numbers_by_argnames(jax, np):
    def f(x, *, scale):
        return np.sum(np.sin(x) * scale)

    return jax.grad(f)(np.arange(3.0), scale=2.0)


PROGRAMS = {name: f for name, f in list(globals().items())
            if inspect.isfunction(f) and f.__code__.co_varnames[:2] == ("jax", "np")}


def leaves(x) -> list:
    """The numbers and arrays of a tree, those of dicts in the order of their keys."""
    if isinstance(x, dict):
        return [leaf for key in sorted(x) for leaf in leaves(x[key])]
    if isinstance(x, (tuple, list)):
        return [leaf for part in x for leaf in leaves(part)]
    return [] if x is None else [numpy.asarray(x)]


def as_number(x) -> float:
    """One number that depends on all numbers of a tree and on their places."""
    flat = numpy.concatenate([leaf.ravel() for leaf in leaves(x)])
    return float(numpy.sum((flat.real + 2.0 * flat.imag) * numpy.cos(numpy.arange(len(flat)))))


if __name__ == "__main__":
    import jax

    jax.config.update("jax_enable_x64", True)
    found = {name: as_number(f(jax, jax.numpy)) for name, f in PROGRAMS.items()}
    FILE.write_text(json.dumps(found, indent=1) + "\n")
    print(len(found), "programs", file=sys.stderr)
