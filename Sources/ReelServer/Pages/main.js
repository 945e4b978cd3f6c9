// The start of the pages: which page a path has, and what the whole window hears of. No framework, and no bundler.

import { apiURL, ask, askToSignIn, base, currentPath } from "./api.js";
import { AuditPage } from "./audit.js";
import { live } from "./connection.js";
import { DocsPage } from "./docs.js";
import { Draft, setDraft } from "./draft.js";
import { byID, h } from "./elements.js";
import { JobPage } from "./job.js";
import { JobsPage } from "./jobs.js";
import { current, forgetJobs, go, setPages, show, standIn } from "./navigation.js";
import { Page } from "./page.js";
import { say } from "./parts.js";
import { QueuePage } from "./queue.js";
import { forgetSession, loadSession, session } from "./session.js";
import { SignInPage } from "./signIn.js";
import { forgetInks } from "./strip.js";
import { SubmitPage } from "./submit.js";
import { refreshAges } from "./time.js";
import { pauseUploads } from "./upload.js";
import { sentence } from "./words.js";
import { WorkersPage } from "./workers.js";

class MissingPage extends Page {
  title = "Not found";
  element = h("div.panel.empty", h("h1", "There is no such page"), h("p", h("a", { href: "." }, "Go to the jobs")));
  refresh() {}
}

/** Stands in while the server cannot say who this is. */
class StartPage extends Page {
  title = "reel";
  element = h("div", h("h1.unseen", "reel"));
  async read() {
    await loadSession();
    setTimeout(() => show(false));
  }
  fail(error) {
    if (error.status === 401) return askToSignIn();
    super.fail(error);
  }
}

setPages((path) => {
  const [first, second] = path.split("/");
  if (path === "" || path === "jobs") return new JobsPage();
  if (first === "jobs" && second) return new JobPage(decodeURIComponent(second));
  const pages = {
    submit: SubmitPage, workers: WorkersPage, queue: QueuePage, "sign-in": SignInPage, audit: AuditPage, docs: DocsPage,
  };
  return Object.hasOwn(pages, path) ? new pages[path]() : new MissingPage();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || event.defaultPrevented) return;
  if (link.id === "skip") {
    event.preventDefault();
    byID("main").focus();
    return;
  }
  const url = new URL(link.href);
  const isPage = url.href.startsWith(base.href) && !url.href.startsWith(apiURL("").href);
  if (!isPage || link.target || link.hasAttribute("download")) return;
  event.preventDefault();
  go(url.href);
});
byID("sign-out").addEventListener("click", async () => {
  try {
    await ask("session", { method: "DELETE" });
  } catch (error) {
    if (error.status !== 401) return say(sentence(error.message));
  }
  forgetSession();
  forgetJobs();
  live.close();
  pauseUploads();
  setDraft(new Draft());
  go("sign-in");
});
addEventListener("popstate", () => show(true));
// Browsers open few connections to a server at a time: a page that nobody sees leaves its own to others.
addEventListener("pagehide", () => live.close());
addEventListener("pageshow", (event) => { if (event.persisted) comeBack(); });
// A file that misses the drop area must not replace the page.
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  forgetInks();
  current?.redraw?.();
  current?.strip?.draw();
});
let hiding = null;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding);
  if (document.hidden) hiding = setTimeout(() => live.close(), 30000);
  else comeBack();
});
function comeBack() {
  refreshAges();
  if (live.source || !session || currentPath() === "sign-in") return current?.pulse();
  live.follow(current);
  current.refresh();
}

let beats = 0;
setInterval(() => {
  if (document.hidden) return;
  current?.pulse();
  if (++beats % 5 === 0) refreshAges();
}, 1000);

// These two need no token.
if (["sign-in", "docs"].includes(currentPath())) loadSession().catch(() => {}).finally(() => show(false));
else standIn(new StartPage());
