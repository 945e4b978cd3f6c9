// Words and figures, as the command line writes them.

export const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
export const count = (number, noun) =>
  `${grouped(number)} ${noun}${number === 1 ? "" : noun.endsWith("s") ? "es" : "s"}`;

/** "768 MiB", "1.5 GiB". */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let [value, unit] = [bytes / 1024, 0];
  while (value >= 1024 && unit + 1 < units.length) [value, unit] = [value / 1024, unit + 1];
  return `${Math.round(value * 10) / 10} ${units[unit]}`;
}
/** "0:09", "12:34", "1:02:03"; rounded up. */
export function clock(seconds) {
  const whole = Math.ceil(Math.max(seconds, 0));
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
/** A place in a video: "1:12:30.120". */
export function place(seconds) {
  const milliseconds = Math.round(Math.max(seconds, 0) * 1000);
  return `${clock(Math.floor(milliseconds / 1000))}.${String(milliseconds % 1000).padStart(3, "0")}`;
}
/** "45s", "12m", "7h", "3d". */
export function age(seconds) {
  const whole = Math.floor(Math.max(0, seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m`;
  return whole < 48 * 3600 ? `${Math.floor(whole / 3600)}h` : `${Math.floor(whole / 86400)}d`;
}
export const speed = (framesPerSecond) => `${framesPerSecond.toFixed(1)} fps`;
export const seconds = (value) => `${value.toFixed(3)} s`;
/** A word of a program's, such as "sampleRate", as people write it. */
export const plainWord = (name) => name.replace(/([A-Z])/g, (letter) => " " + letter.toLowerCase());
/** A number from "5/2", "2.5" or 2.5; NaN for anything else. */
export function ratio(value) {
  const [above, below] = String(value).split("/");
  return below === undefined ? Number(above) : Number(above) / Number(below);
}

/** A moment as options have it, in seconds: "5/2", 2.5, "30f", "1:30.5", "00:00:01:12"; NaN for anything else.
 *  `frame` is the length of one. */
export function moment(value, frame) {
  if (value == null || value === "") return NaN;
  const text = String(value).trim();
  if (/^\d+f$/.test(text)) return parseInt(text, 10) * frame;
  const parts = text.split(/[:;]/).map((part) => part === "" ? NaN : Number(part));
  if (parts.length === 4) return parts[0] * 3600 + parts[1] * 60 + parts[2] + parts[3] * frame;
  if (parts.length > 1) return parts.length < 4 ? parts.reduce((sum, part) => sum * 60 + part, 0) : NaN;
  return ratio(text);
}
/** "2", "2.5", "1:02.5": a moment as people write it; as it is if it counts frames. */
export function momentWords(value) {
  const time = moment(value, NaN);
  if (!Number.isFinite(time)) return String(value);
  const milliseconds = Math.round(time * 1000);
  const [minutes, rest] = [Math.floor(milliseconds / 60000), milliseconds % 60000 / 1000];
  const two = (number) => (number < 10 ? "0" : "") + number;
  if (minutes === 0) return String(rest);
  return minutes < 60 ? `${minutes}:${two(rest)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(rest)}`;
}
/** "2–4 s", "1:02–1:10", "from 2 s on", "up to 4 s"; empty for all of a source. */
export function rangeWords({ from, to, duration }) {
  const isGiven = (value) => value != null && value !== "";
  const unit = (words) => /^[\d.]+$/.test(words) ? `${words} s` : words;
  if (isGiven(from) && isGiven(to)) {
    const [first, last] = [momentWords(from), momentWords(to)];
    return /^[\d.]+$/.test(first) && /^[\d.]+$/.test(last) ? `${first}–${last} s` : `${first}–${last}`;
  }
  const start = isGiven(from) && Number(ratio(from)) !== 0 ? `from ${unit(momentWords(from))} on` : "";
  if (isGiven(to)) return `up to ${unit(momentWords(to))}`;
  return [start, isGiven(duration) && `${unit(momentWords(duration))} long`].filter(Boolean).join(", ");
}

/** A message as a sentence. */
export const sentence = (text) => {
  const trimmed = text.trim();
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?…]$/.test(trimmed) ? "" : ".");
};
export const tenths = (value) => value >= 100 ? grouped(value)
  : String(Math.round(value * (value < 1 ? 100 : 10)) / (value < 1 ? 100 : 10));
/** A list, or null if it has no entry. */
export const nonEmpty = (list) => list?.length > 0 ? list : null;
