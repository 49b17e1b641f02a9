"""Runs `vqaudit ...` and `python FILE` for the shell of a test, each in a process forked from one that has imported.

A documentation page calls `vqaudit` a dozen times, and importing torch and transformers takes longer than most of those
calls. Used as `python commands.py SOCKET`; the scripts that stand for `vqaudit` and `python` on the shell's PATH send their
arguments, folder and standard files over the socket, and leave with the exit code that comes back.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import runpy
import socket
import sys
import threading
import traceback
from pathlib import Path

WARM = (
    *("torch", "transformers", "polars", "pyarrow.parquet", "scipy.stats", "statsmodels.api", "altair", "jinja2"),
    *(
        "PIL.Image",
        "vqaudit.cli",
        "vqaudit.auditing",
        "vqaudit.rounds",
        "vqaudit.analysis.summary",
        "vqaudit.report.page",
    ),
)
LIMIT = "VQAUDIT_DOCS_LIMIT"
"""Where set, commands that ask the demo items ask so many of them."""
GRID_ITEMS = "2"
"""Items of a whole grid then: each is asked some 190 times."""

CLIENT = """#!{python} -SE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({path!r})
    call = {{"name": {name!r}, "arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
    socket.send_fds(line, [json.dumps(call).encode() + b"\\n"], [0, 1, 2])
    answer = line.recv(16)
sys.exit(int(answer or b"70"))
"""


def write_clients(folder: Path, path: str) -> None:
    """Writes the scripts that stand for the two commands."""
    for name in ("vqaudit", "python"):
        script = folder / name
        script.write_text(CLIENT.format(python=sys.executable, path=path, name=name), encoding="utf-8")
        script.chmod(0o755)


def with_limit(arguments: list[str], limit: str | None) -> list[str]:
    """Returns the arguments with `--limit` where they ask the demo items without one."""
    asks = arguments[:1] in (["run"], ["plan"], ["rank"])
    demo = any(pair in (("--data", "demo"), ("-d", "demo")) for pair in itertools.pairwise(arguments))
    if limit is None or not asks or not demo or "--limit" in arguments:
        return arguments
    return [*arguments, "--limit", GRID_ITEMS if "grid" in arguments else limit]


def _take_over(call: dict, files: list[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, m, encoding="utf-8") for n, m in enumerate("rww"))


def _run(call: dict) -> int:
    arguments = call["arguments"]
    try:
        if call["name"] == "vqaudit":
            from vqaudit.cli import main

            sys.argv = ["vqaudit", *with_limit(arguments, os.environ.get(LIMIT))]
            main()
        else:
            sys.argv = arguments
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _fork(call: dict, files: list[int]) -> int:
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        _take_over(call, files)
        code = _run(call)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _answer(line: socket.socket, child: int) -> None:
    with line:
        line.sendall(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255).encode())


def _receive(line: socket.socket) -> tuple[dict, list[int]]:
    data, files, _, _ = socket.recv_fds(line, 1 << 16, 3)
    while not data.endswith(b"\n"):
        data += line.recv(1 << 16)
    return json.loads(data), files


def serve(path: str) -> None:
    """Answers calls until the process is ended; every call runs beside the others."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        print("ready", flush=True)
        while True:
            line, _ = listening.accept()
            call, files = _receive(line)
            child = _fork(call, files)
            for file in files:
                os.close(file)
            threading.Thread(target=_answer, args=(line, child), daemon=True).start()


def warm_up() -> None:
    """Imports what commands import; the demo model is loaded once, since transformers imports its parts as they are used.

    No table is read and nothing is drawn: a pool of threads that has started does not survive a fork.
    """
    for module in WARM:
        importlib.import_module(module)
    from vqaudit.auditing import load_model

    load_model("demo").close()


if __name__ == "__main__":
    warm_up()
    serve(sys.argv[1])
