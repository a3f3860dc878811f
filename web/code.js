// Source and assembly: how often each instruction was executed, which way branches went.

// Arrows of jumps inside one function: { from, to, lane } by row, at most a few lanes wide.
function jumpArrows(code, first, rows) {
  const places = new Map();
  for (let i = 0; i < rows; i++) places.set(code.hex("address", first + i), i);
  const arrows = [];
  for (let i = 0; i < rows; i++) {
    const to = code.num("to", first + i) ? places.get(code.hex("to", first + i)) : undefined;
    if (to !== undefined && arrows.length < 400) arrows.push({ from: i, to, low: Math.min(i, to), high: Math.max(i, to) });
  }
  arrows.sort((a, b) => (a.high - a.low) - (b.high - b.low));
  const lanes = [];
  for (const arrow of arrows) {
    let lane = 0;
    while (lane < 6 && (lanes[lane] || []).some((other) => other.low <= arrow.high && arrow.low <= other.high)) lane++;
    arrow.lane = lane;
    (lanes[lane] = lanes[lane] || []).push(arrow);
  }
  return arrows.filter((arrow) => arrow.lane < 6);
}

function svgNode(tag, about) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(about)) node.setAttribute(key, value);
  return node;
}

// Drawn once the rows have their places.
function drawArrows(box, table, lines, arrows) {
  const top = table.getBoundingClientRect().top;
  const middle = (row) => { const at = lines[row].getBoundingClientRect(); return at.top - top + at.height / 2; };
  const svg = svgNode("svg", { class: "arrows", width: 58, height: table.offsetHeight, "aria-hidden": "true" });
  for (const arrow of arrows) {
    const x = 50 - 8 * arrow.lane - 4, y0 = middle(arrow.from), y1 = middle(arrow.to);
    svg.append(svgNode("path", { d: `M56 ${y0} H${x} V${y1} H52`, class: arrow.to < arrow.from ? "back" : "" }),
      svgNode("path", { d: `M51 ${y1 - 3} L56 ${y1} L51 ${y1 + 3} Z`, class: "tip" + (arrow.to < arrow.from ? " back" : "") }));
  }
  box.querySelectorAll("svg.arrows").forEach((old) => old.remove());
  box.prepend(svg);
}

function branchCell(code, i) {
  const taken = code.num("taken", i), not = code.num("not_taken", i), all = taken + not;
  if (!code.num("is_branch", i)) return "";
  if (!all) return el("span", { class: "dim", text: "never reached" });
  const oneWay = !taken || !not;
  return [el("span", { class: "split" + (oneWay ? " one-way" : ""), "aria-hidden": "true" }, el("span", { style: { width: 100 * taken / all + "%" } })),
    el("span", { class: "beside", text: oneWay ? (taken ? "always taken" : "never taken") : percent(taken, all) + " taken" })];
}

function sourceTexts(data) {
  if (!data.cache.sources) {
    const lines = data.table("lines");
    data.cache.sources = new Map();
    for (let i = 0; i < lines.rows; i++) data.cache.sources.set(lines.num("file", i) + ":" + lines.num("line", i), i);
  }
  return data.cache.sources;
}

