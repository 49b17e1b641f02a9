"""The card: a block that the hub's own reader takes, and text that changes only where the model did."""

import difflib
import re
from dataclasses import replace

import pytest

from vqaudit.analysis import summarise
from vqaudit.errors import AnalysisError
from vqaudit.report.card import card
from vqaudit.report.markdown import escaped
from vqaudit.report.model_index import front_matter, model_index

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install 'vqaudit[logs]'")


def block(text):
    return yaml.safe_load(text.split("---\n")[1])["model-index"]


def written(estimate):
    return f"{100 * estimate.value:.1f} % [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


INTERFACES = {
    "direct": {"ending_text": "{instruction}", "asks": "id", "place": "user", "event": "reply"},
    "direct-scores": {"ending_text": "{instruction}", "asks": "id", "place": "user", "event": "id-scores"},
    "cot-prefix": {"ending_text": "Let me think.", "asks": "reasoning", "place": "user", "event": "id-scores"},
    "free-cot": {"ending_text": "Let me think.", "asks": "reasoning", "place": "user", "event": "generation"},
}


def told(tables, **manifest):
    """The same run, of which the manifest tells something else."""
    return replace(tables, manifest=tables.manifest.model_copy(update=manifest))


@pytest.fixture(scope="module")
def described(grid):
    return told(grid, interfaces=INTERFACES)


@pytest.fixture(scope="module")
def text(described):
    return card([described])


def test_the_block_holds_the_figures(text, grid_summary) -> None:
    (entry,) = block(text)
    assert entry["name"] == "pretended"
    (result,) = entry["results"]
    assert result["dataset"]["name"] == "blocks"
    by_key = {metric["args"]["key"]: metric for metric in result["metrics"]}
    for key in ("grid_accuracy", "worst_case", "spread", "coverage"):
        figure = getattr(grid_summary, key)
        assert by_key[key]["value"] == pytest.approx(figure.value, abs=5e-5)
        assert by_key[key]["args"]["low"] == pytest.approx(figure.low, abs=5e-5)
        assert by_key[key]["args"]["high"] == pytest.approx(figure.high, abs=5e-5)
        assert by_key[key]["args"]["n"] == figure.n


def test_the_hubs_own_reader_takes_the_block(rivals) -> None:
    hub = pytest.importorskip("huggingface_hub.repocard_data", reason="huggingface_hub is not installed")
    for entry in block(card(rivals)):
        name, results = hub.model_index_to_eval_results([entry])
        assert hub.eval_results_to_model_index(name, results)[0]["name"] == entry["name"]
        assert {result.metric_type for result in results} == {"accuracy", "spread", "coverage"}
        assert all(0 <= result.metric_value <= 1 for result in results)


def test_yaml_is_read_back_as_it_was_meant(rivals) -> None:
    index = model_index([(tables, summarise(tables, details=False)) for tables in rivals])
    assert yaml.safe_load(front_matter(index).strip("-\n"))["model-index"] == index


def test_the_statement_says_all_that_a_score_rests_on(text, grid_summary) -> None:
    for figure in (grid_summary.grid_accuracy, grid_summary.coverage, grid_summary.worst_case):
        assert written(figure) in text
    for factor in ("ID sets", "delimiters", "separators"):
        assert f"range over {factor}" in text
    assert grid_summary.measurement_faults[0].sentence[1:40] in text.replace("\\", "")
    assert "| conditioned on a rationale | no |" in text
    assert "direct: ends with an instruction that names the IDs in the user's turn" in text
    assert "vqaudit 0.1.0, reading rules 1" in text
    assert "48 formats x circular orders" in text
    assert re.search(r"\| cot-prefix \|.*\| mismatched \|", text)
    assert re.search(r"\| free-cot \| a long generation, read afterwards \| yes \|", text)


def test_same_records_same_text_and_no_date(text, described) -> None:
    assert card([described]) == text
    later = told(described, started="2031-02-03T04:05:06Z", finished="2031-02-04T04:05:06Z")
    assert card([later]) == text
    assert "2031-02-04" in card([later], dated=True)
    assert "/home" not in text
    assert str(described.path) not in text


def test_two_releases_differ_where_they_do(rivals) -> None:
    strong, weak = card([rivals[1]]), card([rivals[2]])
    changed = [line for line in difflib.ndiff(strong.splitlines(), weak.splitlines()) if line.startswith("- ")]
    assert any("robust score" in line for line in changed)
    kept = set(strong.splitlines()) & set(weak.splitlines())
    assert "| system prompt | none |" in kept
    assert len(strong.splitlines()) == pytest.approx(len(weak.splitlines()), abs=6)


def test_several_runs_are_several_results_in_their_order(rivals) -> None:
    text = card(rivals)
    assert [entry["name"] for entry in block(text)] == ["pretended", "strong", "weak"]
    assert re.findall(r"^### (\w+) on", text, re.MULTILINE) == ["pretended", "strong", "weak"]


def test_a_run_that_cannot_tell_says_so(scores_only, unfinished) -> None:
    text = card([scores_only])
    assert "| coverage of replies | cannot be told: no trial has a reply" in text
    assert "| range over formats | cannot be told:" in text
    nothing = card([unfinished])
    assert "**robust score** | cannot be told:" in nothing
    assert not nothing.startswith("---")
    with pytest.raises(AnalysisError, match="at least one run"):
        card([])


def test_names_cannot_write_markdown_or_yaml(grid) -> None:
    name = 'x" \n- evil: |<script>alert(1)</script>| [a](http://b) `c`'
    text = card([told(grid, model=name, dataset={"name": "d|<b>\n# head"})])
    assert block(text)[0]["name"] == name
    body = text.split("---\n", 2)[2]
    assert "<script>" not in body
    assert re.search(r"(?<!\\)\]\(http", body) is None
    assert "\n# head" not in body


def test_a_named_benchmark_is_named_as_the_hub_does(grid) -> None:
    for revision, said in (
        ("ab12", "hub data set 'org/bench' at ab12, split 'dev'"),
        (None, "hub data set 'org/bench', split 'dev'"),
    ):
        (result,) = block(card([told(grid, dataset={"name": "bench", "origin": said})]))[0]["results"]
        assert (result["dataset"]["type"], result["dataset"]["split"]) == ("org/bench", "dev")
        assert result["dataset"].get("revision") == revision


def test_markdown_is_escaped() -> None:
    assert escaped("a|b") == "a\\|b"
    assert escaped("line\nbreak") == "line break"
