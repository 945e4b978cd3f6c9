// What several pages say of a job.

import { part } from "./api.js";
import { bdi, h, legible } from "./elements.js";
import { holds, shortFormat } from "./formats.js";
import { count, rangeWords, ratio } from "./words.js";

/** A label, which leads to the jobs that have it. */
export const tag = ([name, value]) =>
  [h("a.tag", { href: `?label=${part(`${name}=${value}`)}` }, bdi(`${name}=${value}`)), " "];
export const sortedLabels = (job) => Object.entries(job.labels ?? {}).sort(([a], [b]) => a < b ? -1 : 1);
/** "62 %"; an unfinished job never shows 100. */
export function percent(job) {
  if (job.state === "done") return "100 %";
  return job.frames > 0 ? `${Math.min(Math.floor(job.framesEncoded * 100 / job.frames), 99)} %` : "0 %";
}
export const isOver = (job) => ["done", "failed", "cancelled"].includes(job.state);
export const isMoving = (job) => !isOver(job) && !job.paused;
export const shownState = (job) =>
  isOver(job) ? job.state : job.paused ? "paused" : job.waitReason ? "waiting" : job.state;
export const fileName = (path) => (path ?? "").split("/").pop();
const uploadOf = (path) => /\/uploads\/([0-9a-f]{32})\/file\/[^/]+$/.exec(path ?? "")?.[1];
export const isUploaded = (path) => uploadOf(path) != null;
/** A source of a job as a request names it. */
export const sourceOf = (path) => isUploaded(path) ? `upload:${uploadOf(path)}` : path;
export const jobName = (job) => legible(job.name || fileName(job.source) || job.id);
/** How a clip is played, in words. */
export const playWords = {
  reverse: "backwards", forward: "forward", "ping-pong": "forth and back", freeze: "held",
};
/** The clips of a job, each as it was asked for. */
export function clipsOf({ options }) {
  return options?.edit?.clips ?? [{ play: "reverse", from: options?.from, to: options?.to, duration: options?.duration }];
}
/** The options of a job that differ from the usual ones, by their names in a request. */
export function formOptions({ edit, from, to, duration, size, loop, mostFrames, mostBytes, mostSide, tracks, passFrames, ...others }) {
  const usual = { audio: "reverse", timestamps: "mirror", verify: "packets", onDamage: "repeat", lossless: false };
  const options = {
    ...others, size: size && (size.width ? `${size.width}x${size.height}` : size), fps: mostFrames, maxSize: mostBytes,
    loop: loop?.plays, dither: loop?.dither, colors: loop?.colours,
  };
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => value != null && value !== usual[name]));
}
function clipWords(clip) {
  if (clip.source == null && clip.still != null) return "black";
  const speed = clip.speed == null ? 1 : ratio(clip.speed);
  return [clip.still != null ? playWords.freeze : playWords[clip.play ?? "reverse"], rangeWords(clip), clip.times > 1 && `${clip.times} times`,
    speed !== 1 && (speed < 1 ? `${Math.round(100 / speed) / 100} times slower` : `${Math.round(speed * 100) / 100} times faster`)]
    .filter(Boolean).join(", ");
}
/** "forth and back, 2–4 s → GIF": what a job does; empty if that is not known. */
export function doneWords(job) {
  if (!job.options) return "";
  const clips = clipsOf(job);
  const odd = ["reverse", "ping-pong"].map((play) => [clips.filter((clip) => clip.play === play).length, playWords[play]])
    .filter(([number]) => number > 0).map(([number, words]) => `${number < clips.length ? number : "all"} ${words}`);
  const what = clips.length === 1 ? clipWords(clips[0]) : [count(clips.length, "clip"), ...odd].join(", ");
  return `${what}${job.options.edit?.soundtrack ? ", with a soundtrack" : ""} → ${shortFormat(job.options.container)}`;
}
/** The side of a job whose pictures a list can show, or null. The server makes no pictures of WebP results. */
export function picturedSide({ state, options, frames }) {
  if (state === "probing" || holds(options?.container) === "sound" || frames === 0) return null;
  return state === "done" && options?.container !== "webp" ? "output" : "source";
}
/** The labels that a user has typed, one in each line or separated by commas. */
export function labelsOf(text) {
  const labels = {};
  for (const line of text.split(/[\n,]/).map((line) => line.trim()).filter(Boolean)) {
    const match = /^([A-Za-z0-9._-]{1,40})=(.{1,100})$/u.exec(line);
    if (!match) {
      throw new Error(`“${line}” is not a label. A label is NAME=VALUE, for example project=trailer; NAME has letters, `
        + "digits, “.”, “-” and “_”.");
    }
    if (Object.hasOwn(labels, match[1])) throw new Error(`The label ${match[1]} is given twice.`);
    labels[match[1]] = match[2];
  }
  if (Object.keys(labels).length > 16) throw new Error("A job has 16 labels at most.");
  return labels;
}
/** "2 × crash, 1 × timeout", of numbers by their causes; or the number alone. */
export function attemptWords(attempts) {
  if (typeof attempts !== "object") return String(attempts ?? "");
  return Object.entries(attempts ?? {}).filter(([, number]) => number > 0).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([cause, number]) => `${number} × ${cause}`).join(", ");
}
export function sandboxWords({ landlock, seccomp }) {
  if (landlock > 0) return `confined by Landlock ${landlock}${seccomp ? " and seccomp" : "; seccomp is not in force"}`;
  return seccomp ? "confined by seccomp; Landlock is not in force" : "not confined";
}
/** Jobs whose data cannot be read, as notices. */
export const unreadableNotices = (list) => list.slice(0, 20).map((entry) => h("p.notice.bad",
  h("code", entry.id), " cannot be read: ", bdi(entry.reason), " ", h("span.muted", `(${entry.code})`)));
/** "120 frames back". */
export const clipFrames = (clip) =>
  `${clip.endFrame == null ? "" : `${count(clip.endFrame - clip.firstFrame, "frame")} `}${clip.direction === "forwards" ? "forward" : "back"}`;
