// The pages of reel-server: one script without a framework. Data reaches the page as text nodes and attributes only.

// --- Elements ---

const SVG = "http://www.w3.org/2000/svg";
const byID = (id) => document.getElementById(id);

/** Fills an element: attributes by name, handlers as `onclick`, children as nodes or texts; null and false are skipped. */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}
/** Replaces what an element has. */
function refill(element, ...children) {
  element.replaceChildren();
  return fill(element, null, children);
}
const isAttributes = (value) => value?.constructor === Object;
const make = (element, [first, ...rest]) => isAttributes(first) ? fill(element, first, rest) : fill(element, null, [first, ...rest]);
/** An element from "p.hint.small", its attributes if there are any, and what it has. */
function h(kind, ...content) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  return make(element, content);
}
const svg = (tag, ...content) => make(document.createElementNS(SVG, tag), content);

/** Sets a text only if it differs, so that selections and screen readers are not disturbed. */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
/** The same for an attribute; null removes it. */
function mark(element, name, value) {
  if (value == null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
}
/** Text in which characters that act instead of being shown are replaced by their codes, as the command line does. */
const legible = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => "\n\t\u200c\u200d".includes(character)
  ? character : `\\u{${character.codePointAt(0).toString(16).toUpperCase()}}`);
/** Such a text of unknown direction, kept apart from what surrounds it. */
const bdi = (text) => h("bdi", legible(text));
const button = (text, act, kind, more) => h("button", { type: "button", class: kind, onclick: act, ...more }, text);
const pairs = (rows) =>
  h("dl.pairs", rows.filter(([, value]) => value != null && value !== "" && value !== false)
    .map(([name, value]) => [h("dt", name), h("dd", typeof value === "string" ? bdi(value) : value)]));
/** The head of a table; `numbers` are the places of columns with numbers. */
const tableHead = (names, numbers = []) => h("thead", h("tr", names.map((name, index) =>
  h("th", { scope: "col", class: numbers.includes(index) && "num" }, name))));
const part = encodeURIComponent;
/** A label, which leads to the jobs that have it. */
const tag = ([name, value]) => [h("a.tag", { href: `?label=${part(`${name}=${value}`)}` }, bdi(`${name}=${value}`)), " "];
const sortedLabels = (job) => Object.entries(job.labels ?? {}).sort(([a], [b]) => a < b ? -1 : 1);
/** A code that never changes, beside the words that may. */
const codeOf = (code) => code && [" ", h("code.muted.small", code)];
const pageHead = (title, ...children) => h("div.head", h("h1", title), children);
const panel = (title, ...children) => h("section.panel", h("h2", title), children);

// --- Words and figures, as the command line writes them ---

const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const count = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;

