"""How far a run is, as a person reads it in 80 columns."""

import io

from rich.console import Console

from vqaudit.records import DesignProgress, RunStatus, SessionState, WorkerState
from vqaudit.report.terminal import status_view


def status(**changes) -> RunStatus:
    workers = tuple(
        WorkerState(name=f"s0w{k}r1", host="node-1", pid=100 + k, state="asking", trials=40) for k in range(3)
    )
    session = SessionState(
        number=0, pid=1, host="node-0", started="2026-01-01", beat=0.0, deaths=2, workers=list(workers)
    )
    told = {
        "run": "runs/x",
        "model": "some/model",
        "state": "running",
        "planned": 12_000,
        "done": 9_000,
        "failed": 12,
        "missing": 2_988,
        "designs": (
            DesignProgress(interface="direct", design="grid", planned=12_000, done=9_000, failed=12, missing=2_988),
        ),
        "attempts": 9_020,
        "parts": 30,
        "last_part_seconds": 0.4,
        "quarantined": 1,
        "rate": 12.5,
        "seconds_left": 240.0,
        "session": session,
        "workers_alive": 3,
        "workers": workers,
    }
    return RunStatus(**(told | changes))


def shown(found: RunStatus) -> str:
    buffer = io.StringIO()
    Console(file=buffer, width=80).print(status_view(found))
    return buffer.getvalue()


def test_a_running_run_tells_counts_rate_time_left_and_workers() -> None:
    text = shown(status())
    for wanted in ("some/model: running", "12,000", "9,000", "75.0 %", "12.5/s", "4 min", "3 of 3 alive", "s0w2r1"):
        assert wanted in text
    assert "2 workers died or hung" in text
    assert "1 damaged part set aside in quarantine/" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_run_at_rest_tells_no_rate_and_when_compaction_is_worth_it() -> None:
    text = shown(status(state="complete", rate=None, seconds_left=None, workers_alive=None, parts=1_200, session=None))
    assert "rate" not in text
    assert "alive" not in text
    assert "1,200 parts; vqaudit compact" in text
    assert "its process is gone" in shown(status(state="gone", rate=None, seconds_left=None, workers_alive=None))


def test_a_model_named_like_markup_stays_text() -> None:
    assert "[red]x[/]" in shown(status(model="[red]x[/]"))
