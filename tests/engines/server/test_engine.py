"""A model behind a server: every event, every fault, and no trial lost or doubled."""

import json
import threading
import time
from collections import Counter

import numpy as np
import pytest
from PIL import Image as Pillow

from vqaudit.engines.base import (
    Generation,
    ImagePart,
    Reply,
    TextPart,
)
from vqaudit.engines.server import ServerEngine, ServerSpec
from vqaudit.errors import EngineError, UnsupportedEvent

IDS = ("A", "B", "C")
REPLY = Reply(vocabulary=IDS)
GENERATION = Generation(max_tokens=64)


def test_reply_carries_text_usage_and_tries(serve, loop) -> None:
    server, engine = serve(lambda body, n: loop.completion(" B"))
    (outcome,) = engine.answer([loop.ask()])
    assert (outcome.reply, outcome.finish_reason, outcome.tries) == (" B", "stop", 1)
    assert (outcome.tokens_computed, outcome.tokens_reused, outcome.tokens_written) == (13, 8, 1)
    body = server.bodies[-1]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 0, 64)
    assert body["messages"] == [{"role": "user", "content": "Which?\nA. red\nB. blue\nC. green"}]


def test_nothing_is_sent_before_it_is_needed(serve, loop) -> None:
    server, engine = serve(lambda body, n: loop.completion())
    assert engine.describe()["abilities"] is None
    assert list(engine.batches([loop.ask()]))
    assert server.bodies == []


def test_pictures_go_as_data_urls_with_their_own_pixels(serve, loop) -> None:
    import base64
    import io

    server, engine = serve(lambda body, n: loop.completion())
    image = loop.picture()
    request = loop.ask(parts=(ImagePart(index=0), TextPart(text="What?")), images=(image,), system="Be brief.")
    engine.answer([request])
    system, user = server.bodies[-1]["messages"]
    assert system == {"role": "system", "content": "Be brief."}
    assert [part["type"] for part in user["content"]] == ["image_url", "text"]
    kind, _, data = user["content"][0]["image_url"]["url"].partition(";base64,")
    assert kind == "data:image/png"
    sent = np.asarray(Pillow.open(io.BytesIO(base64.b64decode(data))))
    assert (sent == np.asarray(image.pixels)).all()


def test_jpeg_is_smaller_and_recorded(serve, loop) -> None:
    server, engine = serve(lambda body, n: loop.completion(), image_encoding="jpeg", image_detail="high")
    engine.answer([loop.ask(parts=(ImagePart(index=0), TextPart(text="What?")), images=(loop.picture(size=96),))])
    part = server.bodies[-1]["messages"][0]["content"][0]["image_url"]
    assert part["url"].startswith("data:image/jpeg;base64,")
    assert part["detail"] == "high"
    assert engine.describe()["identity"]["image_encoding"] == "jpeg"


def test_a_model_without_eyes_is_refused_before_a_trial_is_sent(serve, loop) -> None:
    def script(body, number):
        if "image_url" in json.dumps(body["messages"]):
            return loop.error(400, "this model does not support image input")
        return loop.completion()

    server, engine = serve(script)
    with pytest.raises(UnsupportedEvent, match=r"takes no pictures: .*does not support image"):
        engine.answer([loop.ask(parts=(ImagePart(index=0), TextPart(text="q")), images=(loop.picture(),))])
    assert all("64 x 64" not in json.dumps(body) and body["messages"][0]["content"] != "q" for body in server.bodies)
    assert not any(
        part.get("text") == "q"
        for body in server.bodies
        for part in body["messages"][0]["content"]
        if isinstance(part, dict)
    )


def test_requests_that_begin_alike_stand_together_and_the_first_goes_alone(serve, loop) -> None:
    seen = []

    def script(body, number):
        text = body["messages"][-1]["content"]
        seen.append((time.monotonic(), text))
        return loop.Answer(**(vars(loop.completion()) | {"delay": 0.05}))

    _, engine = serve(script, concurrency=8)
    requests = [loop.ask(f"Question {q}?\n{o}", trial=f"{q}{o}") for o in "cab" for q in (1, 2)]
    (batch,) = engine.batches(requests)
    assert [r.trial for r in batch] == ["1a", "1b", "1c", "2a", "2b", "2c"]
    engine.answer(batch)
    times = {text: at for at, text in seen if text.startswith("Question")}
    for question in (1, 2):
        first = times[f"Question {question}?\na"]
        assert all(times[f"Question {question}?\n{o}"] - first >= 0.045 for o in "bc")


