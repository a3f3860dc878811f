// Drawing of the timeline: the strip of all time, the axis, and the rows.

const timelineRow = 18, timelineHead = 22, timelineLabel = 168;

// Steps of an axis: 1, 2 or 5 times a power of ten.
function axisStep(length, most) {
  const rough = length / Math.max(1, most), power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) if (power * factor >= rough) return power * factor;
  return power * 10;
}

function hatch(context) {
  if (!hatch.tile) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const pen = tile.getContext("2d");
    pen.strokeStyle = "rgba(255,255,255,0.75)";
    pen.lineWidth = 1.4;
    pen.beginPath();
    pen.moveTo(-1, 7); pen.lineTo(7, -1); pen.moveTo(-1, 1); pen.lineTo(1, -1); pen.moveTo(5, 7); pen.lineTo(7, 5);
    pen.stroke();
    hatch.tile = tile;
  }
  return context.createPattern(hatch.tile, "repeat");
}

// Losses are red and hatched: they are told apart without colour too.
function drawLoss(context, x, y, width, height) {
  context.fillStyle = color("loss");
  context.fillRect(x, y, Math.max(2, width), height);
  if (width >= 6) {
    context.fillStyle = hatch(context);
    context.fillRect(x, y, width, height);
  }
}

// Tracing was off: grey.
function drawUntraced(context, x, y, width, height) {
  context.fillStyle = color("merged");
  context.globalAlpha = 0.55;
  context.fillRect(x, y, Math.max(1, width), height);
  context.globalAlpha = 1;
}

// All of the time: bytes of trace as an area, losses, interrupts, and the window that is looked at.
function drawStrip(context, view, width, height) {
  const rows = view.rows, all = rows.to - rows.from, left = timelineLabel, wide = width - left;
  context.font = font;
  context.textBaseline = "middle";
  context.fillStyle = color("dim");
  context.fillText("all of it", 8, height / 2 - 8);
  context.fillText("trace per time", 8, height / 2 + 8);
  context.fillStyle = color("well");
  context.fillRect(left, 0, wide, height);
  const info = view.data.info, amounts = view.data.table("bytes").col("bytes"), bucket = Number(info.bucket), offset = Number(info.bucketsFrom);
  const most = amounts.reduce((a, b) => Math.max(a, b), 1);
  context.fillStyle = color("band");
  for (let i = 0; i < amounts.length; i++) {
    const x = left + (offset + i * bucket - rows.from) / all * wide;
    if (!amounts[i] || x >= width) continue;
    const high = amounts[i] / most * (height - 12);
    context.fillRect(x, height - high, Math.min(width - x, Math.max(1, bucket / all * wide + 0.5)), high);
  }
  context.fillStyle = color("interrupt");
  for (const group of rows.groups) if (group.kind === 2)
    for (const row of group.rows) for (const i of rows.visible(row.spans, rows.from, rows.to, all / wide))
      context.fillRect(left + (rows.start[i] - rows.from) / all * wide, 0, Math.max(1.5, rows.size[i] / all * wide), 5);
  for (const row of rows.gapRows()) for (const i of rows.visible(row.spans, rows.from, rows.to, all / wide))
    if (rows.isLoss(i)) drawLoss(context, left + (rows.start[i] - rows.from) / all * wide, 0, rows.size[i] / all * wide, height);
    else drawUntraced(context, left + (rows.start[i] - rows.from) / all * wide, height - 5, rows.size[i] / all * wide, 5);
  const x0 = left + (view.from - rows.from) / all * wide, x1 = left + (view.to - rows.from) / all * wide;
  context.fillStyle = color("shade");
  context.fillRect(left, 0, Math.max(0, x0 - left), height);
  context.fillRect(x1, 0, Math.max(0, width - x1), height);
  context.strokeStyle = color("accent");
  context.lineWidth = 2;
  context.strokeRect(Math.min(x0, width - 3) + 1, 1, Math.max(2, x1 - x0 - 2), height - 2);
}

function drawAxis(context, view, width) {
  const wide = width - timelineLabel, step = axisStep(view.to - view.from, wide / 120);
  context.fillStyle = color("dim");
  context.strokeStyle = color("line");
  context.lineWidth = 1;
  context.font = font;
  context.textBaseline = "middle";
  context.fillText(view.rows.unit, 8, timelineHead / 2);
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    const x = Math.round(timelineLabel + (time - view.from) / (view.to - view.from) * wide) + 0.5;
    context.beginPath();
    context.moveTo(x, timelineHead - 5);
    context.lineTo(x, view.height);
    context.stroke();
    const text = tick(time, view.rows.unit);
    if (x + context.measureText(text).width + 6 < width) context.fillText(text, x + 4, timelineHead / 2);
  }
}