/** "768 MiB", "1.5 GiB". */
function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [bytes / 1024, 0];
  while (value >= 1024 && unit + 1 < units.length) [value, unit] = [value / 1024, unit + 1];
  return `${Math.round(value * 10) / 10} ${units[unit]}`;
}
/** "0:09", "12:34", "1:02:03"; rounded up. */
function clock(seconds) {
  const whole = Math.ceil(Math.max(seconds, 0));
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
/** A place in a video: "1:12:30.120". */
function place(seconds) {
  const milliseconds = Math.round(Math.max(seconds, 0) * 1000);
  return `${clock(Math.floor(milliseconds / 1000))}.${String(milliseconds % 1000).padStart(3, "0")}`;
}
/** "45s", "12m", "7h", "3d". */
function age(seconds) {
  const whole = Math.floor(Math.max(0, seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m`;
  return whole < 48 * 3600 ? `${Math.floor(whole / 3600)}h` : `${Math.floor(whole / 86400)}d`;
}
const speed = (framesPerSecond) => `${framesPerSecond.toFixed(1)} fps`;
const seconds = (value) => `${value.toFixed(3)} s`;
/** "62 %"; an unfinished job never shows 100. */
function percent(job) {
  if (job.state === "done") return "100 %";
  return job.frames > 0 ? `${Math.min(Math.floor(job.framesEncoded * 100 / job.frames), 99)} %` : "0 %";
}
const isOver = (job) => ["done", "failed", "cancelled"].includes(job.state);
const isMoving = (job) => !isOver(job) && !job.paused;
const shownState = (job) => isOver(job) ? job.state : job.paused ? "paused" : job.waitReason ? "waiting" : job.state;
const fileName = (path) => (path ?? "").split("/").pop();
const jobName = (job) => legible(job.name || fileName(job.source) || job.id);

/** The server's clock minus this one, in seconds: ages are counted by the server's. */
let clockOffset = 0;
const now = () => Date.now() / 1000 + clockOffset;
const absolute = (moment) => new Date(moment * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
/** How long ago a moment was; kept right by the pulse. */
function ago(moment, suffix = "") {
  const element = h("time", { "data-at": moment, "data-suffix": suffix });
  setAgo(element, moment);
  return element;
}
function setAgo(element, moment) {
  mark(element, "data-at", moment);
  mark(element, "datetime", new Date(moment * 1000).toISOString());
  mark(element, "title", absolute(moment));
  put(element, age(now() - moment) + element.dataset.suffix);
}

const cross = "M4 4l8 8M12 4l-8 8";
const bars = "M5.5 3.5v9M10.5 3.5v9";
const ring = "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11z";
const shapes = {
  done: "M3 8.5 6.5 12 13 4.5", running: "M12 3.5v9L4.5 8z", assembling: "M2.5 5h4v6h-4zM9.5 5h4v6h-4zM6.5 8h3",
  probing: "M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM10 10l3.5 3.5", retrying: "M12.5 6A5 5 0 1 0 13 9M13 2.5V6H9.5",
  failed: cross, exhausted: cross, gone: cross, paused: bars, drained: bars, draining: bars,
  waiting: `${ring}M8 5v3l2 1.5`, cancelled: `${ring}M4.2 4.2l7.6 7.6`,
};
/** A state's shape, with its word or another. */
function badge(state, word = state) {
  const element = h("span.state");
  setBadge(element, state, word);
  return element;
}
function setBadge(element, state, word = state) {
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.replaceChildren(
    svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: shapes[state] ?? shapes.waiting })), String(word));
}

/** A word of a program's, such as "sampleRate", as people write it. */
const plainWord = (name) => name.replace(/([A-Z])/g, (letter) => " " + letter.toLowerCase());
/** A number from "5/2", "2.5" or 2.5; NaN for anything else. */
function ratio(value) {
  const [above, below] = String(value).split("/");
  return below === undefined ? Number(above) : Number(above) / Number(below);
}

/** Says what has happened, to screen readers too. */
function say(text) {
  const toast = h("div.toast", text);
  byID("toasts").append(toast);
  setTimeout(() => toast.remove(), 6000);
}

// --- The server ---

const base = new URL(document.baseURI);
const apiURL = (path) => new URL(`api/v1/${path}`, base);
const jobPath = (id, rest = "") => `jobs/${part(id)}${rest}`;

/** Why a request was not answered as wished; status 0 if there was no answer. */
class Problem extends Error {
  constructor(status, body = {}, retryAfter = null) {
    super(body.detail || body.title || `the server answered ${status}`);
    Object.assign(this, { status, code: body.code, pointer: body.pointer, retryAfter });
  }
}

/** Asks the API; the answer's JSON, or null if it has no body. Throws `Problem`, and `AbortError` after an abort. */
async function ask(path, { method = "GET", body, signal } = {}) {
  let answer;
  try {
    answer = await fetch(apiURL(path), {
      method, signal, cache: "no-store", credentials: "same-origin",
      headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "No answer from the server." });
  }
  const date = Date.parse(answer.headers.get("Date") ?? "");
  if (date) clockOffset = Math.abs(date - Date.now()) > 2500 ? (date - Date.now()) / 1000 : 0;
  if (!answer.ok) throw await problemOf(answer, path);
  if (answer.status === 204) return null;
  try {
    return await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server's answer was cut off." });
  }
}
async function problemOf(answer, path) {
  const after = Number(answer.headers.get("Retry-After"));
  const body = await answer.json().catch(() => ({}));
  if (answer.status === 401 && path !== "session") toSignIn();
  return new Problem(answer.status, body && typeof body === "object" ? body : {}, after > 0 ? after : null);
}

let session = null;
const roles = ["viewer", "operator", "admin"];
const may = (role) => session != null && roles.indexOf(session.role) >= roles.indexOf(role);
/** Whether the role allows a write, and the server takes writes at all. */
const mayWrite = (role) => may(role) && !session.readOnly;

function toSignIn() {
  if (currentPath() === "sign-in") return;
  keep("reel-next", location.href);
  live.close();
  go("sign-in", true);
}
function keep(key, value) { try { sessionStorage.setItem(key, value); } catch { /* Storage may be turned off. */ } }

function showSession() {
  byID("pages").hidden = session == null;
  byID("link").hidden = session == null;
  for (const link of document.querySelectorAll("[data-write]")) link.hidden = !mayWrite("operator");
  for (const link of document.querySelectorAll("[data-admin]")) link.hidden = !may("admin");
  const words = session == null ? "" : [session.name, session.signIn ? session.role : null, session.readOnly ? "read only" : null]
    .filter(Boolean).join(" · ");
  byID("session").replaceChildren(bdi(words));
  byID("session").title = session ? `reel-server ${session.version}` : "";
  byID("sign-out").hidden = !(session?.signIn && session.name);
}

// --- Connection: what is wrong with it, and the one event stream ---

const trouble = new Map();
let freshAt = null;
/** Notes or clears one kind of trouble and shows the banner. */
function setTrouble(kind, text) {
  if (text != null) trouble.set(kind, text);
  else if (!trouble.delete(kind)) return;
  const texts = [...trouble.values()];
  const banner = byID("banner");
  banner.hidden = texts.length === 0;
  document.body.classList.toggle("stale", texts.length > 0);
  const since = freshAt && current?.isLoaded ? ` Figures are as of ${new Date(freshAt).toLocaleTimeString()}.` : "";
  put(banner, texts.length > 0 ? texts[0] + since : "");
}

const kinds = ("begun published claimed backedUp adopted completed attemptFailed lost released invalidated disproved excluded "
  + "readmitted paused resumed jobRetried assembling done failed cancelled broken progress message").split(" ");

const live = {
  source: null, scope: undefined, wait: 1, timer: null, grace: null, isLost: false,

  /** Follows the events of one job, or of all. */
  follow(scope) {
    if (this.source && this.scope === scope) return;
    this.close();
    this.scope = scope;
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
      if (wasLost) current?.refresh?.();
    };
    source.onerror = () => {
      // A server that ends says "bye" and another one answers soon: only a longer silence is worth a banner.
      this.grace ??= setTimeout(() => this.lose(), this.isLost ? 0 : 2000);
      if (source.readyState === EventSource.CLOSED && source === this.source) this.again();
    };
    source.addEventListener("resync", () => current?.refresh?.());
    for (const kind of kinds) {
      source.addEventListener(kind, (event) => {
        let data = {};
        try { data = JSON.parse(event.data); } catch { /* An event that is not JSON still says that something changed. */ }
        current?.changed?.(kind, data ?? {});
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
        current?.refresh?.();
      } catch (problem) {
        if (problem.status === 401) return toSignIn();
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

async function loadSession() {
  const answer = await ask("session");
  session = answer.role ? answer : null;
  showSession();
  if (!session) throw new Problem(401, { detail: "Sign in first." });
}

// --- Pages and their addresses ---

let current = null;
let keptJobs = null;

/** The page's path below the base, without slashes at its ends. */
function currentPath() {
  const path = location.pathname;
  return (path.startsWith(base.pathname) ? path.slice(base.pathname.length) : path).replace(/^\/+|\/+$/g, "");
}
function pageOf(path) {
  const [first, second] = path.split("/");
  if (path === "" || path === "jobs") return () => new JobsPage();
  if (first === "jobs" && second) return () => new JobPage(decodeURIComponent(second));
  const pages = { submit: SubmitPage, workers: WorkersPage, queue: QueuePage, "sign-in": SignInPage, audit: AuditPage };
  return Object.hasOwn(pages, path) ? () => new pages[path]() : () => new MissingPage();
}

/** Goes to a page below the base. */
function go(path, replacing = false) {
  const url = new URL(path, base);
  history[replacing ? "replaceState" : "pushState"](null, "", url);
  show(false);
}

/** Shows the page of the location. A list of jobs is kept as it was for the way back. */
function show(isBack) {
  if (current) {
    current.scroll = scrollY;
    current.close();
    if (current instanceof JobsPage) keptJobs = current;
  }
  const path = currentPath();
  const name = path.split("/")[0] || "jobs";
  for (const link of document.querySelectorAll("#pages a")) {
    mark(link, "aria-current", link.dataset.page === name ? (path === "" || path === name ? "page" : "true") : null);
  }
  const isKept = isBack && path === "" && keptJobs?.search === location.search;
  current = isKept ? keptJobs : pageOf(path)();
  keptJobs = isKept ? null : keptJobs;
  const page = current;
  setTrouble("api", null);
  byID("main").replaceChildren(page.element);
  document.title = `${page.title} · reel`;
  if (session && path !== "sign-in") live.follow(page.scope);
  page.open();
  scrollTo(0, isKept ? page.scroll : 0);
  page.wantsFocus = hasShown;
  page.focusHeading();
  hasShown = true;
}
let hasShown = false;

/** What pages have in common: loading with a visible problem, trying again, and an end. */
class Page {
  title = "reel";
  element = h("div");
  /** The job of which events are wanted; undefined for all. */
  scope = undefined;
  isLoaded = false;
  retryAt = null;

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
    const slow = setTimeout(() => { if (!this.isLoaded && !this.problem) this.element.append(this.loading = h("p.muted", "Loading…")); }, 500);
    try {
      await this.read();
      if (signal.aborted) return;
      this.isLoaded = true;
      this.removeProblem();
      this.focusHeading();
      freshAt = Date.now();
      setTrouble("api", null);
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
  /** Shows what went wrong and comes back if that may pass. */
  fail(error) {
    if (!(error instanceof Problem)) {
      if (error.name !== "AbortError") console.error(error);
      if (error.name === "AbortError") return;
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
    this.body && (this.body.hidden = true);
  }
  removeProblem() {
    this.problem?.remove();
    this.problem = null;
    this.body && (this.body.hidden = false);
  }
  /** Called once a second while the page can be seen. */
  pulse() {
    if (this.retryAt != null && Date.now() >= this.retryAt) this.refresh();
  }
  /** Does something on a button's behalf, with the button at rest meanwhile; whether it worked. */
  async act(control, done, path, options) {
    control && (control.disabled = true);
    try {
      const answer = await ask(path, options);
      if (done) say(done);
      return answer ?? true;
    } catch (error) {
      say(sentence(error.message));
      return null;
    } finally {
      control && (control.disabled = false);
    }
  }
}
const sentence = (text) => {
  const trimmed = text.trim();
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?…]$/.test(trimmed) ? "" : ".");
};

class MissingPage extends Page {
  title = "Not found";
  element = h("div.panel.empty", h("h1", "There is no such page"), h("p", h("a", { href: "." }, "Go to the jobs")));
  refresh() {}
}

/** Asks before something that cannot be undone. Resolves to what `read` returns, or null. */
function dialog(title, children, action, kind, read = () => true) {
  return new Promise((resolve) => {
    const form = h("form", { method: "dialog" }, h("h2", { id: "dialog-title" }, title), children,
      h("div.bar", button("Back", () => box.close()), h("button", { class: `primary ${kind ?? ""}`, value: "yes" }, action)));
    const box = h("dialog", { "aria-labelledby": "dialog-title" }, form);
    let result = null;
    form.addEventListener("submit", (event) => {
      result = read(form);
      if (result == null) event.preventDefault();
    });
    box.addEventListener("close", () => { box.remove(); resolve(result); });
    document.body.append(box);
    box.showModal();
  });
}

// --- Strips: passes as cells of a canvas. Each state has a colour and a pattern. ---

const states = ["done", "live", "retrying", "failed", "waiting"];
const stateWords = { done: "done", live: "running", retrying: "retrying", failed: "failed", waiting: "waiting" };
let inks = null;
function inkOf(state) {
  if (!inks) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    inks = {
      done: colour("--done"), live: colour("--live"), retrying: colour("--retry"), failed: colour("--fail"),
      waiting: colour("--wait"), panel: colour("--panel"),
    };
  }
  return inks[state];
}

/** Fills a box with a state's colour and pattern; sizes in device pixels. */
function paint(context, state, x, y, width, height, scale) {
  context.fillStyle = inkOf(state);
  context.fillRect(x, y, width, height);
  if (state === "done" || state === "waiting" || height < 4 * scale) return;
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = inkOf("panel");
  context.lineWidth = 1.2 * scale;
  context.beginPath();
  const step = 5 * scale;
  if (state === "retrying") {
    for (let line = y + step / 2; line < y + height; line += step * 0.8) { context.moveTo(x, line); context.lineTo(x + width, line); }
  } else {
    // The lines have one phase over the whole strip, so that neighbouring cells make one pattern.
    const first = Math.floor((x - height) / step) * step;
    for (let line = first; line < x + width + height; line += step) {
      if (state === "live" || state === "failed") { context.moveTo(line, y + height); context.lineTo(line + height, y); }
      if (state === "failed") { context.moveTo(line, y); context.lineTo(line + height, y + height); }
    }
  }
  context.stroke();
  context.restore();
}

/** Cells as the server sends them. Failed passes of a job that goes on wait for a retry, if cells do not tell. */
const cellsOf = (cells, job) => cells.map((cell) => cell.retrying != null ? cell
  : job.state === "failed" ? { ...cell, retrying: 0 } : { ...cell, retrying: cell.failed, failed: 0 });
function countsOf(cell) {
  const waiting = Math.max(cell.passes - cell.done - cell.live - cell.retrying - cell.failed, 0);
  return { ...cell, waiting };
}

/** Draws cells side by side. A cell of several passes is filled from below in the states' order; none that failed,
 *  waits for a retry or runs becomes too thin to be seen. */
function drawStrip(canvas, cells, chosen = -1) {
  const scale = devicePixelRatio || 1;
  const [width, height] = [Math.round(canvas.clientWidth * scale), Math.round(canvas.clientHeight * scale)];
  if (width === 0 || height === 0) return;
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, width, height);
  const gap = width / cells.length >= 5 * scale ? Math.round(scale) : 0;
  cells.forEach((cell, index) => {
    const [from, to] = [Math.round(index * width / cells.length), Math.round((index + 1) * width / cells.length)];
    const counts = countsOf(cell);
    const total = Math.max(cell.passes, 1);
    paint(context, "waiting", from, 0, Math.max(to - from - gap, 1), height, scale);
    let bottom = height;
    for (const state of ["done", "failed", "retrying", "live"]) {
      if (!counts[state]) continue;
      const share = counts[state] / total * height;
      const tall = Math.min(state === "done" ? Math.floor(share) : Math.max(share, height / 4), Math.max(bottom, height / 5));
      const top = Math.max(bottom - tall, 0);
      paint(context, state, from, top, Math.max(to - from - gap, 1), counts[state] === total ? height : tall, scale);
      bottom = top;
    }
    if (index === chosen) {
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--text");
      context.lineWidth = 2 * scale;
      context.strokeRect(from + scale, scale, Math.max(to - from - 2 * scale, 2 * scale), height - 2 * scale);
    }
  });
}

/** The cells of a job of which only the counts are known. */
function cellsOfCounts(job, width = 40) {
  const total = job.passes;
  if (!total) return [{ passes: 1, done: job.state === "done" ? 1 : 0, live: isMoving(job) && job.passesLive > 0 ? 1 : 0, retrying: 0, failed: job.state === "failed" ? 1 : 0 }];
  const number = Math.min(total, width);
  const cells = Array.from({ length: number }, (_, index) => ({
    passes: Math.floor((index + 1) * total / number) - Math.floor(index * total / number), done: 0, live: 0, retrying: 0, failed: 0,
  }));
  const left = [["done", job.state === "done" ? total : job.passesDone], ["failed", job.passesExhausted], ["retrying", job.passesRetrying], ["live", Math.min(job.passesLive, total)]];
  for (const cell of cells) {
    let room = cell.passes;
    for (const entry of left) {
      const taken = Math.min(room, entry[1]);
      cell[entry[0]] += taken;
      entry[1] -= taken;
      room -= taken;
    }
  }
  return cells;
}

/** "18 of 40 passes done, 2 running, 19 waiting". */
function stripWords(cells) {
  const total = { passes: 0, done: 0, live: 0, retrying: 0, failed: 0, waiting: 0 };
  for (const cell of cells) {
    const counts = countsOf(cell);
    for (const name of Object.keys(total)) total[name] += counts[name] ?? 0;
  }
  const told = ["live", "retrying", "failed", "waiting"].filter((state) => total[state] > 0)
    .map((state) => `${grouped(total[state])} ${stateWords[state]}`);
  return [`${grouped(total.done)} of ${count(total.passes, "pass")} done`, ...told].join(", ");
}

/** A large strip whose cells can be read by pointer and by arrow keys. */
class Strip {
  cells = [];
  chosen = -1;
  canvas = h("canvas.strip.large.figure");
  reading = h("p.reading.small.muted", { "aria-live": "off" });
  box = h("div", {
    role: "slider", tabindex: 0, "aria-label": "Passes", "aria-valuemin": 0,
    onkeydown: (event) => this.key(event), onblur: () => this.choose(-1), onpointerleave: () => this.choose(-1),
    onpointermove: (event) => this.choose(Math.floor(event.offsetX / this.canvas.clientWidth * this.cells.length)),
  }, this.canvas);
  legend = h("div.legend");
  element = h("div", this.box, this.reading, this.legend);
  swatches = new Map();

  constructor() {
    for (const state of states) {
      const entry = { canvas: h("canvas", { "aria-hidden": "true" }), text: h("span") };
      entry.element = h("span", entry.canvas, entry.text);
      this.swatches.set(state, entry);
      this.legend.append(entry.element);
    }
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.canvas);
    this.choose(-1);
  }
  update(cells) {
    this.cells = cells;
    const total = {};
    for (const cell of cells) for (const [name, value] of Object.entries(countsOf(cell))) total[name] = (total[name] ?? 0) + value;
    for (const [state, entry] of this.swatches) {
      put(entry.text, `${grouped(total[state] ?? 0)} ${stateWords[state]}`);
      entry.element.hidden = !total[state] && state !== "done";
    }
    mark(this.box, "aria-valuemax", Math.max(cells.length - 1, 0));
    this.choose(Math.min(this.chosen, cells.length - 1));
    this.draw();
  }
  draw() {
    drawStrip(this.canvas, this.cells, this.chosen);
    for (const [state, entry] of this.swatches) {
      drawStrip(entry.canvas, [{ passes: 1, done: 0, live: 0, retrying: 0, failed: 0, ...(state === "waiting" ? {} : { [state]: 1 }) }]);
    }
  }
  choose(index) {
    const changed = index !== this.chosen;
    this.chosen = index;
    const text = index < 0 || !this.cells[index] ? stripWords(this.cells) : this.words(index);
    mark(this.box, "aria-valuenow", Math.max(index, 0));
    mark(this.box, "aria-valuetext", text);
    put(this.reading, index < 0 ? "In the order in which passes are given out. Point at a cell, or use the arrow keys." : text);
    if (changed) this.draw();
  }
  words(index) {
    const first = this.cells.slice(0, index).reduce((sum, cell) => sum + cell.passes, 0);
    const cell = countsOf(this.cells[index]);
    if (cell.passes === 1) return `Pass ${first}: ${stateWords[states.find((state) => cell[state] > 0) ?? "waiting"]}`;
    const told = states.filter((state) => cell[state] > 0).map((state) => `${grouped(cell[state])} ${stateWords[state]}`);
    return `Passes ${grouped(first)} to ${grouped(first + cell.passes - 1)}: ${told.join(", ")}`;
  }
  key(event) {
    const most = this.cells.length - 1;
    const page = Math.max(Math.round(most / 10), 1);
    const at = { ArrowRight: this.chosen + 1, ArrowUp: this.chosen + 1, ArrowLeft: this.chosen - 1, ArrowDown: this.chosen - 1,
      PageUp: this.chosen + page, PageDown: this.chosen - page, Home: 0, End: most }[event.key];
    if (at === undefined) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(at, most)));
  }
  close() { this.observer.disconnect(); }
}

// --- Jobs ---

const chips = ["", "running", "probing", "assembling", "waiting", "paused", "done", "failed", "cancelled"];
const pageLength = 100;

/** The list: chunks of a page each, of which only those near the window have rows. */
class JobsPage extends Page {
  title = "Jobs";
  search = location.search;
  jobs = new Map();
  rows = new Map();
  chunks = [];
  next = null;
  dirty = new Set();
  wantsFirst = false;
  lastFirst = 0;
  lastTick = 0;

  constructor() {
    super();
    const query = new URLSearchParams(location.search);
    this.filter = { state: query.get("state") ?? "", label: query.getAll("label"), q: query.get("q") ?? "" };
    this.table = h("table.jobs", { role: "table", "aria-label": "Jobs" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, ["Job", "State", "Progress"].map((head) => h("th", { scope: "col", role: "columnheader" }, head)),
        ["Speed", "ETA", "Age"].map((head) => h("th", { scope: "col", role: "columnheader", class: "num" }, head)))));
    this.unreadable = h("div");
    this.moreButton = button("Show more", () => this.more());
    this.foot = h("div.more.muted", this.moreButton);
    this.list = h("div.panel.flush", this.table, this.foot);
    this.list.hidden = true;
    this.empty = h("div");
    this.body = h("div", this.unreadable, this.list, this.empty);
    this.filters = this.makeFilters();
    this.element = h("div", pageHead("Jobs",
      mayWrite("operator") && h("a.button.primary", { href: "submit" }, "Submit a video")), this.filters, this.body);
    this.observer = null;
  }

  makeFilters() {
    const find = h("input", { type: "search", value: this.filter.q, placeholder: "name or id", oninput: () => this.later(), "aria-label": "Search by name or id" });
    const label = h("input", { type: "search", value: this.filter.label.join(" "), placeholder: "label, as project=trailer", oninput: () => this.later(), "aria-label": "Filter by label, as project=trailer", spellcheck: "false" });
    this.inputs = { find, label };
    return h("form.filters", { role: "search", onsubmit: (event) => { event.preventDefault(); this.apply(); } },
      h("nav.bar.chips", { "aria-label": "Filter by state" }, chips.map((state) =>
        h("a.chip", { href: this.address({ state }), "aria-current": state === this.filter.state && "true" }, state || "all"))),
      h("div.find", h("label", find), h("label", label)));
  }
  address(change) {
    const filter = { ...this.filter, ...change };
    const query = new URLSearchParams();
    if (filter.state) query.set("state", filter.state);
    for (const label of filter.label) query.append("label", label);
    if (filter.q) query.set("q", filter.q);
    return query.size > 0 ? `?${query}` : ".";
  }
  later() {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.apply(), 350);
  }
  /** Filters in place, so that the field keeps its focus. */
  apply() {
    clearTimeout(this.typing);
    if (!this.isOpen) return;
    const label = this.inputs.label.value.trim();
    mark(this.inputs.label, "aria-invalid", label && !label.includes("=") ? "true" : null);
    if (label && !label.includes("=")) return;
    const q = this.inputs.find.value.trim();
    const labels = label ? label.split(/\s+(?=[\w.-]+=)/) : [];
    if (q === this.filter.q && labels.join(" ") === this.filter.label.join(" ")) return;
    Object.assign(this.filter, { q, label: labels });
    history.replaceState(null, "", new URL(this.address({}), base));
    this.search = location.search;
    this.filters.querySelectorAll(".chip").forEach((chip, index) => mark(chip, "href", this.address({ state: chips[index] })));
    this.reset();
    this.refresh();
  }
  get isFiltered() { return this.filter.state !== "" || this.filter.q !== "" || this.filter.label.length > 0; }

  open() {
    this.observer = new IntersectionObserver((entries) => this.seen(entries), { rootMargin: "900px 0px" });
    this.sized = new ResizeObserver(() => this.redraw());
    super.open();
    for (const chunk of this.chunks) {
      chunk.isStale = true;
      this.observer.observe(chunk.body);
    }
    this.observer.observe(this.foot);
    this.sized.observe(this.table);
  }
  close() {
    super.close();
    this.growing = null;
    clearTimeout(this.typing);
    this.observer?.disconnect();
    this.sized?.disconnect();
  }
  /** Forgets all jobs, and drops what is being read. */
  reset() {
    this.clear();
    this.abort?.abort();
    this.abort = new AbortController();
  }
  clear() {
    for (const chunk of this.chunks) chunk.body.remove();
    this.chunks = [];
    this.jobs.clear();
    this.rows.clear();
    this.next = null;
    this.growing = null;
  }

  query(cursor) {
    const query = new URLSearchParams({ limit: pageLength });
    if (this.filter.state) query.set("state", this.filter.state);
    for (const label of this.filter.label) query.append("label", label);
    if (this.filter.q) query.set("q", this.filter.q);
    if (cursor) query.set("cursor", cursor);
    return `jobs?${query}`;
  }
  /** A page of jobs. Pages may be empty though others follow; a few of those are skipped. */
  async page(cursor) {
    let answer = await this.ask(this.query(cursor));
    for (let turn = 0; turn < 8 && answer.jobs.length === 0 && answer.next; turn++) {
      const unreadable = answer.unreadable ?? [];
      answer = await this.ask(this.query(answer.next));
      answer.unreadable = [...unreadable, ...(answer.unreadable ?? [])];
    }
    return answer;
  }

  /** Reads the newest page and, of the others, those near the window. */
  async read() {
    const first = await this.page(null);
    this.lastFirst = Date.now();
    this.wantsFirst = false;
    for (const job of first.jobs) this.jobs.set(job.id, job);
    this.showUnreadable(first.unreadable ?? []);
    if (this.chunks.length === 0) this.append(null, first);
    else this.merge(first);
    for (const chunk of this.chunks.slice(1)) chunk.isStale = true;
    await Promise.all(this.chunks.slice(1).filter((chunk) => chunk.isNear).map((chunk) => this.reread(chunk)));
    this.showState();
  }
  append(cursor, answer) {
    const chunk = { cursor, ids: answer.jobs.map((job) => job.id).filter((id) => !this.chunks.some((other) => other.ids.includes(id))),
      body: h("tbody", { role: "rowgroup" }), isNear: true, isStale: false };
    chunk.body.chunk = chunk;
    for (const job of answer.jobs) this.jobs.set(job.id, job);
    this.chunks.push(chunk);
    this.next = answer.next ?? null;
    this.table.append(chunk.body);
    this.render(chunk);
    this.observer.observe(chunk.body);
  }
  /** Puts new jobs in front; what the list had behind the answer's last job stays. */
  merge(answer) {
    const [chunk] = this.chunks;
    const ids = answer.jobs.map((job) => job.id);
    const at = chunk.ids.indexOf(ids.at(-1));
    const rest = at >= 0 ? chunk.ids.slice(at + 1) : [];
    if (this.chunks.length === 1 && !answer.next) {
      this.next = null;
      chunk.ids = ids;
    } else if ((at < 0 && chunk.ids.length > 0) || chunk.ids.length > 3 * pageLength) {
      // More new jobs than a page holds: the list begins anew.
      this.clear();
      this.append(null, answer);
      return;
    } else {
      if (this.chunks.length === 1 && rest.length === 0) this.next = answer.next ?? null;
      chunk.ids = [...ids, ...rest];
    }
    this.render(chunk);
  }
  async reread(chunk) {
    chunk.isStale = false;
    const answer = await this.page(chunk.cursor);
    // The job that the cursor names may be gone, and the server begin anew.
    if (this.chunks[0].ids.includes(answer.jobs[0]?.id)) return;
    for (const job of answer.jobs) this.jobs.set(job.id, job);
    const known = new Set(this.chunks.filter((other) => other !== chunk).flatMap((other) => other.ids));
    chunk.ids = answer.jobs.map((job) => job.id).filter((id) => !known.has(id));
    if (chunk === this.chunks.at(-1)) this.next = answer.next ?? null;
    this.render(chunk);
  }
  async more() {
    if (this.growing || !this.next || !this.isOpen) return;
    const growing = { cursor: this.next };
    this.growing = growing;
    try {
      const answer = await this.page(growing.cursor);
      if (this.growing !== growing) return;
      this.append(growing.cursor, answer);
      this.showState();
    } catch (error) {
      if (this.isOpen && this.growing === growing) this.fail(error);
    } finally {
      if (this.growing === growing) this.growing = null;
    }
  }
  seen(entries) {
    for (const { target, isIntersecting } of entries) {
      if (target === this.foot) {
        if (isIntersecting && this.isLoaded) this.more();
        continue;
      }
      const { chunk } = target;
      chunk.isNear = isIntersecting;
      if (isIntersecting) {
        this.render(chunk);
        if (chunk.isStale && chunk !== this.chunks[0]) this.reread(chunk).catch((error) => this.fail(error));
      } else if (!target.contains(document.activeElement)) {
        this.fold(chunk);
      }
    }
  }
  /** Replaces the rows of a chunk that is far away by their height. */
  fold(chunk) {
    if (chunk.isFolded || chunk.ids.length === 0) return;
    const cell = h("td", { colspan: 6 });
    cell.style.height = `${chunk.body.getBoundingClientRect().height}px`;
    for (const id of chunk.ids) this.rows.delete(id);
    chunk.isFolded = true;
    chunk.body.replaceChildren(h("tr.spacer", { "aria-hidden": "true" }, cell));
  }
  /** Brings the rows of a chunk in line with its ids; rows that stay are the same elements. */
  render(chunk) {
    if (!chunk.isNear) return;
    if (chunk.isFolded) {
      chunk.isFolded = false;
      chunk.body.replaceChildren();
    }
    const wanted = new Set(chunk.ids);
    for (const row of [...chunk.body.children]) {
      if (wanted.has(row.dataset.id)) continue;
      this.rows.delete(row.dataset.id);
      row.remove();
    }
    let at = chunk.body.firstChild;
    for (const id of chunk.ids) {
      let row = this.rows.get(id);
      if (!row) {
        row = new JobRow(id, this);
        this.rows.set(id, row);
      }
      if (row.element === at) at = at.nextSibling;
      else chunk.body.insertBefore(row.element, at);
      row.update(this.jobs.get(id));
    }
    requestAnimationFrame(() => this.redraw());
  }
  redraw() { for (const row of this.rows.values()) row.draw(); }

  showState() {
    const total = this.chunks.reduce((sum, chunk) => sum + chunk.ids.length, 0);
    this.list.hidden = total === 0 && !this.next;
    this.moreButton.hidden = !this.next;
    const words = this.next ? "" : total > 20 ? `${count(total, "job")}, no more` : "";
    if (this.footWords !== words) {
      this.footWords = words;
      this.foot.replaceChildren(this.moreButton, words);
    }
    this.foot.hidden = !this.next && words === "";
    const isEmpty = total === 0 && !this.next;
    if (!isEmpty) this.empty.replaceChildren();
    else if (this.empty.childElementCount === 0) this.empty.append(this.isFiltered ? this.noMatch() : firstVideo());
    this.filters.hidden = isEmpty && !this.isFiltered;
  }
  noMatch() {
    return h("div.panel.empty", h("h2", "No job matches"),
      h("p", "No job has this state, label, name and id. ", h("a", { href: "." }, "Show all jobs")));
  }
  showUnreadable(list) {
    this.unreadable.replaceChildren(...list.slice(0, 20).map((entry) => h("p.notice.bad",
      h("code", entry.id), " cannot be read: ", bdi(entry.reason), " ", h("span.muted", `(${entry.code})`))));
  }

  changed(kind, { job }) {
    if (this.jobs.has(job)) this.dirty.add(job);
    const isMove = ["begun", "published", "paused", "resumed", "jobRetried", "assembling", "done", "failed", "cancelled", "broken"].includes(kind);
    if (isMove && (!this.jobs.has(job) || this.filter.state !== "")) this.wantsFirst = true;
  }
  inWindow(row) {
    const box = row.element.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  }
  pulse() {
    super.pulse();
    if (!this.isLoaded || this.retryAt != null) return;
    const time = Date.now();
    if (this.wantsFirst && time - this.lastFirst > 1900) {
      this.dirty.clear();
      this.refresh();
      return;
    }
    const shown = [...this.rows.values()].filter((row) => this.inWindow(row));
    if (time - this.lastTick > 1900) {
      this.lastTick = time;
      for (const row of shown) if (row.job && isMoving(row.job) && row.job.passesLive > 0) this.dirty.add(row.id);
    }
    const due = shown.filter((row) => this.dirty.has(row.id));
    if (due.length === 0 || this.isUpdating || trouble.has("stream")) return;
    for (const row of due) this.dirty.delete(row.id);
    this.update(due);
  }
  /** Reads a few jobs one by one, many by their pages. */
  async update(rows) {
    this.isUpdating = true;
    try {
      if (rows.length > 6) await this.readPages(rows);
      else {
        await Promise.all(rows.map(async (row) => {
          try {
            row.update(await this.ask(jobPath(row.id)));
            this.jobs.set(row.id, row.job);
          } catch (error) {
            if (error.status !== 404) throw error;
            this.wantsFirst = true;
          }
        }));
      }
      freshAt = Date.now();
      setTrouble("api", null);
      // The strips of the rows that one sees; in turn, if there are many.
      const moving = rows.filter((row) => row.hasStrip).sort((a, b) => a.stripAt - b.stripAt).slice(0, 6);
      await Promise.all(moving.map((row) => row.readStrip()));
    } catch (error) {
      if (this.isOpen) this.fail(error);
    } finally {
      this.isUpdating = false;
    }
  }
  async readPages(rows) {
    const ids = new Set(rows.map((row) => row.id));
    for (const chunk of this.chunks.filter((chunk) => chunk.ids.some((id) => ids.has(id)))) {
      const answer = await this.page(chunk.cursor);
      for (const job of answer.jobs) {
        this.jobs.set(job.id, job);
        this.rows.get(job.id)?.update(job);
      }
    }
  }
}

class JobRow {
  job = null;
  cells = null;
  stripAt = 0;

  constructor(id, page) {
    this.id = id;
    this.page = page;
    this.name = bdi("");
    this.link = h("a.name", { href: jobPath(id) }, this.name);
    this.sub = h("div.sub");
    this.state = badge("waiting");
    this.canvas = h("canvas.strip.small.figure", { "aria-hidden": "true" });
    this.counts = h("div.counts.figure");
    this.why = h("div.why");
    const cell = (kind, head, ...children) => h("td", { role: "cell", class: kind, "data-head": head }, children);
    this.speed = cell("num figure", "speed");
    this.eta = cell("num figure", "ETA");
    this.age = h("time", { "data-suffix": "" });
    this.element = h("tr", { role: "row", "data-id": id }, cell("", null, this.link, this.sub), cell("", null, this.state),
      cell("", null, this.canvas, this.counts, this.why), this.speed, this.eta, cell("num", "age", this.age));
  }
  get hasStrip() { return !isOver(this.job) && this.job.passes > 1; }

  update(job) {
    if (!job) return;
    const text = JSON.stringify(job);
    if (text === this.text) return;
    this.text = text;
    const wasOver = this.job && isOver(this.job);
    this.job = job;
    put(this.name, jobName(job));
    mark(this.link, "title", jobName(job));
    const labels = sortedLabels(job);
    const sub = JSON.stringify([job.name && job.source, labels]);
    if (sub !== this.subText) {
      this.subText = sub;
      const file = fileName(job.source);
      refill(this.sub, job.name && file !== job.name && [bdi(file), " "], h("span.mono", job.id), " ",
        labels.slice(0, 4).map(tag));
    }
    setBadge(this.state, shownState(job));
    put(this.counts, this.words(job));
    const why = legible(job.failure ?? job.waitReason ?? "");
    put(this.why, why);
    mark(this.why, "title", why || null);
    this.why.hidden = why === "";
    this.why.classList.toggle("bad", job.failure != null);
    put(this.speed, job.framesPerSecond > 0 ? speed(job.framesPerSecond) : "");
    put(this.eta, job.eta != null ? clock(job.eta) : "");
    setAgo(this.age, job.created);
    if (!this.cells || isOver(job) !== wasOver || this.cells.isGuess) this.guess();
    this.draw();
  }
  words(job) {
    if (job.state === "probing") return "being read";
    const frames = `${grouped(job.framesEncoded)}/${grouped(job.frames)} frames`;
    return job.state === "done" ? `${grouped(job.frames)} frames` + (job.outputBytes ? `, ${size(job.outputBytes)}` : "")
      : `${frames}, ${percent(job)}` + (job.passesRetrying > 0 ? `, ${job.passesRetrying} retrying` : "");
  }
  guess() {
    this.cells = cellsOfCounts(this.job);
    this.cells.isGuess = true;
  }
  async readStrip() {
    this.stripAt = Date.now();
    try {
      const { cells } = await this.page.ask(jobPath(this.id, `/strip?cells=${Math.min(this.job.passes, 60)}`));
      if (cells.length > 0 && !isOver(this.job)) this.cells = cellsOf(cells, this.job);
      this.draw();
    } catch (error) {
      if (![404, 409].includes(error.status)) throw error;
    }
  }
  draw() { if (this.element.isConnected && this.cells) drawStrip(this.canvas, this.cells); }
}

function firstVideo() {
  return h("section.panel.empty", h("h2", "There are no jobs"),
    h("ol",
      h("li", "Submit the first video ", mayWrite("operator") && ["on this page, ", h("a", { href: "submit" }, "Submit"), ", or "], "on the command line:",
        h("pre", "reel-coordinator submit clip.mp4")),
      h("li", "Workers do the work. If none runs, start one on each machine:", h("pre", "reel-worker"))),
    !mayWrite("operator") && h("p.muted", session?.readOnly ? "This server is read only." : "Submitting on this page needs the role operator."));
}

// --- One job ---

/** A panel that is drawn again only if what it shows has changed; opened details stay open. */
class Section {
  text = null;
  content = h("div");
  constructor(title, render) {
    this.render = render;
    this.element = panel(title, this.content);
    this.element.hidden = true;
  }
  update(value) {
    const text = JSON.stringify(value);
    if (text === this.text) return;
    this.text = text;
    const opened = new Set([...this.content.querySelectorAll("details[open]")].map((details) => details.dataset.key));
    const focused = this.content.contains(document.activeElement) ? document.activeElement.closest("[data-key]")?.dataset.key : null;
    const nodes = value == null ? null : this.render(value);
    this.element.hidden = nodes == null;
    refill(this.content, nodes);
    for (const details of this.content.querySelectorAll("details")) if (opened.has(details.dataset.key)) details.open = true;
    if (focused != null) this.content.querySelector(`details[data-key="${CSS.escape(focused)}"] > summary`)?.focus();
  }
}
/** Named values with a note each. They change each second: the elements stay, so that a selection survives. */
class Facts {
  constructor(kind) { this.element = h("dl", { class: `${kind} figure` }); }
  /** Shows rows of a name, a text or a time element, and a note. */
  update(rows) {
    const names = rows.map(([name]) => name).join();
    if (names !== this.names) {
      this.names = names;
      refill(this.element, rows.map(([name]) => h("div", h("dt", name), h("dd", h("span"), h("small")))));
    }
    rows.forEach(([, value, note], index) => {
      const [shown, small] = this.element.children[index].lastChild.children;
      if (typeof value === "string") put(shown, value);
      else if (shown.firstChild?.dataset?.at !== value.dataset.at) shown.replaceChildren(value);
      put(small, note);
    });
  }
}

/** What has the same key, in one list each. */
function groupsOf(list, key) {
  const groups = new Map();
  for (const entry of list) groups.has(key(entry)) ? groups.get(key(entry)).push(entry) : groups.set(key(entry), [entry]);
  return groups;
}
const nonEmpty = (list) => list && list.length > 0 ? list : null;

class JobPage extends Page {
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
    this.result = h("section.panel", h("h2", "Result"));
    this.result.hidden = true;
    this.films = new Films(this);
    this.passes = new PassesSection(this);
    this.sections = {
      diagnostics: new Section("Changed or left out", (list) => h("ul.list", list.map((entry) =>
        h("li", bdi(entry.message), codeOf(entry.code))))),
      failures: new Section("Failures", (value) => failureList(value, this)),
      excluded: new Section("Excluded workers", (list) => h("ul.list", list.map((entry) =>
        h("li", h("strong", bdi(entry.host)), `: `, bdi(entry.reason), h("div.muted.small.mono", entry.worker, " · ", entry.code))))),
      engines: new Section("Workers on it", engineList),
      clips: new Section("Clips", clipList),
      options: new Section("What was asked for", optionList),
      sources: new Section("Files", fileList),
    };
    const { sections } = this;
    this.body = h("div",
      h("div.head", h("div", this.heading, h("div.bar", this.state, this.sub)), this.actions), this.notices,
      h("section.panel", h("h2", "Progress"), this.strip.element, h("div.gap"), this.facts.element),
      this.result, this.films.element, sections.failures.element,
      h("div.columns", ["diagnostics", "options", "engines", "excluded", "clips", "sources"].map((name) => sections[name].element)),
      this.passes.element);
    this.body.hidden = true;
    this.element = h("div", h("p.small", h("a", { href: "." }, "Jobs"), h("span.muted", { "aria-hidden": "true" }, " / ")), this.body);
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
      const number = Math.min(job.passes, Math.max(60, Math.min(Math.floor(this.strip.canvas.clientWidth / 4) || 200, 300)));
      try {
        ({ cells } = await this.ask(jobPath(job.id, `/strip?cells=${number}`)));
      } catch (error) {
        if (![404, 409].includes(error.status)) throw error;
      }
    }
    this.strip.update(nonEmpty(cells) ? cellsOf(cells, job) : cellsOfCounts(job, 200));
  }
  changed() { this.isDirty = true; }
  pulse() {
    super.pulse();
    if (!this.isLoaded || this.retryAt != null || this.reading || trouble.has("stream")) return;
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
      live.follow(job.id);
    }
    this.title = jobName(job);
    const done = isOver(job) || job.frames === 0 ? "" : `${percent(job)} · `;
    document.title = `${done}${this.title} · reel`;
    put(this.heading.firstChild, jobName(job));
    setBadge(this.state, shownState(job));
    this.showHead(job);
    this.showNotices(job);
    this.showFacts(job);
    this.showResult(job);
    this.films.update(job);
    const { sections } = this;
    const told = new Set([...job.diagnostics.map((entry) => entry.message), job.waitReason, ...job.excluded.map((entry) => entry.reason)]);
    const others = job.warnings.filter((text) => !told.has(text) && !job.excluded.some((entry) => text.includes(entry.reason)));
    sections.diagnostics.update(nonEmpty([...job.diagnostics, ...others.map((message) => ({ message }))]));
    sections.failures.update(job.failureCount > 0 || job.failures.length > 0 ? { list: job.failures, count: job.failureCount, passes: job.passes } : null);
    sections.excluded.update(nonEmpty(job.excluded));
    sections.engines.update(nonEmpty(job.engines));
    sections.clips.update(nonEmpty(job.clips));
    sections.options.update(job.options ?? null);
    sections.sources.update({ sources: nonEmpty(job.sources) ?? [job.source], output: job.output, bytes: job.outputBytes, sha: job.outputSha256 });
    this.passes.update(job);
  }
  showHead(job) {
    const text = JSON.stringify([job.state, job.paused, job.labels, job.weight, job.output != null, session]);
    if (text === this.headText) return;
    this.headText = text;
    refill(this.sub, h("span.mono", job.id), " ", sortedLabels(job).map(tag));
    const send = (word, done) => button(word, (event) => this.send(event.currentTarget, word.toLowerCase(), done));
    const had = this.actions.contains(document.activeElement);
    refill(this.actions,
      job.state === "done" && job.output != null && may("operator")
        && h("a.button.primary", { href: `api/v1/${jobPath(job.id, "/output")}`, download: "" }, "Download"),
      mayWrite("operator") && job.state === "failed" && send("Retry", "The job runs again."),
      mayWrite("operator") && !isOver(job) && (job.paused ? send("Resume", "The job goes on.") : send("Pause", "The job is paused; passes in flight are finished.")),
      mayWrite("operator") && button(isOver(job) ? "Labels…" : "Weight and labels…", () => this.edit()),
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
    const isSure = await dialog("Cancel this job?", h("p", bdi(jobName(this.job)), " ends; its engines are stopped within seconds. Finished passes are lost."), "Cancel the job", "danger");
    if (isSure) this.send(null, "cancel", "The job is cancelled.");
  }
  async remove() {
    const isSure = await dialog("Remove this job?", h("p", bdi(jobName(this.job)), " and its result in the store are removed; fetched copies are kept."), "Remove the job", "danger");
    if (isSure && await this.act(null, "The job is removed.", jobPath(this.id), { method: "DELETE" })) {
      keptJobs = null;
      go(".");
    }
  }
  async edit() {
    const weight = h("input", { type: "number", min: 0.001, max: 1000, step: "any", required: true, value: this.job.weight });
    const labels = h("textarea", { rows: 4, spellcheck: "false" }, Object.entries(this.job.labels).map(([name, value]) => `${name}=${value}\n`));
    const wrong = h("p.wrong", { role: "alert" });
    const old = this.job;
    const change = await dialog(isOver(old) ? "Labels" : "Weight and labels", [
      !isOver(old) && h("label.field", h("span", "Weight"), weight, h("div.hint", "Share of the work beside other jobs: 3 gets three times as much as 1.")),
      h("label.field", h("span", "Labels"), labels, h("div.hint", "One in each line, as project=trailer.")), wrong,
    ], "Save", "", () => {
      try {
        const change = { labels: labelsOf(labels.value) };
        if (Number(weight.value) !== old.weight) change.weight = Number(weight.value);
        return change;
      } catch (error) {
        put(wrong, error.message);
        return null;
      }
    });
    if (!change) return;
    const job = await this.act(null, "The change is saved.", jobPath(this.id), { method: "PATCH", body: change });
    if (job?.id && this.isOpen) this.show(job);
    else if (this.isOpen) this.refresh();
  }

  showNotices(job) {
    const notices = [];
    if (job.failure) notices.push(["bad", "Failed: ", job.failure, job.failureReason?.code]);
    if (job.waitReason) notices.push(["odd", "Waits: ", job.waitReason, job.waitCode]);
    if (job.state === "probing" && !job.waitReason) notices.push(["", "", "The source is being read to make the plan."]);
    if (job.state === "assembling") notices.push(["", "", "All passes are done: the segments are being joined and verified."]);
    const text = JSON.stringify(notices);
    if (text === this.noticesText) return;
    this.noticesText = text;
    this.notices.replaceChildren(...notices.map(([kind, word, message, code]) =>
      h("p", { class: `notice ${kind}` }, word && h("strong", word), bdi(message), codeOf(code))));
  }
  showFacts(job) {
    const rows = [
      job.frames > 0 && ["Frames", `${grouped(job.framesEncoded)} of ${grouped(job.frames)}`, percent(job)],
      job.framesDecoded > 0 && ["Decoded", grouped(job.framesDecoded), "frames, with those that passes discard"],
      !isOver(job) && job.passes > 0 && ["Speed", speed(job.framesPerSecond), "over the last minute"],
      job.eta != null && ["ETA", clock(job.eta), "at that speed"],
      job.passes > 0 && ["Passes", `${grouped(job.passesDone)} of ${grouped(job.passes)}`,
        [[job.passesLive, "in flight"], [job.passesReady, "ready"], [job.passesRetrying, "retrying"], [job.passesExhausted, "exhausted"]]
          .filter(([number]) => number > 0).map(([number, word]) => `${grouped(number)} ${word}`).join(", ")],
      job.oldestWait != null && ["Oldest wait", clock(job.oldestWait), "of a ready pass"],
      ["Memory", job.need > 0 ? size(job.need) : "–", "a pass" + (job.peakRSS > 0 ? `, ${size(job.peakRSS)} at most so far` : "")],
      ["Weight", String(job.weight), "share of the work"],
      ["Submitted", ago(job.created, " ago"), job.submitter ? `by ${job.submitter}` : ""],
      job.finished != null && ["Ended", ago(job.finished, " ago"), `after ${clock(job.finished - job.created)}`],
      job.outputBytes != null && ["Result", size(job.outputBytes), fileName(job.output)],
    ].filter(Boolean);
    this.facts.update(rows);
  }
  showResult(job) {
    if (this.resultOf === job.output || job.state !== "done" || job.output == null) return;
    this.resultOf = job.output;
    this.result.hidden = false;
    this.player?.close();
    if (may("operator")) {
      this.player = new Player(job);
      this.result.replaceChildren(h("h2", "Result"), this.player.element);
    } else {
      this.result.replaceChildren(h("h2", "Result"), h("p.muted", "Watching and downloading the result needs the role operator."));
    }
  }
}

function labelsOf(text) {
  const labels = {};
  for (const line of text.split(/[\n,]/).map((line) => line.trim()).filter(Boolean)) {
    const match = /^([A-Za-z0-9._-]{1,40})=(.{1,100})$/u.exec(line);
    if (!match) throw new Error(`A label is NAME=VALUE, as project=trailer; NAME has letters, digits, “.”, “-” and “_”. This is none: ${line}`);
    if (Object.hasOwn(labels, match[1])) throw new Error(`The label ${match[1]} is given twice.`);
    labels[match[1]] = match[2];
  }
  if (Object.keys(labels).length > 16) throw new Error("A job has 16 labels at most.");
  return labels;
}
const attemptWords = (attempts) => typeof attempts === "object"
  ? Object.entries(attempts ?? {}).filter(([, number]) => number > 0).sort(([a], [b]) => a < b ? -1 : 1).map(([cause, number]) => `${number} × ${cause}`).join(", ")
  : String(attempts ?? "");

function failureList({ list, count: number, passes }, page) {
  const sorted = [...list].sort((a, b) => (b.recent?.at(-1)?.time ?? 0) - (a.recent?.at(-1)?.time ?? 0));
  const box = h("div", sorted.slice(0, 10).map((failure) => failureView(failure, passes)));
  const more = number > Math.min(sorted.length, 10) && button(`Show all ${grouped(number)}`, async (event) => {
    const control = event.currentTarget;
    const answer = await page.act(control, null, jobPath(page.id, `/failures${control.cursor ? `?cursor=${part(control.cursor)}` : ""}`));
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
  const what = failure.kind === "assembly" || (passes > 0 && failure.index === passes) ? "The assembly" : failure.index < 0 ? "The probe" : `Pass ${failure.index}`;
  const range = failure.kind === "audio" ? "audio" : failure.firstFrame != null ? `frames ${failure.firstFrame} to ${failure.endFrame - 1}`
    + (failure.from != null ? `, ${place(failure.from)} to ${place(failure.to)} of the source` : "") : "";
  return h("details", { "data-key": failure.index },
    h("summary", [what, range, attemptWords(failure.attempts)].filter(Boolean).join(", "),
      failure.lastMessage && h("div.muted.small.clamp", bdi(failure.lastMessage))),
    (failure.recent ?? []).map((attempt) => h("div.attempt",
      h("div.muted.small", h("time", { datetime: new Date(attempt.time * 1000).toISOString() }, absolute(attempt.time)),
        " · ", bdi(attempt.host), " · ", h("span.mono", attempt.worker)),
      h("strong", attempt.cause, ": "), bdi(attempt.message), codeOf(attempt.code),
      nonEmpty(attempt.log) && h("pre.log", { tabindex: 0, "aria-label": "Last words of the engine" }, legible(attempt.log.join("\n"))))));
}
function engineList(engines) {
  return h("ul.list", [...groupsOf(engines, (engine) => engine.host)].sort(([a], [b]) => a < b ? -1 : 1).map(([host, list]) => {
    const words = [...new Set(list.map((engine) => engine.sandbox ? sandboxWords(engine.sandbox) : "").filter(Boolean))];
    return h("li", h("strong", bdi(host)), list.length > 1 ? `, ${list.length} workers` : "", h("div.muted.small", words.join("; ")));
  }));
}
const sandboxWords = ({ landlock, seccomp }) => landlock > 0 && seccomp ? `confined by Landlock ${landlock} and seccomp`
  : landlock > 0 ? `confined by Landlock ${landlock}; seccomp is not in force` : seccomp ? "confined by seccomp; Landlock is not in force" : "not confined";
function clipList(clips) {
  const line = (clip) => {
    const what = clip.source == null ? "black" : `${clip.source}, ${count(clip.endFrame - clip.firstFrame, "frame")} ${clip.direction === "forwards" ? "forward" : "back"}`;
    const how = clip.passesDone === clip.passes ? "done" : clip.passesDone + clip.passesLive === 0 ? "waits"
      : `${clip.passesDone} of ${count(clip.passes, "pass")} done${clip.passesLive > 0 ? `, ${clip.passesLive} worked on` : ""}`;
    return h("li", bdi(what), ": ", how);
  };
  return [h("ol.list", clips.slice(0, 12).map(line)), clips.length > 12 && h("p.muted", `and ${clips.length - 12} more`)];
}
function optionList(options) {
  const rows = Object.entries(options).filter(([name]) => name !== "edit").map(([name, value]) =>
    [plainWord(name), value === true ? "yes" : value === false ? null : typeof value === "object" ? JSON.stringify(value) : String(value)]);
  const clips = options.edit?.clips ?? [];
  const only = clips.length === 1 && clips[0];
  if (only) {
    const { from, to, duration, play, times, speed: fast } = only;
    rows.unshift(["play", play], ["times", times > 1 ? String(times) : null], ["speed", fast && ratio(fast) !== 1 ? String(fast) : null], ["from", from], ["to", to], ["duration", duration]);
  } else if (clips.length > 1) rows.unshift(["edit", count(clips.length, "clip")]);
  else rows.unshift(["play", "reverse"]);
  return pairs(rows);
}
function fileList({ sources, output, bytes, sha }) {
  return pairs([...sources.slice(0, 8).map((path, index) => [index === 0 ? "source" : "", path]),
    sources.length > 8 && ["", `and ${sources.length - 8} more`], output && ["output", output], bytes != null && ["size", `${size(bytes)} (${grouped(bytes)} bytes)`],
    sha && ["SHA-256", h("span.mono", sha)]].filter(Boolean));
}

/** Twelve frames of the source, and of the output from its first finished segments on. */
class Films {
  element = h("section.panel", h("h2", "Pictures"));
  constructor(page) {
    this.page = page;
    this.box = h("div.films");
    this.element.append(this.box);
    this.element.hidden = true;
    this.films = [["source", "Source, from its start"], ["output", "Output, in its order"]].map(([side, title]) => {
      const film = { side, image: h("img", { alt: `Twelve frames of the ${side}` }), note: h("span"), timer: null, isThere: false };
      film.figure = h("figure", h("figcaption", title, " ", film.note), film.image);
      film.image.hidden = true;
      film.image.addEventListener("load", () => { film.image.hidden = false; film.isThere = true; put(film.note, ""); });
      film.image.addEventListener("error", () => this.failed(film));
      this.box.append(film.figure);
      return film;
    });
  }
  update(job) {
    this.job = job;
    if (job.state === "probing") return;
    this.element.hidden = false;
    const part = isOver(job) ? 13 : Math.floor((job.passesDone ?? 0) * 12 / Math.max(job.passes, 1));
    for (const film of this.films) {
      // More of the output may be there with each twelfth of the passes.
      const isOlder = film.side === "output" && film.isThere && film.part !== part;
      if (!film.wanted || isOlder) this.load(film);
      film.part = part;
    }
  }
  load(film) {
    film.wanted = true;
    // The query makes it a new address: while a browser shows an image, it does not ask for the same address again.
    if (this.page.isOpen) film.image.src = `api/v1/${jobPath(this.job.id, `/filmstrip/${film.side}.jpg?${Date.now()}`)}`;
  }
  /** An image does not tell why it is missing: the question is asked once more as a request. */
  async failed(film) {
    if (!this.page.isOpen) return;
    try {
      await this.page.ask(jobPath(this.job.id, `/filmstrip/${film.side}.jpg`));
    } catch (error) {
      if (!this.page.isOpen) return;
      const comes = error.status === 503 || error.status === 0 || (error.status === 404 && !isOver(this.job));
      put(film.note, comes ? "– not made yet" : "– none");
      film.isMissing = !comes;
      this.element.hidden = this.films.every((film) => film.isMissing);
      if (comes) film.timer = setTimeout(() => this.load(film), Math.max(error.retryAfter ?? 10, 2) * 1000);
    }
  }
  /** A picture that is still waited for would keep one of the browser's few connections to the server. */
  close() {
    for (const film of this.films) {
      clearTimeout(film.timer);
      film.image.removeAttribute("src");
    }
  }
}

/** The passes as a table, a page at a time; read only while it is open. */
class PassesSection {
  cursor = null;
  constructor(page) {
    this.page = page;
    this.select = h("select", { "aria-label": "State of the passes", onchange: () => this.load(null) },
      [["", "all"], ["live", "running"], ["retrying", "retrying"], ["exhausted", "exhausted"], ["waiting", "waiting"], ["done", "done"]]
        .map(([value, word]) => h("option", { value }, word)));
    this.select.style.width = "10rem";
    this.rows = h("tbody");
    this.note = h("p.muted");
    this.nextButton = button("Next page", () => this.load(this.next));
    this.firstButton = button("First page", () => this.load(null));
    this.details = h("details", { ontoggle: () => { if (this.details.open) this.load(this.cursor); } }, h("summary", "Passes one by one"),
      h("div.bar", this.select, this.firstButton, this.nextButton), this.note,
      h("div.scroll", h("table", tableHead(["Pass", "Kind", "State", "Frames of the source", "Worker", "Encoded", "Failed attempts"], [0, 3, 5]), this.rows)));
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
        h("td.num", pass.kind === "assembly" ? "–" : String(pass.index)), h("td", pass.kind), h("td", badge(pass.state === "live" ? "running" : pass.state)),
        h("td.num", pass.firstFrame != null ? `${grouped(pass.firstFrame)} to ${grouped(pass.endFrame - 1)}` : ""),
        h("td.mono.small", pass.worker ? bdi(pass.worker) : ""), h("td.num", pass.framesEncoded != null ? grouped(pass.framesEncoded) : ""),
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

// --- Source and result side by side, with one position ---

/** A moment as options have it, in seconds: "5/2", 2.5, "30f", "00:00:01:12"; NaN for anything else. */
function moment(value, frameLength) {
  if (value == null) return NaN;
  const text = String(value);
  if (/^\d+f$/.test(text)) return parseInt(text, 10) * frameLength;
  const parts = text.split(/[:;]/).map(Number);
  if (parts.length === 4) return parts[0] * 3600 + parts[1] * 60 + parts[2] + parts[3] * frameLength;
  if (parts.length > 1) return parts.reduce((sum, part) => sum * 60 + part, 0);
  return ratio(text);
}

const usualRates = [10, 12, 12.5, 15, 24 / 1.001, 24, 25, 30 / 1.001, 30, 48, 50, 60 / 1.001, 60, 100, 120 / 1.001, 120];
/** How long the pictures of a result last. Its sound may last a little longer, which a player counts: the mirror's axis
 *  would be off by a frame. So a usual frame rate that fits is believed. */
function pictureLength(length, frames) {
  const fitting = usualRates.map((rate) => frames / rate).filter((picture) => picture <= length + 0.002 && length - picture < 0.1);
  return fitting.length > 0 ? Math.max(...fitting) : length;
}

/** From moments of a result of one clip to those of its source. */
class Mirror {
  constructor(job, length) {
    const clips = job.options?.edit?.clips;
    const clip = clips ? clips[0] : { play: "reverse", ...job.options };
    this.isLinked = (job.sources?.length ?? 1) <= 1 && (!clips || (clips.length === 1 && clip.still == null && clip.source != null));
    this.isLinked &&= job.options?.timestamps !== "source";
    const times = clip?.times ?? 1;
    const fast = clip?.speed != null ? ratio(clip.speed) : 1;
    const frames = Math.max(job.frames, 1);
    length = pictureLength(length, frames * times);
    this.length = length;
    this.frame = length / (frames * times);
    const turns = clip?.play === "ping-pong";
    const isOnce = turns && job.options?.edit?.turn !== "twice";
    const there = isOnce ? (frames + 2) / 2 : turns ? frames / 2 : frames;
    const start = moment(clip?.from, this.frame * fast);
    this.from = Number.isFinite(start) ? start : 0;
    this.cycle = length / times;
    const step = this.frame;
    // Each leg of the cycle: when it begins and, at that moment, where the source is, and which way it runs.
    const back = { at: 0, source: this.from + there * step * fast, pace: -fast };
    const forth = { at: 0, source: this.from, pace: fast };
    this.legs = !turns ? [clip?.play === "forward" ? forth : back]
      : [forth, { at: there * step, source: this.from + (isOnce ? there - 1 : there) * step * fast, pace: -fast }];
    this.isBackwards = this.legs[0] === back;
    this.sourceFrame = step * fast;
  }
  /** The source's moment; the last one of a frame that runs backwards, as it is shown until there. */
  source(time) {
    const within = Math.max(0, Math.min(time % this.cycle, this.cycle));
    const leg = this.legs.findLast((leg) => leg.at <= within + 1e-6) ?? this.legs[0];
    const moved = leg.source + (within - leg.at) * leg.pace;
    return Math.max(0, leg.pace < 0 ? moved - Math.min(this.sourceFrame / 4, 0.004) : moved + Math.min(this.sourceFrame / 4, 0.001));
  }
}

class Player {
  time = 0;
  isPlaying = false;

  constructor(job) {
    this.job = job;
    const path = `api/v1/${jobPath(job.id)}`;
    this.isLoop = ["gif", "webp", "apng"].includes(job.options?.container);
    this.sides = { source: this.side("source", `${path}/source`, "Source"), output: this.side("output", `${path}/output`, "Result") };
    this.length = 0;
    this.play = button("Play", () => this.toggle(), "primary");
    this.slider = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Position in the result", oninput: () => { this.pause(); this.seek(Number(this.slider.value)); } });
    this.readout = h("output.mono.nowrap");
    this.note = h("p.hint");
    this.transport = h("div.transport", this.play, button("◂", () => this.stepBy(-1), "", { "aria-label": "One frame back", title: "One frame back" }),
      button("▸", () => this.stepBy(1), "", { "aria-label": "One frame on", title: "One frame on" }), this.slider, this.readout);
    this.transport.hidden = this.isLoop;
    this.element = h("div.player", h("div.screens", this.sides.source.figure, this.sides.output.figure), this.transport, this.note);
    this.measure();
  }
  side(name, source, title) {
    const side = { name, where: h("span.mono"), isPicture: false };
    const canMove = !(this.isLoop && name === "output");
    side.media = canMove ? h("video", { preload: "metadata", playsinline: true, "aria-label": title })
      : h("img", { src: source, alt: "The result, which moves" });
    side.figure = h("figure", h("figcaption", title, side.where), side.media);
    if (!canMove) return side;
    side.media.muted = name === "source";
    side.media.addEventListener("error", () => this.showFrames(side));
    side.media.addEventListener("loadedmetadata", () => {
      if (side.media.videoWidth === 0) return this.showFrames(side);
      this.measure();
    });
    side.media.addEventListener("seeked", () => this.follow());
    if (name === "output") {
      side.media.addEventListener("timeupdate", () => this.heard());
      side.media.addEventListener("ended", () => { this.pause(); this.heard(); });
      side.media.addEventListener("pause", () => { if (this.isPlaying && !side.isPicture) this.pause(); });
    }
    side.media.src = source;
    return side;
  }
  /** Shows single frames of a side that the browser cannot play. */
  showFrames(side) {
    if (side.isPicture || this.isClosed) return;
    side.isPicture = true;
    const image = h("img", { alt: `A frame of the ${side.name}` });
    image.addEventListener("load", () => { side.isBusy = false; image.hidden = false; this.drawFrame(side); });
    image.addEventListener("error", () => { side.isBusy = false; image.hidden = true; put(this.note, `The ${side.name === "output" ? "result" : "source"} can be neither played here nor shown frame by frame. Download the result to watch it.`); });
    side.media.replaceWith(image);
    side.media.removeAttribute("src");
    side.image = image;
    put(this.note, "The browser cannot play this format: single frames are shown instead.");
    this.measure();
  }
  measure() {
    const [source, output] = [this.sides.source, this.sides.output];
    const lengthOf = (side) => !side.isPicture && Number.isFinite(side.media.duration) ? side.media.duration : 0;
    // Of a result that cannot be played only the number of its frames is known.
    this.length = lengthOf(output) || (output.isPicture ? lengthOf(source) || this.job.frames / 25 : 0);
    this.mirror = new Mirror(this.job, Math.max(this.length, 1e-3));
    if (this.length > 0) this.length = this.mirror.length;
    this.play.hidden = !this.canPlay;
    this.slider.max = Math.max(this.length - this.mirror.frame / 2, 0);
    this.slider.step = this.length > 0 ? this.mirror.frame : "any";
    if (!this.isLoop && !this.mirror.isLinked) {
      put(this.note, source.isPicture ? "" : "This result does not show one range of one source: the source is played by itself.");
      source.figure.hidden = source.isPicture;
      source.media.controls = true;
    }
    this.show();
  }
  get canPlay() { return !this.sides.output.isPicture; }
  toggle() { this.isPlaying ? this.pause() : this.start(); }
  async start() {
    if (this.length === 0) return;
    if (this.time >= this.length - this.mirror.frame) this.seek(0);
    this.isPlaying = true;
    put(this.play, "Pause");
    try { await this.sides.output.media.play(); } catch { return this.pause(); }
    this.run();
  }
  pause() {
    this.isPlaying = false;
    put(this.play, "Play");
    cancelAnimationFrame(this.request);
    if (this.canPlay) this.sides.output.media.pause?.();
    this.follow();
  }
  run() {
    if (!this.isPlaying) return;
    this.heard();
    this.request = requestAnimationFrame(() => this.run());
  }
  /** Takes the position from the result that plays. */
  heard() {
    if (!this.canPlay) return;
    this.time = this.sides.output.media.currentTime;
    this.show();
  }
  seek(time) {
    this.time = Math.max(0, Math.min(time, Math.max(this.length - this.mirror.frame / 2, 0)));
    if (this.canPlay) this.sides.output.media.currentTime = this.time + Math.min(this.mirror.frame / 4, 0.001);
    this.show();
  }
  stepBy(frames) {
    this.pause();
    const at = Math.floor(this.time / this.mirror.frame + 0.01);
    this.seek((at + frames) * this.mirror.frame);
  }
  show() {
    if (this.isLoop) return;
    const { mirror } = this;
    this.slider.value = this.time;
    put(this.readout, `${place(this.time)} / ${place(this.length)}`);
    mark(this.slider, "aria-valuetext", `${place(this.time)} of ${place(this.length)}, frame ${Math.floor(this.time / mirror.frame + 0.01)}`);
    put(this.sides.output.where, place(this.time));
    if (this.sides.output.isPicture) this.drawFrame(this.sides.output);
    if (mirror.isLinked) {
      put(this.sides.source.where, `${place(mirror.source(this.time))}${mirror.isBackwards ? " ◂" : ""}`);
      this.follow();
    }
  }
  /** Steps the source to its moment: a video cannot play backwards. One seek at a time, the latest counts. */
  follow() {
    const { source } = this.sides;
    if (!this.mirror.isLinked || this.length === 0 || this.isLoop) return;
    if (source.isPicture) return this.drawFrame(source);
    if (source.media.readyState === 0 || source.media.seeking) return;
    const wanted = Math.min(this.mirror.source(this.time), Math.max((source.media.duration || 0) - 0.001, 0));
    if (Math.abs(source.media.currentTime - wanted) > this.mirror.sourceFrame / 8) source.media.currentTime = wanted;
  }
  /** Shows the frame of the position once that rests: a worker's engine has to make each. */
  drawFrame(side) {
    clearTimeout(side.timer);
    if (this.isPlaying || side.isBusy || !side.image || this.length === 0) return;
    side.timer = setTimeout(() => this.loadFrame(side), 150);
  }
  loadFrame(side) {
    if (this.isClosed) return;
    const number = side.name === "output" ? Math.floor(this.time / this.mirror.frame + 0.01)
      : Math.max(Math.floor(this.mirror.source(this.time) / this.mirror.sourceFrame + 0.01), 0);
    if (number === side.number) return;
    side.number = number;
    side.isBusy = true;
    side.image.src = `api/v1/${jobPath(this.job.id, `/frames/${side.name}/${number}.jpg`)}`;
  }
  close() {
    this.isClosed = true;
    this.pause();
    for (const side of Object.values(this.sides)) side.media.removeAttribute("src"), side.media.load?.();
  }
}

// --- Uploads by tus 1.0.0 ---

const pieceBytes = 8 * 1024 * 1024;

/** A file on its way to the server. It goes on after a lost connection and, if the same file is chosen again, after a
 *  reload: the address of the upload is kept by the file's name, size and time. */
class Upload {
  offset = 0;
  state = "running";
  url = null;
  pace = 0;
  note = "";

  constructor(file) {
    this.file = file;
    this.key = `reel-upload ${base.pathname} ${file.name} ${file.size} ${file.lastModified}`;
    this.watchers = new Set();
    try { this.url = localStorage.getItem(this.key); } catch { /* Storage may be turned off. */ }
  }
  get id() { return this.state === "done" ? decodeURIComponent(this.url.split("/").pop()) : null; }
  get isActive() { return this.state === "running" || this.state === "waiting"; }
  tell() { for (const watcher of this.watchers) watcher(this); showUpload(); }

  /** One request; resolves to its status and a reader of its headers, with status 0 if there was no answer. */
  request(method, url, headers = {}, body = null) {
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      this.current = request;
      request.open(method, url);
      request.setRequestHeader("Tus-Resumable", "1.0.0");
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      if (body) {
        const from = this.offset;
        request.upload.onprogress = (event) => this.moved(from + event.loaded);
      }
      request.onloadend = () => resolve({ status: request.status, text: request.responseText, header: (name) => request.getResponseHeader(name) });
      request.send(body);
    });
  }
  moved(offset) {
    const time = performance.now();
    this.offset = Math.min(offset, this.file.size);
    this.marks = [...(this.marks ?? []), [time, this.offset]].filter(([at]) => time - at < 8000);
    const [first] = this.marks;
    this.pace = time - first[0] > 500 ? (this.offset - first[1]) / (time - first[0]) * 1000 : this.pace;
    this.tell();
  }
  async run() {
    const turn = this.turn = {};
    const isMine = () => this.turn === turn && this.isActive;
    this.state = "running";
    this.note = "";
    this.marks = [];
    this.tell();
    let pause = 1;
    while (isMine()) {
      const answer = await this.step();
      if (!isMine()) return;
      const { status } = answer;
      if (status >= 200 && status < 300) {
        pause = 1;
        this.state = "running";
        this.note = "";
        if (this.offset >= this.file.size && this.url) this.state = "done";
        this.tell();
        continue;
      }
      if (status === 401) { this.stop("paused"); return toSignIn(); }
      if (this.url && [403, 404, 410].includes(status) && !this.isFresh) { this.forget(); continue; }
      const isLasting = (status >= 400 && status < 500 && ![409, 423, 429, 460].includes(status)) || status === 507;
      if (isLasting) {
        let words = `the server answered ${status}`;
        try { const body = JSON.parse(answer.text); words = body.detail || body.title || words; } catch { /* No words then. */ }
        this.note = sentence(words);
        this.stop("failed");
        return;
      }
      this.needsOffset = true;
      const wait = Number(answer.header?.("Retry-After")) || pause;
      pause = Math.min(pause * 2, 30);
      this.state = "waiting";
      this.note = status === 0 ? "Connection lost, trying again." : "The server is busy, trying again.";
      this.tell();
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
  }
  /** The next request: creating the upload, asking for its offset, or sending a piece. */
  async step() {
    if (!this.url) {
      const name = btoa(String.fromCharCode(...new TextEncoder().encode(this.file.name)));
      const answer = await this.request("POST", apiURL("uploads"), { "Upload-Length": this.file.size, "Upload-Metadata": `filename ${name}` });
      const place = answer.header("Location");
      if (answer.status === 201 && place) {
        // A proxy may name another scheme or host; the path is what counts.
        this.url = new URL(place, apiURL("uploads")).pathname;
        this.isFresh = true;
        this.offset = 0;
        this.needsOffset = false;
        try { localStorage.setItem(this.key, this.url); } catch { /* It then does not go on after a reload. */ }
      }
      return answer;
    }
    if (this.needsOffset ?? true) {
      const answer = await this.request("HEAD", this.url);
      if (answer.status >= 200 && answer.status < 300) {
        this.offset = Number(answer.header("Upload-Offset"));
        this.needsOffset = false;
        this.marks = [];
        if (Number(answer.header("Upload-Length") ?? this.file.size) !== this.file.size) { this.forget(); this.offset = 0; }
      }
      return answer;
    }
    const from = this.offset;
    const answer = await this.request("PATCH", this.url, { "Upload-Offset": from, "Content-Type": "application/offset+octet-stream" },
      this.file.slice(from, from + pieceBytes));
    if (answer.status === 204) this.moved(Number(answer.header("Upload-Offset") ?? from + pieceBytes));
    return answer;
  }
  forget() {
    this.url = null;
    this.needsOffset = undefined;
    this.isFresh = false;
    try { localStorage.removeItem(this.key); } catch { /* Nothing was kept. */ }
  }
  stop(state) {
    this.turn = null;
    this.state = state;
    this.needsOffset = true;
    this.current?.abort();
    this.tell();
  }
  cancel() {
    const { url } = this;
    this.stop("cancelled");
    this.forget();
    if (url) this.request("DELETE", url);
  }
}

let upload = null;
function showUpload() {
  const chip = byID("uploading");
  const isShown = upload != null && ["running", "waiting", "paused"].includes(upload.state) && !(current instanceof SubmitPage);
  chip.hidden = !isShown;
  if (isShown) put(chip, `upload ${Math.floor(upload.offset * 100 / Math.max(upload.file.size, 1))} %${upload.state === "paused" ? ", paused" : ""}`);
}

// --- Submitting ---

class SubmitPage extends Page {
  title = "Submit";
  controls = {};
  isLoaded = true;

  constructor() {
    super();
    if (!mayWrite("operator")) {
      this.element = h("div.panel.empty", h("h1", "Submit a video"),
        h("p", session?.readOnly ? "This server is read only." : "Submitting needs the role operator."));
      return;
    }
    this.watch = () => this.showUpload();
    this.body = h("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); this.submit(); }, oninput: () => this.edited() },
      this.sourcePanel(), this.playPanel(), this.outputPanel(), this.namePanel(), this.planBox = h("div"), this.endBar());
    this.element = h("div", pageHead("Submit a video"), this.body);
    this.edited();
  }
  open() {
    this.abort = new AbortController();
    upload?.watchers.add(this.watch);
    showUpload();
    this.showUpload?.();
  }
  close() {
    super.close();
    upload?.watchers.delete(this.watch);
    setTimeout(showUpload);
  }
  refresh() {}

  /** A field with its label, hint and place for what is wrong. */
  field(name, label, control, hint, kind = "") {
    const id = `field-${name}`;
    const wrong = h("p.wrong", { id: `${id}-wrong` });
    wrong.hidden = true;
    control.id = id;
    control.name = name;
    const hints = hint ? h("p.hint", { id: `${id}-hint` }, hint) : null;
    control.setAttribute("aria-describedby", `${id}-wrong${hint ? ` ${id}-hint` : ""}`);
    this.controls[name] = { control, wrong };
    return h("div", { class: `field ${kind}` }, h("span", h("label", { for: id }, label)), control, wrong, hints);
  }
  text(name, label, hint, placeholder, more) { return this.field(name, label, h("input", { type: "text", placeholder, spellcheck: "false", autocomplete: "off", ...more }), hint); }
  choice(name, label, values, hint) {
    return this.field(name, label, h("select", values.map(([value, word]) => h("option", { value }, word ?? value))), hint);
  }
  radios(name, title, values) {
    const wrong = h("p.wrong");
    wrong.hidden = true;
    const set = h("fieldset", h("legend", title), h("div.choices", values.map(([value, word], index) =>
      h("label", h("input", { type: "radio", name, value, checked: index === 0 }), word))), wrong);
    this.controls[name] = { control: set, wrong, read: () => set.querySelector(":checked").value };
    return set;
  }
  value(name) {
    const { control, read } = this.controls[name];
    return read ? read() : control.type === "checkbox" ? control.checked : control.value.trim();
  }

  sourcePanel() {
    this.chooser = h("input", { type: "file", class: "unseen", tabindex: -1, "aria-hidden": "true", accept: "video/*,.mkv,.mxf,.ts,.m2ts,.vob,.nut,.avi,.mov,.gif,.webp,.apng", onchange: () => this.chooser.files[0] && this.take(this.chooser.files[0]) });
    const most = session.mostUploadBytes ? ` Up to ${size(session.mostUploadBytes)}.` : "";
    this.drop = h("div.drop", h("p", h("strong", "Drop a video here")), button("Choose a file…", () => this.chooser.click()), this.chooser,
      h("p.hint", `It is uploaded at once; an upload that breaks off goes on.${most}`));
    const over = (event) => { event.preventDefault(); this.drop.classList.add("over"); };
    this.drop.addEventListener("dragenter", over);
    this.drop.addEventListener("dragover", over);
    this.drop.addEventListener("dragleave", () => this.drop.classList.remove("over"));
    this.drop.addEventListener("drop", (event) => {
      event.preventDefault();
      this.drop.classList.remove("over");
      if (event.dataTransfer.files[0]) this.take(event.dataTransfer.files[0]);
    });
    this.uploadBox = h("div");
    this.sourceWrong = h("p.wrong", { role: "alert" });
    const path = session.sources && this.field("source", "Path of a video on the servers", h("input", { type: "text", spellcheck: "false", autocomplete: "off", placeholder: "/srv/in/clip.mp4" }),
      session.uploads ? "Instead of an upload: a file that the workers see." : "A file that the workers see.");
    return panel("Video", session.uploads && [this.drop, this.uploadBox], session.uploads && session.sources && h("div.gap"), path,
      !session.uploads && !session.sources && h("p.notice", "This server takes neither uploads nor paths. Submit on the command line: reel-coordinator submit clip.mp4"), this.sourceWrong);
  }
  playPanel() {
    return panel("What is done", h("div.fields",
      h("div.wide", this.radios("play", "Play", [["reverse", "reverse"], ["forward", "forward"], ["ping-pong", "ping-pong"]])),
      this.text("from", "From", "Seconds, 1:30.5, 2715f or 00:01:30:15", "start"),
      this.text("to", "To", "In the same forms", "end"),
      this.text("duration", "Duration", "Instead of “to”", "all"),
      this.text("speed", "Speed", "1/16 to 16; the sound keeps its pitch", "1"),
      this.text("times", "Times", "How often it is played", "1", { inputmode: "numeric" }),
      this.choice("turn", "Turn", [["", "once"], ["twice"]], "How often ping-pong shows the frames where it turns"),
      h("div.wide", this.radios("audio", "Sound", [["reverse", "as the picture"], ["keep", "forwards"], ["none", "none"]]))));
  }
  outputPanel() {
    const containers = [["", "as the source"], ["mp4"], ["mov"], ["mkv"], ["webm"], ["ts"], ["nut"], ["avi"], ["mxf"], ["gif"], ["apng"], ["webp"]];
    const codecs = [["", "as the source"], ["copy", "copy: packets as they are"], ["libx264", "H.264 (libx264)"], ["libx265", "HEVC (libx265)"], ["libsvtav1", "AV1 (libsvtav1)"],
      ["libvpx-vp9", "VP9 (libvpx-vp9)"], ["prores_ks", "ProRes"], ["mjpeg", "Motion JPEG"], ["mpeg2video", "MPEG-2"], ["ffv1", "FFV1"]];
    return panel("Output", h("div.fields",
      this.choice("container", "Container", containers), this.choice("videoCodec", "Video codec", codecs),
      this.text("crf", "Quality (CRF)", "The encoder's own scale; lower is better", "18 of x264", { inputmode: "decimal" }),
      this.text("bitrate", "Bit rate", "Instead of quality: 5M, or source", ""),
      this.text("size", "Size", "Scaled in proportion, the rest black", "640x360"),
      this.field("lossless", "Lossless", h("input", { type: "checkbox" }), "FFV1 and PCM, in mkv, mov or nut")),
      h("details", h("summary", "More options"), h("div.fields",
        this.text("preset", "Preset", "Of the encoder", "medium"), this.text("profile", "Profile", "As FFmpeg spells it", "main"),
        this.text("fps", "Most frames a second", "Every m-th frame of the source", "all"), this.text("pixelFormat", "Pixel format", "As FFmpeg spells it", "yuv420p"),
        this.text("audioCodec", "Sound codec", "As FFmpeg spells it", "as the source"), this.text("audioBitrate", "Sound bit rate", "Of each track", "192k"),
        this.text("sampleRate", "Sample rate", "", "48000", { inputmode: "numeric" }), this.text("channelLayout", "Channels", "As FFmpeg spells them", "stereo"),
        this.text("tracks", "Tracks", "a and s for all, a:0 for one, v for none", "a,s"), this.text("crossfade", "Crossfade", "Of the sound, between repeats", ""),
        this.text("memory", "Memory of a pass", "A limit, as 768MiB", "none"), this.text("threads", "Threads", "Of each codec", "auto"),
        this.choice("timestamps", "Timestamps", [["", "mirrored"], ["source", "the source's"]]), this.choice("verify", "Verify", [["", "packets"], ["decode", "packets and frames"]]),
        this.choice("onDamage", "Damaged frames", [["", "repeat the frame before"], ["fail", "fail"]]))));
  }
  namePanel() {
    return panel("In the list", h("div.fields",
      this.text("name", "Name", "", "Trailer, take 3", { maxlength: 100 }),
      this.text("labels", "Labels", "Separated by commas", "project=trailer"),
      this.field("weight", "Weight", h("input", { type: "number", min: 0.001, max: 1000, step: "any", value: 1 }), "Share of the work; 3 gets three times as much")));
  }
  endBar() {
    this.planButton = button("See the plan", () => this.plan());
    this.submitButton = h("button.primary", "Submit");
    this.ending = h("span.muted", { role: "status" });
    this.command = h("code.small");
    const same = h("details.panel", h("summary", "The same on the command line"), h("pre", this.command));
    return [same, h("div.sticky", this.planButton, this.submitButton, this.ending)];
  }

  take(file) {
    this.chooser.value = "";
    put(this.sourceWrong, "");
    if (file.size === 0) return put(this.sourceWrong, "The file is empty, or it is a folder.");
    if (session.mostUploadBytes && file.size > session.mostUploadBytes) {
      return put(this.sourceWrong, `The file has ${size(file.size)}; this server takes ${size(session.mostUploadBytes)} at most.`);
    }
    if (upload?.isActive) upload.stop("paused");
    upload?.watchers.clear();
    upload = new Upload(file);
    upload.watchers.add(this.watch);
    upload.run();
    this.edited();
  }
  showUpload() {
    if (!this.uploadBox) return;
    this.drop.hidden = upload != null;
    if (upload == null) return this.uploadBox.replaceChildren(), this.ready();
    if (this.shownUpload !== upload) {
      this.shownUpload = upload;
      this.meter = h("progress", { max: upload.file.size, "aria-label": "Upload" });
      this.told = h("p.hint");
      this.buttons = h("div.bar");
      this.shownButtons = null;
      this.uploadBox.replaceChildren(h("p", h("strong", bdi(upload.file.name)), ` ${size(upload.file.size)}`), this.meter, this.told, this.buttons);
    }
    const { offset, file, state, pace, note } = upload;
    this.meter.value = offset;
    const share = `${Math.floor(offset * 100 / file.size)} %, ${size(offset)} of ${size(file.size)}`;
    const rest = pace > 0 && state === "running" ? `, ${size(pace)}/s, ${clock((file.size - offset) / pace)} left` : "";
    put(this.told, state === "done" ? "Uploaded." : `${share}${state === "paused" ? ", paused" : rest}. ${note}`);
    this.told.classList.toggle("wrong", state === "failed");
    if (this.shownButtons !== state) {
      this.shownButtons = state;
      refill(this.buttons,
        upload.isActive && button("Pause", () => upload.stop("paused")),
        (state === "paused" || state === "failed") && button(state === "paused" ? "Go on" : "Try again", () => upload.run()),
        state === "done" ? button("Choose another file", () => this.drops()) : button("Cancel the upload", () => { upload.cancel(); this.drops(); }));
    }
    this.ready();
    if (state === "done" && this.waitsToSubmit) this.submit();
    if (state === "failed") this.stopWaiting();
  }
  drops() {
    upload?.watchers.delete(this.watch);
    upload = null;
    this.shownUpload = null;
    this.stopWaiting();
    this.showUpload();
    this.edited();
  }
  stopWaiting() { this.waitsToSubmit = false; this.ready(); }
  get path() { return this.controls.source ? this.value("source") : ""; }
  ready() {
    const hasSource = this.path !== "" || upload?.state === "done";
    this.planButton.disabled = !hasSource || this.isBusy;
    this.submitButton.disabled = this.isBusy || !(hasSource || upload);
    put(this.submitButton, this.waitsToSubmit ? "Do not submit yet" : !hasSource && upload?.isActive ? "Submit when uploaded" : "Submit");
    if (!this.isBusy) put(this.ending, this.waitsToSubmit ? "It is submitted as soon as it is uploaded." : hasSource || upload ? "" : "Choose a video first.");
  }

  /** The options that differ from the usual ones, by their names. */
  options() {
    const options = {};
    const usual = { play: "reverse", audio: "reverse" };
    for (const name of Object.keys(this.controls)) {
      if (["source", "name", "labels", "weight"].includes(name)) continue;
      const value = this.value(name);
      if (value === "" || value === false || value === usual[name]) continue;
      const isNumber = ["times", "crf", "sampleRate"].includes(name) && value !== true && Number.isFinite(Number(value));
      options[name] = isNumber ? Number(value) : value;
    }
    return options;
  }
  request() {
    const request = this.path !== "" ? { source: this.path } : { upload: upload?.id };
    const options = this.options();
    if (Object.keys(options).length > 0) request.options = options;
    if (this.value("name")) request.name = this.value("name");
    const weight = this.value("weight");
    if (weight !== "" && Number(weight) !== 1) request.weight = Number(weight);
    const labels = labelsOf(this.value("labels"));
    if (Object.keys(labels).length > 0) request.labels = labels;
    return request;
  }
  edited() {
    const quote = (text) => /^[\w./:=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
    const words = ["reel-coordinator submit", quote(this.path || upload?.file.name || "clip.mp4")];
    for (const [name, value] of Object.entries(this.options())) {
      words.push(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}${value === true ? "" : ` ${quote(String(value))}`}`);
    }
    if (this.value("name")) words.push(`--name ${quote(this.value("name"))}`);
    if (this.value("weight") && this.value("weight") !== "1") words.push(`--weight ${quote(this.value("weight"))}`);
    for (const label of this.value("labels").split(",").map((label) => label.trim()).filter(Boolean)) words.push(`--label ${quote(label)}`);
    put(this.command, words.join(" "));
    this.controls.turn.control.disabled = this.value("play") !== "ping-pong";
    if (this.value("play") !== "ping-pong") this.controls.turn.control.value = "";
    this.planBox.replaceChildren();
    this.asking = null;
    this.isBusy = false;
    this.ready();
  }
  /** Shows a problem at its field, or at the end. */
  showWrong(error) {
    const name = error.pointer?.split("/").filter(Boolean).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .findLast((part) => Object.hasOwn(this.controls, part));
    const entry = this.controls[name ?? (error.pointer?.startsWith("/upload") ? "" : "none")];
    if (entry) {
      put(entry.wrong, sentence(error.message));
      entry.wrong.hidden = false;
      mark(entry.control, "aria-invalid", "true");
      entry.control.closest("details")?.setAttribute("open", "");
      (entry.control.matches("fieldset") ? entry.control.querySelector("input") : entry.control).focus();
      put(this.ending, "One field needs a change.");
    } else {
      put(this.ending, sentence(error.message));
    }
    this.ending.classList.add("wrong");
  }
  clearWrong() {
    for (const { control, wrong } of Object.values(this.controls)) {
      wrong.hidden = true;
      put(wrong, "");
      mark(control, "aria-invalid", null);
    }
    this.ending.classList.remove("wrong");
  }
  checked() {
    this.clearWrong();
    try {
      return this.request();
    } catch (error) {
      this.showWrong(Object.assign(error, { pointer: "/labels" }));
      return null;
    }
  }
  /** Asks for the plan; a server that has not finished reading the source is asked again. */
  async plan() {
    const body = this.checked();
    if (!body) return;
    const asking = this.asking = {};
    this.isBusy = true;
    this.ready();
    put(this.ending, "The source is being read.");
    try {
      for (;;) {
        try {
          const plan = await this.ask("plan", { method: "POST", body });
          if (this.asking !== asking) return;
          this.planBox.replaceChildren(planView(plan));
          this.isBusy = false;
          this.ready();
          put(this.ending, `${count(plan.frames, "frame")} in ${count(plan.passes.length, "pass")}.`);
          this.planBox.scrollIntoView({ block: "nearest" });
          return;
        } catch (error) {
          if (error.status !== 503 || error.retryAfter == null) throw error;
          if (this.asking !== asking) return;
          put(this.ending, `The source is still being read; asking again in ${error.retryAfter} s.`);
          await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
          if (this.asking !== asking) return;
        }
      }
    } catch (error) {
      if (this.asking !== asking || error.name === "AbortError") return;
      this.isBusy = false;
      this.ready();
      this.showWrong(error);
    }
  }
  async submit() {
    if (this.isBusy) return;
    if (this.waitsToSubmit && upload?.state !== "done") return this.stopWaiting();
    if (this.path === "" && upload?.state !== "done") {
      if (!upload) return;
      if (!upload.isActive) upload.run();
      this.waitsToSubmit = true;
      return this.ready();
    }
    this.waitsToSubmit = false;
    const body = this.checked();
    if (!body) return;
    this.asking = null;
    this.isBusy = true;
    this.ready();
    put(this.ending, "Submitting.");
    try {
      const job = await ask("jobs", { method: "POST", body });
      if (body.upload) upload = null;
      say("The job is submitted.");
      if (this.isOpen) go(jobPath(job.id));
    } catch (error) {
      this.isBusy = false;
      this.ready();
      this.showWrong(error);
    }
  }
}

