// SPDX-License-Identifier: BSD-2-Clause
// Files that someone has dropped, and commands that are run on them. A file is { path, size, read(at, size) }: its path as it was dropped, with
// its folders, and a function that gives a Uint8Array.

const IN = "/in", ROOT = "/root", IDS = "/ids"; // what was dropped; programs by name; programs by build ID

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path) => path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";

// What the first bytes say.
function kindOf(file) {
  const head = file.read(0, Math.min(8, file.size)), text = String.fromCharCode(...head);
  if (text.startsWith("\x7fELF")) return "program";
  if (text === "PERFILE2" || text === "2ELIFREP") return "perf.data";
  return baseName(file.path) === "snapshot.ini" ? "snapshot" : "data";
}

// What is what, and the words with which the tool opens it all. `captures` are paths, `places` say where files lie, `about` tells
// people; null where there is nothing to decode.
function arrange(files) {
  const kinds = files.map(kindOf), captures = [], words = [], places = [], about = [];
  const snapshots = files.filter((file, i) => kinds[i] === "snapshot").map((file) => folderOf(file.path));
  const inSnapshot = (path) => snapshots.find((folder) => folder === "" ? true : path.startsWith(folder + "/"));
  const recordings = files.filter((file, i) => kinds[i] === "perf.data" && inSnapshot(file.path) === undefined);
  // A folder of perf has its records in "data"; what else lies there belongs to it.
  const folders = recordings.filter((file) => baseName(file.path) === "data" && folderOf(file.path)).map((file) => folderOf(file.path));
  const programs = [], others = [];

  for (const folder of snapshots) captures.push(folder || "snapshot.ini");
  for (const file of recordings) captures.push(folders.includes(folderOf(file.path)) ? folderOf(file.path) : file.path);
  files.forEach((file, i) => {
    places.push({ at: IN + "/" + file.path, file });
    if (inSnapshot(file.path) !== undefined || recordings.includes(file)) return;
    if (kinds[i] === "program") programs.push(file);
    else others.push(file);
  });
  // Bytes that say nothing of themselves are a capture where there is no other, and they are alone or the only ones without a folder.
  const dumps = captures.length ? [] : others.filter((file) => file.size && !/\.(txt|md|ini|cfg|csv|json|c|h)$/i.test(file.path));
  for (const file of dumps) captures.push(file.path);
  for (const file of captures.length ? programs.concat(others) : []) {
    const inside = file.path.split("/").slice(1).join("/");
    places.push({ at: ROOT + "/" + baseName(file.path), file });
    if (inside) places.push({ at: ROOT + "/" + inside, file });
  }
  for (const file of programs) {
    const id = new ElfFile(file.size, file.read).buildId(), name = baseName(file.path);
    about.push({ path: file.path, kind: "program", note: id ? "build ID " + id : "" });
    if (id.length > 2) places.push({ at: IDS + "/.build-id/" + id.slice(0, 2) + "/" + id.slice(2) + "/elf", file });
    if (recordings.length && /^(vmlinux|kcore)/.test(name)) words.push("--kernel", file.path);
    else if (recordings.length && /^\[?vdso/.test(name)) words.push("--vdso", file.path);
    else if (!recordings.length) words.push("--image", file.path);
  }
  if (recordings.length) words.push("--sysroot", ROOT, "--build-ids", IDS);
  for (const path of captures) about.unshift({ path, kind: snapshots.includes(path) || path === "snapshot.ini" ? "snapshot" : dumps.some((file) => file.path === path) ? "raw trace" : "perf.data", note: "" });
  return { captures, words, places, about };
}

// A file of the instance's file system that is read where it lies; mapping it copies what is mapped.
function addFile(instance, path, file) {
  const { FS } = instance;
  if (FS.analyzePath(path).exists) return;
  FS.mkdirTree(folderOf(path) || "/");
  const node = FS.create(path, 0o444);
  node.usedBytes = file.size;
  const read = (stream, buffer, offset, length, position) => {
    const bytes = file.read(position, Math.max(0, Math.min(length, file.size - position)));
    buffer.set(bytes, offset);
    return bytes.length;
  };
  const STEP = 16 << 20;
  const mmap = (stream, first, length, position) => {
    const at = (instance._malloc || instance.asm.malloc)(length) >>> 0;
    if (!at) throw new FS.ErrnoError(48); // ENOMEM
    for (let done = 0; done < length; done += STEP) {
      const bytes = file.read(position + done, Math.max(0, Math.min(STEP, length - done, file.size - position - done)));
      instance.HEAPU8.set(bytes, at + done);
    }
    return { ptr: at, allocated: true };
  };
  node.stream_ops = Object.assign({}, node.stream_ops, { read, mmap, write: () => { throw new FS.ErrnoError(63); } });
}

class Trackway {
  // `make` is what emscripten made, `wasm` the compiled module.
  constructor(make, wasm) {
    this.make = make;
    this.wasm = wasm;
  }

  // Runs one command. Gives its exit status, what it said, and the bytes of `output`, a file that it was told to write.
  async run(words, places, output) {
    const said = [], printed = [];
    let status;
    const instance = await this.make({
      ElfFile,
      print: (line) => printed.push(line),
      printErr: (line) => said.push(line),
      quit: (code, error) => { status = code; throw error; },
      instantiateWasm: (imports, done) => {
        WebAssembly.instantiate(this.wasm, imports).then((made) => done(made, this.wasm));
        return {};
      },
    });
    for (const place of places) addFile(instance, place.at, place.file);
    for (const folder of [IN, ROOT, IDS, "/out"]) instance.FS.mkdirTree(folder);
    instance.FS.chdir(IN);
    const began = performance.now();
    try {
      const code = instance.callMain(words.map(String));
      if (status === undefined) status = code;
    } catch (error) {
      if (status === undefined) said.push(/memory|allocation|out of bounds/i.test(String(error)) ? "this needs more memory than a page has: use the trackway command" : "it failed: " + error);
      if (status === undefined) status = 3;
    }
    const took = performance.now() - began;
    const out = output && instance.FS.analyzePath(output).exists ? instance.FS.readFile(output) : null;
    return { status, said: said.join("\n"), printed: printed.join("\n"), out, took };
  }
}

if (typeof module !== "undefined") {
  globalThis.ElfFile = require("../elf.js").ElfFile;
  module.exports = { arrange, kindOf, Trackway };
}
