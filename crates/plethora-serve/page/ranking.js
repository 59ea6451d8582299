// The labels that one model gives to a text.

import { ask, isAborted, modelPath } from "./api.js";
import { element, freshId, plural, score, whole, withShare } from "./dom.js";
import { explain } from "./explanation.js";
import { Feedback } from "./feedback.js";

/** A column of the page. `request` has what `predict` takes besides the documents. */
export class Ranking {
  constructor(model, text, request, signal) {
    Object.assign(this, { model, text, request, signal, predictions: [], isShown: false });
    const title = freshId("ranking");
    this.state = element("div", { class: "state", role: "status" });
    this.list = element("ol", { class: "labels", keydown: (event) => this.onKey(event) });
    this.foot = element("div");
    this.element = element("section", { class: "ranking", "aria-labelledby": title },
      element("h2", { id: title }, model.id),
      element("p", { class: "note" }, describe(model)),
      model.error ? element("p", { class: "problem" }, `A newer version cannot be opened: ${model.error}`) : null,
      this.state, this.list, this.foot);
  }

  /** Asks the model; true if it answered. */
  async load() {
    this.setState(element("p", { class: "note loading" }, "Ranking…"), true);
    const onWait = (seconds) =>
      this.setState(element("p", { class: "note loading" }, `The server is busy; trying again in ${seconds} s…`), true);
    const body = { ...this.request, documents: [this.text] };
    try {
      const { results } = await ask(modelPath(this.model.id, "predict"), { body, signal: this.signal, onWait });
      this.show(results[0].predictions);
      return true;
    } catch (error) {
      if (!isAborted(error)) this.showProblem(error);
      return false;
    }
  }

  /** Says beside each label where another ranking has it. */
  compare(other) {
    const places = new Map(other.predictions.map(({ key }, index) => [key, index + 1]));
    for (const row of this.list.children) {
      const place = places.get(row.dataset.key);
      const note = place ? `${other.model.id}: ${whole(place)}` : `${other.model.id}: not in the first ${whole(places.size)}`;
      row.querySelector(".other").textContent = note;
      row.classList.toggle("alone", !place);
    }
  }

  setState(content, isBusy = false) {
    this.element.setAttribute("aria-busy", String(isBusy));
    this.state.replaceChildren(content);
  }

  showProblem(error) {
    const again = element("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => this.element.dispatchEvent(new CustomEvent("again", { bubbles: true })));
    this.setState(element("div", { class: "problem" }, element("p", {}, error.message), again));
  }

  show(predictions) {
    this.predictions = predictions;
    this.isShown = true;
    this.feedback = this.model.takes_feedback ? new Feedback(this.model, this.text, predictions) : null;
    this.list.replaceChildren(...predictions.map((prediction) => this.row(prediction)));
    this.foot.replaceChildren(...(this.feedback ? [this.feedback.element] : []));
    const found = predictions.length > 0 ? plural(predictions.length, "label") : "No label has such a score.";
    this.setState(element("p", { class: predictions.length > 0 ? "hidden" : "note" }, found));
  }

  row(prediction) {
    const panel = element("div", { class: "details", id: freshId("details"), hidden: true });
    const name = element("button", { type: "button", class: "name", "aria-expanded": "false", "aria-controls": panel.id },
      element("span", { dir: "auto" }, prediction.label));
    name.addEventListener("click", () => this.toggle(name, panel, prediction));
    return element("li", { "data-key": prediction.key },
      element("div", { class: "row" }, name,
        element("span", { class: "score" }, score(prediction.score)),
        this.feedback?.verdictButtons(prediction)),
      element("div", { class: "bar", "aria-hidden": "true" },
        withShare(element("div", { class: "fill" }), prediction.score)),
      element("span", { class: "other note" }),
      panel);
  }

  toggle(name, panel, prediction) {
    const isOpen = panel.hidden;
    panel.hidden = !isOpen;
    name.setAttribute("aria-expanded", String(isOpen));
    const isExplained = panel.hasChildNodes() && !panel.querySelector(".problem");
    if (isOpen && !isExplained) explain(panel, this.model.id, prediction, this.text);
  }

  /** Arrows go from label to label; a letter judges; Escape closes. */
  onKey(event) {
    const row = event.target.closest("li[data-key]");
    if (!row || event.ctrlKey || event.altKey || event.metaKey) return;
    const isName = event.target.matches(".name");
    const rows = [...this.list.children];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const verdict = { r: "right", w: "wrong" }[event.key.toLowerCase()];
    if (isName && step) {
      rows[rows.indexOf(row) + step]?.querySelector(".name").focus();
    } else if (isName && verdict && this.feedback) {
      row.querySelector(`button.${verdict}`).click();
    } else if (event.key === "Escape" && !row.querySelector(".details").hidden) {
      row.querySelector(".name").click();
      row.querySelector(".name").focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}

function describe(model) {
  const scores = model.is_calibrated ? "scores are probabilities" : "scores are not calibrated";
  return [model.system, plural(model.n_labels, "label"), plural(model.n_documents, "training document"), scores].join(" · ");
}
