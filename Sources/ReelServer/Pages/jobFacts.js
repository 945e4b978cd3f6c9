// What several pages say of a job.

import { part } from "./api.js";
import { bdi, h, legible } from "./elements.js";
import { count } from "./words.js";

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
export const jobName = (job) => legible(job.name || fileName(job.source) || job.id);
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