def test_concurrency_is_kept_and_used(serve, loop) -> None:
    server, engine = serve(lambda b, n: loop.Answer(**(vars(loop.completion()) | {"delay": 0.02})), concurrency=5)
    engine.answer([loop.ask(f"{n}", trial=str(n)) for n in range(40)])
    assert server.most_open == 5


# -- what an answer can look like


@pytest.mark.parametrize(
    ("message", "finish", "reply", "reasoning", "reason"),
    [
        ({"content": None, "reasoning_content": "Either A or perhaps B; let me"}, "length", "", "Either A or perhaps B; let me", "length"),
        ({"content": "B", "reasoning": "I looked."}, "stop", "B", "I looked.", "stop"),
        ({"content": "<think>A? no.</think>\nB"}, "stop", "\nB", "A? no.", "stop"),
        ({"content": "A? no.</think>B"}, "stop", "B", "A? no.", "stop"),
        ({"content": "<think>The red one could be"}, "length", "", "The red one could be", "length"),
        ({"content": None}, "stop", "", None, "stop"),
        ({"content": ""}, "content_filter", "", None, "content_filter"),
        ({"content": None, "refusal": "I cannot help with that."}, "stop", "I cannot help with that.", None, "content_filter"),
        ({"content": [{"type": "text", "text": "C"}]}, "eos", "C", None, "stop"),
    ],
)  # fmt: skip
def test_shapes_of_replies(serve, loop, message, finish, reply, reasoning, reason) -> None:
    script = loop.probe_aware(
        lambda b, n: loop.completion() if b is None else loop.completion(finish=finish, message=message)
    )
    _, engine = serve(script)
    (outcome,) = engine.answer([loop.ask()])
    assert outcome.error is None
    assert (outcome.reply, outcome.reasoning, outcome.finish_reason) == (reply, reasoning, reason)


@pytest.mark.parametrize(
    "body",
    [b"<html>busy</html>", b"", b'{"choices": [', b"[]", b'{"choices": []}', b'{"choices": null}', b'{"choices": [{"message": null}]}',
     b'{"choices": [{"message": {"content": 7}}]}', b'{"error": {"message": "upstream broke"}}', b"null",
     b'{"choices": [{"finish_reason": "error", "message": {"content": "x"}}]}',
     b'{"choices": [{"message": {"content": "A"}, "logprobs": {"content": [{"top_logprobs": 3}]}}]}'],
)  # fmt: skip
def test_malformed_answers_are_sent_again_then_fail_on_their_own(serve, loop, body) -> None:
    def script(asked, number):
        if asked is None or "good" in asked["messages"][0]["content"]:
            return loop.completion()
        return loop.Answer(body=body)

    server, engine = serve(loop.probe_aware(script), retries=2)
    outcomes = {o.trial: o for o in engine.answer([loop.ask("bad"), loop.ask("good")])}
    assert outcomes["good"].reply == "A"
    assert outcomes["bad"].tries == 3
    assert "gave up after 3 tries" in outcomes["bad"].error
    assert not outcomes["bad"].bad_input
    assert sum(b["messages"][0]["content"] == "bad" for b in server.bodies) == 3


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "This model's maximum context length is 2048 tokens", "context_length_exceeded"),
        (500, "Requested tokens (4096) exceed context window of 2048", None),
        (413, "payload too large", None),
        (422, "image is too wide", None),
    ],
)
def test_input_that_a_model_cannot_take_is_bad_input_and_sent_once(serve, loop, status, message, code) -> None:
    _server, engine = serve(
        loop.probe_aware(lambda b, n: loop.completion() if b is None else loop.error(status, message, code=code))
    )
    (outcome,) = engine.answer([loop.ask()])
    assert outcome.bad_input
    assert outcome.tries == 1
    assert message in outcome.error


def test_a_content_filter_is_a_refusal_not_a_failure(serve, loop) -> None:
    _, engine = serve(
        loop.probe_aware(
            lambda b, n: loop.completion() if b is None else loop.error(400, "filtered", code="content_filter")
        )
    )
    (outcome,) = engine.answer([loop.ask()])
    assert (outcome.error, outcome.reply, outcome.finish_reason) == (None, "", "content_filter")


