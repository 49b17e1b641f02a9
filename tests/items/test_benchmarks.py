"""Named benchmarks: every layout as the hub has it, every trap, local copies of every kind, and what is left out."""

import importlib.util
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vqaudit.errors import DatasetError, EngineUnavailable
from vqaudit.items import Columns
from vqaudit.items.benchmarks import BENCHMARKS, find_benchmark, load_benchmark, parse_name
from vqaudit.items.hub import HubSource, read_hub
from vqaudit.items.loading import LoadSpec

_spec = importlib.util.spec_from_file_location("layouts", Path(__file__).with_name("layouts.py"))
layouts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(layouts)


@pytest.fixture
def load(tmp_path):
    """Loads a benchmark from rows that lie in a folder as on the hub."""

    def run(name, rows, spec=None, **options):
        entry = find_benchmark(name)
        split = options.pop("as_split", entry.split)
        if not any(tmp_path.iterdir()):
            layouts.write_hub(tmp_path, rows, split=split, config=entry.configs[0])
        return load_benchmark(parse_name(f"{name}={tmp_path}"), spec, **options)

    return run


def right(dataset):
    return [item.options[item.answer] for item in dataset]


def test_a_okvqa(load):
    dataset = load("a-okvqa", layouts.a_okvqa())
    assert (dataset.name, dataset.answers) == ("a-okvqa", "index0")
    assert [item.id for item in dataset] == ["q0", "q1", "q2", "q3"]
    assert right(dataset) == ["reed", "steel", "oak", "felt"]
    assert all(item.images[0].data for item in dataset)
    groups = [item.group for item in dataset]
    assert groups[0] == groups[1] != groups[2] == groups[3]
    assert dataset.origin.endswith("split 'validation'")


def test_hr_bench_keeps_one_of_four_cycles(load):
    rows = layouts.hr_bench()
    dataset = load("hr-bench-4k", rows)
    assert [item.id for item in dataset] == ["0", "1"]
    assert right(dataset) == ["teal", "teal"]
    assert sum(dataset.left_out.values()) == 6
    assert dataset.warnings[0].startswith("left out: 6 rows (rotated copies of a question that is kept")
    other = [{**row, "image": layouts.encoded(1)} if row["index"] == 3 else row for row in rows]
    assert (
        len(
            load_benchmark(
                parse_name(f"hr-bench-4k={layouts.write_hub(Path(dataset.path, 'x'), other, split='hrbench_4k')}")
            )
        )
        == 3
    )


def test_mmbench(load):
    dataset = load("mmbench-dev", layouts.mmbench())
    assert [(item.id, item.n_options, item.hint) for item in dataset] == [
        ("3", 4, None),
        ("8", 2, "It is noon."),
        ("11", 3, None),
    ]
    assert right(dataset) == ["an anvil", "no", "a cone"]
    assert dict(dataset.left_out) == {next(iter(dataset.left_out)): 5}
    assert len(dataset) + 5 == len(layouts.mmbench())


def test_mme_realworld(load):
    dataset = load("mme-realworld-lite", layouts.mme_realworld())
    assert dataset.items[0].options == ("12", "34", "56", "78", "The image does not show it")
    assert right(dataset) == ["34", "The image does not show it"]
    assert all(item.permutable and item.images for item in dataset)


def test_mme_realworld_options_as_text(load, tmp_path):
    rows = [{**row, "multi-choice options": str(row["multi-choice options"])} for row in layouts.mme_realworld()]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "lite.parquet")
    dataset = load_benchmark(parse_name(f"mme-realworld-lite={tmp_path / 'lite.parquet'}"))
    assert right(dataset) == ["34", "The image does not show it"]


