// What surrounds a drawing: its tools, the reading under the pointer, zoom.

class Panel {
  constructor(index, page) {
    Object.assign(this, { index, page, zoom: null, at: null, stale: true });
    this.reading = element("div", { class: "reading", hidden: true });
    this.plot = element("div", {
      class: "read", role: "slider", tabindex: "0", "aria-label": `Read off values: ${this.name}`,
      "aria-valuemin": "0", "aria-valuemax": "0", "aria-valuenow": "0", "aria-orientation": "horizontal",
    });
    const tool = (text, label, act) =>
      element("button", { type: "button", class: "tool", "aria-label": `${label}: ${this.name}`, click: act }, text);
    this.enlarge = tool("Enlarge", "Enlarge", () => page.set({ panel: this.chosen ? "" : index.id, zoom: "" }));
    this.enlarge.setAttribute("aria-pressed", "false");
    this.note = element("p", { class: "note", hidden: true });
    this.figure = element(
      "figure", { class: "panel", id: `panel-${index.id}` },
      element("figcaption", {},
        element("strong", { title: this.labels }, this.name), " ",
        ...(index.simulated ? [element("span", { class: "badge" }, SIMULATED), " "] : []),
        element("a", { href: `#problem-${index.problem}-regret-${index.objective}-${index.metric}` }, "table"), ", ",
        element("a", { href: index.digest }, "file")),
      element("div", { class: "frame" }, this.plot, this.reading),
      this.note,
      element("div", { class: "tools" },
        this.enlarge,
        tool("+", "Zoom in", () => this.zoomBy(0.5)), tool("−", "Zoom out", () => this.zoomBy(2)),
        tool("SVG", "Save as SVG", () => this.saveDrawing()), tool("CSV", "Save curves as CSV", () => this.saveCurves())),
    );
    this.listen();
  }

  get name() {
    const { problem, objective, metric } = this.index;
    const { titles } = this.page.index;
    const pursuing = objective === metric || objective === "any" ? "" : `, pursuing ${titles.objective[objective]}`;
    return `${titles.problem[problem]}, ${titles.metric[metric]}${pursuing}`;
  }

  get labels() {
    const { problem, objective, metric } = this.index;
    return objective === metric || objective === "any" ? `${problem}, ${metric}` : `${problem}, ${metric}, ${objective}`;
  }

  get chosen() { return this.page.state.panel === this.index.id; }

  get data() {
    this.known ??= embedded(`numbers-${this.index.id}`);
    return this.known;
  }

  get view() {
    const { state } = this.page;
    return {
      kind: state.kind, band: state.band, logx: state.logx === "1", logy: state.logy === "1", seeds: state.seeds === "1",
      chosen: this.chosen, zoom: this.zoom, visible: (algorithm) => this.page.visible(algorithm),
    };
  }

  get width() { return Math.max(this.plot.clientWidth, 200); }

  draw(width = this.width) {
    const { svg, g } = drawPlot(this.data, this.view, width);
    this.g = g;
    this.cursor = drawn("line", { class: "cursor", y1: MARGINS.top, y2: svg.viewBox.baseVal.height - MARGINS.bottom, visibility: "hidden" });
    this.choice = drawn("rect", { class: "choice", y: MARGINS.top, height: svg.viewBox.baseVal.height - MARGINS.bottom - MARGINS.top, width: 0 });
    svg.append(this.choice, this.cursor);
    this.plot.replaceChildren(svg);
    this.stale = false;
    const traced = !this.view.seeds || !this.chosen || tracesOf(this.data, this.view.kind);
    this.note.hidden = Boolean(traced) && !(this.view.seeds && this.chosen);
    this.note.textContent = !traced
      ? "Single seeds are kept of cumulative, average and least regret."
      : `Thin: single seeds, at most ${this.page.index.seeds_shown}; all stand in the file.`;
    if (g) {
      this.plot.setAttribute("aria-valuemin", g.rounds[g.within[0]]);
      this.plot.setAttribute("aria-valuemax", g.rounds[g.within[1]]);
      if (this.at === null) this.plot.setAttribute("aria-valuenow", g.rounds[g.within[1]]);
    }
    if (this.at !== null) this.read(this.at);
  }

  // The reading

  nearest(clientX) {
    const left = this.plot.getBoundingClientRect().left;
    const [first, last] = this.g.within;
    let best = first;
    for (let i = first; i <= last; i += 1)
      if (Math.abs(this.g.x(this.g.rounds[i]) - (clientX - left)) < Math.abs(this.g.x(this.g.rounds[best]) - (clientX - left))) best = i;
    return best;
  }

