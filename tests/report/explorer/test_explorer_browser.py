"""The explorer in a real browser: filters, search, keys, two trials side by side, hostile text, pictures."""

import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from vqaudit.items.item import Item
from vqaudit.records import RunTables
from vqaudit.report.page import write_page

SCRIPT = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
LONG = "very long option " * 625
HEBREW = "\u202eמה הצבע?\u202c"
LATEX = r"$\frac{a}{b}$ {{ 7 * 7 }}"


def rows(tab) -> int:
    return int(tab.page.locator(".status").inner_text().split(" ")[0].replace(",", ""))


def test_filters_narrow_the_list_and_take_it_back(open_page, grid_page: Path, grid: RunTables) -> None:
    tab = open_page(grid_page)
    assert rows(tab) == 40
    tab.page.get_by_label("Interface").select_option(label="direct-scores")
    chip = tab.page.locator(".chip", has_text="always right")
    number = int(chip.inner_text().split()[-1])
    assert 0 < number < 40
    chip.click()
    assert rows(tab) == number
    assert chip.get_attribute("aria-pressed") == "true"
    chip.click()
    tab.page.locator("select").nth(1).select_option(label="colour")
    assert rows(tab) == grid.items.filter(pl.col("category") == "colour").height == 20
    assert (tab.complaints, tab.outside) == ([], [])


def test_search_finds_questions_replies_and_nothing(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page)
    box = tab.page.get_by_label("Search")
    for words, number in (("BLOCK 7?", 1), ("item-3", 11), ("hard to say", None), ("(.*", 0)):
        box.fill(words)
        tab.page.wait_for_timeout(250)
        assert rows(tab) == number if number is not None else 0 < rows(tab) <= 40
    assert tab.page.locator(".item .head").inner_text() == "No item passes all filters."
    assert tab.page.locator(".items li").count() == 0


def test_the_prompt_of_a_chosen_cell_is_byte_for_byte_what_was_asked(open_page, grid_page: Path, grid) -> None:
    tab = open_page(grid_page)
    segments = grid.segments()
    by_name = {row["trial"]: row for row in grid.trials.iter_rows(named=True)}
    for place in (0, 17, 101):
        tab.page.locator(".trials button").nth(place).click()
        panel = tab.page.locator(".browse .trial").last
        row = by_name[panel.locator("code").inner_text()]
        assert panel.locator("pre").first.text_content() == "".join(segments[name] for name in row["segments"])
        assert "/".join(row[name] for name in ("id_set", "delimiter", "separator")) in panel.inner_text()


def test_it_opens_with_a_right_and_a_wrong_trial_in_one_order(open_page, grid_page: Path, grid) -> None:
    tab = open_page(grid_page)
    tags = tab.page.locator(".browse .trial .tag")
    assert tags.nth(0).inner_text() == "right"
    assert tags.nth(1).inner_text() != "right"
    names = tab.page.locator(".browse .trial code").all_inner_texts()
    orders = dict(grid.trials.select("trial", "order").iter_rows())
    assert list(orders[names[0]]) == list(orders[names[1]])


def test_keys_move_through_items_and_trials(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page)
    tab.page.locator(".items").focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    assert "block 2?" in tab.page.locator(".item h4").inner_text()
    assert tab.page.locator('.items [aria-selected="true"]').count() == 1
    tab.page.keyboard.press("End")
    assert "block 39?" in tab.page.locator(".item h4").inner_text()
    tab.page.keyboard.press("Home")
    assert tab.page.locator('.trials button[tabindex="0"]').count() == 1
    tab.page.locator('.trials button[tabindex="0"]').focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("Enter")
    chosen = tab.told("document.activeElement.getAttribute('aria-pressed')")
    assert chosen == "true"


def test_keep_holds_a_trial_on_the_left(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page)
    right = tab.page.locator(".browse .trial").last.locator("code").inner_text()
    tab.page.get_by_role("button", name="Keep on the left").click()
    tab.page.locator(".trials button").nth(30).click()
    names = tab.page.locator(".browse .trial code").all_inner_texts()
    assert names[0] == right
    assert names[1] != right


def test_another_interface_shows_its_trials(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page)
    assert tab.page.locator(".trials button").count() == 192
    tab.page.get_by_label("Interface").select_option(label="direct-scores")
    assert tab.page.locator(".trials button").count() == 4
    assert "Probability of each ID" in tab.page.locator(".browse").inner_text()
    tab.page.get_by_label("Interface").select_option(label="all")
    assert tab.page.locator(".trials button").count() == 192 + 3 * 4


