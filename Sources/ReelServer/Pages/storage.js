// What the browser keeps. It may be turned off: then nothing is kept, and nothing found.

/** What `localStorage` or `sessionStorage` has under a key. */
export function stored(kind, key) {
  try { return window[kind].getItem(key); } catch { return null; }
}
/** Keeps a text; null forgets what was kept. */
export function store(kind, key, text) {
  try {
    if (text == null) window[kind].removeItem(key);
    else window[kind].setItem(key, text);
  } catch { /* It is not kept. */ }
}
