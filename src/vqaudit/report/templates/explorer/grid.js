// All trials of an item: a row for each way of asking, a column for each order of the options.

const SIGNS = { unread: "?", failed: "!" };
const WORDS = { right: "right", wrong: "wrong", unread: "no option read", failed: "failed", unknown: "answer not known" };
const WIDEST = 30;

class TrialGrid {
  constructor(data, onchoose) {
    this.data = data;
    this.onchoose = onchoose;
    this.element = make("div", { class: "scroll trials", onkeydown: (event) => this.key(event) });
  }

  show(item, trials, chosen) {
    this.cells = [];
    const rows = this.rows(trials);
    const columns = this.columns(item, trials);
    const dense = columns.length <= WIDEST && rows.length * columns.length <= 3 * trials.length;
    const body = rows.map(([label, own]) => this.row(item, label, own, dense ? columns : null));
    const head = dense && columns.length > 1 ? this.head(item, trials, columns) : null;
    const table = make("table", { role: "grid", "aria-label": "Trials of this item" }, head, make("tbody", {}, ...body.map(([row]) => row)));
    this.cells = body.map(([, cells]) => cells);
    this.element.replaceChildren(table);
    this.mark(chosen);
  }

  // Orders of the options, by where the right one stands.
  columns(item, trials) {
    const places = new Map(trials.map((trial) => [this.data.columns.arrangement[trial], this.data.answerPosition(trial, item)]));
    return [...places.keys()].sort((a, b) => places.get(a) - places.get(b) || a - b);
  }

  rows(trials) {
    const found = new Map();
    for (const trial of trials) {
      const code = this.data.columns.ask[trial];
      if (!found.has(code)) found.set(code, []);
      found.get(code).push(trial);
    }
    const several = new Set([...found.keys()].map((code) => this.data.ask_rows[code][0])).size > 1;
    return [...found.entries()].map(([code, own]) => [this.label(this.data.ask_rows[code], several), own]);
  }

  label([code, format], several) {
    const name = format === null ? "format not known" : format;
    return several ? `${this.data.interfaces[code][0]} · ${name}` : name;
  }

  head(item, trials, columns) {
    const cells = columns.map((column) => {
      const trial = trials.find((one) => this.data.columns.arrangement[one] === column);
      const place = this.data.answerPosition(trial, item);
      const order = this.data.shown(trial).order;
      const said = place < 0 ? "as logged" : placeName(place);
      return make("th", { scope: "col", title: order === null ? null : `options in the order ${order.join(", ")}` }, said);
    });
    return make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "right option stands"), ...cells));
  }

  row(item, label, trials, columns) {
    const cells = [];
    const cell = (trial) => {
      const made = this.cell(trial);
      cells.push(made);
      return make("td", { role: "gridcell" }, made);
    };
    const own = columns === null ? trials.map(cell) : columns.map((column) => {
      const here = trials.filter((trial) => this.data.columns.arrangement[trial] === column);
      return here.length ? make("td", { role: "gridcell" }, ...here.map((trial) => {
        const made = this.cell(trial);
        cells.push(made);
        return made;
      })) : make("td", {});
    });
    return [make("tr", { role: "row" }, make("th", { scope: "row" }, breakable(label)), ...own), cells];
  }

  cell(trial) {
    const verdict = this.data.verdict(trial);
    const { position } = this.data.outcome(trial);
    const { ids } = this.data.shown(trial);
    const sign = SIGNS[verdict] ?? (ids && ids[position] !== undefined ? ids[position] : String(position + 1));
    const cell = make("button", { type: "button", tabindex: -1, class: verdict, title: WORDS[verdict], onclick: () => this.onchoose(trial) }, sign.slice(0, 6));
    cell.setAttribute("aria-label", `${sign}, ${WORDS[verdict]}`);
    cell.dataset.trial = trial;
    return cell;
  }

  mark(chosen) {
    const all = this.cells.flat();
    for (const cell of all) {
      const side = chosen.indexOf(Number(cell.dataset.trial));
      cell.setAttribute("aria-pressed", String(side >= 0));
      cell.tabIndex = -1;
    }
    const entry = all.find((cell) => Number(cell.dataset.trial) === chosen[1]) ?? all.find((cell) => Number(cell.dataset.trial) === chosen[0]) ?? all[0];
    if (entry) entry.tabIndex = 0;
  }

  key(event) {
    const row = this.cells.findIndex((cells) => cells.includes(document.activeElement));
    if (row < 0) return;
    const column = this.cells[row].indexOf(document.activeElement);
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [down, right] = steps[event.key];
    const cells = this.cells[Math.min(Math.max(row + down, 0), this.cells.length - 1)];
    const target = cells[Math.min(Math.max(column + right, 0), cells.length - 1)];
    document.activeElement.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  }
}
