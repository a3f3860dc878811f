// The page around the pages: which are there, which is shown, keys, dark and light.

const pages = [
  { key: "overview", title: "Overview", make: overviewPage, has: () => true },
  { key: "flame", title: "Flame graph", make: flamePage, has: (data) => data.has("paths") },
  { key: "timeline", title: "Timeline", make: timelinePage, has: (data) => data.has("spans") || data.has("marks") },
  { key: "functions", title: "Functions", make: functionsPage, has: (data) => data.has("functions") },
  { key: "code", title: "Source and assembly", make: codePage, has: (data) => data.has("code") },
  { key: "coverage", title: "Coverage", make: coveragePage, has: (data) => data.has("coverFunctions") },
  { key: "losses", title: "Losses", make: lossesPage, has: () => true },
  { key: "interrupts", title: "Interrupts", make: interruptsPage, has: (data) => data.has("interrupts") },
  { key: "channels", title: "Channels", make: channelsPage, has: (data) => data.has("marks") },
  { key: "differences", title: "Differences", make: differencesPage, has: (data, app) => app.source.count() > 1 },
];

class App {
  constructor(source) {
    this.source = source;
    this.loaded = new Map();
    this.number = 0;
    this.names = [];
  }

  async load(number) {
    if (!this.loaded.has(number)) this.loaded.set(number, await this.source.load(number));
    return this.loaded.get(number);
  }

