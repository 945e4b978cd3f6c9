// The list of jobs.

import { base, jobPath } from "./api.js";
import { isStreamLost } from "./connection.js";
import { button, h, mark, pageHead, put } from "./elements.js";
import { JobChoice, orders, sorter } from "./jobChoice.js";
import { isMoving, unreadableNotices } from "./jobFacts.js";
import { firstVideo, noMatch } from "./emptyList.js";
import { JobRow } from "./jobRow.js";
import { Page } from "./page.js";
import { mayWrite } from "./session.js";
import { count, grouped } from "./words.js";

const chips = ["", "running", "probing", "assembling", "waiting", "paused", "done", "failed", "cancelled"];
const pageLength = 100;
/** The kinds of events after which a job has another state. */
const moves = [
  "begun", "published", "paused", "resumed", "jobRetried", "assembling", "done", "failed", "cancelled", "broken",
];

function queryOf({ state, label, q }) {
  const query = new URLSearchParams();
  if (state) query.set("state", state);
  for (const one of label) query.append("label", one);
  if (q) query.set("q", q);
  return query;
}

/** The list: chunks of a page each, of which only those near the window have rows. */
export class JobsPage extends Page {
  title = "Jobs";
  isKept = true;
  search = location.search;
  jobs = new Map();
  rows = new Map();
  chunks = [];
  next = null;
  dirty = new Set();
  /** Another order than the server's; empty for that. */
  sort = "";
  wantsFirst = false;
  lastFirst = 0;
  lastCounts = 0;
  lastTick = 0;

  constructor() {
    super();
    const query = new URLSearchParams(location.search);
    this.filter = { state: query.get("state") ?? "", label: query.getAll("label"), q: query.get("q") ?? "" };
    const heads = (names, kind) =>
      names.map((name) => h("th", { scope: "col", role: "columnheader", class: kind }, name));
    this.choice = new JobChoice(this);
    this.table = h("table.jobs", { role: "table", "aria-label": "Jobs" }, h("thead", { role: "rowgroup" },
      h("tr", { role: "row" }, h("th.choice", { scope: "col", role: "columnheader" }, h("label", this.choice.all)),
        h("th.picture", { scope: "col", role: "columnheader" }, h("span.unseen", "Picture")),
        heads(["Job", "State", "Progress"]), heads(["Speed", "ETA", "Age"], "num"))));
    this.unreadable = h("div");
    this.moreButton = button("Show more", () => this.more());
    this.foot = h("div.more.muted", this.moreButton);
    this.list = h("div.panel.flush", this.choice.element, this.table, this.foot);
    this.list.hidden = true;
    this.empty = h("div");
    this.body = h("div", this.unreadable, this.list, this.empty);
    this.filters = this.makeFilters();
    this.element = h("div", pageHead("Jobs",
      mayWrite("operator") && h("a.button.primary", { href: "submit" }, "Submit a video")), this.filters, this.body);
  }

