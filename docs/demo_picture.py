"""Draws docs/demo.svg from what the demo prints: `target/release/plethora demo -q | python3 docs/demo_picture.py`.

Needs the package rich. The fonts that rich would load from the network are left out.
"""

import io
import pathlib
import re
import sys

from rich.console import Console
from rich.text import Text

console = Console(record=True, width=112, file=io.StringIO())
console.print(Text("$ cargo xtask demo", style="bold"))
console.print(Text.from_ansi(sys.stdin.read()))
svg = console.export_svg(title="plethora")
svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
# Without it some viewers drop the spaces that columns stand on.
svg = svg.replace("<text ", '<text xml:space="preserve" ')
pathlib.Path(__file__).with_name("demo.svg").write_text(svg)
