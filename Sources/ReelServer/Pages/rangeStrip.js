// A filmstrip with two handles, for a range of frames.

import { button, h, mark, put } from "./elements.js";
import { place } from "./words.js";

const [fewestPictures, mostPictures, height] = [4, 24, 72];

/** Shows frames of a source side by side, and lets one choose a range of them by mouse, finger and keys. */
export class RangeStrip {
  from = 0;
  to = 0;

  /**
   * @param changed hears the range's first frame and the one after its last
   * @param looked hears the frame that one wants to see
   */
  constructor(changed, looked) {
    Object.assign(this, { changed, looked });
    this.canvas = h("canvas.film", { "aria-hidden": "true" });
    this.shades = [h("div.shade"), h("div.shade.after")];
    this.cursor = h("div.cursor", { "aria-hidden": "true" });
    this.handles = ["from", "to"].map((end) => h(`button.handle.${end}`, {
      type: "button", role: "slider", "aria-label": end === "from" ? "First frame" : "Last frame",
      "aria-describedby": "range-keys",
      onkeydown: (event) => this.pressed(event, end), onfocus: () => this.look(end),
    }));
    this.track = h("div.range", this.canvas, this.shades, this.cursor, this.handles);
    this.closer = button("Closer", () => this.zoom(true), "", { title: "Show the range larger" });
    this.whole = button("Whole video", () => this.zoom(false));
    this.note = h("span.hint", { role: "status" });
    this.hint = h("p.hint", { id: "range-keys" },
      "Drag the handles, or use their keys: ← and → for one frame, with Shift for ten, Page Up and Page Down for a second.");
    this.element = h("div", this.track, h("div.bar", this.closer, this.whole, this.note), this.hint);
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      this.track.addEventListener(kind, (event) => this[kind](event));
    }
  }
  show(facts, from, to) {
    const isNew = facts !== this.facts;
    Object.assign(this, { facts, from, to });
    if (isNew) {
      this.view = [0, facts.frames];
      this.at = from;
      this.drawFilm();
    }
    this.place();
  }
  close() { this.abort?.abort(); }

  // The film

  zoom(isCloser) {
    const { facts, from, to } = this;
    const margin = Math.max(Math.ceil((to - from) / 2), fewestPictures);
    this.view = isCloser ? [Math.max(from - margin, 0), Math.min(to + margin, facts.frames)] : [0, facts.frames];
    this.drawFilm();
    this.place();
  }
  async drawFilm() {
    this.abort?.abort();
    const { signal } = this.abort = new AbortController();
    const [first, last] = this.view;
    const { width, height: tall } = this.facts;
    const fitting = Math.round((this.track.clientWidth || 600) / (height * width / Math.max(tall, 1)));
    const count = Math.max(Math.min(Math.max(fewestPictures, Math.min(fitting, mostPictures)), last - first), 1);
    const step = Math.max(Math.floor((last - first) / count), 1);
    put(this.note, "The pictures are being made.");
    try {
      const sheet = await this.facts.sheet(first + Math.floor((last - first - 1 - step * (count - 1)) / 2), step, count, signal);
      if (signal.aborted) return;
      [this.canvas.width, this.canvas.height] = [sheet.width, sheet.height];
      this.canvas.getContext("2d").drawImage(sheet, 0, 0);
      put(this.note, "");
    } catch (error) {
      if (error.name !== "AbortError") put(this.note, `There are no pictures: ${error.message}`);
    }
  }
  /** Puts handles and shades at their places. */
  place() {
    const { facts, from, to, view: [first, last] } = this;
    const share = (frame) => Math.max(0, Math.min((frame - first) / Math.max(last - first, 1), 1)) * 100;
    this.handles[0].style.left = `${share(from)}%`;
    this.handles[1].style.left = `${share(to)}%`;
    this.shades[0].style.width = `${share(from)}%`;
    this.shades[1].style.width = `${100 - share(to)}%`;
    this.cursor.style.left = `${share(this.at + 0.5)}%`;
    this.closer.disabled = last - first <= 2 * fewestPictures;
    this.whole.disabled = last - first === facts.frames;
    [[this.handles[0], from, 0, to - 1], [this.handles[1], to - 1, from, facts.frames - 1]].forEach(
      ([handle, value, least, most]) => {
        mark(handle, "aria-valuemin", least);
        mark(handle, "aria-valuemax", most);
        mark(handle, "aria-valuenow", value);
        mark(handle, "aria-valuetext", `${place(facts.start(value))}, frame ${value}`);
      });
  }
  look(end) {
    if (!this.facts) return;
    this.at = end === "from" ? this.from : this.to - 1;
    this.looked(this.at);
    this.place();
  }

  // Choosing

  move(end, frame) {
    const { facts } = this;
    if (end === "from") this.from = Math.max(0, Math.min(frame, this.to - 1));
    else this.to = Math.max(this.from + 1, Math.min(frame, facts.frames));
    const [first, last] = this.view;
    if (this.from < first || this.to > last) {
      this.view = [Math.min(this.from, first), Math.max(this.to, last)];
      this.drawFilm();
    }
    this.changed(this.from, this.to);
    this.look(end);
  }
  pressed(event, end) {
    const second = Math.max(Math.round(1 / this.facts.frame), 1);
    const far = event.shiftKey ? 10 : 1;
    const now = end === "from" ? this.from : this.to;
    const frame = {
      ArrowLeft: now - far, ArrowDown: now - far, ArrowRight: now + far, ArrowUp: now + far,
      PageDown: now - second, PageUp: now + second, Home: 0, End: this.facts.frames,
    }[event.key];
    if (frame === undefined) return;
    event.preventDefault();
    this.move(end, frame);
  }
  frameAt(event) {
    const box = this.track.getBoundingClientRect();
    const [first, last] = this.view;
    return Math.round(first + (event.clientX - this.grip - box.left) / Math.max(box.width, 1) * (last - first));
  }
  pointerdown(event) {
    if (!this.facts || event.button !== 0) return;
    this.dragged = event.target.closest(".handle") ? (event.target.closest(".from") ? "from" : "to") : "look";
    this.track.setPointerCapture(event.pointerId);
    // The handle keeps its distance from the pointer.
    const box = event.target.getBoundingClientRect();
    this.grip = this.dragged === "from" ? event.clientX - box.right : this.dragged === "to" ? event.clientX - box.left : 0;
    if (this.dragged !== "look") this.handles[this.dragged === "from" ? 0 : 1].focus();
    event.preventDefault();
    if (this.dragged === "look") this.pointermove(event);
  }
  pointermove(event) {
    if (!this.dragged) return;
    const frame = this.frameAt(event);
    if (this.dragged !== "look") return this.move(this.dragged, frame);
    this.at = Math.max(0, Math.min(frame, this.facts.frames - 1));
    this.looked(this.at);
    this.place();
  }
  pointerup() { this.dragged = null; }
  pointercancel() { this.dragged = null; }
}
