// Source and result side by side, with one position.

import { askProxy, jobPath } from "./api.js";
import { button, h, mark, put } from "./elements.js";
import { moment, place, ratio } from "./words.js";

const usualRates = [
  10, 12, 12.5, 15, 24 / 1.001, 24, 25, 30 / 1.001, 30, 48, 50, 60 / 1.001, 60, 100, 120 / 1.001, 120,
];
/** How long the pictures of a result last. Its sound may last a little longer, which a player counts: the mirror's axis
 *  would be off by a frame. So a usual frame rate that fits is believed. */
function pictureLength(length, frames) {
  const fitting = usualRates.map((rate) => frames / rate)
    .filter((picture) => picture <= length + 0.002 && length - picture < 0.1);
  return fitting.length > 0 ? Math.max(...fitting) : length;
}

/** From moments of a result of one clip to those of its source. */
class Mirror {
  constructor(job, length) {
    const clips = job.options?.edit?.clips;
    const clip = clips ? clips[0] : { play: "reverse", ...job.options };
    this.isLinked = (job.sources?.length ?? 1) <= 1
      && (!clips || (clips.length === 1 && clip.still == null && clip.source != null));
    this.isLinked &&= job.options?.timestamps !== "source";
    const times = clip?.times ?? 1;
    const fast = clip?.speed != null ? ratio(clip.speed) : 1;
    const frames = Math.max(job.frames, 1);
    length = pictureLength(length, frames * times);
    this.length = length;
    this.frame = length / (frames * times);
    const turns = clip?.play === "ping-pong";
    const isOnce = turns && job.options?.edit?.turn !== "twice";
    const there = isOnce ? (frames + 2) / 2 : turns ? frames / 2 : frames;
    const start = moment(clip?.from, this.frame * fast);
    this.from = Number.isFinite(start) ? start : 0;
    this.cycle = length / times;
    const step = this.frame;
    // Each leg of the cycle: when it begins and, at that moment, where the source is, and which way it runs.
    const back = { at: 0, source: this.from + there * step * fast, pace: -fast };
    const forth = { at: 0, source: this.from, pace: fast };
    this.legs = !turns ? [clip?.play === "forward" ? forth : back]
      : [forth, { at: there * step, source: this.from + (isOnce ? there - 1 : there) * step * fast, pace: -fast }];
    this.isBackwards = this.legs[0] === back;
    this.sourceFrame = step * fast;
  }
  /** The source's moment; the last one of a frame that runs backwards, as it is shown until there. */
  source(time) {
    const within = Math.max(0, Math.min(time % this.cycle, this.cycle));
    const leg = this.legs.findLast((leg) => leg.at <= within + 1e-6) ?? this.legs[0];
    const moved = leg.source + (within - leg.at) * leg.pace;
    const inFrame = Math.min(this.sourceFrame / 4, leg.pace < 0 ? 0.004 : 0.001);
    return Math.max(0, leg.pace < 0 ? moved - inFrame : moved + inFrame);
  }
}

export class Player {
  time = 0;
  isPlaying = false;
  closing = new AbortController();

