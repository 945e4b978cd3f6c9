// The editor of one clip: its picture, its range, and how it is played.

import { button, h, mark, put } from "./elements.js";
import { RangeStrip } from "./rangeStrip.js";
import { Screen } from "./screen.js";
import { place } from "./words.js";

const own = ["from", "to", "speed", "times", "play"];

export class ClipEditor {
  clip = null;

  /** @param page has `fields`, and hears `clipEdited`. */
  constructor(page) {
    this.page = page;
    const { fields } = page;
    this.screen = new Screen();
    this.screen.turnOf = () => page.draft.turn;
    this.range = new RangeStrip((from, to) => this.chosen(from, to), (frame) => this.screen.look(frame));
    const step = (end, far, words) => button(far < 0 ? "◂" : "▸", () => {
      const { facts } = this.clip;
      const [from, to] = facts.range(this.clip);
      this.range.show(facts, from, to);
      this.range.move(end, (end === "from" ? from : to) + far);
    }, "", { "aria-label": words, title: words });
    this.steps = [
      step("from", -1, "Begin one frame earlier"), step("from", 1, "Begin one frame later"),
      step("to", -1, "End one frame earlier"), step("to", 1, "End one frame later"),
    ];
    this.length = h("p.hint", { role: "status" });
    this.silent = h("input", { type: "checkbox", id: "field-isSilent", name: "isSilent" });
    this.silence = h("label.inline", this.silent, "without its sound");
    this.loading = h("p.muted", { role: "status" });
    this.picture = h("div.picture", this.screen.element, this.range.element);
    this.controls = h("div.controls",
      fields.radios("play", "Play", [["reverse", "backwards"], ["forward", "forward"], ["ping-pong", "forth and back"]]),
      h("div.ends",
        h("div.end", fields.text("from", "From", "", "start"), h("div.bar", this.steps.slice(0, 2))),
        h("div.end", fields.text("to", "To", "", "end"), h("div.bar", this.steps.slice(2)))),
      this.length,
      h("div.ends", fields.text("speed", "Speed", "2, 1/2; 1/16 to 16", "1"),
        fields.text("times", "Times", "How often", "1", { inputmode: "numeric" })),
      fields.choice("turn", "Turn", [["", "once"], ["twice", "twice"]], "How often the frames are shown where it turns"),
      this.silence);
    this.title = h("h2");
    this.element = h("section.panel.editor", this.title, this.loading, h("div.sides", this.picture, this.controls));
    this.element.hidden = true;
  }
  /** Shows a clip; null for none. */
  show(clip, title) {
    const isNew = clip !== this.clip;
    this.clip = clip;
    this.element.hidden = clip == null;
    if (clip == null) return this.screen.close();
    put(this.title, title);
    const { fields } = this.page;
    for (const name of own) if (isNew || document.activeElement !== fields.controls[name].control) fields.set(name, clip[name]);
    fields.set("turn", this.page.draft.turn);
    this.silent.checked = clip.isSilent;
    this.refresh(isNew);
  }
  /** Shows what has changed of the clip. */
  refresh(isNew = false) {
    const { clip, page } = this;
    if (clip == null) return;
    const { facts } = clip;
    page.fields.show("turn", clip.play === "ping-pong");
    this.silence.hidden = facts != null && !facts.hasSound;
    this.picture.hidden = facts == null;
    this.loading.hidden = facts != null;
    put(this.loading, clip.trouble ? "" : clip.note ? clip.note : clip.source == null ? "The picture comes as soon as the file is uploaded."
      : "The file is being read.");
    this.range.element.hidden = facts == null || facts.frames === 0;
    for (const control of this.steps) control.disabled = facts == null || facts.frames === 0;
    if (facts == null) {
      put(this.length, "Seconds, 1:30.5, 2715f or 00:01:30:15");
      return this.screen.close();
    }
    this.screen.show(facts, () => [clip]);
    const [from, to] = facts.range(clip);
    if (facts.frames > 0) {
      put(this.length, to === 0 ? "No frame lies in this range."
        : `${place(facts.start(to) - facts.start(from))} of ${place(facts.seconds)}, ${to - from} frames`);
      if (to > 0) this.range.show(facts, from, to);
      if (isNew || this.screen.frame == null) this.screen.look(to > 0 ? from : 0);
    } else put(this.length, `The sound is ${place(facts.seconds)} long.`);
  }
  /** Takes a range from the strip. */
  chosen(from, to) {
    const { clip, page } = this;
    const { facts } = clip;
    clip.from = from === 0 ? "" : facts.text(from);
    clip.to = to === facts.frames ? "" : facts.text(to);
    page.fields.set("from", clip.from);
    page.fields.set("to", clip.to);
    page.fields.clear();
    page.clipEdited(clip);
  }
  /** Takes what was typed or chosen; false if the field is not one of the clip's. */
  take(name) {
    const { clip, page } = this;
    if (clip == null) return false;
    if (name === "isSilent") clip.isSilent = this.silent.checked;
    else if (name === "turn") page.draft.turn = page.fields.value("turn");
    else if (own.includes(name)) clip[name] = page.fields.value(name);
    else return false;
    if (name !== "from" && name !== "to") this.screen.pause();
    page.clipEdited(clip);
    return true;
  }
  /** Plays clips, as they will be, in the place of the picture. */
  preview(clips) {
    this.screen.preview(clips);
    this.element.scrollIntoView({ block: "nearest" });
  }
  close() {
    this.screen.close();
    this.range.close();
  }
}
