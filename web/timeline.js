// The timeline: wheel zooms, drag moves, keys do both; a click tells all that is known of a span.

class TimelineView {
  constructor(data, words) {
    this.data = data;
    this.rows = data.cache.timelineRows || (data.cache.timelineRows = new TimelineRows(data));
    this.from = this.rows.from;
    this.to = this.rows.to;
    this.cursor = null; // set by a click or keys
    this.hover = null;
    this.selected = -1;
    this.search = (words.f || "").toLowerCase();
    if (words.from !== undefined && words.to !== undefined) { this.from = Number(words.from); this.to = Number(words.to); }
    this.height = 100;
    this.strip = canvasOf({ label: "All of the time, with losses in red; drag to choose what is shown below", class: "strip", height: () => 46,
      draw: (context, width, height) => drawStrip(context, this, width, height) });
    this.view = canvasOf({ label: "Timeline. Keys: w and s zoom, a and d move, arrows go from span to span, Home shows all.", focus: true, class: "rows",
      height: () => this.place(), draw: (context, width) => this.draw(context, width) });
    this.time = el("span", { class: "dim", id: "time-cursor", "aria-live": "off" });
    this.window = el("span", { class: "dim", id: "time-window" });
    this.detail = el("section", { class: "card", id: "span", "aria-live": "polite" }, note("Click a span, or go to it with the arrow keys: what it is stands here."));
    this.tableBox = el("details", { class: "as-table" }, el("summary", { text: "The longest spans shown, as a table" }));
    this.tableBox.addEventListener("toggle", () => this.table());
    this.input = el("input", { type: "search", id: "time-search", placeholder: "highlight functions (key: /)", "aria-label": "highlight functions", value: words.f || "",
      oninput: () => { this.search = this.input.value.toLowerCase(); this.redraw(); } });
    this.listen();
    this.redraw();
    if (this.search) this.find(1);
  }

  place() {
    let y = timelineHead + 2;
    for (const group of this.rows.groups) {
      const lines = (group.open ? group.rows.length : Math.min(1, group.rows.length)) + (group.marks ? 1 : 0);
      group.y = y;
      group.height = Math.max(1, lines) * timelineRow;
      y += group.height + 5;
    }
    this.height = y;
    return y;
  }

  draw(context, width) {
    context.font = font;
    drawAxis(context, this, width);
    for (const group of this.rows.groups) drawGroup(context, this, group, width);
    drawCursor(context, this, this.hover, width, false);
    drawCursor(context, this, this.cursor, width, true);
    if (this.selected >= 0) this.drawSelected(context, width);
  }

  drawSelected(context, width) {
    const place = this.placeOf(this.selected), scale = (width - timelineLabel) / (this.to - this.from);
    if (!place) return;
    const x0 = Math.max(timelineLabel, timelineLabel + (this.rows.start[this.selected] - this.from) * scale);
    const x1 = Math.min(width, timelineLabel + (this.rows.end(this.selected) - this.from) * scale);
    if (x1 < timelineLabel || x0 > width) return;
    context.strokeStyle = color("text");
    context.lineWidth = 2;
    context.strokeRect(x0 + 1, place.y + 1, Math.max(2, x1 - x0 - 2), timelineRow - 2);
  }

  // Group, row and place of a span.
  placeOf(i) {
    const spans = this.data.table("spans"), track = spans.num("track", i), depth = spans.num("depth", i);
    for (const group of this.rows.groups) {
      if (group.track !== track) continue;
      const number = group.kind === 0 ? group.rows.findIndex((row) => row.depth === depth) : 0;
      if (number >= 0) return { group, number, row: group.rows[number], y: group.y + (group.open ? number : 0) * timelineRow };
    }
    return null;
  }

  redraw() {
    const unit = this.rows.unit;
    this.window.textContent = tick(this.from, unit) + " to " + tick(this.to, unit) + (unit === "ns" ? "" : " " + unit) + ": " + percent(this.to - this.from, this.rows.to - this.rows.from) + " of all";
    this.strip.draw();
    this.view.draw();
    this.table();
  }

  setWindow(from, to) {
    const all = this.rows.to - this.rows.from, least = Math.min(all, this.rows.unit === "ns" ? 10 : 4);
    let size = Math.min(all, Math.max(least, to - from));
    from = Math.min(Math.max(this.rows.from, from), this.rows.to - size);
    this.from = from;
    this.to = from + size;
    this.redraw();
  }