function planView(plan) {
  const { found } = plan;
  const { video } = found;
  const made = plan.passes.filter((pass) => pass.kind === "video");
  const chunks = made.reduce((sum, pass) => sum + pass.runs, 0);
  const list = (...parts) => parts.filter(Boolean).join(", ");
  const handling = { copied: "copied packet by packet", forwards: "forwards", reversed: "reversed", edited: "as the clips have it", soundtrack: "the soundtrack" };
  return h("section.panel", { tabindex: -1 }, h("h2", "Plan"),
    plan.diagnostics.map((entry) => h("p.notice.odd", bdi(entry.message), codeOf(entry.code))),
    pairs([
      ["source", list(found.format, size(found.size), seconds(found.seconds))],
      ["video", list(video.codec + (video.profile ? ` ${video.profile}` : ""), `${video.width}x${video.height}`, video.pixelFormat, count(video.frames, "frame"),
        video.isVariableRate ? "variable rate" : video.frameRate && `${video.frameRate.replace(/\/1$/, "")} fps`, video.rotation && `turned by ${video.rotation}°`)],
      ...found.audio.map((track, index) => [`audio ${index}`, list(track.codec, `${track.sampleRate} Hz`, track.channelLayout, track.language)]),
      ["output", list(plan.container, `${plan.videoEncoder} ${plan.width}x${plan.height} ${plan.pixelFormat}`, plan.encoderOptions,
        plan.bitrate && (plan.bitrate === "source" ? "as many bits as the source" : `${Math.floor(plan.bitrate / 1000)} kb/s`))],
      ...plan.audio.map((track) => [`sound ${track.track}`, list(handling[track.handling] ?? track.handling, track.handling !== "copied" && list(track.encoder, track.sampleRate && `${track.sampleRate} Hz`, track.channelLayout))]),
      ...(plan.clips.length > 1 || plan.clips.some((clip) => clip.times > 1) ? plan.clips.slice(0, 12).map((clip, index) => [`clip ${index + 1}`, clip.source == null ? `black, ${seconds(clip.seconds)}`
        : list(`${seconds(clip.from)} to ${seconds(clip.to)}`, `${count(clip.endFrame - clip.firstFrame, "frame")} ${clip.direction === "forwards" ? "forward" : "back"}`,
          clip.speed !== 1 && `${clip.speed} times as fast`, clip.times > 1 && `${clip.times} times`)]) : []),
      ["frames", `${grouped(plan.frames)}, ${seconds(plan.seconds)}`],
      ["passes", made.length === 0 ? "none of video, whose packets the assembly copies" : `${count(made.length, "pass")} of video in ${count(chunks, "chunk")}, ${plan.passes.length - made.length} of audio`],
      ["memory", `${size(plan.need)} a pass`], ["decodes", count(plan.framesToDecode, "frame")],
      ["quotas", plan.quotas.map((quota) => `${quota.quota} ${quota.asked} of ${quota.most}`).join(", ")],
    ]));
}

