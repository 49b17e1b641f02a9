// The list of items: one page of it at a time, a listbox for keyboards.

const PAGE = 50;

class ItemList {
  constructor(data, name, onchoose) {
    this.data = data;
    this.onchoose = onchoose;
    this.name = name;
    this.items = [];
    this.place = 0;
    this.box = make("ul", { class: "items", role: "listbox", tabindex: 0, "aria-label": "Items", onkeydown: (event) => this.key(event) });
    this.range = make("span", { class: "dim" });
    this.before = make("button", { type: "button", onclick: () => this.choose(this.first - PAGE) }, "Previous");
    this.after = make("button", { type: "button", onclick: () => this.choose(this.first + PAGE) }, "Next");
    this.element = make("div", { class: "list" }, this.box, make("div", { class: "pager" }, this.before, this.range, this.after));
  }

  get first() {
    return PAGE * Math.floor(this.place / PAGE);
  }

  show(items, chosen) {
    const current = this.items[this.place];
    this.items = items;
    this.chosen = chosen;
    const kept = items.indexOf(current);
    this.place = Math.max(0, kept);
    this.draw();
    this.onchoose(items.length ? items[this.place] : null);
  }

  draw() {
    const shown = this.items.slice(this.first, this.first + PAGE);
    this.box.replaceChildren(...shown.map((item, k) => this.row(item, this.first + k)));
    this.range.textContent = shown.length ? `${this.first + 1}–${this.first + shown.length} of ${this.items.length.toLocaleString("en")}` : "no item";
    this.before.disabled = this.first === 0;
    this.after.disabled = this.first + PAGE >= this.items.length;
    this.mark();
  }

  row(item, place) {
    const { judged, right } = this.data.tally(item, this.chosen);
    const share = judged ? `${Math.round((100 * right) / judged)}\u00a0% right` : "not judged";
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    if (judged) bar.append(this.filled(right / judged));
    return make(
      "li",
      { role: "option", id: `${this.name}-${place}`, "data-place": place, onclick: () => this.choose(place) },
      make("span", { class: "question" }, foreign(this.data.items.question[item] ?? this.data.items.id[item])),
      make("span", { class: "share" }, bar, ` ${share}${judged ? ` of ${judged}` : ""}`)
    );
  }

  filled(share) {
    const part = make("span", {});
    part.style.width = `${100 * share}%`;
    return part;
  }

  mark() {
    for (const row of this.box.children) row.setAttribute("aria-selected", String(Number(row.dataset.place) === this.place));
    const row = this.box.querySelector('[aria-selected="true"]');
    if (row) {
      this.box.setAttribute("aria-activedescendant", row.id);
      const top = row.offsetTop - this.box.offsetTop;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      const bottom = top + row.offsetHeight - this.box.clientHeight;
      if (bottom > this.box.scrollTop) this.box.scrollTop = bottom;
    } else this.box.removeAttribute("aria-activedescendant");
  }

  choose(place) {
    if (!this.items.length) return;
    const old = this.first;
    this.place = Math.min(Math.max(place, 0), this.items.length - 1);
    if (this.first === old) this.mark();
    else this.draw();
    this.onchoose(this.items[this.place]);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.choose(this.place + steps[event.key]);
  }
}
