// Making elements, and writing numbers.

let lastId = 0;

/** An id that nothing else on the page has. */
export const freshId = (prefix) => `${prefix}-${(lastId += 1)}`;

/**
 * Makes an element. Functions among the attributes listen to events; true and false set or leave out
 * attributes; children are elements or texts, so that nothing from the server is ever read as HTML.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  // Before the attributes: an element with dir="auto" looks through all its text at each new child.
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) made.append(child);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  return made;
}

/** Sets how long a bar or how strong a colour is, from 0 to 1. */
export function withShare(made, share) {
  made.style.setProperty("--share", Math.min(Math.max(share, 0), 1).toFixed(4));
  return made;
}

export const whole = (number) => number.toLocaleString("en");

export const plural = (number, one, many = `${one}s`) => `${whole(number)} ${number === 1 ? one : many}`;

export const score = (number) => (number > 0 && number < 0.0005 ? "< 0.001" : number.toFixed(3));

export const signed = (number) => (number < 0 ? "−" : "+") + Math.abs(number).toFixed(3);

/** The largest of numbers from 0; long texts have more of them than a function takes arguments. */
export const largest = (numbers) => numbers.reduce((most, number) => Math.max(most, number), 0);
