"""One writer at a time; a dead one is no obstacle."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vqaudit.errors import RecordError, RunConflict
from vqaudit.records import own_run, read_session
from vqaudit.records.ownership import SILENT_SECONDS
from vqaudit.records.session import SessionState, write_session

HOLD = """
import sys, time
from pathlib import Path
from vqaudit.records import own_run
with own_run(Path(sys.argv[1])):
    print("mine", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def owner(tmp_path: Path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "mine\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def foreign(**changes) -> SessionState:
    told = {"number": 4, "pid": 1, "host": "another", "started": "2026-01-01T00:00:00+00:00", "beat": time.time()}
    return SessionState(**(told | changes))


def test_a_second_writer_is_refused_and_the_first_is_named(owner, tmp_path: Path) -> None:
    with pytest.raises(RunConflict, match=rf"process {owner.pid} on "), own_run(tmp_path / "run"):
        pass


def test_a_killed_writer_leaves_no_lock_behind(owner, tmp_path: Path) -> None:
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    before = read_session(tmp_path / "run")
    assert before is not None
    assert before.ended is None
    with own_run(tmp_path / "run") as mine:
        assert mine.state.number == before.number + 1


def test_a_writer_on_another_machine_is_believed_while_it_gives_signs(tmp_path: Path) -> None:
    write_session(tmp_path, foreign())
    with pytest.raises(RunConflict, match="process 1 on another"), own_run(tmp_path):
        pass
    write_session(tmp_path, foreign(beat=time.time() - SILENT_SECONDS - 1))
    with own_run(tmp_path) as mine:
        assert mine.state.number == 5
    write_session(tmp_path, foreign(ended="2026-01-01T00:01:00+00:00"))
    with own_run(tmp_path):
        pass


def test_an_owner_gives_signs_and_says_when_it_ends(tmp_path: Path) -> None:
    with own_run(tmp_path) as mine:
        mine.tell(planned=7)
        told = read_session(tmp_path)
        assert told is not None
        assert (told.planned, told.ended, told.pid) == (7, None, os.getpid())
        assert told.silent < SILENT_SECONDS
    told = read_session(tmp_path)
    assert told is not None
    assert told.ended is not None


def test_attempts_that_a_lost_worker_may_still_write_are_below_the_next_sessions(tmp_path: Path) -> None:
    with own_run(tmp_path) as mine:
        mine.tell(next_attempts_from=3)
    for _ in range(2):
        with own_run(tmp_path) as mine:
            assert mine.state.attempts_from == 3


def test_a_directory_that_stays_empty_is_removed_and_another_is_not(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), own_run(tmp_path / "new" / "run"):
        raise ZeroDivisionError
    assert not (tmp_path / "new" / "run").exists()
    with own_run(tmp_path / "kept"):
        (tmp_path / "kept" / "manifest.json").touch()
    assert (tmp_path / "kept" / "manifest.json").exists()


def test_a_place_that_is_no_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="cannot be written"), own_run(tmp_path / "file" / "run"):
        pass