  zoom(factor, at) {
    const around = at === undefined ? (this.from + this.to) / 2 : at;
    this.setWindow(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  pan(share) { const size = this.to - this.from; this.setWindow(this.from + share * size, this.to + share * size); }

  timeAt(event) {
    const box = this.view.canvas.getBoundingClientRect();
    return this.from + (event.clientX - box.left - timelineLabel) / (box.width - timelineLabel) * (this.to - this.from);
  }

  spanAt(event) {
    const box = this.view.canvas.getBoundingClientRect(), y = event.clientY - box.top, time = this.timeAt(event);
    if (event.clientX - box.left < timelineLabel) return -1;
    const slack = 2 * (this.to - this.from) / (box.width - timelineLabel);
    for (const group of this.rows.groups) {
      if (y < group.y || y >= group.y + group.height) continue;
      const row = group.rows[Math.floor((y - group.y) / timelineRow)];
      return row ? this.rows.at(row.spans, time, slack) : -1;
    }
    return -1;
  }

  listen() {
    const canvas = this.view.canvas;
    let drag = null;
    canvas.addEventListener("wheel", (event) => {
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); this.pan((event.deltaX || event.deltaY) / 1000); return; }
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY / 500), this.timeAt(event));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, from: this.from, to: this.to, moved: false }; canvas.setPointerCapture(event.pointerId); tip.hide(); });
    canvas.addEventListener("pointermove", (event) => {
      if (drag) {
        const box = canvas.getBoundingClientRect(), shift = (event.clientX - drag.x) / (box.width - timelineLabel) * (drag.to - drag.from);
        if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
        if (drag.moved) this.setWindow(drag.from - shift, drag.to - shift);
        return;
      }
      this.pointed(event);
    });
    canvas.addEventListener("pointerup", (event) => { const was = drag; drag = null; if (was && !was.moved) this.click(event); });
    canvas.addEventListener("pointerleave", () => { this.hover = null; tip.hide(); this.view.draw(); });
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.listenStrip();
  }

  listenStrip() {
    const canvas = this.strip.canvas;
    let from = null;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return this.rows.from + Math.max(0, Math.min(1, (event.clientX - box.left - timelineLabel) / (box.width - timelineLabel))) * (this.rows.to - this.rows.from);
    };
    canvas.addEventListener("pointerdown", (event) => { from = at(event); canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => { if (from !== null && Math.abs(at(event) - from) > 0) this.setWindow(Math.min(from, at(event)), Math.max(from, at(event))); });
    canvas.addEventListener("pointerup", (event) => {
      const to = at(event), size = this.to - this.from;
      if (from !== null && from === to) this.setWindow(to - size / 2, to + size / 2);
      from = null;
    });
  }

  pointed(event) {
    const time = this.timeAt(event), i = this.spanAt(event);
    this.hover = time < this.from ? null : time;
    this.showTime();
    this.view.draw();
    if (i < 0) { tip.hide(); return; }
    const lines = [this.data.text(this.rows.name[i]), length(this.rows.size[i], this.rows.unit)];
    if (this.rows.count[i] > 1) lines.push(count(this.rows.count[i]) + " short spans as one");
    tip.show(event.clientX, event.clientY, lines);
  }

  showTime() {
    const unit = this.rows.unit, parts = [];
    if (this.hover !== null) parts.push("pointer at " + length(Math.round(this.hover), unit));
    if (this.cursor !== null) parts.push("cursor at " + length(Math.round(this.cursor), unit));
    if (this.hover !== null && this.cursor !== null) parts.push("between them " + length(Math.round(Math.abs(this.hover - this.cursor)), unit));
    this.time.textContent = parts.join(" · ");
  }

  click(event) {
    const box = this.view.canvas.getBoundingClientRect(), y = event.clientY - box.top;
    if (event.clientX - box.left < timelineLabel) {
      const group = this.rows.groups.find((one) => y >= one.y && y < one.y + timelineRow);
      if (group) { group.open = !group.open; this.redraw(); }
      return;
    }
    this.cursor = Math.max(this.rows.from, Math.min(this.rows.to, this.timeAt(event)));
    this.showTime();
    this.select(this.spanAt(event));
  }

  select(i) {
    this.selected = i;
    clear(this.detail).append(i < 0 ? note("No span there.") : spanDetail(this, i));
    this.view.draw();
  }

  // A span that is not in sight comes into it.
  reveal(i) {
    const start = this.rows.start[i], end = this.rows.end(i), size = this.to - this.from;
    if (end < this.from || start > this.to) this.setWindow(start - size / 3, start - size / 3 + size);
    this.cursor = start;
    this.showTime();
    this.select(i);
  }

  // The next span whose name matches what is searched for.
  find(step) {
    if (!this.search) return;
    let best = -1;
    const from = this.selected >= 0 ? this.rows.start[this.selected] : -1;
    for (let i = 0; i < this.rows.start.length; i++) {
      const start = this.rows.start[i];
      if (i === this.selected || (step > 0 ? start <= from && this.selected >= 0 : start >= from)) continue;
      if (best >= 0 && (step > 0 ? start >= this.rows.start[best] : start <= this.rows.start[best])) continue;
      if (this.data.text(this.rows.name[i]).toLowerCase().includes(this.search)) best = i;
    }
    if (best >= 0) this.reveal(best);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.cursor === null ? undefined : this.cursor;
    const acts = { w: () => this.zoom(0.6, at), "+": () => this.zoom(0.6, at), s: () => this.zoom(1 / 0.6, at), "-": () => this.zoom(1 / 0.6, at),
      a: () => this.pan(-0.2), d: () => this.pan(0.2), Home: () => this.setWindow(this.rows.from, this.rows.to),
      f: () => { if (this.selected >= 0) { const size = Math.max(1, this.rows.size[this.selected]); this.setWindow(this.rows.start[this.selected] - size / 4, this.rows.end(this.selected) + size / 4); } },
      n: () => this.find(1), p: () => this.find(-1), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), ArrowUp: () => this.level(-1), ArrowDown: () => this.level(1) };
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // The neighbour in the same row.
  step(by) {
    if (this.selected < 0) { const group = this.rows.groups.find((one) => one.rows.length); if (group) this.reveal(group.rows[0].spans[0]); return; }
    const place = this.placeOf(this.selected), next = place.row.spans[place.row.spans.indexOf(this.selected) + by];
    if (next !== undefined) this.reveal(next);
  }

  // The caller, or the first that was called.
  level(by) {
    if (this.selected < 0) { this.step(1); return; }
    const place = this.placeOf(this.selected), row = place.group.rows[place.number + by];
    if (!row) return;
    const start = this.rows.start[this.selected], next = row.spans[this.rows.first(row.spans, start)];
    if (next !== undefined && this.rows.start[next] < Math.max(this.rows.end(this.selected), start + 1)) this.reveal(next);
  }

  table() {
    if (!this.tableBox.open) return;
    const spans = this.data.table("spans"), tracks = this.data.table("tracks"), found = [];
    for (let i = 0; i < spans.rows; i++) if (this.rows.start[i] < this.to && this.rows.end(i) > this.from) found.push(i);
    found.sort((a, b) => this.rows.size[b] - this.rows.size[a]);
    const grid = new Grid({ caption: "Spans between " + tick(this.from, this.rows.unit) + " and " + tick(this.to, this.rows.unit), rows: found.slice(0, 200), sort: -1, columns: [
      { title: "span", show: (i) => name(this.rows.label(i)) }, { title: "track", show: (i) => tracks.text("name", spans.num("track", i)) },
      { title: "from", kind: "num", value: (i) => this.rows.start[i] }, { title: "length", kind: "num", value: (i) => this.rows.size[i] },
      { title: "depth", kind: "num", value: (i) => spans.num("depth", i) }, { title: "instructions", kind: "num", value: (i) => spans.num("n", i) }] });
    clear(this.tableBox).append(el("summary", { text: "The longest spans shown, as a table" }), grid.node);
  }
}

