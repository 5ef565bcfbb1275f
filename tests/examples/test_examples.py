"""Every example gives the same result in CPython and compiled."""
import importlib.util
import pathlib

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples"
spec = importlib.util.spec_from_file_location("examples_run", FOLDER / "run.py")
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)

def test_every_example_is_run():
    files = {path.stem for path in FOLDER.glob("*.py")} - {"run", "png"}
    assert files == set(runner.NAMES)

@pytest.mark.parametrize("name", runner.NAMES)
def test_same_result(name, tmp_path):
    if name == "kmeans":
        pytest.importorskip("sklearn")
    _, _, _, report, problem = runner.compare(name, str(tmp_path))
    assert not problem
    assert report
    if "picture" in report:
        picture = (tmp_path / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG") and picture.endswith(b"IEND\xaeB`\x82")

def test_difference_sees_types_and_bits():
    assert runner.difference((1, 2.0), (1, 2.0)) == ""
    assert "int in CPython, float compiled" in runner.difference((1, 2), (1, 2.0))
    assert "[1]" in runner.difference(np.array([1.0, 0.0]), np.array([1.0, -0.0]))
    assert runner.difference(np.float32(1), np.float64(1))

def test_unknown_example(capsys):
    with pytest.raises(SystemExit) as caught:
        runner.main(["nosuch"])
    assert caught.value.code == 2
    assert "nbody" in capsys.readouterr().err
