// SPDX-License-Identifier: BSD-2-Clause
// report.js SPEC.json: opens reports in a browser, from disk, and does with them what people do. SPEC names the
// checks and what they need. Prints "ok NAME" for each, or throws.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const spec = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { chromium } = require(spec.playwright);
const number = (text) => Number(text.replace(/[^\d.-]/g, ""));

class Browser {
  async start() {
    this.browser = await chromium.launch({ executablePath: spec.chromium, args: ["--no-sandbox"] });
  }

  // A page whose errors count, at its first page of the report.
  async open(file, about = {}) {
    const page = await this.browser.newPage(Object.assign({ viewport: { width: 1280, height: 800 }, colorScheme: "light" }, about));
    page.problems = [];
    page.requests = [];
    page.on("pageerror", (error) => page.problems.push(String(error.stack || error)));
    page.on("console", (message) => { if (message.type() === "error" || message.type() === "warning") page.problems.push(message.text()); });
    page.on("request", (request) => page.requests.push(request.url()));
    page.on("dialog", (dialog) => { page.problems.push("dialog " + dialog.message()); dialog.dismiss(); });
    await page.goto(file.startsWith("http") ? file : "file://" + file);
    await this.ready(page, "overview");
    return page;
  }

  async ready(page, key) {
    await page.waitForFunction((want) => document.documentElement.dataset.ready === want, key, { timeout: 30000 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // a frame is drawn
  }

  async go(page, key) {
    await page.evaluate(() => { delete document.documentElement.dataset.ready; });
    await page.evaluate((hash) => { location.hash = ""; location.hash = hash; }, key);
    await this.ready(page, key.split("/")[0]);
  }

  // Nothing was said on the console, and nothing was asked of any network.
  async close(page) {
    assert.deepEqual(page.problems, []);
    for (const url of page.requests) assert.ok(url.startsWith("file://") || url.startsWith("data:") || [spec.url, spec.timed, spec.mapped].some((one) => one && url.startsWith(new URL(one).origin)), url);
    await page.close();
  }
}

const cell = (page, row, column) => page.textContent(`#main tr[data-function="${row}"] > :nth-child(${column})`).then(number);
const painted = async (page, selector) => (await (await page.$(selector)).screenshot()).toString("base64");

const checks = {
  // Every page opens, from disk, without a word on the console; pictures are painted, none is empty.
  async pages(browser) {
    for (const { file, pages } of spec.reports) {
      const page = await browser.open(file);
      assert.deepEqual(await page.$$eval("#nav a", (links) => links.map((link) => link.textContent)), pages.map((one) => one.title), file);
      for (const one of pages) {
        await browser.go(page, one.key);
        assert.ok((await page.textContent("#main h1")).length, one.key);
        const text = await page.textContent("#main");
        assert.ok(!/\[object|undefined|NaN|Infinity/.test(text), one.key + ": " + text.slice(0, 4000));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, one.key + " is wider than the window by " + wide);
        for (const canvas of await page.$$("#main canvas")) assert.ok((await canvas.boundingBox()).height > 10, one.key);
      }
      await browser.close(page);
    }
  },

  // What the page says is what the commands say.
  async numbers(browser) {
    const page = await browser.open(spec.demo);
    assert.ok((await page.textContent("#most")).includes(spec.hottest));
    assert.ok((await page.textContent("#most")).includes(spec.caller));
    assert.ok((await page.textContent("#lost")).includes("Nothing was lost"));
    assert.equal(number(await page.textContent(".tile .value")), spec.instructions);
    await browser.go(page, "functions");
    for (const row of spec.functions) {
      assert.equal(await cell(page, row.name, 3), row.self, row.name);
      assert.equal(await cell(page, row.name, 4), row.total, row.name);
      assert.equal(await cell(page, row.name, 5), row.entries, row.name);
    }
    await browser.go(page, "coverage");
    const sums = await page.$$eval("#coverage-sums .more", (all) => all.map((one) => one.textContent));
    assert.deepEqual(sums.map((text) => text.split(" of ").map(number)), spec.coverage);
    assert.equal(await page.$$eval("#main .tag", (all) => all.length), spec.oneWay);
    await browser.go(page, "losses");
    assert.deepEqual((await page.$$eval("#main tbody td.num", (all) => all.map((one) => one.textContent))).map(number), [0, 0, 0, 0, 0, 0, 0, 0]);
    await browser.go(page, "interrupts");
    for (const row of spec.interrupts) assert.equal(number(await page.textContent(`#main tr[data-number="${row.num}"] > :nth-child(4)`)), row.count);
    await browser.go(page, "code/f=" + spec.annotated.function);
    const counts = await page.$$eval("table.code tr.ran td:first-child, table.code tr.never td:first-child", (all) => all.map((one) => one.textContent));
    assert.deepEqual(counts.map((text) => text === "never" ? 0 : number(text)), spec.annotated.counts);
    await browser.close(page);
  },

  async flame(browser) {
    const page = await browser.open(spec.demo);
    await browser.go(page, "flame");
    const canvas = "#main .canvas canvas", before = await painted(page, canvas), box = await (await page.$(canvas)).boundingBox();
    assert.match(await page.textContent("#flame-detail"), new RegExp("^all · " + spec.instructions.toLocaleString("en-US")));
    await page.mouse.click(box.x + 60, box.y + 90); // the fifth row, left: what took most
    assert.ok((await page.textContent("#flame-detail")).startsWith(spec.hottest), await page.textContent("#flame-detail"));
    assert.deepEqual(await page.$$eval("#flame-trail button", (all) => all.map((one) => one.textContent)), spec.hottestPath);
    assert.notEqual(await painted(page, canvas), before);
    await page.click("#flame-reset");
    await page.keyboard.press("/");
    await page.keyboard.type(spec.recursive);
    assert.match(await page.textContent("#flame-found"), /^\d+ boxes, [\d.]+ % of what is shown$/);
    await page.fill("#flame-search", "no function is called this");
    assert.equal(await page.textContent("#flame-found"), "nothing matches");
    await page.fill("#flame-search", "");
    await page.click("#flame-inverted");
    await page.focus(canvas);
    await page.keyboard.press("ArrowDown");
    assert.ok((await page.textContent("#flame-detail")).startsWith(spec.hottest + " · " + spec.hottestSelf.toLocaleString("en-US")));
    await page.keyboard.press("ArrowDown");
    assert.ok((await page.textContent("#flame-detail")).startsWith(spec.caller));
    await page.keyboard.press("Enter");
    assert.equal(await page.$$eval("#flame-trail button", (all) => all.length), 3);
    await page.keyboard.press("Escape");
    assert.equal(await page.$$eval("#flame-trail button", (all) => all.length), 1);
    await page.click("summary");
    await page.waitForFunction(() => document.querySelectorAll("#main details tbody tr").length > 5); // filled once it is open
    await browser.close(page);
  },

  async timeline(browser) {
    const page = await browser.open(spec.demo);
    await browser.go(page, "timeline");
    const canvas = "#main .rows canvas", window = () => page.textContent("#time-window"), all = await window();
    const box = await (await page.$(canvas)).boundingBox(), before = await painted(page, canvas);
    assert.ok(all.endsWith("100.0 % of all"), all);
    await page.mouse.move(box.x + 700, box.y + 80);
    assert.match(await page.textContent("#time-cursor"), /^pointer at [\d,]+ instructions$/);
    await page.mouse.wheel(0, -600);
    await page.waitForFunction((was) => document.querySelector("#time-window").textContent !== was, all);
    const zoomed = await window();
    assert.notEqual(zoomed, all);
    assert.notEqual(await painted(page, canvas), before);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 80, { steps: 4 });
    await page.mouse.up();
    assert.notEqual(await window(), zoomed);
    await page.focus(canvas);
    await page.keyboard.press("Home");
    assert.equal(await window(), all);
    for (const key of ["w", "d", "a", "s", "w"]) {
      const was = await window();
      await page.keyboard.press(key);
      assert.notEqual(await window(), was, key);
    }
    await page.keyboard.press("Home");
    await page.mouse.click(box.x + 400, box.y + 22 + 2 + 3 * 18 + 8); // the fourth row: what took most
    const detail = await page.textContent("#span");
    assert.ok(detail.startsWith(spec.hottest), detail);
    for (const [key, value] of Object.entries(spec.span)) assert.ok(detail.includes(value.toLocaleString("en-US")), key + " " + value + ": " + detail);
    assert.ok(detail.includes(spec.spanCommand), detail);
    assert.match(await page.textContent("#time-cursor"), /cursor at [\d,]+ instructions/);
    await page.keyboard.press("ArrowUp");
    assert.ok((await page.textContent("#span")).startsWith(spec.caller));
    await page.keyboard.press("ArrowDown");
    assert.ok((await page.textContent("#span")).startsWith(spec.hottest));
    await page.keyboard.press("ArrowRight");
    assert.ok(!(await page.textContent("#span")).startsWith(spec.hottest));
    await page.keyboard.press("/");
    await page.keyboard.type(spec.recursive);
    await page.focus(canvas);
    await page.keyboard.press("n");
    assert.ok((await page.textContent("#span")).startsWith(spec.recursive));
    await page.click("summary");
    await page.waitForFunction(() => document.querySelectorAll("#main details tbody tr").length > 5); // filled once it is open
    await browser.close(page);
  },

  // Keys between pages; sorting; filters; dark and light.
  async keys(browser) {
    const page = await browser.open(spec.demo);
    await page.keyboard.press("4");
    await browser.ready(page, "functions");
    const first = () => page.$eval("#main tbody tr", (row) => row.dataset.function);
    assert.equal(await first(), spec.hottest);
    await page.click("#main thead th:nth-child(5) button");
    assert.equal(await first(), spec.mostEntered);
    assert.equal(await page.getAttribute("#main thead th:nth-child(5)", "aria-sort"), "descending");
    await page.keyboard.press("/");
    await page.keyboard.type(spec.hottest);
    assert.deepEqual(await page.$$eval("#main tbody tr", (all) => all.map((row) => row.dataset.function)), [spec.hottest]);
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await back();
    await page.click("#theme");
    assert.notEqual(await back(), light);
    await page.click(`#main tbody a`);
    await page.waitForSelector("#function");
    assert.ok((await page.textContent("#function")).includes(spec.caller));
    await browser.close(page);
  },

  // On paper it is dark on light, also of a dark page, without what can be clicked; afterwards the page is as before.
  async prints(browser) {
    const page = await browser.open(spec.demo, { colorScheme: "dark" });
    const look = () => page.$eval("#main .card", (card) => [getComputedStyle(card).backgroundColor, getComputedStyle(document.querySelector("#nav")).display]);
    await browser.go(page, "timeline");
    const screen = await look(), picture = await painted(page, "#main .rows canvas");
    await page.evaluate(() => window.addEventListener("beforeprint", () => { window.printed = document.querySelector("#main .rows canvas").toDataURL(); }));
    const before = await page.$eval("#main .rows canvas", (canvas) => canvas.toDataURL());
    assert.ok((await page.pdf()).length > 10000);
    assert.notEqual(await page.evaluate(() => window.printed), before);
    assert.equal(await painted(page, "#main .rows canvas"), picture);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.deepEqual(await look(), ["rgb(255, 255, 255)", "none"]);
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    assert.deepEqual(await look(), screen);
    await browser.close(page);
  },

  // Names are text, whatever they are.
  async names(browser) {
    const page = await browser.open(spec.hostile);
    for (const key of ["overview", "flame", "timeline", "functions", "code", "coverage", "losses"]) {
      await browser.go(page, key);
      assert.equal(await page.$("#main script, #main img, #main b"), null, key);
      assert.equal(await page.evaluate(() => window.owned), undefined, key);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, key + " is wider than the window by " + wide);
    }
    await browser.go(page, "functions");
    const text = await page.textContent("#main");
    for (const name of spec.hostileNames) assert.ok(text.includes(name), name.slice(0, 80));
    for (const link of spec.hostileLinks) {
      await browser.go(page, "functions/f=" + encodeURIComponent(link));
      assert.ok((await page.textContent("#function h2")).startsWith(link.slice(0, 200)));
    }
    await browser.close(page);
  },

