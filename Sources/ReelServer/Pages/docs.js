// The description of the API, made from its OpenAPI document.

import { apiURL, base } from "./api.js";
import { h, pageHead, panel, put } from "./elements.js";
import { Page } from "./page.js";

/** Texts of the document, with what they have between graves as code. */
const prose = (text) => (text ?? "").split(/\x60/).map((part, index) => index % 2 === 1 ? h("code", part) : part);
const nameOf = (reference) => reference.split("/").at(-1);
const json = (value) => JSON.stringify(value, null, 1);

/** The kind of a value in few words: "list of Clip", "integer from 1 to 500". */
function kind(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.length > 24 ? "text" : schema.enum.map((value) => JSON.stringify(value)).join(", ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.map(kind).join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items ?? {})}`;
  const values = schema.additionalProperties;
  if (schema.type === "object" && values?.type) return `object of ${kind(values)}`;
  const words = [schema.type ?? "anything"].flat().filter((type) => type !== "null").join(" or ");
  const { minimum, maximum } = schema;
  return words + (minimum != null ? ` from ${minimum}` : "") + (maximum != null ? ` to ${maximum}` : "");
}

export class DocsPage extends Page {
  title = "API";
  constructor() {
    super();
    this.filter = h("input", {
      type: "search", placeholder: "jobs, uploads, PATCH …", "aria-label": "Find an operation", oninput: () => this.find(),
    });
    this.note = h("p.muted", { role: "status" });
    this.tags = h("div");
    this.body = h("div", this.filter, this.note, this.tags);
    this.body.hidden = true;
    this.element = h("div.docs", pageHead("API"), this.body);
  }
  async read() {
    this.document = await this.ask("openapi.json");
    const { info, tags, paths } = this.document;
    this.operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods)
      .map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })));
    for (const operation of this.operations) operation.element = this.view(operation);
    this.tags.replaceChildren(
      panel("Beginning", h("p", prose(info.description)), h("p", "Programs send ", h("code", "Authorization: Bearer TOKEN"),
        ". Generators of clients take the ", h("a", { href: apiURL("openapi.json").href, download: "" }, "OpenAPI document"), ".")),
      ...tags.map((tag) => panel(tag.name, h("p.muted", prose(tag.description)),
        this.operations.filter((operation) => operation.tags.includes(tag.name)).map((operation) => operation.element))));
    const wanted = document.getElementById(location.hash.slice(1));
    if (!wanted) return;
    wanted.open = true;
    requestAnimationFrame(() => wanted.scrollIntoView());
  }
  /** Shows the operations that have all words. */
  find() {
    const words = this.filter.value.toLowerCase().split(/\s+/);
    let found = 0;
    for (const { element, method, path, operationId, summary, tags } of this.operations) {
      const text = [method, path, operationId, summary, ...tags].join(" ").toLowerCase();
      element.hidden = !words.every((word) => text.includes(word));
      if (!element.hidden) found += 1;
    }
    for (const group of this.tags.children) {
      const own = [...group.querySelectorAll(":scope > details")];
      group.hidden = this.filter.value !== "" && !own.some((element) => !element.hidden);
    }
    put(this.note, found === 0 ? "No operation has these words." : "");
  }
  view(operation) {
    const { method, path, operationId, summary } = operation;
    return this.opening(h("summary", h("code", h("strong", method), ` ${path}`), " ", h("span.muted", summary)),
      () => this.details(operation), { id: operationId });
  }
  /** Something that is made when it is opened. */
  opening(summary, make, attributes) {
    const box = h("div.inner");
    const element = h("details", {
      ...attributes, ontoggle: () => { if (element.open && !box.hasChildNodes()) box.append(...[make()].flat(Infinity).filter(Boolean)); },
    }, summary, box);
    return element;
  }
  details(operation) {
    const role = operation["x-role"];
    const parameters = (operation.parameters ?? []).map((one) => this.found(one));
    const bodies = Object.entries(operation.requestBody?.content ?? {});
    return [h("p", prose(operation.description)),
      h("p.muted", role === "anyone" ? "For any caller." : `For the role ${role} and above.`),
      parameters.length > 0 && [h("h3", "Parameters"), this.table(parameters.map((one) =>
        [one.name, `${kind(one.schema)}, ${one.in}${one.required ? ", required" : ""}`, one.description ?? one.schema.description]))],
      bodies.map(([type, { schema }]) => [h("h3", "Body"), h("p", h("code", type)), this.schema(schema)]),
      h("h3", "Answers"), Object.entries(operation.responses).map(([status, answer]) => this.answer(status, this.found(answer))),
      h("h3", "Example"), h("pre", { tabindex: 0, "aria-label": "Example" }, this.example(operation, parameters, bodies[0]))];
  }
  answer(status, { description, content }) {
    const [type, { schema } = {}] = Object.entries(content ?? {})[0] ?? [];
    const isProblem = status === "default";
    return [h("p", h("strong", isProblem ? "Problem" : status), " ", prose(description), type && [" ", h("code", type)]),
      isProblem ? this.problems(schema) : schema?.$ref || schema?.properties ? this.schema(schema) : null];
  }
  /** The codes of an operation's problems. */
  problems(schema) {
    const codes = schema.properties?.code?.anyOf?.find((choice) => choice.enum)?.enum ?? [];
    return codes.length > 0 && h("p.codes", codes.flatMap((code) => [h("code", code), " "]));
  }
  found(value) {
    return value.$ref ? value.$ref.slice(2).split("/").reduce((place, key) => place[key], this.document) : value;
  }
  table(rows) {
    return h("dl.fields-of", rows.map(([name, type, text]) => [h("dt", h("code", name), " ", h("span.muted.small", type)),
      h("dd", prose(text))]));
  }
  /** What a value has; parts with a name of their own are opened one by one. */
  schema(schema) {
    if (schema.$ref) {
      return this.opening(h("summary", nameOf(schema.$ref)), () => [h("p", prose(this.found(schema).description)), this.schema(this.found(schema))]);
    }
    const { properties, required = [], items } = schema;
    if (!properties) return items ? this.schema(items) : h("p.muted", kind(schema));
    const parts = new Map();
    const rows = Object.entries(properties).map(([name, value]) => {
      const inner = value.$ref ? value : value.items?.$ref ? value.items : null;
      if (inner) parts.set(inner.$ref, inner);
      if (!inner && (value.properties ?? value.items?.properties)) parts.set(name, value);
      return [name, kind(value) + (required.includes(name) ? ", required" : ""), value.description];
    });
    return [this.table(rows), [...parts].map(([name, part]) => part.$ref ? this.schema(part)
      : this.opening(h("summary", name), () => this.schema(part)))];
  }
  /** A command line with what the document gives as examples. */
  example({ method, path }, parameters, body) {
    const place = path.replace(/\{(\w+)\}/g, (_, name) => name.toUpperCase());
    const query = parameters.filter((one) => one.in === "query" && one.required).map((one) => `${one.name}=${one.name.toUpperCase()}`);
    const lines = [`curl -X ${method} '${base.href.replace(/\/$/, "")}${place}${query.length > 0 ? `?${query.join("&")}` : ""}'`,
      "-H 'Authorization: Bearer TOKEN'"];
    for (const one of parameters) if (one.in === "header" && one.required) lines.push(`-H '${one.name}: ${one.schema.const ?? "…"}'`);
    const schema = body && this.found(body[1].schema);
    const given = body?.[1].example ?? schema?.examples?.[0];
    if (body) lines.push(`-H 'Content-Type: ${body[0]}'`);
    if (given) lines.push(`-d '${json(given)}'`);
    else if (body && !body[0].includes("json")) lines.push("--data-binary @FILE");
    return lines.join(" \\\n  ");
  }
}
