// SPDX-License-Identifier: BSD-2-Clause
// elf.js SPEC.json: the reader of ELF files in web/elf.js against what binutils say, and on files that were damaged.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { ElfFile } = require(path.join(__dirname, "..", "..", "web", "elf.js"));

const spec = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const open = (bytes) => new ElfFile(bytes.length, (at, size) => {
  assert.ok(at >= 0 && size >= 0 && at + size <= bytes.length, `asked for ${size} bytes from ${at} on of ${bytes.length}`);
  return new Uint8Array(bytes.subarray(at, at + size));
});

// All that can be asked of it.
function all(elf) {
  if (!elf.isElf) return null;
  const out = { loads: elf.segments.filter((one) => one.type === 1), symbols: [], buildId: elf.buildId() };
  elf.sections.forEach((one, i) => { if (one && (one.type === 2 || one.type === 11)) out.symbols.push((elf.symbols(i) || []).length / 24); elf.contents(i); });
  return out;
}

// xorshift, so that every run does the same
let state = 88172645;
function chance(below) { state ^= state << 13; state ^= state >>> 17; state ^= state << 5; return (state >>> 0) % below; }

for (const file of spec.files) {
  const bytes = fs.readFileSync(file.path), got = all(open(bytes));
  assert.deepEqual(got.loads.map((one) => [one.offset, one.vaddr, one.paddr, one.filesz, one.memsz].map(String)), file.loads, file.path);
  assert.equal(got.buildId, file.buildId, file.path);
  assert.deepEqual(got.symbols.sort((a, b) => a - b), file.symbols, file.path);
  for (let i = 0; i < spec.damaged; i++) {
    const bad = Buffer.from(bytes.subarray(0, chance(4) ? bytes.length : chance(bytes.length + 1)));
    const places = [chance(64), chance(512), Math.max(0, bytes.length - 1 - chance(4096))]; // headers are at both ends
    for (const place of places) if (place < bad.length) bad[place] = chance(3) ? chance(256) : 255;
    all(open(bad));
  }
}
for (let size = 0; size < 70; size++) all(open(Buffer.concat([Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1 + size % 2, 1 + (size >> 1) % 2]), Buffer.alloc(size, 255)])));
console.log("ok");
