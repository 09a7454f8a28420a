// The script of the page at /docs: reads /openapi.json and builds the page from it. Data from the document or from
// answers is only ever inserted as text.
"use strict";
const base = document.querySelector("meta[name=base-path]").content;
const key = document.getElementById("key");
const filter = document.getElementById("filter");
const place = document.getElementById("routes");
const families = document.getElementById("families");
const nothing = document.getElementById("nothing");
let api = null;
let model = "";

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

function headers() {
  return key.value ? {Authorization: "Bearer " + key.value} : {};
}

// Schemas.

function alternatives(schema) {
  return (schema.anyOf || []).filter((one) => one.type !== "null");
}

function typesOf(schema) {
  const types = schema.type === undefined ? [] : [].concat(schema.type);
  return types.filter((type) => type !== "null");
}

function typeText(schema) {
  if (schema.enum) return schema.enum.filter((one) => one !== null).map((one) => JSON.stringify(one)).join(" | ");
  const own = typesOf(schema).map((type) => {
    if (type !== "array") return type;
    const inner = schema.items ? typeText(schema.items) : "any";
    return (inner.includes(" | ") ? "(" + inner + ")" : inner) + "[]";
  });
  if (own.length > 0) return own.join(" | ");
  const all = alternatives(schema).map(typeText);
  return [...new Set(all)].join(" | ") || "any";
}

// The members of an object, also those that only some of its alternatives have.
function membersOf(schema) {
  const members = [];
  const add = (properties, required, need) => {
    for (const [name, inner] of Object.entries(properties || {})) {
      if (members.some((member) => member.name === name)) continue;
      members.push({name, schema: inner, need: (required || []).includes(name) ? need : ""});
    }
  };
  add(schema.properties, schema.required, "required");
  for (const one of alternatives(schema)) add(one.properties, one.required, "one of these");
  return members;
}

function bounds(schema) {
  const parts = [];
  if (schema.minimum !== undefined) parts.push("at least " + schema.minimum);
  if (schema.maximum !== undefined && schema.maximum < 2147483647) parts.push("at most " + schema.maximum);
  if (schema.minItems) parts.push("at least " + schema.minItems + (schema.minItems === 1 ? " entry" : " entries"));
  if (schema.maxItems !== undefined) parts.push("at most " + schema.maxItems + " entries");
  if (schema.default !== undefined) parts.push("default " + JSON.stringify(schema.default));
  return parts.join(", ");
}

function fieldRows(schema, prefix, depth) {
  const rows = [];
  for (const member of membersOf(schema)) {
    const name = prefix + member.name;
    const limits = bounds(member.schema);
    const notes = [member.schema.description, limits && "(" + limits + ")"].filter(Boolean).join(" ");
    rows.push(make("tr", "", make("td", "", name), make("td", "", typeText(member.schema)),
                   make("td", "soft", member.need), make("td", "", notes)));
    if (depth === 0) continue;
    for (const one of [member.schema, ...alternatives(member.schema)]) {
      const entries = one.items || {};
      if (typesOf(one).includes("object")) rows.push(...fieldRows(one, name + ".", depth - 1));
      if (typesOf(entries).includes("object")) rows.push(...fieldRows(entries, name + "[].", depth - 1));
    }
  }
  return rows;
}

function fieldTable(schema) {
  const head = make("tr", "", make("th", "", "field"), make("th", "", "type"), make("th", "", ""), make("th", "", ""));
  const rows = make("tbody", "", ...fieldRows(schema, "", 2));
  return make("div", "scroll", make("table", "fields", make("thead", "", head), rows));
}

