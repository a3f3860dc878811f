// A large capture from afar: each tile is a stretch of its bytes, coloured by the function that executed most in it.

function captureMap(app, data) {
  const box = el("section", { class: "card", id: "map", hidden: true });
  const said = el("p", { class: "note" });
  let tiles = [], bytesAll = 1, wanted = "";
  const found = (tile) => (tile.functions || []).find((one) => one.name.toLowerCase().includes(wanted));
  const view = canvasOf({ label: "The whole capture by its bytes; click to decode there", height: () => 40, draw: (context, width, height) => {
    context.fillStyle = color("well");
    context.fillRect(0, 0, width, height);
    for (const tile of tiles) {
      if (tile.instructions === undefined) continue;
      const x = tile.from / bytesAll * width, wide = Math.max(1, (tile.to - tile.from) / bytesAll * width), hit = wanted ? found(tile) : null;
      context.globalAlpha = wanted && !hit ? 0.15 : 1;
      context.fillStyle = hit ? colorOf(hit.name) : tile.name ? colorOf(tile.name) : color("merged");
      context.fillRect(x, 8, wide, height - 8);
      context.globalAlpha = 1;
      if (tile.lost) drawLoss(context, x, 0, wide, height);
      else if (tile.exceptions) { context.fillStyle = color("interrupt"); context.fillRect(x, 0, Math.max(1, wide - 0.5), 5); }
    }
    if (data.range) { context.strokeStyle = color("accent"); context.lineWidth = 2; context.strokeRect(data.range[0] / bytesAll * width, 1, Math.max(3, (data.range[1] - data.range[0]) / bytesAll * width), height - 2); }
  } });
  const at = (event) => { const place = view.canvas.getBoundingClientRect(), byte = (event.clientX - place.left) / place.width * bytesAll; return tiles.find((tile) => byte >= tile.from && byte < tile.to); };
  view.canvas.addEventListener("mousemove", (event) => {
    const tile = at(event);
    const hit = tile && wanted ? found(tile) : null;
    if (tile) tip.show(event.clientX, event.clientY, [tile.name || "not looked at yet", hit ? hit.name + ": " + count(hit.self) + " instructions" : "", "bytes " + count(tile.from) + " to " + count(tile.to), tile.instructions === undefined ? "" : count(tile.instructions) + " instructions" + (tile.lost ? ", " + plural(tile.lost, "loss", "losses") : "")].filter(Boolean));
  });
  view.canvas.addEventListener("mouseleave", () => tip.hide());
  view.canvas.addEventListener("click", (event) => { const tile = at(event); if (tile) app.decode(tile.from, Math.min(tile.to, tile.from + (1 << 20))); });
  const ask = async () => {
    const answer = await app.source.tiles(app.number, 0, data.bytes);
    if (!answer) return;
    tiles = answer.tiles;
    bytesAll = answer.bytes;
    box.hidden = false;
    said.textContent = "Each stretch in the colour of the function that executed most in it; losses are red. " + (answer.done < bytesAll ? percent(answer.done, bytesAll) + " of it was looked at so far. " : "") + "Click to decode there.";
    view.draw();
    if (answer.done < bytesAll) setTimeout(() => { if (box.isConnected) ask(); }, 1500);
  };
  const search = el("input", { type: "search", id: "map-search", placeholder: "where a function executed most", "aria-label": "search the capture for a function", oninput: () => {
    wanted = search.value.toLowerCase();
    const hits = tiles.filter((tile) => wanted && found(tile));
    where.textContent = !wanted ? "" : hits.length ? "among the eight that executed most in " + plural(hits.length, "stretch", "stretches") + ", first at byte " + count(hits[0].from) : "in no stretch among the eight that executed most";
    view.draw();
  } });
  const where = el("span", { class: "dim", id: "map-found", "aria-live": "polite" });
  box.append(el("h2", { text: "The whole capture" }), said, el("div", { class: "tools" }, search, where), view.box);
  ask();
  return box;
}
