// What a clip looks like: its source, a frame at a time or playing, and a preview of what becomes of it.

import { button, h, put } from "./elements.js";
import { Preview } from "./preview.js";
import { place, sentence } from "./words.js";

export class Screen {
  constructor() {
    this.video = h("video", { preload: "auto", playsinline: true, "aria-label": "The source" });
    this.still = h("canvas", { role: "img", "aria-label": "A frame of the source" });
    this.moving = h("canvas", { role: "img", "aria-label": "Preview of the result" });
    this.where = h("output.mono.nowrap");
    this.told = h("span.hint", { role: "status" });
    this.playButton = button("Play the range", () => this.isPlaying ? this.pause() : this.play());
    this.previewButton = button("Preview the result", () => this.isPreviewing ? this.pause() : this.preview(), "primary");
    this.element = h("div.screen", h("div.stage", this.video, this.still, this.moving),
      h("div.bar", this.previewButton, this.playButton, this.where, this.told));
    this.mover = new Preview(this.moving);
    this.video.addEventListener("error", () => this.useFrames());
    this.video.addEventListener("loadedmetadata", () => {
      if (this.video.videoWidth === 0 && this.facts?.frames > 0) this.useFrames();
      else this.seek();
    });
    this.video.addEventListener("seeked", () => this.seek());
    this.video.addEventListener("ended", () => this.again());
  }
  /** Shows a source, with its range, and what a preview is to show. */
  show(facts, clipsOf) {
    this.clipsOf = clipsOf;
    if (facts === this.facts) return;
    this.close();
    Object.assign(this, { facts, isStill: false, frame: null, shown: null });
    this.useVideo(true);
    // Of sound alone, browsers show no picture.
    this.video.controls = facts.frames === 0;
    this.previewButton.hidden = this.where.hidden = facts.frames === 0;
    this.video.src = facts.fileURL();
  }
  close() {
    this.pause();
    this.loading?.abort();
    this.facts = null;
    this.video.removeAttribute("src");
    this.video.load();
  }
  useVideo(isVideo) {
    this.video.hidden = !isVideo;
    this.still.hidden = isVideo;
    this.moving.hidden = true;
    this.playButton.hidden = !isVideo || this.facts?.frames === 0;
  }
  /** Shows single frames of a source that the browser cannot play. */
  useFrames() {
    if (!this.facts || this.isStill || !this.video.getAttribute("src")) return;
    this.isStill = true;
    this.useVideo(false);
    if (this.facts.frames === 0) return put(this.told, "The browser cannot play this sound.");
    this.seek();
  }
  /** Shows a frame. */
  look(frame) {
    this.pause();
    this.frame = frame;
    put(this.where, `${place(this.facts.start(frame))}, frame ${frame}`);
    this.seek();
  }
  seek() {
    const { facts, frame, video } = this;
    if (!facts || frame == null || this.isPlaying || this.isPreviewing) return;
    if (this.isStill) return this.load();
    // One seek at a time; the latest counts.
    if (video.readyState === 0 || video.seeking) return;
    const wanted = facts.start(frame) + Math.min((facts.start(frame + 1) - facts.start(frame)) / 4, 0.001);
    if (Math.abs(video.currentTime - wanted) > 5e-4) video.currentTime = wanted;
  }
  /** Loads a frame once the position rests: an engine has to make each. */
  load() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const { facts, frame } = this;
      if (!facts || frame === this.shown) return;
      this.loading?.abort();
      this.loading = new AbortController();
      try {
        const picture = await facts.sheet(frame, 1, 1, this.loading.signal);
        if (facts !== this.facts) return;
        [this.still.width, this.still.height] = [picture.width, picture.height];
        this.still.getContext("2d").drawImage(picture, 0, 0);
        this.shown = frame;
        put(this.told, "");
      } catch (error) {
        if (error.name !== "AbortError") put(this.told, sentence(error.message));
      }
    }, 120);
  }

  // Playing

  get range() { return this.facts.range(this.clipsOf()[0]); }
  async play() {
    this.pause();
    const [from, to] = this.range;
    if (to === 0) return;
    this.isPlaying = true;
    put(this.playButton, "Pause");
    this.video.currentTime = this.facts.start(from) + 0.001;
    try { await this.video.play(); } catch { return this.pause(); }
    const check = () => {
      if (!this.isPlaying) return;
      put(this.where, place(this.video.currentTime));
      if (this.video.currentTime >= this.facts.start(this.range[1]) - 0.005) this.again();
      requestAnimationFrame(check);
    };
    check();
  }
  /** Plays the range from its start again. */
  again() {
    if (!this.isPlaying) return;
    this.video.currentTime = this.facts.start(this.range[0]) + 0.001;
    if (this.video.paused) this.video.play().catch(() => this.pause());
  }
  async preview(clips = this.clipsOf(), turn = this.turnOf?.()) {
    this.pause();
    this.isPreviewing = true;
    put(this.previewButton, "Stop");
    put(this.told, "The frames are being read.");
    try {
      await this.mover.start(clips, turn);
      if (!this.isPreviewing) return;
      this.moving.hidden = false;
      this.video.hidden = this.still.hidden = true;
      put(this.where, "");
      put(this.told, `${place(this.mover.length)} long, again and again, without sound`);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.pause();
      put(this.told, sentence(error.message));
    }
  }
  pause() {
    const wasPreviewing = this.isPreviewing;
    this.mover.stop();
    this.isPlaying = this.isPreviewing = false;
    this.video.pause();
    put(this.playButton, "Play the range");
    put(this.previewButton, "Preview the result");
    if (!wasPreviewing) return;
    put(this.told, "");
    this.useVideo(!this.isStill);
    this.seek();
  }
}
