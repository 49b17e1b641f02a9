"""What a server was found to be able to do decides what it is asked, and what is refused before anything is spent."""

import json
import math

import pytest

from vqaudit.engines.base import (
    ForcedToken,
    Generation,
    IDScores,
    OptionLikelihood,
    Reply,
)
from vqaudit.errors import UnsupportedEvent

IDS = ("A", "B", "C")
REPLY = Reply(vocabulary=IDS)
GENERATION = Generation(max_tokens=64)


def test_a_server_without_log_probabilities_refuses_scores_and_names_who_can(serve, loop) -> None:
    _, engine = serve(lambda b, n: loop.completion())
    engine.check([REPLY, ForcedToken(), GENERATION])
    with pytest.raises(UnsupportedEvent, match="IDScores: it returns no log-probabilities; use a local model"):
        engine.check([IDScores()])
    with pytest.raises(UnsupportedEvent, match=r"OptionLikelihood.*vLLM"):
        engine.check([OptionLikelihood(continuations=("a",))])


def test_fields_that_a_server_refuses_are_left_out_and_recorded(serve, loop) -> None:
    def script(body, number):
        for name in ("temperature", "seed", "max_tokens", "logprobs"):
            if name in body:
                return loop.error(400, f"Unsupported parameter: '{name}' is not supported with this model")
        return loop.completion()

    server, engine = serve(script)
    (outcome,) = engine.answer([loop.ask()])
    assert outcome.reply == "A"
    assert server.bodies[-1].keys() == {"model", "messages", "max_completion_tokens"}
    assert engine.describe()["greedy"] == {"sent": {}, "refused": ["temperature", "seed"]}


def test_a_thinking_model_needs_room_to_think(serve, loop) -> None:
    message = {"content": "B", "reasoning_content": "hm"}
    _server, engine = serve(lambda b, n: loop.completion(message=message))
    with pytest.raises(UnsupportedEvent, match="--reasoning-tokens"):
        engine.check([REPLY])
    with pytest.raises(UnsupportedEvent, match="enable_thinking"):
        engine.check([IDScores()])
    _, engine = serve(lambda b, n: loop.completion(message=message), reasoning_tokens=500)
    engine.check([REPLY])
    (outcome,) = engine.answer([loop.ask(event=REPLY)])
    assert (outcome.reply, outcome.reasoning, outcome.budget) == ("B", "hm", None)


def test_likely_tokens_are_asked_for_in_smaller_numbers_where_twenty_are_refused(serve, loop) -> None:
    listed = loop.positions(("A", {"A": -0.1, "B": -2.5}))

    def script(body, number):
        if body.get("top_logprobs", 0) > 5:
            return loop.error(400, "top_logprobs must be at most 5")
        return loop.completion(logprobs=listed)

    server, engine = serve(script)
    engine.check([IDScores()])
    assert engine.abilities.top_logprobs == 5
    (outcome,) = engine.answer([loop.ask(event=IDScores())])
    assert [round(s.logprob, 2) if s.logprob else None for s in outcome.id_scores] == [-0.1, -2.5, None]
    assert outcome.id_bound < -2.5
    assert server.bodies[-1]["max_tokens"] == 1


def test_a_positive_log_probability_fails_its_trial_alone(serve, loop) -> None:
    def script(body, number):
        good = body is None or "good" in body["messages"][0]["content"]
        return loop.completion(logprobs=loop.positions(("A", {"A": -0.1 if good else 0.7, "B": -2.5})))

    _, engine = serve(loop.probe_aware(script))
    outcomes = {o.trial: o for o in engine.answer([loop.ask("good", IDScores()), loop.ask("bad", IDScores())])}
    assert outcomes["good"].error is None
    assert "must be <= 0" in outcomes["bad"].error
    assert not outcomes["bad"].bad_input


def test_exact_replies_are_cut_at_their_budget_by_the_tokens(serve, loop) -> None:
    tokens = [("A", {"A": -0.2, "B": -1.9}), (" dog", {" dog": -0.1}), (".", {".": -0.3}), ("<end>", {"<end>": -0.1})]
    script = lambda b, n: loop.completion("A dog.", logprobs=loop.positions(*tokens))  # noqa: E731
    server, engine = serve(script)
    (outcome,) = engine.answer([loop.ask(event=REPLY)])
    assert (outcome.reply, outcome.prefixes, outcome.budget) == ("A", ("A dog", "A dog."), 1)
    assert server.bodies[-1]["max_tokens"] == 9
    assert outcome.id_scores[0].logprob == pytest.approx(-0.2)


