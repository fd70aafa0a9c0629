// The page: filters that act on figures and tables alike, and where each number comes from.

// What changes drawings; all else only hides or shows them.
const DRAWN = ["family", "off", "kind", "band", "logx", "logy", "seeds", "panel", "zoom"];

class Page {
  constructor(index) {
    this.index = index;
    this.state = readState(location.hash);
    this.numbers = new Map();
    this.algorithms = new Map(index.algorithms.map((algorithm) => [algorithm.label, algorithm]));
    this.panels = index.panels.map((panel) => new Panel(panel, this));
    this.blocks = all("[data-problem]");
    this.rows = all("tr[data-algorithm]");
    this.tables = all("table[data-panel]");
    this.claims = all("[data-claim]").map((place) => {
      const named = (kind) => place.getAttribute(`data-claim-${kind}`)?.split(" ");
      return { place, about: Object.fromEntries(["problem", "objective", "metric", "algorithm"].map((kind) => [kind, named(kind)])) };
    });
    this.near = new Set();
    this.build();
    this.restoreZoom();
    this.apply(true);
    const place = placeIn(location.hash);
    if (place && location.hash.startsWith("#?")) document.getElementById(place)?.scrollIntoView();
    addEventListener("hashchange", () => this.follow());
    addEventListener("resize", () => this.redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  // What is shown

  visible({ label, family }) {
    return !this.off.has(label) && (!this.state.family || (family ?? this.algorithms.get(label)?.family) === this.state.family);
  }

  matches({ problem, objective, metric }) {
    const { state } = this;
    return (!state.problem || !problem || problem === state.problem)
      && (!state.objective || !objective || objective === state.objective)
      && (!state.metric || !metric || metric === state.metric);
  }

  // A claim that names nothing of a kind is about all of it; one that names algorithms, about any that is shown.
  concerns({ algorithm, ...about }) {
    return Object.entries(about).every(([kind, named]) => !this.state[kind] || !named || named.includes(this.state[kind]))
      && (!algorithm || algorithm.some((label) => this.visible({ label })));
  }

  set(changes) {
    const before = this.state;
    this.state = { ...before, ...changes };
    const place = placeIn(location.hash);
    const hash = writtenState(this.state, location.hash.startsWith("#?") ? place : "");
    history.replaceState(null, "", hash || location.pathname + location.search);
    this.restoreZoom();
    this.apply();
  }

  // The address was changed: by hand, by a link of the page, or by stepping back.
  follow() {
    if (location.hash.startsWith("#?")) {
      this.state = readState(location.hash);
      this.restoreZoom();
      this.apply();
      return;
    }
    const hash = writtenState(this.state, placeIn(location.hash));
    history.replaceState(null, "", hash || location.pathname + location.search);
  }

  restoreZoom() {
    const chosen = this.panels.find(({ index }) => index.id === this.state.panel);
    if (!chosen) return;
    const ends = this.state.zoom.split("-").map(Number);
    chosen.zoom = ends.length === 2 && ends.every(Number.isFinite) ? ends : null;
  }

  apply(first = false) {
    const { state } = this;
    this.off = new Set(state.off ? state.off.split(",") : []);
    for (const [name, control] of Object.entries(this.controls)) {
      if (control.type === "checkbox") control.checked = state[name] === "1";
      else control.value = state[name];
    }
    for (const [label, key] of this.keys) {
      key.setAttribute("aria-pressed", String(!this.off.has(label)));
      key.parentNode.hidden = Boolean(state.family) && this.algorithms.get(label).family !== state.family;
    }
    for (const block of this.blocks) block.hidden = !this.matches(block.dataset);
    for (const row of this.rows) row.hidden = !this.visible({ label: row.dataset.algorithm });
    for (const { place, about } of this.claims) place.hidden = !this.concerns(about);
    let shown = 0;
    for (const panel of this.panels) {
      const here = this.matches(panel.index) && panel.index.algorithms.some((label) => this.visible({ label }));
      panel.figure.hidden = !here;
      panel.figure.classList.toggle("chosen", panel.chosen);
      panel.enlarge.setAttribute("aria-pressed", String(panel.chosen));
      shown += here && panel.index.ran;
    }
    const drawing = JSON.stringify(DRAWN.map((key) => state[key]));
    if (drawing !== this.drawing) for (const panel of this.panels) panel.stale = true;
    this.drawing = drawing;
    this.draw();
    if (!first || state.against) this.compare();
    const ran = [...this.algorithms.values()].filter((algorithm) => algorithm.ran);
    const known = this.panels.filter(({ index }) => index.ran).length;
    const count = ran.filter((algorithm) => this.visible(algorithm)).length;
    this.told.textContent = `${shown} of ${known} comparisons, ${count} of ${ran.length} algorithms that ran shown`;
  }

  redraw() {
    for (const panel of this.panels) panel.stale = true;
    this.draw();
  }

  // Widths are read before anything is drawn: each reading after a change would lay the whole page out again.
  draw() {
    const due = [...this.near].filter((panel) => panel.stale && !panel.figure.hidden);
    const widths = due.map((panel) => panel.width);
    due.forEach((panel, i) => panel.draw(widths[i]));
  }

  panelOf(id) {
    if (!this.numbers.has(id)) this.numbers.set(id, this.panels.find(({ index }) => index.id === id));
    return this.numbers.get(id);
  }

  compare() {
    if (this.state.against === this.against) return;
    this.against = this.state.against;
    for (const table of this.tables) {
      const panel = this.panelOf(table.dataset.panel);
      if (panel) compareTable(table, panel.data, this.state.against, this.index.verdicts);
    }
  }

  // How it is built

  build() {
    const { index } = this;
    const different = (values) => [...new Set(values)].filter((value) => value !== "");
    const choice = (name, label, options, everything) => {
      const control = element("select", { id: `choose-${name}`, change: (event) => this.set({ [name]: event.target.value }) },
        ...(everything === null ? [] : [element("option", { value: "" }, everything)]),
        ...options.map(([value, text]) => element("option", { value, title: value }, text)));
      this.controls[name] = control;
      return element("label", { for: control.id }, element("span", {}, label), control);
    };
    const box = (name, label) => {
      const control = element("input", { type: "checkbox", id: `choose-${name}`, change: (event) => this.set({ [name]: event.target.checked ? "1" : "" }) });
      this.controls[name] = control;
      return element("label", { class: "box", for: control.id }, control, ` ${label}`);
    };
    const plain = (values) => different(values).map((value) => [value, value]);
    const titled = (kind) => different(index.panels.map((panel) => panel[kind])).map((label) => [label, index.titles[kind][label]]);
    this.controls = {};
    this.keys = new Map();
    const filters = element("div", { class: "filters" },
      choice("problem", "Problem", titled("problem"), "all"),
      choice("objective", "Objective", titled("objective"), "all"),
      choice("metric", "Metric", titled("metric"), "all"),
      choice("family", "Family", plain(index.algorithms.map((a) => a.family)), "all"),
      choice("against", "Compare with", index.algorithms.map((a) => [a.label, a.title]), "as built"),
      choice("kind", "Curves", Object.entries(AXES).filter(([kind]) => index.kinds.includes(kind)), null),
      choice("band", "Bands", [["error", "standard error"], ["interval", "95 % interval"], ["none", "none"]], null),
      box("logx", "log rounds"), box("logy", "log regret"), box("seeds", "single seeds (enlarged)"),
      element("button", { type: "button", class: "tool", click: () => this.set({ ...DEFAULTS }) }, "Reset"));
    const keys = element("ul", { class: "keys", "aria-label": "Algorithms, shown or not" });
    for (const algorithm of index.algorithms) {
      const key = element("button", { type: "button", "aria-pressed": "true", click: () => this.toggle(algorithm.label) }, keySample(algorithm), ` ${algorithm.title}`);
      this.keys.set(algorithm.label, key);
      keys.append(element("li", {}, key));
    }
    this.told = element("p", { class: "told", role: "status" });
    const bar = element("details", { class: "bar", open: !matchMedia("(max-width: 56rem)").matches },
      element("summary", {}, "Choose what is shown"), filters, keys);
    const grid = element("div", { class: "panels" }, ...this.panels.map(({ figure }) => figure));
    one("#explore-here").replaceChildren(bar, this.told, grid);
    one("#explore-section").hidden = false;
    for (const link of all("[data-with-script]")) link.hidden = false;
    this.watch();
    all("main table").forEach((table) => { makeSavable(table); makeSortable(table); });
    this.tables.forEach((table) => this.linkRows(table));
  }

  // Panels are drawn when they come near what is seen.
  watch() {
    const seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const panel = this.panels.find(({ figure }) => figure === target);
        if (isIntersecting) this.near.add(panel);
        else this.near.delete(panel);
      }
      this.draw();
    }, { rootMargin: "200px" });
    for (const { figure } of this.panels) seen.observe(figure);
  }

  toggle(label) {
    const off = new Set(this.off);
    if (!off.delete(label)) off.add(label);
    this.set({ off: [...off].join(",") });
  }

  // Where a number comes from

  linkRows(table) {
    for (const row of table.tBodies[0].rows) {
      const label = row.dataset.algorithm;
      const open = () => this.showSource(table, label);
      const head = row.cells[0];
      head.replaceChildren(element("button", {
        type: "button", class: "source", click: open, title: "Where these numbers come from", "aria-haspopup": "dialog",
      }, head.textContent.trim()));
      for (const cell of [...row.cells].slice(1)) cell.addEventListener("click", (event) => { if (!event.target.closest("a")) open(); });
    }
    table.classList.add("sourced");
  }

  showSource(table, label) {
    const panel = this.panelOf(table.dataset.panel).data;
    const algorithm = panel.algorithms.find((each) => each.label === label);
    const command = (text) => {
      const code = element("code", {}, text);
      return element("p", { class: "command" }, code, " ", copied(code));
    };
    const files = algorithm.files.map((file) => element("li", {}, element("a", { href: algorithm.folder + file }, file)));
    this.dialog ??= document.body.appendChild(element("dialog", { id: "source", "aria-labelledby": "source-title" }));
    this.dialog.replaceChildren(
      element("h2", { id: "source-title", tabindex: "-1", autofocus: true }, `${algorithm.title}: ${this.panelOf(table.dataset.panel).name}`),
      element("p", {}, `${algorithm.seeds} finished seeds: regret ${plusMinus(algorithm.mean ?? NaN, algorithm.error ?? NaN)} ${panel.unit}.`),
      element("p", {}, "Run files: ", element("a", { href: algorithm.folder }, "folder"), "; curves and totals of all algorithms: ", element("a", { href: panel.digest }, "digest"), "."),
      element("ul", { class: "inline" }, ...files),
      element("p", {}, "Played again, beside the pipeline:"), command(algorithm.command),
      element("p", {}, "Every number of this page, computed again from the run files:"), command(this.index.verify),
      element("form", { method: "dialog" }, element("button", { class: "tool" }, "Close")));
    this.dialog.showModal();
  }
}

