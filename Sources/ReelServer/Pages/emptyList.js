// What a list of no jobs says.

import { h } from "./elements.js";
import { mayWrite, session } from "./session.js";

export function firstVideo() {
  return h("section.panel.empty", h("h2", "There are no jobs"),
    h("ol",
      h("li", "Submit the first video ",
        mayWrite("operator") && ["on this page, ", h("a", { href: "submit" }, "Submit"), ", or "],
        "on the command line:", h("pre", "reel-coordinator submit clip.mp4")),
      h("li", "Workers do the work. If none runs, start one on each machine:", h("pre", "reel-worker"))),
    !mayWrite("operator") && h("p.muted",
      session?.readOnly ? "This server is read only." : "Submitting on this page needs the role operator."));
}
export function noMatch() {
  return h("div.panel.empty", h("h2", "No job matches"),
    h("p", "No job has this state, label, name and id. ", h("a", { href: "." }, "Show all jobs")));
}
