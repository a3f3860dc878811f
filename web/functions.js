// All functions with their counts; one of them with its callers and callees.

function functionDetail(data, row) {
  const functions = data.table("functions"), edges = data.table("edges"), info = data.info;
  const kinds = ["begin", "call", "tail call", "exception", "signal", "outer", "resumed", "inlined"];
  const side = (title, mine, other) => {
    const rows = range(edges.rows).filter((i) => edges.num(mine, i) === row);
    return el("div", {}, el("h3", { text: title }), new Grid({ rows, sort: 2, step: 20, empty: "none that the trace shows", columns: [
      { title: "function", value: (i) => functions.text("name", edges.num(other, i)), show: (i) => functionRow(data, edges.num(other, i)) },
      { title: "how", value: (i) => edges.num("kind", i), show: (i) => kinds[edges.num("kind", i)] || "" },
      { title: "times", kind: "num", value: (i) => edges.num("count", i) },
      { title: "instructions below", kind: "num", value: (i) => edges.num("inclusive", i) }] }).node);
  };
  const facts = [["executed in itself", count(functions.num("self", row)) + " instructions"],
    ["with what it called", count(functions.num("total", row)) + " instructions"], ["entered", plural(functions.num("entries", row), "time")]];
  if (functions.num("whole", row)) {
    facts.push(["one call", lengths(functions.num("least", row), functions.num("most", row), "instructions")]);
    if (info.unit !== "instructions") facts.push(["one call, time (estimate)", lengths(functions.num("least_time", row), functions.num("most_time", row), info.unit)]);
  }
  if (info.hasTime) facts.push(["time in itself (estimate)", length(functions.num("time", row), info.clock === 2 ? "ns" : "ticks")]);
  if (info.hasCycles) facts.push(["cycles in itself (estimate)", count(functions.num("cycles", row))]);
  if (functions.text("file", row)) facts.push(["source", functions.text("file", row) + ":" + functions.num("line", row)]);
  if (functions.text("object", row)) facts.push(["program", functions.text("object", row)]);
  if (functions.num("address", row)) facts.push(["address", functions.hex("address", row)]);
  const text = functions.text("name", row);
  return el("section", { class: "card", id: "function" }, el("h2", {}, name(text)),
    el("dl", { class: "facts" }, facts.map(([key, value]) => [el("dt", { text: key }), el("dd", { text: value })])),
    el("p", { class: "links" }, el("a", { href: link("flame", "f", text.slice(0, 1000)), text: "in the flame graph" }),
      data.codeByText(text) >= 0 ? el("a", { href: link("code", "f", text.slice(0, 1000)), text: "its code" }) : null,
      data.has("spans") ? el("a", { href: link("timeline", "f", text.slice(0, 1000)), text: "in the timeline" }) : null),
    el("div", { class: "pair" }, side("Called by", "to", "from"), side("Calls", "from", "to")));
}

function functionsPage(data, words) {
  const functions = data.table("functions"), info = data.info, total = Number(info.instructions);
  const search = el("input", { type: "search", id: "function-search", placeholder: "filter by name (key: /)", "aria-label": "filter functions", oninput: () => filter() });
  const columns = [
    { title: "function", value: (i) => functions.text("name", i), show: (i) => functionRow(data, i) },
    { title: "share", value: (i) => functions.num("self", i), show: (i) => [bar(functions.num("self", i), total), el("span", { class: "beside", text: percent(functions.num("self", i), total) })] },
    { title: "self", kind: "num", value: (i) => functions.num("self", i), help: "instructions executed in the function itself" },
    { title: "total", kind: "num", value: (i) => functions.num("total", i), help: "... and in what it called" },
    { title: "entries", kind: "num", value: (i) => functions.num("entries", i), help: "times that it was entered" },
    { title: "mean", kind: "num", value: (i) => functions.num("entries", i) ? functions.num("total", i) / functions.num("entries", i) : 0,
      show: (i) => functions.num("entries", i) ? mean(functions.num("total", i), functions.num("entries", i)) : "", help: "instructions per entry, with what it called" },
    { title: "least", kind: "num", value: (i) => functions.num("whole", i) ? functions.num("least", i) : -1, show: (i) => functions.num("whole", i) ? count(functions.num("least", i)) : "", help: "instructions of the shortest call that is whole in the trace" },
    { title: "most", kind: "num", value: (i) => functions.num("whole", i) ? functions.num("most", i) : -1, show: (i) => functions.num("whole", i) ? count(functions.num("most", i)) : "", help: "... and of the longest" }];
  if (info.hasTime) columns.push({ title: info.clock === 2 ? "time" : "ticks", kind: "num", value: (i) => functions.num("time", i),
    show: (i) => info.clock === 2 ? length(functions.num("time", i), "ns") : count(functions.num("time", i)), help: "in itself: an estimate between timestamps" });
  if (info.hasCycles) columns.push({ title: "cycles", kind: "num", value: (i) => functions.num("cycles", i), help: "in itself: an estimate between cycle counts" });
  columns.push({ title: "source", value: (i) => functions.text("file", i), show: (i) => functions.text("file", i) ? functions.text("file", i) + ":" + functions.num("line", i) : "" });
  const grid = new Grid({ caption: "Functions, by instructions executed in themselves", rows: range(functions.rows), sort: 2, columns,
    attributes: (i) => ({ "data-function": functions.text("name", i).slice(0, 200) }) });
  const filter = () => { const text = search.value.toLowerCase(); grid.set(range(functions.rows).filter((i) => functions.text("name", i).toLowerCase().includes(text))); };
  const page = el("div", {}, heading("Functions", count(functions.rows) + " functions executed " + count(total) + " instructions."));
  if (words.f) {
    let row = words.n && functions.text("name", Number(words.n)).startsWith(words.f) ? Number(words.n) : data.functionByText(words.f);
    if (row < 0) row = range(functions.rows).findIndex((i) => functions.text("name", i).startsWith(words.f));
    page.append(row >= 0 ? functionDetail(data, row) : note("Of this name no function was executed: ", name(words.f)));
  }
  page.append(el("div", { class: "tools" }, search), grid.node, el("p", { class: "dim" }, commandLine(data.command("profile"))));
  return page;
}
