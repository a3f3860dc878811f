// SPDX-License-Identifier: BSD-2-Clause
// static.js SPEC.json: the page that needs no server, opened from disk. For each of `cases` its files are dropped, and the command's output in
// the page is compared with what the native tool wrote. Prints a line of JSON for each, and one for the rates.
"use strict";
const assert = require("node:assert/strict");
const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

const spec = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { chromium } = require(spec.playwright);
const number = (text) => Number(text.replace(/[^\d.-]/g, ""));
const walk = (name) => fs.statSync(name).isDirectory() ? fs.readdirSync(name).sort().flatMap((one) => walk(path.join(name, one))) : [name];

// Files as the page's own list has them. A browser gives no folder to a script, so they are handed over as people's would be after the drop.
async function hand(page, roots) {
  await page.evaluate(() => { window.handed = []; });
  for (const root of roots) {
    for (const name of walk(root)) {
      const bytes = fs.readFileSync(name).toString("base64");
      await page.evaluate(([where, text]) => {
        const raw = atob(text), out = new Uint8Array(raw.length);
        for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
        window.handed.push({ path: where, file: new File([out], where.split("/").pop()) });
      }, [path.relative(path.dirname(root), name), bytes]);
    }
  }
}

async function run(page, about) {
  return page.evaluate(async (one) => {
    const done = await window.trackwayDrop.run(Object.assign({ files: window.handed }, one));
    const digest = done.out ? Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", done.out)), (byte) => byte.toString(16).padStart(2, "0")).join("") : "";
    return { status: done.status, said: done.said, size: done.out ? done.out.length : 0, digest, took: done.took, command: done.command };
  }, about);
}

// Seconds of processor time that the page's thread has had so far: what else the machine does must not count.
function threadSeconds() {
  const parents = new Map(), ours = new Set([process.pid]);
  const stat = (name) => { try { const text = fs.readFileSync(name, "latin1"); return text.slice(text.lastIndexOf(")") + 2).split(" "); } catch (e) { return null; } };
  for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const words = stat(`/proc/${pid}/stat`);
    if (words) parents.set(Number(pid), Number(words[1]));
  }
  for (let more = true; more;) {
    more = false;
    for (const [pid, parent] of parents) if (ours.has(parent) && !ours.has(pid)) { ours.add(pid); more = true; }
  }
  let ticks = 0;
  for (const pid of ours) {
    let tasks = [];
    try { tasks = fs.readdirSync(`/proc/${pid}/task`); } catch (e) { /* it has ended */ }
    for (const task of tasks) {
      let name = "";
      try { name = fs.readFileSync(`/proc/${pid}/task/${task}/comm`, "latin1"); } catch (e) { /* it has ended */ }
      const words = name.startsWith("DedicatedWorker") && stat(`/proc/${pid}/task/${task}/stat`);
      if (words) ticks += Number(words[11]) + Number(words[12]);
    }
  }
  return ticks / 100;
}

const checks = {
  // What people do: drop files, look, add a program, save.
  async people(page) {
    assert.equal(await page.textContent("#main h1"), "Look at trace");
    await page.setInputFiles("#pick-folder", spec.demo);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "overview", null, { timeout: 60000 });
    assert.ok((await page.textContent("#most")).includes(spec.hottest));
    assert.equal(number(await page.textContent(".tile .value")), spec.instructions);
    for (const link of await page.$$eval("#nav a", (all) => all.map((one) => one.getAttribute("href")))) {
      await page.evaluate((hash) => { delete document.documentElement.dataset.ready; location.hash = hash; }, link);
      await page.waitForFunction((want) => document.documentElement.dataset.ready === want, link.slice(1), { timeout: 30000 });
    }
    const saved = page.waitForEvent("download");
    await page.click("#save");
    assert.ok(fs.readFileSync(await (await saved).path(), "utf8").includes("application/x-trackway-data"));
    await page.click("#files-again");
    await page.waitForSelector("#drop");
    await page.setInputFiles("#pick-files", { name: "notes.bin", mimeType: "", buffer: Buffer.from("nothing of trace") });
    await page.waitForFunction(() => document.querySelector("#files-again"), null, { timeout: 60000 });
    if (spec.folder) await page.screenshot({ path: path.join(spec.folder, "static.png") });
    await page.reload();
    await page.waitForSelector("#drop");
    if (spec.folder) await page.screenshot({ path: path.join(spec.folder, "drop.png") });
  },

  // Compressed with zstd, and files that are nothing: a message, and the page goes on.
  async refused(page) {
    for (const [name, said] of spec.refused) {
      await page.click("#forget");
      await page.setInputFiles("#pick-files", name);
      await page.waitForSelector("#said.bad", { timeout: 60000 });
      const text = await page.textContent("#said");
      assert.ok(text.includes(said), text);
    }
    await page.click("#forget");
  },

  async corpora(page) {
    for (const one of spec.cases) {
      await hand(page, one.files);
      for (const { command, words, digest, status } of one.runs) {
        const got = await run(page, { command, words });
        assert.equal(got.status, status, one.files[0] + " " + command + ": " + got.said);
        assert.equal(got.digest, digest, one.files[0] + " " + got.command.join(" ") + ": " + got.size + " bytes, " + got.said);
      }
      console.log("ok " + path.basename(one.files[0]));
    }
  },

  // The best of several runs on one thread: the first ones are those of a compiler that is still at work.
  async rate(page) {
    await hand(page, spec.rate.files);
    const took = [];
    for (let i = 0; i < 6; i++) {
      const before = threadSeconds();
      await run(page, { command: "stats", words: ["--threads", "1"] });
      took.push(threadSeconds() - before);
    }
    assert.ok(took[0] > 0, "no thread of this page was found");
    console.log("took " + JSON.stringify({ seconds: Math.min(...took), all: took }));
  },
};

(async () => {
  const browser = await chromium.launch({ executablePath: spec.chromium, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const problems = [], requests = [];
    page.on("pageerror", (error) => problems.push(String(error.stack || error)));
    page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
    page.on("request", (request) => requests.push(request.url()));
    await page.goto("file://" + spec.page);
    await page.waitForSelector("#drop");
    for (const name of spec.checks) {
      await checks[name](page);
      console.log("ok " + name);
    }
    assert.deepEqual(problems, []);
    for (const url of requests) assert.ok(/^(file|blob|data):/.test(url), url);
  } finally {
    await browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
