// Strips: passes as cells of a canvas. Each state has a colour and a pattern.

import { jobPath } from "./api.js";
import { h, mark, put } from "./elements.js";
import { isMoving } from "./jobFacts.js";
import { count, grouped, nonEmpty } from "./words.js";

const states = ["done", "live", "retrying", "failed", "waiting"];
const stateWords = { done: "done", live: "running", retrying: "retrying", failed: "failed", waiting: "waiting" };
let inks = null;
/** Reads the colours of states again, which differ in the dark. */
export function forgetInks() { inks = null; }
function inkOf(state) {
  if (!inks) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    inks = {
      done: colour("--done"), live: colour("--live"), retrying: colour("--retry"), failed: colour("--fail"),
      waiting: colour("--wait"), panel: colour("--panel"),
    };
  }
  return inks[state];
}

/** Fills a box with a state's colour and pattern; sizes in device pixels. */
function paint(context, state, x, y, width, height, scale) {
  context.fillStyle = inkOf(state);
  context.fillRect(x, y, width, height);
  if (state === "done" || state === "waiting" || height < 4 * scale) return;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = inkOf("panel");
  context.lineWidth = 1.2 * scale;
  context.beginPath();
  const step = 5 * scale;
  const line = (fromX, fromY, toX, toY) => {
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
  };
  if (state === "retrying") {
    for (let at = y + step / 2; at < y + height; at += step * 0.8) line(x, at, x + width, at);
  } else {
    // The lines have one phase over the whole strip, so that neighbouring cells make one pattern.
    const first = Math.floor((x - height) / step) * step;
    for (let at = first; at < x + width + height; at += step) {
      if (state === "live" || state === "failed") line(at, y + height, at + height, y);
      if (state === "failed") line(at, y, at + height, y + height);
    }
  }
  context.stroke();
  context.restore();
}

/** The cells of a job as the server tells them, at most so many; null if it has none. */
export async function readCells(page, job, number) {
  try {
    const { cells } = await page.ask(jobPath(job.id, `/strip?cells=${number}`));
    return nonEmpty(cells) && cellsOf(cells, job);
  } catch (error) {
    if ([404, 409].includes(error.status)) return null;
    throw error;
  }
}
/** Cells as the server sends them. Failed passes of a job that goes on wait for a retry, if cells do not tell. */
const cellsOf = (cells, job) => cells.map((cell) => cell.retrying != null ? cell
  : job.state === "failed" ? { ...cell, retrying: 0 } : { ...cell, retrying: cell.failed, failed: 0 });
function countsOf(cell) {
  const waiting = Math.max(cell.passes - cell.done - cell.live - cell.retrying - cell.failed, 0);
  return { ...cell, waiting };
}

/** Draws cells side by side. A cell of several passes is filled from below in the states' order; none that failed,
 *  waits for a retry or runs becomes too thin to be seen. */
export function drawStrip(canvas, cells, chosen = -1) {
  const scale = devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
  if (width === 0 || height === 0) return;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, width, height);
  const gap = width / cells.length >= 5 * scale ? Math.round(scale) : 0;
  cells.forEach((cell, index) => {
    const [from, to] = [Math.round(index * width / cells.length), Math.round((index + 1) * width / cells.length)];
    const counts = countsOf(cell);
    const total = Math.max(cell.passes, 1);
    paint(context, "waiting", from, 0, Math.max(to - from - gap, 1), height, scale);
    let bottom = height;
    for (const state of ["done", "failed", "retrying", "live"]) {
      if (!counts[state]) continue;
      const share = counts[state] / total * height;
      const tall = Math.min(state === "done" ? Math.floor(share) : Math.max(share, height / 4),
        Math.max(bottom, height / 5));
      const top = Math.max(bottom - tall, 0);
      paint(context, state, from, top, Math.max(to - from - gap, 1), counts[state] === total ? height : tall, scale);
      bottom = top;
    }
    if (index === chosen) {
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--text");
      context.lineWidth = 2 * scale;
      context.strokeRect(from + scale, scale, Math.max(to - from - 2 * scale, 2 * scale), height - 2 * scale);
    }
  });
}

