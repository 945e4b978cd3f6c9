// The clips as a strip: chosen, ordered and removed by mouse, finger and keys.

import { bdi, button, h, legible, mark, put, refill } from "./elements.js";
import { playWords } from "./jobFacts.js";
import { clock, rangeWords, size } from "./words.js";

export class ClipList {
  cards = new Map();

  /** @param page has `draft` and `selected`, and does what is asked: `select`, `remove`, `edited`. */
  constructor(page) {
    this.page = page;
    this.element = h("ol.clips", { "aria-label": "Clips, in their order" });
    this.said = h("span.unseen", { role: "status" });
  }
  show() {
    const { clips } = this.page.draft;
    this.element.hidden = clips.length === 0;
    const cards = clips.map((clip) => this.card(clip).element);
    for (const [clip] of this.cards) if (!clips.includes(clip)) this.cards.delete(clip);
    const focused = document.activeElement;
    const isSame = cards.length + 1 === this.element.childElementCount
      && cards.every((card, place) => this.element.children[place] === card);
    if (!isSame) {
      this.element.replaceChildren(...cards, this.said);
      if (this.element.contains(focused)) focused.focus();
    }
    for (const clip of clips) this.refresh(clip);
  }
  card(clip) {
    if (this.cards.has(clip)) return this.cards.get(clip);
    const { page } = this;
    const card = {
      clip, picture: h("canvas.thumb", { width: 16, height: 9, "aria-hidden": "true" }), name: h("span.name"), words: h("span.sub"),
      state: h("div.hint"), meter: h("progress", { max: 1, "aria-label": "Upload" }), bar: h("div.bar"),
    };
    card.face = h("button.face", {
      type: "button", onclick: () => { if (!this.wasDragged) page.select(clip); },
      onkeydown: (event) => this.pressed(event, clip),
    }, card.picture, card.name, card.words);
    const small = (sign, words, act) => button(sign, act, "quiet", { title: words });
    card.earlier = small("◂", "Earlier", () => this.move(clip, -1));
    card.later = small("▸", "Later", () => this.move(clip, 1));
    card.twice = small("+", "Once more", () => this.copy(clip));
    card.removal = small("✕", "Remove", () => page.remove(clip));
    card.tools = h("div.tools", card.earlier, card.later, card.twice, card.removal);
    card.element = h("li.card", card.face, card.meter, card.state, card.bar, card.tools);
    card.element.addEventListener("pointerdown", (event) => this.grab(event, clip));
    this.cards.set(clip, card);
    return card;
  }
  /** Shows what has changed of a clip. */
  refresh(clip) {
    const card = this.cards.get(clip);
    if (!card) return;
    const { clips } = this.page.draft;
    const number = clips.indexOf(clip) + 1;
    const { upload } = clip;
    put(card.name, legible(clip.name));
    put(card.words, [playWords[clip.play], rangeWords(clip), clip.times > 1 && `${clip.times} times`].filter(Boolean).join(", "));
    mark(card.face, "aria-pressed", String(clip === this.page.selected));
    mark(card.face, "aria-label", `Clip ${number} of ${clips.length}: ${legible(clip.name)}, ${card.words.textContent}. `
      + "Alt with ← or → moves it, Delete removes it.");
    for (const tool of card.tools.children) mark(tool, "aria-label", `${tool.title}: ${legible(clip.name)}`);
    card.earlier.disabled = number === 1;
    card.later.disabled = number === clips.length;
    card.earlier.hidden = card.later.hidden = clips.length < 2;
    card.element.classList.toggle("bad", clip.trouble !== "" || clip.isLost);
    this.showUpload(card, clip, upload);
    this.draw(card, clip);
  }
  showUpload(card, clip, upload) {
    const isUnder = upload != null && clip.source == null;
    card.meter.hidden = !upload || (upload.state === "done" && clip.facts != null);
    if (upload) card.meter.value = upload.offset / Math.max(upload.file.size, 1);
    const rest = upload?.pace > 0 && upload.state === "running"
      ? `, ${clock((upload.file.size - upload.offset) / upload.pace)} left` : "";
    const words = clip.trouble ? clip.trouble : clip.isLost ? "It was not uploaded wholly. Choose the file again."
      : isUnder ? [`${Math.floor(upload.offset * 100 / Math.max(upload.file.size, 1))} % of ${size(upload.file.size)}`,
        { paused: ", paused", queued: ", waits" }[upload.state] ?? rest, ". ", upload.note].join("")
        : [upload ? "Uploaded." : "", clip.bytes ? size(clip.bytes) : "", clip.facts?.frames === 0 ? "sound alone" : ""].filter(Boolean).join(" ");
    put(card.state, words);
    card.state.classList.toggle("wrong", clip.trouble !== "" || clip.isLost || upload?.state === "failed");
    if (card.shown === upload?.state) return;
    card.shown = upload?.state;
    refill(card.bar, isUnder && [
      upload.isActive && button("Pause", () => upload.stop("paused"), "quiet"),
      (upload.state === "paused" || upload.state === "failed")
        && button(upload.state === "paused" ? "Go on" : "Try again", () => upload.run(), "quiet"),
    ]);
  }
  /** Draws the first frame of the range. */
  async draw(card, clip) {
    const { facts } = clip;
    if (!facts || facts.frames === 0) return;
    const [from, to] = facts.range(clip);
    const frame = clip.play === "reverse" ? Math.max(to - 1, 0) : from;
    if (card.frame === frame && card.facts === facts) return;
    Object.assign(card, { frame, facts });
    clearTimeout(card.timer);
    card.timer = setTimeout(async () => {
      try {
        const picture = await facts.sheet(frame, 1, 1, this.page.abort?.signal);
        if (card.frame !== frame) return;
        const scale = Math.min(320 / picture.width, 180 / picture.height);
        [card.picture.width, card.picture.height] = [picture.width * scale, picture.height * scale];
        card.picture.getContext("2d").drawImage(picture, 0, 0, card.picture.width, card.picture.height);
      } catch { card.frame = null; }
    }, 400);
  }

