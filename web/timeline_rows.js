// The rows of the timeline: of each track and depth the spans in the order of time, and how they are found.

const trackKinds = ["stack", "core", "exception", "gaps", "events", "port", "data", "samples", "counters"];
const spanKinds = { function: 0, exception: 1, thread: 2, gap: 3, short: 4 };
const notTraced = 4; // why trace is missing: tracing was off, nothing was lost
const trackOrder = [1, 0, 2, 3, 4, 5, 6, 7, 8]; // kinds, as they stand below each other

class TimelineRows {
  constructor(data) {
    const spans = data.table("spans"), marks = data.table("marks"), tracks = data.table("tracks");
    this.data = data;
    this.unit = data.info.unit;
    this.from = 0;
    this.to = Math.max(1, Number(data.info.length));
    this.start = spans.col("start");
    this.size = spans.col("length");
    this.name = spans.col("name");
    this.kind = spans.col("kind");
    this.count = spans.col("count");
    this.how = spans.col("how");
    const track = spans.col("track"), depth = spans.col("depth");
    const groups = new Map();
    for (let i = 0; i < spans.rows; i++) {
      // spans of an exception stand at the depth of nesting on their core: each has a row of its own anyway
      const key = track[i] * 65536 + (tracks.num("kind", track[i]) === 0 ? depth[i] : 0);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(i);
    }
    const markGroups = new Map();
    for (let i = 0; i < marks.rows; i++) {
      const key = marks.num("track", i);
      if (!markGroups.has(key)) markGroups.set(key, []);
      markGroups.get(key).push(i);
    }
    this.tracks = range(tracks.rows).sort((a, b) =>
      trackOrder.indexOf(tracks.num("kind", a)) - trackOrder.indexOf(tracks.num("kind", b)) || a - b);
    const cores = new Set(this.tracks.filter((i) => tracks.num("kind", i) === 2).map((i) => tracks.text("core", i)));
    this.hasCores = cores.size > 1; // exceptions of several
    this.groups = [];
    for (const number of this.tracks) {
      const rows = [];
      for (const [key, list] of groups)
        if (Math.floor(key / 65536) === number) rows.push({ depth: key % 65536, spans: this.sorted(list) });
      rows.sort((a, b) => a.depth - b.depth);
      const inGroup = markGroups.get(number);
      if (!rows.length && !inGroup) continue;
      if (inGroup) inGroup.sort((a, b) => marks.num("time", a) - marks.num("time", b));
      // stacks whose callers are not known begin deeper: rows between are left out
      this.groups.push({ track: number, kind: tracks.num("kind", number), rows, marks: inGroup || null, open: true,
        title: this.title(tracks, number) });
    }
  }

  title(tracks, number) {
    const kind = tracks.num("kind", number), text = tracks.text("name", number) || "track " + number;
    return [text, kind === 0 || kind === 3 ? "" : kind === 2 && this.hasCores ? tracks.text("core", number).slice(0, 40) : trackKinds[kind]];
  }

  sorted(list) {
    list.sort((a, b) => this.start[a] - this.start[b] || this.size[b] - this.size[a]);
    return Uint32Array.from(list);
  }

  end(i) { return this.start[i] + this.size[i]; }

  // The first span of a row that ends behind a time.
  first(spans, time) {
    let low = 0, high = spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[spans[middle]] + this.size[spans[middle]] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // Spans of a row between two times, for pixels of this length: at most one for each pixel.
  * visible(spans, from, to, pixel) {
    let at = this.first(spans, from);
    while (at < spans.length) {
      const i = spans[at], start = this.start[i];
      if (start > to) return;
      yield i;
      if (this.size[i] >= pixel) at++;
      else at = Math.max(at + 1, this.first(spans, start + pixel));
    }
  }

  // The span of a row at a time, or within a few units of it.
  at(spans, time, slack) {
    const near = this.first(spans, time - slack);
    let best = -1, distance = Infinity;
    for (let k = near; k < spans.length && k < near + 200; k++) {
      const i = spans[k], start = this.start[i], end = this.end(i);
      if (start > time + slack) break;
      const away = time < start ? start - time : time > end ? time - end : 0;
      if (away < distance) { best = i; distance = away; }
    }
    return best;
  }

  // What is written on a span.
  label(i) {
    const text = this.data.text(this.name[i]);
    return this.count[i] > 1 ? text + " … (" + count(this.count[i]) + ")" : text;
  }

  isLoss(i) { return this.kind[i] === spanKinds.gap && this.how[i] !== notTraced; }

  gapRows() {
    return this.groups.filter((group) => group.kind === 3).flatMap((group) => group.rows);
  }
}
