// Which page is shown, and the way to another.

import { base, currentPath } from "./api.js";
import { live, noteAnswer } from "./connection.js";
import { byID, mark } from "./elements.js";
import { session } from "./session.js";
import { store, stored } from "./storage.js";

export let current = null;
/** The list of jobs as it was, for the way back. */
let keptJobs = null;
let pageOf;
/** Takes what makes the page of a path. The start has it, since the pages themselves lead to others. */
export function setPages(maker) { pageOf = maker; }
/** Shows a page that stands in for that of the location. */
export function standIn(page) {
  current = page;
  byID("main").replaceChildren(page.element);
  page.open();
}
export function forgetJobs() { keptJobs = null; }

/** Goes to a page below the base. */
export function go(path, replacing = false) {
  const url = new URL(path, base);
  history[replacing ? "replaceState" : "pushState"](null, "", url);
  show(false);
}

let hasShown = false;
/** Shows the page of the location. A list of jobs is kept as it was for the way back. */
export function show(isBack) {
  if (current) {
    current.scroll = scrollY;
    current.close();
    if (current.isKept) keptJobs = current;
  }
  const path = currentPath();
  const name = path.split("/")[0] || "jobs";
  for (const link of document.querySelectorAll("#pages a")) {
    mark(link, "aria-current", link.dataset.page === name ? (path === "" || path === name ? "page" : "true") : null);
  }
  const isBackAtJobs = isBack && path === "" && keptJobs?.search === location.search;
  current = isBackAtJobs ? keptJobs : pageOf(path);
  keptJobs = isBackAtJobs ? null : keptJobs;
  const page = current;
  noteAnswer(page.freshAt);
  byID("main").replaceChildren(page.element);
  document.title = `${page.title} · reel`;
  if (session && path !== "sign-in") live.follow(page);
  page.open();
  scrollTo(0, isBackAtJobs ? page.scroll : 0);
  page.wantsFocus = hasShown;
  page.focusHeading();
  hasShown = true;
}

function toSignIn() {
  if (currentPath() === "sign-in") return;
  store("sessionStorage", "reel-next", location.href);
  live.close();
  go("sign-in", true);
}
addEventListener("sign-in-needed", toSignIn);
/** Goes to the page that needed the token. */
export function backFromSignIn() {
  const next = stored("sessionStorage", "reel-next");
  store("sessionStorage", "reel-next", null);
  const isOurs = next?.startsWith(base.href) && !next.includes("sign-in");
  go(isOurs ? next : ".", true);
}
