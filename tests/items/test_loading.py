"""Files into datasets: every kind of file, every kind of trouble."""

import base64
import contextlib
import dataclasses
import json
import string

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from vqaudit.errors import DatasetError
from vqaudit.items import Columns, load_items, open_image
from vqaudit.items.images import ImageError

KINDS = ["jsonl", "json", "csv", "tsv", "parquet"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(str.strip)
OPTIONS = st.lists(TEXTS, min_size=2, max_size=5).filter(lambda texts: texts[-1].strip().lower() != "nan")


def row(number=1, answer="B", **more):
    return {
        "id": number,
        "question": f"How many at {number}?",
        "options": ["one", "two", "three"],
        "answer": answer,
        **more,
    }


def as_read(text):
    return text.replace("\r\n", "\n").strip()


def carries_labels(texts):
    return all(any(mark in text[:7] for mark in ".:：．、)）]") for text in texts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", ["list", "letters"])
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
def test_texts_and_answers_survive_every_kind_of_file(save, kind, columns, data):
    lists = data.draw(st.lists(OPTIONS, min_size=1, max_size=3))
    assume(not any(carries_labels(texts) for texts in lists))
    golds = [data.draw(st.integers(0, len(texts) - 1)) for texts in lists]
    rows = []
    for number, (texts, gold) in enumerate(zip(lists, golds, strict=True)):
        cells = {"options": texts} if columns == "list" else dict(zip(string.ascii_uppercase, texts, strict=False))
        rows.append({"index": number, "question": f"q{number}", **cells, "answer": string.ascii_uppercase[gold]})
    if columns == "letters":
        names = [name for name in string.ascii_uppercase if any(name in cells for cells in rows)]
        rows = [{**dict.fromkeys(names), **cells} for cells in rows]
    dataset = load_items(save(rows, kind))
    assert [item.options for item in dataset] == [tuple(map(as_read, texts)) for texts in lists]
    assert [item.answer for item in dataset] == golds
    assert [item.id for item in dataset] == [str(number) for number in range(len(lists))]


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_read(save, kind):
    rows = [row(n, "A", hint=" See\r\nbelow. ", category="colour", group=7.0) for n in (1, 2)]
    dataset = load_items(save(rows, kind))
    first = dataset.items[0]
    assert len(dataset) == 2
    assert dataset.name == "data"
    assert (first.id, first.hint, first.category, first.group) == ("1", "See\nbelow.", "colour", "7")
    assert first.source == f"data.{kind}, row 1"
    assert dataset.columns.options == "options"
    assert dataset.answers == "letter"


def test_the_digest_is_the_same_for_every_kind_of_file(save):
    rows = [row(n) for n in range(3)]
    assert len({load_items(save(rows, kind)).digest for kind in KINDS}) == 1
    assert load_items(save([row(n, "A") for n in range(3)])).digest != load_items(save(rows)).digest


@pytest.mark.parametrize("hint", ["NaN", "nan", "None", "null", "", None, float("nan")])
def test_an_empty_hint_is_left_out(save, hint):
    cells = {"question": "Is the lamp on?", "A": "Yes", "B": "No", "C": "NaN", "D": "", "hint": hint, "answer": "B"}
    (item,) = load_items(save([cells]))
    assert item.options == ("Yes", "No")
    assert item.answer == 1
    assert item.hint is None


def test_the_option_none_in_a_tsv_is_an_option(save_text):
    path = save_text("index\tquestion\tA\tB\tC\tD\tanswer\n3\tHow many boats?\tTwo\tThree\tOne\tNone\tD\n", "x.tsv")
    (item,) = load_items(path)
    assert item.options == ("Two", "Three", "One", "None")
    assert item.answer == 3


def test_the_option_nan_in_a_list_is_kept_with_a_warning(save):
    rows = [{"id": 5, "question": "How many lamps?", "options": ["nan", "Five", "Four", "Six"], "answer": "A"}]
    dataset = load_items(save(rows))
    assert len(dataset.items[0].options) == 4
    assert dataset.items[0].answer == 0
    assert "suspicious option text 'nan'" in dataset.warnings[0]


def test_trailing_nan_columns_are_missing_unless_right(save):
    cells = {"A": "Yes", "B": "No", "C": "nan", "D": "nan"}
    rows = [{"id": n, "question": "q", **cells, "answer": answer} for n, answer in enumerate("BC")]
    dataset = load_items(save(rows, "tsv"))
    assert [item.options for item in dataset] == [("Yes", "No"), ("Yes", "No", "nan")]
    assert "'nan' in 1 item (first: '1')" in dataset.warnings[0]


# Answers


def test_declared_answers_are_taken_as_declared(save):
    rows = [row(n, 1) for n in range(2)]
    with pytest.raises(DatasetError, match=r"column 'answer': cannot tell whether answers count from 0 or from 1"):
        load_items(save(rows))
    assert [item.answer for item in load_items(save(rows), answers="index0")] == [1, 1]
    assert [item.answer for item in load_items(save(rows), answers="index1")] == [0, 0]


def test_an_unknown_meaning_of_answers_is_refused(save):
    with pytest.raises(DatasetError, match="answers='index' is unknown; 'letter', 'index0'"):
        load_items(save([row(1)]), answers="index")


def test_answers_are_proved_over_the_whole_file_also_under_a_limit(save):
    rows = [row(1, 1), row(2, 2), row(3, 0)]
    dataset = load_items(save(rows), limit=1)
    assert dataset.answers == "index0"
    assert len(dataset) == 1


def test_rows_with_labels_of_their_own(save):
    rows = [
        {"id": 1, "question": "q", "options": ["w", "x", "y", "z"], "labels": ["1", "2", "3", "4"], "key": "3"},
        {"id": 2, "question": "q", "options": ["w", "x", "y", "z"], "labels": ["A", "B", "C", "D"], "key": "C"},
    ]
    dataset = load_items(save(rows))
    assert dataset.answers == "label"
    assert [item.answer for item in dataset] == [2, 2]
    with pytest.raises(DatasetError, match="4 options, but 1 labels in 'labels'"):
        load_items(save([{**rows[0], "labels": ["1"]}]))


def test_a_gold_letter_beyond_the_options_names_the_item(save):
    rows = [{"id": "x17", "question": "q", "options": [f"a{n}" for n in range(1, 10)], "answer": "J"}]
    with pytest.raises(DatasetError, match="answer 'J' is not among A to I") as caught:
        load_items(save(rows))
    assert (caught.value.item, caught.value.row, caught.value.column) == ("x17", 1, "answer")


def test_a_test_split_without_answers_says_so(save):
    with pytest.raises(DatasetError, match="the answer is missing"):
        load_items(save([row(1, None), row(2, "")]))


# Bad rows


BAD = [
    (row(9, question=""), "question", "the question is empty"),
    (row(9, question="nan"), "question", "the question is empty"),
    (row(9, question=["q"]), "question", "text or a number"),
    (row(9, options=[]), "options", "no options"),
    (row(9, options=["one"]), "options", "1 option; 2 to 26"),
    (row(9, options=[f"o{n}" for n in range(27)]), "options", "27 options; 2 to 26"),
    (row(9, options=["one", None, "three"]), "options", "in between is missing"),
    (row(9, "E"), "answer", "not among A to C"),
    (row(9, image="http://x.org/a.png"), "image", "never fetched unasked"),
    (row(9, image="../a.png"), "image", "leaves the folder"),
]


@pytest.mark.parametrize(("bad", "column", "words"), BAD)
def test_a_bad_row_is_named_with_file_row_column_and_item(save, bad, column, words):
    rows = [row(1, image=None), row(2, image=None), bad, row(4, "Z")]
    with pytest.raises(DatasetError, match=words) as caught:
        load_items(save(rows))
    error = caught.value
    assert (error.row, error.column, error.item) == (3, column, "9")
    assert "data.jsonl, row 3" in str(error)
    assert "1 more row is bad (skip_bad_items" in str(error)


@pytest.mark.parametrize(("bad", "column", "words"), BAD)
def test_bad_rows_are_skipped_on_request_and_listed(save, bad, column, words):
    dataset = load_items(save([row(1), bad, row(3)]), skip_bad_items=True)
    assert [item.id for item in dataset] == ["1", "3"]
    (skipped,) = dataset.skipped
    assert (skipped.row, skipped.item) == (2, "9")
    assert words.split(";")[0] in skipped.sentence


def test_nothing_but_bad_rows_is_an_error_all_the_same(save):
    with pytest.raises(DatasetError, match="1 more row is bad"):
        load_items(save([row(1, "Z"), row(2, "Z")]), skip_bad_items=True)


def test_a_broken_line_is_a_bad_row(save_text):
    path = save_text(f"{json.dumps(row(1))}\n{json.dumps(row(2))[:-9]}\n{json.dumps(row(3))}\n", "x.jsonl")
    with pytest.raises(DatasetError, match="row 2: not valid JSON"):
        load_items(path)
    dataset = load_items(path, skip_bad_items=True)
    assert [item.id for item in dataset] == ["1", "3"]
    assert dataset.skipped[0].item is None


def test_a_missing_id_is_a_bad_row(save):
    with pytest.raises(DatasetError, match="the ID is missing") as caught:
        load_items(save([row(1), row(None)]))
    assert (caught.value.row, caught.value.column) == (2, "id")


def test_bad_rows_beyond_the_limit_do_not_matter(save):
    rows = [row(1), row(2, "Z"), row(3), row(4, "Z")]
    assert len(load_items(save(rows), limit=1)) == 1
    dataset = load_items(save(rows), limit=2, skip_bad_items=True)
    assert [item.id for item in dataset] == ["1", "3"]
    assert [skipped.row for skipped in dataset.skipped] == [2]
    with pytest.raises(DatasetError, match="limit must be at least 1"):
        load_items(save(rows), limit=0)


# IDs


def test_ids_are_one_however_they_are_written(save):
    for twin in (8, "8", 8.0, "8.0"):
        with pytest.raises(DatasetError, match=r"duplicate IDs: 8 \(rows 2, 3\)"):
            load_items(save([row(7), row(8), row(twin), row(9)]))


def test_later_duplicates_are_skipped_on_request(save):
    dataset = load_items(save([row(7), row(8), row("8"), row(9)]), skip_bad_items=True)
    assert [item.id for item in dataset] == ["7", "8", "9"]
    assert "row 2 has this ID already" in dataset.skipped[0].sentence


def test_rows_without_an_id_are_numbered(save):
    rows = [{"question": "q", "options": ["a cat", "a dog"], "answer": "A"}] * 2
    assert [item.id for item in load_items(save(rows))] == ["row-1", "row-2"]
    rows = [row(7), row(7)]
    assert [item.id for item in load_items(save(rows), columns=Columns(id=""))] == ["row-1", "row-2"]


def test_the_keys_of_a_keyed_file_are_ids(save_text):
    record = {"question": "q", "choices": ["a cat", "a dog"], "answer": 0}
    dataset = load_items(save_text(json.dumps({"4": record, "11": record}), "x.json"))
    assert [item.id for item in dataset] == ["4", "11"]


# Images


def test_a_vlmevalkit_file_with_reused_images_and_rotated_copies(save, png):
    encoded = [base64.b64encode(png(n)).decode() for n in (1, 2)]
    options = ("one", "two", "three")
    rows = []
    for base, image in zip((7, 21), encoded, strict=True):
        for k in range(3):
            turned = [options[(i - k) % 3] for i in range(3)]
            cells = dict(zip("ABC", turned, strict=True))
            rows.append(
                {"index": base + k * 10**6, "image": image if k == 0 else base, "question": f"q{base}", **cells}
            )
            rows[-1]["answer"] = "BCA"[k]
    dataset = load_items(save(rows, "tsv"))
    assert [item.images[0].data for item in dataset] == [png(1)] * 3 + [png(2)] * 3
    assert [item.group for item in dataset] == ["7"] * 3 + ["21"] * 3
    assert {item.options[item.answer] for item in dataset} == {"two"}
    assert "rotated copies of 2 questions" in dataset.warnings[0]


def test_a_parquet_file_with_image_structures(tmp_path, png):
    rows = [
        {**row(1), "image": {"bytes": png(1), "path": "a.png"}},
        {**row(2), "image": {"bytes": None, "path": "b.png"}},
        {**row(3), "image": None},
    ]
    (tmp_path / "b.png").write_bytes(png(2))
    path = tmp_path / "x.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    items = load_items(path).items
    assert [[source.read() for source in item.images] for item in items] == [[png(1)], [png(2)], []]


def test_images_lie_under_the_files_folder_or_image_root(save, tmp_path, png):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(png())
    (first,) = load_items(save([row(1, image="pictures/a.png")]))
    (second,) = load_items(save([row(1, image="a.png")]), image_root=tmp_path / "pictures")
    assert first.images == second.images
    with pytest.raises(DatasetError, match="image_root is no folder"):
        load_items(save([row(1, image="a.png")]), image_root=tmp_path / "gone")


def test_a_missing_file_and_a_broken_picture_are_no_load_errors(save, png):
    cells = [base64.b64encode(png(n)).decode() for n in range(10)]
    cells[7] = cells[7][: len(cells[7]) // 2]
    cells[8] = "images/gone.png"
    dataset = load_items(save([row(n, image=cell) for n, cell in enumerate(cells)], "tsv"))
    assert len(dataset) == 10
    assert "the image file is missing for 1 item (first: '8')" in dataset.warnings[1]
    failed = []
    for item in dataset:
        try:
            open_image(item.images[0])
        except ImageError:
            failed.append(item.id)
    assert failed == ["7", "8"]


def test_numbered_images_have_places_only_where_the_text_says_so(save, png):
    encoded = base64.b64encode(png()).decode()
    rows = [
        row(1, question="<image 2> beside <image 1>?", image_1=encoded, image_2=encoded),
        row(2, options=["<image 1>", "<image 2>", "none"], image_1=encoded, image_2=encoded),
        row(3, question="No place", image_1=encoded),
        row(4, question="<image 1> again <image 1>", image_1=encoded, image_2=encoded),
    ]
    assert [item.has_image_places for item in load_items(save(rows))] == [True, True, False, True]
    assert [len(item.images) for item in load_items(save(rows, "tsv"))] == [2, 2, 1, 2]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"question": "<image 2>?", "image_1": "a.png"}, "place <image 2>, but the item has 1 images"),
        ({"options": ["<image 3>", "x"], "image_1": "a.png", "image_2": "b.png"}, "place <image 3>"),
        ({"image_1": "", "image_2": "b.png"}, "a column before it has none"),
        ({"image_1": ["a.png", "b.png"], "image_2": None}, "each holds one"),
    ],
)
def test_places_and_numbered_images_must_agree(save, more, words):
    complete = row(1, "A", image_1="a.png", image_2="b.png")
    with pytest.raises(DatasetError, match=words):
        load_items(save([complete, {**row(2, "A"), **more}]))


