// Flame graph: merged stacks as boxes; zoom, search, and the other way round (callers below each function).

const flameRow = 20;

// A tree of { name, value, self, count, children, parent } out of rows that stand after their parents.
function flameTree(data, unit) {
  const table = data.table("paths"), parents = table.col("parent"), names = table.col("name");
  const values = table.col(unit === "calls" ? "entries" : "self");
  const root = { name: "all", value: 0, self: 0, children: [], parent: null };
  const nodes = new Array(table.rows), order = [], known = new Map(); // parent and name: functions of one name are one box
  root.id = 0;
  for (let i = 0; i < table.rows; i++) {
    const parent = parents[i] ? nodes[parents[i] - 1] : root, key = parent.id * 4294967296 + names[i];
    let node = known.get(key);
    if (!node) {
      node = { name: data.text(names[i]), value: 0, self: 0, children: [], parent, id: order.length + 1 };
      known.set(key, node);
      parent.children.push(node);
      order.push(node);
    }
    node.value += values[i];
    node.self += values[i];
    nodes[i] = node;
  }
  for (let i = order.length; i-- > 0;) order[i].parent.value += order[i].value;
  sortTree(root);
  return root;
}

function sortTree(root) {
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    node.children.sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
    for (const child of node.children) stack.push(child);
  }
}

// Callers under each function: every box of the tree with something of its own, read from the inside out.
function invertTree(tree) {
  const root = { name: "all", value: 0, self: 0, children: [], parent: null, index: new Map() };
  const stack = [...tree.children];
  while (stack.length) {
    const node = stack.pop();
    stack.push(...node.children);
    if (!node.self) continue;
    root.value += node.self;
    let at = root, depth = 0;
    for (let frame = node; frame && frame.parent && depth < 200; frame = frame.parent, depth++) {
      let next = at.index.get(frame.name);
      if (!next) {
        next = { name: frame.name, value: 0, self: 0, children: [], parent: at, index: new Map() };
        at.index.set(frame.name, next);
        at.children.push(next);
      }
      next.value += node.self;
      at = next;
    }
    at.self += node.self;
  }
  sortTree(root);
  return root;
}

// Boxes of what is under `top`, wider than half a pixel: { node, x, width, depth } in CSS pixels.
function flameBoxes(top, width) {
  const path = [];
  for (let node = top; node; node = node.parent) path.unshift(node);
  const boxes = path.map((node, depth) => ({ node, x: 0, width, depth }));
  let deepest = path.length - 1;
  const stack = [[top, 0, path.length - 1]];
  while (stack.length) {
    const [node, x, depth] = stack.pop();
    let at = x;
    for (const child of node.children) {
      const wide = top.value ? child.value / top.value * width : 0;
      if (wide < 0.5) break; // the rest are narrower still
      boxes.push({ node: child, x: at, width: wide, depth: depth + 1 });
      if (depth + 1 > deepest) deepest = depth + 1;
      stack.push([child, at, depth + 1]);
      at += wide;
    }
  }
  return { boxes, deepest };
}

function drawFlame(context, state, width) {
  const { boxes } = state.layout;
  context.font = font;
  context.textBaseline = "middle";
  for (const box of boxes) {
    const y = box.depth * flameRow;
    const hit = !state.search || state.matches(box.node.name);
    context.globalAlpha = hit ? 1 : 0.25;
    context.fillStyle = box.node.parent ? (state.colorOf ? state.colorOf(box.node) : colorOf(box.node.name)) : color("line");
    context.fillRect(box.x + (box.width > 3 ? 0.5 : 0), y + 0.5, Math.max(0.5, box.width - (box.width > 3 ? 1 : 0)), flameRow - 1.5);
    if (state.search && hit && box.node.parent) {
      context.fillStyle = color("accent");
      context.fillRect(box.x + 0.5, y + flameRow - 4, Math.max(0.5, box.width - 1), 3);
    }
    const text = fit(context, box.node.name, box.width - 8);
    if (text) {
      context.fillStyle = box.node.parent ? "#15181d" : color("text");
      context.fillText(text, box.x + 5, y + flameRow / 2 + 0.5);
    }
    context.globalAlpha = 1;
    if (state.focus === box.node) {
      context.lineWidth = 2;
      context.strokeStyle = color("text");
      context.strokeRect(box.x + 1, y + 1, Math.max(2, box.width - 2), flameRow - 2.5);
    }
  }
}

