// What the reader has chosen: kept in the address behind "#?", so that it can be sent and stepped back through.

const DEFAULTS = {
  problem: "", objective: "", metric: "", family: "", off: "", against: "",
  kind: "cumulative", band: "error", logx: "", logy: "", seeds: "", panel: "", zoom: "",
};

function readState(hash) {
  const state = { ...DEFAULTS };
  if (!hash.startsWith("#?")) return state;
  for (const [key, value] of new URLSearchParams(hash.slice(2))) if (key in DEFAULTS) state[key] = value;
  return state;
}

function writtenState(state, place) {
  const changed = Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]);
  if (!changed.length) return place ? `#${place}` : "";
  const words = new URLSearchParams(changed);
  if (place) words.set("at", place);
  return `#?${words}`;
}

// Where the page is to be scrolled to: an anchor of its own, or the one kept beside the state.
const placeIn = (hash) =>
  hash.startsWith("#?") ? new URLSearchParams(hash.slice(2)).get("at") || "" : decodeURIComponent(hash.slice(1));
