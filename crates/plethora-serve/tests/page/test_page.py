"""The page of `plethora serve` in a browser: what people click, type and see.

    cargo xtask page

gets packages and models ready and runs these; `served.py` says what it sets in the environment. Models come from
`plethora generate`, trained with its vocabulary, so that labels have names and places; Chromium is that of the system.
"""

import json
import re

import pytest
from playwright.sync_api import expect

import served

# A character of two UTF-16 units, words of the generated catalogue, and markup that must stay text.
TEXT = "𝔘 Place names of Virginia in maps\nRivers & <b>harbours</b>, a history of place names"
LONG_WORD = "Donaudampfschifffahrt" * 20


def rank(page, text=TEXT, model=None, other=None):
    page.get_by_label("Text", exact=True).fill(text)
    if model:
        page.get_by_label("Model").select_option(model)
    if other:
        page.get_by_label("Compare with").select_option(other)
    page.get_by_role("button", name="Rank labels").click()


def rows(page, model):
    return page.get_by_role("region", name=model, exact=True).locator(".labels > li")


def share(locator):
    return float(locator.evaluate("(one) => one.style.getPropertyValue('--share')"))


def is_within_window(page):
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def answer_problem(route, status, detail, headers=None):
    body = json.dumps({"type": "about:blank", "title": "Problem", "status": status, "detail": detail})
    route.fulfill(status=status, body=body, headers={"content-type": "application/problem+json", **(headers or {})})


def test_labels_are_ranked_as_the_interface_ranks_them(page, address, models):
    rank(page, model=models[0])
    expect(rows(page, models[0])).to_have_count(10)
    answer = page.request.post(f"{address}/v1/models/{models[0]}/predict", data={"documents": [TEXT]})
    expected = answer.json()["results"][0]["predictions"]
    names = [name.inner_text() for name in rows(page, models[0]).locator(".name").all()]
    assert names == [prediction["label"] for prediction in expected]
    scores = [found.inner_text() for found in rows(page, models[0]).locator(".score").all()]
    assert scores == [f"{prediction['score']:.3f}" for prediction in expected]
    bars = [share(bar) for bar in rows(page, models[0]).locator(".fill").all()]
    assert bars == pytest.approx([prediction["score"] for prediction in expected], abs=1e-4)


def test_number_and_least_score_are_kept_to(page, models):
    page.get_by_label("Labels", exact=True).fill("3")
    rank(page, model=models[0])
    expect(rows(page, models[0])).to_have_count(3)
    page.get_by_label("Lowest score").fill("0.9999")
    rank(page)
    expect(page.get_by_text("No label has such a score.")).to_be_visible()


def test_a_click_shows_the_words_that_made_a_label(page, address, models):
    rank(page, model=models[0])
    first = rows(page, models[0]).first
    name = first.locator(".name")
    name.click()
    expect(name).to_have_attribute("aria-expanded", "true")
    text = first.locator(".text")
    assert text.evaluate("(one) => one.textContent") == TEXT
    label = first.get_attribute("data-key")
    answer = page.request.post(f"{address}/v1/models/{models[0]}/explain", data={"text": TEXT, "labels": [label]})
    explanation = answer.json()["explanations"][0]
    strongest = max(explanation["spans"], key=lambda span: abs(span["weight"]))
    marks = first.locator("mark").all()
    assert {mark.inner_text() for mark in marks if share(mark) == 1} >= {strongest["text"]}
    assert len(marks) > 3
    terms = explanation["terms"][:8]
    assert [cell.inner_text() for cell in first.locator("tbody th").all()] == [term["term"] for term in terms]
    name.click()
    expect(text).to_be_hidden()


def test_a_label_shows_its_place(page, address, models):
    answer = page.request.get(f"{address}/v1/models/{models[0]}/labels?q=--&limit=1")
    label = answer.json()["labels"][0]
    place = page.request.get(f"{address}/v1/models/{models[0]}/labels/{label['label_id']}").json()
    assert place["broader"], "the tests need a model with a vocabulary of several levels"
    rank(page, text=label["label"], model=models[0])
    row = page.locator(f".labels > li[data-key='{label['key']}']")
    row.locator(".name").click()
    levels = row.locator(".levels li")
    expect(levels).to_have_count(len(place["broader"]) + 1 + (len(place["narrower"]) > 0))
    for broader in place["broader"][-1]:
        expect(levels.first).to_contain_text(broader["label"])
    expect(row.get_by_text("training document", exact=False)).to_be_visible()


