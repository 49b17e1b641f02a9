// Makes elements. Text is only ever set as text.

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Text of others: it may run in either direction, and must not reorder what stands around it.
function foreign(text, tag = "bdi") {
  return make(tag, tag === "pre" ? { dir: "auto" } : {}, text);
}

// The same, where a long name may break after a stroke.
function breakable(text) {
  const made = make("bdi");
  for (const part of text.split(/(?<=[/_·-])/u)) made.append(part, make("wbr"));
  return made;
}

function percent(share) {
  return `${(100 * share).toFixed(1)}\u00a0%`;
}

function plural(number, word) {
  return `${number.toLocaleString("en")}\u00a0${word}${number === 1 ? "" : "s"}`;
}

const PLACES = ["1st", "2nd", "3rd"];

function placeName(position) {
  return PLACES[position] || `${position + 1}th`;
}
