"""Lists of likely tokens tell of IDs what a whole distribution would, or bounds that hold."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.engines.base import ForcedToken, Reply, Request, TextPart
from vqaudit.engines.continuations import score_continuation
from vqaudit.engines.listed import ListedPosition, positions_needed, read_listed
from vqaudit.engines.listed_replies import ListedReply, reply_outcome
from vqaudit.errors import EngineReplyError

TOKENS = ["1", "0", "2", "A", " A", "B", "i", "ii", " i", " ", "\n", "x", "<end>", "10", "1x"]


class Model:
    """A table: a distribution over TOKENS after every text, drawn once."""

    def __init__(self, seed: int, sharpness: float) -> None:
        self._seed = seed
        self._sharpness = sharpness

    def after(self, text: str) -> dict[str, float]:
        key = [self._seed, *text.encode()]
        logits = np.random.default_rng(key).normal(size=len(TOKENS)) * self._sharpness
        p = np.exp(logits - logits.max())
        return dict(zip(TOKENS, (p / p.sum()).tolist(), strict=True))

    def lists(self, positions: int, top: int) -> list[ListedPosition]:
        text, found = "", []
        for _ in range(positions):
            p = sorted(self.after(text).items(), key=lambda pair: -pair[1])
            found.append(ListedPosition.of(p[0][0], [(t, math.log(v)) for t, v in p[:top]]))
            text += p[0][0]
        return found

    def chance(self, option_id: str, others: list[str], text: str = "") -> float:
        """Probability that the reply, written token by token, becomes exactly this ID, blanks around it aside."""
        total = 0.0
        for token, p in self.after(text).items():
            whole = (text + token).strip()
            if whole == option_id:
                rests = [o[len(option_id) :] for o in others if o != option_id and o.startswith(option_id)]
                on = sum(
                    q for t, q in self.after(text + token).items()
                    if any(r.startswith(t) or t.startswith(r) for r in rests)
                )  # fmt: skip
                total += p * (1 - on)
            elif option_id.startswith(whole) and (token.strip() or not text):
                total += p * self.chance(option_id, others, text + token)
        return total


@given(
    st.integers(0, 10**6),
    st.sampled_from([["A", "B"], ["1", "2"], ["1", "10"], ["i", "ii"]]),
    st.integers(2, 15),
    st.floats(0.3, 6),
)
@settings(max_examples=150, deadline=None)
def test_what_is_called_known_is_right_and_bounds_hold(seed: int, ids: list[str], top: int, sharpness: float) -> None:
    model = Model(seed, sharpness)
    found = read_listed(model.lists(positions_needed(ids), top), ids)
    for score in found.scores:
        true = model.chance(score.option_id, ids)
        if score.logprob is None:
            assert found.bound is not None
            assert true <= math.exp(found.bound) * (1 + 1e-9) + 1e-12
        else:
            least = min(t.logprob for p in model.lists(1, top) for t in p.top)
            begun = sum(
                p
                for t, p in model.after("").items()
                if t.strip() != score.option_id and score.option_id.startswith(t.strip())
            )
            spellings = 4 * math.exp(least) + begun  # those of a listed ID that are not listed, or that begin otherwise
            assert math.exp(score.logprob) <= true * 1.02 + 1e-9
            assert true <= math.exp(score.logprob) * 1.02 + spellings + 1e-9
    if found.mass is not None:
        assert 0 <= found.mass <= 1


def test_with_the_whole_vocabulary_listed_single_tokens_are_exact() -> None:
    model = Model(3, 1.5)
    p = model.after("")
    found = read_listed(model.lists(1, len(TOKENS)), ["A", "B"])
    assert [math.exp(s.logprob) for s in found.scores] == pytest.approx([p["A"] + p[" A"], p["B"]])
    assert [s.rank for s in found.scores] == [
        1 + sum(q > max(p[t] for t in spelled) for q in p.values()) for spelled in (["A", " A"], ["B"])
    ]


def test_an_id_that_another_goes_on_from_is_known_along_the_reply_alone() -> None:
    first = [("1", math.log(0.6)), ("2", math.log(0.3)), ("x", math.log(0.1))]
    second = [("<end>", math.log(0.75)), ("0", math.log(0.25))]
    lists = [ListedPosition.of("1", first), ListedPosition.of("<end>", second)]
    found = {s.option_id: s.logprob for s in read_listed(lists, ["1", "2", "10"]).scores}
    assert math.exp(found["1"]) == pytest.approx(0.6 * 0.75)
    assert math.exp(found["2"]) == pytest.approx(0.3)
    assert math.exp(found["10"]) == pytest.approx(0.6 * 0.25)
    alone = read_listed(lists[:1], ["1", "2", "10"])
    assert [s.logprob is None for s in alone.scores] == [True, False, True]
    assert math.exp(alone.bound) == pytest.approx(0.6)


def test_sentinels_and_doubles_do_not_count() -> None:
    listed = [("B", -0.3), ("A", -1.5), ("", -9999.0), ("C", -9999.0), ("B", -0.3), ("D", None)]
    position = ListedPosition.of("B", listed)
    assert [(t.text, t.logprob) for t in position.top] == [("B", -0.3), ("A", -1.5)]
    found = read_listed([position], ["A", "B", "C"])
    assert [s.logprob for s in found.scores] == [-1.5, -0.3, None]
    assert found.bound <= math.log(1 - math.exp(-0.3) - math.exp(-1.5)) + 1e-12


def test_look_alikes_are_other_tokens() -> None:
    listed = [("A", -0.01), ("B", -5.0), (" A", -16.0), ("a", -18.4), ("\u0410", -19.7)]
    scores = read_listed([ListedPosition.of("A", listed)], ["A", "B"]).scores
    assert [round(s.logprob, 4) for s in scores] == [-0.01, -5.0]


def test_a_list_of_nothing_and_a_positive_log_probability_are_errors() -> None:
    with pytest.raises(EngineReplyError, match="no likely tokens"):
        read_listed([ListedPosition.of("A", [("", -9999.0)])], ["A"])
    with pytest.raises(EngineReplyError, match="must be <= 0"):
        ListedPosition.of("A", [("A", 0.2)])


def reply(*tokens: str, text: str | None = None) -> ListedReply:
    positions = tuple(ListedPosition.of(t, [(t, -0.1)]) for t in tokens)
    return ListedReply(text="".join(tokens) if text is None else text, finish_reason="stop", positions=positions)


@pytest.mark.parametrize(
    ("tokens", "text", "budget", "within", "further"),
    [
        (["A", " dog"], None, 1, "A", ("A dog",)),
        ([" A", "."], None, 1, " A", (" A.",)),
        ([" ", "1"], None, 1, " 1", (" 1",)),
        (["1", "0"], None, 2, "10", ("10",)),
        (["A", "<|end|>"], "A", 1, "A", ("A",)),
        ([" A", "<|end|>"], "A", 1, " A", (" A",)),
        (["A"], "something else", 1, "something else", ()),
        (["A", "B", "C", "D"], None, 2, "AB", ("ABC", "ABCD")),
        ([], "", 1, "", ()),
    ],
)
def test_replies_are_cut_where_their_budget_ends(tokens, text, budget, within, further) -> None:
    request = Request(trial="t", parts=(TextPart(text="q"),), event=Reply(vocabulary=("A",)))
    found = reply_outcome(request, reply(*tokens, text=text), budget=budget)
    assert (found.reply, found.prefixes) == (within, further)


def test_a_forced_token_has_no_budget_of_its_own() -> None:
    request = Request(trial="t", parts=(TextPart(text="q"),), option_ids=("A",), event=ForcedToken())
    assert reply_outcome(request, reply("A")).budget is None


def test_a_continuation_is_what_the_prompt_does_not_share() -> None:
    prompt = [(1, None), (2, -0.5), (9, -0.1)]
    merged = [(1, None), (2, -0.5), (77, -1.25), (8, -0.25)]
    assert score_continuation(prompt, merged, text=" cat").logprob == pytest.approx(-1.5)
    with pytest.raises(EngineReplyError, match="shares 0 of its 3 tokens"):
        score_continuation(prompt, [(5, None), (2, -0.5)], text="cat")
    with pytest.raises(EngineReplyError, match="no token is left"):
        score_continuation(prompt, prompt, text="")
    with pytest.raises(EngineReplyError, match="1 log-probabilities for the 2 tokens"):
        score_continuation(prompt, [*prompt, (4, -1.0), (5, None)], text="cat")
