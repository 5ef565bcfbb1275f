"""Implementations of functions for vectors: table look-ups and rare cases, on processors that can permute a register
and on others."""
import re

import numpy as np
import pytest

from pyjitc import njit
from pyjitc.codegen import link
from pyjitc.codegen.link import Target

SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 1e-310, 1e-40, -1e-40, 1e30, -1e30, 1e300, np.inf,
           -np.inf, np.nan, 200.0, -200.5]


def without_permutes(target: Target) -> Target:
    features = [f for f in target.features.split(",") if "avx512" not in f] + ["-avx512f"]
    return target._replace(cpu="x86-64-v3", features=",".join(features))


@pytest.fixture(params=["this processor", "none that permutes"])
def machine(request, monkeypatch):
    """The target for which code is made."""
    target = link.host_target()
    if request.param != "this processor":
        target = without_permutes(target)
        monkeypatch.setattr(link, "_host", [target])
    return target


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_rare_in_any_element(machine, dtype, monkeypatch):
    """Vectors with one unusual element, with several, and with nothing else."""
    monkeypatch.setenv("PYJITC_VERIFY", "1")
    power = njit(lambda x, y: x**y)
    rng = np.random.default_rng(3)
    for n in (1, 7, 64, 203):
        x, y = (rng.uniform(0.5, 3, n).astype(dtype) for _ in range(2))
        for _ in range(60):
            for a in (x, y):
                where = rng.choice(n, rng.choice([0, 1, 1, 2, n]))
                with np.errstate(over="ignore"):
                    a[where] = rng.choice(SPECIAL, len(where)).astype(dtype)
            with np.errstate(all="ignore"):
                expected = np.array([np.power(np.longdouble(p), np.longdouble(q)) for p, q in zip(x, y)]).astype(dtype)
            got = power(x, y)
            np.testing.assert_array_max_ulp(got[~np.isnan(expected)], expected[~np.isnan(expected)], 1)
            np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
            np.testing.assert_array_equal(np.signbit(got)[expected == 0], np.signbit(expected)[expected == 0])
            if rng.integers(3) == 0:
                x, y = (rng.uniform(0.5, 3, n).astype(dtype) for _ in range(2))


@pytest.mark.parametrize("dtype, form", [(np.float64, "vperm(pd|q)"), (np.float32, "vperm(ps|d)")])
def test_a_table_is_one_instruction_where_there_is_one(machine, dtype, form):
    power = njit(lambda x, y: x**y)
    power(*[np.ones(4, dtype)] * 2)
    text = power.inspect_asm(power.signatures[0])
    assert "gather" not in text
    assert (len(re.findall(rf"\b{form}\b.*zmm", text)) >= 5) == machine.permutes


def test_no_code_for_the_forms_themselves(machine):
    """They are inlined, and the functions that they call are private."""
    power = njit(lambda x, y: x**y)
    power(np.ones(4), np.ones(4))
    text = power.inspect_asm(power.signatures[0])
    assert not re.findall(r"^pyjitc_form_\w+\.\d+:", text, re.MULTILINE)
    assert not re.findall(r"\.globl\s+pyjitc_form", text)
    assert not re.findall(r"(?:call|jmp)\S*\s+pyjitc_form_lookup", text)


def test_loops_of_numbers_look_up_too(machine):
    """Also scalar loops, which cannot be vectorised, use the tables."""
    def chain(x, n):
        for i in range(n):
            x = np.float64(1.5) + x ** np.float64(0.25)
        return x

    compiled = njit(chain)
    assert compiled(np.float64(2.0), 50) == pytest.approx(chain(np.float64(2.0), 50), rel=1e-14)
    text = compiled.inspect_asm(compiled.signatures[0])
    assert not re.findall(r"(?:call|jmp)\S*\s+pyjitc_form_lookup", text)
