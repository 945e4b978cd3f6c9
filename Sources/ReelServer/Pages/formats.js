// The formats of an output, and which options each has.

/** Formats by their container: the words, and what they hold. */
export const formats = [
  { container: "", words: "as the source", holds: "video" },
  { container: "mp4", words: "MP4", holds: "video" },
  { container: "gif", words: "GIF: pictures that move, for the web", holds: "pictures" },
  { container: "webp", words: "WebP: the same, smaller", holds: "pictures" },
  { container: "apng", words: "APNG: the same, in all colours", holds: "pictures" },
  { container: "webm", words: "WebM", holds: "video" },
  { container: "mov", words: "MOV", holds: "video" },
  { container: "mkv", words: "Matroska (MKV)", holds: "video" },
  { container: "avi", words: "AVI", holds: "video" },
  { container: "mxf", words: "MXF", holds: "video" },
  { container: "ts", words: "MPEG transport stream (TS)", holds: "video" },
  { container: "nut", words: "NUT", holds: "video" },
  { container: "m4a", words: "M4A: sound alone", holds: "sound" },
  { container: "mp3", words: "MP3: sound alone", holds: "sound" },
  { container: "flac", words: "FLAC: sound alone", holds: "sound" },
  { container: "wav", words: "WAV: sound alone", holds: "sound" },
  { container: "ogg", words: "Ogg: sound alone", holds: "sound" },
  { container: "opus", words: "Opus: sound alone", holds: "sound" },
];
const format = (container) => formats.find((format) => format.container === container) ?? formats[0];
/** Whether an output has pictures that move, as a GIF, video, or sound alone. */
export const holds = (container) => format(container).holds;
export const hasSound = (container) => holds(container) !== "pictures";
/** "MP4", "WebP": a container in a few letters. */
export const shortFormat = (container) => ({ webp: "WebP", webm: "WebM", opus: "Opus", ogg: "Ogg" })[container]
  ?? String(container ?? "").toUpperCase();

const ofVideo = ["videoCodec", "crf", "bitrate", "preset", "profile", "pixelFormat", "timestamps", "verify"];
const ofPictures = ["size", "fit", "fps", "memory", "threads", "onDamage"];
const ofSound = ["audio", "audioCodec", "audioBitrate", "sampleRate", "channelLayout", "crossfade"];
const only = {
  for: ["", "mp4"], maxSize: ["", "mp4", "mov", "mkv", "webm", "gif", "webp", "apng"],
  lossless: ["", "mkv", "mov", "nut", "avi", "webp"], loop: ["gif", "webp", "apng"], dither: ["gif"], colors: ["gif"],
};
/** Whether outputs of a container have an option. */
export function hasOption(container, name) {
  if (Object.hasOwn(only, name)) return only[name].includes(container);
  const kind = holds(container);
  if (ofVideo.includes(name)) return kind === "video";
  if (ofPictures.includes(name)) return kind !== "sound";
  if (ofSound.includes(name)) return kind !== "pictures";
  if (name === "tracks") return kind === "video";
  return true;
}
