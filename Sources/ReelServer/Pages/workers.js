// Workers and their hosts.

import { jobPath, part } from "./api.js";
import { bdi, button, h, mark, pageHead, put, tableHead } from "./elements.js";
import { sandboxWords } from "./jobFacts.js";
import { TickingPage } from "./page.js";
import { badge, dialog } from "./parts.js";
import { mayWrite } from "./session.js";
import { age, clock, count, grouped, size, speed } from "./words.js";

/** The workers that are there, and how many slots they have, have busy and have out of work. */
function slotsOf(workers) {
  const alive = workers.filter((worker) => !worker.gone);
  const sum = (number) => alive.reduce((sum, worker) => sum + number(worker), 0);
  return {
    alive, slots: sum((worker) => worker.slots), busy: sum((worker) => worker.passes.length),
    out: sum((worker) => worker.slotsOut ?? 0),
  };
}

export class WorkersPage extends TickingPage {
  title = "Workers";
  hosts = new Map();
  constructor() {
    super();
    this.summary = h("p.muted.summary");
    this.list = h("div");
    this.body = h("div", this.summary, this.list);
    this.element = h("div", pageHead("Workers"), this.body);
  }
  async readAll() {
    const { workers, drainedHosts = [] } = await this.ask("workers");
    const hosts = Map.groupBy(workers, (worker) => worker.host);
    for (const host of drainedHosts) if (!hosts.has(host)) hosts.set(host, []);
    const { alive, slots, busy } = slotsOf(workers);
    this.isBusy = busy > 0;
    const there = new Set(alive.map((worker) => worker.host)).size;
    put(this.summary, workers.length === 0 ? ""
      : `${count(alive.length, "worker")} on ${count(there, "host")}, ${busy} of ${count(slots, "slot")} busy.`);
    const names = [...hosts.keys()].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    for (const [name, view] of this.hosts) {
      if (hosts.has(name)) continue;
      view.element.remove();
      this.hosts.delete(name);
    }
    names.forEach((name, index) => {
      let view = this.hosts.get(name);
      if (!view) {
        view = new HostView(name, this, names.length <= 12);
        this.hosts.set(name, view);
      }
      const at = this.list.children[index] ?? null;
      if (at !== view.element) this.list.insertBefore(view.element, at);
      view.update(hosts.get(name), drainedHosts.includes(name));
    });
    this.showEmpty(names.length === 0);
  }
  showEmpty(isEmpty) {
    if (!isEmpty) {
      this.none?.remove();
      this.none = null;
    } else if (!this.none) {
      this.none = h("section.panel.empty", h("h2", "No worker is running"),
        h("p", "Start one on each machine that shall work:"), h("pre", "reel-worker"));
      this.body.append(this.none);
    }
  }
}

