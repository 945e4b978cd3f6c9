// How an output is to be: the options of its format.

import { draft } from "./draft.js";
import { h, panel } from "./elements.js";
import { formats, hasOption } from "./formats.js";

/** Fields that say something of the job and not of its output. */
const ofJob = ["name", "labels", "weight"];
const ofClips = ["from", "to", "play", "speed", "times", "turn", "source", "together"];
const numbers = ["crf", "sampleRate", "colors", "loop"];
const usual = { audio: "reverse" };
const codecs = [
  ["", "as the source"], ["copy", "copy: packets as they are"], ["libx264", "H.264 (libx264)"],
  ["libx265", "HEVC (libx265)"], ["libsvtav1", "AV1 (libsvtav1)"], ["libvpx-vp9", "VP9 (libvpx-vp9)"],
  ["prores_ks", "ProRes"], ["mjpeg", "Motion JPEG"], ["mpeg2video", "MPEG-2"], ["ffv1", "FFV1"],
];

export function outputPanel(fields) {
  const text = (name, label, hint, placeholder, more) => fields.text(name, label, hint, placeholder, more);
  return panel("Output", h("div.fields",
    fields.choice("container", "Format", formats.map(({ container, words }) => [container, words])),
    fields.choice("for", "Made for",
      [["", "any player"], ["web", "the web and phones"], ["discord"], ["whatsapp"], ["email"]]),
    text("size", "Size", "Scaled in proportion", "640x360"),
    text("maxSize", "Largest file", "Made to fit", "10MB"),
    text("fps", "Most frames a second", "", "all", { inputmode: "decimal" }),
    text("loop", "Repeats", "How often players show it", "forever"),
    text("colors", "Colours", "2 to 256", "256", { inputmode: "numeric" }),
    fields.choice("dither", "Patterns for missing colours",
      [["", "sierra"], ["none"], ["bayer"], ["floyd-steinberg"]]),
    fields.check("lossless", "Lossless", ""),
    h("div.wide", fields.radios("audio", "Sound",
      [["reverse", "as the picture"], ["keep", "forwards"], ["none", "none"]]))),
    h("details", h("summary", "More options"), h("div.fields",
      fields.choice("fit", "Other proportions", [["", "black bars"], ["crop", "cut off"], ["blur", "blurred behind"]]),
      fields.choice("videoCodec", "Video codec", codecs),
      text("crf", "Quality (CRF)", "The encoder's own scale; lower is better", "18 of x264", { inputmode: "decimal" }),
      text("bitrate", "Bit rate", "Instead of quality: 5M, or source", ""),
      text("preset", "Preset", "Of the encoder", "medium"), text("profile", "Profile", "As FFmpeg spells it", "main"),
      text("pixelFormat", "Pixel format", "As FFmpeg spells it", "yuv420p"),
      text("audioCodec", "Sound codec", "As FFmpeg spells it", "as the source"),
      text("audioBitrate", "Sound bit rate", "Of each track", "192k"),
      text("sampleRate", "Sample rate", "", "48000", { inputmode: "numeric" }),
      text("channelLayout", "Channels", "As FFmpeg spells them", "stereo"),
      text("tracks", "Tracks", "a and s for all, a:0 for one, v for none", "a,s"),
      text("crossfade", "Crossfade", "Of the sound where clips meet, in seconds", "half a frame"),
      text("memory", "Memory of a pass", "A limit, as 768MiB", "none"),
      text("threads", "Threads", "Of each codec", "auto"),
      fields.choice("timestamps", "Timestamps", [["", "mirrored"], ["source", "the source's"]]),
      fields.choice("verify", "Verify", [["", "packets"], ["decode", "packets and frames"]]),
      fields.choice("onDamage", "Damaged frames", [["", "repeat the frame before"], ["fail", "fail"]]))));
}
export function namePanel(fields) {
  return panel("In the list", h("div.fields",
    fields.text("name", "Name", "", "Trailer, take 3", { maxlength: 100 }),
    fields.text("labels", "Labels", "Separated by commas", "project=trailer"),
    fields.field("weight", "Weight", h("input", { type: "number", min: 0.001, max: 1000, step: "any", placeholder: "1" }),
      "Share of the work; 3 gets three times as much")));
}

/** Shows the options that the draft's format has. */
export function showOptions(fields) {
  const { container, clips } = draft;
  for (const name of Object.keys(fields.controls)) {
    if (ofClips.includes(name) || ofJob.includes(name)) continue;
    fields.show(name, name === "container" || hasOption(container, name));
  }
  // Only the sound of what is reversed once can run forwards.
  const isOne = (clips.length < 2 || !draft.isTogether) && !draft.soundtrack;
  const keep = fields.controls.audio.control.querySelector("[value=keep]");
  keep.closest("label").hidden = !(isOne && clips.every((clip) => clip.play === "reverse"));
  if (keep.checked && keep.closest("label").hidden) {
    fields.set("audio", "reverse");
    draft.fields.audio = "";
  }
}
/** The draft's options that differ from the usual ones, and that its format has. */
export function chosenOptions(fields) {
  const options = {};
  for (const [name, value] of Object.entries(draft.fields)) {
    if (ofJob.includes(name) || !Object.hasOwn(fields.controls, name)) continue;
    if (value === "" || value === false || value === usual[name] || !hasOption(draft.container, name)) continue;
    options[name] = numbers.includes(name) && Number.isFinite(Number(value)) ? Number(value) : value;
  }
  return options;
}
