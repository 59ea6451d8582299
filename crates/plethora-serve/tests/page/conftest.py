"""What the tests of the page share: one server, one browser, and a page that must stay without faults."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

import served


@pytest.fixture(scope="session")
def feedback_file(tmp_path_factory):
    return tmp_path_factory.mktemp("feedback") / "feedback.jsonl"


@pytest.fixture(scope="session")
def address(feedback_file):
    assert len(served.MODELS) >= 2, "PLETHORA_MODELS: expected two model folders"
    with served.served("--feedback", str(feedback_file)) as address:
        yield address


@pytest.fixture(scope="session")
def models():
    return [source.split("=")[0] if "=" in source else Path(source).name for source in served.MODELS]


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright, served.browser(playwright) as browser:
        yield browser


@pytest.fixture
def open_page(browser):
    """Opens pages; in the end none may have written an error to its console or asked another host."""
    contexts, faults = [], []

    def open_page(address, expected=(), **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        served.page_from_folder(context, address)
        page = context.new_page()
        page.set_default_timeout(10_000)

        def on_console(message):
            if message.type in ("error", "warning") and not any(part in message.text for part in expected):
                faults.append(message.text)

        def on_request(request):
            if not request.url.startswith(address + "/"):
                faults.append(f"asks for {request.url}")

        page.on("console", on_console)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", on_request)
        page.goto(address + "/")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def page(open_page, address):
    return open_page(address)


@pytest.fixture
def lines(feedback_file):
    """The feedback that came since the test began."""
    read = lambda: [json.loads(line) for line in feedback_file.read_text().splitlines()]
    before = len(read())
    return lambda: read()[before:]
