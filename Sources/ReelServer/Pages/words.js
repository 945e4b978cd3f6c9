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

/** A message as a sentence. */
export const sentence = (text) => {
  const trimmed = text.trim();
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?…]$/.test(trimmed) ? "" : ".");
};
export const tenths = (value) => value >= 100 ? grouped(value)
  : String(Math.round(value * (value < 1 ? 100 : 10)) / (value < 1 ? 100 : 10));
/** A list, or null if it has no entry. */
export const nonEmpty = (list) => list?.length > 0 ? list : null;
