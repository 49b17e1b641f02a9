"""Groups of sequences that share a beginning: nothing is lost, and nothing is shared that is not common."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vqaudit.engines.local.grouping import prefix_groups

SEQUENCES = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=9).map(tuple), min_size=1, max_size=12)


@given(SEQUENCES, st.integers(0, 6))
def test_every_sequence_is_in_one_group_behind_its_own_beginning(sequences, call):
    groups = prefix_groups(sequences, call=call)
    assert sorted(index for group in groups for index in group.indices) == list(range(len(sequences)))
    for group in groups:
        assert list(group.chain) == sorted(set(group.chain))
        first = sequences[group.indices[0]]
        for index in group.indices:
            assert sequences[index][: group.shared] == first[: group.shared]
            assert len(sequences[index]) > group.shared


@given(SEQUENCES)
def test_no_more_is_computed_than_without_sharing(sequences):
    known, computed = set(), 0
    for group in prefix_groups(sequences, call=0):
        for before, length in zip((0, *group.chain), group.chain, strict=False):
            link = sequences[group.indices[0]][:length]
            computed += 0 if link in known else length - before
            known.add(link)
        computed += sum(len(sequences[index]) - group.shared for index in group.indices)
    assert computed <= sum(map(len, sequences))


@given(SEQUENCES, st.randoms(use_true_random=False))
def test_the_order_of_sequences_does_not_matter(sequences, random):
    shuffled = list(sequences)
    random.shuffle(shuffled)

    def shape(given):
        return sorted((g.chain, sorted(given[i] for i in g.indices)) for g in prefix_groups(given, call=1))

    assert shape(sequences) == shape(shuffled)


def test_questions_about_one_picture_are_two_links():
    picture = tuple(range(100, 130))
    questions = [tuple(range(200 + 20 * q, 220 + 20 * q)) for q in range(3)]
    prompts = [picture + question + (variant,) for question in questions for variant in range(4)]
    groups = prefix_groups(prompts, call=5)
    assert [group.chain for group in groups] == [(30, 50)] * 3
    assert prefix_groups(prompts, call=100)[0].chain == (30,)


def test_a_group_comes_before_those_that_go_on_from_its_beginning():
    prompts = [(1, 2, 9), (1, 2, 3, 4, 5, 6, 1), (1, 2, 3, 4, 5, 6, 2), (1, 2, 3, 4, 5, 6, 3)]
    assert [(g.chain, g.indices) for g in prefix_groups(prompts, call=1)] == [((2,), (0,)), ((2, 6), (1, 2, 3))]


def test_equal_sequences_keep_their_last_token():
    assert [(g.chain, g.indices) for g in prefix_groups([(5, 6, 7)] * 3, call=0)] == [((2,), (0, 1, 2))]