def test_an_unnumbered_image_makes_no_place(save, png):
    encoded = base64.b64encode(png()).decode()
    for question in ("How would you write an <image> tag?", "How would you write <image 1>?"):
        dataset = load_items(save([row(1, question=question, image=encoded)]))
        assert not dataset.items[0].has_image_places
        assert dataset.items[0].question == question
        assert any("shown as text" in w for w in dataset.warnings) == ("1" in question)


def test_lists_number_their_images_where_the_whole_file_agrees(save):
    two = ["a.png", "b.png"]
    numbered = [row(1, question="<image 2> or <image 1>?", images=two), row(2, question="<image 1>?", images=["a.png"])]
    assert [item.has_image_places for item in load_items(save(numbered))] == [True, True]
    for other in (row(3, question="<image 2>?", images=["a.png"]), row(3, question="<image 1>?", images="a.png")):
        assert not any(item.has_image_places for item in load_items(save([*numbered, other])))
    assert not any(item.has_image_places for item in load_items(save(numbered[1:])))


# Anything at all

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        ["A", "(B)", "nan", "['a', 'b']", '["a", "b"]', "[", "{'A': 'x', 'B': 'y'}", "<image 1>", "../x", "7"]
    ),
    st.lists(st.one_of(st.text(max_size=5), st.integers(), st.none()), max_size=4),
    st.dictionaries(st.sampled_from(["text", "label", "bytes", "path", "A", "B"]), st.text(max_size=5), max_size=3),
)
OPTIONAL = (
    "id",
    "A",
    "B",
    "C",
    "label",
    "labels",
    "image",
    "image_1",
    "image_2",
    "hint",
    "category",
    "g_index",
    "split",
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "question": st.one_of(st.just("Which?"), CELLS),
            "options": st.one_of(st.just(["a cat", "a dog", "7"]), CELLS),
            "answer": st.one_of(st.sampled_from(["A", "b", 1, "a cat"]), CELLS),
        },
        optional=dict.fromkeys(OPTIONAL, CELLS),
    ),
    min_size=1,
    max_size=4,
)