function drawSpan(context, view, i, y, width) {
  const rows = view.rows, wide = width - timelineLabel, scale = wide / (view.to - view.from);
  const x0 = Math.max(timelineLabel, timelineLabel + (rows.start[i] - view.from) * scale);
  const x1 = Math.min(width, timelineLabel + (rows.end(i) - view.from) * scale);
  const size = Math.max(1, x1 - x0), kind = rows.kind[i];
  if (kind === spanKinds.gap) {
    (rows.isLoss(i) ? drawLoss : drawUntraced)(context, x0, y + 1, size, timelineRow - 2);
    return;
  }
  const text = view.data.text(rows.name[i]);
  context.globalAlpha = view.search && !text.toLowerCase().includes(view.search) ? 0.25 : 1;
  context.fillStyle = kind === spanKinds.exception ? color("interrupt") : rows.count[i] > 1 ? color("merged") : colorOf(text);
  context.fillRect(x0, y + 1, size > 3 ? size - 0.7 : size, timelineRow - 2);
  const shown = fit(context, rows.label(i), size - 8);
  if (shown) {
    context.fillStyle = "#15181d";
    context.fillText(shown, x0 + 4, y + timelineRow / 2 + 0.5);
  }
  context.globalAlpha = 1;
}

function drawMarks(context, view, group, y, width) {
  const marks = view.data.table("marks"), scale = (width - timelineLabel) / (view.to - view.from);
  const place = (i) => timelineLabel + (marks.num("time", i) - view.from) * scale;
  let last = -10;
  group.marks.forEach((i, number) => {
    const time = marks.num("time", i), x = place(i);
    if (time < view.from || time > view.to || x - last < 1) return;
    last = x;
    context.fillStyle = color("mark");
    context.beginPath();
    context.moveTo(x, y + 4); context.lineTo(x + 4, y + 9); context.lineTo(x, y + 14); context.lineTo(x - 4, y + 9);
    context.fill();
    // what it says, where the next one leaves room for it
    const next = group.marks[number + 1], room = Math.min(220, (next === undefined ? width : place(next) - 6) - x - 7);
    const shown = room > 22 ? fit(context, markText(view.data, i), room) : "";
    if (shown) {
      context.fillStyle = color("text");
      context.fillText(shown, x + 7, y + timelineRow / 2 + 0.5);
    }
  });
}

function markText(data, i) {
  const marks = data.table("marks"), text = marks.text("text", i);
  const parts = [text];
  if (marks.num("value_size", i)) parts.push(marks.hex("value", i));
  if (marks.num("has_address", i)) parts.push("at " + marks.hex("address", i));
  return parts.filter(Boolean).join(" ");
}

// Titles stand left of their rows; a group that is closed shows its first row.
function drawGroup(context, view, group, width) {
  const rows = view.rows, pixel = (view.to - view.from) / (width - timelineLabel);
  context.fillStyle = color("line");
  context.fillRect(0, group.y - 1, width, 1);
  group.rows.forEach((row, number) => {
    const y = group.y + (group.open ? number : 0) * timelineRow;
    if (!group.open && number) return;
    for (const i of rows.visible(row.spans, view.from, view.to, pixel)) drawSpan(context, view, i, y, width);
  });
  if (group.marks) drawMarks(context, view, group, group.y + (group.open ? group.rows.length : group.rows.length ? 1 : 0) * timelineRow, width);
  context.fillStyle = color("page");
  context.fillRect(0, group.y, timelineLabel, group.height);
  const sign = group.rows.length > 1 ? (group.open ? "▾ " : "▸ ") : "   ";
  context.fillStyle = color("text");
  context.fillText(fit(context, sign + group.title[0], timelineLabel - 12 - (group.title[1] ? 62 : 0)), 6, group.y + timelineRow / 2 + 0.5);
  if (group.title[1]) {
    context.fillStyle = color("dim");
    context.fillText(group.title[1], timelineLabel - 64, group.y + timelineRow / 2 + 0.5);
  }
}

function drawCursor(context, view, time, width, strong) {
  if (time === null || time < view.from || time > view.to) return;
  const x = timelineLabel + (time - view.from) / (view.to - view.from) * (width - timelineLabel);
  context.strokeStyle = strong ? color("accent") : color("dim");
  context.lineWidth = strong ? 1.5 : 1;
  context.setLineDash(strong ? [] : [3, 3]);
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, view.height);
  context.stroke();
  context.setLineDash([]);
}
