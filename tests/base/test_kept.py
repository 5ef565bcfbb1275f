"""Files that the package keeps for itself."""
import os

from pyjitc.base import kept


def test_a_file_that_is_damaged_is_not_read(tmp_path):
    path = tmp_path / "folder" / "one.part"
    kept.keep({str(path): b"content"}, 4)
    assert kept.read(str(path)) == b"content"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"s")
    assert kept.read(str(path)) is None and kept.read(str(tmp_path / "none.part")) is None


def test_of_too_many_files_the_oldest_are_removed(tmp_path):
    """A quarter of the places is free afterwards, so that not every new file costs a look at all others."""
    (tmp_path / "other.ending").write_bytes(b"")
    os.utime(tmp_path / "other.ending", (0, 0))
    for n in range(9):
        path = tmp_path / f"{n}.part"
        kept.keep({str(path): b""}, 8)
        os.utime(path, (n + 1, n + 1))
        if n == 7:
            assert len(list(tmp_path.glob("*.part"))) == 8
    assert sorted(path.name for path in tmp_path.iterdir()) == [*(f"{n}.part" for n in range(3, 9)), "other.ending"]
