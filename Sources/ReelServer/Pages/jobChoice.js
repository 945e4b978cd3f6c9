// Choosing many jobs of a list, and doing something with them all; and the orders of a list.

import { ask, jobPath, part } from "./api.js";
import { button, h, refill } from "./elements.js";
import { isOver, jobName, shownState } from "./jobFacts.js";
import { dialog, say } from "./parts.js";
import { may, mayWrite } from "./session.js";
import { count } from "./words.js";

const byText = (value) => (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
/** Orders of jobs other than the server's, which lists the latest first. */
export const orders = {
  oldest: (a, b) => a.created - b.created, name: byText(jobName), size: (a, b) => (b.outputBytes ?? 0) - (a.outputBytes ?? 0),
  state: byText(shownState),
};
/** A field for the order; the server's is empty. */
export function sorter(act) {
  const select = h("select", { onchange: () => act(select.value) },
    ["", ...Object.keys(orders)].map((value) => h("option", { value }, value || "newest")));
  return h("label.sort", h("span", "Sort by"), select);
}

const deeds = [
  { word: "Retry", role: "operator", done: "Begun again", fits: (job) => job.state === "failed", method: "POST", path: "/retry" },
  {
    word: "Cancel", role: "operator", done: "Cancelled", fits: (job) => !isOver(job), method: "POST", path: "/cancel",
    warning: "They end; finished passes are lost.",
  },
  {
    word: "Remove", role: "admin", done: "Removed", fits: isOver, method: "DELETE", path: "",
    warning: "They and their results in the store are removed.",
  },
];

/** The most results of an archive. */
const mostOfArchive = 500;

/** The jobs of a list that a user has chosen. */
export class JobChoice {
  ids = new Set();

  /** @param page has `jobs` and `rows` by id, and is read again: `reset`, `refresh`. */
  constructor(page) {
    this.page = page;
    this.all = h("input", {
      type: "checkbox", "aria-label": "Choose all jobs that are shown", onchange: () => this.setAll(this.all.checked),
    });
    this.element = h("div.bar.choice-bar", { role: "region", "aria-label": "The chosen jobs" });
    this.element.hidden = true;
  }
  has(id) { return this.ids.has(id); }
  set(id, isChosen) {
    if (isChosen) this.ids.add(id);
    else this.ids.delete(id);
    this.show();
  }
  setAll(isChosen) {
    this.ids = new Set(isChosen ? this.page.rows.keys() : []);
    for (const row of this.page.rows.values()) row.choice.checked = isChosen;
    this.show();
  }
  show() {
    const { jobs, rows } = this.page;
    const chosen = [...this.ids].map((id) => jobs.get(id)).filter(Boolean);
    this.element.hidden = chosen.length === 0;
    this.all.checked = chosen.length > 0 && chosen.length === rows.size;
    this.all.indeterminate = chosen.length > 0 && chosen.length < rows.size;
    const made = chosen.filter((job) => job.outputBytes != null).slice(0, mostOfArchive);
    refill(this.element, h("strong", `${chosen.length} chosen`),
      may("operator") && made.length > 0 && h("a.button", {
        href: `api/v1/results.zip?${made.map((job) => `job=${part(job.id)}`).join("&")}`, download: "reel-results.zip",
        onclick: () => this.sayLeftOut(chosen.length - made.length),
      }, `Download ${made.length} as zip`),
      deeds.filter((deed) => mayWrite(deed.role)).map((deed) => {
        const fitting = chosen.filter(deed.fits);
        return fitting.length > 0 && button(`${deed.word} ${fitting.length}${deed.warning ? "…" : ""}`,
          () => this.act(deed, fitting), deed.warning && "danger");
      }), button("Choose none", () => this.setAll(false), "quiet"));
  }
  sayLeftOut(number) {
    if (number > 0) say(`${count(number, "job")} without a result ${number === 1 ? "is" : "are"} left out.`);
  }
  /** Does the same with many jobs, one after the other, and says what could not be done. */
  async act({ word, done, method, path, warning }, jobs) {
    if (warning && !await dialog(`${word} ${count(jobs.length, "job")}?`, h("p", warning), `${word} them`, "danger")) return;
    const refused = [];
    for (const job of jobs) {
      try {
        await ask(jobPath(job.id, path), { method });
        this.ids.delete(job.id);
      } catch (error) {
        refused.push(`${jobName(job)}: ${error.message}`);
      }
    }
    say([`${done}: ${jobs.length - refused.length}.`, ...refused.slice(0, 3)].join(" "));
    if (!this.page.isOpen) return;
    if (method === "DELETE") this.page.reset();
    this.show();
    this.page.refresh();
  }
}
