// The page: a text, one or two models, their rankings side by side.

import { ask, onKeyNeeded } from "./api.js";
import { element } from "./dom.js";
import { Ranking } from "./ranking.js";

const MAX_FILE_BYTES = 10 * 1024 * 1024;

const byId = (id) => document.getElementById(id);
const form = byId("form");
const text = byId("text");
const state = byId("state");
const results = byId("results");
let models = [];
let running = new AbortController();

onKeyNeeded(askForKey);
form.addEventListener("submit", onSubmit);
text.addEventListener("input", () => showTextProblem(""));
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
byId("open-file").addEventListener("click", () => byId("file").click());
byId("file").addEventListener("change", (event) => readFile(event.target.files[0]));
takeDroppedFiles();
loadModels();

async function loadModels() {
  state.classList.add("loading");
  try {
    models = (await ask("/v1/models")).models;
    const options = () => models.map(({ id, system }) => element("option", { value: id }, id === system ? id : `${id} (${system})`));
    byId("model").replaceChildren(...options());
    byId("other").replaceChildren(element("option", { value: "" }, "no other model"), ...options());
    byId("other").disabled = models.length < 2;
    byId("rank").disabled = false;
    state.textContent = "";
  } catch (error) {
    const again = element("button", { type: "button", click: loadModels }, "Try again");
    state.replaceChildren(element("span", { class: "problem" }, error.message), " ", again);
  } finally {
    state.classList.remove("loading");
  }
}

function onSubmit(event) {
  event.preventDefault();
  if (text.value.trim() === "") {
    showTextProblem("There is no text yet.");
    text.focus();
    return;
  }
  running.abort();
  running = new AbortController();
  const ids = new Set([byId("model").value, byId("other").value]);
  const request = { top_k: Number(byId("top-k").value), threshold: Number(byId("threshold").value) };
  const chosen = [...ids].map((id) => models.find((model) => model.id === id)).filter(Boolean);
  const rankings = chosen.map((model) => new Ranking(model, text.value, request, running.signal));
  results.replaceChildren(...rankings.map((ranking) => ranking.element));
  for (const ranking of rankings) {
    const load = async () => {
      if (await ranking.load()) compareAll(rankings);
    };
    ranking.element.addEventListener("again", load);
    load();
  }
}

function compareAll(rankings) {
  const [first, second] = rankings;
  if (!second || !first.isShown || !second.isShown) return;
  first.compare(second);
  second.compare(first);
}

/** Shows the field for the key, and gives the key when the user has sent it. */
function askForKey(wasRefused) {
  const keyForm = byId("key-form");
  const key = byId("key");
  byId("key-note").textContent = wasRefused ? "The server did not accept this key." : "The key stays in this window.";
  keyForm.hidden = false;
  key.focus();
  return new Promise((resolve) => {
    const onKey = (event) => {
      event.preventDefault();
      keyForm.removeEventListener("submit", onKey);
      keyForm.hidden = true;
      text.focus();
      resolve(key.value);
    };
    keyForm.addEventListener("submit", onKey);
  });
}

function showTextProblem(message) {
  byId("text-problem").textContent = message;
  byId("text-problem").hidden = message === "";
  text.setAttribute("aria-invalid", String(message !== ""));
}

async function readFile(file) {
  byId("file").value = "";
  if (!file) return;
  if (file.size > MAX_FILE_BYTES) {
    showTextProblem(`${file.name}: expected a text of at most 10 MB.`);
    return;
  }
  try {
    text.value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    showTextProblem("");
    text.focus();
    text.setSelectionRange(0, 0);
  } catch {
    showTextProblem(`${file.name}: expected a text in UTF-8.`);
  }
}

/** A file that is dropped beside the field must not take the page away. */
function takeDroppedFiles() {
  const hasFile = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (isOver) => document.body.classList.toggle("dropping", isOver);
  addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(true);
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) mark(false);
  });
  addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(false);
    readFile(event.dataTransfer.files[0]);
  });
}
