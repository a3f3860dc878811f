// Where the data comes from. A source has `list()`, the names of its captures, and `load(number)`, a promise
// of the Data of one. This one reads what stands in the page; others put themselves in its place with
// window.trackwaySource before the page starts.

class EmbeddedSource {
  constructor() { this.scripts = document.querySelectorAll('script[type="application/x-trackway-data"]'); }

  count() { return this.scripts.length; }

  async load(number) {
    const text = atob(this.scripts[number].textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new Data(bytes.buffer);
  }
}