def test_a_blank_token_before_the_id_is_not_counted(serve, loop) -> None:
    tokens = [(" ", {" ": -0.2, "1": -1.9}), ("2", {"2": -0.1, "1": -2.6})]
    _, engine = serve(lambda b, n: loop.completion(" 2", logprobs=loop.positions(*tokens)))
    (outcome,) = engine.answer([loop.ask(event=Reply(vocabulary=("1", "2")), option_ids=("1", "2"))])
    assert outcome.reply == " 2"


def test_without_tokens_the_server_cuts_at_the_budget(serve, loop) -> None:
    server, engine = serve(lambda b, n: loop.completion("A", finish="length"))
    (outcome,) = engine.answer([loop.ask(event=REPLY)])
    assert (outcome.reply, outcome.prefixes, outcome.budget) == ("A", (), 1)
    assert server.bodies[-1]["max_tokens"] == 1


@pytest.mark.parametrize(
    ("path", "key"), [("/tokenize", "prompt"), ("/tokenize", "content"), ("/extras/tokenize", "input")]
)
def test_budgets_are_counted_by_the_server_where_it_tokenises(serve, loop, path, key) -> None:
    def tokenize(asked, body):
        return [1, *body[key].encode()] if asked == path and key in body else None  # a begin token, then bytes

    _, engine = serve(lambda b, n: loop.completion(), tokenize=tokenize)
    engine.check([REPLY])
    told = engine.describe_ids(("A", "10"))
    assert told["10"] == {"budget": {"emitted": 2, "paper": 2}, "how": "counted by the server"}
    assert told["A"]["budget"] == {"emitted": 1, "paper": 1}


def test_likelihoods_by_vllms_prompt_log_probabilities(serve, loop) -> None:
    words = {"Which?": 1, "<a>": 2, "red": 3, "dark": 4, "blue": 5, "A": 6}

    def script(body, number):
        if "prompt_logprobs" not in body:
            return loop.completion()
        said = "".join(m["content"] for m in body["messages"] if m["role"] == "assistant")
        tokens = [1, 2, *(words[w] for w in said.split())]
        entries = [None, *({str(t): {"logprob": -t / 10, "rank": 1}} for t in tokens[1:])]
        answer = loop.completion(prompt_logprobs=entries)
        answer.body["usage"]["prompt_tokens"] = len(tokens)
        assert body.get("continue_final_message", False) is bool(said)
        return answer

    _, engine = serve(script, models=[{"id": "m", "owned_by": "vllm"}])
    event = OptionLikelihood(continuations=("dark red", "blue"))
    engine.check([event])
    (outcome,) = engine.answer([loop.ask("Which?", event)])
    assert [(s.logprob, s.tokens, s.characters) for s in outcome.option_scores] == [
        (pytest.approx(-0.7), 2, 8), (pytest.approx(-0.5), 1, 4)
    ]  # fmt: skip
    assert outcome.tries == 3


def test_prompt_log_probabilities_that_are_too_few_fail_and_are_not_aligned(serve, loop) -> None:
    def script(body, number):
        answer = loop.completion()
        if "prompt_logprobs" in body:
            answer.body["prompt_logprobs"] = [None, *({str(t): {"logprob": -0.1}} for t in range(15))]
            answer.body["usage"]["prompt_tokens"] = 16 if number < 3 else 96
        return answer

    _, engine = serve(script, models=[{"id": "m", "owned_by": "vllm"}])
    (outcome,) = engine.answer([loop.ask("Which?", OptionLikelihood(continuations=("red",)))])
    assert outcome.error == "16 log-probabilities for a prompt of 96 tokens"


def test_a_begun_turn_needs_a_server_that_goes_on_there(serve, loop) -> None:
    server, engine = serve(lambda b, n: loop.completion())
    with pytest.raises(UnsupportedEvent, match="cannot go on where the assistant's turn has begun"):
        engine.answer([loop.ask(prefill="Let me think")])
    assert not any(b["messages"][-1]["role"] == "assistant" for b in server.bodies)


def test_identity_tells_ways_of_asking_apart_and_not_addresses(serve, loop) -> None:
    _, one = serve(lambda b, n: loop.completion())
    _, two = serve(lambda b, n: loop.completion())
    _, three = serve(lambda b, n: loop.completion(), image_encoding="jpeg")
    identities = []
    for engine in (one, two, three):
        engine.check([GENERATION])
        identities.append(engine.describe()["identity"])
    assert identities[0] == identities[1] != identities[2]
    assert math.isfinite(len(json.dumps(one.describe())))