def test_every_control_has_a_name(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page)
    nameless = """[...document.querySelectorAll('.explorer button, .explorer select, .explorer input')].filter(e =>
        !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim())).length"""
    assert tab.told(nameless) == 0


@pytest.fixture(scope="module")
def hostile(folder, written_run) -> RunTables:
    items = [
        Item(
            id=f"{SCRIPT}{k}",
            question=f"{SCRIPT} {HEBREW} {LATEX} 🦜 \x1b[31m {k}",
            options=(SCRIPT, LONG, f"{HEBREW} 👩🏽‍🔬", LATEX),
            answer=k % 4,
            category=SCRIPT if k % 2 else "plain",
            notes=(SCRIPT,),
        )
        for k in range(6)
    ]
    return written_run(
        folder("hostile-explorer"),
        items=items,
        arms=[("direct", "grid")],
        mind=lambda asked: f"{SCRIPT}{HEBREW}\x00" if asked.rng.random() < 0.5 else 0,
    )


def test_hostile_text_is_text_and_breaks_nothing(open_page, hostile, tmp_path: Path) -> None:
    page = write_page([hostile], tmp_path / "page.html")
    for width in (1280, 390):
        tab = open_page(page, width=width)
        assert tab.page.locator(".item h4").inner_text().startswith("</script><script>window.pwned = 1</script>")
        tab.page.locator(".trials button.unread").first.click()
        assert "מה הצבע?" in tab.page.locator(".browse .reply").last.inner_text()
        assert LONG.strip() in tab.page.locator("ol.options").inner_text()
        tab.page.get_by_label("Search").fill("👩🏽‍🔬")
        tab.page.wait_for_timeout(250)
        assert rows(tab) == 6
        assert tab.told("window.pwned === undefined")
        assert tab.told("document.documentElement.scrollWidth") == width
        assert (tab.complaints, tab.outside) == ([], [])


def test_pictures_are_shown_from_the_page_itself(open_page, folder, written_run, asked_items, tmp_path: Path) -> None:
    run = written_run(folder("pictured"), items=asked_items(3), arms=[("direct", "reference")], mind=lambda asked: 0)
    (run.path / "thumbs").mkdir()
    buffer = io.BytesIO()
    Image.new("RGB", (48, 32), "red").save(buffer, "WEBP")
    (run.path / "thumbs" / "ab12.webp").write_bytes(buffer.getvalue())
    images = pl.Series([["ab12"], ["cd34"], []], dtype=pl.List(pl.String))
    pictured = replace(run, items=run.items.with_columns(images=images))
    tab = open_page(write_page([pictured], tmp_path / "page.html"))
    tab.page.wait_for_function("document.querySelector('.thumbs img').naturalWidth > 0")
    assert tab.told("document.querySelector('.thumbs img').naturalWidth") == 48
    tab.page.locator(".items").focus()
    tab.page.keyboard.press("ArrowDown")
    assert "1 picture, not kept with this run" in tab.page.locator(".item .head").inner_text().replace("\xa0", " ")
    assert (tab.complaints, tab.outside) == ([], [])


def test_two_runs_have_an_explorer_each(open_page, rivals, tmp_path: Path) -> None:
    tab = open_page(write_page(rivals[:2], tmp_path / "page.html"))
    tab.page.wait_for_function("document.querySelectorAll('.explorer[data-ready]').length === 2", timeout=60_000)
    ids = tab.told("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert (tab.complaints, tab.outside) == ([], [])


def test_damaged_data_say_so_and_the_page_stays(chromium, grid_page: Path, tmp_path: Path) -> None:
    text = grid_page.read_text(encoding="utf-8")
    start = text.index('id="run-1-data">') + len('id="run-1-data">') + 12_000
    path = tmp_path / "damaged.html"
    path.write_text(text[:start] + "AAAA" * 200 + text[start + 800 :], encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelector('.waiting')?.textContent.includes('could not open its data')")
    assert page.locator("h1").inner_text()
    page.close()


def test_interactions_are_quick(open_page, grid_page: Path) -> None:
    """Until computed and laid out, the quickest of six: a busy machine must not fail it, slow code must."""
    tab = open_page(grid_page)
    timed = """act => { const { list, data } = document.querySelector('.explorer').explorer; const start = performance.now();
        act === 'item' ? list.choose((list.place + 7) % data.count) : document.querySelector('.chip').click();
        document.body.offsetHeight; return performance.now() - start; }"""
    for act in ("item", "chip"):
        assert min(tab.page.evaluate(timed, act) for _ in range(6)) < 200