// --- Workers ---

/** A page that is read again after events, and on a tick while something runs; slow answers slow it down. */
class TickingPage extends Page {
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
    if (!this.isLoaded || this.reading || this.retryAt != null || trouble.has("stream")) return;
    const passed = Date.now() - this.lastRead;
    if ((passed > this.pace - 100 && (this.isDirty || this.isBusy)) || passed > 15000) this.refresh();
  }
}

class WorkersPage extends TickingPage {
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
    const hosts = groupsOf(workers, (worker) => worker.host);
    for (const host of drainedHosts) if (!hosts.has(host)) hosts.set(host, []);
    const alive = workers.filter((worker) => !worker.gone);
    const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
    const busy = alive.reduce((sum, worker) => sum + worker.passes.length, 0);
    this.isBusy = busy > 0;
    put(this.summary, workers.length === 0 ? "" : `${count(alive.length, "worker")} on ${count(new Set(alive.map((worker) => worker.host)).size, "host")}, ${busy} of ${count(slots, "slot")} busy.`);
    const names = [...hosts.keys()].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
    for (const [name, view] of this.hosts) if (!hosts.has(name)) { view.element.remove(); this.hosts.delete(name); }
    names.forEach((name, index) => {
      let view = this.hosts.get(name);
      if (!view) {
        view = new HostView(name, this, names.length <= 12);
        this.hosts.set(name, view);
      }
      if (this.list.children[index] !== view.element) this.list.insertBefore(view.element, this.list.children[index] ?? null);
      view.update(hosts.get(name), drainedHosts.includes(name));
    });
    this.showEmpty(names.length === 0);
  }
  showEmpty(isEmpty) {
    if (!isEmpty) { this.none?.remove(); this.none = null; }
    else if (!this.none) {
      this.none = h("section.panel.empty", h("h2", "No worker is running"), h("p", "Start one on each machine that shall work:"), h("pre", "reel-worker"));
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
    this.toggle = mayWrite("admin") ? button("", (event) => { event.preventDefault(); this.drain(event.currentTarget); }) : null;
    this.box = h("div");
    this.element = h("details.panel.host", { open: isOpen, ontoggle: () => this.fill() }, h("summary", h("strong", bdi(name)), this.meter, this.words, this.state, this.toggle), this.box);
  }
  async drain(control) {
    const verb = this.isDrained ? "undrain" : "drain";
    if (verb === "drain" && !await dialog("Drain this host?", h("p", "The workers of ", bdi(this.name), " finish the passes that they hold and claim no more, until the host is taken back."), "Drain the host")) return;
    await this.page.act(control, verb === "drain" ? `${this.name} is drained.` : `${this.name} is taken back.`, `hosts/${part(this.name)}/${verb}`, { method: "POST" });
    this.page.refresh();
  }
  update(workers, isDrained) {
    this.workers = workers;
    this.isDrained = isDrained || workers.some((worker) => worker.drained === "host");
    const alive = workers.filter((worker) => !worker.gone);
    const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
    const busy = alive.reduce((sum, worker) => sum + worker.passes.length, 0);
    put(this.words, workers.length === 0 ? "no worker is there" : `${busy} of ${count(slots, "slot")} busy` + (workers.length > 1 ? `, ${workers.length} workers` : ""));
    showSlots(this.meter, alive.reduce((sum, worker) => sum + (worker.slotsOut ?? 0), 0), busy, slots);
    this.state.hidden = !this.isDrained;
    if (this.toggle) put(this.toggle, this.isDrained ? "Take back" : "Drain host");
    this.fill();
  }
  fill() {
    if (!this.element.open || !this.workers) return;
    const text = JSON.stringify(this.workers.map((worker) => ({ ...worker, beatAge: worker.beatAge < 15 ? 0 : Math.round(worker.beatAge), uptime: 0 })));
    if (text === this.text) return;
    this.text = text;
    const focused = this.box.contains(document.activeElement) ? document.activeElement.dataset.worker : null;
    this.box.replaceChildren(...this.workers.map((worker) => this.workerView(worker)));
    if (focused) this.box.querySelector(`[data-worker="${CSS.escape(focused)}"]`)?.focus();
  }
  workerView(worker) {
    const state = worker.gone ? "gone" : worker.drained === "worker" ? "drained" : worker.drained === "host" ? null : worker.draining ? "draining" : null;
    const facts = [worker.version && `release ${worker.version}`, worker.uptime != null && `up for ${age(worker.uptime)}`, `${size(worker.memoryTotal)} of memory`,
      `beat ${Math.round(worker.beatAge)} s ago`, worker.store && `store ${worker.store}`, worker.sandbox && sandboxWords(worker.sandbox)].filter(Boolean);
    const verb = worker.drained === "worker" ? "undrain" : "drain";
    return h("div.worker",
      h("div.bar", h("span.mono", bdi(worker.id)), state && badge(state),
        h("span.muted", `${worker.gone ? 0 : worker.passes.length}/${worker.slots} slots`, worker.slotsOut > 0 ? `, ${worker.slotsOut} out of work` : ""),
        mayWrite("admin") && !worker.gone && worker.drained !== "host" && button(verb === "drain" ? "Drain" : "Take back", async (event) => {
          await this.page.act(event.currentTarget, verb === "drain" ? "The worker claims no more." : "The worker claims again.", `workers/${part(worker.id)}/${verb}`, { method: "POST" });
          this.page.refresh();
        }, "", { "data-worker": worker.id })),
      h("p.muted.small", bdi(facts.join(" · "))),
      worker.sourceRoots && h("p.muted.small", "sources from ", bdi(worker.sourceRoots.join(", "))),
      (worker.notes ?? []).map((note) => h("p.notice.odd", bdi(note))),
      !worker.gone && worker.passes.length > 0 && h("div.scroll", h("table", tableHead(["Job", "Pass", "Frames", "Speed", "For"], [2, 3, 4]),
        h("tbody", worker.passes.map((pass) => h("tr",
          h("td", h("a", { href: jobPath(pass.job), class: "mono" }, pass.job)),
          h("td.nowrap", pass.kind === "assembly" || pass.kind === "probe" ? pass.kind : `${pass.pass}${pass.kind === "audio" ? ", audio" : ""}`),
          h("td.num.figure", grouped(pass.framesEncoded) + (pass.frames != null ? `/${grouped(pass.frames)}` : "")),
          h("td.num.figure", pass.framesPerSecond != null ? speed(pass.framesPerSecond) : ""),
          h("td.num.figure", pass.seconds != null ? clock(pass.seconds) : "")))))));
  }
}
/** A box for each slot; of more than 64 none, as the words beside tell it. */
function showSlots(meter, out, busy, slots) {
  meter.hidden = slots > 64;
  if (meter.hidden) return;
  while (meter.children.length > slots) meter.lastChild.remove();
  while (meter.children.length < slots) meter.append(h("i"));
  [...meter.children].forEach((box, index) => mark(box, "class", index < busy ? "busy" : index >= slots - out ? "out" : null));
}

