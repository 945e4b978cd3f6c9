// Parts that several pages are made of.

import { button, byID, h, panel, put, refill, svg } from "./elements.js";

const cross = "M4 4l8 8M12 4l-8 8";
const bars = "M5.5 3.5v9M10.5 3.5v9";
const ring = "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z";
const shapes = {
  done: "M3 8.5 6.5 12 13 4.5", running: "M12 3.5v9L4.5 8z", assembling: "M2.5 5h4v6h-4zM9.5 5h4v6h-4zM6.5 8h3",
  probing: "M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM10 10l3.5 3.5", retrying: "M12.5 6A5 5 0 1 0 13 9M13 2.5V6H9.5",
  failed: cross, exhausted: cross, gone: cross, paused: bars, drained: bars, draining: bars,
  waiting: `${ring}M8 5v3l2 1.5`, cancelled: `${ring}M4.2 4.2l7.6 7.6`,
};
/** A state's shape, with its word or another. */
export function badge(state, word = state) {
  const element = h("span.state");
  setBadge(element, state, word);
  return element;
}
export function setBadge(element, state, word = state) {
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.replaceChildren(
    svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: shapes[state] ?? shapes.waiting })),
    String(word));
}

/** Says what has happened, to screen readers too. */
export function say(text) {
  const toast = h("div.toast", text);
  byID("toasts").append(toast);
  setTimeout(() => toast.remove(), 6000);
}

/** Asks before something that cannot be undone. Resolves to what `read` returns, or null. */
export function dialog(title, children, action, kind, read = () => true) {
  return new Promise((resolve) => {
    const form = h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), children,
      h("div.bar", button("Back", () => box.close()),
        h("button", { class: `primary ${kind ?? ""}`, value: "yes" }, action)));
    const box = h("dialog", { "aria-labelledby": "dialog-title" }, form);
    let result = null;
    form.addEventListener("submit", (event) => {
      result = read(form);
      if (result == null) event.preventDefault();
    });
    box.addEventListener("close", () => { box.remove(); resolve(result); });
    document.body.append(box);
    box.showModal();
  });
}

/** A text that can be copied as a whole. */
export function copyable(title) {
  const code = h("code");
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      say("Copied.");
    } catch {
      // Over plain HTTP browsers give pages no clipboard: the text is selected instead.
      getSelection().selectAllChildren(code);
    }
  }, "quiet", { "aria-label": `Copy: ${title}` });
  const element = h("div.copyable", h("div.bar.spread", h("h3", title), copy), h("pre", { tabindex: 0, "aria-label": title }, code));
  return { element, show: (text) => put(code, text) };
}

/** A panel that is drawn again only if what it shows has changed; opened details stay open. */
export class Section {
  text = null;
  content = h("div");
  constructor(title, render) {
    this.render = render;
    this.element = panel(title, this.content);
    this.element.hidden = true;
  }
  update(value) {
    const text = JSON.stringify(value);
    if (text === this.text) return;
    this.text = text;
    const opened = new Set([...this.content.querySelectorAll("details[open]")].map((details) => details.dataset.key));
    const focused = this.content.contains(document.activeElement)
      ? document.activeElement.closest("[data-key]")?.dataset.key : null;
    const nodes = value == null ? null : this.render(value);
    this.element.hidden = nodes == null;
    refill(this.content, nodes);
    for (const details of this.content.querySelectorAll("details")) {
      if (opened.has(details.dataset.key)) details.open = true;
    }
    if (focused != null) this.content.querySelector(`details[data-key="${CSS.escape(focused)}"] > summary`)?.focus();
  }
}
/** Named values with a note each. They change each second: the elements stay, so that a selection survives. */
export class Facts {
  constructor(kind) { this.element = h("dl", { class: `${kind} figure` }); }
  /** Shows rows of a name, a text or a time element, and a note. */
  update(rows) {
    const names = rows.map(([name]) => name).join();
    if (names !== this.names) {
      this.names = names;
      refill(this.element, rows.map(([name]) => h("div", h("dt", name), h("dd", h("span"), h("small")))));
    }
    rows.forEach(([, value, note], index) => {
      const [shown, small] = this.element.children[index].lastChild.children;
      if (typeof value === "string") put(shown, value);
      else if (shown.firstChild?.dataset?.at !== value.dataset.at) shown.replaceChildren(value);
      put(small, note);
    });
  }
}
