"""Opens a report page in headless Chromium and checks what people will meet: no error on the console,
no request that leaves the machine, nothing wider than the window at 1280 and 400 pixels, under 3 MB.

Usage: python bench/report_page.py REPORT/report.html [--screenshots FOLDER] [--picture FILE] [--chromium PROGRAM]

--picture takes the one of the README: the top of the page.

It needs Python and Chromium alone (Debian: apt-get install chromium).
"""

import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTHS = (1280, 400)
MAX_BYTES = 3_000_000
HEIGHT = 1000
PICTURE = (1280, 1240)

# Tells the page around the frame how wide and high the report is, and how wide its widest part.
PROBE = """<script>
addEventListener("load", () => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  const root = document.documentElement;
  const small = [...document.querySelectorAll("svg text")].map((text) => text.getBoundingClientRect().height);
  parent.postMessage({ client: root.clientWidth, scroll: root.scrollWidth, height: root.scrollHeight,
    figures: document.querySelectorAll("figure svg").length, text: Math.min(...small) }, "*");
});
</script>"""

# The frame has the width to be tried, because windows of headless browsers have a least width.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><style>body { margin: 0; } iframe { border: 0; display: block; }</style>
<iframe src="page.html" width="WIDTH" height="HEIGHT"></iframe>
<pre id="answer"></pre>
<script>addEventListener("message", (event) => {
  document.getElementById("answer").textContent = JSON.stringify(event.data);
});</script>"""


def browse(chromium, page, *options):
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--disable-background-networking", "--no-first-run", "--enable-logging=stderr"]
    command += ["--virtual-time-budget=5000", *options, page.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=180)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return run.stdout, console


def outside_requests(log):
    """Addresses with a host that were asked for. Chromium itself asks Google's hosts when it starts, so
    these are left out, and a page that asked for one of them would not be noticed here; the check of
    the page's text in main() would."""
    events = json.loads(log.read_text())["events"]
    urls = {event.get("params", {}).get("url", "") for event in events}
    own = ("google.com", "googleapis.com", "gvt1.com", "google.")
    hosts = {url for url in urls if re.match(r"(https?|wss?|ftp):", url)}
    return sorted(url for url in hosts if not any(name in url for name in own))


def check_width(chromium, source, width, folder, screenshots):
    problems = []
    (folder / "page.html").write_text(source.replace("</body>", PROBE + "</body>"))
    frame = folder / f"frame-{width}.html"
    frame.write_text(FRAME.replace("WIDTH", str(width)).replace("HEIGHT", str(HEIGHT)))
    log = folder / f"net-{width}.json"
    dom, console = browse(chromium, frame, f"--log-net-log={log}", f"--window-size=1280,{HEIGHT}", "--dump-dom")
    problems += [f"{width} px: {line}" for line in console]
    answer = re.search(r'<pre id="answer">(\{.*?\})</pre>', dom)
    if not answer:
        return problems + [f"{width} px: the page did not load"]
    sizes = json.loads(html.unescape(answer.group(1)))
    if sizes["scroll"] > sizes["client"]:
        problems.append(f"{width} px: {sizes['scroll']} px wide")
    if sizes["figures"] and sizes["text"] < 9:
        problems.append(f"{width} px: text in pictures is {sizes['text']:.1f} px high")
    problems += [f"{width} px: asks for {url}" for url in outside_requests(log)]
    print(f"{width} px: {sizes}")
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
        height = min(sizes["height"], 16000)
        frame.write_text(FRAME.replace("WIDTH", str(width)).replace("HEIGHT", str(height)))
        for mode, more in (("light", []), ("dark", ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"])):
            target = screenshots / f"report-{width}-{mode}.png"
            size = f"--window-size={max(width, 500)},{height}"
            browse(chromium, frame, size, f"--screenshot={target}", *more)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--chromium", default=os.environ.get("CHROMIUM", "chromium"))
    arguments = parser.parse_args()
    source = arguments.page.read_text()
    problems = []
    if len(source.encode()) > MAX_BYTES:
        problems.append(f"{len(source.encode())} bytes")
    if "<script" in source or re.search(r"(src|href)=\"(?!#)", source):
        problems.append("it names something outside itself")
    with tempfile.TemporaryDirectory() as folder:
        for width in WIDTHS:
            problems += check_width(arguments.chromium, source, width, Path(folder), arguments.screenshots)
    if arguments.picture:
        size = "--window-size={},{}".format(*PICTURE)
        browse(arguments.chromium, arguments.page.resolve(), size, f"--screenshot={arguments.picture.resolve()}")
    for problem in problems:
        print(f"problem: {problem}")
    print("good" if not problems else "not good")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