/** A cell of passes that wait. */
const cellOf = (passes) => ({ passes, done: 0, live: 0, retrying: 0, failed: 0 });
/** The cells of a job of which only the counts are known. */
export function cellsOfCounts(job, width = 40) {
  const total = job.passes;
  if (!total) {
    const state = isMoving(job) && job.passesLive > 0 ? "live" : job.state;
    return [{ ...cellOf(1), ...(["done", "failed", "live"].includes(state) && { [state]: 1 }) }];
  }
  const number = Math.min(total, width);
  const cells = Array.from({ length: number }, (_, index) =>
    cellOf(Math.floor((index + 1) * total / number) - Math.floor(index * total / number)));
  const left = [["done", job.state === "done" ? total : job.passesDone], ["failed", job.passesExhausted],
    ["retrying", job.passesRetrying], ["live", Math.min(job.passesLive, total)]];
  for (const cell of cells) {
    let room = cell.passes;
    for (const entry of left) {
      const taken = Math.min(room, entry[1]);
      cell[entry[0]] += taken;
      entry[1] -= taken;
      room -= taken;
    }
  }
  return cells;
}

function totalOf(cells) {
  const total = { passes: 0, done: 0, live: 0, retrying: 0, failed: 0, waiting: 0 };
  for (const cell of cells) {
    const counts = countsOf(cell);
    for (const name of Object.keys(total)) total[name] += counts[name] ?? 0;
  }
  return total;
}
/** "18 of 40 passes done, 2 running, 19 waiting". */
function stripWords(cells) {
  const total = totalOf(cells);
  const told = ["live", "retrying", "failed", "waiting"].filter((state) => total[state] > 0)
    .map((state) => `${grouped(total[state])} ${stateWords[state]}`);
  return [`${grouped(total.done)} of ${count(total.passes, "pass")} done`, ...told].join(", ");
}

/** A large strip whose cells can be read by pointer and by arrow keys. */
export class Strip {
  cells = [];
  chosen = -1;
  canvas = h("canvas.strip.large.figure");
  reading = h("p.reading.small.muted", { "aria-live": "off" });
  box = h("div", {
    role: "slider", tabindex: 0, "aria-label": "Passes", "aria-valuemin": 0,
    onkeydown: (event) => this.key(event), onblur: () => this.choose(-1), onpointerleave: () => this.choose(-1),
    onpointermove: (event) => this.choose(Math.floor(event.offsetX / this.canvas.clientWidth * this.cells.length)),
  }, this.canvas);
  legend = h("div.legend");
  element = h("div", this.box, this.reading, this.legend);
  swatches = new Map();

  constructor() {
    for (const state of states) {
      const entry = { canvas: h("canvas", { "aria-hidden": "true" }), text: h("span") };
      entry.element = h("span", entry.canvas, entry.text);
      this.swatches.set(state, entry);
      this.legend.append(entry.element);
    }
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
    this.choose(-1);
  }
  update(cells) {
    this.cells = cells;
    const total = totalOf(cells);
    for (const [state, entry] of this.swatches) {
      put(entry.text, `${grouped(total[state])} ${stateWords[state]}`);
      entry.element.hidden = total[state] === 0 && state !== "done";
    }
    mark(this.box, "aria-valuemax", Math.max(cells.length - 1, 0));
    this.choose(Math.min(this.chosen, cells.length - 1));
    this.draw();
  }
  draw() {
    drawStrip(this.canvas, this.cells, this.chosen);
    for (const [state, entry] of this.swatches) {
      drawStrip(entry.canvas, [{ ...cellOf(1), [state]: 1 }]);
    }
  }
  choose(index) {
    const changed = index !== this.chosen;
    this.chosen = index;
    const text = index < 0 || !this.cells[index] ? stripWords(this.cells) : this.words(index);
    mark(this.box, "aria-valuenow", Math.max(index, 0));
    mark(this.box, "aria-valuetext", text);
    put(this.reading,
      index < 0 ? "In the order in which passes are given out. Point at a cell, or use the arrow keys." : text);
    if (changed) this.draw();
  }
  words(index) {
    const first = this.cells.slice(0, index).reduce((sum, cell) => sum + cell.passes, 0);
    const cell = countsOf(this.cells[index]);
    if (cell.passes === 1) return `Pass ${first}: ${stateWords[states.find((state) => cell[state] > 0) ?? "waiting"]}`;
    const told = states.filter((state) => cell[state] > 0)
      .map((state) => `${grouped(cell[state])} ${stateWords[state]}`);
    return `Passes ${grouped(first)} to ${grouped(first + cell.passes - 1)}: ${told.join(", ")}`;
  }
  key(event) {
    const most = this.cells.length - 1;
    const page = Math.max(Math.round(most / 10), 1);
    const at = {
      ArrowRight: this.chosen + 1, ArrowUp: this.chosen + 1, ArrowLeft: this.chosen - 1, ArrowDown: this.chosen - 1,
      PageUp: this.chosen + page, PageDown: this.chosen - page, Home: 0, End: most,
    }[event.key];
    if (at === undefined) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(at, most)));
  }
  close() { this.observer.disconnect(); }
}