def test_similar_documents_are_shown_where_the_answer_has_some(page, models):
    def with_neighbours(route):
        answer = route.fetch()
        body = answer.json()
        for explanation in body["explanations"]:
            explanation["method"] = "neighbours"
            explanation["neighbours"] = [
                {"id": f"R{number}", "title": f"Rivers, part {number}", "similarity": 0.9 - number / 10,
                 "share": 0.2, "has_label": number % 2 == 0, "labels": ["Rivers", "Maps"]}
                for number in range(7)
            ]
        route.fulfill(response=answer, json=body)

    page.route("**/explain", with_neighbours)
    rank(page, model=models[0])
    first = rows(page, models[0]).first
    first.locator(".name").click()
    expect(first.get_by_role("heading", name="Similar training documents")).to_be_visible()
    expect(first.locator(".neighbours li")).to_have_count(5)
    expect(first.locator(".neighbours li").first).to_contain_text("similarity 0.900")
    first.get_by_role("button", name="Show 2 more documents").click()
    expect(first.locator(".neighbours li")).to_have_count(7)


def test_two_models_stand_side_by_side(page, models):
    rank(page, model=models[0], other=models[1])
    for model in models[:2]:
        expect(rows(page, model)).to_have_count(10)
    first, second = (page.get_by_role("region", name=model, exact=True).bounding_box() for model in models[:2])
    assert first["y"] == second["y"] and first["x"] + first["width"] <= second["x"]
    places = {row.get_attribute("data-key"): place for place, row in enumerate(rows(page, models[1]).all(), 1)}
    for row in rows(page, models[0]).all():
        place = places.get(row.get_attribute("data-key"))
        expected = f"{models[1]}: {place}" if place else f"{models[1]}: not in the first 10"
        expect(row.locator(".other")).to_have_text(expected)


def test_long_texts_are_marked_too(page, models):
    words = " ".join(f"tides{number} rivers" for number in range(50_000))
    rank(page, text=words, model=models[0])
    first = rows(page, models[0]).first
    first.locator(".name").click()
    expect(first.locator("mark")).to_have_count(50_000, timeout=30_000)
    assert first.locator(".text").evaluate("(one) => one.textContent") == words
    assert first.locator("tbody tr").count() <= 8


def test_feedback_is_stored(page, models, lines):
    rank(page, model=models[0])
    ranking = rows(page, models[0])
    expect(ranking).to_have_count(10)
    keys = [row.get_attribute("data-key") for row in ranking.all()]
    send = page.get_by_role("button", name="Send feedback")
    expect(send).to_be_disabled()
    ranking.nth(0).locator(".right").click()
    ranking.nth(1).locator(".wrong").click()
    ranking.nth(2).locator(".wrong").click()
    ranking.nth(2).locator(".wrong").click()
    page.get_by_label("Missing label", exact=True).fill("mus")
    found = page.get_by_role("list", name="Labels found").get_by_role("button")
    expect(found.first).to_contain_text(re.compile("mus", re.I))
    missing = found.first.locator("span").first.inner_text()
    found.first.click()
    expect(page.get_by_role("list", name="Missing labels")).to_contain_text(missing)
    send.click()
    expect(page.get_by_text("Stored, with 2 labels for the next training.")).to_be_visible()
    (line,) = lines()
    assert line["text"] == TEXT and line["model"] == models[0]
    assert (line["right"], line["wrong"]) == ([keys[0]], [keys[1]])
    assert len(line["missing"]) == 1 and line["labels"] == [keys[0], *line["missing"]]
    assert [shown["key"] for shown in line["predictions"]] == keys


def test_a_label_that_no_model_knows_can_be_missing(page, models, lines):
    rank(page, model=models[0])
    page.get_by_label("Missing label", exact=True).fill("Zeppelin cuisine")
    page.get_by_role("button", name="Zeppelin cuisine Add as a new label").click()
    page.get_by_role("button", name="Remove Zeppelin cuisine").click()
    expect(page.get_by_role("button", name="Send feedback")).to_be_disabled()
    page.get_by_label("Missing label", exact=True).fill("Zeppelin cuisine")
    page.get_by_role("button", name="Zeppelin cuisine Add as a new label").click()
    page.get_by_role("button", name="Send feedback").click()
    expect(page.get_by_text("Stored, with 1 label for the next training.")).to_be_visible()
    assert lines()[0]["missing"] == ["Zeppelin cuisine"]


