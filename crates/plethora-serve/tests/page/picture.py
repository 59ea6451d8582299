"""Takes the pictures of the page that the README shows, of two models that a server has:

    PLETHORA_MODELS="wide tree" python crates/plethora-serve/tests/page/picture.py docs

`served.py` says what else the environment can set. Writes page.png and page-dark.png.
"""

import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

import served

# A document of the generated catalogue that no model is trained on.
TEXT = """Bryologists and their sphagnum in Virginian accounts
A bibliography about bryologists, their training and their disputes. This bibliography has been long awaited. The \
author translates many Virginian documents for the first time. Contemporary descriptions of peat are quoted at \
length. Parallels from Morocco are mentioned but not pursued. A glossary helps with difficult words. The evidence \
comes mainly from capsules and tufts. The preface thanks many friends and colleagues."""


def take(browser, address, scheme, path):
    context = browser.new_context(viewport={"width": 1280, "height": 1200}, color_scheme=scheme)
    served.page_from_folder(context, address)
    page = context.new_page()
    page.goto(address + "/")
    page.get_by_label("Text", exact=True).fill(TEXT)
    page.locator("#other").select_option(index=2)
    page.get_by_label("Labels", exact=True).fill("6")
    page.get_by_role("button", name="Rank labels").click()
    rankings = page.locator(".ranking")
    for ranking in rankings.all():
        expect(ranking.locator(".labels > li")).to_have_count(6)
    row = rankings.first.locator(".labels > li").first
    row.locator(".name").click()
    expect(row.locator(".text")).to_be_visible()
    expect(row.locator(".levels")).to_be_visible()
    rankings.last.locator(".right").first.click()
    rankings.last.locator(".wrong").last.click()
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.screenshot(path=path)
    context.close()


def main():
    folder = Path(sys.argv[1])
    with served.served("--feedback", "/dev/null") as address, sync_playwright() as playwright:
        with served.browser(playwright) as browser:
            take(browser, address, "light", folder / "page.png")
            take(browser, address, "dark", folder / "page-dark.png")


if __name__ == "__main__":
    main()