  // Ordering

  move(clip, far) {
    const { draft } = this.page;
    const place = draft.clips.indexOf(clip) + far;
    if (place < 0 || place >= draft.clips.length) return;
    const focused = document.activeElement;
    draft.move(clip, place);
    this.page.edited();
    (focused?.disabled ? this.cards.get(clip).face : focused)?.focus();
    put(this.said, `${clip.name} is clip ${place + 1} of ${draft.clips.length} now.`);
  }
  copy(clip) {
    const { draft } = this.page;
    const other = clip.copy();
    draft.clips.splice(draft.clips.indexOf(clip) + 1, 0, other);
    this.page.follow(other);
    this.page.select(other);
  }
  pressed(event, clip) {
    const { clips } = this.page.draft;
    const far = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (far && event.altKey) this.move(clip, far);
    else if (far) {
      const other = clips[clips.indexOf(clip) + far];
      if (!other) return;
      this.page.select(other);
      this.cards.get(other).face.focus();
    } else if (event.key === "Delete") {
      this.page.remove(clip);
      this.cards.get(this.page.selected)?.face.focus();
    } else return;
    event.preventDefault();
  }
  /** Drags a card: it changes places with those whose middle the pointer passes. */
  grab(event, clip) {
    if (event.button !== 0 || event.pointerType === "touch" || event.target.closest(".tools, .bar")) return;
    const begin = event.clientX;
    const { element } = this.cards.get(clip);
    this.wasDragged = false;
    const moved = (event) => {
      if (!this.wasDragged && Math.abs(event.clientX - begin) < 8) return;
      this.wasDragged = true;
      element.classList.add("dragged");
      const { draft } = this.page;
      const place = draft.clips.indexOf(clip);
      const middle = (other) => {
        const box = this.cards.get(other).element.getBoundingClientRect();
        return box.left + box.width / 2;
      };
      const target = draft.clips.findLastIndex((other, index) => index > place && event.clientX > middle(other));
      const before = draft.clips.findIndex((other, index) => index < place && event.clientX < middle(other));
      if (target < 0 && before < 0) return;
      draft.move(clip, target >= 0 ? target : before);
      this.page.edited();
    };
    const ended = () => {
      element.classList.remove("dragged");
      removeEventListener("pointermove", moved);
      removeEventListener("pointerup", ended);
      removeEventListener("pointercancel", ended);
      // The click that follows a drag chooses nothing.
      setTimeout(() => { this.wasDragged = false; });
    };
    addEventListener("pointermove", moved);
    addEventListener("pointerup", ended);
    addEventListener("pointercancel", ended);
  }
}
