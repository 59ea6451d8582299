// Why a label has its score: its words, its place among the other labels, similar documents.

import { ask, modelPath } from "./api.js";
import { element, largest, plural, score, signed, whole, withShare } from "./dom.js";
import { markedText } from "./marked_text.js";

const SHOWN_TERMS = 8;
const SHOWN_NEIGHBOURS = 5;
const SHOWN_NARROWER = 12;

/** Rows that a click adds: long texts have many thousands of terms. */
const MORE = 50;

/** Stands for the classifier's bias among the terms. */
const BIAS = "(bias)";

const MEANINGS = {
  contributions: "Blue words speak for the label, underlined orange ones against it.",
  neighbours: "The bluer a word, the more it makes the text resemble training documents with the label.",
  matches: "The bluer a place, the more it speaks for the label, as its name or as a phrase learnt for it.",
  gradient: "Blue words speak for the label, underlined orange ones against it, by the gradient of the network.",
  attention: "The bluer a place, the more the label attends to it.",
};

/** Fills a panel; each part comes when the server has it, and tells for itself what went wrong. */
export function explain(panel, modelId, prediction, text) {
  const words = element("div", {}, loading());
  const place = element("div", {}, loading());
  panel.replaceChildren(words, place);
  const request = { text, labels: [prediction.key] };
  const explained = ask(modelPath(modelId, "explain"), { body: request });
  const placed = ask(modelPath(modelId, "labels", prediction.label_id));
  return Promise.all([
    show(words, explained, ({ explanations }) => wordParts(explanations[0], text)),
    // Another version of the model may number its labels otherwise.
    show(place, placed, (found) => (found.key === prediction.key ? placeParts(found) : [])),
  ]);
}

const loading = () => element("p", { class: "note loading", role: "status" }, "Asking the model…");

async function show(part, request, parts) {
  try {
    part.replaceChildren(...parts(await request));
  } catch (error) {
    part.replaceChildren(element("p", { class: "problem", role: "alert" }, error.message));
  }
}

function wordParts(explanation, text) {
  const { method, member, spans, terms, neighbours = [], network_score: own } = explanation;
  const by = member ? ` Explained by ${member.name} (${member.system}).` : "";
  const before = own === undefined ? "" : ` The network's own score is ${score(own)}.`;
  const meaning = spans.length > 0 ? MEANINGS[method] || "" : "None of the words speaks for the label or against it.";
  return [
    element("h3", {}, "Words"),
    element("p", { class: "note" }, meaning + before + by),
    markedText(text, spans),
    ...(terms.length > 0 ? [termTable(terms)] : []),
    ...(neighbours.length > 0 ? neighbourParts(neighbours) : []),
  ];
}

function termTable(terms) {
  const words = terms.filter(({ term }) => term !== BIAS);
  const strongest = largest(words.map(({ contribution }) => Math.abs(contribution))) || 1;
  const row = ({ term, contribution }) => {
    const side = contribution < 0 ? "fill against" : "fill";
    const bar = withShare(element("div", { class: side }), Math.abs(contribution) / strongest);
    return element("tr", {},
      element("th", { scope: "row" }, term),
      element("td", { class: "number" }, signed(contribution)),
      // The bias is no word, and may be so strong that bars of words beside it would say nothing.
      element("td", { class: "wide" }, term === BIAS ? null : element("div", { class: "bar", "aria-hidden": "true" }, bar)));
  };
  const body = element("tbody", {}, terms.slice(0, SHOWN_TERMS).map(row));
  const head = element("thead", { class: "hidden" }, element("tr", {},
    ...["term", "adds", "bar"].map((name) => element("th", { scope: "col" }, name))));
  const table = element("table", {}, element("caption", { class: "hidden" }, "What the terms add"), head, body);
  return element("div", {}, table, moreButton(terms.slice(SHOWN_TERMS), row, body, "term"));
}

function neighbourParts(neighbours) {
  const item = ({ id, title, similarity, share, has_label: hasLabel, labels }) =>
    element("li", { class: hasLabel ? "voter" : "" },
      element("div", {}, title || id),
      withShare(element("div", { class: "bar", "aria-hidden": "true" }, element("div", { class: "fill" })), similarity),
      element("p", { class: "note" },
        `${title ? `${id} · ` : ""}similarity ${score(similarity)}`,
        share === undefined ? "" : `, share of the votes ${score(share)}`,
        ` · ${hasLabel ? "has the label" : "does not have the label"}`,
        labels.length > 0 ? ` · ${labels.join("; ")}` : ""));
  const list = element("ul", { class: "neighbours" }, neighbours.slice(0, SHOWN_NEIGHBOURS).map(item));
  return [element("h3", {}, "Similar training documents"), list,
    moreButton(neighbours.slice(SHOWN_NEIGHBOURS), item, list, "document")].filter(Boolean);
}

function placeParts({ label, key, alternatives = [], train_count: count, broader, narrower }) {
  const names = (labels) => labels.map((one) => one.label).join(" · ");
  const levels = [...broader].reverse().map(names);
  const own = element("strong", {}, label);
  const lines = levels.map((line) => element("li", {}, line));
  lines.push(element("li", { "aria-current": "true" }, own));
  if (narrower.length > 0) lines.push(narrowerLine(narrower));
  lines.forEach((line, depth) => line.style.setProperty("--depth", String(Math.min(depth, 6))));
  const facts = [key === label ? null : key, `in ${plural(count, "training document")}`,
    alternatives.length > 0 ? `also called ${alternatives.join("; ")}` : null];
  const note = element("p", { class: "note" }, facts.filter(Boolean).join(" · "));
  const isAlone = levels.length === 0 && narrower.length === 0;
  const tree = isAlone ? [] : [element("ul", { class: "levels" }, lines)];
  return [element("h3", {}, isAlone ? "Label" : "Place among the labels"), ...tree, note];
}

function narrowerLine(narrower) {
  const shown = narrower.slice(0, SHOWN_NARROWER).map((one) => one.label).join(" · ");
  const rest = narrower.length - SHOWN_NARROWER;
  return element("li", {}, rest > 0 ? `${shown} · and ${whole(rest)} more` : shown);
}

/** Shows the rest of a list, a part with each click. */
function moreButton(rest, item, list, noun) {
  if (rest.length === 0) return null;
  const count = Math.min(rest.length, MORE);
  const button = element("button", { type: "button", class: "quiet" }, `Show ${plural(count, `more ${noun}`)}`);
  button.addEventListener("click", () => {
    list.append(...rest.slice(0, count).map(item));
    const next = moreButton(rest.slice(count), item, list, noun);
    button.replaceWith(...(next ? [next] : []));
    // The button goes, so the keyboard needs another place to continue from.
    list.tabIndex = -1;
    (next || list).focus();
  });
  return button;
}
