// What the capture is, where the time went, and whether anything was lost.

function losses(data) {
  const info = data.info;
  const kinds = [
    ["lostOverflows", "overflow", "overflows", "the trace unit's FIFO was full: trace was lost there"],
    ["lostDiscards", "discard", "discards", "the trace unit gave up what it held back"],
    ["lostErrors", "bad packet", "bad packets", "packets that fit no rule"],
    ["lostGaps", "gap", "gaps", "frame synchronization or bytes went missing"],
    ["lostRecorder", "loss of the recorder", "losses of the recorder", "the recorder could not keep up, or may not have"],
    ["lostCode", "address without code", "addresses without code", "the program's image is missing there"],
    ["lostTruncated", "cut end", "cut ends", "the trace ends inside a packet"],
    ["lostUnsynced", "byte without synchronization", "bytes without synchronization", "before the first synchronization point, or after a loss"],
  ];
  return kinds.map(([key, one, many, about]) => ({ key, count: Number(info[key] || 0), one, many, about }));
}

// What of the capture the data is of; "": all.
function partOf(data) {
  if (data.times) return "times " + count(data.times[0]) + " to " + count(data.times[1]);
  if (data.range) return "bytes " + count(data.range[0]) + " to " + count(data.range[1]);
  return data.sampled ? bytes(data.sampled) + " of " + bytes(data.bytes) + ", from all over the capture" : "";
}

// What is missing of what was executed; bytes before the first synchronization are no loss of a healthy capture.
function realLosses(data) { return losses(data).filter((loss) => loss.count && loss.key !== "lostUnsynced"); }

function callersOf(data, row) {
  const edges = data.table("edges"), found = [];
  for (let i = 0; i < edges.rows; i++)
    if (edges.num("to", i) === row && edges.num("from", i) !== row) found.push(i);
  return found.sort((a, b) => edges.num("count", b) - edges.num("count", a));
}

function headline(data) {
  const functions = data.table("functions"), info = data.info;
  if (!functions.rows) return null;
  const edges = data.table("edges"), total = Number(info.instructions);
  const callers = callersOf(data, 0);
  const parts = [el("span", { class: "big" }, functionRow(data, 0)),
    el("span", { text: "executed " }), el("strong", { text: percent(functions.num("self", 0), total) }),
    el("span", { text: (partOf(data) ? " of the instructions decoded: " : " of all instructions: ") + count(functions.num("self", 0)) + " of " + count(total) + "." })];
  if (callers.length) {
    parts.push(el("span", { text: " It was called " + plural(functions.num("entries", 0), "time") + ", by " }));
    callers.slice(0, 3).forEach((edge, i) => {
      if (i) parts.push(i === Math.min(callers.length, 3) - 1 ? " and " : ", ");
      parts.push(functionRow(data, edges.num("from", edge)));
    });
    parts.push(callers.length > 3 ? " and " + (callers.length - 3) + " more." : ".");
  }
  return el("section", { class: "card fact", id: "most" }, el("h2", { text: "What took most" }), el("p", {}, parts));
}

function lossCard(data) {
  const found = realLosses(data), unsynced = Number(data.info.lostUnsynced || 0);
  const good = !found.length, part = partOf(data);
  const lines = good
    ? [el("p", { class: "big", text: part ? "Nothing was lost there." : "Nothing was lost." }), el("p", { text: part ? "This is of " + part + " alone." : unsynced
      ? bytes(unsynced) + " before the first synchronization point could not be read: that is usual."
      : "Every byte of trace was decoded, and every instruction has its code." })]
    : [el("p", { class: "big", text: "Something is missing." }),
      el("ul", {}, found.map((loss) => el("li", {}, el("strong", { text: count(loss.count) + " " }),
        (loss.count === 1 ? loss.one : loss.many) + ": " + loss.about))),
      el("p", {}, el("a", { href: "#losses", text: "Where, and what was running" }))];
  return el("section", { class: "card fact " + (good ? "good" : "bad"), id: "lost" },
    el("h2", {}, el("span", { class: "sign", "aria-hidden": "true", text: good ? "✓" : "!" }), "Losses"), lines);
}

function tile(title, value, about) {
  return el("div", { class: "tile" }, el("div", { class: "value", text: value }), el("div", { class: "key", text: title }),
    about ? el("div", { class: "more", text: about }) : null);
}

