// Signing in.

import { ask } from "./api.js";
import { h, put } from "./elements.js";
import { backFromSignIn } from "./navigation.js";
import { Page } from "./page.js";
import { loadSession } from "./session.js";
import { clock, sentence } from "./words.js";

export class SignInPage extends Page {
  title = "Sign in";
  constructor() {
    super();
    this.token = h("input", {
      type: "password", id: "token", name: "token", required: true, autocomplete: "current-password",
      spellcheck: "false",
    });
    this.wrong = h("p.wrong", { role: "alert" });
    this.send = h("button.primary", "Sign in");
    this.element = h("form.panel.narrow", { onsubmit: (event) => { event.preventDefault(); this.signIn(); } },
      h("h1", "Sign in to reel"), h("div.gap"),
      h("div.field", h("span", h("label", { for: "token" }, "Token")), this.token,
        h("p.hint", "An administrator makes one: reel-server token NAME --role viewer --tokens FILE")),
      this.wrong, h("div.gap"), this.send);
  }
  open() {
    super.open();
    setTimeout(() => this.token.focus());
  }
  refresh() {}
  async signIn() {
    if (!this.token.value.trim()) return put(this.wrong, "Enter a token.");
    this.send.disabled = true;
    put(this.wrong, "");
    try {
      await ask("session", { method: "POST", body: { token: this.token.value.trim() } });
      await loadSession();
      backFromSignIn();
    } catch (error) {
      this.token.select();
      if (error.status === 429) return this.wait(error.retryAfter ?? 60);
      put(this.wrong, error.status === 401 ? "This token is not valid." : sentence(error.message));
    }
    this.send.disabled = false;
  }
  /** Too many wrong tokens: the button rests for as long as the server says. */
  wait(seconds) {
    if (!this.isOpen) return;
    put(this.wrong, `Too many wrong tokens. Try again in ${clock(seconds)}.`);
    this.send.disabled = seconds > 0;
    if (seconds > 0) setTimeout(() => this.wait(seconds - 1), 1000);
    else put(this.wrong, "");
  }
}
