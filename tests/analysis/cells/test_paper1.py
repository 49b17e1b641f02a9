"""Paper 1's 1,680 cells give what was computed from them by others. Skipped where they do not lie beside us."""

from dataclasses import replace

import numpy as np
import pytest

from vqaudit.analysis.cells import GridFindings, analyse_cells
from vqaudit.analysis.cells.printed import is_paper1, paper1_printed, value_at


@pytest.fixture(scope="module")
def found(paper_table, paper_methods) -> GridFindings:
    return analyse_cells(paper_table, paper_methods)


def test_pseudo_gold(found, reference) -> None:
    for dataset, accuracies in reference["pseudo_gold_accuracy_pct"].items():
        assert found.pseudo_gold_accuracy_pct[dataset] == pytest.approx(accuracies, abs=6e-4)
    assert found.pseudo_gold_rank == reference["pseudo_gold_rank"]


@pytest.mark.parametrize("key", ["accuracy_deviation_range_pp", "coverage_neutral_deviation_range_pp"])
def test_deviations_to_a_tenth_of_a_point(found, reference, key) -> None:
    for factor, by_model in reference[key].items():
        for model, (low, high) in by_model.items():
            assert getattr(found, key)[factor][model] == pytest.approx((low, high), abs=0.051)


def test_the_mixed_model_to_a_hundredth_of_a_point(found, reference) -> None:
    assert set(found.lmm) == set(reference["lmm"])
    for level, expected in reference["lmm"].items():
        assert found.lmm[level].coef_pp == pytest.approx(expected["coef_pp"], abs=0.001)
        assert found.lmm[level].ci95 == pytest.approx(expected["ci95"], abs=0.002)
        assert found.lmm[level].p == pytest.approx(expected["p"], rel=0.01)
    assert found.lmm_group_var == pytest.approx(reference["lmm_group_var"], abs=0.02)
    assert found.lmm_residual_var == pytest.approx(reference["lmm_residual_var"], abs=0.01)
    assert (found.lmm_fit.converged, found.lmm_fit.singular, found.lmm_fit.notes) == (True, False, [])


def test_what_the_design_says_beside_the_mixed_model(found) -> None:
    clustered = found.model_clustered
    assert clustered["upper"].ci95 == pytest.approx((-0.4, 12.5), abs=0.05)
    assert clustered["number"].ci95 == pytest.approx((-33, 14), abs=0.5)
    assert clustered["double_brackets"].ci95 == pytest.approx((-12.4, 0.5), abs=0.05)
    assert found.lmm_without_zero_coverage_models["number"].coef_pp == pytest.approx(4.2, abs=0.05)
    assert found.zero_coverage_models == ["LLaVA-1.5", "Phi-3.5"]
    assert found.cells.zero_coverage == 120
    shares = {term.term: term.share for term in found.sum_of_squares}
    assert shares["model x option_ids"] == pytest.approx(0.19, abs=0.005)
    assert shares["option_ids"] == pytest.approx(0.05, abs=0.005)
    assert max(value for row in found.spread_pp.values() for value in row.values()) == pytest.approx(87.2, abs=0.05)


def test_methods(found, reference) -> None:
    table = reference["mitigation_table_a_okvqa"]
    for method in ("vanilla", "pia", "pride", "cp_ln"):
        assert [found.methods["A-OKVQA"][method].rank[model] for model in table["models"]] == table[method]
    for dataset, by_method in reference["spearman_from_printed_accuracies"].items():
        for method, value in by_method.items() if dataset != "note" else ():
            average, competition = value if isinstance(value, list) else (value, value)
            row = found.methods[dataset][method]
            assert found.spearman_from_printed_accuracies[dataset][method] == row.spearman
            assert row.spearman == pytest.approx(average, abs=0.005)
            assert row.spearman_of_competition_ranks == pytest.approx(competition, abs=0.005)
    assert found.correctly_ranked_competition_ranks == reference["correctly_ranked_competition_ranks"]


def test_misprints_that_others_found_are_found(found) -> None:
    differing = {row.key: row for row in found.printed_differences if row.kind == "differs"}
    for key, ours in (
        ("pseudo_gold_accuracy_pct/A-OKVQA/Phi-3.5", 59.374),
        ("pseudo_gold_accuracy_pct/HR-Bench-4K/LLaVA-1.5", 21.654),
        ("methods/V*Bench/cp_ln/spearman", 0.821),
        ("methods/HR-Bench-4K/pride/correctly_ranked", 3),
        ("spread_pp/A-OKVQA/LLaVA-OV", 87.249),
    ):
        assert differing[key].ours == pytest.approx(ours, abs=0.001)
    assert all(row.likely_cause not in ("", "not known") for row in differing.values())


def test_every_printed_value_names_a_finding(found, paper_table) -> None:
    """A key that leads nowhere would pass for a value that agrees."""
    assert is_paper1(paper_table)
    plain = found.to_dict()
    assert [entry.key for entry in paper1_printed() if value_at(plain, entry.key) is None] == []


def test_one_changed_cell_is_not_the_papers_table(paper_table) -> None:
    changed = paper_table.accuracy.copy()
    changed[0, 0, 0] = np.round(changed[0, 0, 0] + 0.001, 3)
    other = replace(paper_table, accuracy=changed)
    assert not is_paper1(other)
    assert analyse_cells(other).printed_differences is None
