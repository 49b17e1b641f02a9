"""Whole runs against a server on loopback: what the run directory, the summary and the terminal hold."""

import json
import re
import sys

import pytest
from typer.testing import CliRunner

import vqaudit as va
from vqaudit.cli import app
from vqaudit.engines.server import ServerEngine, ServerSpec
from vqaudit.errors import EngineError
from vqaudit.items import demo_items
from vqaudit.records import RunTables, read_trials, visible

SECRET = "sk-very-secret-1234567890"


def letters(text: str) -> list[str]:
    """The IDs that an instruction names."""
    named = re.search(r"e\.g\., (.*?)\) of the correct", text)
    return re.findall(r"[A-Za-z0-9]+", named[1].replace(" or ", " ")) if named else []


def text_of(body) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def first_id(loop):
    """A server that always chooses the first ID."""

    def script(body, number):
        ids = letters(text_of(body))
        return loop.completion(ids[0] if ids else "A")

    return script


def test_a_run_against_a_server_is_summed_up(serve, loop, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VQAUDIT_TEST_KEY", SECRET)
    _, engine = serve(first_id(loop), price_in=2.5, price_cached=1.25, price_out=10.0)
    run = va.audit(engine, demo_items(limit=40), out=tmp_path / "run", progress=False, noise_floor=20)
    summary = run.summary(details=False)
    assert summary.counts.done == 40
    assert summary.coverage.value == 1.0
    assert (summary.cost.tries, summary.cost.tokens_written, summary.cost.tokens_reused) == (40, 40, 320)
    assert summary.cost.money == pytest.approx(40 * (12 * 2.5 + 8 * 1.25 + 1 * 10) / 1e6)
    assert summary.cost.currency == "USD"
    floor = summary.noise_floor
    assert (floor.trials, floor.failed, floor.changed.value, floor.changed_text.value) == (20, 0, 0.0, 0.0)
    assert floor.changed.high < 0.2
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_noise_is_told_with_its_interval(serve, loop, tmp_path) -> None:
    seen = {}

    def script(body, number):
        text = text_of(body)
        ids = letters(text)
        seen[text] = seen.get(text, -1) + 1
        changed = seen[text] > 0 and hash_of(text) % 4 == 0
        return loop.completion(ids[1 if changed else 0] if ids else "A")

    def hash_of(text):
        return sum(map(ord, text))

    _, engine = serve(script)
    run = va.audit(engine, demo_items(limit=60), out=tmp_path / "run", progress=False)
    floor = run.summary(details=False).noise_floor
    pairs = RunTables.load(tmp_path / "run").repeats()
    first = visible(read_trials(tmp_path / "run"))
    both = first.join(pairs, on="trial", suffix="_2")
    assert floor.trials == both.height == 60
    assert floor.changed.value == pytest.approx((both["reply"] != both["reply_2"]).mean())
    assert 0.05 < floor.changed.value < 0.5
    assert floor.changed.low < floor.changed.value < floor.changed.high
    assert floor.sentence.startswith(f"{round(60 * floor.changed.value)} of 60 trials")


def test_a_run_that_was_stopped_goes_on_and_asks_only_what_is_open(serve, loop, tmp_path) -> None:
    asked = []

    def script(body, number):
        if "Reply with the letter A" in text_of(body):
            return loop.completion()
        asked.append(text_of(body))
        return loop.error(401, "revoked") if len(asked) == 15 else loop.completion("A")

    _, engine = serve(script, concurrency=1)
    with pytest.raises(EngineError, match="revoked"):
        va.audit(engine, demo_items(limit=40), out=tmp_path / "run", progress=False, noise_floor=0)
    kept = visible(read_trials(tmp_path / "run"))
    assert kept.height == 14
    va.audit(engine, demo_items(limit=40), out=tmp_path / "run", progress=False, noise_floor=0)
    records = read_trials(tmp_path / "run")
    assert records.height == 40
    assert records["trial"].is_unique().all()
    assert len(asked) == 15 + 26


def test_an_outage_is_no_accuracy(serve, loop, tmp_path) -> None:
    def script(body, number):
        return loop.completion() if "Reply with the letter A" in text_of(body) else loop.error(503, "down")

    server, _ = serve(script)
    options = [
        "run",
        "-m",
        "openai:m",
        "--base-url",
        server.url,
        "-d",
        "demo",
        "--limit",
        "8",
        "-o",
        str(tmp_path / "run"),
    ]
    found = CliRunner().invoke(app, [*options, "--concurrency", "2", "--retries", "0", "-q"])
    assert isinstance(found.exception, EngineError)
    assert "8 requests in a row had no answer" in str(found.exception)
    assert set(visible(read_trials(tmp_path / "run"))["outcome"]) == {"failed"}


def test_the_command_line_runs_a_server_and_says_what_it_cost(serve, loop, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    server, _ = serve(first_id(loop))
    options = [
        "run",
        "-m",
        "openai:m",
        "--base-url",
        server.url,
        "--api-key-env",
        "MY_KEY",
        "-d",
        "demo",
        "--limit",
        "12",
    ]
    prices = ["--price-in", "2", "--price-out", "8", "--noise-floor", "6", "--no-page", "-o", str(tmp_path / "run")]
    found = CliRunner().invoke(app, options + prices, env={"COLUMNS": "140"})
    assert found.exit_code == 0, found.output
    assert "Noise floor" in found.output
    assert "USD" in found.output
    assert SECRET not in found.output
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert SECRET not in json.dumps(manifest)
    assert manifest["engine"]["api_key_env"] == "MY_KEY"
    assert manifest["engine"]["greedy"]["sent"] == {"temperature": 0, "seed": 0}
    assert server.headers[-1]["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-m", "openai:m", "--device", "cpu"], "--device is for models in this process"),
        (["-m", "demo", "--base-url", "http://127.0.0.1:1/v1"], "--base-url is for models behind servers"),
        (["-m", "openai:m", "--extra-body", "{"], "no JSON"),
    ],
)
def test_options_of_the_other_kind_are_wrong_usage(options, words) -> None:
    found = CliRunner().invoke(app, ["plan", "-d", "demo", *options], env={"COLUMNS": "200"})
    assert found.exit_code == 2
    assert words in found.output


def test_a_plan_spends_nothing_at_a_server(serve, loop) -> None:
    server, _ = serve(first_id(loop))
    found = CliRunner().invoke(
        app, ["plan", "-d", "demo", "--limit", "5", "-m", "openai:m", "--base-url", server.url, "--json"]
    )
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["trials"] == 5
    assert server.bodies == []


def test_another_way_of_asking_does_not_mix_into_a_run(serve, loop, tmp_path) -> None:
    _, png = serve(first_id(loop))
    _, jpeg = serve(first_id(loop), image_encoding="jpeg")
    va.audit(png, demo_items(limit=4), out=tmp_path / "run", progress=False)
    with pytest.raises(va.VqauditError, match="another run"):
        va.audit(jpeg, demo_items(limit=4), out=tmp_path / "run", progress=False)


def test_importing_the_engine_loads_no_client() -> None:
    import subprocess

    code = "import sys, vqaudit.engines.server as s; s.ServerSpec(); print('openai' in sys.modules, 'tenacity' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "False"]


def test_a_missing_client_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    engine = ServerEngine("m", ServerSpec(base_url="http://127.0.0.1:1/v1", api_key_env="NOT_SET"))
    with pytest.raises(va.VqauditError, match=r"pip install 'vqaudit\[server\]'"):
        engine.check([])
