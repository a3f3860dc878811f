// Elements, numbers and tables. Names come from captures: they are text, never markup.

function el(tag, about, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(about || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "text") node.textContent = value;
    else if (key === "style") Object.assign(node.style, value);
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== undefined && child !== null && child !== false)
      node.append(child.nodeType ? child : document.createTextNode(String(child)));
  return node;
}

function clear(node) { node.replaceChildren(); return node; }

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
function count(value) { return whole.format(value); }

// What is some is never 0, and what is not all is never 100.
function percent(part, all, digits = 1) {
  if (!all) return "0 %";
  const value = 100 * part / all, least = 10 ** -digits;
  if (value > 0 && value < least / 2) return "< " + least.toFixed(digits) + " %";
  if (part < all && value >= 100 - least / 2) return "> " + (100 - least).toFixed(digits) + " %";
  return value.toFixed(digits) + " %";
}

// 12,345,678 as 12.3 M: for places that are narrow.
function short(value) {
  const sizes = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, name] of sizes)
    if (Math.abs(value) >= size * 10 || (Math.abs(value) >= size && size > 1e3))
      return Number((value / size).toPrecision(3)) + " " + name;
  return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(3)));
}

// 7, 18.5, 36,869: a mean with one digit behind the point where it is small.
function mean(sum, of) { return sum / of < 1000 ? String(Math.round(10 * sum / of) / 10) : count(sum / of); }

function bytes(value) {
  for (const [size, name] of [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]])
    if (value >= size) return (value / size).toFixed(value >= 10 * size ? 0 : 1) + " " + name;
  return count(value) + (value === 1 ? " byte" : " bytes");
}

// A length in what the timeline counts.
function length(value, unit) {
  if (unit !== "ns") return count(value) + " " + unit;
  for (const [size, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]])
    if (value >= size) return (value / size).toPrecision(4) + " " + name;
  return value + " ns";
}

// "3 to 5 instructions"
function lengths(least, most, unit) {
  if (least === most) return length(least, unit);
  return (unit === "ns" ? length(least, unit) : count(least)) + " to " + length(most, unit);
}

function tick(value, unit) {
  if (unit === "ns") return length(value, unit);
  return short(value);
}

function plural(value, one, many) { return count(value) + " " + (value === 1 ? one : many || one + "s"); }

// Whatever its length, a name takes one line; the rest of it is in the title.
function name(text, href) {
  const shown = text.length > 300 ? text.slice(0, 300) + "…" : text;
  const about = { class: "name", title: text.length > 40 ? text.slice(0, 2000) : undefined, text: shown || "(no name)" };
  return href ? el("a", Object.assign({ href }, about)) : el("span", about);
}

function link(page, key, value) { return "#" + page + (key ? "/" + key + "=" + encodeURIComponent(value) : ""); }

function functionLink(text) {
  return name(text, link("functions", "f", text.length > 1000 ? text.slice(0, 1000) : text));
}

