// Finding a label among a million of them: the server looks, the page only ever has what it shows.

import { ask, isAborted, modelPath } from "./api.js";
import { element, freshId, plural, whole } from "./dom.js";

const PAGE = 10;
const TYPING_MS = 200;

/** A field with the labels that fit what is typed. */
export class LabelSearch {
  constructor(modelId, onChoice) {
    Object.assign(this, { modelId, onChoice, controller: null, timer: 0, shownFor: "" });
    const id = freshId("search");
    this.input = element("input", { id, type: "search", autocomplete: "off", maxlength: "200" });
    this.state = element("p", { class: "note", role: "status" });
    this.list = element("ul", { class: "found", "aria-label": "Labels found" });
    this.more = element("button", { type: "button", class: "quiet", hidden: true });
    this.element = element("div", { class: "search", keydown: (event) => this.onKey(event) },
      element("label", { for: id }, "Missing label"), this.input, this.state, this.list, this.more);
    this.input.addEventListener("input", () => this.onInput());
    this.more.addEventListener("click", () => this.load(this.list.children.length));
  }

  focus() {
    this.input.focus();
  }

  onInput() {
    clearTimeout(this.timer);
    this.controller?.abort();
    if (this.input.value.trim() === "") this.clear();
    else this.timer = setTimeout(() => this.load(0), TYPING_MS);
  }

  clear() {
    this.controller?.abort();
    this.list.replaceChildren();
    this.state.textContent = "";
    this.more.hidden = true;
  }

  async load(offset) {
    this.controller?.abort();
    const { signal } = (this.controller = new AbortController());
    const wanted = this.input.value.trim();
    const query = new URLSearchParams({ q: wanted, offset, limit: PAGE });
    this.state.textContent = "Searching…";
    try {
      const found = await ask(`${modelPath(this.modelId, "labels")}?${query}`, { signal });
      this.show(wanted, found);
    } catch (error) {
      if (!isAborted(error)) this.state.textContent = error.message;
    }
  }

  show(wanted, { total, offset, labels }) {
    this.shownFor = wanted;
    const items = labels.map((label) => this.item(label));
    if (offset === 0) this.list.replaceChildren(...items);
    else this.list.append(...items);
    const shown = offset + labels.length;
    this.state.textContent = total > 0 ? `${plural(total, "label")} found.` : "No label has such a name.";
    this.more.hidden = shown >= total;
    this.more.textContent = `More (${whole(shown)} of ${whole(total)})`;
    // The vocabulary may lack a label that the next training should learn.
    if (total === 0) this.list.append(this.item({ key: wanted, label: wanted }, "Add as a new label"));
    if (offset > 0) items[0]?.firstChild.focus();
  }

  item(label, note = describe(label)) {
    const button = element("button", { type: "button" }, element("span", { dir: "auto" }, label.label),
      element("span", { class: "note" }, note));
    button.addEventListener("click", () => {
      this.input.value = "";
      this.clear();
      this.focus();
      this.onChoice(label);
    });
    return element("li", {}, button);
  }

  /** Arrows go through the labels; Escape leaves them. */
  onKey(event) {
    const stops = [this.input, ...this.list.querySelectorAll("button")];
    if (!this.more.hidden) stops.push(this.more);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      stops[stops.indexOf(event.target) + step]?.focus();
    } else if (event.key === "Enter" && event.target === this.input) {
      // What is shown may still be for what was typed before.
      if (this.shownFor === this.input.value.trim()) this.list.querySelector("button")?.click();
    } else if (event.key === "Escape") {
      this.input.value = "";
      this.clear();
      this.focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}

const describe = ({ key, label, train_count: count }) =>
  [key === label ? null : key, plural(count, "document")].filter(Boolean).join(" · ");
