// The audit log.

import { jobPath, part } from "./api.js";
import { bdi, button, h, pageHead, put, tableHead } from "./elements.js";
import { Page } from "./page.js";
import { badge } from "./parts.js";
import { absolute } from "./time.js";

export class AuditPage extends Page {
  title = "Audit";
  cursors = [null];
  constructor() {
    super();
    this.rows = h("tbody");
    this.newer = button("Newer", () => { this.cursors.pop(); this.refresh(); });
    this.older = button("Older", () => { this.cursors.push(this.next); this.refresh(); });
    this.note = h("p.muted");
    this.body = h("section.panel", this.note,
      h("div.scroll", h("table", tableHead(["When", "Who", "Role", "From", "What", "Job", "Answer"]), this.rows)),
      h("div.bar", this.newer, this.older));
    this.body.hidden = true;
    this.element = h("div", pageHead("Audit log"), this.body);
  }
  async read() {
    const cursor = this.cursors.at(-1);
    const { entries, next } = await this.ask(`audit${cursor ? `?cursor=${part(cursor)}` : ""}`);
    this.next = next ?? null;
    this.rows.replaceChildren(...entries.map((entry) =>
      h("tr", h("td.nowrap", absolute(entry.time)), h("td", bdi(entry.who ?? "–")), h("td", entry.role ?? ""),
        h("td.mono", entry.address ?? ""), h("td", bdi(entry.action)),
        h("td", entry.job && h("a", { href: jobPath(entry.job), class: "mono" }, entry.job)),
        h("td", entry.status == null ? "" : badge(entry.status < 400 ? "done" : "failed", entry.status)))));
    put(this.note, entries.length === 0 ? "Nothing is logged here." : "");
    this.note.hidden = entries.length > 0;
    this.older.hidden = this.next == null;
    this.newer.hidden = this.cursors.length === 1;
  }
}
