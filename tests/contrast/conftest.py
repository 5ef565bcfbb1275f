"""The tracing JIT as a fixture: a test that asks for it is skipped where it is not installed."""
import os

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "row(*ids): rows of the contrast with tracing that the test is for")


@pytest.fixture
def jax():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return pytest.importorskip("jax")
