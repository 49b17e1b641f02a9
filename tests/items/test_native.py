"""The authors' own files of A-OKVQA, ScienceQA and V*Bench."""

import json
from collections import Counter

import pytest

from vqaudit.errors import DatasetError
from vqaudit.items import open_image
from vqaudit.items.benchmarks import load_benchmark, parse_name
from vqaudit.items.loading import LoadSpec


def load(name, place, **options):
    return load_benchmark(parse_name(f"{name}={place}"), **options)


def right(dataset):
    return [item.options[item.answer] for item in dataset]


@pytest.fixture
def okvqa(tmp_path, png):
    rows = [
        {
            "split": "val",
            "image_id": 100 + number // 2,
            "question_id": f"k{number}",
            "question": f"What sails at {number}?",
            "choices": ["sloop", "raft", "barge", "canoe"],
            "correct_choice_idx": number % 4,
            "direct_answers": ["sloop"],
            "rationales": ["It has a mast."],
        }
        for number in range(4)
    ]
    (tmp_path / "aokvqa_v1p0_val.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "val2017").mkdir()
    for number in (100, 101):
        (tmp_path / "val2017" / f"{number:012}.jpg").write_bytes(png(number))
    return tmp_path


def test_a_okvqa_finds_cocos_pictures(okvqa, tmp_path):
    dataset = load("a-okvqa", okvqa)
    assert right(dataset) == ["sloop", "raft", "barge", "canoe"]
    assert [str(item.images[0].path.relative_to(okvqa)) for item in dataset][::2] == [
        "val2017/000000000100.jpg",
        "val2017/000000000101.jpg",
    ]
    assert all(open_image(item.images[0]).pixels for item in dataset)
    assert dataset.items[0].group == dataset.items[1].group != dataset.items[2].group
    assert load("a-okvqa", okvqa / "aokvqa_v1p0_val.json").digest == dataset.digest
    moved = tmp_path / "elsewhere"
    (okvqa / "val2017").rename(moved)
    assert load("a-okvqa", okvqa, image_root=moved).digest == dataset.digest
    assert "the image file is missing for 4 items" in load("a-okvqa", okvqa).warnings[0]


def test_a_okvqa_of_the_test_split_has_no_right_answers(okvqa):
    rows = json.loads((okvqa / "aokvqa_v1p0_val.json").read_text(encoding="utf-8"))
    bare = [{name: value for name, value in row.items() if name != "correct_choice_idx"} for row in rows]
    (okvqa / "bare.json").write_text(json.dumps(bare), encoding="utf-8")
    with pytest.raises(DatasetError, match="looks like the answer"):
        load("a-okvqa", okvqa / "bare.json")


@pytest.fixture
def sqa(tmp_path, png):
    problems = {
        "7": {"question": "Which rusts?", "choices": ["iron", "gold"], "answer": 0, "hint": "", "image": "image.png", "split": "test"},
        "9": {"question": "Which floats?", "choices": ["cork", "lead", "salt"], "answer": 0, "hint": "In water.", "image": None, "split": "test"},
        "12": {"question": "Which burns?", "choices": ["wood", "sand"], "answer": 0, "hint": "", "image": None, "split": "train"},
    }  # fmt: skip
    for problem in problems.values():
        problem |= {"subject": "natural science", "lecture": "l", "solution": "s"}
    (tmp_path / "problems.json").write_text(json.dumps(problems), encoding="utf-8")
    (tmp_path / "test" / "7").mkdir(parents=True)
    (tmp_path / "test" / "7" / "image.png").write_bytes(png(7))
    return tmp_path


def test_scienceqa_takes_its_split_by_field_or_by_list(sqa):
    assert [item.id for item in load("scienceqa", sqa)] == ["7", "9"]
    assert [item.id for item in load("scienceqa", sqa, split="train")] == ["12"]
    (sqa / "pid_splits.json").write_text(json.dumps({"test": ["9", "12"], "val": []}), encoding="utf-8")
    dataset = load("scienceqa", sqa / "problems.json")
    assert [(item.id, item.hint) for item in dataset] == [("9", "In water."), ("12", None)]
    with pytest.raises(DatasetError, match="no split 'train', only"):
        load("scienceqa", sqa, split="train")


def test_scienceqas_image_subset(sqa):
    dataset = load("scienceqa-img", sqa)
    assert [item.id for item in dataset] == ["7"]
    assert open_image(dataset.items[0].images[0]).pixels.size == (16, 12)


@pytest.fixture
def vstar(tmp_path, png):
    for kind, count in (("direct_attributes", 4), ("relative_position", 2)):
        (tmp_path / kind).mkdir()
        for number in range(12):
            options = [f"It is {word}." for word in ("right", "wrong", "off", "bad")[:count]]
            text = {"question": f"What of {kind} {number}?", "options": options, "target_object": ["x"]}
            (tmp_path / kind / f"sa.{number}.json").write_text(json.dumps(text), encoding="utf-8")
            (tmp_path / kind / f"sa.{number}.jpg").write_bytes(png(number))
    return tmp_path


def test_vstars_right_option_is_not_always_first(vstar):
    dataset = load("vstar", vstar)
    assert len(dataset) == 24
    assert set(right(dataset)) == {"It is right."}
    places = Counter(item.answer for item in dataset)
    assert places[0] < 18
    assert len(places) == 4
    assert all(open_image(item.images[0]).pixels for item in dataset)
    assert {item.category for item in dataset} == {"direct_attributes", "relative_position"}
    assert not any("always first" in sentence for sentence in dataset.warnings)


def test_vstars_order_is_that_of_the_question_alone(vstar):
    whole = {item.id: item.options for item in load("vstar", vstar)}
    for path in (vstar / "direct_attributes").glob("sa.1*"):
        path.unlink()
    fewer = {item.id: item.options for item in load("vstar", vstar)}
    assert fewer == {name: whole[name] for name in fewer}
    first = load_benchmark(parse_name(f"vstar={vstar}"), LoadSpec(limit=3))
    assert [item.options for item in first] == [whole[item.id] for item in first]


def test_real_files(shared):
    data = shared / "data"
    dataset = load("scienceqa", data / "scienceqa" / "problems_mini.json", image_root=data / "scienceqa" / "images")
    assert len(dataset) == 12
    assert sum(bool(item.images) for item in dataset) == 9
    (item,) = load("a-okvqa", data / "aokvqa" / "aokvqa_v1p0_val_1rec.json")
    assert item.options[item.answer] == "cigarette"
    table = data / "mmbench" / "MMBench_mini_en_circular_imgref.tsv"
    bench = load("mmbench-dev", table)
    assert (len(bench), sum(bench.left_out.values())) == (20, 58)
