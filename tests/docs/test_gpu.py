"""The programs of docs/gpu.md run, one after the other."""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "gpu.md"


def test_the_walk_runs(monkeypatch, capsys):
    monkeypatch.setenv("PYJITC_CUDA", "cpu")
    text = PAGE.read_text()
    blocks = list(re.finditer(r"```python\n(.*?)```", text, re.S))
    assert len(blocks) > 8
    names = {"__name__": "gpu"}
    for block in blocks:
        line = text[:block.start(1)].count("\n")
        exec(compile("\n" * line + block.group(1), str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "kernels run on the CPU" in printed and "a block has at most 1024" in printed
