// As much of a browser as the page at /docs needs, to run its script in node: elements, focus, events and requests.
"use strict";
const vm = require("node:vm");
const fs = require("node:fs");
const path = require("node:path");

class Element {
  constructor(page, tag) {
    this.page = page;
    this.tagName = tag.toUpperCase();
    this.children = [];
    this.parent = null;
    this.attributes = {};
    this.dataset = {};
    this.listeners = {};
    this.className = this.id = this.value = "";
    this.hidden = this.open = false;
    this.ownText = "";
  }
  // As browsers do: an element that is disabled or leaves the page loses the focus.
  set disabled(value) { if (value && this.page.focused === this) this.page.focused = null; }
  set href(value) { this.attributes.href = value; }
  set role(value) { this.attributes.role = value; }
  setAttribute(name, value) { this.attributes[name] = value; }
  getAttribute(name) { return this.attributes[name]; }
  removeAttribute(name) { delete this.attributes[name]; }
  append(...added) {
    for (const each of added) {
      const child = typeof each === "string" ? new Text(this.page, each) : each;
      child.parent = this;
      this.children.push(child);
    }
  }
  replaceChildren(...added) {
    for (const child of this.children) child.leave();
    this.children = [];
    this.ownText = "";
    this.append(...added);
  }
  leave() {
    if (this.page.focused === this) this.page.focused = null;
    for (const child of this.children) child.leave();
  }
  hasChildNodes() { return this.children.length > 0; }
  get textContent() { return this.ownText + this.children.map((child) => child.textContent).join(""); }
  set textContent(text) {
    this.replaceChildren();
    this.ownText = text;
    this.page.changed.push(this);
  }
  all() { return [this, ...this.children.flatMap((child) => child.all())]; }
  querySelectorAll(tag) { return this.all().filter((one) => one !== this && one.tagName === tag.toUpperCase()); }
  addEventListener(kind, listener) { (this.listeners[kind] ||= []).push(listener); }
  async fire(kind) {
    const event = {preventDefault() {}};
    await Promise.all((this.listeners[kind] || []).map((listener) => listener(event)));
  }
  scrollIntoView() {}
  focus() { this.page.focused = this; }
  // Whether a change in it is read out.
  isLive() {
    const own = this.attributes["aria-live"] || ["status", "alert", "log"].includes(this.attributes.role);
    return Boolean(own) || (this.parent !== null && this.parent.isLive());
  }
}

class Text extends Element {
  constructor(page, text) {
    super(page, "#text");
    this.ownText = text;
  }
}

/// Runs the page's script. `answer(url, options)` gives {status, type, body} for each request.
async function openPage(root, answer) {
  const folder = path.join(root, "src/server/page");
  const script = ["docs_page.js", "docs_page_answers.js"].map((name) => fs.readFileSync(path.join(folder, name), "utf8"));
  const html = fs.readFileSync(path.join(folder, "docs_page.cpp"), "utf8");
  const page = {focused: null, changed: [], copied: null};
  page.body = new Element(page, "body");
  for (const [, tag, attributes] of html.matchAll(/<(\w+) ([^>]*id="[^>]*)>/g)) {
    const element = new Element(page, tag);
    for (const [, name, value] of attributes.matchAll(/([\w-]+)="([^"]*)"/g)) element.setAttribute(name, value);
    element.id = element.attributes.id;
    page.body.append(element);
  }
  page.byId = (id) => page.body.all().find((element) => element.id === id) || null;
  const base = {content: ""};
  const context = vm.createContext({
    console, TextDecoder, performance, setTimeout() {}, addEventListener() {},
    location: {hash: "", origin: "http://127.0.0.1:11433"},
    navigator: {clipboard: {writeText: async (text) => { page.copied = text; }}},
    document: {
      querySelector: () => base,
      getElementById: page.byId,
      createElement: (tag) => new Element(page, tag),
    },
    fetch: async (url, options) => {
      const {status = 200, type = "application/json", body} = await answer(url, options || {});
      return {
        status, ok: status < 400, statusText: "", headers: {get: () => type}, json: async () => JSON.parse(body),
        arrayBuffer: async () => new TextEncoder().encode(body).buffer,
      };
    },
  });
  vm.runInContext(script.join(""), context);
  for (let turn = 0; turn < 50; ++turn) await Promise.resolve();
  return page;
}

module.exports = {openPage};