# -- waiting and giving up


def test_retry_after_is_honoured_by_every_request(serve, loop) -> None:
    moments = []

    def script(body, number):
        if body is None:
            return loop.completion()
        moments.append(time.monotonic())
        return loop.error(429, "slow down", retry_after="0.4") if len(moments) == 1 else loop.completion()

    _, engine = serve(loop.probe_aware(script), concurrency=1)
    outcomes = engine.answer([loop.ask(str(n)) for n in range(3)])
    assert all(o.error is None for o in outcomes)
    assert moments[1] - moments[0] >= 0.38


def test_a_pause_of_an_hour_ends_the_run_with_a_word_on_when_to_come_back(serve, loop) -> None:
    _, engine = serve(
        loop.probe_aware(lambda b, n: loop.completion() if b is None else loop.error(429, "quota", retry_after="3600"))
    )
    with pytest.raises(EngineError, match="asks to wait 3600 s"):
        engine.answer([loop.ask()])


def test_hang_cut_and_dropped_connections_are_sent_again(serve, loop) -> None:
    faults = iter(["hang", "cut", "drop"])

    def script(body, number):
        kind = next(faults, "plain") if body is not None else "plain"
        return loop.Answer(**(vars(loop.completion("B")) | {"kind": kind}))

    _, engine = serve(loop.probe_aware(script), timeout=0.3)
    (outcome,) = engine.answer([loop.ask()])
    assert (outcome.reply, outcome.tries, outcome.error) == ("B", 4, None)


@pytest.mark.parametrize(
    ("status", "message", "match"),
    [
        (401, "Incorrect API key provided", "does not take the key in VQAUDIT_TEST_KEY"),
        (403, "not your project", "does not take the key"),
        (404, "no model named m", "check the model's name"),
        (402, "payment required", "cannot pay"),
    ],
)
def test_what_no_trial_survives_stops_at_the_first_request(serve, loop, status, message, match) -> None:
    server, engine = serve(lambda b, n: loop.error(status, message), models=[{"id": "other", "owned_by": "vllm"}])
    with pytest.raises(EngineError, match=match) as caught:
        engine.check([GENERATION])
    assert len(server.bodies) == 1
    assert "the server lists other" in str(caught.value)


def test_a_key_that_is_revoked_midway_stops_the_run_and_keeps_what_was_answered(serve, loop) -> None:
    script = loop.probe_aware(lambda b, n: loop.completion() if b is None or n < 6 else loop.error(401, "revoked"))
    _, engine = serve(script, concurrency=1)
    found = []
    with pytest.raises(EngineError, match="revoked"):  # noqa: PT012
        for outcome in engine.stream([loop.ask(str(n)) for n in range(50)]):
            found.append(outcome)
    assert 1 <= len(found) <= 6
    assert all(outcome.error is None for outcome in found)


def test_an_account_without_money_is_not_asked_again(serve, loop) -> None:
    server, engine = serve(lambda b, n: loop.error(429, "You exceeded your current quota", code="insufficient_quota"))
    with pytest.raises(EngineError, match="cannot pay"):
        engine.check([GENERATION])
    assert len(server.bodies) == 1


def test_a_dead_server_stops_the_run_after_a_while(serve, loop) -> None:
    _, engine = serve(
        loop.probe_aware(lambda b, n: loop.completion() if b is None else loop.error(503, "overloaded")),
        retries=1,
        concurrency=2,
    )
    found = []
    with pytest.raises(EngineError, match=r"8 requests in a row had no answer.*503"):  # noqa: PT012
        for outcome in engine.stream([loop.ask(str(n)) for n in range(100)]):
            found.append(outcome)
    assert len(found) >= 7
    assert all(o.error and not o.bad_input for o in found)


def test_no_server_at_all_is_one_clear_sentence() -> None:
    spec = ServerSpec(base_url="http://127.0.0.1:9/v1", api_key_env="VQAUDIT_TEST_KEY", retries=1, first_wait=0.01)
    engine = ServerEngine("m", spec)
    with pytest.raises(EngineError, match=r"no connection to http://127.0.0.1:9/v1.*is the server up"):
        engine.check([GENERATION])
    engine.close()


