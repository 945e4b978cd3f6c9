// The connection: what is wrong with it, and the one event stream.

import { apiURL, askToSignIn, part } from "./api.js";
import { byID, put } from "./elements.js";
import { loadSession } from "./session.js";

const trouble = new Map();
/** When the figures of the shown page were read; null if it has none yet. */
let freshAt = null;
/** Notes or clears one kind of trouble and shows the banner. */
export function setTrouble(kind, text) {
  if (text != null) trouble.set(kind, text);
  else if (!trouble.delete(kind)) return;
  const texts = [...trouble.values()];
  const banner = byID("banner");
  banner.hidden = texts.length === 0;
  document.body.classList.toggle("stale", texts.length > 0);
  const since = freshAt ? ` Figures are as of ${new Date(freshAt).toLocaleTimeString()}.` : "";
  put(banner, texts.length > 0 ? texts[0] + since : "");
}
export const isStreamLost = () => trouble.has("stream");
/** Notes that the server answered, and what the age of the page's figures is. */
export function noteAnswer(time) {
  freshAt = time;
  setTrouble("api", null);
}

/** The kinds of the board's events. */
const kinds = [
  "begun", "published", "claimed", "backedUp", "adopted", "completed", "attemptFailed", "lost", "released",
  "invalidated", "disproved", "excluded", "readmitted", "paused", "resumed", "jobRetried", "assembling", "done",
  "failed", "cancelled", "broken", "progress", "message",
];

export const live = {
  source: null, page: null, scope: undefined, wait: 1, timer: null, grace: null, isLost: false,

  /** Tells a page the events of its job, or of all. */
  follow(page) {
    this.page = page;
    if (this.source && this.scope === page.scope) return;
    this.close();
    this.scope = page.scope;
    this.connect();
  },
  connect() {
    const source = new EventSource(apiURL(this.scope ? `events?job=${part(this.scope)}` : "events"));
    this.source = source;
    if (!this.isLost) this.show("connecting");
    source.onopen = () => {
      this.forgive();
      this.wait = 1;
      const wasLost = this.isLost;
      this.isLost = false;
      this.show("open");
      setTrouble("stream", null);
      if (wasLost) this.page.refresh();
    };
    source.onerror = () => {
      // A server that ends says "bye" and another one answers soon: only a longer silence is worth a banner.
      this.grace ??= setTimeout(() => this.lose(), this.isLost ? 0 : 2000);
      if (source.readyState === EventSource.CLOSED && source === this.source) this.again();
    };
    source.addEventListener("resync", () => this.page.refresh());
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => {
        let data = {};
        try {
          data = JSON.parse(event.data);
        } catch { /* An event that is not JSON still says that something changed. */ }
        this.page.changed(kind, data ?? {});
      });
    }
  },
  /** The browser gives up after an answer that is no stream; this does not. */
  again() {
    this.source.close();
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      this.isLost = true;
      try {
        await loadSession();
        // The stream alone may be broken: its attempts then set the pace of reading.
        this.page.refresh();
      } catch (problem) {
        if (problem.status === 401) return askToSignIn();
      }
      if (this.source) this.connect();
    }, this.wait * 1000);
    this.wait = Math.min(this.wait * 2, 15);
  },
  forgive() {
    clearTimeout(this.grace);
    this.grace = null;
  },
  lose() {
    this.grace = null;
    this.isLost = true;
    this.show("lost");
    setTrouble("stream", "Connection lost, trying again.");
  },
  close() {
    clearTimeout(this.timer);
    this.forgive();
    this.source?.close();
    this.source = null;
  },
  show(state) {
    const words = { connecting: "connecting", open: "live", lost: "connection lost" };
    byID("link").dataset.state = state;
    put(byID("link"), words[state]);
  },
};
