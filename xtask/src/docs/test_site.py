"""The site of the documents in a browser: PLETHORA_SITE names its folder, CHROMIUM the browser."""

import os
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

SITE = Path(os.environ.get("PLETHORA_SITE", Path(__file__).resolve().parents[3] / "target/site"))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
AXE = str(files("axe_playwright_python") / "axe.min.js")
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[("light", 1280), ("dark", 400)], ids=lambda kind: kind[0])
def tab(chromium, request):
    """A window that fails where something is asked for that the site does not have."""
    scheme, width = request.param
    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    tab, faults = context.new_page(), []
    tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    tab.on("requestfailed", lambda asked: faults.append(asked.url))
    tab.on("request", lambda asked: None if asked.url.startswith(SITE.as_uri()) else faults.append(asked.url))
    yield tab
    context.close()
    assert faults == []


def test_no_page_has_a_serious_fault(tab):
    assert "index.html" in PAGES and "start.html" in PAGES and len(PAGES) > 20
    found = {}
    # Every page in the harder form: dark and narrow. They have their colours and their frame in common, so that a few do for the other.
    is_wide = tab.viewport_size["width"] > 1000
    for page in PAGES[::8] if is_wide else PAGES:
        tab.goto((SITE / page).as_uri())
        tab.add_script_tag(path=AXE)
        # Browsers keep scripts from the style sheets of files, which two rules about turned screens and videos would read.
        violations = tab.evaluate("axe.run({preload: false})")["violations"]
        faults = [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in violations
                  if fault["impact"] in ("serious", "critical")]
        if faults:
            found[page] = faults
        # Tables and code scroll, the page itself does not.
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), page
    assert found == {}


@pytest.mark.parametrize("tab", [("light", 1280)], indirect=True, ids=["light"])
def test_links_lead_to_pages_and_places_of_the_site(tab):
    """The tool checks the Markdown; this is what came of it."""
    dead = []
    for page in PAGES:
        tab.goto((SITE / page).as_uri())
        links = tab.eval_on_selector_all("a[href]", "links => links.map(link => link.href)")
        for link in {link for link in links if link.startswith("file:")}:
            target, _, place = link.removeprefix(SITE.as_uri() + "/").partition("#")
            text = (SITE / target).read_text() if (SITE / target).is_file() and target.endswith(".html") else ""
            if not (SITE / target).is_file() or (place and f'id="{place}"' not in text):
                dead.append((page, link))
    assert dead == []


def test_a_reader_gets_from_the_first_page_to_every_other(tab):
    tab.goto((SITE / "index.html").as_uri())
    titles = tab.locator("nav.contents a").all_inner_texts()
    assert {"Five minutes with a CSV file", "Which system should I take?", "Formats by example", "Languages"} <= set(titles)
    tab.get_by_role("link", name="Next: Five minutes with a CSV file").click()
    assert tab.locator("h1").inner_text() == "Five minutes with a CSV file"
    assert tab.locator("[aria-current=page]").inner_text() == "Five minutes with a CSV file"