// --- Queue ---

class QueuePage extends TickingPage {
  title = "Queue";
  lastRates = 0;
  constructor() {
    super();
    this.tiles = new Facts("tiles");
    this.charts = h("div.columns");
    this.unreadable = h("div");
    this.waiting = new Section("Jobs that wait, and why", waitingList);
    this.running = new Section("Jobs that are worked on", (jobs) => queueTable(jobs));
    this.failed = new Section("Failed jobs", (jobs) => queueTable(jobs));
    this.idle = h("p.panel.muted", "No job waits or runs.");
    this.body = h("div", this.tiles.element, this.charts, this.unreadable, this.idle, this.waiting.element, this.running.element, this.failed.element);
    this.body.hidden = true;
    this.element = h("div", pageHead("Queue"), this.body);
    this.rates = [new RateChart("Frames a second", "framesPerSecond"), new RateChart("Passes a second", "passesPerSecond")];
    this.charts.append(...this.rates.map((rate) => rate.element));
  }
  async readAll() {
    const isDue = Date.now() - this.lastRates > 15000;
    const [queue, { demand }, rates] = await Promise.all([this.ask("queue"), this.ask("demand"), isDue ? this.ask("rates").catch(() => null) : null]);
    if (isDue) this.charts.hidden = !rates;
    if (rates) {
      this.lastRates = Date.now();
      for (const rate of this.rates) rate.update(rates.minutes);
    }
    this.isBusy = demand.passesInFlight > 0;
    const open = queue.jobs.filter((job) => !isOver(job));
    // What the board does not count is counted of the jobs that it lists.
    const part = open.length < queue.active ? " of the jobs below" : "";
    const tiles = [
      ["Jobs", grouped(queue.active), `active, ${grouped(queue.failed)} failed`],
      ["Passes ready", grouped(demand.passesReady), `${grouped(queue.retrying)} retrying, ${grouped(queue.exhausted)} exhausted${part}`],
      ["In flight", grouped(demand.passesInFlight), "passes that workers hold"],
      ["Oldest wait", demand.oldestReadySeconds != null ? clock(demand.oldestReadySeconds) : "–", "of a ready pass"],
      ["Speed", speed(queue.framesPerSecond), `${grouped(queue.passesPerSecond * 60)} passes a minute`],
      ["ETA", queue.eta != null ? clock(queue.eta) : "–", `${part || "of all jobs"} at that speed`],
      ["Slots busy", `${grouped(queue.slotsBusy)} of ${grouped(queue.slots)}`, count(queue.workers, "worker")],
    ];
    this.tiles.update(tiles);
    this.unreadable.replaceChildren(...queue.unreadable.slice(0, 20).map((entry) => h("p.notice.bad", h("code", entry.id), " cannot be read: ", bdi(entry.reason))));
    this.waiting.update(nonEmpty(open.filter((job) => job.waitReason).map(queueFacts)));
    this.running.update(nonEmpty(open.filter((job) => !job.waitReason).map(queueFacts)));
    this.failed.update(nonEmpty(queue.jobs.filter((job) => job.state === "failed").map(queueFacts)));
    this.idle.hidden = open.length > 0;
  }
}
const queueFacts = (job) => ({
  id: job.id, name: jobName(job), state: shownState(job), why: job.waitReason ?? job.failure ?? "", code: job.waitCode, ready: job.passesReady,
  wait: job.oldestWait == null ? null : Math.floor(job.oldestWait / 5) * 5, percent: percent(job), speed: job.framesPerSecond, eta: job.eta,
});
const waitWords = {
  paused: "Paused by a user", "no-worker": "No worker is running", space: "A disk is full", memory: "No worker has the memory", "protocol-version": "Workers of another version",
  excluded: "No worker can take it", draining: "Workers are drained", unwell: "Workers claim nothing", retry: "Failed passes wait for their next attempt", busy: "Other jobs have all slots",
};
function waitingList(jobs) {
  const groups = groupsOf(jobs, (job) => job.code ?? "");
  return [...groups].sort(([, a], [, b]) => b.length - a.length).map(([code, list]) => {
    const why = list.every((job) => job.why === list[0].why) ? list[0].why : null;
    return h("div.group", h("h3", waitWords[code] ?? code, h("span.muted", ` · ${count(list.length, "job")}`)),
      why && h("p.small.muted", bdi(why)), queueTable(why ? list.map((job) => ({ ...job, why: "" })) : list));
  });
}
function queueTable(jobs) {
  const row = (job) => h("tr", h("td", h("a", { href: jobPath(job.id), "data-key": job.id }, bdi(job.name)), job.why && h("div.small.muted", bdi(job.why))),
    h("td.nowrap", badge(job.state)), h("td.num", job.percent),
    h("td.num", job.speed > 0 ? speed(job.speed) : job.wait != null ? `waits ${clock(job.wait)}` : ""), h("td.num", job.eta != null ? clock(job.eta) : job.ready > 0 ? `${grouped(job.ready)} ready` : ""));
  const table = (list) => h("table.queue", h("tbody", list.map(row)));
  return [table(jobs.slice(0, 10)), jobs.length > 10 && h("details", { "data-key": `more-${jobs[0].code ?? jobs[0].state}` }, h("summary", `${jobs.length - 10} more`), table(jobs.slice(10)))];
}

