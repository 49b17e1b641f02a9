"""Texts that speak of options by ID or place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vqaudit.items.references import lists_options, names_options, position_dependent

PLAIN = ["rain", "snow"]


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (["Both A and B", "Neither of the above"], (2, 3)),
        (["hail", "A and C only"], (3,)),
        (["hail", "All of the above"], (3,)),
        (["hail", "NONE OF THE ABOVE."], (3,)),
        (["hail", "All above are not right"], (3,)),
        (["hail", "None of these options are correct."], (3,)),
        (["hail", "all of these"], (3,)),
        (["hail", "none of the other answers"], (3,)),
        (["hail", "More than one of the above"], (3,)),
        (["hail", "both A,B, and C"], (3,)),
        (["hail", "A, B and C are correct"], (3,)),
        (["hail", "Only C"], (3,)),
        (["hail", "Only B and C are correct"], (3,)),
        (["hail", "All except B"], (3,)),
        (["hail", "Same as option A"], (3,)),
        (["hail", "The first option"], (3,)),
        (["either of the above", "A or B"], (2, 3)),
        (["both (a) and (b)", "neither a nor b"], (2, 3)),
        (["Options A and B", "D"], (2,)),
        (["Both 1 and 2", "1 and 2 only"], (2, 3)),
        (["Both I and II", "fog"], (2,)),
        (["Any of the following", "fog"], (2,)),
        (["以上都是", "以上都不是"], (2, 3)),
        (["A和B都对", "3个以上"], (2,)),
        (["Ninguna de las anteriores", "Todas as anteriores"], (2, 3)),
        (["Keine der oben genannten", "Aucune des réponses ci-dessus"], (2, 3)),
    ],
)
def test_references_are_found(tail, expected):
    assert position_dependent([*PLAIN, *tail]) == expected


@pytest.mark.parametrize(
    "options",
    [
        ["Vitamin A and vitamin B", "Both sides of the road", "None", "Either"],
        ["none", "all", "both", "neither"],
        ["both of them", "neither of them", "the man", "all of them"],
        ["A and B", "B and C", "C and D", "A and D"],
        ["E and F", "G and H", "a dog", "a cat"],
        ["I only", "II only", "I and II only", "Neither I nor II"],
        ["None", "I only", "II only", "I and II only"],
        ["1 only", "2 only", "1 and 2 only", "Both 1 and 2"],
        ["1 and 2", "3 and 4", "5", "6"],
        ["Solution A", "Solution B", "neither; their concentrations are the same"],
        ["Option A", "Option B", "Option C", "Option D"],
        ["Blood types A and B", "Both A and B vitamins", "Class A, B"],
        ["omitting both A and G is better", "omitting A is better"],
        ["positive in both I and III", "negative in I, positive in III"],
        ["A/C", "heater", "fan", "B/W"],
        ["All above-ground parts", "the above ground pool", "above average"],
        ["the drug of first choice", "the second choice", "he has no other choice"],
        ["Plan A and plan B", "A man and a woman", "Yes, I and my dog"],
        ["20岁以上都可以", "三个以上"],
        ["c", "D", "b", "a"],
    ],
)
def test_texts_that_only_look_alike_are_not(options):
    assert position_dependent(options) == ()


@given(
    st.lists(
        st.sampled_from(["a cat", "two dogs", "on the left", "blue", "7", "none", "A4 paper"]), min_size=2, max_size=6
    )
)
def test_ordinary_options_are_free_in_any_number_and_order(options):
    assert position_dependent(options) == ()


@given(st.permutations(["rain", "snow", "hail", "None of the above"]))
def test_a_phrase_is_found_wherever_it_stands(options):
    assert position_dependent(options) == (options.index("None of the above"),)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which of the options A and B is larger?", True),
        ("Is option C right?", True),
        ("Choose the first option if you see a cat.", True),
        ("Compare options 1 and 2.", True),
        ("图中选项A是什么？", True),
        ("Which option is right?", False),
        ("What option I should choose?", False),
        ("Which is the drug of first choice?", False),
        ("Is option G shown?", False),
        ("Is vitamin A shown?", False),
        ("Which of the two options shows a cat?", False),
    ],
)
def test_questions_that_name_options(question, expected):
    assert names_options(question, 4) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is it made of?\n(A) rubber\n(B) cotton\nAnswer", True),
        ("Which is right?\nOptions: A: on the book, B: under it", True),
        ("Pick one.\nA. red\nB. blue", True),
        ("Compare vitamin A. Then vitamin B. Which is sour?", False),
        ("What is (A) in the picture?", False),
    ],
)
def test_questions_that_hold_the_list_of_options(question, expected):
    assert lists_options(question) == expected