  async start() {
    this.theme();
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.show());
    await this.open(this.source.start ? () => this.source.start() : null);
  }

  // The captures that the source has by now.
  async open(first) {
    const main = document.getElementById("main");
    this.loaded.clear();
    this.names = [];
    this.number = 0;
    this.part = null;
    try {
      if (first) await first();
      for (let i = 0; i < this.source.count(); i++) this.names.push((await this.load(i)).info.title || "capture " + (i + 1));
      if (!this.source.count()) throw new Error("there is no data in this page");
      await this.show();
    } catch (error) {
      clear(main).append(el("p", { class: "wait", role: "alert", text: "This report cannot be shown: " + error.message }));
      throw error;
    }
  }

  // "#functions/f=NAME"
  where() {
    const [key, ...rest] = location.hash.slice(1).split("/"), words = {};
    for (const part of rest) {
      const at = part.indexOf("=");
      if (at > 0) try { words[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch (e) { /* not ours */ }
    }
    return { key: key || "overview", words };
  }

  async show() {
    const { key, words } = this.where();
    if (key === "main") return;
    const data = this.part || await this.load(this.number);
    const there = pages.filter((page) => page.has(data, this)), page = there.find((one) => one.key === key) || there[0];
    if (page.key === "differences") {
      this.pairNumbers = this.number ? [0, this.number] : [0, 1];
      this.pair = [await this.load(this.pairNumbers[0]), await this.load(this.pairNumbers[1])];
    }
    tip.hide();
    document.title = page.title + " - " + (data.info.title || "Trackway").slice(0, 200);
    this.choose(data);
    clear(document.getElementById("nav")).append(el("ul", {}, there.map((one, i) => el("li", {}, el("a", { href: "#" + one.key, "aria-current": one === page ? "page" : undefined,
      title: "key: " + (i + 1) % 10, text: one.title }))), ), el("p", { class: "made", text: data.info.creator }));
    const main = clear(document.getElementById("main"));
    main.className = "page-" + page.key;
    main.append(page.make(data, words, this));
    if (this.source.tiles && this.source.captures[this.number].sampled && ["overview", "timeline"].includes(page.key)) main.firstChild.firstChild.after(captureMap(this, data));
    window.scrollTo(0, 0);
    this.there = there;
    document.documentElement.dataset.ready = page.key;
  }

  choose(data) {
    const box = clear(document.getElementById("captures"));
    if (this.source.window) box.append(this.ranges(data));
    if (this.source.buttons) box.append(...this.source.buttons(this));
    if (this.names.length < 2) { box.prepend(name(data.info.title || "")); return; }
    const select = el("select", { id: "capture", "aria-label": "which capture", onchange: () => { this.number = Number(select.value); this.part = null; this.show(); } },
      this.names.map((text, i) => el("option", { value: i, selected: i === this.number, text: (i + 1) + ": " + text.slice(0, 80) })));
    box.prepend(select);
  }

  // Which bytes of the capture are shown, of a source that can decode any: all, or some.
  ranges(data) {
    const [from, to] = data.range || [0, data.bytes], [by, shown] = data.times ? ["time", data.times] : ["bytes", [from, to]];
    const number = (value, label) => el("input", { type: "number", class: "offset", value, min: 0, max: data.bytes, "aria-label": label });
    const first = number(from, "first byte"), end = number(to, "end byte"), said = el("span", { class: "dim", id: "range-said", role: "status" });
    const ask = async (a, b, what) => {
      said.textContent = "decoding …";
      try {
        this.part = await this.source.window(this.number, a, b, what);
        await this.show();
      } catch (error) { said.textContent = error.message; }
    };
    const go = this.decode = (a, b) => {
      a = Math.max(0, Math.min(Math.round(a), data.bytes - 1));
      b = Math.max(a + 1, Math.min(Math.round(b), data.bytes, a + this.source.windowMost));
      return ask(a, b, "bytes");
    };
    this.decodeTime = (a, b) => ask(a, b, "time");
    const size = to - from, button = (text, help, act) => el("button", { type: "button", text, title: help, onclick: act });
    if (data.sampled) said.textContent = "stretches: " + bytes(data.sampled) + " of " + bytes(data.bytes);
    return el("form", { class: "range", id: "range", onsubmit: (event) => { event.preventDefault(); go(Number(first.value), Number(end.value)); } }, "bytes ", first, " to ", end,
      el("button", { type: "submit", text: "decode" }), button("◂", "earlier bytes", () => go(from - size, to - size)), button("▸", "later bytes", () => go(from + size, to + size)),
      this.part ? button("all", "the whole capture", () => { this.part = null; this.show(); }) : null,
      this.part ? button("Perfetto", "this part as a trace for ui.perfetto.dev", async () => {
        const href = URL.createObjectURL(await this.source.perfetto(this.number, ...shown, by));
        el("a", { href, download: "window.perfetto-trace" }).click();
        URL.revokeObjectURL(href);
      }) : null, said);
  }

  theme() {
    const root = document.documentElement, button = document.getElementById("theme");
    const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const tell = () => { button.textContent = dark() ? "☾ dark" : "☀ light"; };
    this.flip = () => { root.dataset.theme = dark() ? "light" : "dark"; try { localStorage.setItem("trackway-theme", root.dataset.theme); } catch (e) { /* not kept */ } tell(); this.show(); };
    try { if (["dark", "light"].includes(localStorage.getItem("trackway-theme"))) root.dataset.theme = localStorage.getItem("trackway-theme"); } catch (e) { /* not kept */ }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { tell(); this.show(); });
    button.addEventListener("click", this.flip);
    let screen; // on paper everything is light
    window.addEventListener("beforeprint", () => { screen = root.dataset.theme; root.dataset.theme = "light"; drawAll(); });
    window.addEventListener("afterprint", () => { if (screen) root.dataset.theme = screen; else delete root.dataset.theme; drawAll(); });
    tell();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (event.key === "/") { const input = document.querySelector("main input[type=search]:not(#map-search)") || document.querySelector("#map-search"); if (input) { event.preventDefault(); input.focus(); } return; }
    if (event.key === "t") { this.flip(); return; }
    const page = "1234567890".indexOf(event.key);
    if (page >= 0 && this.there && this.there[page]) { location.hash = this.there[page].key; return; }
    if ("wasd+-".includes(event.key) && this.where().key === "timeline") { const canvas = document.querySelector(".rows canvas"); if (canvas) { canvas.focus({ preventScroll: true }); canvas.dispatchEvent(new KeyboardEvent("keydown", { key: event.key })); } }
  }
}

const embedded = new EmbeddedSource();
const app = new App(window.trackwaySource ? window.trackwaySource(Data, el) : embedded.count() || !location.protocol.startsWith("http") ? embedded : new HttpSource());
app.start();
