// Fields of a form, each with a label, a hint, and a place for what is wrong.

import { h, mark, put } from "./elements.js";
import { sentence } from "./words.js";

export class Fields {
  controls = {};

  field(name, label, control, hint, kind = "") {
    const id = `field-${name}`;
    const wrong = h("p.wrong", { id: `${id}-wrong` });
    wrong.hidden = true;
    control.id = id;
    control.name = name;
    const hints = hint ? h("p.hint", { id: `${id}-hint` }, hint) : null;
    control.setAttribute("aria-describedby", `${id}-wrong${hint ? ` ${id}-hint` : ""}`);
    const element = h("div", { class: `field ${kind}` }, h("span", h("label", { for: id }, label)), control, wrong, hints);
    this.controls[name] = { control, wrong, element };
    return element;
  }
  text(name, label, hint, placeholder, more) {
    const control = h("input", { type: "text", placeholder, spellcheck: "false", autocomplete: "off", ...more });
    return this.field(name, label, control, hint);
  }
  choice(name, label, values, hint) {
    const control = h("select", values.map(([value, word]) => h("option", { value }, word ?? value)));
    return this.field(name, label, control, hint);
  }
  check(name, label, hint) { return this.field(name, label, h("input", { type: "checkbox" }), hint); }
  radios(name, title, values) {
    const wrong = h("p.wrong");
    wrong.hidden = true;
    const set = h("fieldset", h("legend", title), h("div.choices", values.map(([value, word], index) =>
      h("label", h("input", { type: "radio", name, value, checked: index === 0 }), word))), wrong);
    this.controls[name] = {
      control: set, wrong, element: set, read: () => set.querySelector(":checked").value,
      write: (value) => { (set.querySelector(`[value="${value}"]`) ?? set.querySelector("input")).checked = true; },
    };
    return set;
  }
  value(name) {
    const { control, read } = this.controls[name];
    return read ? read() : control.type === "checkbox" ? control.checked : control.value.trim();
  }
  set(name, value) {
    const { control, write } = this.controls[name];
    if (write) write(value);
    else if (control.type === "checkbox") control.checked = value === true;
    else if (control.value !== value) control.value = value ?? "";
  }
  show(name, isThere) { this.controls[name].element.hidden = !isThere; }
  /** Says what is wrong with a field, and goes there if it is to; false if there is no such field, or it is not shown. */
  complain(name, message, goes) {
    const entry = Object.hasOwn(this.controls, name ?? "") ? this.controls[name] : null;
    if (!entry || entry.element.hidden || !entry.element.isConnected) return false;
    put(entry.wrong, sentence(message));
    entry.wrong.hidden = false;
    mark(entry.control, "aria-invalid", "true");
    entry.control.closest("details")?.setAttribute("open", "");
    if (goes) (entry.control.matches("fieldset") ? entry.control.querySelector("input") : entry.control).focus();
    return true;
  }
  clear() {
    for (const { control, wrong } of Object.values(this.controls)) {
      wrong.hidden = true;
      put(wrong, "");
      mark(control, "aria-invalid", null);
    }
  }
}
