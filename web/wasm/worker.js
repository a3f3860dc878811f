// SPDX-License-Identifier: BSD-2-Clause
// The thread that decodes. It is told { wasm } first, then { files, words, command } as often as wanted, and answers each; the files are File objects.
let trackway = null;

// As arrange() wants them. A FileReaderSync is what a worker reads with.
function fileOf({ path, file }) {
  const reader = new FileReaderSync();
  return { path, size: file.size, read: (at, size) => new Uint8Array(reader.readAsArrayBuffer(file.slice(at, at + size))) };
}

async function runOn(about) {
  const arranged = arrange(about.files.map(fileOf));
  if (!arranged.captures.length) return { about: arranged.about, said: "", status: 3, out: null, captures: 0 };
  const words = [about.command || "report", ...arranged.captures, ...arranged.words, ...(about.words || []), "-o", "/out/file"];
  const done = await trackway.run(words, arranged.places, "/out/file");
  return Object.assign(done, { about: arranged.about, captures: arranged.captures.length, command: words });
}

onmessage = async ({ data }) => {
  if (data.wasm) {
    trackway = WebAssembly.compile(data.wasm).then((wasm) => new Trackway(makeTrackway, wasm));
    return;
  }
  let answer;
  try {
    trackway = await trackway;
    answer = await runOn(data);
  } catch (error) {
    answer = { status: 3, said: String(error && error.message || error), about: [], out: null, captures: 0 };
  }
  postMessage(answer, answer.out ? [answer.out.buffer] : []);
};
