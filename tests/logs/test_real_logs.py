"""Real logs, where they lie beside the checkout: published figures, and what re-reading changes."""

import json
from pathlib import Path

import pytest

from vqaudit.analysis import summarise
from vqaudit.errors import DatasetError
from vqaudit.logs import LogSpec, known_items, read_log, with_items, write_run
from vqaudit.logs.rows import LETTERS
from vqaudit.records import RunTables

SHARED = Path(__file__).resolve().parents[3] / "shared"
DATA, CASES = SHARED / "data", SHARED / "cases" / "cases.jsonl"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="no shared/data beside the checkout")
needs_cases = pytest.mark.skipif(not CASES.exists(), reason="no shared/cases beside the checkout")


@pytest.fixture(scope="module")
def summary_of(tmp_path_factory):
    """Imports each log once."""
    found = {}

    def make(pattern: str):
        if pattern not in found:
            path, out = next(DATA.glob(pattern)), tmp_path_factory.mktemp("real") / "run"
            write_run(read_log(path), out, source=path.name)
            found[pattern] = summarise(RunTables.load(out), details=False)
        return found[pattern]

    return make


@needs_data
def test_llava_on_mmbench_gives_the_published_circular_accuracy(summary_of) -> None:
    found = summary_of("llava_mmbench/*.xlsx")
    figures = (found.plain_accuracy, found.circular_accuracy, found.strict_circular_accuracy)
    assert [round(100 * figure.value, 2) for figure in figures] == [75.43, 76.45, 67.69]  # published: 67.7
    assert [(figure.n, figure.trials) for figure in figures] == [(1176, 1176), (1176, 4377), (1176, 4377)]
    groups = found.circular
    assert round(100 * groups.item_mean.value, 2) == 76.20
    assert groups.by_orders == {2: 89, 3: 149, 4: 938}
    assert groups.fewer_orders_than_options == 53
    assert round(groups.standard_error_clustered, 4) == 0.0112
    assert round(groups.standard_error_naive, 4) == 0.0064


@needs_data
def test_llavas_answers_file_with_the_answers_of_its_upload_table(tmp_path: Path) -> None:
    known = known_items(read_log(next(DATA.glob("llava_mmbench/*.xlsx"))))
    log = read_log(next(DATA.glob("llava_mmbench/*.jsonl")), LogSpec(items=known))
    write_run(with_items(log, known), tmp_path / "run", source="answers")
    found = summarise(RunTables.load(tmp_path / "run"), details=False)
    assert round(100 * found.strict_circular_accuracy.value, 2) == 67.69
    assert found.model == "llava-v1.5-13b"


@needs_data
def test_llava_on_scienceqa_gives_the_published_accuracy_of_items_with_a_picture(summary_of) -> None:
    log = read_log(next(DATA.glob("llava_scienceqa/*_output.json")))
    pictured = [row.logged_right for row in log.rows if row.category == "with picture"]
    assert len(pictured) == 2017
    assert round(100 * sum(pictured) / len(pictured), 2) == 71.64
    found = summary_of("llava_scienceqa/*_output.json")
    by_name = {part.name: part for part in found.categories}
    assert round(100 * by_name["with picture"].accuracy.value, 2) == 71.64
    assert found.as_logged.agreement.value > 0.998


@needs_data
def test_an_lmms_eval_log_as_logged_and_as_read(summary_of) -> None:
    found = summary_of("lmms_eval/*_samples_*.jsonl")
    beside = found.as_logged
    assert (found.counts.items, found.model) == (2017, "liuhaotian/llava-v1.5-7b")
    assert round(100 * beside.accuracy.value, 2) == 69.51
    assert abs(beside.difference.value) < 0.005
    assert beside.changed <= 3


MISREAD = {"standard_10opt_cot": 0, "standard_10opt_direct": 89, "vision_direct": 0}


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        # the same replies are read in tests/reading too
        pytest.param("standard_10opt_cot", marks=pytest.mark.slow),
        "standard_10opt_direct",
        "vision_direct",
    ],
)
def test_gpt_4o_on_mmmu_pro_is_read_as_well_as_the_official_scorer_reads_it(name: str, summary_of) -> None:
    """Within 1.5 points of the official accuracy, replies that it misreads for certain put right."""
    beside = summary_of(f"mmmu_pro/gpt-4o_{name}.jsonl").as_logged
    assert beside.misread_verbatim == MISREAD[name]
    assert abs(beside.reread.value - beside.corrected.value) < 0.015
    if not beside.misread_verbatim:
        assert abs(beside.difference.value) < 0.015
    assert beside.agreement.value > 0.87