class HostView {
  constructor(name, page, isOpen) {
    this.name = name;
    this.page = page;
    this.meter = h("span.meter.figure", { "aria-hidden": "true" });
    this.words = h("span.muted");
    this.state = badge("drained");
    this.toggle = mayWrite("admin")
      ? button("", (event) => { event.preventDefault(); this.drain(event.currentTarget); }) : null;
    this.box = h("div");
    this.element = h("details.panel.host", { open: isOpen, ontoggle: () => this.fill() },
      h("summary", h("strong", bdi(name)), this.meter, this.words, this.state, this.toggle), this.box);
  }
  async drain(control) {
    const [verb, done] = this.isDrained ? ["undrain", `${this.name} is taken back.`]
      : ["drain", `${this.name} is drained.`];
    const isSure = this.isDrained || await dialog("Drain this host?", h("p", "The workers of ", bdi(this.name),
      " finish the passes that they hold and claim no more, until the host is taken back."), "Drain the host");
    if (!isSure) return;
    await this.page.act(control, done, `hosts/${part(this.name)}/${verb}`, { method: "POST" });
    this.page.refresh();
  }
  update(workers, isDrained) {
    this.workers = workers;
    this.isDrained = isDrained || workers.some((worker) => worker.drained === "host");
    const { slots, busy, out } = slotsOf(workers);
    put(this.words, workers.length === 0 ? "no worker is there"
      : `${busy} of ${count(slots, "slot")} busy` + (workers.length > 1 ? `, ${workers.length} workers` : ""));
    showSlots(this.meter, out, busy, slots);
    this.state.hidden = !this.isDrained;
    if (this.toggle) put(this.toggle, this.isDrained ? "Take back" : "Drain host");
    this.fill();
  }
  fill() {
    if (!this.element.open || !this.workers) return;
    // What changes all the time is not drawn anew for it alone.
    const text = JSON.stringify(this.workers.map((worker) =>
      ({ ...worker, beatAge: worker.beatAge < 15 ? 0 : Math.round(worker.beatAge), uptime: 0 })));
    if (text === this.text) return;
    this.text = text;
    const focused = this.box.contains(document.activeElement) ? document.activeElement.dataset.worker : null;
    this.box.replaceChildren(...this.workers.map((worker) => this.workerView(worker)));
    if (focused) this.box.querySelector(`[data-worker="${CSS.escape(focused)}"]`)?.focus();
  }
  workerView(worker) {
    const state = worker.gone ? "gone" : worker.drained === "worker" ? "drained"
      : worker.drained !== "host" && worker.draining ? "draining" : null;
    const facts = [
      worker.version && `release ${worker.version}`, worker.uptime != null && `up for ${age(worker.uptime)}`,
      `${size(worker.memoryTotal)} of memory`, `beat ${Math.round(worker.beatAge)} s ago`,
      worker.store && `store ${worker.store}`, worker.sandbox && sandboxWords(worker.sandbox),
    ].filter(Boolean);
    return h("div.worker",
      h("div.bar", h("span.mono", bdi(worker.id)), state && badge(state),
        h("span.muted", `${worker.gone ? 0 : worker.passes.length}/${worker.slots} slots`,
          worker.slotsOut > 0 && `, ${worker.slotsOut} out of work`),
        mayWrite("admin") && !worker.gone && worker.drained !== "host" && this.drainButton(worker)),
      h("p.muted.small", bdi(facts.join(" · "))),
      worker.sourceRoots && h("p.muted.small", "sources from ", bdi(worker.sourceRoots.join(", "))),
      (worker.notes ?? []).map((note) => h("p.notice.odd", bdi(note))),
      !worker.gone && worker.passes.length > 0 && h("div.scroll", h("table",
        tableHead(["Job", "Pass", "Frames", "Speed", "For"], [2, 3, 4]), h("tbody", worker.passes.map(passRow)))));
  }
  drainButton(worker) {
    const [word, verb, done] = worker.drained === "worker" ? ["Take back", "undrain", "The worker claims again."]
      : ["Drain", "drain", "The worker claims no more."];
    return button(word, async (event) => {
      await this.page.act(event.currentTarget, done, `workers/${part(worker.id)}/${verb}`, { method: "POST" });
      this.page.refresh();
    }, "", { "data-worker": worker.id });
  }
}
function passRow(pass) {
  const name = ["assembly", "probe"].includes(pass.kind) ? pass.kind
    : `${pass.pass}${pass.kind === "audio" ? ", audio" : ""}`;
  return h("tr",
    h("td", h("a", { href: jobPath(pass.job), class: "mono" }, pass.job)), h("td.nowrap", name),
    h("td.num.figure", grouped(pass.framesEncoded) + (pass.frames != null ? `/${grouped(pass.frames)}` : "")),
    h("td.num.figure", pass.framesPerSecond != null ? speed(pass.framesPerSecond) : ""),
    h("td.num.figure", pass.seconds != null ? clock(pass.seconds) : ""));
}
/** A box for each slot; of more than 64 none, as the words beside tell it. */
function showSlots(meter, out, busy, slots) {
  meter.hidden = slots > 64;
  if (meter.hidden) return;
  while (meter.children.length > slots) meter.lastChild.remove();
  while (meter.children.length < slots) meter.append(h("i"));
  [...meter.children].forEach((box, index) =>
    mark(box, "class", index < busy ? "busy" : index >= slots - out ? "out" : null));
}
