// The server: its addresses and its API.

import { setClock } from "./time.js";

export const part = encodeURIComponent;
export const base = new URL(document.baseURI);
export const apiURL = (path) => new URL(`api/v1/${path}`, base);
export const jobPath = (id, rest = "") => `jobs/${part(id)}${rest}`;

/** The page's path below the base, without slashes at its ends. */
export function currentPath() {
  const path = location.pathname;
  return (path.startsWith(base.pathname) ? path.slice(base.pathname.length) : path).replace(/^\/+|\/+$/g, "");
}

/** Tells the navigation that the server does not know the caller any more. */
export const askToSignIn = () => dispatchEvent(new Event("sign-in-needed"));

/** Why a request was not answered as wished; status 0 if there was no answer. */
export class Problem extends Error {
  constructor(status, body = {}, retryAfter = null) {
    // Where the server keeps an upload is its own affair.
    super((body.detail || body.title || `the server answered ${status}`).replace(/\S*\/uploads\/[0-9a-f]{32}\/file\//g, ""));
    Object.assign(this, { status, code: body.code, title: body.title, pointer: body.pointer, retryAfter });
  }
}

/** Asks the API; the answer's JSON, or null if it has no body. Throws `Problem`, and `AbortError` after an abort. */
export async function ask(path, { method = "GET", body, signal } = {}) {
  let answer;
  try {
    answer = await fetch(apiURL(path), {
      method, signal, cache: "no-store", credentials: "same-origin",
      headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "No answer from the server." });
  }
  setClock(answer.headers.get("Date"));
  if (!answer.ok) throw await problemOf(answer, path);
  if (answer.status === 204) return null;
  try {
    return await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server's answer was cut off." });
  }
}
async function problemOf(answer, path) {
  const after = Number(answer.headers.get("Retry-After"));
  const body = await answer.json().catch(() => ({}));
  if (answer.status === 401 && path !== "session") askToSignIn();
  return new Problem(answer.status, body && typeof body === "object" ? body : {}, after > 0 ? after : null);
}

/** What an engine may have to make first: asked for again while the server says that it comes. Throws `Problem`, and
 *  `AbortError` after an abort. */
async function askMade(path, signal, method = "GET") {
  for (let turn = 0; ; turn++) {
    let answer;
    try {
      answer = await fetch(apiURL(path), { method, signal, credentials: "same-origin" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem(0, { detail: "No answer from the server." });
    }
    if (answer.ok) return answer;
    const problem = await problemOf(answer, path);
    if (problem.status !== 503 || turn === 30) throw problem;
    await pause(Math.min(problem.retryAfter ?? 2, 2) * 1000, signal);
  }
}
export const askPicture = async (path, signal) => createImageBitmap(await (await askMade(path, signal)).blob());
/** The address of a small copy of a job's source or output, which any browser plays. */
export async function askProxy(id, side, signal) {
  const path = jobPath(id, `/proxy/${side}.mp4`);
  await askMade(path, signal, "HEAD");
  return apiURL(path).href;
}
/** Waits; throws `AbortError` after an abort. */
export const pause = (time, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, time);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    reject(new DOMException("given up", "AbortError"));
  });
});
