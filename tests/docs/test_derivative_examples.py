"""The programs of docs/examples/derivatives do what they say."""
import importlib.util
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "examples" / "derivatives"


def example(name):
    spec = importlib.util.spec_from_file_location(f"examples_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_ball_that_bounces():
    collisions = example("collisions")
    speed, angle, left = collisions.throw()
    assert left < 1e-5 < collisions.distance(3.0, 0.9)
    assert collisions.distance(speed, angle) < 1e-10


def test_parameters_of_differential_equations():
    ode = example("ode")
    found = ode.fit(ode.solve(ode.TRUE, 8), np.array([1.0, 0.35, 0.09, 0.45]))
    np.testing.assert_allclose(found, ode.TRUE, rtol=1e-9)


def test_a_pendulum_that_is_swung_up():
    pendulum = example("pendulum")
    push, time = pendulum.find()
    assert abs(time - 4.0) < 1e-3 and abs(pendulum.time_to_the_top(push) - 4.0) < 0.02


def test_newtons_method_for_logistic_regression():
    logistic = example("logistic")
    w, norms = logistic.fit(*logistic.measured())
    assert norms[0] > 0.1 and norms[-2] < norms[-3] ** 1.5 and norms[-1] < 1e-8
    assert np.argmax(w) == 4
