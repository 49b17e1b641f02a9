"""Real benchmark files, read where they lie beside the repository."""

import json
from collections import Counter

import pytest

from vqaudit.errors import DatasetError
from vqaudit.items import Columns, load_items, open_image


@pytest.fixture
def data(shared):
    return shared / "data"


def test_mmbench(data):
    dataset = load_items(data / "mmbench" / "MMBench_mini_en.tsv")
    assert len(dataset) == 20
    assert dataset.answers == "letter"
    assert dataset.warnings == ()
    by_id = {item.id: item for item in dataset}
    assert by_id["318"].options == ("neither; their concentrations are the same", "Solution B", "Solution A")
    assert (by_id["318"].hint or "").startswith("The diagram below is a model of two solutions.")
    assert by_id["1"].hint is None
    assert by_id["1"].options[0] == 'for x in range(6):\n     print(x)\n   else:\n     print("Finally finished!")'
    assert [by_id[name].answer for name in ("1", "21", "812", "768")] == [3, 1, 0, 2]
    assert all(item.permutable for item in dataset)
    assert all(open_image(item.images[0]).pixels.mode == "RGB" for item in dataset)


def test_mmbench_with_circular_copies_and_reused_images(data):
    dataset = load_items(data / "mmbench" / "MMBench_mini_en_circular_imgref.tsv")
    plain = {item.id: item for item in load_items(data / "mmbench" / "MMBench_mini_en.tsv")}
    assert len(dataset) == 78
    assert {item.group for item in dataset} == set(plain)
    assert "20 questions" in dataset.warnings[0]
    for item in dataset:
        base = plain[str(int(item.id) % 1_000_000)]
        assert item.images == base.images
        assert item.options[item.answer] == base.options[base.answer]
    sizes = Counter(item.group for item in dataset)
    assert all(sizes[item.id] == item.n_options for item in plain.values())


def test_ccbench(data):
    dataset = load_items(data / "mmbench" / "CCBench_mini_cn.tsv")
    assert len(dataset) == 12
    assert dataset.items[0].id == "0"
    assert dataset.items[0].options == ("天坛", "故宫", "黄鹤楼", "少林寺")


def test_a_folder_of_images(data):
    dataset = load_items(data / "mmbench" / "image_folder_example.jsonl")
    assert len(dataset) == 8
    assert dataset.warnings == ()
    assert all(open_image(item.images[0]).pixels.width > 1 for item in dataset)


def test_a_file_that_holds_two_benchmarks_has_duplicate_ids(data):
    with pytest.raises(DatasetError, match=r"duplicate IDs: 1 \(rows"):
        load_items(data / "mmbench" / "readme_items.json")
    dataset = load_items(data / "mmbench" / "readme_items.json", columns=Columns(id="", images=""))
    assert len(dataset) == len(json.loads((data / "mmbench" / "readme_items.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", ["mcq_example.jsonl", "mcq_example.tsv"])
def test_evalscope(data, tmp_path, name):
    (tmp_path / "custom_eval" / "multimodal").mkdir(parents=True)
    (tmp_path / "custom_eval" / "multimodal" / "images").symlink_to(data / "evalscope" / "images")
    with pytest.raises(DatasetError, match="leaves the folder"):
        load_items(data / "evalscope" / name, image_root=tmp_path)
    (tmp_path / "custom_eval" / "multimodal" / "images").unlink()
    (tmp_path / "custom_eval" / "multimodal" / "images").mkdir()
    for source in (data / "evalscope" / "images").iterdir():
        (tmp_path / "custom_eval" / "multimodal" / "images" / source.name).write_bytes(source.read_bytes())
    dataset = load_items(data / "evalscope" / name, image_root=tmp_path)
    assert [len(item.images) for item in dataset] == [4, 1, 1]
    assert [item.has_image_places for item in dataset] == [True, True, True]
    assert [item.answer for item in dataset] == [0, 3, 1]
    assert dataset.items[0].options == ("<image 1>", "<image 2>", "<image 3>", "<image 4>")
    assert dataset.warnings == ()


def test_scienceqa(data):
    dataset = load_items(data / "scienceqa" / "problems_mini.json")
    records = json.loads((data / "scienceqa" / "problems_mini.json").read_text(encoding="utf-8"))
    assert dataset.answers == "index0"
    assert [item.id for item in dataset] == list(records)
    assert [item.answer for item in dataset] == [record["answer"] for record in records.values()]
    assert [item.options for item in dataset] == [tuple(record["choices"]) for record in records.values()]
    with_image = [item for item in dataset if item.images]
    assert len(with_image) == 9
    assert all(f"/test/{item.id}/image.png" in str(item.images[0].path) for item in with_image)
    assert all(open_image(item.images[0]).pixels.width > 1 for item in with_image)
    assert load_items(data / "scienceqa" / "problems_mini.json", image_root=data / "scienceqa" / "images").digest == (
        dataset.digest
    )


def test_a_okvqa(data):
    path = data / "aokvqa" / "aokvqa_v1p0_val_1rec.json"
    with pytest.raises(DatasetError, match=r"say answers='index0' or 'index1'"):
        load_items(path)
    dataset = load_items(path, answers="index0")
    (item,) = dataset
    assert item.options[item.answer] == "cigarette"
    assert "'image_id'" in dataset.warnings[0]


def test_mmmu_pro(data):
    dataset = load_items(data / "mmmu_pro" / "tool_data.jsonl")
    assert len(dataset) == 21
    music = dataset.items[5]
    assert music.options == ("<image 4>", "<image 2>", "<image 5>", "<image 3>")
    assert len(music.images) == 5
    assert music.has_image_places
    assert "missing for 18 items" in dataset.warnings[0]
    assert open_image(music.images[4]).pixels.mode == "RGB"


def test_mmmu_pro_rows_with_predictions(data):
    path = data / "mmmu_pro" / "gpt-4o_standard_10opt_direct.jsonl"
    with pytest.raises(DatasetError, match="validation_Accounting_29"):
        load_items(path, limit=100)
    dataset = load_items(path, skip_bad_items=True, limit=200)
    assert [skipped.item for skipped in dataset.skipped] == ["validation_Accounting_29"]
    assert len(dataset) == 200
    assert dataset.answers == "letter"


def test_inspect(data):
    (item,) = load_items(data / "inspect_ai" / "dataset_samples-mcq.jsonl")
    assert item.options == tuple(str(n) for n in range(1, 11))
    assert item.answer == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("llava_scienceqa/llava_test_CQM-A.json", "looks like the question"),
        ("lmms_eval/20260218_234435_samples_scienceqa_img.jsonl", "inside the question's text"),
        ("mmmu/answer_dict_val.json", "looks like the question"),
        ("scienceqa/pid_splits_mini.json", "list of records"),
    ],
)
def test_what_is_no_table_of_questions_says_so(data, name, words):
    with pytest.raises(DatasetError, match=words):
        load_items(data / name)
