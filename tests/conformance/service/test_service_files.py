"""The files that a service has written are found and read, whatever they are."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gateproof.conformance.kit.service.files import ServiceFiles, TooManyFiles, pieces_of

TOKEN = "pt_0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "content",
    [
        TOKEN.encode(),
        f'{{"token": "{TOKEN}"}}\n'.encode(),
        b"SQLite format 3\0\xff\xfe" + TOKEN.encode() + b"\0\x01",
        TOKEN.encode("utf-16"),
        b"\x80" * (1024 * 1024 - 10) + TOKEN.encode() + b"\x80" * 100,
    ],
    ids=["plain", "json", "database", "utf-16", "between two pieces"],
)
def test_text_in_a_file_is_read(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)

    assert any(TOKEN in piece for piece in pieces_of(file))


def test_only_what_was_written_since_is_looked_at(tmp_path: Path) -> None:
    old, new, ignored = (tmp_path / name for name in ("old", "below/new", "report/ignored"))
    for file in (old, new, ignored):
        file.parent.mkdir(exist_ok=True)
        file.write_text(TOKEN)
    (tmp_path / "link").symlink_to(new)
    since = time.time() + 5
    os.utime(new, (since + 1, since + 1))
    files = ServiceFiles(folders=(tmp_path, tmp_path), since=since, ignored=frozenset({ignored.parent}))

    assert list(files.written(10.0)) == [new]


def test_folder_that_takes_too_long_is_not_looked_through(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(TooManyFiles):
        list(ServiceFiles(folders=(tmp_path,), since=0.0).written(-1.0))


def test_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    assert list(ServiceFiles(folders=(tmp_path / "gone",), since=0.0).written(1.0)) == []
