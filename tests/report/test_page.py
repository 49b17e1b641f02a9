"""The page: right, complete, self-contained, and safe whatever the data say."""

import re
import sys
from dataclasses import replace

import pytest

from vqaudit.analysis import summarise
from vqaudit.errors import AnalysisError, EngineUnavailable, RecordError
from vqaudit.items.item import Item
from vqaudit.report import page as page_module
from vqaudit.report.page import render_page, write_page
from vqaudit.report.terminal import summary_view

SCRIPT = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
LONG = "very long option " * 625
HEBREW = "\u202eמה הצבע?\u202c"
LATEX = r"$\frac{a}{b}$ </textarea> {{ 7 * 7 }} {% raw %}"


@pytest.fixture(scope="session")
def pages(grid, randomised, scores_only, unfinished, rivals) -> dict[str, str]:
    return {
        "grid": render_page([grid]),
        "randomised": render_page([randomised]),
        "scores_only": render_page([scores_only]),
        "unfinished": render_page([unfinished]),
        "rivals": render_page(rivals),
    }


@pytest.fixture(scope="session")
def hostile(folder, written_run, pretended) -> str:
    """The page of a run whose every text is hostile."""
    items = [
        Item(
            id=f"{SCRIPT}{k}",
            question=f"{SCRIPT} {HEBREW} {LATEX} 🦜 \x1b[31m {k}",
            options=(f"{SCRIPT}", LONG, f"{HEBREW} 👩🏽‍🔬", LATEX),
            answer=k % 4,
            category=SCRIPT,
            notes=(SCRIPT,),
        )
        for k in range(8)
    ]
    knows = pretended(0.5)
    run = written_run(
        folder("hostile"),
        items=items,
        arms=[("direct", "grid")],
        mind=lambda asked: f"{SCRIPT}{HEBREW}\x00" if asked.rng.random() < 0.3 else knows(asked),
        model=SCRIPT,
        system=SCRIPT,
        dataset={"name": SCRIPT, "warnings": [SCRIPT]},
        command=["vqaudit", SCRIPT],
    )
    return render_page([run])


def written(estimate) -> str:
    return f"{100 * estimate.value:.1f} % [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def test_measurement_faults_come_first_and_then_the_headline(pages, read_page) -> None:
    for name in ("grid", "rivals"):
        text = read_page(pages[name]).text
        assert "are exactly an ID" in text
        assert text.index("are exactly an ID") < text.index("[")
    text = read_page(pages["grid"]).text
    order = [
        "Measurement fault",
        "Robust score: grid accuracy",
        "What moves the score",
        "Is the scored event the one that was asked for?",
        "What this run cannot tell",
        "What the figures say",
        "Accuracy by format lies between",
        "Every item, every trial",
        "How trials ended",
    ]
    assert [text.index(title) for title in order] == sorted(text.index(title) for title in order)


def test_page_and_terminal_show_the_same_digits(pages, grid, terminal, read_page) -> None:
    summary = summarise(grid)
    both = read_page(pages["grid"]).text, " ".join(terminal(summary_view(summary), width=300).split())
    figures = [
        summary.grid_accuracy,
        summary.row_accuracy,
        summary.lenient_accuracy,
        summary.answered_accuracy,
        summary.strict_circular,
        summary.reference_accuracy,
        summary.coverage,
        summary.best_format.accuracy,
        summary.worst_format.accuracy,
        *(part.accuracy for parts in summary.factors.values() for part in parts),
        *(row.accuracy for row in summary.interfaces.values()),
    ]
    for text in both:
        assert [written(figure) for figure in figures if written(figure) not in text] == []
        assert [finding for finding in summary.findings if finding not in text] == []
    page = both[0]
    assert [row.format for row in summary.formats if f"{row.format} {written(row.accuracy)}" not in page] == []
    assert [g.name for g in summary.categories if f"{g.name} {written(g.accuracy)}" not in page] == []
    rates = [row.first_position_rate for row in summary.interfaces.values()]
    assert [written(rate) for rate in rates if written(rate) not in page] == []


def test_reasons_are_shown(pages, randomised, read_page) -> None:
    text = read_page(pages["randomised"]).text
    summary = summarise(randomised)
    for key in ("spread", "strict_circular", "reference_accuracy"):
        assert summary.reasons[key] in text
    assert "spread over formats" not in text


@pytest.mark.parametrize("name", ["grid", "randomised", "scores_only", "unfinished", "rivals"])
def test_nothing_reads_none_or_nan_and_tags_nest(name: str, pages, read_page) -> None:
    text = read_page(pages[name]).text
    assert not re.search(r"\b(None|nan|NaN|undefined|inf)\b", text)


