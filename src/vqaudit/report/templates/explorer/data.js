// Knows the packed form of a run (report/explorer/packing.py) and gives trials and items back.

const ARRAYS = { u1: Uint8Array, i1: Int8Array, u2: Uint16Array, u4: Uint32Array };
const NO_OPTION = -1;

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k += 1) bytes[k] = raw.charCodeAt(k);
  return bytes;
}

async function unzipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Offsets of runs of `lengths` values: one more than there are runs.
function starts(lengths) {
  const found = new Uint32Array(lengths.length + 1);
  for (let k = 0; k < lengths.length; k += 1) found[k + 1] = found[k] + lengths[k];
  return found;
}

class Texts {
  constructor(bytes, lengths) {
    // a leading byte-order mark is a character of the data here
    this.whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    this.at = starts(lengths);
  }

  get size() {
    return this.at.length - 1;
  }

  text(code) {
    return this.whole.slice(this.at[code], this.at[code + 1]);
  }

  // Marks the codes of all texts that match: after a hit the search goes on with the next text.
  matching(pattern) {
    const marks = new Uint8Array(this.size);
    const search = new RegExp(pattern, "giu");
    let code = 0;
    for (let hit = search.exec(this.whole); hit !== null; hit = search.exec(this.whole)) {
      while (this.at[code + 1] <= hit.index) code += 1;
      if (hit.index + hit[0].length <= this.at[code + 1]) {
        marks[code] = 1;
        search.lastIndex = this.at[code + 1];
      } else {
        search.lastIndex = hit.index + 1;
      }
    }
    return marks;
  }
}

class RunData {
  constructor(header, columns) {
    Object.assign(this, header);
    this.columns = columns;
    this.count = header.items.id.length;
    this.trialsAt = starts(columns.trials_of);
    this.piecesAt = starts(columns.pieces_of);
    this.scoresAt = columns.scores_of ? starts(columns.scores_of) : null;
    this.picturesAt = starts(columns.picture_length);
    this.said = new Texts(columns.said_text, columns.said_length);
    this.prompts = new Texts(columns.prompt_text, columns.prompt_length);
    this.urls = new Map();
  }

  static async open(text) {
    const bytes = fromBase64(text);
    const size = new DataView(bytes.buffer).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
    const columns = {};
    const unpack = async ([name, [kind, offset, length, zipped]]) => {
      const packed = bytes.subarray(4 + size + offset, 4 + size + offset + length);
      const raw = zipped ? await unzipped(packed) : packed.slice();
      columns[name] = new ARRAYS[kind](raw.buffer, 0, raw.byteLength / ARRAYS[kind].BYTES_PER_ELEMENT);
    };
    await Promise.all(Object.entries(header.columns).map(unpack));
    return new RunData(header, columns);
  }

  // Trials of an item through an interface, or through all of them where it is -1.
  trialsOf(item, chosen) {
    const found = [];
    for (let trial = this.trialsAt[item]; trial < this.trialsAt[item + 1]; trial += 1) {
      if (chosen < 0 || this.ask(trial).interface === chosen) found.push(trial);
    }
    return found;
  }

  ask(trial) {
    const [code, format, prefill] = this.ask_rows[this.columns.ask[trial]];
    return { interface: code, format, prefill };
  }

  prompt(trial) {
    let text = "";
    for (let k = this.piecesAt[trial]; k < this.piecesAt[trial + 1]; k += 1) {
      text += this.prompts.text(this.columns.piece[k] - 1);
    }
    return this.piecesAt[trial + 1] > this.piecesAt[trial] ? text : null;
  }

  saying(name, trial) {
    const code = this.columns[name] ? this.columns[name][trial] : 0;
    return code ? this.said.text(code - 1) : null;
  }

  // By position: probability of the ID, or log-probability per token of the option.
  scores(trial) {
    if (!this.scoresAt || !this.columns.scores_of[trial]) return null;
    const perToken = this.columns.score_kind[trial] === 2;
    const steps = Array.from(this.columns.score.subarray(this.scoresAt[trial], this.scoresAt[trial + 1]));
    const values = steps.map((step) => (step === this.no_score ? null : step / this.steps));
    return { perToken, values: perToken ? values.map((value) => (value === null ? null : -value)) : values };
  }

  name(trial) {
    if (this.trial_names) return this.trial_names[trial];
    if (!this.columns.trial) return null;
    const bytes = this.columns.trial.subarray(8 * trial, 8 * trial + 8);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  shown(trial) {
    const [order, idOrder] = this.arrangement_rows[this.columns.arrangement[trial]];
    const [ids] = this.ids_rows[this.columns.ids[trial]];
    return { order, idOrder, ids };
  }

  outcome(trial) {
    const [outcome, reason, lenient] = this.reading_rows[this.columns.reading[trial]];
    return { outcome, reason, lenient, position: this.columns.position[trial], lenientPosition: this.columns.lenient[trial] };
  }

  // "right", "wrong", "unread", "failed" or "unknown" (no answer is known)
  verdict(trial) {
    const { outcome } = this.outcome(trial);
    if (outcome === "failed") return "failed";
    if (outcome !== "chosen") return "unread";
    return ["wrong", "right", "unknown"][this.columns.right[trial]];
  }

  // Position at which the right option stands, -1 where it is not known.
  answerPosition(trial, item) {
    const { order } = this.shown(trial);
    return order === null || this.items.answer[item] === null ? NO_OPTION : order.indexOf(this.items.answer[item]);
  }

  pictureUrl(code) {
    if (!this.urls.has(code)) {
      const bytes = this.columns.picture.subarray(this.picturesAt[code], this.picturesAt[code + 1]);
      this.urls.set(code, URL.createObjectURL(new Blob([bytes], { type: this.picture_types[code] })));
    }
    return this.urls.get(code);
  }

  // Over the interfaces that are looked at: each item's flags and counts, and how many items have each flag.
  tallies(chosen) {
    if (!this.counted) this.counted = new Map();
    if (!this.counted.has(chosen)) this.counted.set(chosen, this.countOver(chosen));
    return this.counted.get(chosen);
  }

  countOver(chosen) {
    const width = this.interfaces.length;
    const found = { flags: new Uint8Array(this.count), judged: new Uint32Array(this.count), right: new Uint32Array(this.count), totals: this.filters.map(() => 0) };
    for (let item = 0; item < this.count; item += 1) {
      for (let code = 0; code < width; code += 1) {
        if (chosen >= 0 && code !== chosen) continue;
        const place = item * width + code;
        found.flags[item] |= this.columns.flags[place];
        found.judged[item] += this.columns.judged[place];
        found.right[item] += this.columns.right_of[place];
      }
      for (let bit = 0; bit < found.totals.length; bit += 1) found.totals[bit] += (found.flags[item] >> bit) & 1;
    }
    return found;
  }

  tally(item, chosen) {
    const { flags, judged, right } = this.tallies(chosen);
    return { flags: flags[item], judged: judged[item], right: right[item] };
  }
}