def test_vstar(load):
    dataset = load("vstar", layouts.vstar())
    assert [item.question for item in dataset] == [
        "What is the drum made of?",
        "Is the mast left or right of the buoy?",
    ]
    assert [item.options for item in dataset] == [("tin", "hide", "ash", "bone"), ("left", "right")]
    assert right(dataset) == ["hide", "left"]
    assert all("instruction of the question is left out" in item.notes[0] for item in dataset)
    assert all(item.permutable for item in dataset)


def test_scienceqa_and_its_image_subset(load, tmp_path):
    dataset = load("scienceqa", layouts.scienceqa())
    assert right(dataset) == ["iron", "abe"]
    assert [item.hint for item in dataset] == [None, "Read."]
    assert [len(item.images) for item in dataset] == [1, 0]
    assert all("Iron" not in item.question for item in dataset)
    subset = load_benchmark(parse_name(f"scienceqa-img={tmp_path}"))
    assert [item.question for item in subset] == ["Which metal rusts?"]
    assert dict(subset.left_out) == {"questions without a picture": 1}


def test_ai2d_letters_are_options_not_answers(load):
    dataset = load("ai2d", layouts.ai2d())
    assert right(dataset) == ["D", "finch"]
    assert [item.id for item in dataset] == ["row-1", "row-2"]
    assert dataset.items[0].group == dataset.items[1].group is not None
    assert "4 of 4 options are single letters, as option IDs may be" in dataset.items[0].notes


@pytest.fixture
def mmmu_folder(tmp_path):
    layouts.write_hub(tmp_path, layouts.mmmu("Music"), split="validation", config="Music")
    return layouts.write_hub(tmp_path, layouts.mmmu("Art"), split="validation", config="Art")


def test_mmmu_parts_open_questions_and_image_options(mmmu_folder):
    dataset = load_benchmark(parse_name(f"mmmu:Music,art={mmmu_folder}"))
    assert [item.id for item in dataset] == [
        f"validation_{subject}_{number}" for subject in ("Music", "Art") for number in (1, 3)
    ]
    assert dict(dataset.left_out) == {"open questions without options": 2}
    first = dataset.items[0]
    assert first.options == ("<image 3>", "<image 2>")
    assert first.has_image_places
    assert len(first.images) == 3
    assert dataset.items[1].options == ("It's a half", "one, dotted", "two")
    assert [item.category for item in dataset] == ["Music", "Music", "Art", "Art"]


def test_mmmu_of_a_folder_without_a_subject_says_so(mmmu_folder):
    with pytest.raises(DatasetError, match=r"Accounting\), split 'validation' cannot be read: .*Music"):
        load_benchmark(parse_name(f"mmmu={mmmu_folder}"))


def test_mmmu_pro_has_as_many_options_as_it_has(load):
    dataset = load("mmmu-pro", layouts.mmmu_pro())
    assert [item.n_options for item in dataset] == [12, 3]
    assert right(dataset) == ["style 11", "one, dotted"]
    assert dict(dataset.left_out) == {"questions with fewer than two options": 1}


def test_mmmu_pro_vision_is_not_permuted(load):
    (item,) = load("mmmu-pro-vision", layouts.mmmu_pro_vision())
    assert not item.permutable
    assert "the picture itself holds the options" in " ".join(item.notes)
    assert item.options[item.answer] == "etching"


def test_mmstar(load):
    dataset = load("mmstar", layouts.mmstar())
    assert [item.options for item in dataset] == [
        ("On the shelf.", "By the door, to the left.", "Under it.", "Nowhere."),
        ("nan", "Five", "Four", "Six"),
    ]
    assert right(dataset) == ["By the door, to the left.", "nan"]
    assert any("suspicious option text 'nan'" in sentence for sentence in dataset.warnings)
    assert list(dataset.left_out.values()) == [1]
    assert "cannot be told apart" in next(iter(dataset.left_out))


