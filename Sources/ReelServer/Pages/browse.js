// The folders of the server, for choosing files.

import { ask, part } from "./api.js";
import { bdi, button, h, refill } from "./elements.js";
import { sentence, size } from "./words.js";

/** Lets one choose files below the server's folders. Resolves to a list of `{ name, path, bytes }`, empty if none. */
export function browse() {
  return new Promise((resolve) => {
    const chosen = new Map();
    const where = h("p.mono.small");
    const list = h("ul.files");
    const add = h("button.primary", { type: "button", disabled: true, onclick: () => box.close("add") }, "Add");
    const told = h("p.hint", { role: "status" });
    const box = h("dialog.browse", { "aria-labelledby": "browse-title" },
      h("h2", { id: "browse-title" }, "Files on the server"), where, list, told,
      h("div.bar", button("Back", () => box.close()), add));
    const ready = () => {
      add.disabled = chosen.size === 0;
      add.textContent = chosen.size > 1 ? `Add ${chosen.size} files` : "Add";
    };
    const folder = (name, path) =>
      h("li", h("button.row", { type: "button", onclick: () => show(path) }, h("span", { "aria-hidden": "true" }, "▸ "), bdi(name), "/"));
    const file = (entry) => h("li", h("label.row",
      h("input", {
        type: "checkbox", checked: chosen.has(entry.path),
        onchange: (event) => {
          if (event.target.checked) chosen.set(entry.path, entry);
          else chosen.delete(entry.path);
          ready();
        },
      }), bdi(entry.name), h("span.muted.small", size(entry.bytes))));
    async function show(path) {
      told.textContent = "";
      try {
        const found = await ask(path == null ? "sources" : `sources?folder=${part(path)}`);
        const roots = path == null && found.folders.length === 1;
        if (roots) return show(found.folders[0].path);
        refill(where, found.folder ? bdi(found.folder) : "The folders of this server");
        refill(list,
          (found.folder && (found.parent ? folder("..", found.parent) : found.folder !== only && folder("..", null))),
          found.folders.map((entry) => folder(entry.name, entry.path)), found.files.map(file));
        told.textContent = found.isCut ? "The folder has more than is shown here."
          : found.folders.length + found.files.length === 0 ? "There is neither a video nor a folder." : "";
      } catch (error) {
        told.textContent = sentence(error.message);
      }
      (list.querySelector("button, input") ?? add).focus();
    }
    let only = null;
    ask("sources").then((roots) => { only = roots.folders.length === 1 ? roots.folders[0].path : null; }).catch(() => {})
      .finally(() => show(null));
    box.addEventListener("close", () => {
      box.remove();
      resolve(box.returnValue === "add" ? [...chosen.values()] : []);
    });
    document.body.append(box);
    box.showModal();
  });
}
