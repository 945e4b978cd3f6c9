// Uploads by tus 1.0.0.

import { apiURL, askToSignIn, base, currentPath } from "./api.js";
import { byID, put } from "./elements.js";
import { store, stored } from "./storage.js";
import { sentence } from "./words.js";

const pieceBytes = 8 * 1024 * 1024;

/** What an answer that refuses says. */
function wordsOf({ status, text }) {
  const words = `the server answered ${status}`;
  try {
    const body = JSON.parse(text);
    return body.detail || body.title || words;
  } catch {
    return words;
  }
}

/** A file on its way to the server. It goes on after a lost connection and, if the same file is chosen again, after a
 *  reload: the address of the upload is kept by the file's name, size and time. */
export class Upload {
  offset = 0;
  state = "queued";
  url = null;
  pace = 0;
  note = "";

  constructor(file) {
    this.file = file;
    this.key = `reel-upload ${base.pathname} ${file.name} ${file.size} ${file.lastModified}`;
    this.watchers = new Set();
    this.url = stored("localStorage", this.key);
  }
  get id() { return this.state === "done" ? decodeURIComponent(this.url.split("/").pop()) : null; }
  get isActive() { return ["queued", "running", "waiting"].includes(this.state); }
  tell() {
    for (const watcher of this.watchers) watcher(this);
    showUploads();
  }

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
      request.onloadend = () => resolve({
        status: request.status, text: request.responseText, header: (name) => request.getResponseHeader(name),
      });
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
        if (this.state === "done") startUploads();
        continue;
      }
      if (status === 401) {
        this.stop("paused");
        return askToSignIn();
      }
      if (this.url && [403, 404, 410].includes(status) && !this.isFresh) {
        this.forget();
        continue;
      }
      const isLasting = (status >= 400 && status < 500 && ![409, 423, 429, 460].includes(status)) || status === 507;
      if (isLasting) {
        this.note = sentence(wordsOf(answer));
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
      const answer = await this.request("POST", apiURL("uploads"),
        { "Upload-Length": this.file.size, "Upload-Metadata": `filename ${name}` });
      const place = answer.header("Location");
      if (answer.status === 201 && place) {
        // A proxy may name another scheme or host; the path is what counts.
        this.url = new URL(place, apiURL("uploads")).pathname;
        this.isFresh = true;
        this.offset = 0;
        this.needsOffset = false;
        store("localStorage", this.key, this.url);
      }
      return answer;
    }
    if (this.needsOffset ?? true) {
      const answer = await this.request("HEAD", this.url);
      if (answer.status >= 200 && answer.status < 300) {
        this.offset = Number(answer.header("Upload-Offset"));
        this.needsOffset = false;
        this.marks = [];
        if (Number(answer.header("Upload-Length") ?? this.file.size) !== this.file.size) {
          this.forget();
          this.offset = 0;
        }
      }
      return answer;
    }
    const from = this.offset;
    const answer = await this.request("PATCH", this.url,
      { "Upload-Offset": from, "Content-Type": "application/offset+octet-stream" },
      this.file.slice(from, from + pieceBytes));
    if (answer.status === 204) this.moved(Number(answer.header("Upload-Offset") ?? from + pieceBytes));
    return answer;
  }
  forget() {
    this.url = null;
    this.needsOffset = undefined;
    this.isFresh = false;
    store("localStorage", this.key, null);
  }
  stop(state) {
    this.turn = null;
    this.state = state;
    this.needsOffset = true;
    this.current?.abort();
    this.tell();
    startUploads();
  }
  cancel() {
    const { url } = this;
    this.stop("cancelled");
    this.forget();
    if (url) this.request("DELETE", url);
  }
}

/** The files on their way, in the order in which they were chosen; they go on while other pages are shown. */
const list = [];
const mostRunning = 2;

/** Uploads a file, after those that were chosen before. */
export function beginUpload(file) {
  const upload = new Upload(file);
  list.push(upload);
  startUploads();
  return upload;
}
/** Starts as many of the files that wait for their turn as may be under way at a time. */
export function startUploads() {
  for (const upload of list) {
    const running = list.filter((other) => other.state === "running" || other.state === "waiting").length;
    if (running >= mostRunning) return;
    if (upload.state === "queued") upload.run();
  }
}
export function pauseUploads() {
  for (const upload of list) if (upload.isActive) upload.stop("paused");
}
/** Forgets an upload; its bytes stay with the server. */
export function dropUpload(upload) {
  const place = list.indexOf(upload);
  if (place >= 0) list.splice(place, 1);
  showUploads();
}
/** Shows the uploads on the other pages. */
export function showUploads() {
  const chip = byID("uploading");
  const open = list.filter((upload) => upload.isActive || upload.state === "paused");
  chip.hidden = open.length === 0 || currentPath() === "submit";
  if (chip.hidden) return;
  const sum = (value) => open.reduce((all, upload) => all + value(upload), 0);
  const percent = Math.floor(sum((upload) => upload.offset) * 100 / Math.max(sum((upload) => upload.file.size), 1));
  const words = open.length === 1 ? "upload" : `${open.length} uploads`;
  put(chip, `${words} ${percent} %${open.every((upload) => upload.state === "paused") ? ", paused" : ""}`);
}
