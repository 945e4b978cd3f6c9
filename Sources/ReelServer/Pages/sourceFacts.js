// What the server knows of a source before there is a job: its frames and their times, and small pictures.

import { apiURL, ask, askPicture, part, pause } from "./api.js";
import { moment } from "./words.js";

/** A source as the server has read it. Frames are counted from 0; times are seconds from the file's start. */
export class SourceFacts {
  constructor(source, { name, width, height, starts, found }) {
    Object.assign(this, { source, name, width, height, starts, bytes: found.size });
    this.frames = width == null ? 0 : found.video.frames;
    this.hasSound = found.audio.length > 0;
    this.begin = found.videoStart - found.start;
    this.seconds = this.frames > 0 ? found.seconds : Math.max(found.seconds, ...found.audio.map((track) => track.end), 0);
    this.end = this.begin + this.seconds;
    this.frame = this.frames > 0 ? found.seconds / this.frames : 1;
  }
  /** When a frame begins; for the number of frames, when the last one ends. */
  start(frame) {
    if (frame >= this.frames) return this.end;
    return this.starts ? this.starts[Math.max(frame, 0)] : this.begin + Math.max(frame, 0) * this.frame;
  }
  /** The first frame that begins at a moment or later, as ranges count; the number of frames if there is none. */
  frameFrom(time) {
    const slack = 1e-4;
    if (!this.starts) {
      return Math.min(Math.max(Math.ceil((time - this.begin - slack) / this.frame), 0), this.frames);
    }
    const frame = this.starts.findIndex((start) => start >= time - slack);
    return frame < 0 ? this.frames : frame;
  }
  /** The range of a clip as frames from the first to before the last; empty if its moments make no range. */
  range({ from, to }) {
    const at = (text, usual) => text === "" ? usual
      : /^\d+f$/.test(text) ? Math.min(parseInt(text, 10), this.frames) : this.frameFrom(moment(text, this.frame));
    const [first, last] = [at(from, 0), at(to, this.frames)];
    return Number.isFinite(first) && Number.isFinite(last) && first < last ? [first, last] : [0, 0];
  }
  /** The text of a frame's start. It is rounded down, so that a range from there on begins with the frame, and one that
   *  ends there ends before it. */
  text(frame) {
    return String(Math.floor(this.start(frame) * 1000 + 1e-3) / 1000);
  }
  fileURL() { return apiURL(`previews/file?source=${part(this.source)}`).href; }
  /** Some frames side by side, from one on, each `step` after the one before. */
  sheet(first, step, count, signal) {
    return askPicture(`previews/frames.jpg?source=${part(this.source)}&first=${first}&step=${step}&count=${count}`, signal);
  }
}
/** The most frames of a sheet. */
export const mostOfSheet = 48;

const known = new Map();
/** The facts of a source. Reading a large one takes a while: it is asked for again. Throws `Problem`. */
export async function factsOf(source, signal) {
  while (!known.has(source)) {
    try {
      known.set(source, new SourceFacts(source, await ask(`previews?source=${part(source)}`, { signal })));
    } catch (error) {
      if (error.status !== 503 || error.retryAfter == null) throw error;
      await pause(error.retryAfter * 1000, signal);
    }
  }
  return known.get(source);
}
