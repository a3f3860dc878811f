// Where the data comes from. A source has `list()`, the names of its captures, and `load(number)`, a promise
// of the Data of one; `window(number, from, to, by)`, where there is one, the Data of bytes or times `from` to `to` of it. Data stands
// in the page, or comes from the server that the page came from, or from whoever sets window.trackwaySource first.

class EmbeddedSource {
  constructor() { this.scripts = document.querySelectorAll('script[type="application/x-trackway-data"]'); }

  count() { return this.scripts.length; }

  async load(number) { return new Data(this.scripts[number].textContent); }
}

// Of "trackway serve": every request carries the secret of the page's address.
class HttpSource {
  constructor() {
    this.token = new URLSearchParams(location.search).get("k") || "";
    this.view = Math.floor(Math.random() * 0x7fffffff);
    this.captures = [];
  }

  async ask(path, words) {
    const query = new URLSearchParams(Object.assign({ k: this.token, view: this.view }, words));
    const answer = await fetch(path + "?" + query, { cache: "no-store" });
    if (!answer.ok) throw new Error((await answer.text()).trim() || "the server said " + answer.status);
    return answer;
  }

  async start() {
    const info = await (await this.ask("/info", {})).json();
    this.captures = info.captures;
    this.windowMost = info.windowMost;
  }

  count() { return this.captures.length; }

  async load(number) {
    const data = new Data(await (await this.ask("/data", { capture: number })).arrayBuffer());
    data.bytes = this.captures[number].bytes;
    data.sampled = this.captures[number].sampled;
    return data;
  }

  // `by`: "bytes", or "time", of all sources in one clock.
  async window(number, from, to, by) {
    const data = new Data(await (await this.ask("/window", { capture: number, from, to, by })).arrayBuffer());
    data.bytes = this.captures[number].bytes;
    data[by === "time" ? "times" : "range"] = [from, to];
    return data;
  }

  // What is known of the capture from afar: null where it is small.
  async tiles(number, from, to) {
    try { return await (await this.ask("/tiles", { capture: number, from, to })).json(); } catch (e) { return null; }
  }

  async perfetto(number, from, to, by) { return (await this.ask("/perfetto", { capture: number, from, to, by })).blob(); }
}
