import { h, mark, put, svg, tableHead } from "./elements.js";
import { hourMinute } from "./time.js";
import { tenths } from "./words.js";

/** Rates of the last hour as bars, a minute each, with the same as a table. */
export class RateChart {
  constructor(title, key) {
    this.title = title;
    this.key = key;
    this.chart = svg("svg", { class: "chart figure", role: "img" });
    this.note = h("p.hint");
    this.table = h("tbody");
    this.element = h("section.panel",
      h("h2", title, h("span.muted.small", " over the last hour")), this.chart, this.note,
      h("details", h("summary.small", "As a table"),
        h("div.scroll.log", h("table", tableHead(["Minute", title], [1]), this.table))));
    this.minutes = [];
    this.sized = new ResizeObserver(() => this.draw());
    this.sized.observe(this.chart);
  }
  update(minutes) {
    this.minutes = minutes;
    const values = minutes.map((minute) => minute[this.key]);
    const most = Math.max(0, ...values);
    const average = values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
    const words = most === 0 ? "Nothing was done in the last hour."
      : `Now ${tenths(values.at(-1))}, ${tenths(average)} on average, ${tenths(most)} at most.`;
    put(this.note, words);
    mark(this.chart, "aria-label", `${this.title} over the last hour. ${words}`);
    this.table.replaceChildren(...minutes.toReversed().map((minute) =>
      h("tr", h("td", hourMinute(minute.time)), h("td.num", tenths(minute[this.key])))));
    this.draw();
  }
  draw() {
    const { width, height } = this.chart.getBoundingClientRect();
    if (width === 0 || this.minutes.length === 0) return;
    const [left, bottom, top] = [44, 18, 8];
    const most = niceTop(Math.max(...this.minutes.map((minute) => minute[this.key])));
    const step = (width - left) / this.minutes.length;
    const y = (value) => top + (height - bottom - top) * (1 - value / most);
    const parts = [0, most / 2, most].map((value) => [svg("line", { x1: left, x2: width, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, tenths(value))]);
    this.minutes.forEach((minute, index) => {
      const value = minute[this.key];
      const tall = value > 0 ? Math.max(y(0) - y(value), 1.5) : 0;
      const x = left + index * step;
      const rect = (kind, x, width, y, height) => svg("rect", { class: kind, x, width, y, height });
      parts.push(svg("g", svg("title", `${hourMinute(minute.time)}: ${tenths(value)}`),
        rect("hit", x, step, top, height - top - bottom),
        rect("rate", x + step * 0.1, Math.max(step * 0.8, 1), y(0) - tall, tall)));
      if (index % 15 === 0) parts.push(svg("text", { x, y: height - 3 }, hourMinute(minute.time)));
    });
    this.chart.replaceChildren(...parts.flat());
  }
}
function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 10].find((step) => step * power >= value) * power;
}
