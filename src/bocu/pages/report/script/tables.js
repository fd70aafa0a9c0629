// Tables: sorted by a click on a heading, saved as CSV, compared with an algorithm of the reader's choice.

const UNITS = { s: 1, ms: 1e-3, "µs": 1e-6, min: 60, h: 3600 };

function sortKey(text) {
  const found = text.trim().replaceAll("−", "-").replace(/^\+/, "").match(/^(<\s*)?(-?[\d.,]+(?:e[+-]?\d+)?)\s*(\S*)/);
  if (!found) return text === "reference" ? 0 : null;
  const number = Number(found[2].replaceAll(",", "")) * (UNITS[found[3]] ?? 1);
  return Number.isNaN(number) ? null : found[1] ? number * (1 - 1e-9) : number;
}

function sortTable(table, column, descending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, place) => {
    const text = row.cells[column].textContent.trim();
    return { row, place, text, key: column === 0 ? null : sortKey(text) };
  });
  const numeric = rows.some(({ key }) => key !== null);
  const turn = descending ? -1 : 1;
  rows.sort((a, b) => {
    if (numeric && (a.key === null || b.key === null)) return (a.key === null) - (b.key === null) || a.place - b.place;
    return turn * (numeric ? a.key - b.key : a.text.localeCompare(b.text)) || a.place - b.place;
  });
  body.append(...rows.map(({ row }) => row));
  all("thead th", table).forEach((head, place) => {
    if (place === column) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

function makeSortable(table) {
  all("thead th", table).forEach((head, column) => {
    const button = element("button", { type: "button", class: "sort" }, ...head.childNodes);
    button.addEventListener("click", () => sortTable(table, column, head.getAttribute("aria-sort") === "ascending"));
    head.append(button);
  });
}

function makeSavable(table) {
  const words = one(`#${CSS.escape(table.id)}-caption`);
  const about = (words ? words.textContent : table.id).trim().split(":")[0].slice(0, 80);
  const button = element("button", { type: "button", class: "tool", "aria-label": `Save as CSV: ${about}` }, "CSV");
  button.addEventListener("click", () => {
    const rows = [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
    // What rests on data that nobody measured says so in every row.
    const simulated = table.closest("section[data-problem]")?.querySelector("h2 .badge");
    if (simulated) rows.forEach((row, place) => row.push(place ? "simulated" : "data"));
    save(`${table.id}.csv`, csv(rows), "text/csv");
  });
  (words ?? table).after(button);
}

// Columns that depend on the reference; what the page was built with is kept, to go back to.
const COMPARED = ["difference", "p", "verdict", "usually"];

function usually([, , , , , less, differing, , place], verdicts) {
  if (verdicts[place] === "too few seeds") return NOTHING;
  return differing ? `${verdicts[place]} (less in ${less} of ${differing})` : verdicts[place];
}

function compareTable(table, panel, reference, verdicts) {
  const heads = all("thead th", table);
  const place = Object.fromEntries(heads.map((head, column) => [head.dataset.column, column]));
  const chosen = panel.algorithms.findIndex(({ label }) => label === reference);
  const label = (head) => one("button", head) ?? head;
  const put = (cell, text) => {
    cell.dataset.before ??= cell.textContent;
    cell.textContent = text ?? cell.dataset.before;
  };
  put(label(heads[place.difference]), reference === "" ? null : chosen < 0 ? "Difference" : `More than ${panel.algorithms[chosen].title}`);
  for (const row of table.tBodies[0].rows) {
    const own = panel.algorithms.findIndex(({ label }) => label === row.dataset.algorithm);
    const gap = chosen < 0 ? null : panel.pairs[chosen][own];
    const texts = [NOTHING, NOTHING, NOTHING, NOTHING];
    if (own === chosen && chosen >= 0) texts[0] = "reference";
    else if (gap) texts.splice(0, 4, interval(gap), probability(gap[3]), verdicts[gap[7]], usually(gap, verdicts));
    COMPARED.forEach((name, i) => put(row.cells[place[name]], reference === "" ? null : texts[i]));
  }
}
