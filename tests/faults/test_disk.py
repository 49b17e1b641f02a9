"""A full disk and a directory that cannot be written end a run in one sentence, and it goes on when they are mended."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vqaudit.errors import RecordError
from vqaudit.records import own_run, read_sound_trials, records_digest

SIMULATED = Path(__file__).with_name("simulated.py")


def mounted(folder: Path, options: str) -> bool:
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or not mounted(folder, "size=1m"):
        pytest.skip("mounting a small tmpfs is not permitted here; run as root to test a full disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def simulated(out: Path, items: int = 30) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SIMULATED), str(out), "--items", str(items), "--batch", "64"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_full_disk_ends_the_run_and_it_goes_on_when_there_is_room(small: Path, tmp_path: Path) -> None:
    (small / "ballast").write_bytes(b"x" * 700_000)
    full = simulated(small / "run")
    assert full.returncode == 1
    assert "RecordError" in full.stderr
    assert "No space left on device" in full.stderr
    kept, taken = read_sound_trials(small / "run")
    assert taken == []
    (small / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=16m", small], check=True)
    mended = simulated(small / "run")
    assert mended.returncode == 0, mended.stderr
    whole = simulated(tmp_path / "whole")
    assert whole.returncode == 0, whole.stderr
    found = read_sound_trials(small / "run")[0]
    assert records_digest(found) == records_digest(read_sound_trials(tmp_path / "whole")[0])
    assert found.height >= kept.height


def test_a_directory_that_cannot_be_written_is_one_sentence(small: Path) -> None:
    (small / "run").mkdir()
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    with pytest.raises(RecordError, match="Read-only file system"), own_run(small / "run"):
        pass
    subprocess.run(["mount", "-o", "remount,rw", small], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_of_somebody_else_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir(mode=0o500)
    with pytest.raises(RecordError, match="Permission denied"), own_run(tmp_path / "run"):
        pass
