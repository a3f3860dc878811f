// Interrupts and exceptions: how often, how long, how regularly, and whom they interrupted.

function histogram(data, row, what, unit) {
  const table = data.table("interruptLengths"), found = range(table.rows).filter((i) => table.num("interrupt", i) === row && table.num("what", i) === what);
  if (!found.length) return note("no lengths are known");
  const low = table.num("bucket", found[0]), high = table.num("bucket", found[found.length - 1]), counts = new Array(high - low + 1).fill(0);
  for (const i of found) counts[table.num("bucket", i) - low] = table.num("count", i);
  const most = Math.max(...counts), edge = (bucket) => bucket ? 2 ** (bucket - 1) : 0;
  return el("div", { class: "histogram", role: "img", "aria-label": counts.map((n, k) => n + " from " + edge(low + k)).join(", ") }, counts.map((n, k) =>
    el("div", { class: "column", title: count(n) + " from " + length(edge(low + k), unit) + " to before " + length(edge(low + k + 1), unit) },
      el("span", { class: "value", text: n ? short(n) : "" }), el("span", { class: "stick", style: { height: (n ? Math.max(2, 60 * n / most) : 0) + "px" } }), el("span", { class: "edge", text: tick(edge(low + k), unit) }))));
}

// Entries over time: how regularly they come.
function entryStrip(data, track) {
  const rows = data.cache.timelineRows || (data.cache.timelineRows = new TimelineRows(data));
  const group = rows.groups.find((one) => one.track === track);
  if (!group || !group.rows.length) return null;
  return canvasOf({ label: "its entries over all of the time", class: "small", height: () => 26, draw: (context, width, height) => {
    context.fillStyle = color("well");
    context.fillRect(0, 0, width, height);
    context.fillStyle = color("interrupt");
    for (const row of group.rows) for (const i of rows.visible(row.spans, rows.from, rows.to, (rows.to - rows.from) / width))
      context.fillRect((rows.start[i] - rows.from) / (rows.to - rows.from) * width, 2, Math.max(1, rows.size[i] / (rows.to - rows.from) * width), height - 4);
  } }).box;
}

function interruptCard(data, row) {
  const table = data.table("interrupts"), whom = data.table("interrupted"), unit = data.info.unit;
  const n = (key) => table.num(key, row), average = (sum, of) => of ? length(Math.round(10 * sum / of) / 10, unit) : "not known";
  const facts = [["times", count(n("count"))], ["net (without those inside)", n("net_count") ? lengths(n("net_least"), n("net_most"), unit) + ", mean " + average(n("net_sum"), n("net_count")) : "not known"],
    ["gross (entry to exit)", n("net_count") ? lengths(n("gross_least"), n("gross_most"), unit) + ", mean " + average(n("gross_sum"), n("net_count")) : "not known"]];
  if (n("period_count")) facts.push(["period", "mean " + average(n("period_sum"), n("period_count")) + ", " + lengths(n("period_least"), n("period_most"), unit) + ": jitter " + length(n("period_most") - n("period_least"), unit)]);
  for (const [key, text] of [["nested", "interrupted another one"], ["preempted", "were interrupted themselves"], ["chained", "directly after another one"], ["open", "not whole in the trace"], ["estimated", "with an estimated end"]])
    if (n(key)) facts.push([text, count(n(key))]);
  const victims = range(whom.rows).filter((i) => whom.num("interrupt", i) === row);
  return el("section", { class: "card", "data-interrupt": n("number") }, el("h2", {}, name(table.text("name", row)), el("span", { class: "dim", text: "  number " + n("number") + " on " + table.text("source", row) })),
    el("div", { class: "pair" }, el("dl", { class: "facts" }, facts.map(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })])),
      el("div", {}, el("h3", { text: "Net length, in " + unit + " from" }), histogram(data, row, 0, unit))),
    el("h3", { text: "Over time" }), entryStrip(data, n("track")),
    el("div", { class: "pair" }, el("div", {}, el("h3", { text: "Whom it interrupted" }), new Grid({ rows: victims, sort: 1, step: 8, empty: "not known", columns: [
      { title: "function", value: (i) => whom.text("name", i), show: (i) => functionLink(whom.text("name", i)) }, { title: "times", kind: "num", value: (i) => whom.num("count", i) }] }).node),
    n("period_count") ? el("div", {}, el("h3", { text: "Period, in " + unit + " from" }), histogram(data, row, 2, unit)) : null));
}

function interruptsPage(data) {
  const table = data.table("interrupts"), unit = data.info.unit;
  const grid = new Grid({ caption: "Exceptions and interrupts, in " + unit, rows: range(table.rows), sort: 3, columns: [
    { title: "name", value: (i) => table.text("name", i) }, { title: "number", kind: "num", value: (i) => table.num("number", i) }, { title: "core", value: (i) => table.text("source", i) },
    { title: "times", kind: "num", value: (i) => table.num("count", i) },
    { title: "net mean", kind: "num", value: (i) => table.num("net_count", i) ? table.num("net_sum", i) / table.num("net_count", i) : -1, show: (i) => table.num("net_count", i) ? mean(table.num("net_sum", i), table.num("net_count", i)) : "" },
    { title: "net most", kind: "num", value: (i) => table.num("net_most", i) }, { title: "net sum", kind: "num", value: (i) => table.num("net_sum", i) },
    { title: "gross most", kind: "num", value: (i) => table.num("gross_most", i) }, { title: "nested", kind: "num", value: (i) => table.num("nested", i) }, { title: "deepest", kind: "num", value: (i) => table.num("depth", i) }],
  attributes: (i) => ({ "data-number": table.num("number", i) }) });
  return el("div", {}, heading("Interrupts", "How often exceptions came, how long they took, and whom they interrupted."), card("", grid.node),
    range(table.rows).sort((a, b) => table.num("count", b) - table.num("count", a)).slice(0, 40).map((row) => interruptCard(data, row)),
    el("p", { class: "dim" }, commandLine(data.command("interrupts"))));
}
