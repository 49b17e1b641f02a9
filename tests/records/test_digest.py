"""What the digest of a run tells apart, and what it does not."""

import hypothesis.strategies as st
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

from vqaudit.records import TRIAL_SCHEMA, records_digest

SCORE = {"option_id": "A", "logprob": -0.5, "rank": 1, "token_ids": [3], "spelling": "A", "in_place_logprob": -0.5}
NUMBERS = st.none() | st.floats() | st.sampled_from([float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
RECORDS = st.fixed_dictionaries(
    {
        "reply": st.none() | st.sampled_from(["", "A", "A.", "Å"]),
        "id_mass": NUMBERS,
        "order": st.none() | st.lists(st.integers(0, 2), max_size=2),
        "id_scores": st.none()
        | st.lists(NUMBERS.map(lambda number: SCORE | {"logprob": number}), max_size=2)
        | st.just([None]),
    }
)


def frame(records):
    rows = [{"trial": f"{n:016x}", "item": "i", "outcome": "chosen", "attempt": 0} | r for n, r in enumerate(records)]
    return pl.from_arrow(pa.Table.from_pylist(rows, schema=TRIAL_SCHEMA))


@settings(max_examples=100, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=3), st.lists(RECORDS, min_size=1, max_size=3))
def test_equal_digests_are_equal_records(one, two):
    """`repr` tells a number that is none from null, and 0.0 from -0.0, which `==` does not."""
    same = repr([sorted(record.items()) for record in one]) == repr([sorted(record.items()) for record in two])
    assert (records_digest(frame(one)) == records_digest(frame(two))) == same


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ([{"id_mass": None}], [{"id_mass": float("nan")}]),
        ([{"id_mass": float("inf")}], [{"id_mass": float("nan")}]),
        ([{"order": None}], [{"order": []}]),
        ([{"order": [0, 1]}, {"order": [2]}], [{"order": [0]}, {"order": [1, 2]}]),
        ([{"reply": "AB"}, {"reply": "C"}], [{"reply": "A"}, {"reply": "BC"}]),
        ([{"id_scores": [SCORE]}], [{"id_scores": [SCORE | {"logprob": None}]}]),
        ([{"id_scores": [SCORE]}], [{"id_scores": [SCORE | {"token_ids": [3, 3]}]}]),
    ],
)
def test_near_misses_differ(one, two):
    assert records_digest(frame(one)) != records_digest(frame(two))


def test_rows_of_many_bits_have_one_digest_whatever_their_sequence(monkeypatch):
    monkeypatch.setattr("vqaudit.records.digest._ROWS", 3)
    records = frame([{"reply": str(n)} for n in range(10)])
    assert records_digest(records) == records_digest(records.reverse())
    assert records_digest(records) != records_digest(records.head(9))