function tiles(data) {
  const info = data.info, functions = data.table("functions"), tracks = data.table("tracks");
  const cores = new Set(), shown = new Set(data.table("spans").col("track")); // others never ran
  for (const track of data.table("marks").col("track")) shown.add(track);
  for (const i of shown) cores.add(tracks.text("core", i) || tracks.num("cpu", i) || tracks.num("id", i));
  const threads = Array.from(shown).filter((i) => tracks.num("kind", i) === 0).length;
  const size = data.has("strips") ? data.table("strips").num("bytes", 0) : 0; // of all buffers, in each row
  const list = [tile("instructions", count(Number(info.instructions)))];
  list.push(tile("functions", count(functions.rows), count(Number(info.calls) + Number(info.tails)) + " calls"));
  if (Number(info.length)) list.push(tile(info.unit === "instructions" ? "timeline" : "time", length(Number(info.length), info.unit).replace(" instructions", ""),
    info.unit === "instructions" ? "in instructions: no timestamps" : undefined));
  if (cores.size) list.push(tile(cores.size === 1 ? "core" : "cores", count(cores.size), plural(threads, "stack")));
  if (size) list.push(tile("of trace", bytes(size), Number(info.instructions)
    ? (8 * size / Number(info.instructions)).toFixed(2) + " bits per instruction" : undefined));
  if (Number(info.codeLines)) list.push(tile("of lines executed", percent(Number(info.codeLinesCovered), Number(info.codeLines)),
    count(Number(info.codeLinesCovered)) + " of " + count(Number(info.codeLines))));
  return el("div", { class: "tiles" }, list);
}

function hottest(data) {
  const functions = data.table("functions"), total = Number(data.info.instructions);
  const order = range(functions.rows).sort((a, b) => functions.num("self", b) - functions.num("self", a)).slice(0, 5);
  const grid = new Grid({
    rows: order, sort: -1, columns: [
      { title: "function", show: (i) => functionRow(data, i) },
      { title: "share", show: (i) => [bar(functions.num("self", i), total), el("span", { class: "beside", text: percent(functions.num("self", i), total) })] },
      { title: "instructions", kind: "num", show: (i) => count(functions.num("self", i)) },
      { title: "calls", kind: "num", show: (i) => count(functions.num("entries", i)) }],
  });
  return card("Hottest functions", grid.node, el("p", {}, el("a", { href: "#functions", text: "All functions" }), "  ·  ",
    el("a", { href: "#flame", text: "Flame graph" })));
}

function neverExecuted(data) {
  const table = data.table("coverFunctions");
  const found = range(table.rows).filter((i) => table.num("is_called", i) && !table.num("covered", i)).slice(0, 5);
  if (!found.length) return null;
  return card("Called in the code, never executed", el("ul", { class: "plain" }, found.map((i) =>
    el("li", {}, name(table.text("name", i)), table.text("file", i) ? el("span", { class: "dim", text: "  " + table.text("file", i) + ":" + table.num("line", i) }) : null))));
}

function findings(data) {
  const table = data.table("findings");
  if (!table.rows) return null;
  return card("What the doctor says", el("ul", { class: "findings" }, range(table.rows).map((i) =>
    el("li", { class: table.text("severity", i) }, el("strong", { text: table.text("severity", i) + ": " + table.text("code", i) }),
      el("span", { text: "  " + table.text("text", i) }), el("div", { class: "dim", text: table.text("remedy", i) })))),
  commandLine(data.command("doctor")));
}

function overviewPage(data) {
  const info = data.info;
  const page = el("div", {}, heading(info.title || "Capture", partOf(data) ? "What is shown is of " + partOf(data) + "." : info.summary || ""));
  page.append(el("div", { class: "pair" }, headline(data), lossCard(data)), tiles(data));
  if (data.has("paths")) {
    const small = flamePreview(data);
    page.append(card("Where instructions went", note("Each box is a function, under the one that called it; its width is what was executed in it and below."),
      el("a", { href: "#flame", class: "preview", "aria-label": "Flame graph" }, small.box)));
  }
  page.append(el("div", { class: "pair" }, hottest(data), neverExecuted(data)));
  const said = findings(data);
  if (said) page.append(said);
  return page;
}
