// A moving preview of clips before there is a job, by small frames.

import { mostOfSheet } from "./sourceFacts.js";
import { ratio } from "./words.js";

/** The most frames of a clip that a preview shows. */
const mostFrames = 2 * mostOfSheet;

/** The frames that stand for a range: all, or every `step`-th up to its last, at which the direction may turn. */
function sampleOf([from, to]) {
  const step = Math.max(Math.ceil((to - from) / mostFrames), 1);
  const count = Math.floor((to - from - 1) / step) + 1;
  return { first: to - 1 - step * (count - 1), step, count };
}
/** The order in which frames of a sample are shown. */
export function orderOf(count, play, turn) {
  const forth = Array.from({ length: count }, (_, place) => place);
  const back = [...forth].reverse();
  if (play === "forward") return forth;
  if (play === "reverse") return back;
  return [...forth, ...(turn === "twice" ? back : back.slice(1, -1))];
}

/** What one clip shows: pictures with the seconds for which each is seen. */
async function framesOf(clip, turn, signal) {
  const { facts } = clip;
  const { first, step, count } = sampleOf(facts.range(clip));
  const cells = [];
  for (let done = 0; done < count; done += mostOfSheet) {
    const part = Math.min(mostOfSheet, count - done);
    const sheet = await facts.sheet(first + done * step, step, part, signal);
    const width = sheet.width / part;
    for (let place = 0; place < part; place++) cells.push({ sheet, x: place * width, width, height: sheet.height });
  }
  const speed = ratio(clip.speed || 1) || 1;
  const times = Math.min(Math.max(parseInt(clip.times, 10) || 1, 1), 100);
  const once = orderOf(count, clip.play, turn).map((place) => {
    const frame = first + place * step;
    const lasts = facts.start(Math.min(frame + step, facts.frames)) - facts.start(frame);
    return { ...cells[place], seconds: Math.max(lasts / speed, 0.001) };
  });
  return Array.from({ length: times }, () => once).flat();
}

/** Plays clips on a canvas, again and again. */
export class Preview {
  constructor(canvas) { this.canvas = canvas; }
  /** Loads the pictures, and plays them. Throws `Problem` and `AbortError`. */
  async start(clips, turn) {
    this.stop();
    const { signal } = this.abort = new AbortController();
    const frames = [];
    for (const clip of clips) frames.push(...await framesOf(clip, turn, signal));
    if (signal.aborted || frames.length === 0) return;
    let time = 0;
    for (const frame of frames) {
      frame.at = time;
      time += frame.seconds;
    }
    this.length = time;
    // Room for the largest picture; smaller ones keep their proportions.
    this.canvas.width = Math.max(...frames.map((frame) => frame.width));
    this.canvas.height = Math.max(...frames.map((frame) => frame.height));
    const began = performance.now();
    const show = (now) => {
      if (signal.aborted) return;
      const passed = Math.max(now - began, 0) / 1000 % this.length;
      this.draw(frames[this.placeAt(frames, passed)]);
      requestAnimationFrame(show);
    };
    show(began);
  }
  placeAt(frames, time) {
    let [low, high] = [0, frames.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (frames[middle].at <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }
  draw(frame) {
    if (frame === this.shown) return;
    this.shown = frame;
    const { canvas } = this;
    const context = canvas.getContext("2d");
    const scale = Math.min(canvas.width / frame.width, canvas.height / frame.height);
    const [width, height] = [frame.width * scale, frame.height * scale];
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(frame.sheet, frame.x, 0, frame.width, frame.height,
      (canvas.width - width) / 2, (canvas.height - height) / 2, width, height);
    // What is shown, for tests and for those who read along.
    canvas.dataset.frame = frame.x / frame.width;
  }
  stop() {
    this.abort?.abort();
    this.shown = null;
  }
}
