// What software wrote to its trace ports, and what the hardware watched, in the order of time.

function channelsPage(data) {
  const marks = data.table("marks"), tracks = data.table("tracks"), unit = data.info.unit, left = Number(data.info.marksLeft || 0);
  const used = Array.from(new Set(marks.col("track"))).sort((a, b) => a - b);
  const chosen = el("select", { "aria-label": "which channel", id: "channel", onchange: () => filter() }, el("option", { value: "-1", text: "all channels" }),
    used.map((i) => el("option", { value: i, text: (tracks.text("name", i) || "track " + i).slice(0, 80) })));
  const search = el("input", { type: "search", id: "channel-search", placeholder: "filter (key: /)", "aria-label": "filter messages", oninput: () => filter() });
  const grid = new Grid({ caption: "Messages", rows: range(marks.rows), sort: 0, down: false, step: 200, columns: [
    { title: "time", kind: "num", value: (i) => marks.num("time", i), show: (i) => unit === "ns" ? length(marks.num("time", i), unit) : count(marks.num("time", i)) },
    { title: "channel", value: (i) => tracks.text("name", marks.num("track", i)), show: (i) => name(tracks.text("name", marks.num("track", i))) },
    { title: "what", value: (i) => markText(data, i), show: (i) => el("code", { class: "message", text: markText(data, i).slice(0, 2000) }) },
    { title: "offset", kind: "num", value: (i) => marks.num("index", i) }] });
  const filter = () => {
    const text = search.value.toLowerCase(), track = Number(chosen.value);
    grid.set(range(marks.rows).filter((i) => (track < 0 || marks.num("track", i) === track) && markText(data, i).toLowerCase().includes(text)));
  };
  return el("div", {}, heading("Channels", plural(marks.rows, "message") + " on " + plural(used.length, "channel") + ", on the time of the timeline."),
    left ? note(count(left) + " more had no room in the report: ", commandLine(data.command("channels"))) : null,
    el("div", { class: "tools" }, chosen, search), grid.node, el("p", { class: "dim" }, commandLine(data.command("channels"))));
}
