"""What others wrote cannot act on the terminal, in a spreadsheet, or on this machine."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from typing import NamedTuple

import pytest

from vqaudit.cli import logs as cli_logs
from vqaudit.cli import main
from vqaudit.cli.console import quoted

CLEAR = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"
ACTING = {"\x1b", "\x07", "\x9b", "\u202e", "\x00"}


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def vqaudit(monkeypatch, capsys):
    """Runs a command in this process."""

    def run(*arguments) -> Done:
        monkeypatch.setattr(sys, "argv", ["vqaudit", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return Done(left.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def data(tmp_path):
    rows = [
        {"id": f"q{k}", "question": f"Which? {CLEAR}[red]", "A": f"cat{CLEAR}", "B": "=1+1", "answer": "A"}
        for k in range(4)
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_an_errors_words_do_not_act(vqaudit, tmp_path):
    path = tmp_path / f"x{CLEAR}[red].jsonl"
    path.write_text(json.dumps({"id": CLEAR, "question": CLEAR, CLEAR: "a"}), encoding="utf-8")
    for arguments in (("data", path, "--stats"), ("import", path, "--out", tmp_path / "run"), ("summary", path)):
        done = vqaudit(*arguments)
        assert done.returncode == 1, done.stderr
        assert "error:" in done.stderr
        assert not ACTING & set(done.stdout + done.stderr)
        assert "[red]" in done.stderr


def test_render_gives_a_pipe_the_bytes_and_a_terminal_their_pictures(vqaudit, data):
    arguments = ("render", "--data", data, "--item", "q1")
    assert CLEAR in vqaudit(*arguments).stdout
    assert not ACTING & set(in_terminal(*arguments))


def in_terminal(*arguments) -> str:
    """What a command writes on a terminal of its own, without the colours that it may use."""
    driver, screen = pty.openpty()
    environment = os.environ | {"NO_COLOR": "1", "TERM": "dumb"}
    command = [sys.executable, "-m", "vqaudit", *map(str, arguments)]
    with subprocess.Popen(command, stdout=screen, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(screen)
        written = b""
        while True:
            try:
                piece = os.read(driver, 65536)
            except OSError:  # the other end is closed
                break
            written += piece
        process.wait()
    os.close(driver)
    assert process.returncode == 0
    text = written.decode("utf-8")
    assert "Which?" in text
    return text


def test_an_imported_runs_summary_diff_and_changes_do_not_act(vqaudit, tmp_path):
    rows = [
        {
            "id": f"q{k}{CLEAR}",
            "question": f"Which?{CLEAR}",
            "options": [f"cat{CLEAR}", "dog"],
            "answer": "A",
            "reply": f"=cmd|' /C calc'!A0 {CLEAR}",
            "model": f"m{CLEAR}",
            "correct": 1,
        }
        for k in range(6)
    ]
    log, changes = tmp_path / "log.jsonl", tmp_path / "changes.csv"
    for name, reply in (("a", "=cmd|' /C calc'!A0"), ("b", "B")):
        log.write_text("\n".join(json.dumps(row | {"reply": reply + CLEAR}) for row in rows), encoding="utf-8")
        done = vqaudit("import", log, "--out", tmp_path / name, "--model", f"m{CLEAR}", "--changes", changes)
        assert done.returncode == 0, done.stderr
        assert not ACTING & set(done.stdout + done.stderr)
    for arguments in (
        ("diff", tmp_path / "a", tmp_path / "b"),
        ("summary", tmp_path / "a"),
        ("status", tmp_path / "a"),
    ):
        done = vqaudit(*arguments)
        assert not ACTING & set(done.stdout + done.stderr), arguments


def test_replies_that_begin_a_formula_are_defused_in_the_list_of_changes():
    row = {"trial": "t", "item": "1", "logged": "A", "read": None, "outcome": "unreadable", "reason": None}
    rows = [row | {"logged_right": True, "right": False, "reply": text} for text in ("=1+1", "-2", "@x", "A")]
    read = list(csv.DictReader(io.StringIO(cli_logs._as_csv(rows))))
    assert [line["reply"] for line in read] == ["'=1+1", "'-2", "'@x", "A"]
    assert list(csv.DictReader(io.StringIO(cli_logs._as_csv([])))) == []


def test_quoted_text_is_neither_markup_nor_a_command():
    assert not ACTING & set(quoted(CLEAR + "\x00"))
    assert quoted("[bold]") == r"\[bold]"


def test_weights_that_are_a_pickle_run_no_code(tmp_path):
    torch = pytest.importorskip("torch", reason="needs the extra `local`")
    transformers = pytest.importorskip("transformers", reason="needs the extra `local`")
    from vqaudit.auditing import load_model

    marker = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(marker),))

    config = transformers.GPT2Config(n_layer=1, n_head=1, n_embd=8, vocab_size=32)
    config.save_pretrained(tmp_path / "model")
    torch.save({"transformer.wte.weight": Evil()}, tmp_path / "model" / "pytorch_model.bin")
    with pytest.raises(Exception):  # noqa: B017 - whoever refuses: what counts is that nothing ran
        load_model(tmp_path / "model")
    assert not marker.exists()
