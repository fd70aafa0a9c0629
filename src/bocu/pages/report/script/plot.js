// Panels: curves of one comparison, drawn as SVG in the width there is; read by pointer, finger or keys.

const MARGINS = { left: 64, right: 10, top: 8, bottom: 34 };
const HEIGHT = { small: 220, chosen: 400 };

// Curves are unfolded when they are first drawn.
function unfolded(found) {
  if (found && !found.unfolded) {
    for (const curve of found.of) if (curve) Object.assign(curve, { mean: floats(curve.mean), error: floats(curve.error) });
    found.unfolded = true;
  }
  return found;
}

// The curves of a kind; averages are totals by rounds.
function curvesOf(panel, kind) {
  const found = unfolded(panel.curves[kind === "average" ? "cumulative" : kind]);
  if (!found) return null;
  const by = kind === "average" ? found.rounds : null;
  return {
    rounds: found.rounds,
    of: found.of.map((curve) => curve && {
      ...curve,
      mean: by ? curve.mean.map((value, i) => value / by[i]) : curve.mean,
      error: by ? curve.error.map((value, i) => value / by[i]) : curve.error,
    }),
  };
}

function tracesOf(panel, kind) {
  panel.traces ??= embedded(`traces-${panel.id}`);
  const found = panel.traces[kind === "average" ? "cumulative" : kind];
  if (!found) return null;
  for (const trace of found.of) if (trace && typeof trace.values === "string") trace.values = floats(trace.values);
  const count = found.rounds.length;
  return {
    rounds: found.rounds,
    of: found.of.map((trace) => trace && trace.seeds.map((seed, row) => {
      const values = trace.values.subarray(row * count, (row + 1) * count);
      return { seed, values: kind === "average" ? values.map((value, i) => value / found.rounds[i]) : values };
    })),
  };
}

function bandOf(curve, band) {
  if (band === "none") return null;
  const times = band === "interval" ? curve.factor : 1;
  if (times === null || Number.isNaN(curve.error[0])) return null;
  // Regret is not negative: nor is what is said of its mean.
  const floor = curve.mean.every((value) => value >= 0) ? 0 : -Infinity;
  return {
    low: curve.mean.map((value, i) => Math.max(value - times * curve.error[i], floor)),
    high: curve.mean.map((value, i) => value + times * curve.error[i]),
  };
}

// Rounds are whole numbers: so are their ticks.
function ticks(low, high, log, wanted, whole = false) {
  if (log) {
    const powers = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p += 1) powers.push(p);
    const found = powers.flatMap((p) => [1, 2, 5].map((m) => m * 10 ** p)).filter((v) => v >= low * 0.999 && v <= high * 1.001);
    const whole = found.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
    const pick = whole.length >= 2 ? whole : found;
    const step = Math.ceil(pick.length / wanted);
    return pick.filter((_, i) => i % step === 0);
  }
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(whole ? Math.max(rough, 1) : rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999 && !(whole && s % 1));
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) found.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return found;
}

function scale(low, high, from, to, log) {
  const f = log ? Math.log10 : (v) => v;
  const [a, b] = [f(low), f(high)];
  const k = b > a ? (to - from) / (b - a) : 0;
  return (value) => from + (f(value) - a) * k;
}

// Large values are written out as far as there is room beside the axis.
const tickText = (value) =>
  Math.abs(value) >= 1000000 || (value !== 0 && Math.abs(value) < 0.001) ? general(value, 3) : signed(String(Number(value.toPrecision(6))), false);

function line(rounds, values, x, y, log, within) {
  let path = "";
  let open = false;
  for (let i = within[0]; i <= within[1]; i += 1) {
    if (Number.isNaN(values[i]) || (log && values[i] <= 0)) open = false;
    else {
      path += `${open ? "L" : "M"}${x(rounds[i]).toFixed(1)} ${y(values[i]).toFixed(1)}`;
      open = true;
    }
  }
  return path;
}

function area(rounds, { low, high }, x, y, log, within) {
  const there = [];
  for (let i = within[0]; i <= within[1]; i += 1) if (!Number.isNaN(low[i]) && (!log || high[i] > 0)) there.push(i);
  if (there.length < 2) return "";
  const floor = (value) => (log && value <= 0 ? -1e3 : y(value));
  const upper = there.map((i) => `${x(rounds[i]).toFixed(1)} ${y(high[i]).toFixed(1)}`);
  const lower = there.map((i) => `${x(rounds[i]).toFixed(1)} ${(log && low[i] <= 0 ? 1e4 : floor(low[i])).toFixed(1)}`);
  return `M${upper.join("L")}L${lower.reverse().join("L")}Z`;
}

