// Where in the log which group was blocked: a row for each of the largest groups, a column for each step of time.

import {el, put} from "./dom.js";
import {choose, rootOf, split} from "./groups.js";
import {countText, durationText, timeText} from "./units.js";
import {quoted} from "./where.js";

const HEAT_ROWS = 12, HEAT_COLUMNS = 48;
const WAYS = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]};

export class Heatmap {
  // onPick gets a range of windows, and a condition, which is null for all the other groups.
  constructor(data, node, onPick) {
    this.data = data;
    this.node = node;
    this.onPick = onPick;
    this.at = [0, 0];
    node.addEventListener("keydown", event => this.onKey(event));
    node.addEventListener("click", event => this.pick(event.target.closest("[role=gridcell]")));
  }

  // The first aspect of the tree whose values a condition can name.
  aspectOf(by) {
    return this.data.byName[by.find(name => !this.data.byName[name].chains) ?? "waiter_thread"];
  }

  // Of the cells that the filter chooses, all of the log: ns by row and column, the last row has all other groups.
  sums(groups, step, columns) {
    const w = this.data.windows, rowOf = new Int32Array(this.data.cellCount).fill(-1);
    const sums = Array.from({length: Math.min(groups.length, HEAT_ROWS + 1)}, () => new Float64Array(columns));
    groups.forEach((group, i) => {
      for (const cell of group.cells)
        rowOf[cell] = Math.min(i, HEAT_ROWS);
    });
    for (let k = 0; k < w.cell.length; k++)
      if (rowOf[w.cell[k]] >= 0)
        sums[rowOf[w.cell[k]]][Math.floor(w.window[k] / step)] += w.ns[k];
    return sums;
  }

  render(state, test) {
    const windows = this.data.windows?.count ?? 0;
    if (!windows) {
      put(this.node, el("p", {class: "dim"}, "There is no course of blocked time."));
      return;
    }
    this.aspect = this.aspectOf(state.by);
    this.step = Math.ceil(windows / HEAT_COLUMNS);
    this.columns = Math.ceil(windows / this.step);
    this.windows = windows;
    const groups = split(rootOf(choose(this.data, test, null)), this.aspect, "blocked").filter(g => g.blocked);
    if (!groups.length) {
      put(this.node, el("p", {class: "dim"}, "Nobody was blocked on a lock."));
      return;
    }
    const sums = this.sums(groups, this.step, this.columns), top = Math.max(1, ...sums.flatMap(row => [...row]));
    this.keys = sums.map((_, i) => i < HEAT_ROWS ? groups[i].key : null);
    this.at = [Math.min(this.at[0], Math.max(0, sums.length - 1)), Math.min(this.at[1], this.columns - 1)];
    const had = this.node.contains(document.activeElement);
    put(this.node,
        el("p", {class: "dim"}, `${this.aspect.name} by steps of ${durationText(this.length())}; the strongest colour `,
            `is ${durationText(top)}. A click, or Enter, shows that group in that time.`),
        el("div", {class: "wide"},
           el("table", {class: "heatmap", role: "grid", "aria-labelledby": "h-heatmap"},
              el("tbody", {role: "rowgroup"}, sums.map((row, i) => this.row(groups, row, i, top))))));
    if (had)
      this.focus(this.at);
  }

  length() {
    return this.step * this.data.windows.length_ns;
  }

  nameOf(groups, row) {
    return row < HEAT_ROWS ? this.aspect.texts[groups[row].key] : `(${countText(groups.length - HEAT_ROWS)} more)`;
  }

  row(groups, sums, row, top) {
    const name = this.nameOf(groups, row), w = this.data.windows;
    return el("tr", {role: "row"}, el("th", {role: "rowheader", scope: "row", title: name}, name),
              [...sums].map((ns, column) => {
                const from = (w.begin_ns + column * this.length()) / 1e9, to = from + this.length() / 1e9;
                const text = `${name}, ${from.toFixed(3)} s to ${to.toFixed(3)} s: ${timeText(ns)}`;
                const here = row === this.at[0] && column === this.at[1];
                const box = el("td", {
                  role: "gridcell",
                  class: ns ? "heat" : "",
                  tabindex: here ? "0" : "-1",
                  title: text,
                  "aria-label": text,
                  "data-row": row,
                  "data-column": column,
                  "data-ns": ns
                });
                box.style.setProperty("--heat", String(ns ? Math.max(8, Math.round(100 * Math.sqrt(ns / top))) : 0));
                return box;
              }));
  }

  boxAt([row, column]) {
    return this.node.querySelector(`[data-row="${row}"][data-column="${column}"]`);
  }

  focus(at) {
    const box = this.boxAt(at);
    if (!box)
      return;
    const old = this.boxAt(this.at);
    if (old)
      old.tabIndex = -1;
    this.at = at;
    box.tabIndex = 0;
    box.focus();
  }

  pick(box) {
    if (!box)
      return;
    const row = +box.dataset.row, column = +box.dataset.column, key = this.keys[row];
    this.at = [row, column];
    this.onPick([column * this.step, Math.min(this.windows, (column + 1) * this.step) - 1],
                key === null ? null : `${this.aspect.name}=${quoted(this.aspect.texts[key])}`);
  }

  onKey(event) {
    const box = event.target.closest("[role=gridcell]"), way = WAYS[event.key];
    if (!box || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const row = +box.dataset.row, column = +box.dataset.column;
    if (way)
      this.focus([row + way[0], column + way[1]]);
    else if (event.key === "Home" || event.key === "End")
      this.focus([row, event.key === "Home" ? 0 : this.columns - 1]);
    else if (event.key === "Enter" || event.key === " ")
      this.pick(box);
    else
      return;
    event.preventDefault();
  }
}
