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
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
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

export const signed = (number) => (number > 0 ? "+" : "") + number.toFixed(3);
