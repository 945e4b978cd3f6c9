// The sections of a job's page.

import { jobPath, part } from "./api.js";
import { bdi, button, codeOf, h, legible, pairs, put, tableHead } from "./elements.js";
import { shortFormat } from "./formats.js";
import { attemptWords, clipFrames, clipsOf, fileName, formOptions, isUploaded, playWords, sandboxWords } from "./jobFacts.js";
import { badge } from "./parts.js";
import { absolute } from "./time.js";
import { count, grouped, momentWords, nonEmpty, place, plainWord, rangeWords, ratio, sentence, size } from "./words.js";

export function failureList({ list, count: number, passes }, page) {
  const sorted = [...list].sort((a, b) => (b.recent?.at(-1)?.time ?? 0) - (a.recent?.at(-1)?.time ?? 0));
  const box = h("div", sorted.slice(0, 10).map((failure) => failureView(failure, passes)));
  const more = number > Math.min(sorted.length, 10) && button(`Show all ${grouped(number)}`, async (event) => {
    const control = event.currentTarget;
    const answer = await page.act(control, null,
      jobPath(page.id, `/failures${control.cursor ? `?cursor=${part(control.cursor)}` : ""}`));
    if (!answer) return;
    if (!control.cursor) box.replaceChildren();
    box.append(...answer.failures.map((failure) => failureView(failure, passes)));
    control.cursor = answer.next;
    put(control, "Show more");
    if (!answer.next) control.remove();
  });
  return [h("p.muted.small", `${count(number, "pass")} with failed attempts; the latest first.`), box, more];
}
function failureView(failure, passes) {
  const what = failure.kind === "assembly" || (passes > 0 && failure.index === passes) ? "The assembly"
    : failure.index < 0 ? "The probe" : `Pass ${failure.index}`;
  const range = failure.kind === "audio" ? "audio"
    : failure.firstFrame != null ? `frames ${failure.firstFrame} to ${failure.endFrame - 1}` : "";
  const where = range.startsWith("frames") && failure.from != null
    && `${place(failure.from)} to ${place(failure.to)} of the source`;
  return h("details", { "data-key": failure.index },
    h("summary", [what, range, where, attemptWords(failure.attempts)].filter(Boolean).join(", "),
      failure.lastMessage && h("div.muted.small.clamp", bdi(failure.lastMessage))),
    (failure.recent ?? []).map((attempt) => h("div.attempt",
      h("div.muted.small", h("time", { datetime: new Date(attempt.time * 1000).toISOString() }, absolute(attempt.time)),
        " · ", bdi(attempt.host), " · ", h("span.mono", attempt.worker)),
      h("strong", attempt.cause, ": "), bdi(attempt.message), codeOf(attempt.code),
      nonEmpty(attempt.log) && h("pre.log", { tabindex: 0, "aria-label": "Last words of the engine" },
        legible(attempt.log.join("\n"))))));
}
export function engineList(engines) {
  const hosts = [...Map.groupBy(engines, (engine) => engine.host)].sort(([a], [b]) => a < b ? -1 : 1);
  return h("ul.list", hosts.map(([host, list]) => {
    const words = new Set(list.filter((engine) => engine.sandbox).map((engine) => sandboxWords(engine.sandbox)));
    return h("li", h("strong", bdi(host)), list.length > 1 && `, ${list.length} workers`,
      h("div.muted.small", [...words].join("; ")));
  }));
}
export function clipList(clips) {
  const line = (clip) => {
    const what = clip.source == null ? "black" : `${clip.source}, ${clipFrames(clip)}`;
    const how = clip.passesDone === clip.passes ? "done" : clip.passesDone + clip.passesLive === 0 ? "waits"
      : `${clip.passesDone} of ${count(clip.passes, "pass")} done`
        + (clip.passesLive > 0 ? `, ${clip.passesLive} worked on` : "");
    return h("li", bdi(what), ": ", how);
  };
  return [h("ol.list", clips.slice(0, 12).map(line)),
    clips.length > 12 && h("p.muted", `and ${clips.length - 12} more`)];
}
/** The options that the submitter chose; defaults are left out. */
export function optionList(options) {
  const word = (name, value) => value === true ? "yes" : name === "container" ? shortFormat(value)
    : name === "maxSize" ? size(value) : /^-?\d+\/\d+$/.test(value) ? momentWords(value) : String(value);
  const words = { container: "format", fps: "most frames a second", maxSize: "largest file", loop: "repeats" };
  const rows = Object.entries(formOptions(options))
    .map(([name, value]) => [words[name] ?? plainWord(name), word(name, value)]);
  const clips = clipsOf({ options });
  if (clips.length > 1) return pairs([["clips", String(clips.length)], ...rows]);
  const [{ play, times, speed, ...range }] = clips;
  return pairs([
    ["played", playWords[play ?? "reverse"]], ["range", rangeWords(range)], ["times", times > 1 ? String(times) : null],
    ["speed", speed && ratio(speed) !== 1 ? momentWords(speed) : null], ...rows,
  ]);
}
/** The files of a job. The places of uploads and of results are the store's own affair. */
export function fileList({ sources, bytes, sha }) {
  return pairs([
    ...sources.slice(0, 8).map((path, index) => [index === 0 ? "source" : "", isUploaded(path) ? fileName(path) : path]),
    ["", sources.length > 8 && `and ${sources.length - 8} more`],
    ["size", bytes != null && `${size(bytes)} (${grouped(bytes)} bytes)`],
    ["SHA-256", sha && h("span.mono", sha)],
  ]);
}

