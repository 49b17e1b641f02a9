"""Figures by name, and as files that other programs can open."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from PIL import Image

from vqaudit.analysis.internals import VocabularyFindings, write_part
from vqaudit.auditing import open_run
from vqaudit.errors import AnalysisError, RecordError
from vqaudit.report import charts
from vqaudit.report.charts import save_picture, save_pictures
from vqaudit.report.figures import all_figures, find_figure, run_figures

FIGURE = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "trials": 9}


@pytest.fixture(scope="session")
def figures(grid_summary) -> dict[str, charts.Picture]:
    return run_figures(grid_summary)


def test_a_grid_has_the_figures_of_the_papers(figures) -> None:
    wanted = {"score", "effects", "accuracy", "coverage", "levels", "replies", "positions", "interfaces"}
    assert wanted | {"first-positions", "remedies", "categories"} <= set(figures)


def test_several_runs_have_those_of_all_and_of_each(rivals) -> None:
    found = all_figures(rivals[:2])
    assert {"ranking", "differences", "ranks", "run-1-accuracy", "run-2-accuracy"} <= set(found)
    assert set(all_figures(rivals[1:2])) >= {"accuracy"}


def test_every_kind_of_file_can_be_opened(figures, tmp_path) -> None:
    paths = save_pictures({"effects": figures["effects"]}, tmp_path / "new", kinds=("svg", "png", "pdf"))
    assert [path.name for path in paths] == ["effects.svg", "effects.png", "effects.pdf"]
    svg = ElementTree.parse(paths[0]).getroot()
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    with Image.open(paths[1]) as image:
        assert image.width == round(3 * float(svg.attrib["width"]))
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
        assert min(image.convert("L").tobytes()) < 60
    assert paths[2].read_bytes().startswith(b"%PDF-")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in paths)


def test_another_ending_and_a_folder_that_is_a_file_are_refused(figures, tmp_path) -> None:
    with pytest.raises(AnalysisError, match=r"'a\.gif' names no kind of picture; end it in \.svg, \.png, \.pdf"):
        save_picture(figures["score"], tmp_path / "a.gif")
    (tmp_path / "file").write_text("", encoding="utf-8")
    for kind in ("svg", "png"):
        with pytest.raises(RecordError, match="cannot be written"):
            save_picture(figures["score"], tmp_path / "file" / f"a.{kind}")


def test_an_unknown_name_lists_those_that_there_are(grid, figures) -> None:
    with pytest.raises(AnalysisError, match=r"no figure 'heatmap'; it has score, "):
        find_figure(figures, "heatmap")
    assert open_run(grid.path).figure("accuracy").title == figures["accuracy"].title


def test_a_notebook_shows_a_figure_with_its_title_as_text(figures) -> None:
    html = replace(figures["score"], title="<b>&")._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert "<svg" in html


def test_what_was_found_inside_the_model_is_shown(grid_summary, tmp_path) -> None:
    rank = {"value": 12.0, "low": 10.0, "high": 14.0, "n": 9, "trials": 9}
    rows = [
        {"layer": layer, "id_mass": FIGURE, "watch_mass": None, "right_rank": rank, "right_probability": FIGURE}
        for layer in range(3)
    ]
    found = VocabularyFindings.model_validate({"trials": 9, "conditions": {"bare-scores": rows}})
    write_part(tmp_path, "vocabulary", found)
    picture = run_figures(grid_summary, run=tmp_path)["vocabulary"]
    assert "50.0 % under bare-scores" in picture.title
    assert len(picture.rows) == 3
    assert "vocabulary" not in run_figures(grid_summary)
