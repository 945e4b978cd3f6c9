// What a user is about to submit: clips, and how the output is to be. It is kept while other pages are shown, and after a
// reload as far as the server has the files.

import { base } from "./api.js";
import { holds } from "./formats.js";
import { store, stored } from "./storage.js";
import { beginUpload, dropUpload } from "./upload.js";
import { ratio } from "./words.js";

const key = `reel-draft ${base.pathname}`;
const kept = ["name", "bytes", "source", "from", "to", "play", "speed", "times", "isSilent"];
let serial = 0;

/** A range of a source, and how it is played. Its moments are texts as options have them; empty for start and end. */
export class Clip {
  key = ++serial;
  name = "";
  bytes = null;
  /** As an edit names it; null while it is uploaded. */
  source = null;
  upload = null;
  facts = null;
  /** What is wrong with its file. */
  trouble = "";
  /** Why there is no picture of it. */
  note = "";
  from = "";
  to = "";
  play = "reverse";
  speed = "";
  times = "";
  isSilent = false;

  constructor(values) { Object.assign(this, values); }
  /** Uploads its file. */
  take(file) {
    Object.assign(this, { name: file.name, bytes: file.size, source: null, facts: null, trouble: "", note: "" });
    this.follow(beginUpload(file));
    return this;
  }
  /** Takes its source from an upload as soon as that is complete. */
  follow(upload) {
    this.upload = upload;
    upload.watchers.add(() => {
      if (upload.state !== "done" || this.upload !== upload || this.source != null) return;
      this.source = `upload:${upload.id}`;
      draft.save();
    });
  }
  /** The same source once more. */
  copy() {
    const { name, bytes, source, facts, play } = this;
    const other = new Clip({ name, bytes, source, facts, play });
    if (this.upload) other.follow(this.upload);
    return other;
  }
  /** Whether its file was chosen before the page was loaded anew, and was not uploaded wholly. */
  get isLost() { return this.source == null && this.upload == null; }
  values() { return Object.fromEntries(kept.map((name) => [name, this[name]])); }
}

export class Draft {
  clips = [];
  /** Whether all clips become one output, one after the other. */
  isTogether = true;
  /** A clip whose sound is heard instead; null for the clips' own. */
  soundtrack = null;
  turn = "";
  /** The texts of the other fields, by their names; empty ones are left out. */
  fields = {};

  /** The draft of this tab, or the one that was changed last. */
  static restore() {
    const draft = new Draft();
    const text = stored("sessionStorage", key) ?? stored("localStorage", key);
    try {
      const found = JSON.parse(text ?? "null");
      if (!found) return draft;
      Object.assign(draft, {
        isTogether: found.isTogether !== false, turn: String(found.turn ?? ""), fields: found.fields ?? {},
        clips: found.clips.map((values) => new Clip(values)),
        soundtrack: found.soundtrack && new Clip(found.soundtrack),
      });
    } catch { /* A draft of another release is of no use. */ }
    return draft;
  }
  save() {
    const { isTogether, turn, fields, clips, soundtrack } = this;
    const isEmpty = clips.length === 0 && Object.values(fields).every((value) => !value);
    const text = isEmpty ? null : JSON.stringify({
      isTogether, turn, fields, clips: clips.map((clip) => clip.values()), soundtrack: soundtrack?.values(),
    });
    store("sessionStorage", key, text);
    store("localStorage", key, text);
  }
  get container() { return this.fields.container ?? ""; }
  get files() { return [...this.clips, this.soundtrack].filter(Boolean); }
  remove(clip) {
    const place = this.clips.indexOf(clip);
    this.clips.splice(place, 1);
    const isUsed = this.files.some((other) => other.upload === clip.upload);
    if (clip.upload && !isUsed) {
      if (clip.source == null) clip.upload.cancel();
      dropUpload(clip.upload);
    }
    return this.clips[Math.min(place, this.clips.length - 1)] ?? null;
  }
  move(clip, place) {
    this.clips.splice(this.clips.indexOf(clip), 1);
    this.clips.splice(Math.max(0, Math.min(place, this.clips.length)), 0, clip);
  }

  /** Where each job's request has the fields of its clips: one request for all clips, or one for each.
   *
   * @param nameOf what a request calls a source
   */
  requests(options, more, nameOf = (clip) => clip.source) {
    const groups = this.isTogether || this.clips.length < 2 ? [this.clips] : this.clips.map((clip) => [clip]);
    return groups.map((clips) => ({ clips, body: this.request(clips, options, more, nameOf) }));
  }
  request(clips, options, more, nameOf) {
    const isSound = holds(this.container) === "sound";
    const [only] = clips;
    if (clips.length === 1 && !this.soundtrack) {
      const isUpload = nameOf(only)?.startsWith("upload:");
      const own = {
        ...(only.play === "reverse" ? {} : { play: only.play }), ...moments(only), ...pace(only),
        ...(only.play === "ping-pong" && this.turn ? { turn: this.turn } : {}),
      };
      const all = { ...own, ...options, ...(only.isSilent && !isSound ? { audio: "none" } : {}) };
      return {
        ...(isUpload ? { upload: nameOf(only).slice("upload:".length) } : { source: nameOf(only) }),
        ...(Object.keys(all).length > 0 ? { options: all } : {}), ...more,
      };
    }
    const { crossfade, audio, ...others } = options;
    const edit = {
      clips: clips.map((clip) => ({
        source: nameOf(clip), ...moments(clip), play: clip.play, ...pace(clip),
        ...(clip.isSilent || audio === "none" ? { sound: false } : {}),
      })),
      ...(this.turn ? { turn: this.turn } : {}), ...(crossfade !== undefined ? { crossfade } : {}),
      ...(this.soundtrack ? { soundtrack: { source: nameOf(this.soundtrack) } } : {}),
    };
    return { edit, ...(Object.keys(others).length > 0 ? { options: others } : {}), ...more };
  }
}
const moments = ({ from, to }) => ({ ...(from === "" ? {} : { from }), ...(to === "" ? {} : { to }) });
const pace = ({ speed, times }) => ({
  ...(speed === "" || ratio(speed) === 1 ? {} : { speed }),
  ...(times === "" || times === "1" ? {} : { times: /^\d+$/.test(times) ? Number(times) : times }),
});

/** The draft of this tab. */
export let draft = Draft.restore();
/** Begins anew, for example with what a job was made of. */
export function setDraft(other) {
  for (const { upload } of draft.files) if (upload) dropUpload(upload);
  draft = other;
  draft.save();
}

/** A request as a command line. An edit becomes a file, whose name it gives. */
export function commandOf({ edit, source, upload, options = {}, name, weight, labels = {} }) {
  const quote = (text) => /^[\w./:=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
  const words = ["reel-coordinator submit", edit ? "cut.json" : quote(source ?? upload)];
  for (const [option, value] of Object.entries(options)) {
    words.push(`--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
    if (value !== true) words.push(quote(String(value)));
  }
  if (name) words.push(`--name ${quote(name)}`);
  if (weight) words.push(`--weight ${weight}`);
  for (const [label, value] of Object.entries(labels)) words.push(`--label ${quote(`${label}=${value}`)}`);
  const file = edit ? `cat >cut.json <<'END'\n${JSON.stringify(edit, null, 2)}\nEND\n` : "";
  return file + words.join(" ");
}
