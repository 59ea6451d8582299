// Asking the server: with the key if it wants one, again where it is busy, and with its own words
// where something is wrong.

const MAX_TRIES = 4;
const MAX_WAIT_S = 10;

let key = "";
let askForKey = async () => "";
let asking = null;

/** What the server says is wrong. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** Sets who asks the user for the key; it is told whether a key was refused. */
export function onKeyNeeded(ask) {
  askForKey = ask;
}

/** Where something of a model is. */
export const modelPath = (id, ...parts) => ["/v1/models", ...[id, ...parts].map(encodeURIComponent)].join("/");

/**
 * Asks for JSON; with a body it is posted. `onWait` is told the seconds until the next try where the
 * server is busy.
 */
export async function ask(path, { body, signal, onWait } = {}) {
  for (let tries = 1; ; ) {
    const sent = key;
    const answer = await send(path, body, signal);
    const waitS = Number(answer.headers.get("retry-after"));
    const isBusy = (answer.status === 429 || answer.status === 503) && waitS > 0;
    if (answer.status === 401) {
      if (sent === key) await newKey();
    } else if (isBusy && tries < MAX_TRIES) {
      tries += 1;
      const seconds = Math.min(waitS, MAX_WAIT_S);
      onWait?.(seconds);
      await pause(seconds, signal);
    } else if (answer.ok) {
      return answer.json();
    } else {
      throw new Problem(answer.status, await detailOf(answer));
    }
  }
}

/** True if a request failed because nobody wants its answer any more. */
export const isAborted = (error) => error.name === "AbortError";

async function send(path, body, signal) {
  const headers = {};
  if (key) headers.authorization = `Bearer ${key}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  const method = body === undefined ? "GET" : "POST";
  try {
    return await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new Problem(0, "The server cannot be reached.");
  }
}

async function detailOf(answer) {
  try {
    const { detail, title } = await answer.json();
    return detail || title || `The server answered ${answer.status}.`;
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

/** One question for the key, however many requests wait for it. */
async function newKey() {
  asking ??= askForKey(key !== "").then((given) => {
    key = given;
    asking = null;
  });
  await asking;
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