  makeFilters() {
    const field = (value, placeholder, words) => h("input", {
      type: "search", value, placeholder, "aria-label": words, spellcheck: "false", oninput: () => this.later(),
    });
    const find = field(this.filter.q, "name or id", "Search by name or id");
    const label = field(
      this.filter.label.join(" "), "label, as project=trailer", "Filter by label, as project=trailer");
    this.inputs = { find, label };
    return h("form.filters", { role: "search", onsubmit: (event) => { event.preventDefault(); this.apply(); } },
      h("nav.bar.chips", { "aria-label": "Filter by state" }, chips.map((state) =>
        h("a.chip", { href: this.address({ state }), "data-state": state, "aria-current": state === this.filter.state && "true" },
          state || "all", h("span.count")))),
      h("div.find", h("label", find), h("label", label), sorter((order) => {
        this.sort = order;
        this.reset();
        this.refresh();
      })));
  }
  address(change) {
    const query = queryOf({ ...this.filter, ...change });
    return query.size > 0 ? `?${query}` : ".";
  }
  later() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.apply(), 350);
  }
  /** Filters in place, so that the field keeps its focus. */
  apply() {
    clearTimeout(this.typing);
    if (!this.isOpen) return;
    const label = this.inputs.label.value.trim();
    mark(this.inputs.label, "aria-invalid", label && !label.includes("=") ? "true" : null);
    if (label && !label.includes("=")) return;
    const q = this.inputs.find.value.trim();
    const labels = label ? label.split(/\s+(?=[\w.-]+=)/) : [];
    if (q === this.filter.q && labels.join(" ") === this.filter.label.join(" ")) return;
    Object.assign(this.filter, { q, label: labels });
    history.replaceState(null, "", new URL(this.address({}), base));
    this.search = location.search;
    this.filters.querySelectorAll(".chip").forEach((chip, index) =>
      mark(chip, "href", this.address({ state: chips[index] })));
    this.reset();
    this.refresh();
  }
  get isFiltered() { return this.filter.state !== "" || this.filter.q !== "" || this.filter.label.length > 0; }

  open() {
    this.observer = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: "900px 0px" });
    this.sized = new ResizeObserver(() => this.redraw());
    super.open();
    for (const chunk of this.chunks) {
      chunk.isStale = true;
      this.observer.observe(chunk.body);
    }
    this.observer.observe(this.foot);
    this.sized.observe(this.table);
  }
  close() {
    super.close();
    this.growing = null;
    clearTimeout(this.typing);
    this.observer?.disconnect();
    this.sized?.disconnect();
  }
  /** Forgets all jobs, and drops what is being read. */
  reset() {
    this.clear();
    this.abort?.abort();
    this.abort = new AbortController();
  }
  clear() {
    for (const chunk of this.chunks) chunk.body.remove();
    this.chunks = [];
    this.jobs.clear();
    this.rows.clear();
    this.next = null;
    this.growing = null;
  }

  query(cursor) {
    const query = queryOf(this.filter);
    query.set("limit", pageLength);
    if (cursor) query.set("cursor", cursor);
    return `jobs?${query}`;
  }
  /** A page of jobs. Pages may be empty though others follow; a few of those are skipped. */
  async page(cursor) {
    let answer = await this.ask(this.query(cursor));
    for (let turn = 0; turn < 8 && answer.jobs.length === 0 && answer.next; turn++) {
      const unreadable = answer.unreadable ?? [];
      answer = await this.ask(this.query(answer.next));
      answer.unreadable = [...unreadable, ...(answer.unreadable ?? [])];
    }
    return answer;
  }

  /** Reads the newest page and, of the others, those near the window. */
  async read() {
    this.readCounts();
    if (this.sort) return this.readSorted();
    const first = await this.page(null);
    [this.lastFirst, this.wantsFirst] = [Date.now(), false];
    for (const job of first.jobs) this.jobs.set(job.id, job);
    this.unreadable.replaceChildren(...unreadableNotices(first.unreadable ?? []));
    if (this.chunks.length === 0) this.append(null, first);
    else this.merge(first);
    for (const chunk of this.chunks.slice(1)) chunk.isStale = true;
    await Promise.all(this.chunks.slice(1).filter((chunk) => chunk.isNear).map((chunk) => this.reread(chunk)));
    this.showState();
  }
  /** The latest jobs, in another order: the server lists them by age. */
  async readSorted() {
    const found = [];
    let answer = { next: null };
    for (let turn = 0; turn < 5 && (turn === 0 || answer.next); turn++) {
      answer = await this.page(answer.next);
      found.push(...answer.jobs);
    }
    [this.lastFirst, this.wantsFirst] = [Date.now(), false];
    found.sort(orders[this.sort]);
    for (const job of found) this.jobs.set(job.id, job);
    if (this.chunks.length === 0) this.append(null, { jobs: found });
    this.chunks[0].ids = found.map((job) => job.id);
    this.next = null;
    this.render(this.chunks[0]);
    this.showState(answer.next ? `The latest ${found.length} jobs; older ones are not sorted in.` : "");
  }
  /** How many jobs each state has, as far as the board knows. */
  async readCounts() {
    if (Date.now() - this.lastCounts < 1900) return;
    this.lastCounts = Date.now();
    try {
      const { states } = await this.ask("counts");
      for (const chip of this.filters.querySelectorAll(".chip")) {
        const number = states[chip.dataset.state];
        put(chip.querySelector(".count"), number > 0 ? grouped(number) : "");
      }
    } catch { /* The list itself says what is wrong. */ }
  }
  append(cursor, answer) {
    const chunk = {
      cursor, body: h("tbody", { role: "rowgroup" }), isNear: true, isStale: false,
      ids: answer.jobs.map((job) => job.id).filter((id) => !this.chunks.some((other) => other.ids.includes(id))),
    };
    chunk.body.chunk = chunk;
    for (const job of answer.jobs) this.jobs.set(job.id, job);
    this.chunks.push(chunk);
    this.next = answer.next ?? null;
    this.table.append(chunk.body);
    this.render(chunk);
    this.observer.observe(chunk.body);
  }
  /** Puts new jobs in front; what the list had behind the answer's last job stays. */
  merge(answer) {
    const [chunk] = this.chunks;
    const ids = answer.jobs.map((job) => job.id);
    const at = chunk.ids.indexOf(ids.at(-1));
    const rest = at >= 0 ? chunk.ids.slice(at + 1) : [];
    if (this.chunks.length === 1 && !answer.next) {
      this.next = null;
      chunk.ids = ids;
    } else if ((at < 0 && chunk.ids.length > 0) || chunk.ids.length > 3 * pageLength) {
      // More new jobs than a page holds: the list begins anew.
      this.clear();
      this.append(null, answer);
      return;
    } else {
      if (this.chunks.length === 1 && rest.length === 0) this.next = answer.next ?? null;
      chunk.ids = [...ids, ...rest];
    }
    this.render(chunk);
  }
  async reread(chunk) {
    chunk.isStale = false;
    const answer = await this.page(chunk.cursor);
    // The job that the cursor names may be gone, and the server begin anew.
    if (this.chunks[0].ids.includes(answer.jobs[0]?.id)) return;
    for (const job of answer.jobs) this.jobs.set(job.id, job);
    const known = new Set(this.chunks.filter((other) => other !== chunk).flatMap((other) => other.ids));
    chunk.ids = answer.jobs.map((job) => job.id).filter((id) => !known.has(id));
    if (chunk === this.chunks.at(-1)) this.next = answer.next ?? null;
    this.render(chunk);
  }
  async more() {
    if (this.growing || !this.next || !this.isOpen) return;
    const growing = { cursor: this.next };
    this.growing = growing;
    try {
      const answer = await this.page(growing.cursor);
      if (this.growing !== growing) return;
      this.append(growing.cursor, answer);
      this.showState();
    } catch (error) {
      if (this.isOpen && this.growing === growing) this.fail(error);
    } finally {
      if (this.growing === growing) this.growing = null;
    }
  }
  seen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (target === this.foot) {
        if (isIntersecting && this.isLoaded) this.more();
        continue;
      }
      const { chunk } = target;
      chunk.isNear = isIntersecting;
      if (isIntersecting) {
        this.render(chunk);
        if (chunk.isStale && chunk !== this.chunks[0]) this.reread(chunk).catch((error) => this.fail(error));
      } else if (!target.contains(document.activeElement)) {
        this.fold(chunk);
      }
    }
  }
  /** Replaces the rows of a chunk that is far away by their height. */
  fold(chunk) {
    if (chunk.isFolded || chunk.ids.length === 0) return;
    const cell = h("td", { colspan: 8 });
    cell.style.height = `${chunk.body.getBoundingClientRect().height}px`;
    for (const id of chunk.ids) this.rows.delete(id);
    chunk.isFolded = true;
    chunk.body.replaceChildren(h("tr.spacer", { "aria-hidden": "true" }, cell));
  }
  /** Brings the rows of a chunk in line with its ids; rows that stay are the same elements. */
  render(chunk) {
    if (!chunk.isNear) return;
    if (chunk.isFolded) {
      chunk.isFolded = false;
      chunk.body.replaceChildren();
    }
    const wanted = new Set(chunk.ids);
    for (const row of [...chunk.body.children]) {
      if (wanted.has(row.dataset.id)) continue;
      this.rows.delete(row.dataset.id);
      row.remove();
    }
    let at = chunk.body.firstChild;
    for (const id of chunk.ids) {
      let row = this.rows.get(id);
      if (!row) {
        row = new JobRow(id, this);
        this.rows.set(id, row);
      }
      if (row.element === at) at = at.nextSibling;
      else chunk.body.insertBefore(row.element, at);
      row.update(this.jobs.get(id));
    }
    requestAnimationFrame(() => this.redraw());
  }
  redraw() { for (const row of this.rows.values()) row.draw(); }

  showState(note = "") {
    const total = this.chunks.reduce((sum, chunk) => sum + chunk.ids.length, 0);
    this.list.hidden = total === 0 && !this.next;
    this.moreButton.hidden = !this.next;
    const words = note || (this.next ? "" : total > 20 ? `${count(total, "job")}, no more` : "");
    if (this.footWords !== words) {
      this.footWords = words;
      this.foot.replaceChildren(this.moreButton, words);
    }
    this.foot.hidden = !this.next && words === "";
    const isEmpty = total === 0 && !this.next;
    if (!isEmpty) this.empty.replaceChildren();
    else if (this.empty.childElementCount === 0) this.empty.append(this.isFiltered ? noMatch() : firstVideo());
    this.filters.hidden = isEmpty && !this.isFiltered;
  }
  changed(kind, { job }) {
    if (this.jobs.has(job)) this.dirty.add(job);
    if (moves.includes(kind) && (!this.jobs.has(job) || this.filter.state !== "")) this.wantsFirst = true;
  }
  inWindow(row) {
    const box = row.element.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  }
  pulse() {
    super.pulse();
    if (!this.isLoaded || this.retryAt != null) return;
    const time = Date.now();
    if (this.wantsFirst && time - this.lastFirst > 1900) {
      this.dirty.clear();
      this.refresh();
      return;
    }
    const shown = [...this.rows.values()].filter((row) => this.inWindow(row));
    if (time - this.lastTick > 1900) {
      this.lastTick = time;
      for (const row of shown) if (row.job && isMoving(row.job) && row.job.passesLive > 0) this.dirty.add(row.id);
    }
    const due = shown.filter((row) => this.dirty.has(row.id));
    if (due.length === 0 || this.isUpdating || isStreamLost()) return;
    for (const row of due) this.dirty.delete(row.id);
    this.update(due);
  }
  /** Reads a few jobs one by one, many by their pages. */
  async update(rows) {
    this.isUpdating = true;
    try {
      if (rows.length > 6) await this.readPages(rows);
      else {
        await Promise.all(rows.map(async (row) => {
          try {
            row.update(await this.ask(jobPath(row.id)));
            this.jobs.set(row.id, row.job);
          } catch (error) {
            if (error.status !== 404) throw error;
            this.wantsFirst = true;
          }
        }));
      }
      this.noteFresh();
      this.readCounts();
      // The strips of the rows that one sees; in turn, if there are many.
      const moving = rows.filter((row) => row.hasStrip).sort((a, b) => a.stripAt - b.stripAt).slice(0, 6);
      await Promise.all(moving.map((row) => row.readStrip()));
    } catch (error) {
      if (this.isOpen) this.fail(error);
    } finally {
      this.isUpdating = false;
    }
  }
  async readPages(rows) {
    const ids = new Set(rows.map((row) => row.id));
    for (const chunk of this.chunks.filter((chunk) => chunk.ids.some((id) => ids.has(id)))) {
      const answer = await this.page(chunk.cursor);
      for (const job of answer.jobs) {
        this.jobs.set(job.id, job);
        this.rows.get(job.id)?.update(job);
      }
    }
  }
}
