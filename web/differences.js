// Two captures side by side: what the second one executed more or less than the first.

function sumsByName(data) {
  const table = data.table("functions"), sums = new Map();
  for (let i = 0; i < table.rows; i++) {
    const key = table.text("name", i), sum = sums.get(key) || { self: 0, total: 0, entries: 0 };
    for (const column of ["self", "total", "entries"]) sum[column] += table.num(column, i);
    sums.set(key, sum);
  }
  return sums;
}

function signed(value) { return value > 0 ? "+" + count(value) : value < 0 ? "−" + count(-value) : "0"; }

// More to the right, less to the left: told apart by place and sign, not by colour alone.
function changeBar(value, most) {
  const share = most ? 50 * Math.abs(value) / most : 0;
  return el("span", { class: "change", "aria-hidden": "true" }, el("span", { class: value > 0 ? "up" : "down", style: { width: share + "%", left: (value > 0 ? 50 : 50 - share) + "%" } }));
}

// The flame graph of both: widths are the second one's, colours how much more or less than the first.
function differenceTree(before, after) {
  const a = flameTree(before, "instructions"), b = flameTree(after, "instructions");
  const stack = [[a, b]];
  while (stack.length) {
    const [x, y] = stack.pop();
    y.before = x ? x.value : 0;
    for (const child of y.children) stack.push([x ? x.children.find((other) => other.name === child.name) : null, child]);
  }
  return b;
}

function differenceColor(node, scale) {
  const change = (node.value - node.before) / Math.max(1, scale);
  const strength = Math.min(1, Math.sqrt(Math.abs(change)) * 3);
  if (Math.abs(change) < 1e-4) return "#c9ccd1";
  const to = change > 0 ? [230, 120, 40] : [60, 130, 200];
  return "rgb(" + [201, 204, 209].map((base, i) => Math.round(base + (to[i] - base) * strength)).join(",") + ")";
}

function differencesPage(data, words, app) {
  const [before, after] = app.pair, names = app.names, a = sumsByName(before), b = sumsByName(after);
  const keys = Array.from(new Set([...a.keys(), ...b.keys()])), none = { self: 0, total: 0, entries: 0 };
  const of = (sums, key, column) => (sums.get(key) || none)[column], change = (key) => of(b, key, "self") - of(a, key, "self");
  const changed = keys.filter((key) => change(key) || of(a, key, "entries") !== of(b, key, "entries")), most = Math.max(0, ...keys.map((key) => Math.abs(change(key))));
  const sum = (data) => Number(data.info.instructions), delta = sum(after) - sum(before);
  const grid = new Grid({ caption: "Functions that differ", rows: changed, sort: 1, empty: "no function differs", columns: [
    { title: "function", value: (key) => key, show: (key) => name(key) },
    { title: "change", value: (key) => Math.abs(change(key)), show: (key) => [changeBar(change(key), most), el("span", { class: "beside", text: signed(change(key)) })] },
    { title: "before", kind: "num", value: (key) => of(a, key, "self") }, { title: "after", kind: "num", value: (key) => of(b, key, "self") },
    { title: "entries before", kind: "num", value: (key) => of(a, key, "entries") }, { title: "entries after", kind: "num", value: (key) => of(b, key, "entries") }] });
  const tree = differenceTree(before, after), state = { search: "", matches: () => true, focus: null, colorOf: (node) => differenceColor(node, Math.max(sum(before), sum(after))) };
  let top = tree;
  const view = canvasOf({ label: "Flame graph of the second capture; orange: more than in the first, blue: less", height: () => { state.layout = flameBoxes(top, Math.max(200, view ? view.box.clientWidth : 800)); return (state.layout.deepest + 1) * flameRow + 2; },
    draw: (context, width) => { state.layout = flameBoxes(top, width); drawFlame(context, state, width); } });
  const at = (event) => { const box = view.canvas.getBoundingClientRect(), x = event.clientX - box.left, depth = Math.floor((event.clientY - box.top) / flameRow); return state.layout.boxes.find((one) => one.depth === depth && x >= one.x && x < one.x + one.width); };
  view.canvas.addEventListener("mousemove", (event) => { const box = at(event); if (box) tip.show(event.clientX, event.clientY, [box.node.name, count(box.node.before) + " before, " + count(box.node.value) + " after: " + signed(box.node.value - box.node.before)]); else tip.hide(); });
  view.canvas.addEventListener("mouseleave", () => tip.hide());
  view.canvas.addEventListener("click", (event) => { const box = at(event); if (box) { top = box.node; view.draw(); } });
  view.draw();
  return el("div", {}, heading("Differences", "From " + names[app.pairNumbers[0]] + " (before) to " + names[app.pairNumbers[1]] + " (after)."),
    el("div", { class: "tiles", id: "difference-sums" }, tile("instructions before", count(sum(before))), tile("instructions after", count(sum(after))), tile("change", signed(delta), delta ? percent(Math.abs(delta), sum(before)) + (delta < 0 ? " less" : " more") : "the same"),
      tile("functions that differ", count(changed.length), "of " + count(keys.length))),
    card("Functions", grid.node), card("Flame graph of the second", note("Orange: more instructions than in the first. Blue: less. Grey: the same."), view.box),
    el("p", { class: "dim" }, commandLine("trackway diff " + before.info.words + " " + after.info.words)));
}