/** The passes as a table, a page at a time; read only while it is open. */
export class PassesSection {
  cursor = null;
  constructor(page) {
    this.page = page;
    this.select = h("select", { "aria-label": "State of the passes", onchange: () => this.load(null) },
      [["", "all"], ["live", "running"], ["retrying"], ["exhausted"], ["waiting"], ["done"]]
        .map(([value, word]) => h("option", { value }, word ?? value)));
    this.select.style.width = "10rem";
    this.rows = h("tbody");
    this.note = h("p.muted");
    this.nextButton = button("Next page", () => this.load(this.next));
    this.firstButton = button("First page", () => this.load(null));
    const head = tableHead(
      ["Pass", "Kind", "State", "Frames of the source", "Worker", "Encoded", "Failed attempts"], [0, 3, 5]);
    this.details = h("details", { ontoggle: () => { if (this.details.open) this.load(this.cursor); } },
      h("summary", "Passes one by one"),
      h("div.bar", this.select, this.firstButton, this.nextButton), this.note,
      h("div.scroll", h("table", head, this.rows)));
    this.element = h("section.panel", this.details);
  }
  update(job) { this.element.hidden = job.passes === 0 || job.state === "done"; }
  again() { if (this.details.open && this.cursor == null && !this.isReading) this.load(null); }
  async load(cursor) {
    const query = new URLSearchParams();
    if (this.select.value) query.set("state", this.select.value);
    if (cursor) query.set("cursor", cursor);
    this.isReading = true;
    try {
      const { passes, next } = await this.page.ask(jobPath(this.page.id, `/passes?${query}`));
      this.cursor = cursor;
      this.next = next ?? null;
      this.rows.replaceChildren(...passes.map((pass) => h("tr",
        h("td.num", pass.kind === "assembly" ? "–" : String(pass.index)), h("td", pass.kind),
        h("td", badge(pass.state === "live" ? "running" : pass.state)),
        h("td.num", pass.firstFrame != null ? `${grouped(pass.firstFrame)} to ${grouped(pass.endFrame - 1)}` : ""),
        h("td.mono.small", pass.worker ? bdi(pass.worker) : ""),
        h("td.num", pass.framesEncoded != null ? grouped(pass.framesEncoded) : ""),
        h("td", attemptWords(pass.attempts) === "0" ? "" : attemptWords(pass.attempts)))));
      put(this.note, passes.length === 0 ? (next ? "None on this page." : "No pass is in this state.") : "");
    } catch (error) {
      if (error.name !== "AbortError") put(this.note, sentence(error.message));
    } finally {
      this.isReading = false;
    }
    this.nextButton.hidden = !this.next;
    this.firstButton.hidden = this.cursor == null;
  }
}