function exampleOf(schema, name) {
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (name === "model") return model || "MODEL";
  const type = typesOf(schema)[0];
  if (type === undefined && schema.anyOf) return exampleOf(alternatives(schema)[0], name);
  if (type === "object" || schema.properties) {
    const result = {};
    for (const member of membersOf(schema)) {
      if (member.need === "required") result[member.name] = exampleOf(member.schema, member.name);
    }
    const choice = membersOf(schema).filter((member) => member.need === "one of these").pop();
    if (choice) result[choice.name] = exampleOf(choice.schema, choice.name);
    return result;
  }
  if (type === "array") return schema.items ? [exampleOf(schema.items, name)] : [];
  if (type === "integer" || type === "number") return schema.minimum > 0 ? schema.minimum : 1;
  if (type === "boolean") return true;
  return "a text";
}

function bodyExample(schema) {
  const example = exampleOf(schema, "");
  if (model && example && typeof example === "object" && "model" in example) return {...example, model};
  return example;
}

// Requests.

function shellQuoted(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

function addressOf(path, values) {
  return base + path.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name] || "";
    return value ? encodeURIComponent(value).replaceAll("%2F", "/") : whole;
  });
}

function curlOf(method, path, schema) {
  const parts = ["curl"];
  if (method !== "get" && (method !== "post" || !schema)) parts.push("-X " + method.toUpperCase());
  parts.push(shellQuoted(location.origin + addressOf(path, {model})));
  if (api.components.securitySchemes) parts.push('-H "Authorization: Bearer $ALATE_KEY"');
  if (schema) {
    parts.push("-H 'Content-Type: application/json'", "-d " + shellQuoted(JSON.stringify(bodyExample(schema))));
  }
  return parts.join(" \\\n  ").replace("curl \\\n  ", "curl ");
}

// The words for the status, whether it is an error, and the answer to show.
async function send(method, path, values, text) {
  const options = {method: method.toUpperCase(), headers: headers()};
  if (text !== null) {
    options.body = text;
    options.headers["Content-Type"] = "application/json";
  }
  const begin = performance.now();
  const answer = await fetch(addressOf(path, values), options);
  const bytes = await answer.arrayBuffer();
  const time = Math.round(performance.now() - begin);
  const words = answer.status + " " + answer.statusText + ", " + time + " ms";
  return {words, bad: !answer.ok, block: answerBlock(bytes, answer.headers.get("Content-Type") || "")};
}

function tryForm(method, path, operation, schema) {
  const form = make("form", "");
  const inputs = {};
  for (const parameter of operation.parameters || []) {
    const input = make("input", "");
    input.value = parameter.name === "model" ? model : "";
    input.required = true;
    inputs[parameter.name] = input;
    form.append(make("label", "", parameter.name, input));
  }
  let text = null;
  if (schema) {
    text = make("textarea", "");
    text.spellcheck = false;
    text.value = JSON.stringify(bodyExample(schema), null, 2);
    text.rows = Math.min(text.value.split("\n").length + 1, 16);
    form.append(make("label", "", "body", text));
  }
  const button = make("button", "send", "Send");
  // Only this line is read out when it changes: an answer may have thousands of numbers.
  const status = make("p", "status");
  status.setAttribute("role", "status");
  const output = make("div", "");
  form.append(button);
  let busy = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (busy) return;
    // Not `disabled`, which would take the focus away from the button.
    busy = true;
    button.setAttribute("aria-disabled", "true");
    status.className = "status";
    status.textContent = "Sending";
    const values = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.value]));
    try {
      const answer = await send(method, path, values, text ? text.value : null);
      status.textContent = answer.words;
      if (answer.bad) status.className = "status bad";
      output.replaceChildren(answer.block);
    } catch (error) {
      status.textContent = "No answer: " + error.message;
      status.className = "status bad";
      output.replaceChildren();
    }
    button.removeAttribute("aria-disabled");
    busy = false;
  });
  return make("div", "", form, status, output);
}

// The page.

function codeBlock(text) {
  return make("div", "code", make("pre", "", text), copyButton("Copy", text));
}

