// One explorer per run: unpacks its data when the page is at rest, then answers to controls.

class Explorer {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.search = new Search(data);
    this.view = new ItemView(data);
    this.list = new ItemList(data, `${root.id}-item`, (item) => this.view.show(item, this.chosen));
    this.flags = 0;
    this.status = make("p", { class: "dim status", role: "status" });
    this.words = make("input", { type: "search", placeholder: "question, option, reply, item", oninput: () => this.later() });
    this.interface = this.select([["-1", "all"], ...data.interfaces.map(([name], code) => [String(code), name])], String(data.main));
    this.sort = this.select([["file", "dataset"], ["low", "fewest right first"], ["high", "most right first"]], "file");
    this.category = this.select([["", "all"], ...this.categories()], "");
    this.chips = make("div", { class: "chips", role: "group", "aria-label": "Filters" });
    root.replaceChildren(this.controls(), this.status, make("div", { class: "browse" }, this.list.element, this.view.element));
    this.update();
  }

  get chosen() {
    return Number(this.interface.value);
  }

  categories() {
    const names = [...new Set(this.data.items.category.map((name) => name ?? ""))].sort();
    return names.length > 1 ? names.map((name, k) => [String(k + 1), name === "" ? "(none)" : name, name]) : [];
  }

  select(rows, value) {
    const made = make("select", { onchange: () => this.update() }, ...rows.map(([code, label, name]) => {
      const option = make("option", { value: code }, label.length > 60 ? `${label.slice(0, 60)}…` : label);
      option.dataset.name = name ?? "";
      return option;
    }));
    made.value = value;
    return made;
  }

  controls() {
    const labelled = (label, control) => make("label", {}, make("span", {}, label), control);
    const found = [labelled("Search", this.words)];
    if (this.data.interfaces.length > 1) found.push(labelled("Interface", this.interface));
    if (this.category.options.length > 1) found.push(labelled("Category", this.category));
    found.push(labelled("Order", this.sort));
    return make("div", { class: "controls", role: "search" }, ...found, this.chips);
  }

  drawChips() {
    const { totals } = this.data.tallies(this.chosen);
    const focused = this.chips.contains(document.activeElement) ? document.activeElement.dataset.bit : null;
    this.chips.replaceChildren(...this.data.filters.map(([, label, meaning], bit) => this.chip(bit, label, meaning, totals[bit])).filter(Boolean));
    if (focused !== null) this.chips.querySelector(`[data-bit="${focused}"]`)?.focus();
  }

  chip(bit, label, meaning, total) {
    const on = Boolean((this.flags >> bit) & 1);
    if (!total && !on) return null;
    const made = make("button", { type: "button", class: "chip", title: meaning, "aria-pressed": String(on), onclick: () => this.toggle(bit) }, label, make("small", {}, ` ${total.toLocaleString("en")}`));
    made.dataset.bit = bit;
    return made;
  }

  toggle(bit) {
    this.flags ^= 1 << bit;
    this.update();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), 120);
  }

  update() {
    const option = this.category.selectedOptions[0];
    const category = this.category.value === "" ? null : option.dataset.name;
    this.drawChips();
    const items = this.search.items({ words: this.words.value, flags: this.flags, category, chosen: this.chosen, sort: this.sort.value });
    this.status.textContent = `${items.length.toLocaleString("en")} of ${plural(this.data.count, "item")}`;
    this.list.show(items, this.chosen);
  }
}

async function start(root) {
  const source = document.getElementById(root.dataset.source);
  const data = await RunData.open(source.textContent.trim());
  source.remove();
  root.explorer = new Explorer(root, data);
  root.dataset.ready = "yes";
}

function begin() {
  for (const root of document.querySelectorAll(".explorer[data-source]")) {
    if (typeof DecompressionStream === "undefined") {
      root.querySelector(".waiting").textContent = "This browser is too old for the item explorer (it has no DecompressionStream); everything else on this page is complete.";
      continue;
    }
    start(root).catch((error) => {
      root.querySelector(".waiting").textContent = `The item explorer could not open its data: ${error.message}`;
    });
  }
}

requestAnimationFrame(() => setTimeout(begin, 0));
