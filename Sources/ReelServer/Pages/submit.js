// Submitting a video.

import { ask, jobPath } from "./api.js";
import { bdi, button, h, mark, pageHead, panel, put, refill } from "./elements.js";
import { labelsOf } from "./jobFacts.js";
import { go } from "./navigation.js";
import { Page } from "./page.js";
import { say } from "./parts.js";
import { planView } from "./plan.js";
import { mayWrite, session } from "./session.js";
import { Upload, setUpload, showUpload, upload } from "./upload.js";
import { clock, count, sentence, size } from "./words.js";

export class SubmitPage extends Page {
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
    this.planBox = h("div");
    this.body = h("form", {
      novalidate: true, oninput: () => this.edited(),
      onsubmit: (event) => { event.preventDefault(); this.submit(); },
    }, this.sourcePanel(), this.playPanel(), this.outputPanel(), this.namePanel(), this.planBox, this.endBar());
    this.element = h("div", pageHead("Submit a video"), this.body);
    this.edited();
  }
  open() {
    super.open();
    upload?.watchers.add(this.watch);
    showUpload();
    this.showUpload?.();
  }
  close() {
    super.close();
    upload?.watchers.delete(this.watch);
    showUpload();
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
  text(name, label, hint, placeholder, more) {
    const control = h("input", { type: "text", placeholder, spellcheck: "false", autocomplete: "off", ...more });
    return this.field(name, label, control, hint);
  }
  choice(name, label, values, hint) {
    const control = h("select", values.map(([value, word]) => h("option", { value }, word ?? value)));
    return this.field(name, label, control, hint);
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
    this.chooser = h("input", {
      type: "file", class: "unseen", tabindex: -1, "aria-hidden": "true",
      accept: "video/*,audio/*,.mkv,.mxf,.ts,.m2ts,.vob,.nut,.avi,.mov,.gif,.webp,.apng",
      onchange: () => this.chooser.files[0] && this.take(this.chooser.files[0]),
    });
    const most = session.mostUploadBytes ? ` Up to ${size(session.mostUploadBytes)}.` : "";
    this.drop = h("div.drop", h("p", h("strong", "Drop a video or a song here")),
      button("Choose a file…", () => this.chooser.click()), this.chooser,
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
    const path = session.sources && this.text("source", "Path of a video on the servers",
      session.uploads ? "Instead of an upload: a file that the workers see." : "A file that the workers see.",
      "/srv/in/clip.mp4");
    return panel("Video", session.uploads && [this.drop, this.uploadBox],
      session.uploads && session.sources && h("div.gap"), path,
      !session.uploads && !session.sources && h("p.notice", "This server takes neither uploads nor paths. "
        + "Submit on the command line: reel-coordinator submit clip.mp4"),
      this.sourceWrong);
  }
  playPanel() {
    return panel("What is done", h("div.fields",
      h("div.wide",
        this.radios("play", "Play", [["reverse", "reverse"], ["forward", "forward"], ["ping-pong", "ping-pong"]])),
      this.text("from", "From", "Seconds, 1:30.5, 2715f or 00:01:30:15", "start"),
      this.text("to", "To", "In the same forms", "end"),
      this.text("duration", "Duration", "Instead of “to”", "all"),
      this.text("speed", "Speed", "1/16 to 16; the sound keeps its pitch", "1"),
      this.text("times", "Times", "How often it is played", "1", { inputmode: "numeric" }),
      this.choice("turn", "Turn", [["", "once"], ["twice"]], "How often ping-pong shows the frames where it turns"),
      h("div.wide",
        this.radios("audio", "Sound", [["reverse", "as the picture"], ["keep", "forwards"], ["none", "none"]]))));
  }
  outputPanel() {
    const containers = [
      ["", "as the source"], ["mp4"], ["mov"], ["mkv"], ["webm"], ["ts"], ["nut"], ["avi"], ["mxf"], ["gif"], ["apng"],
      ["webp"], ["m4a"], ["mp3"], ["flac"], ["wav"], ["ogg"], ["opus"],
    ];
    const codecs = [
      ["", "as the source"], ["copy", "copy: packets as they are"], ["libx264", "H.264 (libx264)"],
      ["libx265", "HEVC (libx265)"], ["libsvtav1", "AV1 (libsvtav1)"], ["libvpx-vp9", "VP9 (libvpx-vp9)"],
      ["prores_ks", "ProRes"], ["mjpeg", "Motion JPEG"], ["mpeg2video", "MPEG-2"], ["ffv1", "FFV1"],
    ];
    return panel("Output", h("div.fields",
      this.choice("for", "Made for", [["", "any player"], ["web", "the web and phones"], ["discord"], ["whatsapp"], ["email"]]),
      this.choice("container", "Container", containers), this.choice("videoCodec", "Video codec", codecs),
      this.text("crf", "Quality (CRF)", "The encoder's own scale; lower is better", "18 of x264",
        { inputmode: "decimal" }),
      this.text("bitrate", "Bit rate", "Instead of quality: 5M, or source", ""),
      this.text("maxSize", "Largest size", "Of the whole file, instead of quality", "10MB"),
      this.text("size", "Size", "Scaled in proportion, the rest black", "640x360"),
      this.field("lossless", "Lossless", h("input", { type: "checkbox" }), "FFV1 and PCM, in mkv, mov or nut")),
      h("details", h("summary", "More options"), h("div.fields",
        this.text("preset", "Preset", "Of the encoder", "medium"),
        this.text("profile", "Profile", "As FFmpeg spells it", "main"),
        this.text("fps", "Most frames a second", "Every m-th frame of the source", "all"),
        this.text("pixelFormat", "Pixel format", "As FFmpeg spells it", "yuv420p"),
        this.text("audioCodec", "Sound codec", "As FFmpeg spells it", "as the source"),
        this.text("audioBitrate", "Sound bit rate", "Of each track", "192k"),
        this.text("sampleRate", "Sample rate", "", "48000", { inputmode: "numeric" }),
        this.text("channelLayout", "Channels", "As FFmpeg spells them", "stereo"),
        this.text("tracks", "Tracks", "a and s for all, a:0 for one, v for none", "a,s"),
        this.text("crossfade", "Crossfade", "Of the sound, between repeats", ""),
        this.text("memory", "Memory of a pass", "A limit, as 768MiB", "none"),
        this.text("threads", "Threads", "Of each codec", "auto"),
        this.choice("timestamps", "Timestamps", [["", "mirrored"], ["source", "the source's"]]),
        this.choice("verify", "Verify", [["", "packets"], ["decode", "packets and frames"]]),
        this.choice("onDamage", "Damaged frames", [["", "repeat the frame before"], ["fail", "fail"]]))));
  }
  namePanel() {
    return panel("In the list", h("div.fields",
      this.text("name", "Name", "", "Trailer, take 3", { maxlength: 100 }),
      this.text("labels", "Labels", "Separated by commas", "project=trailer"),
      this.field("weight", "Weight", h("input", { type: "number", min: 0.001, max: 1000, step: "any", value: 1 }),
        "Share of the work; 3 gets three times as much")));
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
      return put(this.sourceWrong,
        `The file has ${size(file.size)}; this server takes ${size(session.mostUploadBytes)} at most.`);
    }
    if (upload?.isActive) upload.stop("paused");
    upload?.watchers.clear();
    setUpload(new Upload(file));
    upload.watchers.add(this.watch);
    upload.run();
    this.edited();
  }
  showUpload() {
    if (!this.uploadBox) return;
    this.drop.hidden = upload != null;
    if (upload == null) {
      this.uploadBox.replaceChildren();
      return this.ready();
    }
    if (this.shownUpload !== upload) {
      this.shownUpload = upload;
      this.meter = h("progress", { max: upload.file.size, "aria-label": "Upload" });
      this.told = h("p.hint");
      this.buttons = h("div.bar");
      this.shownButtons = null;
      const name = h("p", h("strong", bdi(upload.file.name)), ` ${size(upload.file.size)}`);
      this.uploadBox.replaceChildren(name, this.meter, this.told, this.buttons);
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
        (state === "paused" || state === "failed")
          && button(state === "paused" ? "Go on" : "Try again", () => upload.run()),
        state === "done" ? button("Choose another file", () => this.drops())
          : button("Cancel the upload", () => { upload.cancel(); this.drops(); }));
    }
    this.ready();
    if (state === "done" && this.waitsToSubmit) this.submit();
    if (state === "failed") this.stopWaiting();
  }
  drops() {
    upload?.watchers.delete(this.watch);
    setUpload(null);
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
    put(this.submitButton,
      this.waitsToSubmit ? "Do not submit yet" : !hasSource && upload?.isActive ? "Submit when uploaded" : "Submit");
    const words = this.waitsToSubmit ? "It is submitted as soon as it is uploaded."
      : hasSource || upload ? "" : "Choose a video first.";
    if (!this.isBusy) put(this.ending, words);
  }

  /** The options that differ from the usual ones, by their names. */
  options() {
    const options = {};
    const usual = { play: "reverse", audio: "reverse" };
    for (const name of Object.keys(this.controls)) {
      if (["source", "name", "labels", "weight"].includes(name)) continue;
      const value = this.value(name);
      if (value === "" || value === false || value === usual[name]) continue;
      const isNumber = ["times", "crf", "sampleRate"].includes(name) && Number.isFinite(Number(value));
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
      words.push(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
      if (value !== true) words.push(quote(String(value)));
    }
    if (this.value("name")) words.push(`--name ${quote(this.value("name"))}`);
    if (this.value("weight") && this.value("weight") !== "1") words.push(`--weight ${quote(this.value("weight"))}`);
    const labels = this.value("labels").split(",").map((label) => label.trim()).filter(Boolean);
    for (const label of labels) words.push(`--label ${quote(label)}`);
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
    const name = error.pointer?.split("/").filter(Boolean)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
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
      if (body.upload) setUpload(null);
      say("The job is submitted.");
      if (this.isOpen) go(jobPath(job.id));
    } catch (error) {
      this.isBusy = false;
      this.ready();
      this.showWrong(error);
    }
  }
}
