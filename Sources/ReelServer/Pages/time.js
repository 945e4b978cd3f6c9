// Moments and ages, which are counted by the server's clock.

import { h, mark, put } from "./elements.js";
import { age } from "./words.js";

/** The server's clock minus this one, in seconds. */
let clockOffset = 0;
/** Sets the clock by the date of an answer, which has whole seconds: a small difference is none. */
export function setClock(date) {
  const time = Date.parse(date ?? "");
  if (time) clockOffset = Math.abs(time - Date.now()) > 2500 ? (time - Date.now()) / 1000 : 0;
}
const now = () => Date.now() / 1000 + clockOffset;
export const absolute = (moment) =>
  new Date(moment * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
/** How long ago a moment was; `refreshAges` keeps it right. */
export function ago(moment, suffix = "") {
  const element = h("time", { "data-at": moment, "data-suffix": suffix });
  setAgo(element, moment);
  return element;
}
export function setAgo(element, moment) {
  mark(element, "data-at", moment);
  mark(element, "datetime", new Date(moment * 1000).toISOString());
  mark(element, "title", absolute(moment));
  put(element, age(now() - moment) + element.dataset.suffix);
}
export const hourMinute = (time) =>
  new Date(time * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
export function refreshAges() {
  for (const element of document.querySelectorAll("time[data-at]")) setAgo(element, Number(element.dataset.at));
}
