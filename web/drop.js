// The page that needs no server: files are dropped on it, a thread decodes them with the library in WebAssembly, and the pages are those of a
// report. Nothing leaves the machine: the page may load nothing and connect to nothing.
(function () {
"use strict";

const MARK = '<scr' + 'ipt type="application/x-trackway-data">', END = "</scr" + "ipt>";

function bytesOf(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Files of a drop with the folders they were in.
async function entriesOf(transfer) {
  const found = [], roots = Array.from(transfer.items || [], (item) => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean);
  const walk = async (entry, path) => {
    if (entry.isFile) found.push({ path: path + entry.name, file: await new Promise((done, failed) => entry.file(done, failed)) });
    if (!entry.isDirectory) return;
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) break;
      for (const one of some) await walk(one, path + entry.name + "/");
    }
  };
  if (!roots.length) return filesOf(transfer.files);
  for (const root of roots) await walk(root, "");
  return found;
}

const filesOf = (list) => Array.from(list, (file) => ({ path: file.webkitRelativePath || file.name, file }));

// "a 'b c' d" as a shell takes it apart, but for variables and the like.
function wordsOf(text) {
  const words = [];
  for (const match of text.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)) words.push(match[0].replace(/'([^']*)'|"([^"]*)"/g, (all, one, two) => one === undefined ? two : one));
  return words;
}

class DropSource {
  constructor(Data, el) {
    this.Data = Data;
    this.el = el;
    this.files = [];
    this.found = [];
    this.parts = [];
  }

  // The thread, made when it is first needed.
  async thread() {
    if (this.worker) return this.worker;
    const wasm = await unpacked(bytesOf(document.getElementById("trackway-wasm").textContent.trim()));
    const code = await unpacked(bytesOf(document.getElementById("trackway-worker").textContent.trim()));
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.worker.postMessage({ wasm }, [wasm.buffer]);
    return this.worker;
  }

  async run(about) {
    const worker = await this.thread();
    return new Promise((done, failed) => {
      worker.onmessage = ({ data }) => done(data);
      worker.onerror = (event) => failed(new Error(event.message || "the thread failed"));
      worker.postMessage(about);
    });
  }

  async start() {
    for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
    document.addEventListener("drop", async (event) => { this.add(await entriesOf(event.dataTransfer)); });
    await new Promise((done) => { this.shown = done; this.choose(); });
  }

  count() { return this.parts.length; }

  async load(number) { return new this.Data(bytesOf(this.parts[number]).buffer); }

  // The list of files, and what they are; there people come back to add to it.
  choose(app) {
    const el = this.el, main = document.getElementById("main"), nav = document.getElementById("nav");
    const picker = (id, text, about) => el("label", { class: "picker" }, text, el("input", Object.assign({ type: "file", id, multiple: true,
      onchange: (event) => { this.add(filesOf(event.target.files)); event.target.value = ""; } }, about)));
    if (app) this.app = app;
    delete document.documentElement.dataset.ready;
    nav.replaceChildren();
    document.getElementById("captures").replaceChildren();
    this.words = el("input", { type: "text", id: "words", class: "words", value: this.typed || "", placeholder: "--source 0x10:etmv4:FILE --image FILE@0x8000", spellcheck: "false",
      onchange: () => { this.typed = this.words.value; } });
    this.said = el("p", { id: "said", role: "status", class: "note" });
    this.list = el("tbody", { id: "files" });
    main.className = "page-drop";
    main.replaceChildren(el("div", { class: "heading" }, el("h1", { text: "Look at trace" }),
      el("p", { class: "about", text: "Everything is decoded here, in this page. Nothing leaves your machine." })),
      el("div", { class: "drop", id: "drop" }, el("p", { class: "big", text: "Drop files here" }),
        el("p", { class: "dim", text: "a snapshot folder, a perf.data or a raw trace file, and the programs that ran (ELF files)" }),
        el("p", {}, picker("pick-files", "Choose files"), " ", picker("pick-folder", "Choose a folder", { webkitdirectory: true }))),
      el("div", { class: "card" }, el("h2", { text: "Files" }), el("table", {}, el("thead", {}, el("tr", {}, ["file", "what it is", ""].map((text) => el("th", { text })))), this.list),
        el("p", {}, el("label", { for: "words", text: "Options, as the trackway command takes them " }), this.words),
        el("p", {}, el("button", { type: "button", id: "show", text: "Show", onclick: () => this.show() }), " ",
          el("button", { type: "button", id: "forget", text: "Forget all", onclick: () => { this.files = []; this.found = []; this.tell(); } })), this.said));
    this.tell();
    document.documentElement.dataset.ready = "drop";
  }

  add(files) {
    if (!document.getElementById("drop")) this.choose();
    for (const one of files) if (!this.files.some((other) => other.path === one.path)) this.files.push(one);
    this.found = [];
    this.tell();
    return this.show();
  }

  tell() {
    const el = this.el, rows = this.found.length ? this.found : this.files.slice(0, 12).map((one) => ({ path: one.path, kind: "", note: "" }));
    this.list.replaceChildren(...rows.map((one) => el("tr", {}, el("td", {}, el("span", { class: "name", text: one.path.slice(0, 300) })), el("td", { text: one.kind }), el("td", { class: "dim", text: one.note }))));
    if (!rows.length) this.list.append(el("tr", {}, el("td", { class: "dim", colspan: 3, text: "none yet" })));
    document.getElementById("show").disabled = !this.files.length;
  }

  async show() {
    if (this.busy || !this.files.length) return;
    this.busy = true;
    this.typed = this.words.value;
    this.said.className = "note";
    this.said.textContent = "decoding …";
    try {
      const done = await this.run({ files: this.files, words: wordsOf(this.typed) });
      this.found = done.about;
      this.tell();
      this.took = done.took;
      if (!done.captures) this.said.textContent = "There is no trace among these files yet.";
      else if (!done.out) this.refuse(done);
      else await this.take(done);
    } catch (error) {
      this.refuse({ said: error.message });
    }
    this.busy = false;
  }

  refuse(done) {
    this.said.className = "note bad";
    this.said.textContent = (done.said || "it could not be decoded").replace(/^trackway: /gm, "") +
      "\nWhat a page cannot do (zstd, source lines from DWARF, captures beyond the memory of a page) the trackway command does.";
  }

  async take(done) {
    const text = new TextDecoder("latin1").decode(done.out);
    this.parts = [];
    for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at)) {
      at += MARK.length;
      this.parts.push(text.slice(at, text.indexOf(END, at)).trim());
    }
    this.report = done.out;
    if (this.shown) {
      this.shown();
      this.shown = null;
    } else await this.app.open();
  }

  // What stands beside the captures' names while pages are shown.
  buttons(app) {
    const el = this.el;
    this.app = app;
    return [el("button", { type: "button", id: "files-again", text: "files …", title: "other files, programs or options", onclick: () => this.choose(app) }), " ",
      el("button", { type: "button", id: "save", text: "save report", title: "one file that shows the same", onclick: () => {
        const href = URL.createObjectURL(new Blob([this.report], { type: "text/html" }));
        el("a", { href, download: "report.html" }).click();
        setTimeout(() => URL.revokeObjectURL(href), 1000);
      } })];
  }
}

window.trackwaySource = (Data, el) => window.trackwayDrop = new DropSource(Data, el);
})();
