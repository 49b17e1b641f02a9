// One item: question, picture, options, all its trials, and two of them side by side.

class ItemView {
  constructor(data) {
    this.data = data;
    this.panel = new TrialPanel(data);
    this.grid = new TrialGrid(data, (trial) => this.choose(trial));
    this.head = make("div", { class: "head" });
    this.sides = make("div", { class: "pair", "aria-live": "off" });
    this.hint = make("p", { class: "dim hint" }, "Choose a cell to see that trial on the right; “keep” moves it to the left. Letters are what was chosen; ? is a reply in which no option was read. Filled cells are right.");
    this.element = make("div", { class: "item" }, this.head, this.hint, this.grid.element, this.sides);
  }

  show(item, chosen) {
    this.item = item;
    const empty = item === null;
    for (const part of [this.hint, this.grid.element, this.sides]) part.hidden = empty;
    if (empty) {
      this.head.replaceChildren(make("p", { class: "dim" }, "No item passes all filters."));
      return;
    }
    const trials = this.data.trialsOf(item, chosen);
    this.chosen = this.pair(trials);
    this.head.replaceChildren(...this.heading(item));
    this.grid.show(item, trials, this.chosen);
    this.drawSides();
  }

  heading(item) {
    const { id, question, options, answer, category, hint, notes, pictures } = this.data.items;
    const list = options[item].map((text, k) => make("li", { class: k === answer[item] ? "right" : "" }, foreign(text), k === answer[item] ? make("small", {}, " right") : null));
    return [
      make("h4", {}, foreign(question[item] ?? "The question is not known")),
      this.pictures(pictures[item]),
      hint[item] === null ? null : make("p", { class: "hint-text" }, foreign(hint[item])),
      make("ol", { class: "options", start: 1 }, ...list),
      make("p", { class: "dim" }, "Item ", foreign(id[item]), category[item] === null ? null : make("span", {}, ", ", foreign(category[item])), notes[item].length ? make("span", {}, ": ", foreign(notes[item].join("; "))) : null),
    ].filter((part) => part !== null);
  }

  pictures(codes) {
    const kept = codes.filter((code) => code >= 0);
    if (!codes.length) return null;
    if (!kept.length) return make("p", { class: "dim" }, `${plural(codes.length, "picture")}, not kept with this run`);
    return make("div", { class: "thumbs" }, ...kept.map((code, k) => make("img", { src: this.data.pictureUrl(code), alt: `picture ${k + 1} of this item, small`, width: 160 })));
  }

  // A right trial and a wrong one that differ in as little as possible; else the first two.
  pair(trials) {
    const right = trials.filter((trial) => this.data.verdict(trial) === "right");
    const others = trials.filter((trial) => ["wrong", "unread"].includes(this.data.verdict(trial)));
    const { ask, arrangement } = this.data.columns;
    for (const same of [arrangement, ask]) {
      const first = new Map(right.map((trial) => [same[trial], trial]).reverse());
      const wrong = others.find((trial) => first.has(same[trial]));
      if (wrong !== undefined) return [first.get(same[wrong]), wrong];
    }
    return right.length && others.length ? [right[0], others[0]] : trials.slice(0, 2);
  }

  choose(trial) {
    this.chosen = this.chosen.length < 2 ? [...this.chosen, trial] : [this.chosen[0], trial];
    this.grid.mark(this.chosen);
    this.drawSides();
  }

  keep() {
    this.chosen = [this.chosen[1], this.chosen[1]];
    this.grid.mark(this.chosen);
    this.drawSides();
  }

  drawSides() {
    const panels = this.chosen.map((trial, side) => {
      const keep = side === 1 ? make("button", { type: "button", class: "keep", onclick: () => this.keep() }, "Keep on the left") : null;
      return this.panel.draw(this.item, trial, keep);
    });
    this.sides.replaceChildren(...panels);
  }
}