def test_a_million_labels_are_never_loaded(page, models):
    queries = []

    def a_million(route):
        query = dict(part.split("=") for part in route.request.url.split("?")[1].split("&"))
        queries.append(query)
        offset, limit = int(query["offset"]), int(query["limit"])
        labels = [{"label_id": number, "key": f"K{number}", "label": f"Label {number}", "train_count": 1}
                  for number in range(offset, offset + limit)]
        route.fulfill(json={"total": 1_000_000, "offset": offset, "labels": labels})

    page.route("**/labels?*", a_million)
    rank(page, model=models[0])
    expect(rows(page, models[0])).to_have_count(10)
    assert queries == []
    page.get_by_label("Missing label", exact=True).press_sequentially("label", delay=10)
    found = page.get_by_role("list", name="Labels found").get_by_role("button")
    expect(found).to_have_count(10)
    expect(page.get_by_text("1,000,000 labels found.")).to_be_visible()
    page.get_by_role("button", name="More (10 of 1,000,000)").click()
    expect(found).to_have_count(20)
    expect(found.nth(10)).to_be_focused()
    assert [(query["q"], query["offset"]) for query in queries] == [("label", "0"), ("label", "10")]
    assert all(int(query["limit"]) <= 20 for query in queries)


def test_the_keyboard_is_enough(page, models, lines):
    expect(page.get_by_role("button", name="Rank labels")).to_be_enabled()
    press = page.keyboard.press
    while page.evaluate("document.activeElement.id") != "text":
        press("Tab")
    page.keyboard.type(TEXT)
    press("Control+Enter")
    expect(rows(page, models[0])).to_have_count(10)
    for _ in range(20):
        press("Tab")
        if page.evaluate("document.activeElement.matches('.name')"):
            break
    press("ArrowDown")
    second = rows(page, models[0]).nth(1)
    expect(second.locator(".name")).to_be_focused()
    press("Enter")
    expect(second.locator(".text")).to_be_visible()
    press("Escape")
    expect(second.locator(".details")).to_be_hidden()
    press("r")
    expect(second.locator(".right")).to_have_attribute("aria-pressed", "true")
    for _ in range(60):
        press("Tab")
        if page.evaluate("document.activeElement.type") == "search":
            break
    page.keyboard.type("mus")
    expect(page.get_by_text(re.compile("labels found"))).to_be_visible()
    press("ArrowDown")
    press("ArrowDown")
    press("Enter")
    expect(page.get_by_role("list", name="Missing labels").get_by_role("listitem")).to_have_count(1)
    expect(page.get_by_label("Missing label", exact=True)).to_be_focused()
    while page.evaluate("document.activeElement.textContent") != "Send feedback":
        press("Tab")
    press("Enter")
    expect(page.get_by_text("Stored, with 2 labels for the next training.")).to_be_visible()
    assert lines()[0]["right"] == [second.get_attribute("data-key")]


