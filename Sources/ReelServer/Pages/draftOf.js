// A draft of what a job was made of.

import { Clip, Draft, setDraft } from "./draft.js";
import { clipsOf, fileName, formOptions, sourceOf } from "./jobFacts.js";
import { momentWords, ratio } from "./words.js";

const text = (value) => value == null ? "" : /^-?\d+\/\d+$/.test(value) ? exact(value) : String(value);
/** "5/2" as "2.5"; a fraction that decimals cannot hold as it is. */
function exact(value) {
  const number = ratio(value);
  const shown = momentWords(value);
  return /^[\d.]+$/.test(shown) && Number(shown) === number ? shown : String(value);
}

/** Makes what a job was made of the draft, with changes of its options. */
export function draftOf(job, change) {
  const sources = job.sources ?? [job.source];
  const draft = new Draft();
  const { edit, from, to, duration, ...options } = job.options ?? {};
  const clip = (path, values) => new Clip({ name: fileName(path), source: sourceOf(path), ...values });
  draft.clips = clipsOf(job).filter((each) => each.still == null).map((each) => clip(sources[each.source ?? 0], {
    from: text(each.from), to: text(each.to ?? end(each)), play: each.play ?? "reverse",
    speed: each.speed == null || ratio(each.speed) === 1 ? "" : text(each.speed),
    times: each.times > 1 ? String(each.times) : "", isSilent: each.sound === false,
  }));
  draft.turn = edit?.turn === "twice" ? "twice" : "";
  if (edit?.soundtrack) {
    const path = sources[edit.soundtrack.source];
    draft.soundtrack = clip(path, {});
  }
  const fields = { ...formOptions(options), crossfade: edit?.crossfade, ...change };
  for (const [name, value] of Object.entries(fields)) {
    if (value != null) draft.fields[name] = typeof value === "boolean" ? value : text(value);
  }
  setDraft(draft);
}
const end = ({ from, duration }) => duration == null ? null
  : Number.isFinite(ratio(from ?? 0)) && Number.isFinite(ratio(duration)) ? Math.round((ratio(from ?? 0) + ratio(duration)) * 1e6) / 1e6 : null;