def test_mmstar_in_vlmevalkits_layout(load, save):
    rows = [
        {
            "index": 0,
            "question": "Which?",
            "A": "x",
            "B": "y",
            "answer": "B",
            "image": layouts.encoded(),
            "category": "c",
        }
    ]
    dataset = load_benchmark(parse_name(f"mmstar={save(rows, 'tsv')}"))
    assert dataset.items[0].options == ("x", "y")
    assert dataset.left_out == {}


def test_realworldqa_counts_open_questions(load):
    dataset = load("realworldqa", layouts.realworldqa())
    assert right(dataset) == ["Right"]
    assert dict(dataset.left_out) == {"open questions without options": 1}
    assert "letter" not in dataset.items[0].question


def test_only_open_questions_is_an_error_that_counts_them(load):
    with pytest.raises(
        DatasetError, match=r"no questions: left out: 1 row \(open questions without options; first: row 1\)"
    ):
        load("realworldqa", layouts.realworldqa()[1:])


def test_a_limit_reads_no_more_rows_than_it_needs(load):
    dataset = load("realworldqa", layouts.realworldqa(), LoadSpec(limit=1))
    assert len(dataset) == 1
    assert dataset.left_out == {}


def test_copies_saved_to_disk(tmp_path):
    import datasets

    data = datasets.Dataset.from_list(layouts.ai2d())
    data.save_to_disk(tmp_path / "one")
    datasets.DatasetDict({"test": data}).save_to_disk(tmp_path / "dict")
    digests = {load_benchmark(parse_name(f"ai2d={tmp_path / name}")).digest for name in ("one", "dict")}
    assert len(digests) == 1
    datasets.DatasetDict({"train": data}).save_to_disk(tmp_path / "train")
    with pytest.raises(DatasetError, match="no split 'test'; it has 'train'"):
        load_benchmark(parse_name(f"ai2d={tmp_path / 'train'}"))


def test_the_same_content_has_the_same_digest_in_a_folder_and_in_a_file(load, tmp_path):
    folder = load("ai2d", layouts.ai2d())
    file = load_benchmark(parse_name(f"ai2d={next(tmp_path.rglob('*.parquet'))}"))
    assert file.digest == folder.digest


def test_another_column_or_meaning_may_be_said(load):
    rows = [{**row, "gold": 3 - row["correct_choice_idx"]} for row in layouts.a_okvqa()]
    dataset = load("a-okvqa", rows, LoadSpec(columns=Columns(answer="gold"), answers="index0"))
    assert right(dataset) == ["felt", "oak", "steel", "reed"]


def test_bad_rows_are_errors_unless_they_may_be_left_out(load):
    rows = layouts.a_okvqa()
    rows[1]["correct_choice_idx"] = 7
    with pytest.raises(
        DatasetError, match=r"row 2, column 'correct_choice_idx', item 'q1': answer 7 is not among 0 to 3"
    ):
        load("a-okvqa", rows)
    dataset = load("a-okvqa", rows, LoadSpec(skip_bad_items=True))
    assert [skipped.item for skipped in dataset.skipped] == ["q1"]


def test_a_split_must_have_right_answers(load):
    with pytest.raises(DatasetError, match="no split 'test' with right answers; it has 'validation'"):
        load("a-okvqa", layouts.a_okvqa(), split="test")


def test_another_split(load):
    dataset = load("a-okvqa", layouts.a_okvqa(), split="train", as_split="train")
    assert len(dataset) == 4
    assert dataset.origin.endswith("split 'train'")


def test_a_split_that_the_copy_lacks(load):
    layouts_folder = load("ai2d", layouts.ai2d()).path
    with pytest.raises(DatasetError, match="split 'val' cannot be read: Bad split: val"):
        load_benchmark(parse_name(f"mmstar={layouts_folder}"))


def test_no_network_is_one_sentence_with_the_way_out(monkeypatch):
    import datasets

    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    with pytest.raises(DatasetError) as caught:
        load_benchmark(parse_name("mmstar"))
    sentence = str(caught.value)
    assert "hf download Lin-Chen/MMStar --repo-type dataset --local-dir FOLDER" in sentence
    assert "--data NAME=FOLDER" in sentence
    assert "\n" not in sentence


