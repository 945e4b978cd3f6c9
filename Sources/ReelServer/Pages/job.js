// One job.

import { jobPath } from "./api.js";
import { live } from "./connection.js";
import { bdi, button, codeOf, h, panel, put, refill } from "./elements.js";
import { Films } from "./films.js";
import {
  doneWords, isMoving, isOver, jobName, labelsOf, percent, picturedSide, shownState, sortedLabels, tag,
} from "./jobFacts.js";
import { PassesSection, clipList, engineList, failureList, fileList, optionList } from "./jobSections.js";
import { forgetJobs, go } from "./navigation.js";
import { Page } from "./page.js";
import { Facts, Section, badge, dialog, setBadge } from "./parts.js";
import { Result } from "./result.js";
import { may, mayWrite, session } from "./session.js";
import { Strip, cellsOfCounts, readCells } from "./strip.js";
import { ago } from "./time.js";
import { clock, grouped, nonEmpty, size, speed } from "./words.js";

export class JobPage extends Page {
  lastTick = 0;
  isDirty = false;

  constructor(id) {
    super();
    this.id = this.scope = id;
    this.title = id;
    this.heading = h("h1", bdi(id));
    this.state = badge("waiting");
    this.sub = h("p.muted");
    this.actions = h("div.bar");
    this.notices = h("div");
    this.strip = new Strip();
    this.facts = new Facts("facts");
    this.what = h("p.what");
    this.result = h("div");
    this.crumb = bdi("");
    this.films = new Films(this);
    this.passes = new PassesSection(this);
    this.sections = {
      diagnostics: new Section("Changed or left out", (list) => h("ul.list", list.map((entry) =>
        h("li", bdi(entry.message), codeOf(entry.code))))),
      failures: new Section("Failures", (value) => failureList(value, this)),
      excluded: new Section("Excluded workers", (list) => h("ul.list", list.map((entry) =>
        h("li", h("strong", bdi(entry.host)), `: `, bdi(entry.reason),
          h("div.muted.small.mono", entry.worker, " · ", entry.code))))),
      engines: new Section("Workers on it", engineList),
      clips: new Section("Clips", clipList),
      options: new Section("What was asked for", optionList),
      sources: new Section("Files", fileList),
    };
    const { sections } = this;
    this.body = h("div",
      h("div.head", h("div", this.heading, this.what, h("div.bar", this.state, this.sub)), this.actions), this.notices,
      this.result, this.progress = h("section.panel", h("h2", "Progress"), this.strip.element, h("div.gap"), this.facts.element),
      this.films.element, sections.failures.element,
      h("div.columns",
        ["diagnostics", "options", "engines", "excluded", "clips", "sources"].map((name) => sections[name].element)),
      this.figures = h("div"), this.passes.element);
    this.body.hidden = true;
    this.element = h("div",
      h("nav.small.crumbs", { "aria-label": "Place" }, h("a", { href: "." }, "Jobs"),
        h("span.muted", { "aria-hidden": "true" }, " / "), this.crumb), this.body);
  }
  close() {
    super.close();
    this.strip.close();
    this.films.close();
    this.player?.close();
  }

  async read() {
    this.isDirty = false;
    const job = await this.ask(jobPath(this.id));
    this.show(job);
    await this.readStrip();
  }
  async readStrip() {
    const { job } = this;
    this.strip.element.hidden = job.passes === 0;
    let cells = null;
    if (job.passes > 0 && job.state !== "done") {
      const fitting = Math.floor(this.strip.canvas.clientWidth / 4) || 200;
      cells = await readCells(this, job, Math.min(job.passes, Math.max(60, Math.min(fitting, 300))));
    }
    this.strip.update(cells ?? cellsOfCounts(job, 200));
  }
  changed() { this.isDirty = true; }
  pulse() {
    super.pulse();
    if (!this.canReread) return;
    const time = Date.now();
    const ticks = time - this.lastTick > 1900 && isMoving(this.job) && this.job.passesLive > 0;
    if (!this.isDirty && !ticks) return;
    this.lastTick = time;
    this.refresh();
    this.passes.again();
  }

