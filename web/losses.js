// What is missing: a map of the capture, counts by kind, and each gap with what was running before it.

const stripStates = [["nothing", "no trace of it"], ["synced", "decoded"], ["missing", "code is missing"], ["gap", "not synchronized, or unreadable"], ["overflow", "overflow"]];

function lossMap(data) {
  const strips = data.table("strips"), columns = 100, rows = [];
  for (let i = 0; i + columns <= strips.rows; i += columns) {
    const cells = el("div", { class: "cells", role: "img", "aria-label": "" });
    const seen = new Array(stripStates.length).fill(0);
    for (let k = 0; k < columns; k++) {
      const state = strips.num("state", i + k);
      seen[state]++;
      cells.append(el("span", { class: "cell " + stripStates[state][0], title: stripStates[state][1] + ", at " + k + " % of the capture" }));
    }
    cells.setAttribute("aria-label", seen.map((n, s) => n ? n + " % " + stripStates[s][1] : "").filter(Boolean).join(", "));
    rows.push(el("div", { class: "strip-row" }, el("div", { class: "strip-name" }, name(strips.text("name", i))), cells));
  }
  const legend = el("div", { class: "legend" }, stripStates.map(([kind, text]) => el("span", {}, el("span", { class: "cell " + kind }), " " + text)));
  return card("Map of the capture", note("From its first byte to its last, each cell a hundredth of " + bytes(strips.num("bytes", 0)) + "; a row for each source."), rows, legend);
}

function lossesPage(data) {
  const found = losses(data), spans = data.table("spans"), kind = spans.col("kind"), unit = data.info.unit, tracks = data.table("tracks");
  const gaps = range(spans.rows).filter((i) => kind[i] === spanKinds.gap && spans.num("how", i) !== notTraced), real = realLosses(data);
  const running = new Map();
  for (const i of gaps) if (spans.num("running", i)) running.set(spans.num("running", i), (running.get(spans.num("running", i)) || 0) + spans.num("count", i));
  const page = el("div", {}, heading("Losses", real.length ? "Part of what was executed is not in the trace." : partOf(data) ? "Nothing was lost in " + partOf(data) + "." : "Nothing was lost."));
  const off = range(spans.rows).filter((i) => kind[i] === spanKinds.gap && spans.num("how", i) === notTraced).reduce((sum, i) => sum + spans.num("count", i), 0);
  if (data.has("strips")) page.append(lossMap(data));
  page.append(card("By kind", new Grid({ rows: found, sort: -1, columns: [{ title: "kind", show: (loss) => loss.many }, { title: "times", kind: "num", show: (loss) => count(loss.count) },
    { title: "what that is", show: (loss) => loss.about }] }).node));
  if (gaps.length) {
    page.append(card("Gaps", new Grid({ caption: "Stretches without trace", rows: gaps, sort: 1, down: false, step: 50, columns: [
      { title: "why", value: (i) => spans.text("name", i), show: (i) => name(spans.text("name", i) + (spans.num("count", i) > 1 ? " (" + count(spans.num("count", i)) + " as one)" : "")) },
      { title: "from", kind: "num", value: (i) => spans.num("start", i), show: (i) => el("a", { href: "#timeline/from=" + Math.max(0, spans.num("start", i) - 4 * Math.max(10, spans.num("length", i))) + "/to=" + (spans.num("start", i) + 5 * Math.max(10, spans.num("length", i))), text: tick(spans.num("start", i), unit) }) },
      { title: "length", kind: "num", value: (i) => spans.num("length", i), show: (i) => length(spans.num("length", i), unit) },
      { title: "offset", kind: "num", value: (i) => spans.num("index", i) }, { title: "bytes", kind: "num", value: (i) => spans.num("value", i) },
      { title: "running before", value: (i) => spans.text("running", i), show: (i) => spans.num("running", i) ? functionLink(spans.text("running", i)) : "" },
      { title: "source", value: (i) => tracks.text("source", spans.num("track", i)), show: (i) => tracks.text("source", spans.num("track", i)) || tracks.text("name", spans.num("track", i)) }] }).node));
    if (running.size) page.append(card("What was running before", new Grid({ rows: Array.from(running), sort: 1, columns: [
      { title: "function", value: ([number]) => data.text(number), show: ([number]) => functionLink(data.text(number)) }, { title: "gaps after it", kind: "num", value: ([, n]) => n }] }).node));
  }
  if (off) page.append(note("Tracing was off " + plural(off, "time") + ", by a filter or in debug state: nothing was lost there."));
  const said = findings(data);
  if (said) page.append(said);
  page.append(el("p", { class: "dim" }, commandLine(data.command("doctor")), " ", commandLine(data.command("stats"))));
  return page;
}
