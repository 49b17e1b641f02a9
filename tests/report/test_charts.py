"""Pictures: the same figures as the summary, in markup that is safe and stands alone."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from vqaudit.analysis.breakdown import Group
from vqaudit.analysis.estimates import Estimate
from vqaudit.errors import EngineUnavailable
from vqaudit.report import charts, story

HOSTILE = '<script>alert(1)</script>&"\u202e\x00\ud800'


@pytest.fixture(scope="session")
def pictures(grid_summary, rivalry) -> dict[str, charts.Picture]:
    levels = {name: story.factor_parts(grid_summary, name) for name in grid_summary.factors}
    drawn = {
        "accuracy": charts.accuracy_heatmap(grid_summary.formats),
        "coverage": charts.coverage_heatmap(grid_summary.formats),
        "levels": charts.level_accuracies(levels, title="levels"),
        "replies": charts.coverage_bars(levels, title="replies"),
        "positions": charts.position_choice(grid_summary.selection.positions),
        "interfaces": charts.interface_accuracies(grid_summary.interfaces),
        "first": charts.first_positions(grid_summary.interfaces),
        "score": charts.score_scale(grid_summary),
        "effects": charts.level_effects(grid_summary.effects),
        "remedies": charts.remedies(grid_summary.mitigations),
        "ranking": charts.run_ranking(rivalry),
        "differences": charts.run_differences(rivalry),
        "ranks": charts.format_rank_bars(rivalry.format_ranks),
    }
    assert all(drawn.values())
    return drawn


def texts(picture: charts.Picture) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(picture.svg).iter("text")]


def test_every_picture_is_well_formed_named_and_stands_alone(pictures) -> None:
    for picture in pictures.values():
        root = ElementTree.fromstring(picture.svg)
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == root[0].text
        assert root[0].text.startswith(picture.title)
        assert root[0].tag == "title"
        assert "http" not in picture.svg
        assert "url(" not in picture.svg
        assert not [node for node in root.iter() if "id" in node.attrib], "ids of two pictures on a page could clash"


def test_every_picture_fits_a_phone(pictures) -> None:
    for name, picture in pictures.items():
        assert float(ElementTree.fromstring(picture.svg).attrib["width"]) <= 380, name


def test_text_takes_the_colour_of_the_page(pictures) -> None:
    for name, picture in pictures.items():
        fills = {node.attrib["fill"] for node in ElementTree.fromstring(picture.svg).iter("text")}
        assert fills <= {"currentColor", "white", "black"}, name


def test_the_heat_map_has_every_cell_and_marks_low_coverage(pictures, grid_summary) -> None:
    shown = texts(pictures["accuracy"])
    for row in grid_summary.formats:
        star = "*" if row.coverage.exact.value < 0.5 else ""
        assert f"{100 * row.accuracy.value:.1f}{star}" in shown
    assert sum(text.endswith("*") for text in shown) == sum(r.coverage.exact.value < 0.5 for r in grid_summary.formats)
    assert 12 <= sum(text.endswith("*") for text in shown) < 48
    assert not any(text.endswith("*") for text in texts(pictures["coverage"]))
    labels = [text for text in shown if text in ("upper", "lower", "number", "roman")]
    assert labels == ["upper", "lower", "number", "roman"]


def test_dots_lie_where_the_figures_are(pictures, rivalry) -> None:
    root = ElementTree.fromstring(pictures["ranking"].svg)
    group = next(g for g in root.iter("g") if "mark-symbol" in g.attrib.get("class", ""))
    places = [float(path.attrib["transform"].split("(")[1].split(",")[0]) for path in group]
    assert sorted(place / 225 for place in places) == pytest.approx(
        sorted(run.accuracy.value for run in rivalry.runs), abs=1e-6
    )


def test_tables_say_the_same_as_the_picture(pictures, grid_summary) -> None:
    rows = {row[0]: row for row in pictures["interfaces"].rows}
    assert set(rows) == set(grid_summary.interfaces)
    assert rows["cot-prefix"][-1] == "mismatched"
    assert len(pictures["accuracy"].rows) == 48
    for picture in pictures.values():
        assert {len(row) for row in picture.rows} == {len(picture.header)}
        assert not [cell for row in picture.rows for cell in row if "None" in cell or "nan" in cell]


def test_even_is_claimed_only_where_right_options_stand_evenly(pictures, randomised) -> None:
    from vqaudit.analysis import summarise

    assert "evenly" in pictures["positions"].caption
    drawn = charts.position_choice(summarise(randomised).selection.positions)
    assert "evenly" not in drawn.caption


def test_titles_say_the_finding_and_captions_the_n(pictures, grid_summary) -> None:
    best, worst = grid_summary.best_format, grid_summary.worst_format
    assert f"{100 * worst.accuracy.value:.1f} % ({worst.format})" in pictures["accuracy"].title
    assert f"{100 * best.accuracy.value:.1f} % ({best.format})" in pictures["accuracy"].title
    assert "n = 40 items, 160 trials each" in pictures["accuracy"].caption
    assert "A star marks" in pictures["accuracy"].caption
    assert pictures["positions"].title.startswith("Position 0 (first) is chosen more often")
    assert pictures["first"].title.startswith("cot-prefix chooses the first position too often: +")
    assert "by cot-prefix" in pictures["interfaces"].title
    for name, picture in pictures.items():
        assert picture.caption, name


def test_a_thousand_categories_are_a_picture_that_can_be_read_and_a_whole_table() -> None:
    parts = [
        Group(
            name=f"category {k}", accuracy=Estimate(value=0.5, low=0.4, high=0.6, n=k + 1, trials=k + 1), coverage=None
        )
        for k in range(1000)
    ]
    picture = charts.level_accuracies({"category": parts})
    assert len(picture.rows) == 1000
    assert "The 40 with most items of 1000" in picture.caption
    assert float(ElementTree.fromstring(picture.svg).attrib["height"]) < 1100
    assert "category 999" in texts(picture)
    assert "category 0" not in texts(picture)


def test_names_of_others_are_text() -> None:
    part = Group(name=HOSTILE, accuracy=Estimate(value=0.5, low=0.4, high=0.6, n=9), coverage=None)
    picture = charts.level_accuracies({"category": [part]}, title=HOSTILE)
    assert "<script" not in picture.svg
    assert "\u202e" not in picture.svg
    picture.svg.encode("utf-8")
    root = ElementTree.fromstring(picture.svg)
    assert root[0].text.startswith("<script>alert(1)</script>&")
    assert any(text.startswith("<script>") for text in texts(picture))


def test_what_cannot_be_drawn_is_no_picture() -> None:
    unknown = Group(name="a", accuracy=Estimate.unknown("no data"), coverage=None)
    assert charts.level_accuracies({"category": [unknown]}, title="t") is None
    assert charts.coverage_bars({"category": [unknown]}, title="t") is None
    assert charts.coverage_heatmap([]) is None
    assert charts.position_choice([]) is None
    assert charts.interface_accuracies({}) is None
    assert charts.first_positions({}) is None


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_a_missing_package_is_named_with_its_pip_line(package: str, monkeypatch, grid_summary) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'vqaudit\[report\]'"):
        charts.accuracy_heatmap(grid_summary.formats)


def test_altair_is_loaded_when_a_picture_is_drawn_and_not_before(tmp_path) -> None:
    code = "import sys, vqaudit.report.charts, vqaudit.report.page; print('altair' in sys.modules, 'jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["False", "False"]
