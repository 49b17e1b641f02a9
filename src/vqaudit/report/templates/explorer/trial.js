// One trial in full: the prompt as it was sent, the reply as it came, the scores, and what was read.

class TrialPanel {
  constructor(data) {
    this.data = data;
  }

  draw(item, trial, action) {
    const ask = this.data.ask(trial);
    const format = ask.format === null ? "" : `, ${ask.format}`;
    return make(
      "section",
      { class: "trial", "aria-label": `Trial: ${this.data.interfaces[ask.interface][0]}${format}` },
      make("p", { class: "verdict" }, this.tag(trial), " ", foreign(`${this.data.interfaces[ask.interface][0]}${format}`), action),
      ...this.prompt(item, trial, ask),
      ...this.reply(trial),
      ...this.options(item, trial),
      this.reading(item, trial)
    );
  }

  tag(trial) {
    const verdict = this.data.verdict(trial);
    const { outcome } = this.data.outcome(trial);
    const word = verdict === "unread" ? outcome : WORDS[verdict];
    return make("span", { class: `tag ${verdict === "unread" ? "wrong" : verdict}` }, word);
  }

  prompt(item, trial, ask) {
    const pictures = this.data.items.pictures[item].length;
    const text = this.data.prompt(trial);
    const found = [make("h5", {}, "Prompt", pictures ? make("small", {}, ` with ${plural(pictures, "picture")}`) : null)];
    found.push(text === null ? make("p", { class: "dim" }, "The records do not hold the prompt.") : foreign(text, "pre"));
    if (ask.prefill) found.push(make("h5", {}, "The answer was begun with"), foreign(ask.prefill, "pre"));
    return found;
  }

  reply(trial) {
    const [reply, further, reasoning, error] = ["reply", "further", "reasoning", "error"].map((name) => this.data.saying(name, trial));
    const found = [];
    if (reasoning !== null) found.push(make("h5", {}, "Reasoning"), foreign(reasoning, "pre"));
    if (error !== null) found.push(make("h5", {}, "Error"), foreign(error, "pre"));
    const replied = reply !== null || further !== null || this.data.interfaces[this.data.ask(trial).interface][1] === "reply";
    if (replied && this.data.verdict(trial) !== "failed") {
      const pre = make("pre", { dir: "auto", class: "reply" }, reply ?? "");
      if (further) pre.append(make("span", { class: "further", title: "beyond the token budget: kept, but not read" }, further));
      if (!reply && !further) pre.append(make("span", { class: "dim" }, "(nothing)"));
      found.push(make("h5", {}, "Reply"), pre);
    }
    return found;
  }

  // Options as they stood, with their scores; options are not known where a log is silent.
  options(item, trial) {
    const { order, ids } = this.data.shown(trial);
    const scores = this.data.scores(trial);
    const rows = order ?? (scores ? scores.values.map(() => null) : null);
    if (rows === null) return [];
    const answer = this.data.answerPosition(trial, item);
    const { position } = this.data.outcome(trial);
    const body = rows.map((option, place) => {
      const marks = [place === position ? "chosen" : "", place === answer ? "right" : ""].filter(Boolean).join(", ");
      const score = scores === null ? [] : [make("td", { class: "number" }, this.score(scores, place))];
      const name = ids && ids[place] !== undefined ? ids[place] : String(place + 1);
      const text = option === null ? null : this.data.items.options[item][option] ?? null;
      return make("tr", { class: marks }, make("th", { scope: "row" }, foreign(name)), make("td", {}, text === null ? "" : foreign(text)), ...score, make("td", { class: "marks" }, marks));
    });
    const title = scores === null ? "Options as shown" : scores.perToken ? "Log-probability per token of each option" : "Probability of each ID as the next token";
    return [make("h5", {}, title), make("div", { class: "scroll" }, make("table", { class: "options" }, make("tbody", {}, ...body)))];
  }

  score(scores, place) {
    const value = scores.values[place];
    if (value === null || value === undefined) return "–";
    if (scores.perToken) return value.toFixed(3).replace("-", "−");
    return value === 0 ? "< 0.1\u00a0%" : percent(value);
  }

  reading(item, trial) {
    const { outcome, reason, lenient, position, lenientPosition } = this.data.outcome(trial);
    const { ids } = this.data.shown(trial);
    const name = (place) => (ids && ids[place] !== undefined ? ids[place] : `position ${place}`);
    const line = make("p", { class: "dim" }, "Read as ", make("b", {}, position >= 0 ? foreign(name(position)) : outcome), reason ? foreign(` (${reason})`) : null);
    if (lenient !== null && lenientPosition !== position) line.append("; read leniently as ", lenientPosition >= 0 ? foreign(name(lenientPosition)) : lenient);
    const answer = this.data.answerPosition(trial, item);
    if (answer >= 0) line.append("; right is ", make("b", {}, foreign(name(answer))));
    line.append(".");
    const own = this.data.name(trial);
    if (own !== null) line.append(" Trial ", foreign(own, "code"), ".");
    return line;
  }
}
