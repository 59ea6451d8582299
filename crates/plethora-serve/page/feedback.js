// What people think of a ranking: right, wrong, missing. It goes to the server for the next training.

import { ask, modelPath } from "./api.js";
import { element, plural } from "./dom.js";
import { LabelSearch } from "./label_search.js";

/** The judgements of one text by one model. */
export class Feedback {
  constructor(model, text, predictions) {
    Object.assign(this, { model, text, predictions });
    this.verdicts = new Map();
    this.missing = new Map();
    this.chips = element("ul", { class: "chips", "aria-label": "Missing labels" });
    this.search = new LabelSearch(model.id, (label) => this.addMissing(label));
    this.state = element("p", { class: "note", role: "status" });
    this.send = element("button", { type: "button", class: "main", disabled: true }, "Send feedback");
    this.send.addEventListener("click", () => this.store());
    this.element = element("div", { class: "feedback", role: "group", "aria-label": `Feedback on ${model.id}` },
      element("h3", {}, "Feedback"), this.search.element, this.chips,
      element("div", { class: "line" }, this.send, this.state));
    this.tell();
  }

  /** Two buttons for a label; the one that is pressed twice takes its verdict back. */
  verdictButtons({ key, label }) {
    const button = (verdict, sign) => element("button", {
      type: "button", class: `verdict ${verdict}`, "aria-pressed": "false", "aria-label": `${label}: ${verdict}`, title: verdict,
    }, sign);
    const buttons = { right: button("right", "✓"), wrong: button("wrong", "✗") };
    for (const [verdict, pressed] of Object.entries(buttons)) {
      pressed.addEventListener("click", () => {
        if (this.verdicts.get(key) === verdict) this.verdicts.delete(key);
        else this.verdicts.set(key, verdict);
        for (const [name, one] of Object.entries(buttons)) {
          one.setAttribute("aria-pressed", String(this.verdicts.get(key) === name));
        }
        this.tell();
      });
    }
    return element("span", { class: "verdicts" }, buttons.right, buttons.wrong);
  }

  addMissing({ key, label }) {
    if (this.predictions.some((prediction) => prediction.key === key)) {
      this.state.textContent = `${label} is in the ranking; say that it is right.`;
      return;
    }
    if (this.missing.has(key)) return;
    const remove = element("button", { type: "button", "aria-label": `Remove ${label}` }, "×");
    const chip = element("li", {}, element("span", { dir: "auto" }, label), remove);
    remove.addEventListener("click", () => {
      this.missing.delete(key);
      chip.remove();
      this.search.focus();
      this.tell();
    });
    this.missing.set(key, label);
    this.chips.append(chip);
    this.tell();
  }

  tell() {
    const judged = this.verdicts.size + this.missing.size;
    this.send.disabled = judged === 0;
    this.state.textContent = judged > 0 ? `${plural(judged, "judgement")}, not sent yet.` : "Say what is right or wrong, or what is missing.";
  }

  async store() {
    const judged = (verdict) => [...this.verdicts].filter(([, said]) => said === verdict).map(([key]) => key);
    const body = {
      text: this.text,
      predictions: this.predictions.map(({ key, score }) => ({ key, score })),
      right: judged("right"),
      wrong: judged("wrong"),
      missing: [...this.missing.keys()],
    };
    this.send.disabled = true;
    this.state.textContent = "Sending…";
    try {
      const onWait = (seconds) => (this.state.textContent = `The server is busy; trying again in ${seconds} s…`);
      const { labels } = await ask(modelPath(this.model.id, "feedback"), { body, onWait });
      this.state.textContent = `Stored, with ${plural(labels.length, "label")} for the next training.`;
    } catch (error) {
      this.state.textContent = error.message;
      this.send.disabled = false;
    }
  }
}