// All that is known of a span, and the command that shows the trace there.
function spanDetail(view, i) {
  const data = view.data, spans = data.table("spans"), tracks = data.table("tracks"), unit = view.rows.unit, rows = view.rows;
  const first = BigInt(data.info.first), kinds = ["function", "exception", "thread", "missing trace", "short spans"];
  const begin = rows.start[i], end = rows.end(i), before = spans.num("before", i), after = spans.num("after", i);
  const absolute = (value) => (first + BigInt(Math.round(value))).toString().replace(/\B(?=(\d{3})+$)/g, ",");
  const facts = [["what", kinds[rows.kind[i]] + (rows.count[i] > 1 ? ": " + count(rows.count[i]) + " short ones as one" : "")],
    ["on", tracks.text("name", spans.num("track", i)) + (tracks.text("source", spans.num("track", i)) ? " (" + tracks.text("source", spans.num("track", i)) + ")" : "")],
    ["from", absolute(begin) + " " + unit], ["to", absolute(end) + " " + unit], ["length", length(rows.size[i], unit)]];
  if (before || after) facts.push(["known to lie in", "[" + absolute(begin - before) + ", " + absolute(end + after) + "]: between timestamps it is an estimate"]);
  if (spans.num("n", i)) facts.push(["executed", count(spans.num("n", i)) + " instructions, with what it called"]);
  if (rows.kind[i] === spanKinds.gap && spans.num("value", i)) facts.push(["bytes passed over", count(spans.num("value", i))]);
  facts.push(["offset in the capture", count(spans.num("index", i))]);
  const text = data.text(rows.name[i]), isFunction = rows.kind[i] === spanKinds.function && data.functionByName(rows.name[i]) >= 0;
  return el("div", {}, el("h2", {}, isFunction ? functionLink(text) : name(text)),
    el("dl", { class: "facts" }, facts.map(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })])),
    el("p", {}, "See the trace there: ", commandLine(data.command("decode", "--at +" + spans.num("index", i) + " --count 40"))));
}