  constructor(job) {
    this.job = job;
    const path = `api/v1/${jobPath(job.id)}`;
    this.isLoop = ["gif", "webp", "apng"].includes(job.options?.container);
    // Of sound alone, browsers show nothing.
    this.isSound = ["m4a", "mp3", "flac", "wav", "ogg", "opus"].includes(job.options?.container);
    this.sides = {
      source: this.side("source", `${path}/source`, "Source"), output: this.side("output", `${path}/output`, "Result"),
    };
    // What moves by itself has no position that its source could follow.
    if (this.isLoop) this.sides.source.media.controls = true;
    this.length = 0;
    this.play = button("Play", () => this.toggle(), "primary");
    this.slider = h("input", {
      type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Position in the result",
      oninput: () => { this.pause(); this.seek(Number(this.slider.value)); },
    });
    this.readout = h("output.mono.nowrap");
    this.note = h("p.hint");
    const step = (sign, frames, words) =>
      button(sign, () => this.stepBy(frames), "", { "aria-label": words, title: words });
    this.transport = h("div.transport", this.play, step("◂", -1, "One frame back"), step("▸", 1, "One frame on"),
      this.slider, this.readout);
    this.transport.hidden = this.isLoop;
    this.element = h("div.player", h("div.screens", this.sides.source.figure, this.sides.output.figure),
      this.transport, this.note);
    this.measure();
  }
  side(name, source, title) {
    const side = { name, where: h("span.mono"), isPicture: false };
    const canMove = !(this.isLoop && name === "output");
    side.media = canMove ? h("video", { preload: "metadata", playsinline: true, "aria-label": title })
      : h("img", { src: source, alt: "The result, which moves" });
    side.figure = h("figure", h("figcaption", title, side.where), side.media);
    if (!canMove) return side;
    side.media.muted = name === "source";
    side.media.addEventListener("error", () => this.useProxy(side));
    side.media.addEventListener("loadedmetadata", () => {
      if (side.media.videoWidth === 0 && !this.isSound) return this.useProxy(side);
      this.measure();
    });
    side.media.addEventListener("seeked", () => this.follow());
    if (name === "output") {
      side.media.addEventListener("timeupdate", () => this.heard());
      side.media.addEventListener("ended", () => { this.pause(); this.heard(); });
      side.media.addEventListener("pause", () => { if (this.isPlaying && !side.isPicture) this.pause(); });
    }
    side.media.src = source;
    return side;
  }
  /** Shows a small copy of a side that the browser cannot play; if there is none, single frames. */
  async useProxy(side) {
    if (this.isClosed) return;
    if (side.isProxied || this.isSound) return this.showFrames(side);
    side.isProxied = true;
    put(this.note, "The browser cannot play this format: a small copy is made to show it.");
    try {
      side.media.src = await askProxy(this.job.id, side.name, this.closing.signal);
    } catch {
      return this.showFrames(side);
    }
    put(this.note, "A small copy is shown of what the browser cannot play.");
  }
  /** Shows single frames of a side. */
  showFrames(side) {
    if (side.isPicture || this.isClosed) return;
    side.isPicture = true;
    const image = h("img", { alt: `A frame of the ${side.name}` });
    const shows = (isThere) => {
      side.isBusy = false;
      image.hidden = !isThere;
    };
    image.addEventListener("load", () => {
      shows(true);
      this.drawFrame(side);
    });
    image.addEventListener("error", () => {
      shows(false);
      put(this.note, `The ${side.name === "output" ? "result" : "source"} can be neither played here nor shown frame `
        + "by frame. Download the result to watch it.");
    });
    side.media.replaceWith(image);
    side.media.removeAttribute("src");
    side.image = image;
    put(this.note, "The browser cannot play this format: single frames are shown instead.");
    this.measure();
  }
  measure() {
    const [source, output] = [this.sides.source, this.sides.output];
    const lengthOf = (side) => !side.isPicture && Number.isFinite(side.media.duration) ? side.media.duration : 0;
    // Of a result that cannot be played only the number of its frames is known.
    this.length = lengthOf(output) || (output.isPicture ? lengthOf(source) || this.job.frames / 25 : 0);
    this.mirror = new Mirror(this.job, Math.max(this.length, 1e-3));
    if (this.length > 0) this.length = this.mirror.length;
    this.play.hidden = !this.canPlay;
    this.slider.max = Math.max(this.length - this.mirror.frame / 2, 0);
    this.slider.step = this.length > 0 ? this.mirror.frame : "any";
    if (!this.isLoop && !this.mirror.isLinked) {
      put(this.note,
        source.isPicture ? "" : "This result does not show one range of one source: the source is played by itself.");
      source.figure.hidden = source.isPicture;
      source.media.controls = true;
    }
    this.show();
  }
  get canPlay() { return !this.sides.output.isPicture; }
  toggle() { this.isPlaying ? this.pause() : this.start(); }
  async start() {
    if (this.length === 0) return;
    if (this.time >= this.length - this.mirror.frame) this.seek(0);
    this.isPlaying = true;
    put(this.play, "Pause");
    try { await this.sides.output.media.play(); } catch { return this.pause(); }
    this.run();
  }
  pause() {
    this.isPlaying = false;
    put(this.play, "Play");
    cancelAnimationFrame(this.request);
    if (this.canPlay) this.sides.output.media.pause?.();
    this.follow();
  }
  run() {
    if (!this.isPlaying) return;
    this.heard();
    this.request = requestAnimationFrame(() => this.run());
  }
  /** Takes the position from the result that plays. */
  heard() {
    if (!this.canPlay) return;
    this.time = this.sides.output.media.currentTime;
    this.show();
  }
  seek(time) {
    this.time = Math.max(0, Math.min(time, Math.max(this.length - this.mirror.frame / 2, 0)));
    if (this.canPlay) this.sides.output.media.currentTime = this.time + Math.min(this.mirror.frame / 4, 0.001);
    this.show();
  }
  stepBy(frames) {
    this.pause();
    const at = Math.floor(this.time / this.mirror.frame + 0.01);
    this.seek((at + frames) * this.mirror.frame);
  }
  show() {
    if (this.isLoop) return;
    const { mirror } = this;
    this.slider.value = this.time;
    put(this.readout, `${place(this.time)} / ${place(this.length)}`);
    mark(this.slider, "aria-valuetext",
      `${place(this.time)} of ${place(this.length)}, frame ${Math.floor(this.time / mirror.frame + 0.01)}`);
    put(this.sides.output.where, place(this.time));
    if (this.sides.output.isPicture) this.drawFrame(this.sides.output);
    if (mirror.isLinked) {
      put(this.sides.source.where, `${place(mirror.source(this.time))}${mirror.isBackwards ? " ◂" : ""}`);
      this.follow();
    }
  }
  /** Steps the source to its moment: a video cannot play backwards. One seek at a time, the latest counts. */
  follow() {
    const { source } = this.sides;
    if (!this.mirror.isLinked || this.length === 0 || this.isLoop) return;
    if (source.isPicture) return this.drawFrame(source);
    if (source.media.readyState === 0 || source.media.seeking) return;
    // A copy has the job's range alone.
    const begin = source.isProxied ? this.mirror.from : 0;
    const wanted = Math.min(this.mirror.source(this.time) - begin, Math.max((source.media.duration || 0) - 0.001, 0));
    if (Math.abs(source.media.currentTime - wanted) > this.mirror.sourceFrame / 8) source.media.currentTime = wanted;
  }
  /** Shows the frame of the position once that rests: a worker's engine has to make each. */
  drawFrame(side) {
    clearTimeout(side.timer);
    if (this.isPlaying || side.isBusy || !side.image || this.length === 0) return;
    side.timer = setTimeout(() => this.loadFrame(side), 150);
  }
  loadFrame(side) {
    if (this.isClosed) return;
    const number = side.name === "output" ? Math.floor(this.time / this.mirror.frame + 0.01)
      : Math.max(Math.floor(this.mirror.source(this.time) / this.mirror.sourceFrame + 0.01), 0);
    if (number === side.number) return;
    side.number = number;
    side.isBusy = true;
    side.image.src = `api/v1/${jobPath(this.job.id, `/frames/${side.name}/${number}.jpg`)}`;
  }
  close() {
    this.isClosed = true;
    this.closing.abort();
    this.pause();
    for (const { media } of Object.values(this.sides)) {
      media.removeAttribute("src");
      media.load?.();
    }
  }
}