  read(place) {
    if (!this.g) return this.leave();
    const { g } = this;
    this.at = Math.min(Math.max(place, g.within[0]), g.within[1]);
    const round = g.rounds[this.at];
    const rows = g.shown.map(({ algorithm, curve }) => ({ algorithm, mean: curve.mean[this.at], text: shownValue(curve, this.at, this.view.band) }));
    rows.sort((a, b) => a.mean - b.mean);
    const unit = this.data.unit ? ` ${this.data.unit}` : "";
    this.reading.replaceChildren(
      element("strong", {}, `Round ${round}`),
      ...rows.map(({ algorithm, text }) => element("span", {}, keySample(algorithm), ` ${algorithm.title} `, element("b", {}, text))),
    );
    this.reading.hidden = false;
    const at = g.x(round);
    for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, at);
    this.cursor.setAttribute("visibility", "visible");
    this.reading.style.left = at < g.width / 2 ? `${at + 12}px` : "auto";
    this.reading.style.right = at < g.width / 2 ? "auto" : `${g.width - at + 12}px`;
    this.plot.setAttribute("aria-valuenow", round);
    this.plot.setAttribute("aria-valuetext", `Round ${round}: ${rows.map((r) => `${r.algorithm.title} ${r.text}`).join("; ")}${unit}`);
  }

  leave() {
    this.at = null;
    this.reading.hidden = true;
    this.cursor?.setAttribute("visibility", "hidden");
  }

  listen() {
    let start = null;
    const { plot } = this;
    plot.addEventListener("pointermove", (event) => {
      if (!this.g) return;
      this.read(this.nearest(event.clientX));
      if (start !== null && event.pointerType === "mouse") {
        const left = plot.getBoundingClientRect().left;
        this.choice.setAttribute("x", Math.min(start, event.clientX) - left);
        this.choice.setAttribute("width", Math.abs(event.clientX - start));
      }
    });
    plot.addEventListener("pointerdown", (event) => { start = this.g ? event.clientX : null; });
    plot.addEventListener("pointerup", (event) => {
      const from = start;
      start = null;
      if (this.g && from !== null && event.pointerType === "mouse" && Math.abs(event.clientX - from) > 8) {
        const ends = [from, event.clientX].map((x) => this.g.rounds[this.nearest(x)]).sort((a, b) => a - b);
        this.zoomTo(ends);
      }
    });
    plot.addEventListener("pointerleave", () => { start = null; this.choice?.setAttribute("width", 0); if (document.activeElement !== plot) this.leave(); });
    plot.addEventListener("dblclick", () => this.zoomTo(null));
    plot.addEventListener("focus", () => { if (plot.matches(":focus-visible")) this.read(this.at ?? Infinity); });
    plot.addEventListener("blur", () => this.leave());
    plot.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (!this.g) return;
    const [first, last] = this.g.within;
    const at = this.at ?? last;
    const page = Math.max(1, Math.round((last - first) / 10));
    const moves = {
      ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageUp: at + page, PageDown: at - page, Home: first, End: last,
    };
    if (event.key in moves) this.read(moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoomBy(0.5);
    else if (event.key === "-") this.zoomBy(2);
    else if (event.key === "0") this.zoomTo(null);
    else if (event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
  }

  // Zoom: rounds from, to; values fill the height

  zoomTo(ends) {
    const whole = this.g?.kind.rounds ?? curvesOf(this.data, this.view.kind)?.rounds ?? [];
    const all = !ends || ends[1] <= ends[0] || (ends[0] <= whole[0] && ends[1] >= whole.at(-1));
    this.zoom = all ? null : ends;
    if (this.chosen) this.page.set({ zoom: this.zoom ? this.zoom.join("-") : "" });
    else this.draw();
  }

  zoomBy(factor) {
    if (!this.g) return;
    const { rounds, within } = this.g;
    const [from, to] = [rounds[within[0]], rounds[within[1]]];
    const middle = this.at === null ? (from + to) / 2 : rounds[this.at];
    const half = Math.max(((to - from) / 2) * factor, 1);
    this.zoomTo([Math.max(Math.round(middle - half), rounds[0]), Math.min(Math.round(middle + half), rounds.at(-1))]);
  }

  // Files

  saveDrawing() {
    if (!this.plot.firstChild) this.draw();
    save(`${this.index.id}-${this.page.state.kind}.svg`, standalone(this.plot.firstChild, this.name, this.index.simulated), "image/svg+xml");
  }

  saveCurves() {
    const kind = curvesOf(this.data, this.view.kind);
    const rows = [["round", "algorithm", "mean", "standard_error", "seeds", "data"]];
    this.data.algorithms.forEach((algorithm, i) => {
      const curve = kind?.of[i];
      if (curve && this.page.visible(algorithm))
        kind.rounds.forEach((t, p) => rows.push([t, algorithm.label, curve.mean[p], Number.isNaN(curve.error[p]) ? "" : curve.error[p], curve.seeds, this.index.simulated ? "simulated" : ""]));
    });
    save(`${this.index.id}-${this.page.state.kind}.csv`, csv(rows), "text/csv");
  }
}

const keySample = ({ colour, dash }) =>
  drawn("svg", { viewBox: "0 0 28 10", width: 28, height: 10, "aria-hidden": "true", class: "key" },
    drawn("line", { x1: 1, x2: 27, y1: 5, y2: 5, class: `curve ${colour}`, "stroke-dasharray": dash || null }));