/** Rates of the last hour as bars, a minute each, with the same as a table. */
class RateChart {
  constructor(title, key) {
    this.title = title;
    this.key = key;
    this.chart = svg("svg", { class: "chart figure", role: "img" });
    this.note = h("p.hint");
    this.table = h("tbody");
    this.element = h("section.panel", h("h2", title, h("span.muted.small", " over the last hour")), this.chart, this.note,
      h("details", h("summary.small", "As a table"), h("div.scroll.log", h("table", tableHead(["Minute", title], [1]), this.table))));
    this.minutes = [];
    this.sized = new ResizeObserver(() => this.draw());
    this.sized.observe(this.chart);
  }
  update(minutes) {
    this.minutes = minutes;
    const values = minutes.map((minute) => minute[this.key]);
    const most = Math.max(0, ...values);
    const average = values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
    const words = most === 0 ? "Nothing was done in the last hour." : `Now ${tenths(values.at(-1))}, ${tenths(average)} on average, ${tenths(most)} at most.`;
    put(this.note, words);
    mark(this.chart, "aria-label", `${this.title} over the last hour. ${words}`);
    this.table.replaceChildren(...minutes.toReversed().map((minute) => h("tr", h("td", hourMinute(minute.time)), h("td.num", tenths(minute[this.key])))));
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
      const bar = svg("rect", { class: "rate", x: x + step * 0.1, width: Math.max(step * 0.8, 1), y: y(0) - tall, height: tall });
      parts.push(svg("g", svg("title", `${hourMinute(minute.time)}: ${tenths(value)}`), svg("rect", { class: "hit", x, width: step, y: top, height: height - top - bottom }), bar));
      if (index % 15 === 0) parts.push(svg("text", { x, y: height - 3 }, hourMinute(minute.time)));
    });
    this.chart.replaceChildren(...parts.flat());
  }
}
const tenths = (value) => value >= 100 ? grouped(value) : String(Math.round(value * (value < 1 ? 100 : 10)) / (value < 1 ? 100 : 10));
const hourMinute = (time) => new Date(time * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 10].find((step) => step * power >= value) * power;
}

