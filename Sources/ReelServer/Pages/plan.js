// What a plan says, before the job is submitted.

import { bdi, codeOf, h, pairs } from "./elements.js";
import { shortFormat } from "./formats.js";
import { clipFrames } from "./jobFacts.js";
import { count, grouped, seconds, size } from "./words.js";

const list = (...parts) => parts.filter(Boolean).join(", ");

function foundVideo(video) {
  const rate = video.isVariableRate ? "variable rate" : video.frameRate && `${video.frameRate.replace(/\/1$/, "")} fps`;
  return list(video.codec + (video.profile ? ` ${video.profile}` : ""), `${video.width}x${video.height}`,
    video.pixelFormat, count(video.frames, "frame"), rate, video.rotation && `turned by ${video.rotation}°`);
}
/** What the output is; its codec and pixel format if those were asked for. */
function output(plan, options) {
  const isOfCodec = ["videoCodec", "preset", "profile", "pixelFormat", "crf", "bitrate", "lossless"].some((name) => options[name] != null);
  if (!isOfCodec) return list(shortFormat(plan.container), plan.frames > 0 && `${plan.width}x${plan.height}`);
  const bits = plan.bitrate === "source" ? "as many bits as the source"
    : plan.bitrate && `${Math.floor(plan.bitrate / 1000)} kb/s`;
  return plan.frames === 0 ? plan.container : list(plan.container, `${plan.videoEncoder} ${plan.width}x${plan.height} ${plan.pixelFormat}`,
    plan.encoderOptions, bits);
}
const handling = {
  copied: "copied packet by packet", forwards: "forwards", reversed: "reversed", edited: "as the clips have it",
  soundtrack: "the soundtrack",
};
const sound = (track) => list(handling[track.handling] ?? track.handling, track.handling !== "copied"
  && list(track.encoder, track.sampleRate && `${track.sampleRate} Hz`, track.channelLayout));
const clip = (clip) => clip.source == null ? `black, ${seconds(clip.seconds)}`
  : list(`${seconds(clip.from)} to ${seconds(clip.to)}`, clipFrames(clip),
    clip.speed !== 1 && `${clip.speed} times as fast`, clip.times > 1 && `${clip.times} times`);
function passes(plan) {
  if (plan.frames === 0) return `${plan.passes.length} of audio`;
  const made = plan.passes.filter((pass) => pass.kind === "video");
  if (made.length === 0) return "none of video, whose packets the assembly copies";
  const chunks = made.reduce((sum, pass) => sum + pass.runs, 0);
  return `${count(made.length, "pass")} of video in ${count(chunks, "chunk")}, `
    + `${plan.passes.length - made.length} of audio`;
}

export function planView(plan, options) {
  const { found } = plan;
  const clips = plan.clips.length > 1 || plan.clips.some((clip) => clip.times > 1) ? plan.clips.slice(0, 12) : [];
  return h("section.panel", { tabindex: -1 }, h("h2", "Plan"),
    plan.diagnostics.map((entry) => h("p.notice.odd", bdi(entry.message), codeOf(entry.code))),
    pairs([
      ["source", list(found.format, size(found.size), seconds(found.seconds))],
      ...(found.video ? [["video", foundVideo(found.video)]] : []),
      ...found.audio.map((track, index) =>
        [`audio ${index}`, list(track.codec, `${track.sampleRate} Hz`, track.channelLayout, track.language)]),
      ["output", output(plan, options)],
      ...plan.audio.map((track) => [`sound ${track.track}`, sound(track)]),
      ...clips.map((entry, index) => [`clip ${index + 1}`, clip(entry)]),
      plan.frames > 0 ? ["frames", `${grouped(plan.frames)}, ${seconds(plan.seconds)}`] : ["length", seconds(plan.seconds)],
      ["passes", passes(plan)],
      ...(plan.expectedBytes ? [["size", `about ${size(plan.expectedBytes)}`]] : []),
      ["memory", `${size(plan.need)} a pass`],
      ["decodes", count(plan.framesToDecode, "frame")],
      ["quotas", plan.quotas.map((quota) => `${quota.quota} ${quota.asked} of ${quota.most}`).join(", ")],
    ]));
}
