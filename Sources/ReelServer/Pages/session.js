// Who is signed in, and what they may do.

import { Problem, ask } from "./api.js";
import { bdi, byID } from "./elements.js";

export let session = null;
const roles = ["viewer", "operator", "admin"];
export const may = (role) => session != null && roles.indexOf(session.role) >= roles.indexOf(role);
/** Whether the role allows a write, and the server takes writes at all. */
export const mayWrite = (role) => may(role) && !session.readOnly;

export async function loadSession() {
  const answer = await ask("session");
  session = answer.role ? answer : null;
  showSession();
  if (!session) throw new Problem(401, { detail: "Sign in first." });
}
export function forgetSession() {
  session = null;
  showSession();
}

function showSession() {
  byID("pages").hidden = session == null;
  byID("link").hidden = session == null;
  for (const link of document.querySelectorAll("[data-write]")) link.hidden = !mayWrite("operator");
  for (const link of document.querySelectorAll("[data-admin]")) link.hidden = !may("admin");
  const words = session == null ? ""
    : [session.name, session.signIn ? session.role : null, session.readOnly ? "read only" : null]
    .filter(Boolean).join(" · ");
  byID("session").replaceChildren(bdi(words));
  byID("session").title = session ? `reel-server ${session.version}` : "";
  byID("sign-out").hidden = !(session?.signIn && session.name);
}