// --- Audit log and signing in ---

class AuditPage extends Page {
  title = "Audit";
  cursors = [null];
  constructor() {
    super();
    this.rows = h("tbody");
    this.newer = button("Newer", () => { this.cursors.pop(); this.refresh(); });
    this.older = button("Older", () => { this.cursors.push(this.next); this.refresh(); });
    this.note = h("p.muted");
    this.body = h("section.panel", this.note, h("div.scroll", h("table", tableHead(["When", "Who", "Role", "From", "What", "Job", "Answer"]), this.rows)), h("div.bar", this.newer, this.older));
    this.body.hidden = true;
    this.element = h("div", pageHead("Audit log"), this.body);
  }
  async read() {
    const cursor = this.cursors.at(-1);
    const { entries, next } = await this.ask(`audit${cursor ? `?cursor=${part(cursor)}` : ""}`);
    this.next = next ?? null;
    this.rows.replaceChildren(...entries.map((entry) => h("tr", h("td.nowrap", absolute(entry.time)), h("td", bdi(entry.who ?? "–")), h("td", entry.role ?? ""),
      h("td.mono", entry.address ?? ""), h("td", bdi(entry.action)), h("td", entry.job && h("a", { href: jobPath(entry.job), class: "mono" }, entry.job)),
      h("td", entry.status == null ? "" : entry.status < 400 ? badge("done", entry.status) : badge("failed", entry.status)))));
    put(this.note, entries.length === 0 ? "Nothing is logged here." : "");
    this.note.hidden = entries.length > 0;
    this.older.hidden = this.next == null;
    this.newer.hidden = this.cursors.length === 1;
  }
}
class SignInPage extends Page {
  title = "Sign in";
  constructor() {
    super();
    this.token = h("input", { type: "password", id: "token", name: "token", required: true, autocomplete: "current-password", spellcheck: "false" });
    this.wrong = h("p.wrong", { role: "alert" });
    this.send = h("button.primary", "Sign in");
    this.element = h("form.panel.narrow", { onsubmit: (event) => { event.preventDefault(); this.signIn(); } }, h("h1", "Sign in to reel"),
      h("div.gap"), h("div.field", h("span", h("label", { for: "token" }, "Token")), this.token,
        h("p.hint", "An administrator makes one: reel-server token NAME --role viewer --tokens FILE")), this.wrong, h("div.gap"), this.send);
  }
  open() {
    this.abort = new AbortController();
    setTimeout(() => this.token.focus());
  }
  refresh() {}
  async signIn() {
    if (!this.token.value.trim()) return put(this.wrong, "Enter a token.");
    this.send.disabled = true;
    put(this.wrong, "");
    try {
      await ask("session", { method: "POST", body: { token: this.token.value.trim() } });
      await loadSession();
      let next = null;
      try { next = sessionStorage.getItem("reel-next"); sessionStorage.removeItem("reel-next"); } catch { /* Storage may be turned off. */ }
      const isOurs = next?.startsWith(base.href) && !next.includes("sign-in");
      go(isOurs ? next : ".", true);
    } catch (error) {
      this.token.select();
      if (error.status === 429) return this.wait(error.retryAfter ?? 60);
      put(this.wrong, error.status === 401 ? "This token is not valid." : sentence(error.message));
    }
    this.send.disabled = false;
  }
  /** Too many wrong tokens: the button rests for as long as the server says. */
  wait(seconds) {
    if (!this.isOpen) return;
    put(this.wrong, `Too many wrong tokens. Try again in ${clock(seconds)}.`);
    this.send.disabled = seconds > 0;
    if (seconds > 0) setTimeout(() => this.wait(seconds - 1), 1000);
    else put(this.wrong, "");
  }
}