// A row for each source line where it changes, then its instructions.
function codeRows(data, first, rows, hottest) {
  const code = data.table("code"), targets = data.table("codeTargets"), lines = data.table("lines"), body = el("tbody"), placed = [];
  const targetsOf = new Map();
  for (let i = 0; i < targets.rows; i++) {
    const at = targets.num("code", i);
    if (at >= first && at < first + rows) targetsOf.set(at, (targetsOf.get(at) || []).concat(i));
  }
  let last = "";
  for (let i = first; i < first + rows; i++) {
    const file = code.num("file", i), line = code.num("line", i), key = file + ":" + line;
    if (line && key !== last) {
      const source = sourceTexts(data).get(key), text = source === undefined ? "" : lines.text("text", source);
      body.append(el("tr", { class: "source" }, el("td", { class: "num", text: source === undefined ? "" : count(lines.num("count", source)) }), el("td"),
        el("td", { colspan: 3 }, el("span", { class: "place", title: data.text(file), text: data.text(file).replace(/^.*\//, "") + ":" + line }), text ? el("code", { text: "  " + text }) : null)));
      last = key;
    }
    const executed = code.num("count", i), heat = hottest ? executed / hottest : 0;
    const tr = el("tr", { class: executed ? "ran" : "never" }, el("td", { class: "num" }, el("span", { text: executed ? count(executed) : "never" })),
      el("td", { class: "heat" }, bar(executed, hottest, heat > 0.5 ? "hot" : "")), el("td", { class: "address", text: code.hex("address", i) }),
      el("td", { class: "asm" }, el("code", { text: code.text("text", i) })), el("td", { class: "branch" }, branchCell(code, i),
        (targetsOf.get(i) || []).slice(0, 20).map((t) => el("div", { class: "target" }, "→ ", name(targets.text("name", t) || targets.hex("to", t)), " " + plural(targets.num("count", t), "time")))));
    placed.push(tr);
    body.append(tr);
  }
  return { body, placed, arrows: jumpArrows(code, first, rows) };
}

const codeMost = 1000; // instructions at a time: programs without symbols are one function

// Instructions from `at` on.
function codePart(data, row, at, hottest) {
  const functions = data.table("coverFunctions"), first = functions.num("first", row) + at;
  const { body, placed, arrows } = codeRows(data, first, Math.min(codeMost, functions.num("rows", row) - at), hottest);
  const table = el("table", { class: "code" }, el("caption", { text: "Code of " + functions.text("name", row).slice(0, 200) }),
    el("thead", {}, el("tr", {}, ["executed", "", "address", "instruction", "branch"].map((text, i) => el("th", { scope: "col", class: i === 0 ? "num" : "text", text })))), body);
  const box = el("div", { class: "code-box" }, table);
  if (arrows.length) new ResizeObserver(() => { if (table.isConnected) drawArrows(box, table, placed, arrows); }).observe(table);
  return box;
}

// All of it, or a part at a time, the hottest instruction's first.
function codeOf(data, row) {
  const functions = data.table("coverFunctions"), code = data.table("code"), first = functions.num("first", row), rows = functions.num("rows", row);
  if (!rows) return note("Of this function no code is in the report. ", commandLine(data.command("annotate", "--function '" + functions.text("name", row).slice(0, 200) + "'")));
  let hottest = 0, place = 0;
  for (let i = 0; i < rows; i++) if (code.num("count", first + i) > hottest) { hottest = code.num("count", first + i); place = i; }
  if (rows <= codeMost) return codePart(data, row, 0, hottest);
  const box = el("div", {}), show = (at) => {
    const button = (text, to) => el("button", { type: "button", text, disabled: to < 0 || to >= rows, onclick: () => show(to) });
    clear(box).append(el("div", { class: "tools", id: "code-part" }, button("first", 0), button("earlier", at - codeMost), button("hottest", place - place % codeMost), button("later", at + codeMost),
      el("span", { class: "dim", text: "instructions " + count(at + 1) + " to " + count(Math.min(rows, at + codeMost)) + " of " + count(rows) })), codePart(data, row, at, hottest));
  };
  show(place - place % codeMost);
  return box;
}

function codePage(data, words) {
  const functions = data.table("coverFunctions"), shown = range(functions.rows).filter((i) => functions.num("rows", i)).sort((a, b) => functions.num("self", b) - functions.num("self", a));
  let row = words.f ? data.codeByText(words.f) : -1;
  if (row < 0 && words.f) row = range(functions.rows).findIndex((i) => functions.text("name", i).startsWith(words.f));
  if (row < 0) row = shown.length ? shown[0] : 0;
  const total = Number(data.info.instructions);
  const search = el("input", { type: "search", id: "code-search", placeholder: "filter (key: /)", "aria-label": "filter functions", oninput: () => fill() });
  const list = el("ul", { class: "pick" });
  const fill = () => {
    clear(list);
    const text = search.value.toLowerCase();
    const found = shown.filter((i) => functions.text("name", i).toLowerCase().includes(text));
    for (const i of found.slice(0, 300))
      list.append(el("li", {}, el("a", { href: link("code", "f", functions.text("name", i).slice(0, 1000)), class: i === row ? "now" : "", "aria-current": i === row ? "true" : undefined },
        el("span", { class: "name", text: functions.text("name", i).slice(0, 200) }), el("span", { class: "dim", text: percent(functions.num("self", i), total) }))));
    if (found.length > 300) list.append(el("li", { class: "dim", text: count(found.length - 300) + " more" }));
  };
  fill();
  const facts = functions.rows ? [count(functions.num("self", row)) + " instructions executed, entered " + plural(functions.num("entries", row), "time") + ", " +
    count(functions.num("covered", row)) + " of " + count(functions.num("instructions", row)) + " instructions at least once"] : [];
  const left = Number(data.info.codeLeft || 0);
  return el("div", {}, heading("Source and assembly", "How often each instruction was executed; of branches, how often they were taken."),
    el("div", { class: "aside" }, el("div", {}, search, list, left ? note(plural(left, "function") + " that executed less had no room") : null),
      el("section", { class: "card wide" }, el("h2", {}, name(functions.rows ? functions.text("name", row) : "")), el("p", { text: facts.join("") }), functions.rows ? codeOf(data, row) : null)));
}
