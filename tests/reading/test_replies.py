"""Messy replies with their right readings, and what must hold for every reply."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.reading import READER_VERSION, Reading, read_exact, read_reply

CORPUS = [
    json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text(encoding="utf-8").splitlines()
]
ID_SETS = {
    "upper": [chr(65 + place) for place in range(26)],
    "lower": [chr(97 + place) for place in range(26)],
    "numbers": [str(place + 1) for place in range(40)],
    "roman": [
        "I",
        "II",
        "III",
        "IV",
        "V",
        "VI",
        "VII",
        "VIII",
        "IX",
        "X",
        "XI",
        "XII",
        "XIII",
        "XIV",
        "XV",
        "XVI",
        "XVII",
        "XVIII",
        "XIX",
        "XX",
    ],
}
LAMPS = [
    f"{word} lamp"
    for word in [
        "amber",
        "brass",
        "coral",
        "denim",
        "ebony",
        "frost",
        "gilt",
        "hazel",
        "ivory",
        "jade",
        "khaki",
        "lemon",
        "mauve",
        "navy",
        "ochre",
        "pearl",
    ]
]


def ids_of(row) -> list[str]:
    return row["ids"] if isinstance(row["ids"], list) else ID_SETS[row["ids"]][: len(row["options"])]


def read_row(row) -> Reading:
    return read_reply(
        row["reply"],
        option_ids=ids_of(row),
        options=row["options"],
        finish_reason=row.get("finish_reason"),
        reasoning=row.get("reasoning"),
    )


@pytest.mark.parametrize("rule", sorted({row["rule"] for row in CORPUS}))
def test_every_reply_of_the_corpus_is_read_right(rule: str) -> None:
    wrong = []
    for row in (row for row in CORPUS if row["rule"] == rule):
        got = read_row(row)
        same = got.outcome != "chosen" if row["outcome"] == "not chosen" else got.outcome == row["outcome"]
        if got.option_id != row["option_id"] or not same:
            wrong.append((row["reply"], row["option_id"], row["outcome"], got))
    assert wrong == []


def test_the_corpus_is_broad() -> None:
    assert len(CORPUS) >= 180
    assert {row["ids"] for row in CORPUS if isinstance(row["ids"], str)} == set(ID_SETS)
    assert len({(row["reply"], str(row["ids"]), str(row["options"]), row.get("finish_reason")) for row in CORPUS}) > 700


def test_a_reading_says_which_rule_decided() -> None:
    assert all(read_row(row).reason for row in CORPUS)
    assert READER_VERSION == "2"


@pytest.mark.parametrize("outcome", ["chosen", "refused", "guessed"])
def test_an_id_belongs_to_chosen_alone(outcome) -> None:
    with pytest.raises(ValueError, match=outcome):
        Reading(outcome=outcome, option_id=None if outcome == "chosen" else "A")


@pytest.mark.parametrize(
    ("ids", "options"), [(["A", "A"], ["x", "y"]), (["A", " "], ["x", "y"]), (["A", "B"], ["x"]), (["A"], ["x", "y"])]
)
def test_ids_and_options_that_do_not_fit_are_refused(ids, options) -> None:
    with pytest.raises(ValueError, match="option"):
        read_reply("A", option_ids=ids, options=options)


def test_no_options_means_no_choice() -> None:
    assert read_reply("A", option_ids=[], options=[]).outcome == "unreadable"


@pytest.mark.parametrize(
    ("reply", "option_id", "outcome"),
    [
        ("B", "B", "chosen"),
        ("  B\n", "B", "chosen"),
        ("\u00a0B", "B", "chosen"),
        ("b", None, "unreadable"),
        ("B.", None, "unreadable"),
        ("(B)", None, "unreadable"),
        ("Ｂ", None, "unreadable"),
        ("B B", None, "unreadable"),
        ("<think></think>B", None, "unreadable"),
        ("", None, "empty"),
        (" \n", None, "empty"),
        (None, None, "empty"),
    ],
)
def test_the_exact_event_forgives_nothing_but_outer_blanks(reply, option_id, outcome) -> None:
    got = read_exact(reply, option_ids=["A", "B"], finish_reason="length")
    assert (got.option_id, got.outcome) == (option_id, outcome)


def test_an_engine_error_is_no_reply() -> None:
    assert read_exact("B", option_ids=["A", "B"], finish_reason="error").outcome == "failed"
    assert read_reply("B", option_ids=["A", "B"], options=["x", "y"], finish_reason="error").outcome == "failed"


DECORATIONS = [
    "{i}",
    " {i}\n",
    "{i}.",
    "({i})",
    "[{i}]",
    "**{i}**",
    "__{i}__",
    "`{i}`",
    '"{i}"',
    "“{i}”",
    "${i}$",
    "\\({i}\\)",
    "\\boxed{{{i}}}",
    "$\\boxed{{\\text{{{i}}}}}$",
    "<answer>{i}</answer>",
    "<think>Either one, or 1, or i, or A.</think>{i}",
    "<b>{i}</b><|im_end|>",
    '{{"answer": "{i}", "why": "A lamp"}}',
    '```json\n{{"final_answer": "{i}"}}\n```',
    "{i}. {t}",
    "{i}) {t}",
    "({i}) {t}",
    "{i}: {t}",
    "{i} - {t}",
    "{t}",
    "{t} ({i})",
    "Option {i}",
    "Answer: {i}",
    "ANSWER: {i}. {t}",
    "**Answer:** {i}",
    "Answer:\n\n{i}",
    "Final answer: ANSWER: {i}",
    "The answer is {i}.",
    "The correct option is ({i}), because a man is there.",
    "I see a man and 2 dogs.\n\nAnswer: {i}",
    "After a look at a picture of a man, I choose {i}.",
    "Based on a photo, option {i} is correct.",
    "I think it is {i}.",
    "Therefore, {i}.",
    "That leaves {i}.",
    "{i} is correct.",
    "Die richtige Antwort ist {i}.",
    "La respuesta correcta es {i}.",
    "La bonne réponse est {i}.",
    "La risposta corretta è {i}.",
    "A resposta correta é {i}.",
    "答案：{i}",
    "正解は{i}です。",
    "정답: {i}",
    "Правильный ответ: {i}",
]


@given(st.sampled_from(sorted(ID_SETS)), st.integers(2, 16), st.data())
@settings(max_examples=400, deadline=None)
def test_every_decoration_of_a_right_id_reads_back_to_it(name: str, n: int, data) -> None:
    ids, place = ID_SETS[name][:n], data.draw(st.integers(0, n - 1))
    reply = data.draw(st.sampled_from(DECORATIONS)).format(i=ids[place], t=LAMPS[place])
    assert read_reply(reply, option_ids=ids, options=LAMPS[:n]).option_id == ids[place], reply


@pytest.mark.parametrize("name", sorted(ID_SETS))
def test_every_decoration_works_for_every_id_set(name: str) -> None:
    ids, options = ID_SETS[name][:5], LAMPS[:5]
    for decoration in DECORATIONS:
        for option_id, text in zip(ids, options, strict=True):
            reply = decoration.format(i=option_id, t=text)
            assert read_reply(reply, option_ids=ids, options=options).option_id == option_id, reply


WORDS = [
    "look",
    "at",
    "the",
    "shape",
    "of",
    "that",
    "thing",
    "near",
    "water",
    "while",
    "people",
    "walk",
    "slowly",
    "under",
    "cold",
    "light",
    "because",
    "rain",
    "fell",
    "today",
    "and",
    "something",
    "moves",
    "along",
    "every",
    "road",
    "without",
    "any",
    "sound",
    "or",
    "colour",
    "then",
    "night",
    "comes",
    "over",
    "hills",
]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=40),
    st.sampled_from([" ", ", ", "\n", ". "]),
    st.sampled_from(sorted(ID_SETS)),
)
@settings(deadline=None)
def test_words_of_no_option_and_no_id_are_never_chosen(words, joint, name) -> None:
    assert read_reply(joint.join(words), option_ids=ID_SETS[name][:6], options=LAMPS[:6]).outcome != "chosen"


SOUP = st.lists(
    st.sampled_from(
        [
            "A",
            "B",
            "C",
            "D",
            "a",
            "b",
            "(A)",
            "B.",
            "**C**",
            "AB",
            "E",
            "1",
            "amber lamp",
            "brass lamp",
            "lamp",
            "the",
            "Answer:",
            "answer is",
            "option",
            "not",
            "neither",
            "nor",
            "and",
            "or",
            ",",
            ".",
            "?",
            "\n",
            "\n\n",
            ":",
            "I",
            "so",
            "which leaves",
            "is correct",
            "is wrong",
            "wait",
            "maybe",
            "I don't know",
            "cannot",
            "\\boxed{",
            "}",
            "$",
            "{",
            '{"answer":',
            '"',
            "<think>",
            "</think>",
            "<answer>",
            "</answer>",
            "答案",
            "是",
            "选",
            "。",
            "因为",
            "「",
            "」",
        ]
    )
    | st.text(max_size=4),
    max_size=30,
).map(" ".join)


@given(SOUP, st.sampled_from([None, "stop", "length"]))
@settings(max_examples=500, deadline=None)
def test_no_reading_ever_names_what_was_not_shown(reply, finish_reason) -> None:
    got = read_reply(reply, option_ids=list("ABCD"), options=LAMPS[:4], finish_reason=finish_reason)
    assert got.option_id in {None, "A", "B", "C", "D"}
    assert (got.option_id is not None) == (got.outcome == "chosen")


@given(st.text(max_size=300), st.text(max_size=20), st.lists(st.text(max_size=12), min_size=3, max_size=3))
@settings(max_examples=300, deadline=None)
def test_no_text_makes_the_reader_raise(reply, reasoning, options) -> None:
    for ids in (["A", "B", "C"], ["1", "2", "3"], ["é", "∅", "x y"]):
        read_reply(reply, option_ids=ids, options=options, reasoning=reasoning)
        read_exact(reply, option_ids=ids)


@given(SOUP, st.permutations(range(4)))
@settings(max_examples=300, deadline=None)
def test_the_order_in_which_options_are_given_changes_no_reading(reply, order) -> None:
    ids = list("ABCD")
    plain = read_reply(reply, option_ids=ids, options=LAMPS[:4])
    permuted = read_reply(reply, option_ids=[ids[i] for i in order], options=[LAMPS[i] for i in order])
    assert (permuted.option_id, permuted.outcome) == (plain.option_id, plain.outcome)


@given(st.sampled_from(DECORATIONS), st.permutations(range(5)), st.integers(0, 4), st.sampled_from(sorted(ID_SETS)))
@settings(max_examples=200, deadline=None)
def test_relabelled_options_permute_the_reading_and_come_back(decoration, order, place, name) -> None:
    ids = ID_SETS[name][:5]
    shown = [LAMPS[option] for option in order]
    reply = decoration.format(i=ids[place], t=shown[place])
    read = read_reply(reply, option_ids=ids, options=shown).option_id
    assert read is not None
    assert order[ids.index(read)] == order[place]


NAMELESS = st.lists(
    st.sampled_from(
        [
            "<0>",
            "<1>",
            "<2>",
            "(<0>)",
            "<1>.",
            "**<2>**",
            "<t0>",
            "<t1>",
            "the",
            "Answer:",
            "answer is",
            "option",
            "not",
            "neither",
            "nor",
            "and",
            "or",
            ",",
            ".",
            "?",
            "\n",
            "\n\n",
            ":",
            "so",
            "which leaves",
            "is correct",
            "is wrong",
            "wait",
            "maybe",
            "cannot",
            "\\boxed{<2>}",
            '{"answer": "<1>"}',
            "答案",
            "选",
            "。",
            "- ",
            "it is",
            "only",
            "because",
        ]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)


@given(NAMELESS, st.permutations([1, 2, 3]))
@settings(max_examples=300, deadline=None)
def test_no_letter_is_favoured(reply, order) -> None:
    def fill(places) -> str:
        text = reply
        for name, place in enumerate(places):
            text = text.replace(f"<{name}>", "ABCD"[place]).replace(f"<t{name}>", LAMPS[place])
        return text

    plain = read_reply(fill([1, 2, 3]), option_ids=list("ABCD"), options=LAMPS[:4])
    renamed = read_reply(fill(order), option_ids=list("ABCD"), options=LAMPS[:4])
    expected = plain.option_id and "ABCD"[order["BCD".index(plain.option_id)]]
    assert (renamed.option_id, renamed.outcome) == (expected, plain.outcome)


HUGE = [
    "a",
    "A ",
    "answer ",
    "Answer: A\n",
    "the answer is ",
    "\\boxed{",
    "{",
    "(",
    '{"a":',
    '{"answer":[',
    '{"x": 1}',
    "<think>",
    "</think>",
    "*",
    "_",
    "$ ",
    "\\text{",
    '"',
    "\n",
    "A, ",
    "A and ",
    "not A ",
    "(A) ",
    "amber lamp ",
    "1.",
    "。",
    "答案是",
    "选",
    "option A ",
    "so ",
    "<",
    "- ",
    "cannot ",
    "error: ",
    "\\",
    "é",
    "\u200b",
    "a? ",
    "A is correct ",
]


@pytest.mark.parametrize("piece", HUGE, ids=repr)
def test_a_reply_of_a_million_characters_is_read_at_once(piece: str) -> None:
    reply = piece * (1_000_000 // len(piece))
    start = time.process_time()
    got = read_reply(reply, option_ids=list("ABCDEFGH"), options=LAMPS[:8])
    assert time.process_time() - start < 2.0
    assert got.option_id in {None, *"ABCDEFGH"}


def test_the_answer_behind_a_million_characters_is_found() -> None:
    reply = "There is a lamp in the hall. " * 35_000 + "\nAnswer: C"
    assert read_reply(reply, option_ids=list("ABCD"), options=LAMPS[:4]).option_id == "C"


def test_nothing_in_a_reply_is_evaluated(tmp_path: Path) -> None:
    target = tmp_path / "written"
    for reply in (
        f'{{"answer": "__import__(\'pathlib\').Path({str(target)!r}).touch()"}}',
        f"{{'answer': open({str(target)!r}, 'w')}}",
    ):
        assert read_reply(reply, option_ids=["A", "B"], options=["x", "y"]).outcome != "chosen"
    assert not target.exists()
