// A text with the places marked that speak for a label or against it.

import { element, largest, signed, withShare } from "./dom.js";

/**
 * Cuts a text where spans begin and end. Spans count Unicode characters; weights add up where they
 * overlap, and are 0 where no span is.
 */
export function segments(text, spans) {
  const characters = Array.from(text);
  const changes = new Map([[0, [0, 0]]]);
  const change = (place, weight, count) => {
    const [sum, opened] = changes.get(place) || [0, 0];
    changes.set(place, [sum + weight, opened + count]);
  };
  for (const { start, end, weight } of spans) {
    change(start, weight, 1);
    change(end, -weight, -1);
  }
  const places = [...changes.keys()].sort((left, right) => left - right);
  let [weight, open] = [0, 0];
  return places.map((place, index) => {
    const [added, opened] = changes.get(place);
    open += opened;
    // Sums of additions and subtractions leave dust behind where all spans have ended.
    weight = open === 0 ? 0 : weight + added;
    return { text: characters.slice(place, places[index + 1]).join(""), weight };
  });
}

/** The marked text, which scrolls where it is long. */
export function markedText(text, spans) {
  const cut = segments(text, spans);
  const strongest = largest(cut.map(({ weight }) => Math.abs(weight)));
  const parts = cut.map(({ text: part, weight }) => {
    if (weight === 0) return part;
    const side = weight > 0 ? "for" : "against";
    return withShare(element("mark", { class: side, title: signed(weight) }, part), Math.abs(weight) / strongest);
  });
  return element("div", { class: "text", dir: "auto", tabindex: "0", role: "group", "aria-label": "Marked text" }, parts);
}
