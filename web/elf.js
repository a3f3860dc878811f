// ELF files: program headers, section headers, symbols, build ID. Of both classes and byte orders, and of any bytes at all:
// what lies outside the file is not there, and no count is believed that the file has no room for. Addresses are
// BigInt, places in the file numbers. Only what is asked for is read, so that debug information costs nothing.

class ElfFile {
  // `read(at, size)` gives a Uint8Array of the bytes that are there; `size` is the file's.
  constructor(size, read) {
    this.size = size;
    this.readBytes = read;
    const head = this.bytes(0, 64);
    if (!head || head.length < 52 || head[0] !== 0x7f || head[1] !== 0x45 || head[2] !== 0x4c || head[3] !== 0x46) return;
    if ((head[4] !== 1 && head[4] !== 2) || (head[5] !== 1 && head[5] !== 2)) return;
    this.is64 = head[4] === 2;
    this.isLittle = head[5] === 1;
    if (this.is64 && head.length < 64) return;
    const view = this.viewOf(head), wide = this.is64;
    this.isElf = true;
    this.ident = head.slice(0, 16);
    this.type = view.getUint16(16, this.isLittle);
    this.machine = view.getUint16(18, this.isLittle);
    const phoff = this.place(view, wide ? 32 : 28), shoff = this.place(view, wide ? 40 : 32);
    const at = wide ? 54 : 42;
    const [phentsize, phnum, shentsize, shnum, shstrndx] = [0, 2, 4, 6, 8].map((more) => view.getUint16(at + more, this.isLittle));
    const first = shoff ? this.section(shoff) : null; // it holds what is too large for the header
    this.names = shstrndx === 0xffff ? (first ? first.link : 0) : shstrndx;
    this.segments = this.rows(phoff, phnum === 0xffff && first ? first.info : phnum, phentsize, wide ? 56 : 32, (place) => this.segment(place));
    this.sections = this.rows(shoff, shnum || (first ? first.size : 0), shentsize, wide ? 64 : 40, (place) => this.section(place));
  }

  bytes(at, size) {
    if (!(at >= 0) || !(size >= 0) || at > this.size || size > this.size - at) size = Math.max(0, Math.min(size, this.size - at));
    return size > 0 ? this.readBytes(at, size) : new Uint8Array(0);
  }

  viewOf(bytes) { return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength); }

  // A place in the file; what no file can have is behind the end of every one.
  place(view, at) { return this.is64 ? Number(view.getBigUint64(at, this.isLittle)) : view.getUint32(at, this.isLittle); }

  address(view, at) { return this.is64 ? view.getBigUint64(at, this.isLittle) : BigInt(view.getUint32(at, this.isLittle)); }

  // A table of headers, as far as it lies in the file.
  rows(first, count, size, least, make) {
    const rows = [];
    if (!first || first >= this.size || size < least) return rows;
    for (let i = 0; i < count && first + (i + 1) * size <= this.size; i++) rows.push(make(first + i * size));
    return rows;
  }

  segment(place) {
    const view = this.viewOf(this.bytes(place, this.is64 ? 56 : 32)), little = this.isLittle;
    const at = this.is64 ? [4, 8, 16, 24, 32, 40, 48] : [24, 4, 8, 12, 16, 20, 28];
    return { type: view.getUint32(0, little), flags: view.getUint32(at[0], little), offset: this.address(view, at[1]), vaddr: this.address(view, at[2]),
      paddr: this.address(view, at[3]), filesz: this.address(view, at[4]), memsz: this.address(view, at[5]), align: this.address(view, at[6]) };
  }

  section(place) {
    const bytes = this.bytes(place, this.is64 ? 64 : 40);
    if (bytes.length < (this.is64 ? 64 : 40)) return null;
    const view = this.viewOf(bytes), little = this.isLittle;
    const at = this.is64 ? [8, 16, 24, 32, 40, 44, 48, 56] : [8, 12, 16, 20, 24, 28, 32, 36];
    return { name: view.getUint32(0, little), type: view.getUint32(4, little), flags: this.address(view, at[0]), addr: this.address(view, at[1]),
      offset: this.place(view, at[2]), size: this.place(view, at[3]), link: view.getUint32(at[4], little), info: view.getUint32(at[5], little),
      align: this.address(view, at[6]), entsize: this.address(view, at[7]) };
  }

  // The bytes of a section; null where they are not all in the file.
  contents(number) {
    const section = this.sections[number];
    if (!section || section.type === 8 || section.offset > this.size || section.size > this.size - section.offset) return null;
    if (!section.held) section.held = this.bytes(section.offset, section.size);
    return section.held.length === section.size ? section.held : null;
  }

  // The symbols of a section, in the form of 64-bit little-endian files; null: they are not there.
  symbols(number) {
    const from = this.contents(number), each = this.is64 ? 24 : 16;
    if (!from) return null;
    const count = Math.floor(from.length / each), view = this.viewOf(from), little = this.isLittle;
    const out = new Uint8Array(count * 24), to = new DataView(out.buffer);
    for (let i = 0; i < count; i++) {
      const at = i * each, put = i * 24, info = this.is64 ? at + 4 : at + 12;
      to.setUint32(put, view.getUint32(at, little), true);
      out[put + 4] = from[info];
      out[put + 5] = from[info + 1];
      to.setUint16(put + 6, view.getUint16(info + 2, little), true);
      to.setBigUint64(put + 8, this.address(view, this.is64 ? at + 8 : at + 4), true);
      to.setBigUint64(put + 16, this.address(view, this.is64 ? at + 16 : at + 8), true);
    }
    return out;
  }

  // As hexadecimal digits; "": it has none.
  buildId() {
    const notes = this.segments.filter((one) => one.type === 4).map((one) => [Number(one.offset), Number(one.filesz)]);
    for (const one of this.sections) if (one && one.type === 7) notes.push([one.offset, one.size]);
    for (const [place, size] of notes) {
      if (place >= this.size) continue;
      const bytes = this.bytes(place, Math.min(size, 1 << 20)), view = this.viewOf(bytes);
      for (let at = 0; at + 12 <= bytes.length;) {
        const name = view.getUint32(at, this.isLittle), length = view.getUint32(at + 4, this.isLittle), kind = view.getUint32(at + 8, this.isLittle);
        const data = at + 12 + Math.ceil(name / 4) * 4;
        if (data > bytes.length || length > bytes.length - data) break;
        if (kind === 3 && name === 4 && length && length <= 20 && String.fromCharCode(...bytes.subarray(at + 12, at + 15)) === "GNU")
          return Array.from(bytes.subarray(data, data + length), (byte) => byte.toString(16).padStart(2, "0")).join("");
        at = data + Math.ceil(length / 4) * 4;
      }
    }
    return "";
  }
}

if (typeof module !== "undefined") module.exports = { ElfFile };
