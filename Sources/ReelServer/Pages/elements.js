// Elements of a page. Data reaches them as text nodes and attributes only.

const SVG = "http://www.w3.org/2000/svg";
export const byID = (id) => document.getElementById(id);

/** Fills an element: attributes by name, handlers as `onclick`, children as nodes or texts; null and false are skipped. */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}
/** Replaces what an element has. */
export function refill(element, ...children) {
  element.replaceChildren();
  return fill(element, null, children);
}
const isAttributes = (value) => value?.constructor === Object;
const make = (element, content) =>
  isAttributes(content[0]) ? fill(element, content[0], content.slice(1)) : fill(element, null, content);
/** An element from "p.hint.small", its attributes if there are any, and what it has. */
export function h(kind, ...content) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  return make(element, content);
}
export const svg = (tag, ...content) => make(document.createElementNS(SVG, tag), content);

/** Sets a text only if it differs, so that selections and screen readers are not disturbed. */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
/** The same for an attribute; null removes it. */
export function mark(element, name, value) {
  if (value == null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
}
/** Text in which characters that act instead of being shown are replaced by their codes, as the command line does. */
export const legible = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
  "\n\t\u200c\u200d".includes(character) ? character
    : `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`);
/** Such a text of unknown direction, kept apart from what surrounds it. */
export const bdi = (text) => h("bdi", legible(text));
export const button = (text, act, kind, more) =>
  h("button", { type: "button", class: kind, onclick: act, ...more }, text);
export const pairs = (rows) =>
  h("dl.pairs", rows.filter(([, value]) => value != null && value !== "" && value !== false)
    .map(([name, value]) => [h("dt", name), h("dd", typeof value === "string" ? bdi(value) : value)]));
/** The head of a table; `numbers` are the places of columns with numbers. */
export const tableHead = (names, numbers = []) => h("thead", h("tr", names.map((name, index) =>
  h("th", { scope: "col", class: numbers.includes(index) && "num" }, name))));
/** A code that never changes, beside the words that may. */
export const codeOf = (code) => code && [" ", h("code.muted.small", code)];
export const pageHead = (title, ...children) => h("div.head", h("h1", title), children);
export const panel = (title, ...children) => h("section.panel", h("h2", title), children);