function answerTable(responses) {
  const rows = Object.entries(responses).map(([status, response]) => {
    const types = Object.keys(response.content || {}).map((type) => type.split(";")[0]).join(", ");
    return make("tr", "", make("td", status >= "400" ? "bad" : "", status), make("td", "", response.description),
                make("td", "soft", types));
  });
  return make("div", "scroll", make("table", "answers", make("tbody", "", ...rows)));
}

function fill(inside, method, path, operation) {
  const schema = operation.requestBody && operation.requestBody.content["application/json"].schema;
  if (schema) inside.append(make("h3", "", "Body"), fieldTable(schema));
  inside.append(make("h3", "", "From a shell"), codeBlock(curlOf(method, path, schema)),
                make("h3", "", "Answers"), answerTable(operation.responses),
                make("h3", "", "Try it"), tryForm(method, path, operation, schema));
}

function routeBlock(method, path, operation) {
  const summary = make("summary", "", make("span", "method " + method, method.toUpperCase()),
                       make("span", "path", base + path), make("span", "soft", operation.summary));
  const inside = make("div", "inside");
  const block = make("details", "", summary, inside);
  block.id = "route-" + operation.operationId;
  block.dataset.words = [method, path, operation.summary, operation.operationId].join(" ").toLowerCase();
  // Built when it is first looked at.
  block.addEventListener("toggle", () => {
    if (block.open && !inside.hasChildNodes()) fill(inside, method, path, operation);
  });
  return block;
}

function show() {
  document.getElementById("version").textContent = api.info.version;
  document.getElementById("about").textContent = api.info.description;
  document.getElementById("key-label").hidden = !api.components.securitySchemes;
  place.replaceChildren();
  families.replaceChildren();
  for (const tag of api.tags) {
    const section = make("section", "", make("h2", "", tag.name), make("p", "soft", tag.description));
    section.id = "family-" + tag.name;
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.tags.includes(tag.name)) section.append(routeBlock(method, path, operation));
      }
    }
    place.append(section);
    const link = make("a", "", tag.name);
    link.href = "#" + section.id;
    families.append(link);
  }
  narrow();
  openNamed();
}

function narrow() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let total = 0;
  for (const section of place.querySelectorAll("section")) {
    let count = 0;
    for (const block of section.querySelectorAll("details")) {
      block.hidden = !words.every((word) => block.dataset.words.includes(word));
      if (!block.hidden) ++count;
    }
    section.hidden = count === 0;
    total += count;
  }
  for (const link of families.children) {
    link.hidden = document.getElementById(link.getAttribute("href").slice(1)).hidden;
  }
  const isEmpty = total === 0 && words.length > 0;
  nothing.textContent = isEmpty ? "No route has \u201c" + filter.value.trim() + "\u201d in its path or summary." : "";
}

function openNamed() {
  const named = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!named) return;
  if (named.tagName === "DETAILS") named.open = true;
  named.scrollIntoView();
}

async function findModel() {
  if (!api.paths["/api/models"]) return;
  try {
    const answer = await fetch(base + "/api/models", {headers: headers()});
    const list = answer.ok ? await answer.json() : {models: []};
    const ready = list.models.find((one) => one.loaded) || list.models[0];
    model = ready ? ready.name : "";
  } catch (error) { model = ""; }
}

async function load() {
  try {
    const answer = await fetch(base + "/openapi.json", {headers: headers()});
    if (answer.status === 401) {
      document.getElementById("key-label").hidden = false;
      place.replaceChildren(make("p", "", "This server wants a key: type it above."));
      return;
    }
    if (!answer.ok) throw new Error(answer.status + " " + answer.statusText);
    api = await answer.json();
    await findModel();
    show();
  } catch (error) {
    place.replaceChildren(make("p", "bad", "The list of routes did not come: " + error.message));
  }
}

key.addEventListener("change", load);
filter.addEventListener("input", narrow);
addEventListener("hashchange", openNamed);
load();