def found_by_the_official_search(reply: str, options: list[str]) -> bool:
    """Whether MMMU-Pro's scorer finds any candidate; where it does not, it draws one of the options by lot."""
    ids = LETTERS[: len(options)]
    _, marked, tail = reply.rpartition("Answer:")
    if marked and sum(letter in tail for letter in ids) == 1:
        return True
    for character in ",.!?;:'":
        reply = reply.strip(character)
    padded = f" {reply} "
    written = any(f"({i})" in padded or f"{i} " in padded or f"{i}." in padded for i in ids)
    return written or (len(padded.split()) > 5 and any(option.lower() in padded.lower() for option in options))


@needs_data
def test_official_hits_on_refusals_are_lots_and_the_pronoun_i(summary_of) -> None:
    log = read_log(DATA / "mmmu_pro" / "gpt-4o_vision_direct.jsonl")
    drawn = [row for row in log.rows if not found_by_the_official_search(row.reply, list(row.options))]
    assert (len(drawn), sum(row.logged_right for row in drawn)) == (48, 9)
    beside = summary_of("mmmu_pro/gpt-4o_vision_direct.jsonl").as_logged
    lucky = [change for change in beside.changes if change.logged_right and not change.right]
    assert beside.hits_without_reading == len(lucky) == 19
    assert {change.outcome for change in lucky} == {"refused"}
    by_lot = {row.item for row in drawn}
    assert [change.logged for change in lucky if change.item not in by_lot] == ["I"] * 10


@needs_data
@pytest.mark.parametrize(
    ("pattern", "name", "rows"),
    [
        ("inspect_ai/*.eval", "inspect", 1),
        ("inspect_ai/every_eval_ever*.json", "inspect", 3),
        ("helm/*.json", "helm", 10),
        ("evalscope/reviews*.jsonl", "evalscope", 10),
        ("mmmu/llava1.5_13b_Music*.json", "mmmu", 30),
        ("mmmu/qwen*.json", "mmmu", 16),
    ],
)
def test_every_other_real_log_is_recognised_and_summed_up(pattern: str, name: str, rows: int, tmp_path: Path) -> None:
    path = next(DATA.glob(pattern))
    log = read_log(path)
    assert (log.format, len(log.rows)) == (name, rows)
    write_run(log, tmp_path / "run", source=path.name)
    found = summarise(RunTables.load(tmp_path / "run"), details=False)
    assert found.plain_accuracy is not None
    if found.as_logged is not None:
        assert found.as_logged.changed == 0


@needs_data
@pytest.mark.parametrize("pattern", ["lm_eval/samples*.jsonl", "inspect_ai/log_images.json"])
def test_real_logs_of_open_questions_are_refused(pattern: str) -> None:
    with pytest.raises(DatasetError, match="holds no multiple-choice sample"):
        read_log(next(DATA.glob(pattern)))


@needs_data
def test_letters_alone_need_the_data_set_for_their_options() -> None:
    path = DATA / "mmmu" / "llava1.5_13b_total_val_output.json"
    with pytest.raises(DatasetError, match="shows no options"):
        read_log(path)
    letters = json.loads(path.read_text(encoding="utf-8"))
    known = {name: LETTERS[:9] for name in letters}
    from vqaudit.logs import KnownItem

    spec = LogSpec(items={name: KnownItem(options=tuple(options), answer=0) for name, options in known.items()})
    log = read_log(path, spec)
    assert (log.format, len(log.rows)) == ("table", 900)


@needs_cases
def test_reported_extraction_failures_are_read_right_in_a_log_too(lines, imported) -> None:
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if case["kind"] == "extraction"]
    rows = [
        {
            "item": str(case["id"]),
            "reply": case["input"]["output"],
            "options": case["input"]["options"],
            "option_ids": case["input"]["option_ids"],
            "finish_reason": case["input"].get("finish_reason"),
        }
        for case in cases
    ]
    tables = imported(lines(rows))
    read = {
        item: None if position is None else ids[position]
        for item, ids, position in tables.trials.select("item", "option_ids", "position").iter_rows()
    }
    wanted = {
        str(case["id"]): case["expected"].get("parsed", case["expected"].get("parsed_single_answer_mode"))
        for case in cases
    }
    assert len(cases) > 20
    assert read == wanted
