// Which items pass: filters, category and words. Knows no element.

function escaped(words) {
  return words.replace(/[.*+?^${}()|[\]\\/-]/gu, (sign) => (sign === "-" ? "\\x2d" : `\\${sign}`));
}

class Search {
  constructor(data) {
    this.data = data;
    this.haystacks = null;
  }

  haystack(item) {
    if (this.haystacks === null) {
      const { id, question, options, category, hint } = this.data.items;
      this.haystacks = id.map((name, k) => [name, question[k], hint[k], category[k], ...options[k]].filter(Boolean).join("\n"));
    }
    return this.haystacks[item];
  }

  // Codes of replies that hold the words, one mark each; 0 is "no reply".
  replies(pattern) {
    const marks = new Uint8Array(this.data.said.size + 1);
    marks.set(this.data.said.matching(pattern), 1);
    return marks;
  }

  said(item, marks) {
    const { trialsAt, columns } = this.data;
    for (let trial = trialsAt[item]; trial < trialsAt[item + 1]; trial += 1) {
      if (marks[columns.reply[trial]] || (columns.further && marks[columns.further[trial]])) return true;
    }
    return false;
  }

  // wanted: { words, flags, category, chosen, sort } -> items
  items(wanted) {
    const words = wanted.words.trim();
    const pattern = escaped(words);
    const matcher = words ? new RegExp(pattern, "iu") : null;
    const marks = words ? this.replies(pattern) : null;
    const found = [];
    const { flags, judged, right } = this.data.tallies(wanted.chosen);
    for (let item = 0; item < this.data.count; item += 1) {
      if ((flags[item] & wanted.flags) !== wanted.flags) continue;
      if (wanted.category !== null && (this.data.items.category[item] ?? "") !== wanted.category) continue;
      if (matcher && !matcher.test(this.haystack(item)) && !this.said(item, marks)) continue;
      found.push({ item, share: judged[item] ? right[item] / judged[item] : null });
    }
    return this.sorted(found, wanted.sort).map((row) => row.item);
  }

  sorted(rows, sort) {
    if (sort === "file") return rows;
    const sign = sort === "low" ? 1 : -1;
    const value = (row) => (row.share === null ? Infinity : sign * row.share);
    return rows.sort((a, b) => value(a) - value(b) || a.item - b.item);
  }
}
