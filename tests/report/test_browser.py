"""The page in a real browser: no error, no request, no overflow on a phone, and both colour schemes."""

import shutil
from pathlib import Path

from vqaudit.report.page import write_page

CONTRAST = """() => {
    const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92
        : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
    const paper = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (c !== 'rgba(0, 0, 0, 0)') return c; } };
    const ratio = e => { const a = light(getComputedStyle(e).color), b = light(paper(e));
        return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
    const texts = [...document.querySelectorAll('main *:not(svg *), footer')].filter(e => e.textContent.trim() && !e.disabled);
    return Math.min(...texts.map(ratio)); }"""
BEYOND = """() => [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg, pre, thead')
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""


def test_a_page_that_fetches_and_fails_is_caught(open_page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='missing.png'><script>nonsense()</script>", encoding="utf-8")
    tab = open_page(bad)
    assert tab.outside
    assert tab.complaints


def test_the_page_fetches_nothing_and_complains_of_nothing(open_page, grid_page: Path) -> None:
    for width, scheme in ((1280, "light"), (390, "dark")):
        tab = open_page(grid_page, width=width, scheme=scheme)
        assert tab.outside == []
        assert tab.complaints == []


def test_the_page_works_wherever_it_is_copied(open_page, grid_page: Path, tmp_path: Path) -> None:
    copy = shutil.copy(grid_page, tmp_path / "Übersicht #1 100%.html")
    tab = open_page(Path(copy))
    assert (tab.outside, tab.complaints) == ([], [])


def test_the_policy_stops_a_script_that_is_not_the_pages_own(open_page, grid_page: Path, tmp_path: Path) -> None:
    changed = grid_page.read_text(encoding="utf-8").replace("</main>", "<script>window.pwned = 1</script></main>", 1)
    path = tmp_path / "changed.html"
    path.write_text(changed, encoding="utf-8")
    tab = open_page(path)
    assert tab.told("window.pwned === undefined")
    assert any("Content Security Policy" in complaint for complaint in tab.complaints)


def test_nothing_overflows_a_phone_with_every_table_open(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page, width=390)
    tab.told("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert tab.told("document.documentElement.scrollWidth") == 390
    assert tab.told(BEYOND) == []


def test_no_column_of_a_table_is_cut_on_a_phone(open_page, grid_page: Path) -> None:
    """Defect 1: the last columns of wide tables lay outside the screen, with nothing to tell of them."""
    tab = open_page(grid_page, width=390)
    tab.told("document.querySelectorAll('details').forEach(d => d.open = true)")
    cut = "[...document.querySelectorAll('.stacked')].filter(t => t.scrollWidth > t.parentElement.clientWidth).length"
    assert tab.told("document.querySelectorAll('.stacked').length") > 5
    assert tab.told(cut) == 0
    labels = tab.told("getComputedStyle(document.querySelector('.stacked td:last-child'), '::before').content")
    assert labels not in ("none", '""')


def test_all_orders_of_an_item_are_seen_at_once_on_a_phone(open_page, grid_page: Path) -> None:
    """Defect 2: the third and fourth order stood outside the grid of trials."""
    tab = open_page(grid_page, width=390)
    box = "document.querySelector('.trials')"
    assert tab.told(f"{box}.querySelectorAll('thead th').length") == 5
    assert tab.told(f"{box}.scrollWidth <= {box}.clientWidth")


def test_trials_stand_close_to_the_cells_that_chose_them(open_page, grid_page: Path) -> None:
    """Defect 3: the margins of page sections pushed the two trials out of sight."""
    tab = open_page(grid_page, width=1280)
    gap = """(() => { const of = s => document.querySelector(s).getBoundingClientRect();
        return of('.browse .trial').top - of('.trials').bottom; })()"""
    assert 0 <= tab.told(gap) <= 24


def test_pictures_keep_their_size_on_a_phone(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page, width=390)
    widths = tab.told(
        "[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().width / s.width.baseVal.value)"
    )
    assert widths
    assert min(widths) > 0.9, "text in pictures would be too small to read"


def test_light_and_dark_can_both_be_read(open_page, grid_page: Path) -> None:
    papers = []
    for scheme in ("light", "dark"):
        tab = open_page(grid_page, scheme=scheme)
        assert tab.told(CONTRAST) >= 4.5
        papers.append(tab.told("getComputedStyle(document.documentElement).backgroundColor"))
    assert papers[0] != papers[1]


def test_print_shows_figures_and_leaves_out_what_needs_a_screen(open_page, grid_page: Path) -> None:
    tab = open_page(grid_page)
    tab.page.emulate_media(media="print")
    assert tab.told("getComputedStyle(document.querySelector('.browser')).display") == "none"
    assert tab.told("document.querySelector('figure svg').getBoundingClientRect().width") > 100


def test_hostile_text_runs_nothing(open_page, folder, written_run, asked_items, tmp_path: Path) -> None:
    script = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    run = written_run(
        folder("hostile-browser"),
        items=asked_items(6),
        arms=[("direct", "grid")],
        mind=lambda asked: script if asked.rng.random() < 0.5 else 0,
        model=script,
    )
    tab = open_page(write_page([run], tmp_path / "page.html"))
    assert tab.told("window.pwned === undefined")
    assert tab.told("document.querySelector('h1').textContent").startswith(script)
    tab.page.locator(".trials button.unread").first.click()
    assert tab.page.locator(".browse .reply").last.text_content() == script
    assert tab.told("window.pwned === undefined")
    assert (tab.outside, tab.complaints) == ([], [])