def test_without_datasets_the_pip_line_is_told(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'vqaudit\[hub\]'"):
        list(read_hub(HubSource(name="x/y", split="test")))


def test_no_code_of_a_data_set_is_run(tmp_path):
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\nimport datasets\n", encoding="utf-8"
    )
    with pytest.raises(DatasetError):
        load_benchmark(parse_name(f"ai2d={tmp_path / 'evil'}"))
    assert not (tmp_path / "ran").exists()


def test_the_hub_is_asked_for_what_the_entry_says(monkeypatch):
    import datasets

    calls = []

    def remember(path, name=None, **options):
        calls.append((path, name, options))
        return datasets.Dataset.from_list(layouts.mmmu(name))

    monkeypatch.setattr(datasets, "load_dataset", remember)
    dataset = load_benchmark(parse_name("mmmu:Art,Music"))
    assert [(path, name) for path, name, _ in calls] == [("MMMU/MMMU", "Art"), ("MMMU/MMMU", "Music")]
    assert all(options == {"split": "validation", "revision": None} for *_, options in calls)
    assert dataset.origin == "hub data set 'MMMU/MMMU', split 'validation'"
    load_benchmark(parse_name("mmmu:Art=someone/mmmu-copy"))
    assert calls[-1][0] == "someone/mmmu-copy"
    pinned = load_benchmark(parse_name("mmmu:Art=someone/mmmu-copy@0ab1"))
    assert calls[-1][2]["revision"] == "0ab1"
    assert pinned.origin == "hub data set 'someone/mmmu-copy' at 0ab1, split 'validation'"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mmstr=some/where", "no benchmark is called 'mmstr'; did you mean 'mmstar'"),
        ("mmstar=/nowhere/at/all", "there is no file or folder '/nowhere/at/all' for mmstar"),
        ("mmmu:Alchemy", "no part 'Alchemy'; it has 'Accounting'"),
        ("mmstar:Art", "has no parts"),
    ],
)
def test_names_that_name_nothing(text, words):
    with pytest.raises(DatasetError, match=words):
        parse_name(text)


def test_names(tmp_path, monkeypatch):
    assert parse_name("V* Bench").entry.name == "vstar"
    assert parse_name("A_OKVQA").entry.name == "a-okvqa"
    assert parse_name("items.jsonl") is None
    monkeypatch.chdir(tmp_path)
    Path("mmstar=1.csv").write_text("question,A,B,answer\nq,x,y,A\n", encoding="utf-8")
    assert parse_name("mmstar=1.csv") is None
    assert len({entry.title.casefold() for entry in BENCHMARKS.values()}) == len(BENCHMARKS)


def test_every_entry_can_be_asked_in_its_standard_format():
    from vqaudit.asking.formats import find_format

    for entry in BENCHMARKS.values():
        assert find_format(entry.format).name == entry.format
        assert entry.traps
        assert json.dumps([trap.what for trap in entry.traps])


def test_a_copy_without_its_pictures_is_warned_of(save):
    rows = [{name: value for name, value in row.items() if name != "image"} for row in layouts.ai2d()]
    dataset = load_benchmark(parse_name(f"ai2d={save(rows)}"), LoadSpec(answers="index0"))
    assert "is this a copy without the images?" in dataset.warnings[0]


def test_options_that_cannot_be_parsed_name_their_row(mmmu_folder, tmp_path):
    rows = layouts.mmmu("Art")
    rows[2]["options"] = "['one' 'two']"
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "broken.parquet")
    with pytest.raises(DatasetError, match=r"row 3, column 'options', item 'validation_Art_3': a comma is missing"):
        load_benchmark(parse_name(f"mmmu={tmp_path / 'broken.parquet'}"))