function flamePreview(data) {
  const tree = flameTree(data, "instructions");
  const state = { search: "", matches: () => true, focus: null };
  const most = 7;
  return canvasOf({
    label: "Flame graph, small: open the page Flame graph for more", class: "small",
    height: () => { state.layout = flameBoxes(tree, 1000); return Math.min(most, state.layout.deepest + 1) * flameRow + 2; },
    draw: (context, width) => {
      state.layout = flameBoxes(tree, width);
      state.layout.boxes = state.layout.boxes.filter((box) => box.depth < most);
      drawFlame(context, state, width);
    },
  });
}

class FlameView {
  constructor(data, words) {
    this.data = data;
    this.unit = "instructions";
    this.inverted = false;
    this.search = "";
    this.focus = null;
    this.view = canvasOf({ label: "Flame graph. Arrow keys move between functions, Enter zooms, Escape goes back.", focus: true,
      height: () => { this.layout = flameBoxes(this.top, Math.max(200, this.view ? this.view.box.clientWidth : 800)); return (this.layout.deepest + 1) * flameRow + 2; },
      draw: (context, width) => { this.layout = flameBoxes(this.top, width); drawFlame(context, this, width); } });
    this.build();
    this.detail = el("p", { class: "detail", "aria-live": "polite", id: "flame-detail" });
    this.found = el("span", { class: "dim", id: "flame-found", "aria-live": "polite" });
    this.trail = el("div", { class: "trail", id: "flame-trail" });
    this.tableBox = el("details", { class: "as-table" }, el("summary", { text: "The same as a table" }));
    this.tableBox.addEventListener("toggle", () => this.table());
    this.input = el("input", { type: "search", id: "flame-search", placeholder: "search (key: /)", "aria-label": "search functions",
      value: words.f || "", oninput: () => { this.search = this.input.value; this.refresh(); } });
    if (words.f) this.search = words.f;
    const canvas = this.view.canvas;
    canvas.addEventListener("mousemove", (event) => this.hover(event));
    canvas.addEventListener("mouseleave", () => tip.hide());
    canvas.addEventListener("click", (event) => { const box = this.at(event); if (box) this.zoom(box.node); });
    canvas.addEventListener("keydown", (event) => this.key(event));
    this.refresh();
  }

  build() {
    const tree = flameTree(this.data, this.unit);
    this.root = this.inverted ? invertTree(tree) : tree;
    this.top = this.root;
    this.focus = null;
  }

  matches(text) { return text.toLowerCase().includes(this.search.toLowerCase()); }

  at(event) {
    const box = this.view.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, depth = Math.floor((event.clientY - box.top) / flameRow);
    return this.layout.boxes.find((b) => b.depth === depth && x >= b.x && x < b.x + Math.max(b.width, 1));
  }

  tell(node) {
    const all = this.root.value;
    return [node.name, count(node.value) + " " + this.unit + ", " + percent(node.value, all, 2) + " of all",
      node.self !== node.value ? count(node.self) + (this.inverted ? " from here outwards" : " in itself") : ""].filter(Boolean);
  }

  hover(event) {
    const box = this.at(event);
    if (box) tip.show(event.clientX, event.clientY, this.tell(box.node));
    else tip.hide();
  }

  zoom(node) {
    this.top = node;
    this.focus = node;
    tip.hide();
    this.refresh();
  }

