"""A fixture that replaces the compiler with that of fake_compiler.py."""
import weakref

import pytest
from tests.api.fake_compiler import FakeCompiler

from pyjitc.pipeline import specialisation


@pytest.fixture
def fake(monkeypatch):
    compiler = FakeCompiler()
    monkeypatch.setattr(specialisation, "stages", compiler)
    monkeypatch.setattr("pyjitc.api.dispatch._stages", compiler)
    monkeypatch.setattr(specialisation, "_table", weakref.WeakKeyDictionary())
    return compiler
