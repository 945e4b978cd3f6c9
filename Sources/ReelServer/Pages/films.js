import { jobPath } from "./api.js";
import { h, put } from "./elements.js";
import { isOver } from "./jobFacts.js";

/** Twelve frames of the source, and of the output from its first finished segments on. */
export class Films {
  element = h("section.panel", h("h2", "Pictures"));
  constructor(page) {
    this.page = page;
    this.box = h("div.films");
    this.element.append(this.box);
    this.element.hidden = true;
    this.films = [["source", "Source, from its start"], ["output", "Output, in its order"]].map(([side, title]) => {
      const image = h("img", { alt: `Twelve frames of the ${side}` });
      const film = { side, image, note: h("span"), timer: null, isThere: false };
      film.figure = h("figure", h("figcaption", title, " ", film.note), image);
      image.hidden = true;
      image.addEventListener("load", () => {
        image.hidden = false;
        film.isThere = true;
        put(film.note, "");
      });
      image.addEventListener("error", () => this.failed(film));
      this.box.append(film.figure);
      return film;
    });
  }
  update(job) {
    this.job = job;
    if (job.state === "probing") return;
    this.element.hidden = false;
    const part = isOver(job) ? 13 : Math.floor((job.passesDone ?? 0) * 12 / Math.max(job.passes, 1));
    for (const film of this.films) {
      // Of WebP results there are no pictures.
      film.figure.hidden = film.side === "output" && job.options?.container === "webp";
      if (film.figure.hidden) continue;
      // More of the output may be there with each twelfth of the passes.
      const isOlder = film.side === "output" && film.isThere && film.part !== part;
      if (!film.wanted || isOlder) this.load(film);
      film.part = part;
    }
  }
  load(film) {
    film.wanted = true;
    // The query makes it a new address: while a browser shows an image, it does not ask for the same address again.
    const place = jobPath(this.job.id, `/filmstrip/${film.side}.jpg?${Date.now()}`);
    if (this.page.isOpen) film.image.src = `api/v1/${place}`;
  }
  /** An image does not tell why it is missing: the question is asked once more as a request. */
  async failed(film) {
    if (!this.page.isOpen) return;
    try {
      await this.page.ask(jobPath(this.job.id, `/filmstrip/${film.side}.jpg`));
    } catch (error) {
      if (!this.page.isOpen) return;
      const comes = error.status === 503 || error.status === 0 || (error.status === 404 && !isOver(this.job));
      put(film.note, comes ? "– not made yet" : "– none");
      film.isMissing = !comes;
      this.element.hidden = this.films.every((film) => film.isMissing);
      if (comes) film.timer = setTimeout(() => this.load(film), Math.max(error.retryAfter ?? 10, 2) * 1000);
    }
  }
  /** A picture that is still waited for would keep one of the browser's few connections to the server. */
  close() {
    for (const film of this.films) {
      clearTimeout(film.timer);
      film.image.removeAttribute("src");
    }
  }
}