  async differences(browser) {
    const page = await browser.open(spec.two);
    await browser.go(page, "differences");
    const values = await page.$$eval("#difference-sums .value", (all) => all.map((one) => one.textContent));
    assert.deepEqual(values.slice(0, 2).map(number), spec.twoSums);
    await page.selectOption("#capture", "1");
    await browser.ready(page, "differences");
    await browser.go(page, "overview");
    assert.equal(number(await page.textContent(".tile .value")), spec.twoSums[1]);
    await browser.close(page);
  },

  // Large ones open within two seconds: of processor time, of all threads of the page, so that others who work do not count.
  async large(browser) {
    const began = Date.now(), page = await browser.open(spec.large), waited = Date.now() - began;
    const client = await page.context().newCDPSession(page);
    await client.send("Performance.enable");
    const took = (await client.send("Performance.getMetrics")).metrics.find((one) => one.name === "ProcessTime").value;
    await browser.go(page, "timeline");
    await browser.go(page, "flame");
    await browser.close(page);
    console.log(`opened in ${took.toFixed(2)} s of processor time, ${(waited / 1000).toFixed(2)} s`);
    assert.ok(took < 2, took + " s");
  },

  // The same page from a server, and a window that it decodes.
  async served(browser) {
    const page = await browser.open(spec.url);
    const all = number(await page.textContent(".tile .value"));
    await browser.go(page, "timeline");
    const [from, to] = spec.window, fields = await page.$$("#range .offset");
    await fields[0].fill(String(from));
    await fields[1].fill(String(to));
    await page.evaluate(() => { delete document.documentElement.dataset.ready; });
    await page.click("#range button[type=submit]");
    await browser.ready(page, "timeline");
    await browser.go(page, "overview");
    const part = number(await page.textContent(".tile .value"));
    assert.ok(part > 0 && part < all / 10, part + " of " + all);
    await page.evaluate(() => { delete document.documentElement.dataset.ready; });
    await page.click("#range button:has-text('all')");
    await browser.ready(page, "overview");
    assert.equal(number(await page.textContent(".tile .value")), all);
    // what the timeline shows, decoded by itself
    await browser.go(page, "timeline");
    await page.focus("#main .rows canvas");
    for (let i = 0; i < 6; i++) await page.keyboard.press("w");
    await page.evaluate(() => { delete document.documentElement.dataset.ready; });
    await page.click(".tools button:has-text('decode')");
    await browser.ready(page, "timeline");
    await browser.go(page, "overview");
    const shown = number(await page.textContent(".tile .value"));
    assert.ok(shown > 0 && shown < all, shown + " of " + all);
    // the other capture below
    await browser.go(page, "timeline");
    await page.check("#all-captures");
    await page.waitForSelector("#beside canvas");
    assert.ok((await page.textContent("#beside h2")).startsWith("2: "), await page.textContent("#beside h2"));
    assert.ok((await (await page.$("#beside .rows canvas")).boundingBox()).height > 40);
    const ids = await page.$$eval("[id]", (all) => all.map((one) => one.id));
    assert.deepEqual(ids.filter((id, i) => ids.indexOf(id) !== i), []);
    await page.uncheck("#all-captures");
    assert.equal(await page.$("#beside canvas"), null);
    await browser.close(page);
  },