  show(job) {
    this.job = job;
    if (job.id !== this.id) {
      this.id = this.scope = job.id;
      live.follow(this);
    }
    this.title = jobName(job);
    const done = isOver(job) || job.frames === 0 ? "" : `${percent(job)} · `;
    document.title = `${done}${this.title} · reel`;
    put(this.heading.firstChild, jobName(job));
    put(this.crumb, jobName(job));
    put(this.what, doneWords(job));
    // The figures of a job that is done come last.
    if (job.state === "done" && this.progress.parentNode !== this.figures) this.figures.append(this.progress);
    if (job.state !== "done" && this.progress.parentNode === this.figures) this.result.after(this.progress);
    put(this.progress.firstChild, job.state === "done" ? "How it was done" : "Progress");
    setBadge(this.state, shownState(job));
    this.showHead(job);
    this.showNotices(job);
    this.showFacts(job);
    this.showResult(job);
    if (picturedSide(job) != null || job.state === "probing") this.films.update(job);
    const { sections } = this;
    const reasons = job.excluded.map((entry) => entry.reason);
    const told = new Set([...job.diagnostics.map((entry) => entry.message), job.waitReason]);
    const others = job.warnings.filter((text) => !told.has(text) && !reasons.some((reason) => text.includes(reason)));
    sections.diagnostics.update(nonEmpty([...job.diagnostics, ...others.map((message) => ({ message }))]));
    sections.failures.update(job.failureCount > 0 || job.failures.length > 0
      ? { list: job.failures, count: job.failureCount, passes: job.passes } : null);
    sections.excluded.update(nonEmpty(job.excluded));
    sections.engines.update(nonEmpty(job.engines));
    sections.clips.update(nonEmpty(job.clips));
    sections.options.update(job.options ?? null);
    sections.sources.update({
      sources: nonEmpty(job.sources) ?? [job.source], bytes: job.outputBytes, sha: job.outputSha256,
    });
    this.passes.update(job);
  }
  showHead(job) {
    const text = JSON.stringify([job.state, job.paused, job.name, job.labels, job.weight, job.output != null, session]);
    if (text === this.headText) return;
    this.headText = text;
    refill(this.sub, h("span.mono", job.id), " ", sortedLabels(job).map(tag));
    const send = (word, done) => button(word, (event) => this.send(event.currentTarget, word.toLowerCase(), done));
    const had = this.actions.contains(document.activeElement);
    refill(this.actions,
      mayWrite("operator") && job.state === "failed" && send("Retry", "The job runs again."),
      mayWrite("operator") && !isOver(job) && (job.paused ? send("Resume", "The job goes on.")
        : send("Pause", "The job is paused; passes in flight are finished.")),
      mayWrite("operator") && button(isOver(job) ? "Name and labels…" : "Name, labels, weight…", () => this.edit()),
      mayWrite("operator") && !isOver(job) && button("Cancel…", () => this.cancel(), "danger"),
      mayWrite("admin") && isOver(job) && button("Remove…", () => this.remove(), "danger"));
    if (had) this.actions.querySelector("a, button")?.focus();
  }
  async send(control, verb, done) {
    const job = await this.act(control, done, jobPath(this.id, `/${verb}`), { method: "POST" });
    if (job?.id && this.isOpen) this.show(job);
    if (this.isOpen) this.refresh();
  }
  async cancel() {
    const isSure = await dialog("Cancel this job?",
      h("p", bdi(jobName(this.job)), " ends; its engines are stopped within seconds. Finished passes are lost."),
      "Cancel the job", "danger");
    if (isSure) this.send(null, "cancel", "The job is cancelled.");
  }
  async remove() {
    const isSure = await dialog("Remove this job?",
      h("p", bdi(jobName(this.job)), " and its result in the store are removed; fetched copies are kept."),
      "Remove the job", "danger");
    if (isSure && await this.act(null, "The job is removed.", jobPath(this.id), { method: "DELETE" })) {
      forgetJobs();
      go(".");
    }
  }
  async edit() {
    const weight = h("input", {
      type: "number", min: 0.001, max: 1000, step: "any", required: true, value: this.job.weight,
    });
    const name = h("input", { type: "text", maxlength: 100, value: this.job.name ?? "", spellcheck: "false" });
    const labels = h("textarea", { rows: 4, spellcheck: "false" },
      Object.entries(this.job.labels).map(([name, value]) => `${name}=${value}\n`));
    const wrong = h("p.wrong", { role: "alert" });
    const old = this.job;
    const change = await dialog(isOver(old) ? "Name and labels" : "Name, labels and weight", [
      h("label.field", h("span", "Name"), name, h("div.hint", "Empty for the name of its file.")),
      !isOver(old) && h("label.field", h("span", "Weight"), weight,
        h("div.hint", "Share of the work beside other jobs: 3 gets three times as much as 1.")),
      h("label.field", h("span", "Labels"), labels, h("div.hint", "One in each line, as project=trailer.")), wrong,
    ], "Save", "", () => {
      try {
        const change = { labels: labelsOf(labels.value) };
        if (name.value.trim() !== (old.name ?? "")) change.name = name.value.trim() || null;
        if (Number(weight.value) !== old.weight) change.weight = Number(weight.value);
        return change;
      } catch (error) {
        put(wrong, error.message);
        return null;
      }
    });
    if (!change) return;
    const job = await this.act(null, "The change is saved.", jobPath(this.id), { method: "PATCH", body: change });
    if (!job) return;
    forgetJobs();
    if (job.id && this.isOpen) this.show(job);
    else if (this.isOpen) this.refresh();
  }

