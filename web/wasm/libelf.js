// SPDX-License-Identifier: BSD-2-Clause
// What web/wasm/gelf.h declares, for emscripten's linker. An Elf is a number of `programs`, an Elf_Scn a block of two words: its
// program and its number. What is given to C lies in C's memory until elf_end.
// (Its linker takes functions that are written so, and no arrows.)
mergeInto(LibraryManager.library, {
  $ELF_STATE__deps: ["malloc", "free"],
  $ELF_STATE: {
    programs: [null],
    take: function (program, size) {
      const at = _malloc(size || 1) >>> 0;
      if (at) program.blocks.push(at);
      return at;
    },
    view: function () { return new DataView(HEAPU8.buffer); },
    section: function (at) {
      const program = ELF_STATE.programs[HEAPU32[at >>> 2]], number = HEAPU32[(at >>> 2) + 1];
      return [program, number];
    },
    scn: function (elf, number) {
      const program = ELF_STATE.programs[elf];
      if (number >= program.elf.sections.length || !program.elf.sections[number]) return 0;
      if (!program.scns.has(number)) {
        const at = ELF_STATE.take(program, 8);
        if (!at) return 0;
        HEAPU32[at >>> 2] = elf;
        HEAPU32[(at >>> 2) + 1] = number;
        program.scns.set(number, at);
      }
      return program.scns.get(number);
    },
    // Bytes as an Elf_Data.
    data: function (program, key, bytes) {
      if (!bytes) return 0;
      if (!program.datas.has(key)) {
        const at = ELF_STATE.take(program, 8), to = ELF_STATE.take(program, bytes.length);
        if (!at || !to) return 0;
        HEAPU8.set(bytes, to);
        HEAPU32[at >>> 2] = to;
        HEAPU32[(at >>> 2) + 1] = bytes.length;
        program.datas.set(key, at);
      }
      return program.datas.get(key);
    },
  },

  elf_version: function (version) { return version; },

  elf_begin__deps: ["$ELF_STATE", "$FS"],
  elf_begin: function (fd) {
    const stream = FS.getStream(fd), size = stream.node.usedBytes;
    const read = (at, length) => {
      const out = new Uint8Array(length);
      return out.subarray(0, FS.read(stream, out, 0, length, at));
    };
    ELF_STATE.programs.push({ elf: new Module["ElfFile"](size, read), blocks: [], scns: new Map(), datas: new Map() });
    return ELF_STATE.programs.length - 1;
  },

  elf_end__deps: ["$ELF_STATE"],
  elf_end: function (elf) {
    if (!elf || !ELF_STATE.programs[elf]) return 0;
    for (const block of ELF_STATE.programs[elf].blocks) _free(block);
    ELF_STATE.programs[elf] = null;
    return 0;
  },

  elf_kind__deps: ["$ELF_STATE"],
  elf_kind: function (elf) { return ELF_STATE.programs[elf].elf.isElf ? 3 : 0; },

  elf_errmsg__deps: ["$ELF_STATE"],
  elf_errmsg: function () {
    if (!ELF_STATE.message) {
      const text = "it lies outside the file";
      ELF_STATE.message = _malloc(text.length + 1) >>> 0;
      for (let i = 0; i <= text.length; i++) HEAPU8[ELF_STATE.message + i] = i < text.length ? text.charCodeAt(i) : 0;
    }
    return ELF_STATE.message;
  },

  elf_getphdrnum__deps: ["$ELF_STATE"],
  elf_getphdrnum: function (elf, out) {
    HEAPU32[out >>> 2] = ELF_STATE.programs[elf].elf.segments.length;
    return 0;
  },

  elf_getshdrstrndx__deps: ["$ELF_STATE"],
  elf_getshdrstrndx: function (elf, out) {
    HEAPU32[out >>> 2] = ELF_STATE.programs[elf].elf.names;
    return 0;
  },

  elf_getscn__deps: ["$ELF_STATE"],
  elf_getscn: function (elf, number) { return ELF_STATE.scn(elf, number >>> 0); },

  elf_ndxscn__deps: ["$ELF_STATE"],
  elf_ndxscn: function (section) { return ELF_STATE.section(section)[1]; },

  elf_nextscn__deps: ["$ELF_STATE"],
  elf_nextscn: function (elf, section) {
    const count = ELF_STATE.programs[elf].elf.sections.length;
    for (let number = section ? ELF_STATE.section(section)[1] + 1 : 1; number < count; number++) {
      const next = ELF_STATE.scn(elf, number);
      if (next) return next;
    }
    return 0;
  },

  elf_strptr__deps: ["$ELF_STATE"],
  elf_strptr: function (elf, section, offset) {
    const program = ELF_STATE.programs[elf], bytes = program.elf.contents(section >>> 0);
    offset >>>= 0;
    if (!bytes || offset >= bytes.length || bytes.indexOf(0, offset) < 0) return 0;
    const data = ELF_STATE.data(program, "raw" + (section >>> 0), bytes);
    return data ? HEAPU32[data >>> 2] + offset : 0;
  },

  elf_rawdata__deps: ["$ELF_STATE"],
  elf_rawdata: function (section) {
    const [program, number] = ELF_STATE.section(section);
    return ELF_STATE.data(program, "raw" + number, program.elf.contents(number));
  },

  elf_getdata__deps: ["$ELF_STATE"],
  elf_getdata: function (section) {
    const [program, number] = ELF_STATE.section(section), type = program.elf.sections[number].type;
    if (type !== 2 && type !== 11) return ELF_STATE.data(program, "raw" + number, program.elf.contents(number));
    return ELF_STATE.data(program, "symbols" + number, program.elf.symbols(number));
  },

  gelf_fsize: function (elf, type, count) { return type === 12 ? 24 * count : 0; },

  gelf_getehdr__deps: ["$ELF_STATE"],
  gelf_getehdr: function (elf, out) {
    const file = ELF_STATE.programs[elf].elf, view = ELF_STATE.view();
    out >>>= 0;
    HEAPU8.fill(0, out, out + 64);
    HEAPU8.set(file.ident, out);
    view.setUint16(out + 16, file.type, true);
    view.setUint16(out + 18, file.machine, true);
    return out;
  },

  gelf_getphdr__deps: ["$ELF_STATE"],
  gelf_getphdr: function (elf, number, out) {
    const from = ELF_STATE.programs[elf].elf.segments[number], view = ELF_STATE.view();
    if (!from) return 0;
    out >>>= 0;
    view.setUint32(out, from.type, true);
    view.setUint32(out + 4, from.flags, true);
    ["offset", "vaddr", "paddr", "filesz", "memsz", "align"].forEach((key, i) => view.setBigUint64(out + 8 + 8 * i, from[key], true));
    return out;
  },

  gelf_getshdr__deps: ["$ELF_STATE"],
  gelf_getshdr: function (section, out) {
    const [program, number] = ELF_STATE.section(section), from = program.elf.sections[number], view = ELF_STATE.view();
    const wide = (value) => typeof value === "bigint" ? value : BigInt(Math.min(value, 9e18));
    out >>>= 0;
    view.setUint32(out, from.name, true);
    view.setUint32(out + 4, from.type, true);
    ["flags", "addr", "offset", "size"].forEach((key, i) => view.setBigUint64(out + 8 + 8 * i, wide(from[key]), true));
    view.setUint32(out + 40, from.link, true);
    view.setUint32(out + 44, from.info, true);
    view.setBigUint64(out + 48, from.align, true);
    view.setBigUint64(out + 56, from.entsize, true);
    return out;
  },

  gelf_getsym__deps: ["$ELF_STATE"],
  gelf_getsym: function (data, number, out) {
    const from = HEAPU32[data >>> 2] + 24 * number;
    if (24 * (number + 1) > HEAPU32[(data >>> 2) + 1]) return 0;
    HEAPU8.copyWithin(out >>> 0, from, from + 24);
    return out;
  },
});