  // A large capture from afar: where a function executed most.
  async mapped(browser) {
    const page = await browser.open(spec.mapped);
    await page.waitForSelector("#map:not([hidden])");
    await page.fill("#map-search", "memset");
    assert.match(await page.textContent("#map-found"), /^among the eight that executed most in [\d,]+ stretch(es)?, first at byte 0$/);
    await page.fill("#map-search", "no function is called this");
    assert.equal(await page.textContent("#map-found"), "in no stretch among the eight that executed most");
    await browser.close(page);
  },

  // Two cores of perf.data in one clock: a window by time.
  async timed(browser) {
    const page = await browser.open(spec.timed);
    const all = number(await page.textContent(".tile .value"));
    await browser.go(page, "timeline");
    await page.focus("#main .rows canvas");
    for (let i = 0; i < 3; i++) await page.keyboard.press("w");
    await page.evaluate(() => { delete document.documentElement.dataset.ready; });
    await page.click(".tools button:has-text('decode')");
    await browser.ready(page, "timeline");
    await browser.go(page, "overview");
    const part = number(await page.textContent(".tile .value"));
    assert.ok(part > 0 && part < all, part + " of " + all);
    assert.ok((await page.textContent("#main .heading")).includes("times "), await page.textContent("#main .heading"));
    await browser.close(page);
  },

  // Pictures, to be looked at.
  async shots(browser) {
    for (const { width, height, scheme } of spec.sizes) {
      const page = await browser.open(spec.demo, { viewport: { width, height }, colorScheme: scheme });
      for (const key of spec.shots) {
        await browser.go(page, key);
        await page.screenshot({ path: path.join(spec.folder, `${key.split("/")[0]}-${width}-${scheme}.png`) });
      }
      await browser.close(page);
    }
  },
};

(async () => {
  const browser = new Browser();
  await browser.start();
  try {
    for (const name of spec.checks) {
      await checks[name](browser);
      console.log("ok " + name);
    }
  } finally {
    await browser.browser.close();
  }
})().catch((error) => { console.error(error); process.exit(1); });