// What is shown, decoded by itself, of a source that can: by time where there are timestamps, else by the bytes of its spans.
function decodeShown(view, app) {
  const first = BigInt(view.data.info.first), rows = view.rows, index = view.data.table("spans").col("index");
  if (rows.unit === "ns" || rows.unit === "ticks")
    return app.decodeTime(first + BigInt(Math.floor(view.from)), first + BigInt(Math.ceil(view.to)) + 1n);
  let from = Infinity, to = 0;
  for (let i = 0; i < index.length; i++)
    if (rows.start[i] >= view.from && rows.start[i] < view.to) { from = Math.min(from, index[i]); to = Math.max(to, index[i]); }
  return to ? app.decode(from, to + 1) : null;
}

// The timelines of all captures, below each other.
async function sideBySide(app, box) {
  clear(box);
  for (let i = 0; i < app.source.count(); i++) {
    if (i === app.number) continue;
    const data = await app.load(i), view = new TimelineView(data, {});
    for (const one of [view.window, view.detail]) one.removeAttribute("id"); // the first view has them
    box.append(card((i + 1) + ": " + app.names[i].slice(0, 80), el("p", { class: "status" }, view.window), view.strip.box, view.view.box, view.detail));
  }
}

function timelinePage(data, words, app) {
  const view = new TimelineView(data, words), least = Number(data.info.spanLeast), beside = el("div", { id: "beside" });
  const all = el("input", { type: "checkbox", id: "all-captures", onchange: () => { app.isBeside = all.checked; if (all.checked) sideBySide(app, beside); else clear(beside); } });
  if (app && app.isBeside && app.source.count() > 1) { all.checked = true; sideBySide(app, beside); }
  const button = (text, act, help) => el("button", { type: "button", text, title: help, onclick: act });
  return el("div", {}, heading("Timeline", data.info.unit === "instructions" ? "The trace has no timestamps: time is counted in instructions executed." : "Times count " + data.info.unit + "."),
    el("div", { class: "tools" }, view.input, button("next", () => view.find(1), "next that matches (key: n)"), button("−", () => view.zoom(1 / 0.6), "zoom out (key: s)"), button("+", () => view.zoom(0.6), "zoom in (key: w)"),
      button("◂", () => view.pan(-0.2), "earlier (key: a)"), button("▸", () => view.pan(0.2), "later (key: d)"), button("all", () => view.setWindow(view.rows.from, view.rows.to), "all of it (key: Home)"),
      app && app.source.window ? button("decode", () => decodeShown(view, app), "decode what is shown: nothing is merged then") : null,
      app && app.source.count() > 1 ? el("label", {}, all, " other captures below") : null, view.window),
    view.strip.box, view.view.box, el("p", { class: "status" }, view.time),
    least > 0 ? note("Spans shorter than " + length(least, data.info.unit) + " are merged here; for each of them: ", commandLine(data.command("serve")), " or ", commandLine(data.command("timeline"))) : null,
    view.detail, el("p", { class: "dim" }, "Wheel: zoom. Drag: move. Keys: w s zoom, a d move, arrows from span to span, f fits the span, n and p next and previous match, Home all."), view.tableBox, beside);
}
