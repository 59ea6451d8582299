"""Results that notebooks show as tables and marked texts. All of them are plain dictionaries, too."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence

# Terms and trials shown; all are in the dictionaries.
_SHOWN = 10


class Metrics(dict[str, Any]):
    """Metrics by their names."""

    def _repr_html_(self) -> str:
        depths = [f"@{k}" for k in self["k"]]
        names = list(dict.fromkeys(key.partition("@")[0] for key in self if "@" in key))
        rows = [[name, *(_percent(self.get(name + depth)) for depth in depths)] for name in names]
        plain = ("MRR", "microF1", "macroF1", "docF1")
        rows += [[name, _percent(self.get(name))] for name in plain if name in self]
        return _table(["percent", *depths], rows)


class Explanation(dict[str, Any]):
    """Why a label has its score for a text."""

    def __init__(self, found: Mapping[str, Any], text: str) -> None:
        super().__init__(found)
        self.text = text

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {weight:+.3f}" for name, weight in self._strongest())
        return f"<Explanation of {self['label']!r}, score {self['score']:.3f}: {shown}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Explanation, (dict(self), self.text)

    def _repr_html_(self) -> str:
        title = f"<b>{escape(self['name'])}</b> {self['score']:.3f} ({escape(self['method'])})"
        parts = [f"<div>{title}</div>", f"<p>{self._marked()}</p>"]
        if self["neighbours"]:
            rows = [
                [near["title"], f"{near['similarity']:.3f}", ", ".join(near["labels"])]
                for near in self["neighbours"][:_SHOWN]
            ]
            parts.append(_table(["similar document", "similarity", "labels"], rows))
        else:
            rows = [[name, f"{weight:+.3f}"] for name, weight in self._strongest()]
            parts.append(_table(["", "weight"], rows))
        return "".join(parts)

    def _strongest(self) -> list[tuple[str, float]]:
        found = self["terms"] or self["spans"]
        pairs = [(entry.get("term", entry.get("text", "")), entry["weight"]) for entry in found]
        return sorted(pairs, key=lambda pair: -abs(pair[1]))[:_SHOWN]

    def _marked(self) -> str:
        """The text with its weighted places in colours: green for the label, red against it."""
        weights = [0.0] * len(self.text)
        for span in self["spans"]:
            for place in range(span["start"], span["end"]):
                weights[place] += span["weight"]
        largest = max(map(abs, weights), default=0.0) or 1.0
        parts, start = [], 0
        for end in range(1, len(self.text) + 1):
            if end < len(self.text) and weights[end] == weights[start]:
                continue
            piece, weight = escape(self.text[start:end]), weights[start]
            if weight:
                colour = "46,160,67" if weight > 0 else "218,54,51"
                style = f"background:rgba({colour},{abs(weight) / largest * 0.6:.2f})"
                piece = f'<span style="{style}" title="{weight:+.4f}">{piece}</span>'
            parts.append(piece)
            start = end
        return "".join(parts).replace("\n", "<br>")


class Report(dict[str, Any]):
    """A comparison of models, which is in a folder, too."""

    def __init__(self, found: Mapping[str, Any], folder: str) -> None:
        super().__init__(found)
        self.folder = Path(folder)

    def __repr__(self) -> str:
        names = ", ".join(model["name"] for model in self["models"])
        return f"<Report: {names} on {self['data']['n_docs']:,} documents, in {self.folder}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (dict(self), str(self.folder))

    def _repr_html_(self) -> str:
        page = self.folder / "report.html"
        if not page.is_file():
            return f"<div>{escape(repr(self))}</div>"
        content = escape(page.read_text(encoding="utf-8"), quote=True)
        style = "width:100%;height:40em;border:1px solid #8888"
        return f'<iframe srcdoc="{content}" style="{style}" title="report"></iframe>'


class Search(dict[str, Any]):
    """Settings that were tried."""

    def __repr__(self) -> str:
        best = self["best"]["metrics"] if self.get("best") else {}
        name = self.get("metric", "")
        shown = f", best {name} {best[name]:.4f}" if name in best else ""
        return f"<Search: {self['system']}, {len(self['trials'])} trials{shown}>"

    def _repr_html_(self) -> str:
        name = self.get("metric", "")
        trials = [trial for trial in self["trials"] if name in trial.get("metrics", {})]
        trials.sort(key=lambda trial: -float(trial["metrics"][name]))
        rows = [
            [_percent(trial["metrics"][name]), _settings(trial.get("settings", {}))]
            for trial in trials[:_SHOWN]
        ]
        return f"<div>{escape(repr(self))}</div>" + _table([name, "settings"], rows)


class Check(dict[str, Any]):
    """What is in a corpus, and what training will cost."""

    def __repr__(self) -> str:
        data = self["data"]
        return f"<Check: {data['n_documents']:,} documents, {data['n_labels']:,} labels>"

    def _repr_html_(self) -> str:
        rows = [
            [row["system"], f"{row['cpu_seconds']:,.1f}", f"{row['peak_memory_bytes'] / 2**20:,.0f}"]
            for row in self["estimates"]
        ]
        head = ["system", "CPU seconds", "MiB of memory"]
        return f"<div>{escape(repr(self))}</div>" + _table(head, rows)


def classifier_html(
    title: str, details: Mapping[str, Any] | None, folder: str | None, is_calibrated: bool
) -> str:
    """A classifier with the sizes of its model."""
    head = f"<div><code>{escape(title)}</code></div>"
    if details is None:
        return head + "<div>not fitted</div>"
    rows = [
        ["labels", f"{details['n_labels']:,}"],
        ["training documents", f"{details['n_documents']:,}"],
        ["calibrated", "yes" if is_calibrated else "no"],
        ["folder", folder or "temporary; save() keeps it"],
    ]
    return head + _table([details["system"], ""], rows)


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in settings.items())


def _percent(value: Any) -> str:
    return f"{100 * value:.2f}" if isinstance(value, float) else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