// --- Start ---

/** Stands in while the server cannot say who this is. */
class StartPage extends Page {
  title = "reel";
  element = h("div", h("h1.unseen", "reel"));
  async read() {
    await loadSession();
    setTimeout(() => show(false));
  }
  fail(error) {
    if (error.status === 401) return toSignIn();
    super.fail(error);
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  if (link.id === "skip") {
    event.preventDefault();
    byID("main").focus();
    return;
  }
  const url = new URL(link.href);
  if (link.target || link.hasAttribute("download") || url.origin !== base.origin || !url.pathname.startsWith(base.pathname) || url.pathname.startsWith(apiURL("").pathname)) return;
  event.preventDefault();
  go(url.href);
});
byID("sign-out").addEventListener("click", async () => {
  try {
    await ask("session", { method: "DELETE" });
  } catch (error) {
    if (error.status !== 401) return say(sentence(error.message));
  }
  session = null;
  keptJobs = null;
  live.close();
  if (upload?.isActive) upload.stop("paused");
  showSession();
  go("sign-in");
});
addEventListener("popstate", () => show(true));
// Browsers open few connections to a server at a time: a page that nobody sees leaves its own to others.
addEventListener("pagehide", () => live.close());
addEventListener("pageshow", (event) => { if (event.persisted) comeBack(); });
// A file that misses the drop area must not replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  inks = null;
  current?.redraw?.();
  current?.strip?.draw();
});
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding);
  if (document.hidden) hiding = setTimeout(() => live.close(), 30000);
  else comeBack();
});
let hiding = null;
function comeBack() {
  refreshAges();
  if (live.source || !session || !(current instanceof Page) || current instanceof SignInPage) return current?.pulse();
  live.follow(current.scope);
  current.refresh();
}

function refreshAges() {
  for (const element of document.querySelectorAll("time[data-at]")) setAgo(element, Number(element.dataset.at));
}
let beats = 0;
setInterval(() => {
  if (document.hidden) return;
  current?.pulse();
  if (++beats % 5 === 0) refreshAges();
}, 1000);

if (currentPath() === "sign-in") {
  loadSession().catch(() => {}).finally(() => show(false));
} else {
  current = new StartPage();
  byID("main").replaceChildren(current.element);
  current.open();
}
