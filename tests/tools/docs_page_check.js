// What the page at /docs does, in node: run by docs_page_test.py.
"use strict";
const assert = require("node:assert/strict");
const path = require("node:path");
const {openPage} = require("./docs_page_dom.js");

const kRoot = path.resolve(__dirname, "../..");
const kVector = Array.from({length: 384}, (_, i) => i / 1000);
const kEmbeddings = JSON.stringify({model: "m", embeddings: [kVector, kVector]});

const kDocument = JSON.stringify({
  info: {version: "1", description: "d"},
  components: {},
  tags: [{name: "Native", description: "n"}, {name: "Operations", description: "o"}],
  paths: {
    "/api/embed": {post: {
      operationId: "embed", summary: "Turns texts into vectors", tags: ["Native"],
      requestBody: {content: {"application/json": {schema: {type: "object", properties: {}, example: {input: "a"}}}}},
      responses: {200: {description: "The vectors"}}}},
    "/health": {get: {operationId: "health", summary: "Alive", tags: ["Operations"],
                      responses: {200: {description: "It is"}}}},
  },
});

async function openedRoute(answer) {
  const page = await openPage(kRoot, (url, options) => {
    return url.endsWith("/openapi.json") ? {body: kDocument} : answer(url, options);
  });
  const block = page.byId("route-embed");
  block.open = true;
  await block.fire("toggle");
  const form = block.querySelectorAll("form")[0];
  const send = form.querySelectorAll("button")[0];
  return {page, block, form, send};
}

const buttons = (element) => element.querySelectorAll("button");
const named = (element, name) => buttons(element).find((button) => button.textContent === name);
const answerText = (block) => block.querySelectorAll("pre").at(-1).textContent;

const checks = {
  async "the focus stays on Send"() {
    let arrived;
    const {page, form, send} = await openedRoute(() => new Promise((resolve) => { arrived = resolve; }));
    send.focus();
    const done = form.fire("submit");
    assert.equal(page.focused, send, "while the request is under way");
    assert.equal(send.getAttribute("aria-disabled"), "true");
    arrived({body: kEmbeddings});
    await done;
    assert.equal(page.focused, send, "when the answer is there");
    assert.equal(send.getAttribute("aria-disabled"), undefined);
  },

  async "a second Send waits for the first"() {
    let sent = 0, arrived;
    const {form} = await openedRoute(() => {
      ++sent;
      return new Promise((resolve) => { arrived = resolve; });
    });
    const done = form.fire("submit");
    await form.fire("submit");
    assert.equal(sent, 1);
    arrived({body: "{}"});
    await done;
    form.fire("submit");
    await Promise.resolve();
    assert.equal(sent, 2);
  },

  async "only the status is read out"() {
    const {block, form} = await openedRoute(() => ({body: kEmbeddings}));
    await form.fire("submit");
    const live = block.all().filter((element) => element.isLive());
    assert.equal(live.length, 1);
    assert.match(live[0].textContent, /^200 , \d+ ms$/);
    assert.ok(!block.querySelectorAll("pre").at(-1).isLive());
  },

  async "errors are shown, and marked"() {
    const {block, form} = await openedRoute(() => ({status: 422, body: '{"error":"no"}'}));
    await form.fire("submit");
    const status = block.all().find((element) => element.isLive());
    assert.equal(status.className, "status bad");
    assert.match(answerText(block), /"error": "no"/);
  },

  async "long vectors are shortened, and can be shown and copied whole"() {
    const {page, block, form} = await openedRoute(() => ({body: kEmbeddings}));
    await form.fire("submit");
    assert.match(answerText(block), /\[0, 0\.001, .*, …\s378\smore\]/);
    assert.ok(answerText(block).length < 400, answerText(block));
    await named(block, "Show all").fire("click");
    assert.match(answerText(block), /0\.383\]/);
    assert.doesNotMatch(answerText(block), /more/);
    await named(block, "Copy all").fire("click");
    assert.equal(page.copied, kEmbeddings);
    await named(block, "Show less").fire("click");
    assert.match(answerText(block), /378\smore/);
  },

  async "bytes are counted, not shown"() {
    const {block, form} = await openedRoute(() => ({type: "application/octet-stream", body: "12345"}));
    await form.fire("submit");
    assert.equal(answerText(block), "5 bytes of application/octet-stream");
    assert.equal(named(block, "Copy all"), undefined);
  },

  async "short answers have nothing to show further"() {
    const {block, form} = await openedRoute(() => ({body: '{"embeddings":[[1,2,3,4,5,6,7]]}'}));
    await form.fire("submit");
    assert.match(answerText(block), /\[1, 2, 3, 4, 5, 6, 7\]/);
    assert.equal(named(block, "Show all"), undefined);
  },

  async "long lists of other things are shortened too"() {
    const many = JSON.stringify(Array.from({length: 50}, (_, i) => ({id: i})));
    const {block, form} = await openedRoute(() => ({body: many}));
    await form.fire("submit");
    assert.match(answerText(block), /"id": 19\n  },\n  …\s30\smore\n\]/);
  },

  async "a filter that fits nothing says so"() {
    const {page} = await openedRoute(() => ({body: "{}"}));
    const filter = page.byId("filter"), nothing = page.byId("nothing");
    filter.value = "vectors";
    await filter.fire("input");
    assert.equal(nothing.textContent, "");
    assert.ok(page.byId("family-Operations").hidden && !page.byId("family-Native").hidden);
    filter.value = " rerank";
    await filter.fire("input");
    assert.equal(nothing.textContent, "No route has “rerank” in its path or summary.");
    assert.ok(nothing.isLive());
    assert.ok(page.byId("families").children.every((link) => link.hidden));
    filter.value = "";
    await filter.fire("input");
    assert.equal(nothing.textContent, "");
    assert.ok(page.byId("families").children.every((link) => !link.hidden));
  },
};

async function main() {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log("passed: " + name);
    } catch (error) {
      console.log("failed: " + name + "\n" + error.stack);
    }
  }
}
main();
