"""The sentences that the terminal and the page share."""

from vqaudit.analysis import Estimate, summarise
from vqaudit.analysis.two_stage import TwoStage
from vqaudit.report import story


def test_a_grid_names_its_formats_and_orders(grid_summary) -> None:
    said = story.headline(grid_summary)
    value, low, high = (100 * getattr(grid_summary.grid_accuracy, key) for key in ("value", "low", "high"))
    assert str(said) == f"Grid accuracy {value:.1f} % [{low:.1f}, {high:.1f}], 40 items, 48 formats x circular orders"


def test_a_randomised_run_does_not_claim_a_grid(randomised) -> None:
    summary = summarise(randomised)
    assert story.headline(summary).conditions == "50 items, one of the grid's variants drawn for each"
    assert not any("formats one happens" in sentence for sentence in story.meaning(summary))


def test_a_spread_that_noise_can_make_is_not_called_a_move(grid_summary) -> None:
    moved = story.meaning(grid_summary)[-1]
    assert moved.startswith("Which of 48 formats one happens to choose moves the score from 0.0 %")
    noise = grid_summary.model_copy(update={"spread": Estimate(value=0.3, low=0.0, high=0.4, n=40)})
    assert "can lie as far apart" in story.meaning(noise)[-1]
    assert grid_summary.best_format.format in story.meaning(noise)[-1]


def test_a_two_stage_run_counts_the_formats_that_it_confirmed(grid_summary) -> None:
    stages = TwoStage(
        worst=["lower/()/spaces", "roman/()/spaces"],
        best=["upper/./lines"],
        screening_trials=480,
        confirming_trials=480,
        passes=24.0,
        sentence="",
    )
    summary = grid_summary.model_copy(update={"formats": None, "two_stage": stages})
    assert "Which of 3 confirmed formats one happens to choose" in story.meaning(summary)[-1]


def test_a_reference_run_has_an_accuracy_of_its_own_name(folder, written_run, asked_items, pretended) -> None:
    run = written_run(folder("reference"), items=asked_items(20), arms=[("direct", "reference")], mind=pretended(0.6))
    summary = summarise(run)
    said = story.headline(summary)
    assert said.name == "Accuracy (reference trials)"
    assert said.figure == f"{100 * (summary.designs['reference'].accuracy.value or 0):.1f} %" + said.figure[6:]
    assert said.conditions == "20 items, one format, circular orders"
    assert story.meaning(summary) == []
    assert any("grid accuracy" in entry.names for entry in story.unknowns(summary))


def test_above_one_per_cent_failed_there_is_no_headline_whatever_the_design(
    folder, written_run, asked_items, pretended
) -> None:
    for design in ("randomised", "reference"):
        right = pretended(1.0)
        run = written_run(
            folder(f"failing-{design}"),
            items=asked_items(40),
            arms=[("direct", design)],
            mind=lambda asked, right=right: None if asked.item.id in ("item-0", "item-1") else right(asked),
        )
        said = story.headline(summarise(run))
        assert said.figure == "unknown"
        assert "failed" in said.conditions


def test_reasons_are_told_once_each(randomised) -> None:
    summary = summarise(randomised)
    entries = story.unknowns(summary)
    assert len({entry.reason for entry in entries}) == len(entries)
    named = ", ".join(entry.names for entry in entries)
    for label in ("spread", "best format", "worst format", "accuracy by format", "strict circular"):
        assert label in named
    assert "no breakdown was asked for" not in {entry.reason for entry in entries}


def test_faults_are_not_told_twice(grid_summary) -> None:
    assert grid_summary.measurement_faults
    sentences = {fault.sentence for fault in grid_summary.measurement_faults}
    assert not any(sentence in caution for sentence in sentences for caution in story.cautions(grid_summary))
    assert len(story.cautions(grid_summary)) == len(grid_summary.warnings) - len(sentences)


def test_interface_sentences_say_which_side_of_the_best_aligned(grid_summary) -> None:
    row = grid_summary.interfaces["cot-prefix"]
    sentences = {sentence.split(" lies ")[0]: sentence for sentence in story.interface_sentences(grid_summary)}
    assert f"cot-prefix lies {100 * (row.gap.value or 0):.1f} pp [" in sentences["cot-prefix"]
    assert f"below {row.best_aligned}: mismatched" in sentences["cot-prefix"]
    above = row.model_copy(update={"gap": Estimate(value=-0.031, low=-0.05, high=0.01, n=40), "verdict": "aligned"})
    turned = grid_summary.model_copy(update={"interfaces": {"cot-prefix": above}})
    assert story.interface_sentences(turned) == [
        f"cot-prefix lies 3.1 pp [−1.0, +5.0] above {row.best_aligned}: aligned, it reads as much."
    ]


def test_position_shares_are_counts_over_counts(grid_summary) -> None:
    rows, shares = grid_summary.selection.positions, story.position_shares(grid_summary.selection.positions)
    assert [share.name for share in shares] == ["0 (first)", "1", "2", "3"]
    for row, share in zip(rows, shares, strict=True):
        assert share.chosen == row.chosen / row.shown
        assert share.answers == row.answers / row.shown == 0.25


def test_levels_stand_in_the_order_of_the_grid(grid_summary) -> None:
    assert [part.name for part in story.factor_parts(grid_summary, "id_set")] == ["upper", "lower", "number", "roman"]
    assert story.in_grid_order(["zeta", "alpha", "comma"]) == ["comma", "alpha", "zeta"]
