"""Measured numbers in pages: those of bench's files are between marks (tests/bench compares them), and no others are
allowed."""
import pathlib
import re

import pytest

from bench.readme import MARKS
from bench.results import load

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

NUMBER = r"\d[\d,.]*(?:±[\d.]+)?"
PARTS = r"half|third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|hundredth"
MEASURED = re.compile(
    rf"{NUMBER} ?(?:x|[nuµm]s|s|seconds?|minutes?|%|[KMGT]B/s|[KMGT]?FLOPS?|ulps?|units in the last "
    rf"place)(?![\w-])(?! ?\d)"
    rf"|(?:{NUMBER}|two|three|four|five|six|eight|ten|some|several) times "
    rf"(?:faster|slower|longer|shorter|as|more|less|the time)"
    rf"|(?:{NUMBER}|a|some|several|few) (?:nano|micro|milli)seconds?"
    rf"|{NUMBER} percent|\btwice as\b|\b(?:halves|doubles|halved|doubled) (?:the|what|its) (?:time|cost|speed)"
    r"|\bhalf (?:of (?:that|its|the time)|as)\b"
    rf"|\b(?:an?|one|two|three|four|by) (?:{PARTS})s?\b(?! of all)", re.I)
# a limit that a test checks is in one paragraph with the test's name
LIMIT = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def prose(text):
    """The text without programs and their output, which tests run, and without the parts that are written from files of
    figures."""
    text = MARKS.sub("", text)
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", lambda code: code[0] if code[0].startswith("`tests/") else "", text)


def paragraphs(text):
    """The paragraphs of a text; each row of a table is one."""
    for paragraph in re.split(r"\n\s*\n", prose(text)):
        yield from paragraph.splitlines() if paragraph.lstrip().startswith("|") else [" ".join(paragraph.split())]


def bare(text):
    """Measured numbers without a source."""
    return [found[0] for paragraph in paragraphs(text) if not LIMIT.search(paragraph)
            for found in MEASURED.finditer(paragraph)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_measured_number_without_a_source(path):
    assert not bare(path.read_text()), ("write it between marks (bench/readme.py), name the test that holds it, or say "
                                        "it without a number")


@pytest.mark.parametrize("text", [
    "It takes 15.1 ms.", "5.3x Numba's time", "| a | 1.20±0.01x |", "within 100 ms", "a third shorter",
    "three times faster", "0.35 µs", "some milliseconds", "a fifth of an import", "it got 20% faster", "1.11 ulp",
    "2 s", "slower by a quarter", "3.2 GB/s", "several times slower", "30 seconds", "half of that of sort",
    "half as many"])
def test_bare_numbers_are_found(text):
    assert bare(text)


@pytest.mark.parametrize("text", [
    "CPython 3.10 to 3.13, NumPy 2", "2048 x 1 x 1 = 2048 threads", "`5 ms`", "```text\n5 ms\n```",
    "strips of 16,384 iterations", "2**58",
    "left within 100 ms: `tests/safety/test_interrupt.py::test_loop_is_left_within_100_ms`", "arrays of 4 MB and more",
    "<!-- bench: docs/bench/peers.json -->\n| 5 ms |\n<!-- /bench -->", "(2000, 10000) x (10000, 2000)"])
def test_other_numbers_are_not(text):
    assert not bare(text)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_limits_name_tests_that_are_there(path):
    for paragraph in paragraphs(path.read_text()):
        for file, name in LIMIT.findall(paragraph):
            assert (ROOT / file).exists(), file
            assert not name or f"def {name}(" in (ROOT / file).read_text(), name


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "bench").rglob("*.json")),
                         ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_of_figures_say_when_and_where(path):
    results = load(str(path))
    assert not results.quick and results.rows
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", results.machine["date"])
    assert {"processor", "cores", "Python", "numpy", "pyjitc"} <= set(results.machine)
