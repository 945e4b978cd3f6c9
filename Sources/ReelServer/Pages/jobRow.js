// One row of the list of jobs.

import { jobPath } from "./api.js";
import { bdi, h, legible, mark, put, refill } from "./elements.js";
import {
  doneWords, fileName, isOver, jobName, percent, picturedSide, shownState, sortedLabels, tag,
} from "./jobFacts.js";
import { badge, setBadge } from "./parts.js";
import { cellsOfCounts, drawStrip, readCells } from "./strip.js";
import { setAgo } from "./time.js";
import { clock, grouped, size, speed } from "./words.js";

export class JobRow {
  job = null;
  cells = null;
  stripAt = 0;

  constructor(id, page) {
    this.id = id;
    this.page = page;
    this.picture = h("img", { alt: "", loading: "lazy" });
    this.picture.hidden = true;
    this.picture.addEventListener("load", () => this.picture.classList.add("there"));
    this.picture.addEventListener("error", () => this.pictureFailed());
    this.choice = h("input", {
      type: "checkbox", onchange: () => page.choice.set(id, this.choice.checked),
    });
    this.what = h("div.what");
    this.name = bdi("");
    this.link = h("a.name", { href: jobPath(id) }, this.name);
    this.sub = h("div.sub");
    this.state = badge("waiting");
    this.canvas = h("canvas.strip.small.figure", { "aria-hidden": "true" });
    this.counts = h("div.counts.figure");
    this.why = h("div.why");
    const cell = (kind, head, ...children) => h("td", { role: "cell", class: kind, "data-head": head }, children);
    this.speed = cell("num figure", "speed");
    this.eta = cell("num figure", "ETA");
    this.age = h("time", { "data-suffix": "" });
    this.element = h("tr", { role: "row", "data-id": id },
      cell("choice", null, h("label", this.choice)), cell("picture", null, this.picture),
      cell("", null, this.link, this.what, this.sub), cell("", null, this.state),
      cell("", null, this.canvas, this.counts, this.why), this.speed, this.eta, cell("num", "age", this.age));
  }
  get hasStrip() { return !isOver(this.job) && this.job.passes > 1; }

  update(job) {
    if (!job) return;
    const text = JSON.stringify(job);
    if (text === this.text) return;
    this.text = text;
    const wasOver = this.job && isOver(this.job);
    this.job = job;
    put(this.name, jobName(job));
    put(this.what, doneWords(job));
    mark(this.choice, "aria-label", `Choose ${jobName(job)}`);
    this.choice.checked = this.page.choice.has(this.id);
    this.showPicture();
    mark(this.link, "title", jobName(job));
    const labels = sortedLabels(job);
    const sub = JSON.stringify([job.name && job.source, labels]);
    if (sub !== this.subText) {
      this.subText = sub;
      const file = fileName(job.source);
      refill(this.sub, job.name && file !== job.name && [bdi(file), " "], h("span.mono", job.id), " ",
        labels.slice(0, 4).map(tag));
    }
    setBadge(this.state, shownState(job));
    put(this.counts, this.words(job));
    const why = legible(job.failure ?? job.waitReason ?? "");
    put(this.why, why);
    mark(this.why, "title", why || null);
    this.why.hidden = why === "";
    this.why.classList.toggle("bad", job.failure != null);
    put(this.speed, job.framesPerSecond > 0 ? speed(job.framesPerSecond) : "");
    put(this.eta, job.eta != null ? clock(job.eta) : "");
    setAgo(this.age, job.created);
    if (!this.cells || isOver(job) !== wasOver || this.cells.isGuess) this.guess();
    this.draw();
  }
  /** Shows a frame: the first of a filmstrip, which the row is too small to show more of. */
  showPicture() {
    const side = picturedSide(this.job);
    if (side === this.side) return;
    this.side = side;
    this.turns = 0;
    this.picture.classList.remove("there");
    this.picture.hidden = side == null;
    if (side) this.loadPicture();
  }
  loadPicture() {
    this.picture.src = `api/v1/${jobPath(this.id, `/filmstrip/${this.side}.jpg`)}${this.turns > 0 ? `?${this.turns}` : ""}`;
  }
  /** Few pictures are made at a time: it is asked for again, a few times. */
  pictureFailed() {
    if (++this.turns < 4) setTimeout(() => { if (this.element.isConnected) this.loadPicture(); }, 4000 * this.turns);
  }
  words(job) {
    if (job.state === "probing") return "being read";
    if (job.frames === 0) return job.outputBytes ? size(job.outputBytes) : "";
    const frames = `${grouped(job.framesEncoded)}/${grouped(job.frames)} frames`;
    return job.state === "done"
      ? [job.outputBytes && size(job.outputBytes), `${grouped(job.outputFrames ?? job.frames)} frames`].filter(Boolean).join(", ")
      : `${frames}, ${percent(job)}` + (job.passesRetrying > 0 ? `, ${job.passesRetrying} retrying` : "");
  }
  guess() {
    this.cells = cellsOfCounts(this.job);
    this.cells.isGuess = true;
  }
  async readStrip() {
    this.stripAt = Date.now();
    const cells = await readCells(this.page, this.job, Math.min(this.job.passes, 60));
    if (cells && !isOver(this.job)) this.cells = cells;
    this.draw();
  }
  draw() { if (this.element.isConnected && this.cells) drawStrip(this.canvas, this.cells); }
}