def test_a_caller_that_stops_listening_cancels_what_is_open(serve, loop) -> None:
    _server, engine = serve(
        loop.probe_aware(lambda b, n: loop.completion() if b is None or n % 2 else loop.Answer(kind="hang")),
        timeout=60,
    )
    engine.check([GENERATION])
    stream = engine.stream([loop.ask(str(n)) for n in range(8)])
    next(stream)
    begun = time.monotonic()
    stream.close()
    assert time.monotonic() - begun < 2
    assert threading.active_count() < 20


def test_a_thousand_requests_through_every_fault_lose_and_double_nothing(serve, loop) -> None:
    tries: Counter[str] = Counter()
    rng = np.random.default_rng(7)
    fates = ["ok", "429", "500", "hang", "cut", "drop", "empty", "malformed", "503"]

    def script(body, number):
        if body is None:
            return loop.completion()
        name = body["messages"][0]["content"]
        tries[name] += 1
        fate = (
            "ok"
            if tries[name] > 3
            else str(rng.choice(fates, p=[0.6, 0.08, 0.08, 0.004, 0.04, 0.04, 0.04, 0.056, 0.06]))
        )
        return {
            "429": lambda: loop.error(429, "slow", retry_after_ms="20"),
            "500": lambda: loop.error(500, "oops"),
            "503": lambda: loop.error(503, "busy", retry_after="0.02"),
            "hang": lambda: loop.Answer(kind="hang"),
            "cut": lambda: loop.Answer(kind="cut"),
            "drop": lambda: loop.Answer(kind="drop"),
            "malformed": lambda: loop.Answer(body=b'{"choices": ['),
            "empty": lambda: loop.completion(""),
        }.get(fate, lambda: loop.completion(f"seen {name}"))()

    server, engine = serve(loop.probe_aware(script), concurrency=32, timeout=2, first_wait=0.005)
    outcomes = engine.answer([loop.ask(f"q{n}", trial=f"t{n}") for n in range(1000)])
    assert sorted(o.trial for o in outcomes) == sorted(f"t{n}" for n in range(1000))
    assert all(o.error is None for o in outcomes)
    assert all(o.reply in ("", f"seen q{o.trial[1:]}") for o in outcomes)
    # a machine under load may give a request up before the server has read it
    assert sum(o.tries for o in outcomes) >= sum(tries.values()) == len(server.bodies) - 1
    assert all(o.tries >= tries[f"q{o.trial[1:]}"] for o in outcomes)
    assert sum(tries.values()) > 1300


# -- the key


def test_the_key_is_sent_and_stands_nowhere_else(serve, loop, monkeypatch) -> None:
    secret = "sk-very-secret-1234567890"
    monkeypatch.setenv("VQAUDIT_TEST_KEY", secret)
    script = loop.probe_aware(
        lambda b, n: loop.completion() if b is None else loop.error(400, f"bad key {secret} in request")
    )
    server, engine = serve(script)
    (outcome,) = engine.answer([loop.ask()])
    assert server.headers[-1]["authorization"] == f"Bearer {secret}"
    assert "[key]" in outcome.error
    for shown in (outcome, engine.describe(), vars(engine), engine._access, engine._asker):
        assert secret not in repr(shown)


def test_an_error_about_the_key_does_not_show_it(serve, loop, monkeypatch) -> None:
    import traceback

    secret = "sk-very-secret-1234567890"
    monkeypatch.setenv("VQAUDIT_TEST_KEY", secret)
    _, engine = serve(lambda b, n: loop.error(401, f"Incorrect API key provided: {secret}"))
    with pytest.raises(EngineError) as caught:
        engine.check([GENERATION])
    error = caught.value
    shown = "".join(traceback.format_exception(error))
    while error is not None:
        shown += repr(error) + repr(vars(error))
        error = error.__cause__ or error.__context__
    assert secret not in shown


@pytest.mark.parametrize("url", ["http://user:pass@host/v1", "https://host/v1?key=abc", "ftp://host", "host:8000", ""])
def test_addresses_that_are_none_or_hold_a_secret_are_refused(url) -> None:
    with pytest.raises(EngineError) as caught:
        ServerEngine("m", ServerSpec(base_url=url))
    assert "pass@" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_openai_itself_needs_a_key_and_the_message_names_the_variable(monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EngineError, match="OPENAI_API_KEY"):
        ServerEngine("gpt")