@given(rows=ROWS, skip=st.booleans(), answers=st.sampled_from([None, "letter", "index0", "index1", "text", "label"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120, deadline=None)
def test_any_records_give_sound_items_or_an_error_of_the_data(tmp_path, rows, skip, answers):
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(cells) + "\n" for cells in rows), encoding="utf-8")
    with contextlib.suppress(DatasetError):
        dataset = load_items(path, skip_bad_items=skip, answers=answers)
        assert 1 <= len(dataset) <= len(rows)
        assert len({item.id for item in dataset}) == len(dataset)
        assert len(dataset) + len(dataset.skipped) == len(rows)


@given(content=st.binary(max_size=120), kind=st.sampled_from(KINDS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
def test_any_bytes_are_an_error_of_the_data(tmp_path, content, kind):
    path = tmp_path / f"x.{kind}"
    path.write_bytes(content)
    with pytest.raises(DatasetError):
        load_items(path)


# Warnings


def warned(rows, save, words):
    return any(words in warning for warning in load_items(save(rows)).warnings)


def test_always_first_and_lopsided_answers_are_warned_of(save):
    letters = "AAAAAAABBB"
    assert warned([row(n, "A") for n in range(10)], save, "the right option is always first")
    assert warned([row(n, letter) for n, letter in enumerate(letters)], save, "70% of the right options (7 of 10)")
    assert not warned([row(n, "A") for n in range(9)], save, "right option")
    assert not warned([row(n, letter) for n, letter in enumerate("AAAAAABBBB")], save, "right options")


def test_instructions_pinned_items_and_unused_images_are_warned_of(save):
    rows = [
        row(1, question="Which? Answer with the option's letter directly."),
        row(2, options=["x", "all of the above"]),
    ]
    rows[1]["answer"] = "B"
    assert warned(rows, save, "an instruction of its own in 1 item (first: '1')")
    assert warned(rows, save, "1 item (first: '2') cannot be permuted")
    assert warned([row(1, image_id=7)], save, "though the file has 'image_id'")
    assert not warned([row(1, img_type="Tables")], save, "img_type")
    assert warned([row(n, group="g") for n in (1, 2)], save, "all items are of one group 'g'")


def test_an_ordinary_file_has_no_warnings(save):
    assert load_items(save([row(n, letter) for n, letter in enumerate("ABCABCABCABC")])).warnings == ()


def test_a_dataset_is_frozen_and_counts_its_items(save):
    dataset = load_items(save([row(1), row(2)]))
    assert [item.id for item in dataset] == ["1", "2"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.name = "x"  # pyright: ignore[reportAttributeAccessIssue]
