// What pages have in common.

import { Problem, ask } from "./api.js";
import { isStreamLost, noteAnswer, setTrouble } from "./connection.js";
import { bdi, button, h } from "./elements.js";
import { say } from "./parts.js";
import { sentence } from "./words.js";

/** A page: loading with a visible problem, trying again, and an end. */
export class Page {
  title = "reel";
  element = h("div");
  /** The job of which events are wanted; undefined for all. */
  scope = undefined;
  isLoaded = false;
  /** When its figures were read. */
  freshAt = null;
  retryAt = null;
  /** Whether it is shown again as it was on the way back. */
  isKept = false;

  open() {
    this.abort = new AbortController();
    this.refresh();
  }
  close() {
    this.abort?.abort();
    this.abort = null;
  }
  get isOpen() { return this.abort != null; }
  /** Moves the focus to the heading of a page that one has just come to, as soon as it can be seen. */
  focusHeading() {
    const heading = this.element.querySelector("h1");
    if (!this.wantsFocus || !heading || heading.getClientRects().length === 0) return;
    this.wantsFocus = false;
    if (document.activeElement && this.element.contains(document.activeElement)) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  ask(path, options) { return ask(path, { ...options, signal: this.abort?.signal }); }

  /** Reads everything again; one reading at a time, and one more if it was asked for meanwhile. */
  async refresh() {
    if (!this.isOpen) return;
    const { signal } = this.abort;
    if (this.reading?.signal === signal) {
      this.reading.again = true;
      return;
    }
    const reading = { signal, again: false };
    this.reading = reading;
    this.retryAt = null;
    const slow = setTimeout(() => this.showLoading(), 500);
    try {
      await this.read();
      if (signal.aborted) return;
      this.isLoaded = true;
      this.removeProblem();
      this.focusHeading();
      this.noteFresh();
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    } finally {
      clearTimeout(slow);
      this.loading?.remove();
      if (this.reading === reading) {
        this.reading = null;
        if (reading.again && this.retryAt == null) this.refresh();
      }
    }
  }
  showLoading() {
    if (this.isLoaded || this.problem) return;
    this.loading = h("p.muted", "Loading…");
    this.element.append(this.loading);
  }
  noteFresh() {
    this.freshAt = Date.now();
    noteAnswer(this.freshAt);
  }
  /** Shows what went wrong and comes back if that may pass. */
  fail(error) {
    if (!(error instanceof Problem)) {
      if (error.name === "AbortError") return;
      console.error(error);
      error = new Problem(0, { detail: `This page failed: ${error.message}` });
    }
    if (error.status === 401) return;
    const passes = error.status === 0 || error.status === 429 || error.status >= 500;
    if (passes) this.retryAt = Date.now() + (error.retryAfter ?? 3) * 1000;
    if (this.isLoaded && passes) setTrouble("api", `${sentence(error.message)} Trying again.`);
    else this.showProblem(error, passes);
  }
  showProblem(error, passes) {
    this.removeProblem();
    this.problem = h("section.panel", { role: "alert" },
      h("h2", error.status === 403 ? "Not allowed" : error.status === 404 ? "Not found" : "This cannot be shown"),
      h("p", bdi(sentence(error.message))),
      error.code && h("p.hint", "Code: ", h("code", error.code)),
      passes && h("p.bar", button("Try again", () => this.refresh()), h("span.muted", "It is tried again by itself.")));
    this.element.append(this.problem);
    if (this.body) this.body.hidden = true;
  }
  removeProblem() {
    this.problem?.remove();
    this.problem = null;
    if (this.body) this.body.hidden = false;
  }
  /** Hears of an event of the board. */
  changed() {}
  /** Whether it may read again of its own accord. */
  get canReread() { return this.isLoaded && this.retryAt == null && !this.reading && !isStreamLost(); }
  /** Called once a second while the page can be seen. */
  pulse() {
    if (this.retryAt != null && Date.now() >= this.retryAt) this.refresh();
  }
  /** Does something on a button's behalf, with the button at rest meanwhile; whether it worked. */
  async act(control, done, path, options) {
    if (control) control.disabled = true;
    try {
      const answer = await ask(path, options);
      if (done) say(done);
      return answer ?? true;
    } catch (error) {
      say(sentence(error.message));
      return null;
    } finally {
      if (control) control.disabled = false;
    }
  }
}

/** A page that is read again after events, and on a tick while something runs; slow answers slow it down. */
export class TickingPage extends Page {
  isDirty = false;
  lastRead = 0;
  pace = 2000;
  async read() {
    this.isDirty = false;
    const began = performance.now();
    await this.readAll();
    this.lastRead = Date.now();
    this.pace = Math.max(2000, (performance.now() - began) * 10);
  }
  changed() { this.isDirty = true; }
  pulse() {
    super.pulse();
    if (!this.canReread) return;
    const passed = Date.now() - this.lastRead;
    if ((passed > this.pace - 100 && (this.isDirty || this.isBusy)) || passed > 15000) this.refresh();
  }
}