  showNotices(job) {
    const notices = [];
    if (job.failure) notices.push(["bad", "Failed: ", job.failure, job.failureReason?.code]);
    if (job.waitReason) notices.push(["odd", "Waits: ", job.waitReason, job.waitCode]);
    if (job.state === "probing" && !job.waitReason) {
      notices.push(["", "", "The source is being read to make the plan."]);
    }
    if (job.state === "assembling") {
      const done = job.assembled == null ? "" : ` (${Math.floor(job.assembled * 100)} %)`;
      notices.push(["", "", `All passes are done: the segments are being joined and verified${done}.`]);
    }
    const text = JSON.stringify(notices);
    if (text === this.noticesText) return;
    this.noticesText = text;
    this.notices.replaceChildren(...notices.map(([kind, word, message, code]) =>
      h("p", { class: `notice ${kind}` }, word && h("strong", word), bdi(message), codeOf(code))));
  }
  showFacts(job) {
    const rows = [
      job.frames > 0 && ["Frames", `${grouped(job.framesEncoded)} of ${grouped(job.frames)}`, percent(job)],
      job.framesDecoded > 0 && ["Decoded", grouped(job.framesDecoded), "frames, including frames that passes discard"],
      !isOver(job) && job.passes > 0 && ["Speed", speed(job.framesPerSecond), "over the last minute"],
      job.eta != null && ["ETA", clock(job.eta), "at that speed"],
      job.passes > 0 && ["Passes", `${grouped(job.passesDone)} of ${grouped(job.passes)}`,
        [[job.passesLive, "in flight"], [job.passesReady, "ready"], [job.passesRetrying, "retrying"],
          [job.passesExhausted, "exhausted"]]
          .filter(([number]) => number > 0).map(([number, word]) => `${grouped(number)} ${word}`).join(", ")],
      job.oldestWait != null && ["Oldest wait", clock(job.oldestWait), "of a ready pass"],
      ["Memory", job.need > 0 ? size(job.need) : "–",
        "a pass" + (job.peakRSS > 0 ? `, ${size(job.peakRSS)} at most so far` : "")],
      ["Weight", String(job.weight), "share of the work"],
      ["Submitted", ago(job.created, " ago"), job.submitter ? `by ${job.submitter}` : ""],
      job.finished != null && ["Ended", ago(job.finished, " ago"), `after ${clock(job.finished - job.created)}`],
    ].filter(Boolean);
    this.facts.update(rows);
  }
  showResult(job) {
    if (this.resultOf === job.output || job.state !== "done" || job.output == null) return;
    this.resultOf = job.output;
    this.player?.close();
    if (may("operator")) {
      this.player = new Result(job);
      this.result.replaceChildren(this.player.element);
    } else {
      this.result.replaceChildren(panel("Result",
        h("p.muted", "Watching and downloading the result needs the role operator.")));
    }
  }
}
