// The result of a job, large and at once.

import { askProxy, jobPath } from "./api.js";
import { button, h, mark, put } from "./elements.js";
import { draftOf } from "./draftOf.js";
import { holds } from "./formats.js";
import { go } from "./navigation.js";
import { Player } from "./player.js";
import { mayWrite } from "./session.js";
import { size } from "./words.js";

export class Result {
  closing = new AbortController();

  constructor(job) {
    this.job = job;
    const source = `api/v1/${jobPath(job.id, "/output")}`;
    const { container } = job.options ?? {};
    const kind = holds(container);
    this.note = h("p.hint", { role: "status" });
    this.stage = h("div.hero");
    this.sides = h("details", { ontoggle: () => this.showSides() }, h("summary", kind === "pictures" ? "Beside the source" : "Beside the source, frame by frame"), h("div"));
    if (kind === "pictures") {
      this.media = h("img", { src: source, alt: "The result, which moves" });
    } else {
      this.media = h(kind === "sound" ? "audio" : "video", {
        src: source, controls: true, loop: true, playsinline: true, preload: "auto", "aria-label": "The result",
      });
      this.media.addEventListener("error", () => this.failed());
      this.media.addEventListener("loadedmetadata", () => {
        if (kind === "video" && this.media.videoWidth === 0) this.failed();
      });
      // Browsers let only silent videos begin by themselves.
      if (kind === "video" && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
        this.media.muted = true;
        this.media.autoplay = true;
      }
    }
    this.stage.append(this.media);
    this.element = h("section.panel.result", h("h2.unseen", "Result"), this.stage, this.buttons(source, container, kind), this.note,
      kind === "sound" ? null : this.sides);
  }
  buttons(source, container, kind) {
    const loop = kind === "pictures" ? null : button("Loop", () => {
      this.media.loop = !this.media.loop;
      mark(loop, "aria-pressed", String(this.media.loop));
    }, "toggle", { "aria-pressed": "true" });
    const full = kind !== "sound" && document.fullscreenEnabled
      && button("Full screen", () => this.media.requestFullscreen?.().catch(() => {}));
    const again = (change) => () => {
      draftOf(this.job, change);
      go("submit");
    };
    this.ofMedia = [loop, full].filter(Boolean);
    const bytes = this.job.outputBytes ? ` (${size(this.job.outputBytes)})` : "";
    return h("div.bar", h("a.button.primary", { href: source, download: "" }, `Download${bytes}`), loop, full,
      mayWrite("operator") && kind === "video" && button("Also as GIF…", again({ container: "gif" })),
      mayWrite("operator") && button("Again with other settings…", again({})));
  }
  /** Shows a small copy of a result that the browser cannot play. */
  async failed() {
    if (this.isProxied || holds(this.job.options?.container) !== "video") return this.showFrames();
    this.isProxied = true;
    put(this.note, "The browser cannot play this format: a small copy is made to show it.");
    try {
      this.media.src = await askProxy(this.job.id, "output", this.closing.signal);
    } catch {
      return this.showFrames();
    }
    put(this.note, "This is a small copy, since the browser cannot play the format. The download is the result itself.");
  }
  /** Hides the player, where there is no copy either: the frames are below. */
  showFrames() {
    if (this.isClosed || !this.media.isConnected) return;
    put(this.note, "The browser cannot play this format. Its frames are below; download it to watch it.");
    this.stage.hidden = true;
    for (const control of this.ofMedia) control.hidden = true;
    this.sides.open = true;
  }
  showSides() {
    if (!this.sides.open || this.player) return;
    this.media.pause?.();
    this.player = new Player(this.job);
    this.sides.lastChild.replaceChildren(this.player.element);
  }
  close() {
    this.isClosed = true;
    this.closing.abort();
    this.player?.close();
    this.media.removeAttribute("src");
    this.media.load?.();
  }
}
