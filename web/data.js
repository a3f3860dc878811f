// The tables of one capture: see "Data of reports" in docs/formats.md. Columns are typed arrays over the block
// of bytes; of a block in base64 each is unpacked when it is first asked for, so that a large report opens as fast as
// what it shows first.

// A block of bytes that is there.
class RawBlock {
  constructor(buffer) { this.buffer = buffer; this.size = buffer.byteLength; }

  // A buffer, and where in it the bytes from `at` on stand.
  part(at) { return [this.buffer, at]; }
}

// A block as base64.
class PackedBlock {
  constructor(text) {
    this.text = text;
    this.size = text.length / 4 * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
  }

  part(at, size) {
    const first = at - at % 3, raw = atob(this.text.slice(first / 3 * 4, Math.ceil((at + size) / 3) * 4));
    const bytes = new Uint8Array(size);
    for (let i = 0, from = at - first; i < size; i++) bytes[i] = raw.charCodeAt(from + i);
    return [bytes.buffer, 0];
  }
}

class Table {
  constructor(data, about) {
    this.data = data;
    this.rows = about ? about.rows : 0;
    this.about = about ? about.columns : {};
    this.columns = {};
    this.raws = {};
  }

  // The raw column: BigUint64Array where numbers need it.
  raw(name) {
    if (!this.raws[name]) this.raws[name] = this.unpack(name);
    return this.raws[name];
  }

  unpack(name) {
    const about = this.about[name];
    if (!about) return new Uint8Array(this.rows);
    const kinds = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array, f64: Float64Array,
      s8: Uint8Array, s16: Uint16Array, s32: Uint32Array };
    const Kind = kinds[about[0]];
    if (!Kind) throw new Error("a column of a kind that this page does not know: " + about[0]);
    return new Kind(...this.data.block.part(this.data.base + about[1], this.rows * Kind.BYTES_PER_ELEMENT), this.rows);
  }

  // A column of numbers.
  col(name) {
    if (!this.columns[name]) {
      const raw = this.raw(name);
      this.columns[name] = raw instanceof BigUint64Array ? Float64Array.from(raw, Number) : raw;
    }
    return this.columns[name];
  }

  num(name, row) { return this.col(name)[row]; }

  text(name, row) { return this.data.text(this.col(name)[row]); }

  // An address, or another number that is shown as it is written in programs.
  hex(name, row) {
    const value = this.raw(name)[row];
    return "0x" + (typeof value === "bigint" ? value : BigInt(Math.round(value))).toString(16);
  }
}

class Data {
  // `from`: an ArrayBuffer, or its base64.
  constructor(from) {
    this.block = typeof from === "string" ? new PackedBlock(from) : new RawBlock(from);
    const decoder = new TextDecoder();
    if (this.block.size < 12 || decoder.decode(this.read(0, 8)) !== "TWVIEW1\n")
      throw new Error("the data is of another version than this page");
    const size = new DataView(...this.block.part(8, 4), 4).getUint32(0, true);
    this.directory = JSON.parse(decoder.decode(this.read(12, size)));
    this.base = 12 + size;
    this.info = this.directory.info;
    this.tables = {};
    this.ends = this.table("texts").col("end");
    const texts = this.base + this.directory.textsAt;
    this.texts = this.read(texts, this.block.size - texts);
    this.known = new Map();
    this.decoder = new TextDecoder("utf-8", { fatal: false });
    this.cache = {}; // what pages worked out
  }

  read(at, size) { return new Uint8Array(...this.block.part(at, size), size); }

  table(name) {
    if (!this.tables[name]) this.tables[name] = new Table(this, this.directory[name]);
    return this.tables[name];
  }

  has(name) { return this.table(name).rows > 0; }

  // Text of any origin: bytes that are no UTF-8 come out as U+FFFD.
  text(number) {
    let text = this.known.get(number);
    if (text === undefined) {
      text = this.decoder.decode(this.texts.subarray(number ? this.ends[number - 1] : 0, this.ends[number]));
      this.known.set(number, text);
    }
    return text;
  }

  // The row of the function with the name of this number; -1: none.
  functionByName(number) {
    if (!this.cache.byName) {
      const names = this.table("functions").col("name");
      this.cache.byName = new Map();
      for (let i = names.length; i-- > 0;) this.cache.byName.set(names[i], i);
    }
    const row = this.cache.byName.get(number);
    return row === undefined ? -1 : row;
  }

  // Whether several functions have the name of this number.
  isShared(number) {
    if (!this.cache.shared) {
      const seen = new Set();
      this.cache.shared = new Set();
      for (const one of this.table("functions").col("name")) (seen.has(one) ? this.cache.shared : seen).add(one);
    }
    return this.cache.shared.has(number);
  }

  functionByText(name) {
    const table = this.table("functions");
    for (let i = 0; i < table.rows; i++) if (table.text("name", i) === name) return i;
    return -1;
  }

  // Row of the function in the code, by name; -1: none.
  codeByText(name) {
    const table = this.table("coverFunctions");
    for (let i = 0; i < table.rows; i++) if (table.text("name", i) === name) return i;
    return -1;
  }

  // "trackway COMMAND WORDS MORE"
  command(name, more) { return ["trackway", name, this.info.words, more].filter(Boolean).join(" "); }
}
