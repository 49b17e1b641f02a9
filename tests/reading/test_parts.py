"""The parts of the reader, where the corpus would not tell which of them went wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqaudit.reading.labels import Labels
from vqaudit.reading.normalise import fold, plain, split_thoughts, unify
from vqaudit.reading.objects import find_object
from vqaudit.reading.sentences import affirmed
from vqaudit.reading.texts import OptionTexts


@pytest.mark.parametrize(
    ("text", "answer", "unfinished"),
    [
        ("B", "B", False),
        ("<think>a</think>B", "B", False),
        ("a</think>B", "B", False),
        ("<think> <think> a </think> b </think>B", "B", False),
        ("<think>I avoid <think> here.</think>B", "B", False),
        ("B<think>why</think>", "B", False),
        ("<think>a", "", True),
        ("<think>a</think><think>b", "", True),
        ("<think>a</think>B</think>", "B", False),
        ("[THINK]a[/THINK]B", "B", False),
        ("<thinker>B", "<thinker>B", False),
    ],
)
def test_thinking_is_taken_out(text, answer, unfinished) -> None:
    assert split_thoughts(text) == (answer, unfinished)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ａ．（Ｂ）：", "A.(B):"),
        ("Ⅳ ① 𝐁 Ⓒ", "IV 1 B C"),
        ("10² and H₂O and ½", "10² and H₂O and ½"),
        ("А is Cyrillic, Α is Greek", "А is Cyrillic, Α is Greek"),
        ("“a” ‘b’ – c", "\"a\" 'b' - c"),
        ("a\u200bb\ufeff\x00\x02", "ab"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
    ],
)
def test_characters_get_one_form(text, expected) -> None:
    assert unify(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*3 and snake_case", "2*3 and snake_case"),
        ("**B** *is* __it__", "B is it"),
        ("$5 and $6", "$5 and $6"),
        ("$x$ and $$y$$", "x and y"),
        ("\\text{a \\textbf{b}}", "a b"),
        ("- one\n# two\n> three", "one\ntwo\nthree"),
        ("> 5\n- 5\n-5", "> 5\n- 5\n-5"),
        ("<b>B</b><br>c<|eot_id|></s>", "B\nc"),
        ("a < b > c", "a < b > c"),
    ],
)
def test_mark_up_goes_and_signs_stay(text, expected) -> None:
    assert plain(text) == expected


@given(st.text(max_size=80))
@settings(deadline=None)
def test_plain_text_stays_plain_characters(text) -> None:
    assert "\r" not in plain(text)
    assert unify(unify(text)) == unify(text)


@pytest.mark.parametrize(
    ("one", "other"), [("-5", "5"), ("0.5", ".5"), ("5!", "5"), ("red", "dark red"), ("1.5", "15")]
)
def test_different_texts_stay_different(one, other) -> None:
    assert fold(one) != fold(other)


def test_whole_ids_only() -> None:
    labels = Labels.of([str(i) for i in range(1, 13)])
    assert [label.option_id for label in labels.tokens("1 12 13 1.5 2/3 3% $4 5-6 -7 8. 121")] == ["1", "12", "8"]
    letters = Labels.of(list("ABCDE"))
    found = [label.option_id for label in letters.tokens("A B-side C++ D's E=mc AB (C) vitamin-D É")]
    assert found == ["A", "C"]


def test_ids_that_differ_in_case_alone_are_read_in_their_case() -> None:
    labels = Labels.of(["a", "A", "b"])
    assert [labels.whole(text) for text in ("a", "A", "B")] == ["a", "A", "b"]


def test_the_longest_text_at_a_place_is_named() -> None:
    texts = OptionTexts.of(list("ABC"), ["red", "dark red", "red brick"])
    named = [mention.ids[0] for mention in texts.mentions("dark red, red brick, reddish, blood-red, red")]
    assert named == ["B", "C", "A"]


def test_texts_that_differ_in_case_or_quotes_alone() -> None:
    texts = OptionTexts.of(list("ABCD"), ["Bb", "BB", "Night Sea", '"Night Sea"'])
    assert [texts.whole(text) for text in ("Bb", "BB", "bb")] == [("A",), ("B",), ("A", "B")]
    assert [texts.whole(text) for text in ("Night Sea", '"Night Sea"')] == [("C",), ("D",)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("X and Y are wrong, so Z", "Z"),
        ("X, Y is wrong", "X"),
        ("neither X nor Y but Z", "Z"),
        ("Z, not X", "Z"),
        ("Z rather than X or Y", "Z"),
        ("X isn't it; Z is", "Z"),
        ("not X, Y", ""),
    ],
)
def test_denied_names_are_dropped(text, kept) -> None:
    spans = [(place, place + 1) for place, character in enumerate(text) if character in "XYZ"]
    assert "".join(text[spans[index][0]] for index in affirmed(text, spans)) == kept


def test_json_is_found_and_never_repaired() -> None:
    assert find_object("no object {here}") is None
    assert find_object('{"a": 1, "a": 2}').fields == {"a": [1, 2]}
    assert find_object("{" * 5000 + '{"Final Answer": "B"}').fields == {"final_answer": "B"}
    assert find_object('{"a":' * 100_000) is None