// A command with a button that copies it; where the page may not, it is selected.
function copied(code) {
  const copy = element("button", { type: "button", class: "tool", click: () => {
    getSelection().selectAllChildren(code);
    const done = () => { copy.textContent = "copied"; };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, () => {});
    else if (document.execCommand("copy")) done();
  } }, "copy");
  return copy;
}

// The contents mark the section that is read: the last whose heading is above the middle of what is seen.
function markCurrent() {
  const links = all(".contents a[href^='#']").map((link) => [link, document.getElementById(link.hash.slice(1))]);
  const mark = () => {
    let current = null;
    for (const [link, place] of links) {
      link.removeAttribute("aria-current");
      if (place?.checkVisibility() && place.getBoundingClientRect().top < innerHeight / 2) current = link;
    }
    current?.setAttribute("aria-current", "location");
  };
  let due = false;
  addEventListener("scroll", () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; mark(); });
  }, { passive: true });
  mark();
}

const markCut = () => all(".picture").forEach((each) => each.classList.toggle("cut", each.scrollWidth > each.clientWidth + 1));

all("code[data-copied]").forEach((code) => code.after(" ", copied(code)));
addEventListener("resize", markCut);
markCut();
const index = embedded("numbers");
if (index.panels.length) window.bocu = new Page(index);
markCurrent();
