// Where clips come from: files that are dropped or chosen, and files of the server.

import { browse } from "./browse.js";
import { Clip, draft } from "./draft.js";
import { bdi, button, h, panel, put, refill } from "./elements.js";
import { hasSound } from "./formats.js";
import { fileName } from "./jobFacts.js";
import { session } from "./session.js";
import { size } from "./words.js";

/** The most files that are taken at a time. */
const mostFiles = 500;
const mediaTypes = "video/*,audio/*,.mkv,.mxf,.ts,.m2ts,.vob,.nut,.avi,.mov,.gif,.webp,.apng";
const mediaName = new RegExp("\\.(3g2|3gp|aac|aif|aiff|apng|asf|avi|divx|dv|f4v|flac|flv|gif|m2t|m2ts|m4a|m4v|mkv|mov|mp3|mp4|mpeg|mpg"
  + "|mts|mxf|nut|ogg|ogm|ogv|opus|qt|rm|rmvb|ts|vob|wav|webm|webp|wma|wmv|y4m)$", "i");

/** Why a file cannot be taken; empty if it can. */
function refusal(file) {
  if (file.size === 0) return "The file is empty, or it is a folder.";
  if (session.mostUploadBytes && file.size > session.mostUploadBytes) {
    return `The file has ${size(file.size)}; this server takes ${size(session.mostUploadBytes)} at most.`;
  }
  const isMedia = /^(video|audio)\//.test(file.type) || mediaName.test(file.name);
  return isMedia ? "" : "By its name it is neither a video nor a song.";
}
const chooser = (accept, isMultiple, act) => h("input", {
  type: "file", class: "unseen", tabindex: -1, "aria-hidden": "true", accept, multiple: isMultiple,
  onchange: (event) => {
    act([...event.target.files]);
    event.target.value = "";
  },
});

/** The panel of files around the strip of clips. */
export class ClipFiles {
  /** @param page has `fields` and `list`, and hears of clips: `follow`, `select`, `edited`. */
  constructor(page) {
    this.page = page;
    this.title = h("strong", "Drop videos here");
    this.left = h("ul.list.left", { role: "alert" });
    this.song = h("div.bar");
    this.chooser = chooser(mediaTypes, true, (files) => this.take(files));
    this.songChooser = chooser("audio/*,video/*", false, ([file]) => file && this.takeSong(file));
    const most = session.mostUploadBytes ? ` Up to ${size(session.mostUploadBytes)} each.` : "";
    this.drop = h("div.drop", h("p", this.title),
      h("div.bar", session.uploads && button("Choose files…", () => this.chooser.click()),
        session.sources && button("Files on the server…", () => this.browse())),
      session.uploads && h("p.hint", `Several at once, if you like. They are uploaded at once, and go on after an interruption.${most}`));
    if (session.uploads) this.takeDrops();
    this.film = button("Preview the film", () => page.editor.preview(draft.clips));
    this.together = h("div.bar.together", page.fields.radios("together", "Several clips become",
      [["yes", "one film, in this order"], ["no", "an output each"]]), this.film);
    page.fields.set("together", draft.isTogether ? "yes" : "no");
    this.element = panel("Videos", !session.uploads && !session.sources && h("p.notice",
      "This server takes neither uploads nor paths. Submit on the command line: reel-coordinator submit clip.mp4"),
      page.list.element, this.left, this.together, this.song, this.drop, this.chooser, this.songChooser,
      session.sources && this.pathField());
  }
  pathField() {
    const { fields } = this.page;
    const add = () => {
      const path = fields.value("source");
      if (path === "") return;
      fields.set("source", "");
      this.add([new Clip({ name: fileName(path), source: path })]);
    };
    const onkeydown = (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      add();
    };
    return h("details", h("summary", "Type a path or an address"), h("div.bar.grow",
      fields.text("source", "Path of a video on the servers", "A file that the workers see", "/srv/in/clip.mp4", { onkeydown }),
      button("Add", add)));
  }
  takeDrops() {
    const over = (event) => {
      event.preventDefault();
      this.drop.classList.add("over");
    };
    this.drop.addEventListener("dragenter", over);
    this.drop.addEventListener("dragover", over);
    this.drop.addEventListener("dragleave", () => this.drop.classList.remove("over"));
    this.drop.addEventListener("drop", (event) => {
      event.preventDefault();
      this.drop.classList.remove("over");
      this.take([...event.dataTransfer.files]);
    });
  }
  show() {
    const { clips } = draft;
    this.together.hidden = clips.length < 2;
    this.film.hidden = !draft.isTogether;
    this.film.disabled = !clips.every((clip) => clip.facts?.frames > 0);
    put(this.title, clips.length > 0 ? "Add more videos" : "Drop videos here");
    this.drop.classList.toggle("small-drop", clips.length > 0);
    this.showSong();
  }

  /** Takes files that were dropped or chosen; says of each that cannot be taken why. */
  take(files) {
    const left = [];
    const taken = [];
    for (const file of files.slice(0, mostFiles)) {
      const reason = refusal(file);
      if (reason) {
        left.push([file.name, reason]);
        continue;
      }
      const lost = draft.files.find((clip) => clip.isLost && clip.name === file.name && clip.bytes === file.size);
      if (lost) this.page.follow(lost.take(file));
      else taken.push(new Clip().take(file));
    }
    if (files.length > mostFiles) left.push([`${files.length - mostFiles} more files`, `${mostFiles} are taken at a time.`]);
    this.refuse(left);
    this.add(taken);
  }
  refuse(left) {
    refill(this.left, left.map(([name, reason]) => h("li", h("strong", bdi(name)), ": ", reason)));
  }
  async browse() {
    const files = await browse();
    this.add(files.map(({ name, path, bytes }) => new Clip({ name, bytes, source: path })));
  }
  add(clips) {
    // Clips of a film are usually played as they were taken.
    if (draft.clips.length + clips.length > 1 && draft.isTogether) for (const clip of clips) clip.play = "forward";
    draft.clips.push(...clips);
    for (const clip of clips) this.page.follow(clip);
    if (clips.length > 0) this.page.select(clips[0]);
    else this.page.edited();
  }

  // The soundtrack

  takeSong(file) {
    const reason = refusal(file);
    if (reason) return this.refuse([[file.name, reason]]);
    draft.soundtrack = new Clip().take(file);
    this.page.follow(draft.soundtrack);
    this.page.edited();
  }
  async browseSong() {
    const [file] = await browse();
    if (!file) return;
    draft.soundtrack = new Clip({ name: file.name, bytes: file.bytes, source: file.path });
    this.page.edited();
  }
  showSong() {
    const { soundtrack } = draft;
    const isWanted = draft.clips.length > 0 && hasSound(draft.container);
    this.song.hidden = !isWanted;
    if (!isWanted) return;
    const { upload } = soundtrack ?? {};
    const state = !soundtrack ? "" : soundtrack.trouble || (soundtrack.isLost ? "Choose the file again."
      : soundtrack.source == null ? `${Math.floor(upload.offset * 100 / Math.max(soundtrack.bytes, 1))} % uploaded` : "");
    refill(this.song, h("span", "Soundtrack:"),
      soundtrack ? [bdi(soundtrack.name), state && h("span.muted", state),
        button("Remove", () => { draft.soundtrack = null; this.page.edited(); }, "quiet")]
        : [h("span.muted", "the clips' own sound"),
          session.uploads && button("Choose a song…", () => this.songChooser.click(), "quiet"),
          session.sources && button("On the server…", () => this.browseSong(), "quiet")]);
  }
}