  key(event) {
    const node = this.focus || this.top;
    const siblings = node.parent ? node.parent.children : [node];
    const place = siblings.indexOf(node);
    let next = null;
    if (event.key === "ArrowDown") next = node.children[0];
    else if (event.key === "ArrowUp") next = node.parent;
    else if (event.key === "ArrowRight") next = siblings[place + 1];
    else if (event.key === "ArrowLeft") next = siblings[place - 1];
    else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.zoom(node); return; }
    else if (event.key === "Escape") { this.zoom(this.root); return; }
    else return;
    event.preventDefault();
    if (next) {
      this.focus = next;
      let inside = next;
      while (inside && inside !== this.top) inside = inside.parent;
      if (!inside) this.top = next;
      this.refresh();
    }
  }

  // Boxes of matching names, none counted inside another.
  matched() {
    let sum = 0, boxes = 0;
    const stack = [[this.top, false]];
    while (stack.length) {
      const [node, inside] = stack.pop();
      const hit = node.parent && this.matches(node.name);
      if (hit) boxes++;
      if (hit && !inside) sum += node.value;
      for (const child of node.children) stack.push([child, inside || hit]);
    }
    return { sum, boxes };
  }

  refresh() {
    const shown = this.focus || this.top;
    this.detail.textContent = this.tell(shown).join(" · ");
    if (this.search) {
      const { sum, boxes } = this.matched();
      this.found.textContent = boxes ? plural(boxes, "box", "boxes") + ", " + percent(sum, this.top.value) + " of what is shown" : "nothing matches";
    } else {
      this.found.textContent = "";
    }
    clear(this.trail);
    const path = [];
    for (let node = this.top; node; node = node.parent) path.unshift(node);
    path.forEach((node, i) => this.trail.append(i ? " › " : "", el("button", { type: "button", class: "crumb",
      text: node.name.length > 60 ? node.name.slice(0, 60) + "…" : node.name, onclick: () => this.zoom(node) })));
    this.table();
    this.view.draw();
  }

  table() {
    if (!this.tableBox.open) return;
    const rows = [];
    const stack = this.top.children.slice().reverse().map((node) => [node, 1]);
    while (stack.length && rows.length < 500) {
      const [node, depth] = stack.pop();
      rows.push([node, depth]);
      for (const child of node.children.slice().reverse()) if (child.value * 1000 >= this.top.value) stack.push([child, depth + 1]);
    }
    const grid = new Grid({ caption: "Functions under " + this.top.name.slice(0, 80), rows, sort: -1, columns: [
      { title: "function", show: ([node, depth]) => el("span", { style: { paddingLeft: Math.min(depth - 1, 40) * 12 + "px" } }, name(node.name)) },
      { title: "level", kind: "num", show: ([, depth]) => depth },
      { title: this.unit, kind: "num", show: ([node]) => count(node.value) },
      { title: "in itself", kind: "num", show: ([node]) => count(node.self) },
      { title: "share", kind: "num", show: ([node]) => percent(node.value, this.top.value) }] });
    clear(this.tableBox).append(el("summary", { text: "The same as a table" }), grid.node);
  }
}

function flamePage(data, words) {
  const view = new FlameView(data, words);
  const rebuild = () => { view.build(); view.refresh(); };
  const unit = el("select", { id: "flame-unit", "aria-label": "what widths count", onchange: () => { view.unit = unit.value; rebuild(); } },
    el("option", { value: "instructions", text: "instructions" }), el("option", { value: "calls", text: "calls" }));
  const inverted = el("input", { type: "checkbox", id: "flame-inverted", onchange: () => { view.inverted = inverted.checked; rebuild(); } });
  return el("div", {}, heading("Flame graph", "Each box is a function under the one that called it; its width is what was executed in it and below. Click a box to zoom in."),
    el("div", { class: "tools" }, view.input, view.found, el("label", {}, "width ", unit),
      el("label", {}, inverted, " inverted: callers below each function"),
      el("button", { type: "button", id: "flame-reset", text: "whole graph", onclick: () => view.zoom(view.root) })),
    view.trail, view.detail, view.view.box, view.tableBox,
    el("p", { class: "dim" }, "Paths below 0.01 % are added up as (other). ", commandLine(data.command("calls", "--format folded"))));
}