// A function by its row: where others have its name, with the program that it is of.
function functionRow(data, row) {
  const functions = data.table("functions"), text = functions.text("name", row), object = functions.text("object", row);
  if (!data.isShared(functions.num("name", row))) return functionLink(text);
  return [name(text, link("functions", "f", text.slice(0, 1000)) + "/n=" + row), object ? el("span", { class: "dim", text: "  " + object.slice(0, 300).replace(/^.*\//, "") }) : null];
}

function bar(part, all, kind) {
  const share = all ? Math.min(100, 100 * part / all) : 0;
  return el("span", { class: "bar " + (kind || ""), "aria-hidden": "true" },
    el("span", { style: { width: (part && share < 0.7 ? 0.7 : share) + "%" } }));
}

// A command that shows more, with a button that copies it.
function commandLine(text) {
  const button = el("button", { type: "button", class: "copy", text: "copy", "aria-label": "copy the command",
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "copied";
      } catch (e) {
        const range = document.createRange();
        range.selectNodeContents(code);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        button.textContent = "selected";
      }
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    } });
  const code = el("code", { text });
  return el("span", { class: "command" }, code, button);
}

function card(title, ...children) {
  return el("section", { class: "card" }, title ? el("h2", { text: title }) : null, children);
}

function heading(title, about) {
  return el("div", { class: "heading" }, el("h1", { text: title }), about ? el("p", { class: "about" }, about) : null);
}

function note(...children) { return el("p", { class: "note" }, children); }

// A table that sorts by its heads and shows more on demand.
// columns: { title, value(row), show(row) -> node or text, kind: "num" | "text", help }
class Grid {
  constructor(about) {
    Object.assign(this, { step: 100, sort: 0, down: true }, about);
    this.shown = this.step;
    this.body = el("tbody");
    this.heads = this.columns.map((column, number) => {
      const head = el("th", { scope: "col", class: column.kind || "text", title: column.help });
      if (column.value) head.append(el("button", { type: "button", text: column.title, onclick: () => this.order(number) }));
      else head.append(column.title);
      return head;
    });
    this.more = el("button", { type: "button", class: "more", onclick: () => { this.shown += 10 * this.step; this.fill(); } });
    this.node = el("div", { class: "grid" }, el("table", {}, this.caption ? el("caption", { text: this.caption }) : null,
      el("thead", {}, el("tr", {}, this.heads)), this.body), this.more);
    this.arrange();
  }

  order(number) {
    this.down = this.sort === number ? !this.down : this.columns[number].kind === "num";
    this.sort = number;
    this.arrange();
  }

  set(rows) { this.rows = rows; this.shown = this.step; this.arrange(); }

  arrange() {
    const column = this.columns[this.sort];
    if (column && column.value && this.sort >= 0) {
      const sign = this.down ? -1 : 1;
      this.rows = Array.from(this.rows).sort((a, b) => {
        const x = column.value(a), y = column.value(b);
        return sign * (x < y ? -1 : x > y ? 1 : 0) || (a < b ? -1 : 1);
      });
    }
    this.heads.forEach((head, number) => {
      if (number === this.sort && this.columns[number].value) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.fill();
  }

  fill() {
    clear(this.body);
    const rows = this.rows.slice(0, this.shown);
    for (const row of rows)
      this.body.append(el("tr", this.attributes ? this.attributes(row) : {}, this.columns.map((column, number) => {
        const shown = column.show ? column.show(row) : column.kind === "num" ? count(column.value(row)) : column.value(row);
        return number === 0 && column.kind !== "num" ? el("th", { scope: "row", class: column.kind || "text" }, shown)
          : el("td", { class: column.kind || "text" }, shown);
      })));
    if (!rows.length) this.body.append(el("tr", {}, el("td", { colspan: this.columns.length, class: "empty", text: this.empty || "nothing" })));
    this.more.hidden = this.rows.length <= this.shown;
    this.more.textContent = "show more (" + count(this.rows.length - this.shown) + " left)";
  }
}

function range(size) { return Array.from({ length: size }, (_, i) => i); }

// A canvas as wide as its parent, sharp on every screen: draw(context, width, height) in CSS pixels.
function canvasOf(about) {
  const canvas = el("canvas", { tabindex: about.focus ? "0" : undefined, role: "img", "aria-label": about.label });
  const box = el("div", { class: "canvas " + (about.class || "") }, canvas);
  const state = { canvas, box, width: 0, height: 0, waiting: false };
  state.draw = () => {
    if (state.waiting) return;
    state.waiting = true;
    requestAnimationFrame(() => { state.waiting = false; state.now(); });
  };
  state.now = () => {
    const width = Math.max(200, box.clientWidth), height = about.height();
    const scale = Math.min(3, window.devicePixelRatio || 1);
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = height + "px";
    }
    state.width = width;
    state.height = height;
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    about.draw(context, width, height);
  };
  new ResizeObserver(() => state.draw()).observe(box);
  canvases.add(new WeakRef(state));
  return state;
}

// All that are shown, drawn now: colours are others.
const canvases = new Set();
function drawAll() {
  for (const one of canvases) {
    const state = one.deref();
    if (state && state.canvas.isConnected) state.now();
    else canvases.delete(one);
  }
}

// Colours of the style sheet, for canvases.
function color(key) { return getComputedStyle(document.documentElement).getPropertyValue("--" + key).trim(); }

// Functions keep their colour in all pictures: hues that differ in lightness too.
const palette = ["#8fb8de", "#f2b880", "#a3cfa0", "#d8b4e2", "#f3d27a", "#9fd3d0", "#e8a6a1", "#c3c7a1",
  "#b7c4f0", "#e3c9a8", "#88c3a5", "#dba9c8"];
const colors = new Map();
function colorOf(text) {
  let found = colors.get(text);
  if (!found) {
    let hash = 2166136261;
    for (let i = 0; i < text.length && i < 200; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
    hash ^= hash >>> 15;
    found = /^(\[(?!0x)|\(other)/.test(text) ? "#b9bcc2" : palette[(hash >>> 0) % palette.length];
    colors.set(text, found);
  }
  return found;
}

const font = "12px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

// Text cut to a width; empty where not even three letters fit.
function fit(context, text, width) {
  if (width < 22) return "";
  const most = Math.floor(width / 3);
  if (text.length > most) text = text.slice(0, most);
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low >= 2 ? text.slice(0, low) + "…" : "";
}

// What the pointer is on.
const tip = {
  node: null,
  show(x, y, lines) {
    if (!this.node) document.body.append(this.node = el("div", { class: "tip", role: "status" }));
    clear(this.node).append(...lines.map((line, i) => el(i ? "div" : "strong", { text: line.length > 400 ? line.slice(0, 400) + "…" : line })));
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    this.node.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    this.node.style.top = (y + box.height + 24 > innerHeight ? y - box.height - 10 : y + 16) + "px";
  },
  hide() { if (this.node) this.node.hidden = true; },
};
