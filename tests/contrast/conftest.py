"""The tracing JIT as a fixture: a test that uses it is skipped where the tracing JIT is not installed."""
import os

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "row(*ids): rows of the contrast with tracing that the test is for")


@pytest.fixture
def jax():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return pytest.importorskip("jax")