// Everything that a drawing needs to be read again: scales, what is drawn, where rounds lie.
function geometry(panel, view, width) {
  const kind = curvesOf(panel, view.kind);
  if (!kind) return null;
  const height = view.chosen ? HEIGHT.chosen : HEIGHT.small;
  const shown = panel.algorithms
    .map((algorithm, i) => ({ algorithm, i, curve: kind.of[i] }))
    .filter(({ algorithm, curve }) => curve && view.visible(algorithm));
  const rounds = kind.rounds;
  const [from, to] = view.zoom ?? [rounds[0], rounds.at(-1)];
  let first = rounds.findIndex((t) => t >= from);
  let last = rounds.findLastIndex((t) => t <= to);
  if (first < 0 || last < first + 1) [first, last] = [0, rounds.length - 1];
  const within = [first, last];
  const traces = view.seeds && view.chosen ? tracesOf(panel, view.kind) : null;
  let [low, high] = [Infinity, -Infinity];
  const seen = (value) => {
    if (!Number.isFinite(value) || (view.logy && value <= 0)) return;
    if (value < low) low = value;
    if (value > high) high = value;
  };
  for (const one of shown) {
    one.band = bandOf(one.curve, view.band);
    for (let i = first; i <= last; i += 1) {
      seen(one.curve.mean[i]);
      if (one.band) {
        seen(one.band.high[i]);
        if (!view.logy) seen(one.band.low[i]);
      }
    }
    if (traces) (traces.of[one.i] ?? []).forEach(({ values }) => traces.rounds.forEach((t, i) => {
      if (t >= rounds[first] && t <= rounds[last]) seen(values[i]);
    }));
  }
  if (!(low <= high)) return { kind, shown: [], rounds, within, height, width };
  if (!view.logy && low > 0 && low < 0.4 * high) low = 0;
  if (low === high) [low, high] = view.logy ? [low / 2, high * 2] : [low - 1, high + 1];
  const x = scale(rounds[first], rounds[last], MARGINS.left, width - MARGINS.right, view.logx);
  const y = scale(low, high, height - MARGINS.bottom, MARGINS.top, view.logy);
  return { kind, shown, rounds, within, traces, x, y, low, high, height, width };
}

const AXES = {
  cumulative: "Cumulative regret", average: "Average regret", instantaneous: "Regret of a round",
  simple: "Least regret so far", recommended: "Regret of the recommendation",
};

function drawPlot(panel, view, width) {
  const g = geometry(panel, view, width);
  const unit = panel.unit ? ` [${panel.unit}]` : "";
  const svg = drawn("svg", {
    viewBox: `0 0 ${width} ${g?.height ?? 60}`, width, height: g?.height ?? 60, "aria-hidden": "true", class: "plot",
  });
  if (!g || !g.shown.length) {
    const why = g ? "Nothing is chosen that could be drawn." : "Nothing of this kind was kept for this comparison.";
    svg.append(drawn("text", { x: 8, y: 32, class: "label" }, why));
    return { svg, g: null };
  }
  const { x, y, height, rounds, within } = g;
  const bottom = height - MARGINS.bottom;
  const clip = `clip-${panel.id}`;
  svg.append(drawn("clipPath", { id: clip }, drawn("rect", {
    x: MARGINS.left, y: MARGINS.top, width: width - MARGINS.left - MARGINS.right, height: bottom - MARGINS.top,
  })));
  for (const value of ticks(g.low, g.high, view.logy, 4))
    svg.append(
      drawn("line", { x1: MARGINS.left, x2: width - MARGINS.right, y1: y(value), y2: y(value), class: "grid" }),
      drawn("text", { x: MARGINS.left - 6, y: y(value) + 4, class: "tick end" }, tickText(value)),
    );
  for (const value of ticks(rounds[within[0]], rounds[within[1]], view.logx, width > 500 ? 8 : 4, true))
    svg.append(
      drawn("line", { x1: x(value), x2: x(value), y1: bottom, y2: bottom + 4, class: "axis" }),
      drawn("text", { x: x(value), y: bottom + 16, class: "tick middle" }, tickText(value)),
    );
  svg.append(
    drawn("line", { x1: MARGINS.left, x2: width - MARGINS.right, y1: bottom, y2: bottom, class: "axis" }),
    drawn("text", { x: (MARGINS.left + width) / 2, y: height - 4, class: "label middle" }, "Round"),
    drawn("text", {
      x: 11, y: (bottom + MARGINS.top) / 2, class: "label middle", transform: `rotate(-90 11 ${(bottom + MARGINS.top) / 2})`,
    }, `${AXES[view.kind]}${unit}`),
  );
  const inside = drawn("g", { "clip-path": `url(#${clip})` });
  for (const { algorithm, i, curve, band } of g.shown) {
    if (band) inside.append(drawn("path", { d: area(rounds, band, x, y, view.logy, within), class: `band ${algorithm.colour}` }));
    for (const { values } of g.traces?.of[i] ?? [])
      inside.append(drawn("path", {
        d: line(g.traces.rounds, values, x, y, view.logy, [0, g.traces.rounds.length - 1]), class: `trace ${algorithm.colour}`,
      }));
    inside.append(drawn("path", {
      d: line(rounds, curve.mean, x, y, view.logy, within), class: `curve ${algorithm.colour}`,
      "stroke-dasharray": algorithm.dash || null, "data-algorithm": algorithm.label,
    }));
  }
  svg.append(inside);
  return { svg, g };
}

// A drawing by itself: what the style sheet says is written into it.
function standalone(svg, title, simulated) {
  const copy = svg.cloneNode(true);
  const copies = all("*", copy);
  all("*", svg).forEach((part, i) => {
    const style = getComputedStyle(part);
    for (const name of ["fill", "stroke", "stroke-width", "opacity", "font-size", "font-family", "text-anchor"])
      copies[i].setAttribute(name, style.getPropertyValue(name));
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.removeAttribute("aria-hidden");
  const ground = getComputedStyle(document.body).backgroundColor;
  copy.prepend(drawn("title", {}, simulated ? `${title} (${SIMULATED})` : title), drawn("rect", { width: "100%", height: "100%", fill: ground }));
  if (simulated) {
    const at = { x: svg.getAttribute("width") - 4, y: 11, "text-anchor": "end", "font-size": 11, "font-weight": "bold" };
    copy.append(drawn("text", { ...at, fill: getComputedStyle(document.body).color }, SIMULATED));
  }
  return new XMLSerializer().serializeToString(copy);
}

const shownValue = (curve, i, band) =>
  band === "none" ? general(curve.mean[i]) : plusMinus(curve.mean[i], curve.error[i] * (band === "interval" ? curve.factor ?? NaN : 1));
