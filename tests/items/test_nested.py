"""Questions that are objects, as in ARC and its relatives."""

from vqaudit.items import load_items


def arc(number, key, labels="ABCD"):
    choices = [{"text": f"thing {label}", "label": label} for label in labels]
    return {"id": f"q{number}", "question": {"stem": f"Which melts at {number}?", "choices": choices}, "answerKey": key}


def test_letters_and_numbers_as_labels_of_the_rows(save):
    dataset = load_items(save([arc(1, "C"), arc(2, "3", "1234"), arc(3, "B", "AB")]))
    assert [(item.id, item.question, item.n_options, item.answer) for item in dataset] == [
        ("q1", "Which melts at 1?", 4, 2),
        ("q2", "Which melts at 2?", 4, 2),
        ("q3", "Which melts at 3?", 2, 1),
    ]


def test_parquet_keeps_the_shape(save):
    dataset = load_items(save([arc(1, "C"), arc(2, "A")], "parquet"))
    assert [item.options[item.answer] for item in dataset] == ["thing C", "thing A"]


def test_lists_side_by_side_and_fields_of_the_row_win(save):
    rows = [
        {
            "id": "x",
            "question": {"stem": "Which?", "choices": {"text": ["no", "yes"], "label": ["A", "B"]}, "id": "inner"},
            "answerKey": "B",
        }
    ]
    (item,) = load_items(save(rows))
    assert (item.id, item.options[item.answer]) == ("x", "yes")
