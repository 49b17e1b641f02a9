"""All analyses together: what is told, what is not and why, and that no order matters."""

import json
from pathlib import Path

import numpy as np
import pytest

from vqaudit.analysis.cells import GridFindings, GridSpec, MethodTable, analyse_cells
from vqaudit.errors import AnalysisError

NAN = np.nan


def test_findings_are_plain_json_without_nan(random_table) -> None:
    found = analyse_cells(random_table)
    assert json.loads(found.to_json()) == found.to_dict()


def test_the_order_of_models_and_data_sets_changes_no_figure(random_table, make_table) -> None:
    turned = make_table(
        random_table.accuracy[::-1, ::-1],
        datasets=random_table.datasets[::-1],
        models=random_table.models[::-1],
        factors=random_table.factors,
    )
    one, two = analyse_cells(random_table), analyse_cells(turned)
    assert two.pseudo_gold_rank == one.pseudo_gold_rank
    assert two.accuracy_deviation_range_pp["delimiter"]["m1"] == pytest.approx(
        one.accuracy_deviation_range_pp["delimiter"]["m1"]
    )
    assert two.leaders["d0"].leads == one.leaders["d0"].leads
    assert one.lmm is not None
    assert two.lmm is not None
    for level, effect in one.lmm.items():
        assert two.lmm[level].coef_pp == pytest.approx(effect.coef_pp, abs=1e-4)


def test_the_same_table_and_seed_give_the_same_findings(random_table) -> None:
    assert analyse_cells(random_table).to_json() == analyse_cells(random_table).to_json()


def test_one_model_has_deviations_and_reasons_for_the_rest(make_table) -> None:
    found = analyse_cells(make_table([[[0.5, 0.7]], [[0.2, 0.4]]]))
    assert found.accuracy_deviation_range_pp["delimiter"]["m0"] == pytest.approx((-10.0, 10.0))
    for key in ("lmm", "model_clustered", "leave_one_model_out", "coverage_neutral", "recommended_format", "methods"):
        assert getattr(found, key) is None
        assert found.reasons[key]
    assert found.leaders == {}
    assert found.reasons["leaders/d1"] == "d1 has one model: there is nothing to rank"


def test_with_one_data_set_a_recommendation_says_why_it_has_no_uncertainty(make_table) -> None:
    found = analyse_cells(make_table([[[0.5, 0.7], [0.4, 0.9]]]))
    assert found.recommended_format is not None
    assert found.recommended_format.chosen_share is None
    assert "one data set" in found.reasons["recommended_format/held_out_spearman"]
    assert "one data set" in found.reasons["recommended_format/chosen_share"]


def test_every_none_has_a_reason(make_table) -> None:
    found = analyse_cells(make_table([[[0.5, NAN], [0.2, 0.4]]]))
    fields = {"lmm_group_var": "lmm", "lmm_residual_var": "lmm", "lmm_fit": "lmm", "coverage_range_pct": "coverage_pct"}
    fields |= {"spearman_from_printed_accuracies": "methods", "correctly_ranked_competition_ranks": "methods"}
    for neutral in ("coverage_neutral_deviation_pp", "coverage_neutral_deviation_range_pp"):
        fields[neutral] = "coverage_neutral"
    nulls = [key for key, value in found.to_dict().items() if value is None and key != "printed_differences"]
    assert nulls
    assert [key for key in nulls if fields.get(key, key) not in found.reasons] == []


def test_every_key_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "summary-schema.md").read_text(encoding="utf-8")
    section = page.partition("## `vqaudit grid --json`")[2]
    assert [key for key in GridFindings.model_fields if f"`{key}`" not in section] == []


def test_missing_cells_are_said(make_table) -> None:
    found = analyse_cells(make_table([[[0.5, NAN, 0.6], [0.2, 0.4, 0.1]]]))
    assert found.cells.missing == 1
    assert any(text.startswith("1 of 6 cells are missing: d0 / m0 1;") for text in found.warnings)
    assert "pseudo-gold and ranks on d0 use the 2 of 3 formats that all its models have" in found.warnings
    assert found.formats_in_common == {"d0": 2}
    assert "sum_of_squares" in found.reasons


def test_a_level_without_any_coverage_is_said_first_and_its_models_are_left_out_beside(make_table) -> None:
    accuracy = [[[0.5, 0.0], [0.6, 0.7], [0.4, 0.52]], [[0.3, 0.0], [0.5, 0.66], [0.41, 0.5]]]
    coverage = [[[1, 0], [1, 1], [1, 1]], [[1, 0], [1, 1], [1, 1]]]
    found = analyse_cells(make_table(accuracy, coverage=coverage), spec=GridSpec(baseline={"delimiter": "l1"}))
    assert found.warnings[0].startswith("coverage is 0 in all 2 cells of l1 (delimiter) of m0: likelier a fault")
    assert "every effect of delimiter is told against it" in found.warnings[0]
    assert found.zero_coverage_models == ["m0"]
    assert found.lmm_without_zero_coverage_models is not None
    others = np.array(accuracy)[:, 1:]
    expected = 100 * (others[:, :, 0] - others[:, :, 1]).mean()
    assert found.lmm_without_zero_coverage_models["l0"].coef_pp == pytest.approx(expected, abs=1e-6)
    assert found.cells.zero_coverage == 2


def test_accuracy_above_coverage_is_said(make_table) -> None:
    found = analyse_cells(make_table([[[0.5, 0.6]]], coverage=[[[0.4, 1.0]]]))
    assert any(text.startswith("accuracy is above coverage in 1 cells, first d0 / m0 / l0") for text in found.warnings)


def test_unknown_coverage_and_emptied_tables_are_said(make_table) -> None:
    found = analyse_cells(make_table([[[0.5, 0.6]]], coverage=[[[0.6, NAN]]]))
    assert any("1 cells have an accuracy but no coverage" in text for text in found.warnings)
    assert any(text.startswith("no cell has coverage of 75 %") for text in found.warnings)
    assert found.coverage_neutral_deviation_range_pp == {"delimiter": {"m0": None}}


def test_methods_that_do_not_fit_the_cells_are_said(make_table) -> None:
    table = make_table([[[0.5, 0.6], [0.4, 0.3]]])
    methods = MethodTable(
        source="m.csv",
        methods=("v", "w"),
        accuracy={"d0": {"v": {"m0": 0.5, "x": 0.4}}, "elsewhere": {"v": {"m0": 0.1}}},
        printed_rank={},
    )
    found = analyse_cells(table, methods)
    text = "\n".join(found.warnings)
    assert "m.csv: left out, since own.csv does not have it: elsewhere" in text
    assert "m.csv: x has no cell on d0; left out of v" in text
    assert "m.csv: v has no accuracy of m1 on d0" in text
    assert "m.csv: w has no accuracy on d0" in text
    strangers = MethodTable(source="m.csv", methods=("v",), accuracy={"e": {"v": {"m0": 0.1}}}, printed_rank={})
    assert "no data set and model in common" in analyse_cells(table, strangers).reasons["methods"]


def test_impossible_settings_are_refused(make_table) -> None:
    with pytest.raises(AnalysisError, match="not 75"):
        analyse_cells(make_table([[[0.5, 0.6]]]), spec=GridSpec(min_coverage=75))
    with pytest.raises(AnalysisError, match="is no level of delimiter"):
        analyse_cells(make_table([[[0.5, 0.6]]]), spec=GridSpec(baseline={"delimiter": "dot"}))
