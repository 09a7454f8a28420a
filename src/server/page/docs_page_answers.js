
// Answers on the page at /docs: long lists are shortened, all of it can be shown and copied. This text stands behind
// docs_page.js in the same script.

// An answer as text: all of it as it came (null for bytes that are no text), laid out, and laid out with long lists shortened.
function textsOf(bytes, type) {
  if (!/json|text|xml/.test(type)) {
    const note = bytes.byteLength + " bytes of " + (type || "an unnamed type");
    return {whole: null, full: note, short: note};
  }
  const whole = new TextDecoder().decode(bytes);
  let full = whole, short = whole;
  if (/json/.test(type) && whole.length < 5000000) {
    try {
      const value = JSON.parse(whole);
      full = compact(value, "", {numbers: Infinity, entries: Infinity});
      short = compact(value, "", {numbers: 6, entries: 20});
    } catch (error) { /* Shown as it came. */ }
  }
  return {whole, full: cut(full, 1000000), short: cut(short, 20000)};
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) + "\n… and " + (text.length - most) + " characters more" : text;
}

// JSON over several lines, but lists of numbers on one; of longer lists the first `most.numbers` or `most.entries`.
function compact(value, indent, most) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = indent + "  ";
  if (Array.isArray(value)) {
    const areNumbers = value.every((one) => typeof one === "number");
    const count = areNumbers ? most.numbers : most.entries;
    const isLong = value.length > count + 1;
    const shown = isLong ? value.slice(0, count) : value;
    const rest = "…\u00a0" + (value.length - shown.length) + "\u00a0more";
    if (areNumbers) {
      return "[" + shown.join(", ") + (isLong ? ", " + rest : "") + "]";
    }
    const lines = shown.map((one) => inner + compact(one, inner, most));
    if (isLong) lines.push(inner + rest);
    return "[\n" + lines.join(",\n") + "\n" + indent + "]";
  }
  const members = Object.entries(value).map(([name, one]) => {
    return inner + JSON.stringify(name) + ": " + compact(one, inner, most);
  });
  return members.length ? "{\n" + members.join(",\n") + "\n" + indent + "}" : "{}";
}

// The answer below the form. What cannot be seen can be copied: the button takes all of the text as it came.
function answerBlock(bytes, type) {
  const texts = textsOf(bytes, type);
  const shown = make("pre", "", texts.short);
  const bar = make("div", "tools");
  if (texts.full !== texts.short) {
    const toggle = make("button", "", "Show all");
    toggle.type = "button";
    toggle.addEventListener("click", () => {
      const isShort = shown.textContent === texts.short;
      shown.textContent = isShort ? texts.full : texts.short;
      toggle.textContent = isShort ? "Show less" : "Show all";
    });
    bar.append(toggle);
  }
  if (texts.whole !== null) bar.append(copyButton("Copy all", texts.whole));
  return make("div", "answer", bar, shown);
}

function copyButton(words, text) {
  const button = make("button", "", words);
  button.type = "button";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch (error) {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = words; }, 1500);
  });
  return button;
}