@pytest.mark.parametrize("name", ["grid", "rivals"])
def test_the_page_refers_to_nothing_outside(name: str, pages, read_page) -> None:
    html = pages[name]
    assert "http://" not in html
    assert "https://" not in html
    tags = read_page(html).tags
    assert not [tag for tag, _ in tags if tag in ("img", "iframe", "object", "embed", "base", "form")]
    scripts = [attrs for tag, attrs in tags if tag == "script"]
    assert sum(attrs.get("type") == "text/plain" for attrs in scripts) == len(scripts) - 1
    assert not [attrs for attrs in scripts if "src" in attrs]
    assert not [key for _, attrs in tags for key in attrs if key.startswith("on") or key == "style"]
    links = [value for _, attrs in tags for key, value in attrs.items() if key in ("href", "src", "xlink:href")]
    assert links
    assert all(value == "data:," or (value or "").startswith("#run-") for value in links)
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert all((value or "")[1:] in ids for value in links if value != "data:,")
    assert "url(" not in html
    assert "@import" not in html
    policy = next(attrs["content"] for _, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")


def test_the_same_records_give_the_same_bytes(pages, grid) -> None:
    assert render_page([grid]) == pages["grid"]


def test_a_run_without_a_finished_trial_has_a_page_that_says_so(pages, read_page) -> None:
    text = read_page(pages["unfinished"]).text
    assert "0 of 6 planned trials are done" in text
    assert "unknown" in text
    assert "no trial is done yet" in text


def test_a_run_with_scores_alone_has_no_coverage_and_says_why(pages, read_page) -> None:
    text = read_page(pages["scores_only"]).text
    assert "scores and free generations have no coverage" in text
    assert "What replies are" not in text
    assert "The same model scores" in text


def test_several_runs_are_ranked_first_and_then_told_one_by_one(pages, rivalry, read_page) -> None:
    text = read_page(pages["rivals"]).text
    assert text.index("What can be said") < text.index("Facts of the run")
    for statement in rivalry.statements:
        assert statement in text
    for run in rivalry.runs:
        assert written(run.accuracy) in text
    for pair in rivalry.pairs:
        assert f"{100 * abs(pair.difference.value):.1f} pp [" in text
    headings = [tag for tag, _ in read_page(pages["rivals"]).tags if tag in ("h1", "h2", "h3", "h5")]
    assert headings.count("h1") == 1


def test_runs_that_cannot_be_compared_say_why_and_are_shown_all_the_same(
    grid, folder, written_run, asked_items, pretended, read_page
) -> None:
    strangers = [replace(item, id=f"other-{item.id}") for item in asked_items(10)]
    run = written_run(folder("stranger"), items=strangers, arms=[("direct", "grid")], mind=pretended(0.5))
    text = read_page(render_page([grid, run])).text
    assert "These runs cannot be ranked" in text
    assert "have no item in common" in text
    assert text.count("Facts of the run") == 2


def test_hostile_text_is_text(hostile, read_page) -> None:
    parsed = read_page(hostile)
    assert not [tag for tag, _ in parsed.tags if tag in ("img", "textarea")]
    assert sum(tag == "script" for tag, _ in parsed.tags) == 2
    assert not [key for _, attrs in parsed.tags for key in attrs if key.startswith("on")]
    assert parsed.text.count("<script>window.pwned = 1</script>") > 20
    assert "\u202e" not in hostile
    assert "\x1b" not in hostile
    assert "\x00" not in hostile
    assert "{{ 7 * 7 }}" in parsed.text
    assert LONG.strip() in parsed.text
    assert "👩🏽‍🔬" in parsed.text
    assert "מה הצבע?" in parsed.text


def test_a_lone_surrogate_can_be_written(folder, written_run, asked_items, tmp_path) -> None:
    run = written_run(folder("surrogate"), items=asked_items(4), arms=[("direct", "randomised")], mind=lambda a: "x")
    manifest = run.manifest.model_copy(update={"model": "half \ud83d of a parrot"})
    path = write_page([replace(run, manifest=manifest)], tmp_path / "page.html")
    assert "half � of a parrot" in path.read_text(encoding="utf-8")


def test_no_folder_of_the_author_is_told(folder, written_run, asked_items, pretended) -> None:
    run = written_run(
        folder("private"),
        items=asked_items(4),
        arms=[("direct", "randomised")],
        mind=pretended(0.5),
        model="/home/ada/models/tiny",
        command=["/home/ada/bin/vqaudit", "run", "--data", "/home/ada/secret/blocks.jsonl"],
    )
    html = render_page([run])
    assert "/home/ada" not in html
    assert "vqaudit run --data blocks.jsonl" in html
    assert str(run.path.parent) not in html


def test_a_prompt_is_shown_byte_for_byte(pages, grid) -> None:
    from html import escape

    from vqaudit.report.examples import pick_examples

    for flip in pick_examples(grid, interface="direct").flips:
        assert (
            f'<pre dir="auto">{escape(flip.wrong.prompt, quote=True).replace("&#x27;", "&#39;")}</pre>' in pages["grid"]
        )


@pytest.mark.parametrize("package", ["jinja2", "altair", "vl_convert"])
def test_a_missing_package_is_named_and_nothing_is_written(package: str, monkeypatch, randomised, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'vqaudit\[report\]'"):
        write_page([randomised], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_page_needs_a_run_and_a_place(randomised, tmp_path) -> None:
    with pytest.raises(AnalysisError, match="at least one run"):
        render_page([])
    with pytest.raises(RecordError, match="cannot be written"):
        write_page([randomised], tmp_path)


@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_template_cannot_print_what_is_no_figure(value) -> None:
    template = page_module._environment().from_string("{{ value }}")
    with pytest.raises(AnalysisError, match="about to print"):
        template.render(value=value)


def test_templates_escape_and_miss_nothing() -> None:
    from jinja2 import UndefinedError

    environment = page_module._environment()
    assert environment.from_string("{{ x }}").render(x="<b>\x07") == "&lt;b&gt;␇"
    with pytest.raises(UndefinedError):
        environment.from_string("{{ y }}").render(x=1)
