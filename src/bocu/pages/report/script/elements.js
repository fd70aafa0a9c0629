// Elements, numbers and files. Text is only ever set as text: a hostile title stays one.

const one = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const element = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
const drawn = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// As the library writes numbers: a real minus sign, the places at which an error shows two figures.
const SIMULATED = "simulated data";
const NOTHING = "–";
const NO_WIDTH = 1e-9; // errors that are a smaller share of their value are rounding
const signed = (text, sign) => (sign && !text.startsWith("-") ? `+${text}` : text).replaceAll("-", "−");
const fixed = (value, places, sign = false) => signed(value.toFixed(places), sign);
const decimals = (error) => Math.min(Math.max(1 - Number(error.toExponential(6).split("e")[1]), 0), 8);

function general(value, figures = 4, sign = false) {
  if (value === 0) return signed("0", sign);
  const power = Number(value.toExponential(figures - 1).split("e")[1]);
  if (power < -4 || power >= figures) {
    const [digits, exponent] = value.toExponential(figures - 1).split("e");
    const short = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
    const sized = `${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
    return signed(`${short}e${sized}`, sign);
  }
  const text = value.toFixed(figures - 1 - power);
  return signed(text.includes(".") ? text.replace(/\.?0+$/, "") : text, sign);
}

function plusMinus(mean, error) {
  if (!Number.isFinite(mean)) return NOTHING;
  if (!Number.isFinite(error) || error <= NO_WIDTH * Math.abs(mean)) return general(mean);
  return `${fixed(mean, decimals(error))} ± ${fixed(error, decimals(error))}`;
}

function interval([value, low, high]) {
  if (value === null) return NOTHING;
  if (low === null) return general(value, 4, true);
  const places = high - low > NO_WIDTH * Math.abs(value) ? decimals((high - low) / 4) : 2;
  return `${fixed(value, places, true)} [${fixed(low, places)}, ${fixed(high, places)}]`;
}

const probability = (p) => (p === null ? NOTHING : p < 0.001 ? "< 0.001" : p.toFixed(3));

const embedded = (id) => JSON.parse(document.getElementById(id).textContent);

// Single precision, little-endian, as base64.
function floats(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

function save(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const csv = (rows) => rows.map((row) => row.map((cell) => quoted(String(cell))).join(",")).join("\n") + "\n";
