// What was executed and what was not; branches that went one way only come first.

function coverageFiles(data) {
  const lines = data.table("lines"), files = new Map();
  for (let i = 0; i < lines.rows; i++) {
    const key = lines.num("file", i);
    if (!files.has(key)) files.set(key, { file: data.text(key), lines: 0, covered: 0, instructions: 0, instructionsCovered: 0, one: 0, both: 0 });
    const entry = files.get(key);
    entry.lines++;
    entry.covered += lines.num("covered", i) > 0;
    entry.instructions += lines.num("instructions", i);
    entry.instructionsCovered += lines.num("covered", i);
  }
  const branches = data.table("branches");
  for (let i = 0; i < branches.rows; i++) {
    const entry = files.get(branches.num("file", i));
    if (entry) entry[branches.num("taken", i) && branches.num("not_taken", i) ? "both" : "one"]++;
  }
  return Array.from(files.values());
}

function coverBar(part, all) { return [bar(part, all, "cover"), el("span", { class: "beside", text: percent(part, all) })]; }

function coveragePage(data) {
  const info = data.info, branches = data.table("branches"), functions = data.table("coverFunctions");
  const oneWay = range(branches.rows).filter((i) => !branches.num("taken", i) !== !branches.num("not_taken", i));
  const sums = [["lines", info.codeLinesCovered, info.codeLines], ["branches that went both ways", info.codeBoth, info.codeBranches],
    ["functions", info.codeFunctionsCovered, info.codeFunctions], ["instructions", info.codeCovered, info.codeInstructions]].filter((sum) => Number(sum[2]));
  const ways = new Grid({ caption: "Branches that were reached and went one way only", rows: oneWay, sort: 1, step: 50, empty: "every branch that was reached went both ways", columns: [
    { title: "branch", value: (i) => (branches.text("file", i) || branches.text("name", i)) + String(branches.num("line", i)).padStart(9, "0"),
      show: (i) => branches.text("file", i) ? branches.text("file", i) + ":" + branches.num("line", i) : branches.hex("address", i) },
    { title: "times", kind: "num", value: (i) => branches.num("taken", i) + branches.num("not_taken", i) },
    { title: "way", value: (i) => branches.num("taken", i) ? 1 : 0, show: (i) => el("span", { class: "tag", text: branches.num("taken", i) ? "always taken" : "never taken" }) },
    { title: "function", value: (i) => branches.text("name", i), show: (i) => name(branches.text("name", i), link("code", "f", branches.text("name", i).slice(0, 1000))) },
    { title: "address", value: (i) => branches.num("address", i), show: (i) => branches.hex("address", i) }] });
  const files = new Grid({ caption: "What of each source file was executed", rows: coverageFiles(data), sort: 1, down: false, columns: [
    { title: "file", value: (f) => f.file, show: (f) => name(f.file) },
    { title: "lines", value: (f) => f.covered / f.lines, show: (f) => coverBar(f.covered, f.lines) },
    { title: "executed", kind: "num", value: (f) => f.covered, show: (f) => count(f.covered) + " of " + count(f.lines) },
    { title: "instructions", value: (f) => f.instructionsCovered / f.instructions, show: (f) => coverBar(f.instructionsCovered, f.instructions) },
    { title: "branches both ways", kind: "num", value: (f) => f.both / Math.max(1, f.both + f.one), show: (f) => count(f.both) + " of " + count(f.both + f.one) + " reached" }] });
  const byFunction = new Grid({ caption: "What of each function was executed", rows: range(functions.rows), sort: 1, down: false, step: 50, columns: [
    { title: "function", value: (i) => functions.text("name", i), show: (i) => name(functions.text("name", i), functions.num("rows", i) ? link("code", "f", functions.text("name", i).slice(0, 1000)) : undefined) },
    { title: "instructions", value: (i) => functions.num("covered", i) / Math.max(1, functions.num("instructions", i)), show: (i) => coverBar(functions.num("covered", i), functions.num("instructions", i)) },
    { title: "executed", kind: "num", value: (i) => functions.num("covered", i), show: (i) => count(functions.num("covered", i)) + " of " + count(functions.num("instructions", i)) },
    { title: "entries", kind: "num", value: (i) => functions.num("entries", i) },
    { title: "source", value: (i) => functions.text("file", i), show: (i) => functions.text("file", i) ? functions.text("file", i) + ":" + functions.num("line", i) : "" }] });
  return el("div", {}, heading("Coverage", "What was executed at least once. Branches that went one way only are where tests are missing."),
    el("div", { class: "tiles", id: "coverage-sums" }, sums.map(([title, part, all]) => tile(title, percent(Number(part), Number(all)), count(Number(part)) + " of " + count(Number(all))))),
    card("One-way branches", ways.node), data.has("lines") ? card("Files", files.node) : null, card("Functions", byFunction.node),
    el("p", { class: "dim" }, commandLine(data.command("coverage"))));
}
