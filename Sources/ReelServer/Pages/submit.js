// Making something of videos: a small editor, up to the job.

import { ask, jobPath } from "./api.js";
import { ClipEditor } from "./clipEditor.js";
import { ClipFiles } from "./clipFiles.js";
import { ClipList } from "./clipList.js";
import { Draft, commandOf, draft, setDraft } from "./draft.js";
import { button, h, pageHead, put } from "./elements.js";
import { Fields } from "./fields.js";
import { holds } from "./formats.js";
import { labelsOf } from "./jobFacts.js";
import { forgetJobs, go } from "./navigation.js";
import { chosenOptions, namePanel, outputPanel, showOptions } from "./outputForm.js";
import { Page } from "./page.js";
import { copyable, say } from "./parts.js";
import { planView } from "./plan.js";
import { mayWrite, session } from "./session.js";
import { factsOf } from "./sourceFacts.js";
import { showUploads, startUploads } from "./upload.js";
import { clock, count, sentence, size } from "./words.js";

export class SubmitPage extends Page {
  title = "Submit";
  isLoaded = true;
  fields = new Fields();
  selected = null;

  constructor() {
    super();
    if (!mayWrite("operator")) {
      this.element = h("div.panel.empty", h("h1", "Submit a video"),
        h("p", session?.readOnly ? "This server is read only." : "Submitting needs the role operator."));
      return;
    }
    this.editor = new ClipEditor(this);
    this.list = new ClipList(this);
    this.files = new ClipFiles(this);
    this.planBox = h("div");
    this.body = h("form", {
      novalidate: true, oninput: (event) => this.typed(event.target.name),
      onsubmit: (event) => { event.preventDefault(); this.submit(); },
    }, this.files.element, this.editor.element,
      this.rest = h("div", outputPanel(this.fields), namePanel(this.fields), this.planBox, this.endBar()));
    this.element = h("div", pageHead("Submit a video",
      button("Begin anew", () => this.clear(), "quiet", { title: "Forget these clips and choices" })), this.body);
    for (const name of Object.keys(this.fields.controls)) {
      if (Object.hasOwn(draft.fields, name)) this.fields.set(name, draft.fields[name]);
    }
    this.select(draft.clips[0] ?? null);
  }
  get draft() { return draft; }
  open() {
    super.open();
    showUploads();
    if (!this.editor) return;
    for (const clip of draft.files) this.follow(clip);
    this.edited();
  }
  close() {
    super.close();
    clearTimeout(this.waiting);
    this.estimating?.abort();
    for (const clip of draft.files) clip.upload?.watchers.delete(this.watch);
    this.editor?.close();
    showUploads();
  }
  refresh() {}

  endBar() {
    this.planButton = button("Details", () => this.plan());
    this.submitButton = h("button.primary", "Submit");
    this.ending = h("span.muted", { role: "status" });
    this.json = copyable("The request as JSON, for POST api/v1/jobs");
    this.command = copyable("The same on the command line");
    const same = h("details.panel", h("summary", "As JSON, and on the command line"),
      this.json.element, this.command.element);
    return [same, h("div.sticky", this.submitButton, this.planButton, this.ending)];
  }