def test_a_phone_shows_everything_without_scrolling_sideways(open_page, address, models):
    page = open_page(address, viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    assert is_within_window(page)

    def with_long_name(route):
        answer = route.fetch()
        body = answer.json()
        body["results"][0]["predictions"][1]["label"] = LONG_WORD
        route.fulfill(response=answer, json=body)

    page.route("**/predict", with_long_name)
    rank(page, text=TEXT + " " + LONG_WORD, model=models[0], other=models[1])
    for model in models[:2]:
        expect(rows(page, model)).to_have_count(10)
        rows(page, model).first.locator(".name").tap()
        expect(rows(page, model).first.locator(".text")).to_be_visible()
    page.get_by_label("Missing label", exact=True).first.fill("a")
    expect(page.get_by_text(re.compile("labels found")).first).to_be_visible()
    assert is_within_window(page)
    first, second = (page.get_by_role("region", name=model, exact=True).bounding_box() for model in models[:2])
    assert second["y"] >= first["y"] + first["height"]
    sizes = [button.bounding_box() for button in page.locator(".verdict").all()[:4]]
    assert all(min(size["width"], size["height"]) >= 40 for size in sizes)


def test_dark_mode_is_dark(open_page, address):
    background = "getComputedStyle(document.body).backgroundColor"
    dark = open_page(address, color_scheme="dark")
    assert dark.evaluate(background) == "rgb(20, 23, 27)"
    light = open_page(address, color_scheme="light")
    assert light.evaluate(background) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_no_serious_fault(open_page, address, models, scheme, width):
    page = open_page(address, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page.add_script_tag(path=served.AXE)
    assert serious_faults(page) == []
    rank(page, model=models[0], other=models[1])
    for model in models[:2]:
        rows(page, model).first.locator(".name").click()
        expect(rows(page, model).first.locator(".text")).to_be_visible()
        rows(page, model).nth(1).locator(".right").click()
        rows(page, model).nth(2).locator(".wrong").click()
    page.get_by_label("Missing label", exact=True).first.fill("mus")
    expect(page.get_by_text(re.compile("labels found")).first).to_be_visible()
    assert serious_faults(page) == []


def serious_faults(page):
    violations = page.evaluate("axe.run()")["violations"]
    return [(fault["id"], [node["html"] for node in fault["nodes"]])
            for fault in violations if fault["impact"] in ("serious", "critical")]


def test_a_file_can_be_opened_and_dropped(page):
    text = page.get_by_label("Text", exact=True)
    page.locator("#file").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": "Ærø and tides".encode()})
    expect(text).to_have_value("Ærø and tides")
    page.locator("#file").set_input_files({"name": "b.txt", "mimeType": "text/plain", "buffer": b"\xff\xfe\x00"})
    expect(page.get_by_role("alert")).to_have_text("b.txt: expected a text in UTF-8.")
    expect(text).to_have_value("Ærø and tides")
    page.evaluate("""() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["Dropped harbours"], "c.txt", { type: "text/plain" }));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }""")
    expect(text).to_have_value("Dropped harbours")


def test_no_text_is_said_to_be_missing(page):
    page.get_by_role("button", name="Rank labels").click()
    expect(page.get_by_role("alert")).to_have_text("There is no text yet.")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()


def test_a_problem_is_told_in_the_words_of_the_server(open_page, address, models):
    page = open_page(address, expected=["422"])
    broken = lambda route: answer_problem(route, 422, "documents: expected <b>less</b>")
    page.route("**/predict", broken)
    rank(page, model=models[0])
    expect(page.get_by_text("documents: expected <b>less</b>")).to_be_visible()
    page.unroute("**/predict", broken)
    page.get_by_role("button", name="Try again").click()
    expect(rows(page, models[0])).to_have_count(10)


def test_a_model_that_cannot_explain_says_so(open_page, address, models):
    page = open_page(address, expected=["422"])
    page.route("**/explain", lambda route: answer_problem(route, 422, "this system cannot explain"))
    rank(page, model=models[0])
    first = rows(page, models[0]).first
    first.locator(".name").click()
    expect(first.get_by_role("alert")).to_have_text("this system cannot explain")
    expect(first.get_by_text("training document", exact=False)).to_be_visible()


def test_a_busy_server_is_asked_again(open_page, address, models):
    page = open_page(address, expected=["429"])
    tries = []

    def busy_at_first(route):
        tries.append(route.request)
        if len(tries) == 1:
            answer_problem(route, 429, "too many documents wait", {"retry-after": "1"})
        else:
            route.continue_()

    page.route("**/predict", busy_at_first)
    rank(page, model=models[0])
    expect(page.get_by_text("The server is busy; trying again in 1 s…")).to_be_visible()
    expect(rows(page, models[0])).to_have_count(10)
    assert len(tries) == 2


def test_a_server_that_has_gone_is_told(open_page, address, models):
    page = open_page(address, expected=["Failed to load resource"])
    page.route("**/predict", lambda route: route.abort())
    rank(page, model=models[0])
    expect(page.get_by_text("The server cannot be reached.")).to_be_visible()


def test_the_key_is_asked_for_where_the_server_wants_one(open_page, models):
    with served.served("--api-key", "sesame") as address:
        page = open_page(address, expected=["401"])
        key = page.get_by_label("This server asks for a key")
        expect(key).to_be_focused()
        key.fill("wrong")
        key.press("Enter")
        expect(page.get_by_text("The server did not accept this key.")).to_be_visible()
        key.fill("sesame")
        page.get_by_role("button", name="Use key").click()
        expect(key).to_be_hidden()
        rank(page, model=models[0])
        expect(rows(page, models[0])).to_have_count(10)
        # This server keeps no feedback, so that none is asked for.
        expect(page.get_by_role("button", name="Send feedback")).to_have_count(0)


def test_nothing_but_the_page_may_run(page, address):
    answer = page.goto(address + "/")
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    source = answer.text()
    assert " style=" not in source and "<style" not in source and not re.search(r"<script(?![^>]*src=)", source)
