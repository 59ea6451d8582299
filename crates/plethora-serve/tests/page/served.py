"""A server with models and a browser that looks at its page, for the tests and for the pictures.

Everything is said by the environment:

    PLETHORA         the program; target/debug/plethora if not given
    PLETHORA_MODELS  two model folders or more, with spaces between; needed
    CHROMIUM         the browser; chromium on the path if not given
    PLETHORA_PAGE    a folder that the files of the page are taken from, instead of those in the program, so that
                     the page can be worked on without compiling
"""

import os
import shutil
import subprocess
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
PROGRAM = os.environ.get("PLETHORA", str(ROOT / "target/debug/plethora"))
MODELS = os.environ.get("PLETHORA_MODELS", "").split()
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
# The package brings axe-core; nothing else of it is used.
AXE = str(files("axe_playwright_python") / "axe.min.js")
PAGE = os.environ.get("PLETHORA_PAGE")

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@contextmanager
def served(*options, models=None):
    """The address of a server."""
    command = [PROGRAM, "serve", *(models or MODELS), "--port", "0", "--threads", "1", "--quiet", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        assert address.startswith("http"), f"the server did not start: {command}"
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


@contextmanager
def browser(playwright):
    launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    try:
        yield launched
    finally:
        launched.close()


def page_from_folder(context, address):
    """Answers for the files of the page where a folder is named for them."""
    if not PAGE:
        return

    def answer(route):
        name = route.request.url.removeprefix(address).removeprefix("/page").strip("/") or "index.html"
        path = Path(PAGE, name)
        headers = {"content-type": TYPES[path.suffix], "content-security-policy": "default-src 'self'"}
        route.fulfill(body=path.read_bytes(), headers=headers)

    context.route(address + "/", answer)
    context.route(address + "/page/*", answer)
