// The queue.

import { jobPath } from "./api.js";
import { bdi, h, pageHead } from "./elements.js";
import { isOver, jobName, percent, shownState, unreadableNotices } from "./jobFacts.js";
import { TickingPage } from "./page.js";
import { Facts, Section, badge } from "./parts.js";
import { RateChart } from "./rateChart.js";
import { clock, count, grouped, nonEmpty, speed } from "./words.js";

export class QueuePage extends TickingPage {
  title = "Queue";
  lastRates = 0;
  constructor() {
    super();
    this.tiles = new Facts("tiles");
    this.charts = h("div.columns");
    this.unreadable = h("div");
    this.waiting = new Section("Jobs that wait, and why", waitingList);
    this.running = new Section("Jobs that are worked on", queueTable);
    this.failed = new Section("Failed jobs", queueTable);
    this.idle = h("p.panel.muted", "No job waits or runs.");
    this.body = h("div", this.tiles.element, this.charts, this.unreadable, this.idle, this.waiting.element,
      this.running.element, this.failed.element);
    this.body.hidden = true;
    this.element = h("div", pageHead("Queue"), this.body);
    this.rates = [
      new RateChart("Frames a second", "framesPerSecond"), new RateChart("Passes a second", "passesPerSecond"),
    ];
    this.charts.append(...this.rates.map((rate) => rate.element));
  }
  async readAll() {
    const isDue = Date.now() - this.lastRates > 15000;
    const [queue, { demand }, rates] = await Promise.all([
      this.ask("queue"), this.ask("demand"), isDue ? this.ask("rates").catch(() => null) : null,
    ]);
    if (isDue) this.charts.hidden = !rates;
    if (rates) {
      this.lastRates = Date.now();
      for (const rate of this.rates) rate.update(rates.minutes);
    }
    this.isBusy = demand.passesInFlight > 0;
    const open = queue.jobs.filter((job) => !isOver(job));
    // What the board does not count is counted of the jobs that it lists.
    const part = open.length < queue.active ? " of the jobs below" : "";
    this.tiles.update([
      ["Jobs", grouped(queue.active), `active, ${grouped(queue.failed)} failed`],
      ["Passes ready", grouped(demand.passesReady),
        `${grouped(queue.retrying)} retrying, ${grouped(queue.exhausted)} exhausted${part}`],
      ["In flight", grouped(demand.passesInFlight), "passes that workers hold"],
      ["Oldest wait", demand.oldestReadySeconds != null ? clock(demand.oldestReadySeconds) : "–", "of a ready pass"],
      ["Speed", speed(queue.framesPerSecond), `${grouped(queue.passesPerSecond * 60)} passes a minute`],
      ["ETA", queue.eta != null ? clock(queue.eta) : "–", `${part || "of all jobs"} at that speed`],
      ["Slots busy", `${grouped(queue.slotsBusy)} of ${grouped(queue.slots)}`, count(queue.workers, "worker")],
    ]);
    this.unreadable.replaceChildren(...unreadableNotices(queue.unreadable));
    this.waiting.update(nonEmpty(open.filter((job) => job.waitReason).map(queueFacts)));
    this.running.update(nonEmpty(open.filter((job) => !job.waitReason).map(queueFacts)));
    this.failed.update(nonEmpty(queue.jobs.filter((job) => job.state === "failed").map(queueFacts)));
    this.idle.hidden = open.length > 0;
  }
}
const queueFacts = (job) => ({
  id: job.id, name: jobName(job), state: shownState(job), why: job.waitReason ?? job.failure ?? "",
  code: job.waitCode, ready: job.passesReady, percent: percent(job), speed: job.framesPerSecond, eta: job.eta,
  // In steps, so that the table is not drawn again each second.
  wait: job.oldestWait == null ? null : Math.floor(job.oldestWait / 5) * 5,
});
const waitWords = {
  paused: "Paused by a user", "no-worker": "No worker is running", space: "A disk is full",
  memory: "No worker has the memory", "protocol-version": "Workers of another version",
  excluded: "No worker can take it", draining: "Workers are drained", unwell: "Workers claim nothing",
  retry: "Failed passes wait for their next attempt", busy: "Other jobs have all slots",
};
function waitingList(jobs) {
  const groups = Map.groupBy(jobs, (job) => job.code ?? "");
  return [...groups].sort(([, a], [, b]) => b.length - a.length).map(([code, list]) => {
    const why = list.every((job) => job.why === list[0].why) ? list[0].why : null;
    return h("div.group", h("h3", waitWords[code] ?? code, h("span.muted", ` · ${count(list.length, "job")}`)),
      why && h("p.small.muted", bdi(why)), queueTable(why ? list.map((job) => ({ ...job, why: "" })) : list));
  });
}
function queueRow(job) {
  const pace = job.speed > 0 ? speed(job.speed) : job.wait != null ? `waits ${clock(job.wait)}` : "";
  const rest = job.eta != null ? clock(job.eta) : job.ready > 0 ? `${grouped(job.ready)} ready` : "";
  return h("tr",
    h("td", h("a", { href: jobPath(job.id), "data-key": job.id }, bdi(job.name)),
      job.why && h("div.small.muted", bdi(job.why))),
    h("td.nowrap", badge(job.state)), h("td.num", job.percent), h("td.num", pace), h("td.num", rest));
}
function queueTable(jobs) {
  const table = (list) => h("table.queue", h("tbody", list.map(queueRow)));
  const key = `more-${jobs[0].code ?? jobs[0].state}`;
  return [table(jobs.slice(0, 10)), jobs.length > 10
    && h("details", { "data-key": key }, h("summary", `${jobs.length - 10} more`), table(jobs.slice(10)))];
}
