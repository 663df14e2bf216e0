"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crowdmetric.errors import OutputError
from crowdmetric.files import check_file, check_folder, whole_file


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_was_there_stays_if_writing_fails(tmp_path, error):
    target = tmp_path / "table.csv"
    target.write_bytes(b"old")

    def fail() -> None:
        with whole_file(target, "table") as file:
            file.write(b"half of the n")
            file.flush()
            assert len(list(tmp_path.iterdir())) == 2
            raise error

    expected = OutputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected) as raised:
        fail()
    if expected is OutputError:
        assert str(raised.value) == (
            f"{target}: the table cannot be written (No space left on device); name a file in a "
            "folder that exists and that you may write to"
        )
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_what_was_there_is_replaced(tmp_path):
    target = tmp_path / "table.csv"
    for content in (b"old and long", b"new"):
        with whole_file(target, "table") as file:
            file.write(content)
        assert target.read_bytes() == content
    assert list(tmp_path.iterdir()) == [target]


def a_folder(place: Path) -> Path:
    return place


def a_pipe(place: Path) -> Path:
    os.mkfifo(place / "pipe")
    return place / "pipe"


def below_a_file(place: Path) -> Path:
    (place / "file").touch()
    return place / "file" / "table.csv"


def below_nothing(place: Path) -> Path:
    return place / "nowhere" / "table.csv"


@pytest.mark.parametrize(
    ("where", "why"),
    [
        (a_folder, "Is a directory"),
        (a_pipe, "this is a device or a pipe"),
        (below_a_file, "Not a directory"),
        (below_nothing, "No such file or directory"),
    ],
)
def test_a_place_that_no_file_can_go_to(where, why, tmp_path):
    target = where(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OutputError, match=why), whole_file(target, "table"):
        pytest.fail("there is nothing to write to")
    with pytest.raises(OutputError, match=why):
        check_file(target, "table")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_check_writes_nothing(tmp_path):
    check_file(tmp_path / "table.csv", "table")
    check_folder(tmp_path / "new" / "folder")
    assert list((tmp_path / "new" / "folder").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]


def test_a_folder_in_place_of_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"the folder cannot be made \(.*\); choose another"):
        check_folder(tmp_path / "file")