  /** Hears of a clip's upload, and reads its facts as soon as the server has all of it. */
  follow(clip) {
    this.watch ??= (upload) => {
      for (const other of draft.files) if (other.upload === upload) this.uploaded(other);
    };
    clip.upload?.watchers.add(this.watch);
    this.uploaded(clip);
  }
  uploaded(clip) {
    this.list.refresh(clip);
    if (clip === draft.soundtrack) this.files.showSong();
    this.ready();
    if (clip.source != null && !clip.facts && !clip.isReading && !clip.trouble && !clip.note) this.read(clip);
    if (clip.upload?.state === "failed") this.stopWaiting();
    if (this.waitsToSubmit && draft.files.every((other) => other.source != null)) this.submit();
  }
  async read(clip) {
    clip.isReading = true;
    try {
      if (!/^[a-z0-9]+:\/\//i.test(clip.source)) clip.facts = await factsOf(clip.source, this.abort?.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      // A job can be made of a file that takes too long for a preview.
      if (error.code === "preview-slow") clip.note = sentence(error.message);
      else if (error.code === "upload-unknown") clip.trouble = "The server does not have it any more. Choose the file again.";
      else clip.trouble = sentence(error.title ?? error.message);
      clip.isGone = error.code === "upload-unknown";
    } finally {
      clip.isReading = false;
    }
    if (clip.isGone) clip.source = null;
    this.edited();
  }

  // Choices

  select(clip) {
    this.selected = clip;
    this.edited();
  }
  remove(clip) {
    const next = draft.remove(clip);
    if (this.selected === clip) this.selected = next;
    this.edited();
  }
  clipEdited(clip) {
    this.list.refresh(clip);
    this.editor.refresh();
    this.changed();
  }
  typed(name) {
    if (!name || name === "source") return;
    this.fields.clear();
    put(this.ending, "");
    this.ending.classList.remove("wrong");
    if (this.editor.take(name)) return;
    if (name === "together") draft.isTogether = this.fields.value("together") === "yes";
    else draft.fields[name] = this.fields.value(name);
    this.edited();
  }
  /** Shows what has changed. */
  edited() {
    const { clips } = draft;
    this.list.show();
    const number = clips.indexOf(this.selected) + 1;
    this.editor.show(this.selected, clips.length > 1 ? `Clip ${number} of ${clips.length}` : "Range and direction");
    this.rest.hidden = clips.length === 0;
    this.files.show();
    this.changed();
  }
  /** Keeps the draft, and asks later what would become of it. */
  changed() {
    draft.save();
    showOptions(this.fields);
    // What has been learned of a file changes nothing of a plan that is asked for.
    if (this.showRequest()) {
      this.planBox.replaceChildren();
      this.asking = null;
      this.isBusy = false;
    }
    this.ready();
    this.estimating?.abort();
    clearTimeout(this.waiting);
    if (this.isOpen) this.waiting = setTimeout(() => this.estimate(), 1500);
  }
  ready() {
    const { clips } = draft;
    const isThere = clips.length > 0 && draft.files.every((clip) => clip.source != null);
    const comes = clips.length > 0 && draft.files.every((clip) => clip.source != null || clip.upload?.isActive);
    this.planButton.disabled = !isThere || this.isBusy;
    this.submitButton.disabled = this.isBusy || !(isThere || comes);
    const jobs = draft.isTogether || clips.length < 2 ? "" : ` ${count(clips.length, "job")}`;
    put(this.submitButton, this.waitsToSubmit ? "Do not submit yet"
      : !isThere && comes ? `Submit${jobs} when uploaded` : `Submit${jobs}`);
    if (this.isBusy || this.ending.classList.contains("wrong")) return;
    if (this.waitsToSubmit) put(this.ending, "It is submitted as soon as it is uploaded.");
  }
  clear() {
    for (const clip of [...draft.clips]) draft.remove(clip);
    setDraft(new Draft());
    for (const name of Object.keys(this.fields.controls)) this.fields.set(name, "");
    this.fields.set("together", "yes");
    this.fields.clear();
    this.files.refuse([]);
    this.ending.classList.remove("wrong");
    put(this.ending, "");
    this.select(null);
  }

  // The request

  /** What is said of the job besides its output. Throws an error for a label that is none. */
  more() {
    const { name, labels, weight } = draft.fields;
    const sorted = labelsOf(labels ?? "");
    return {
      ...(name?.trim() ? { name: name.trim() } : {}), ...(Number(weight || 1) === 1 ? {} : { weight: Number(weight) }),
      ...(Object.keys(sorted).length > 0 ? { labels: sorted } : {}),
    };
  }
  requests(nameOf) { return draft.requests(chosenOptions(this.fields), this.more(), nameOf); }
  /** Shows the request; whether it is another one than before. */
  showRequest() {
    let requests = [];
    let named = [];
    try {
      requests = this.requests((clip) => clip.source ?? "upload:…");
      named = this.requests((clip) => clip.source?.startsWith("/") ? clip.source : clip.name || "clip.mp4");
    } catch { /* A label is wrong, which submitting will say. */ }
    if (draft.clips.length === 0) [requests, named] = [[], []];
    this.json.show(requests.map(({ body }) => JSON.stringify(body, null, 2)).join("\n"));
    this.command.show(named.map(({ body }) => commandOf(body)).join("\n"));
    const text = JSON.stringify(requests.map(({ body }) => body));
    const isOther = text !== this.requestText;
    this.requestText = text;
    return isOther;
  }
  /** The requests, if nothing is wrong with the fields as far as this page knows. */
  checked() {
    this.fields.clear();
    this.ending.classList.remove("wrong");
    for (const clip of draft.clips) {
      if (clip.facts?.frames > 0 && clip.facts.range(clip)[1] === 0) {
        this.select(clip);
        this.wrong(clip.from === "" ? "to" : "from",
          `No frame lies in this range: the video lasts from ${clip.facts.text(0)} to ${clip.facts.text(clip.facts.frames)} s.`);
        return null;
      }
      if (clip.trouble && clip.facts == null) {
        this.select(clip);
        this.wrong("", clip.trouble, clip);
        return null;
      }
    }
    try {
      return this.requests();
    } catch (error) {
      this.wrong("labels", error.message);
      return null;
    }
  }
  wrong(name, message, clip = null, goes = true) {
    const isAtField = this.fields.complain(name, message, goes);
    const of = clip && draft.clips.length > 1 ? `${clip.name}: ` : "";
    put(this.ending, isAtField ? "One field needs a change." : of + sentence(message));
    this.ending.classList.add("wrong");
  }
  /** Shows a problem at its field or its clip, or at the end. */
  showWrong(error, clips, goes = true) {
    const parts = (error.pointer ?? "").split("/").filter(Boolean)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    const place = parts.indexOf("clips");
    const clip = place >= 0 ? clips[Number(parts[place + 1])] : clips[0];
    const name = parts.findLast((part) => Object.hasOwn(this.fields.controls, part) && part !== "source");
    if (clip && clip !== this.selected && goes) this.select(clip);
    const isOfFile = ["upload", "source"].includes(parts.at(-1));
    if (clip && isOfFile) {
      clip.trouble = sentence(error.message);
      this.list.refresh(clip);
    }
    this.wrong(name, error.message, place >= 0 || clips.length < 2 ? clip : null, goes);
  }
  get isWhole() {
    return draft.clips.length > 0 && draft.files.every((clip) => clip.source != null && !clip.trouble);
  }
  /** Says about how large the output will be. A plan reads the sources, so large ones wait for the button. */
  async estimate() {
    const bytes = draft.files.reduce((sum, clip) => sum + (clip.facts?.bytes ?? Infinity), 0);
    const isSound = draft.clips.every((clip) => !clip.facts || clip.facts.frames === 0 || clip.facts.range(clip)[1] > 0);
    if (!this.isWhole || !isSound || bytes > 2 ** 32 || this.isBusy || this.waitsToSubmit) return;
    let requests;
    try { requests = this.requests(); } catch { return; }
    if (requests.length > 1) return;
    this.estimating = new AbortController();
    const { signal } = this.estimating;
    this.ending.classList.remove("wrong");
    put(this.ending, "Estimating the size…");
    try {
      const plan = await ask("plan", { method: "POST", body: requests[0].body, signal });
      if (!signal.aborted) put(this.ending, outcomeOf(plan));
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      if (error.status === 503) put(this.ending, "");
      else this.showWrong(error, requests[0].clips, false);
    }
  }
  /** Asks for the plan; a server that has not finished reading the source is asked again. */
  async plan() {
    const requests = this.checked();
    if (!requests) return;
    const [{ clips, body }] = requests;
    this.estimating?.abort();
    const asking = this.asking = {};
    this.isBusy = true;
    this.ready();
    put(this.ending, "The source is being read.");
    try {
      for (;;) {
        try {
          const plan = await this.ask("plan", { method: "POST", body });
          if (this.asking !== asking) return;
          this.planBox.replaceChildren(planView(plan, body.options ?? {}));
          this.isBusy = false;
          this.ready();
          put(this.ending, outcomeOf(plan));
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
      this.showWrong(error, clips);
    }
  }
  stopWaiting() {
    this.waitsToSubmit = false;
    this.ready();
  }
  async submit() {
    if (this.isBusy || draft.clips.length === 0) return;
    const isThere = draft.files.every((clip) => clip.source != null);
    if (this.waitsToSubmit && !isThere) return this.stopWaiting();
    if (!isThere) {
      startUploads();
      this.waitsToSubmit = true;
      return this.ready();
    }
    this.waitsToSubmit = false;
    const requests = this.checked();
    if (!requests) return;
    this.asking = null;
    this.estimating?.abort();
    clearTimeout(this.waiting);
    this.isBusy = true;
    this.ready();
    put(this.ending, "Submitting.");
    let job = null;
    for (const { clips, body } of requests) {
      try {
        job = await ask("jobs", { method: "POST", body });
        // What has become a job is not submitted again if a later one is refused.
        if (requests.length > 1) this.remove(clips[0]);
        this.isBusy = true;
      } catch (error) {
        this.isBusy = false;
        this.ready();
        return this.showWrong(error, clips);
      }
    }
    this.isBusy = false;
    setDraft(new Draft());
    forgetJobs();
    say(requests.length > 1 ? `${requests.length} jobs are submitted.` : "The job is submitted.");
    if (this.isOpen) go(requests.length > 1 ? "." : jobPath(job.id));
  }
}

/** "2.0 s, about 1.2 MiB, 640x360": what a plan says that people ask for. */
function outcomeOf(plan) {
  const isSound = holds(plan.container) === "sound";
  return [`${plan.seconds < 60 ? `${plan.seconds.toFixed(1)} s` : clock(plan.seconds)} long`,
    plan.expectedBytes && `about ${size(plan.expectedBytes)}`, !isSound && plan.width && `${plan.width}×${plan.height}`]
    .filter(Boolean).join(", ");
}
