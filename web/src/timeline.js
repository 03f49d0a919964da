// Blocked time over the log, and the pauses: a range of it can be chosen by mouse, by keys and by figures.

import {el, put, svg} from "./dom.js";
import {durationText} from "./units.js";

const HEIGHT = 90, PAUSES = 14;
const KEYS = "Left and right move the range, with Shift they change its length, Escape shows the whole log.";

export class Timeline {
  constructor(data, node, onRange, onBase) {
    this.data = data;
    this.node = node;
    this.onRange = onRange;
    this.onBase = onBase;
    this.windows = data.windows?.count ?? 0;
    this.dragFrom = -1;
  }

  seconds(window) {
    const w = this.data.windows;
    return (w.begin_ns + window * w.length_ns) / 1e9;
  }

  // By window, of the cells that the filter chooses; the range does not matter here.
  sums(test) {
    const w = this.data.windows, sums = new Float64Array(this.windows),
          chosen = this.data.all.map(i => !test || test(i) ? 1 : 0);
    for (let k = 0; k < w.cell.length; k++)
      if (chosen[w.cell[k]])
        sums[w.window[k]] += w.ns[k];
    return sums;
  }

  render(state, test) {
    this.state = state;
    if (!this.windows) {
      put(this.node,
          el("p", {class: "dim"},
             this.data.cellCount
                 ? this.data.compare?.after.logs > 1 ? "Several recordings have no common course."
                 : "Too many different contentions for a course: 'spoor html --from --to' makes a page of a part."
                 : "Nobody was blocked on a lock."));
      return;
    }
    const w = this.data.windows, sums = this.sums(test), top = Math.max(...sums, 1), n = this.windows;
    const range = state.range ?? [0, n - 1];
    const drawing = svg("svg", {
      viewBox: `0 0 ${n} ${HEIGHT + PAUSES}`,
      preserveAspectRatio: "none",
      role: "application",
      tabindex: "0",
      "aria-label": `Blocked time in ${n} windows of ${durationText(w.length_ns)}. ${KEYS}`,
      "aria-describedby": "range-text"
    });
    drawing.append(svg("rect", {class: "ground", x: 0, y: 0, width: n, height: HEIGHT}));
    sums.forEach((ns, i) => {
      if (ns) {
        const height = Math.max(1, HEIGHT * ns / top);
        drawing.append(svg("rect", {class: i >= range[0] && i <= range[1] ? "in" : "out", x: i, y: HEIGHT - height,
                                    width: 1, height, "data-ns": ns}));
      }
    });
    this.pauses(drawing);
    if (state.base)
      drawing.append(svg(
          "rect", {class: "base", x: state.base[0], y: 0, width: state.base[1] - state.base[0] + 1, height: HEIGHT}));
    if (state.range)
      drawing.append(svg("rect", {class: "range", x: range[0], y: 0, width: range[1] - range[0] + 1, height: HEIGHT}));
    drawing.addEventListener("pointerdown", event => this.down(event, drawing));
    drawing.addEventListener("keydown", event => this.onKey(event));
    const had = this.node.querySelector("svg") === document.activeElement && document.activeElement !== null;
    put(this.node, drawing,
      el("p", {class: "axis", "aria-hidden": "true"}, el("span", {}, `${this.seconds(0).toFixed(2)} s`),
         el("span", {}, sums.some(Boolean) ? `at most ${durationText(top)} blocked in ${durationText(w.length_ns)}`
                                     : "nobody was blocked on a lock"),
         el("span", {}, `${this.seconds(n).toFixed(2)} s`)),
      this.controls(range));
    if (had)
      drawing.focus();
  }

  // Below the bars: when the application stood still.
  pauses(drawing) {
    const table = this.data.tables.pauses, w = this.data.windows;
    const at = table?.columns.findIndex(c => c.key === "at_ns") ?? -1,
          ns = table?.columns.findIndex(c => c.key === "ns") ?? -1;
    if (at < 0 || ns < 0)
      return;
    for (const row of table.rows) {
      const begin = row[at] - w.begin_ns, x = begin / w.length_ns, width = Math.max(0.5, row[ns] / w.length_ns);
      if (x + width > 0 && x < this.windows)
        drawing.append(svg("rect", {class: "pause", x, y: HEIGHT + 2, width, height: PAUSES - 2},
                           svg("title", {}, `pause of ${durationText(row[ns])} at ${(row[at] / 1e9).toFixed(3)} s`)));
    }
  }

  controls(range) {
    const input = (id, label, value) => el("label", {for: id}, label, " ",
      el("input", {id, type: "number", step: "any", value: value.toFixed(3)}), " s ");
    const from = input("range-from", "from", this.seconds(range[0])),
          to = input("range-to", "to", this.seconds(range[1] + 1));
    const read = label => (parseFloat(label.querySelector("input").value) * 1e9 - this.data.windows.begin_ns) /
        this.data.windows.length_ns;
    const apply = event => {
      event.preventDefault();
      this.choose(Math.floor(read(from) + 1e-6), Math.ceil(read(to) - 1e-6) - 1);
    };
    return el(
        "form", {class: "range", onsubmit: apply}, from, to, el("button", {type: "submit"}, "show this range"), " ",
        el("button",
           {type: "button", id: "range-all", disabled: !this.state.range, onclick: () => this.onRange(null)},
           "whole log"),
        this.data.compare ? " " : this.baseControls(),
        el("span", {id: "range-text", role: "status"},
           this.state.range
               ? this.rangeText(range)
               : "Drag over the bars to choose a range."));
  }

  // In a page that compares logs, the logs before are the baseline.
  baseControls() {
    return [
      " ", el("button", {
        type: "button",
        id: "base-set",
        disabled: !this.state.range,
        title: "What is chosen then is compared with this range, by the second",
        onclick: () => this.onBase(this.state.range)
      },
              "make this the baseline"),
      " ",
      el("button", {type: "button", id: "base-none", disabled: !this.state.base, onclick: () => this.onBase(null)},
         "no baseline"),
      " "
    ];
  }

  rangeText(range) {
    const base = this.state.base;
    const also = base ? ` The baseline is ${this.seconds(base[0]).toFixed(3)} s to ${
        this.seconds(base[1] + 1).toFixed(3)} s; changes are of each second.` : "";
    const from = `${this.seconds(range[0]).toFixed(3)}`, to = `${this.seconds(range[1] + 1).toFixed(3)}`;
    return `${from} s to ${to} s. What is below is of this range: the blocked time that lies in it; counts and the ` +
      `longest are not known. 'spoor html --from ${from}s --to ${to}s' has them, of the contentions that ended in it.` +
      also;
  }

  choose(from, to) {
    const last = this.windows - 1;
    if (Number.isNaN(from) || Number.isNaN(to))
      return;
    const a = Math.max(0, Math.min(from, to, last)), b = Math.min(last, Math.max(from, to, 0));
    this.onRange(a === 0 && b === last ? null : [a, b]);
  }

  down(event, drawing) {
    const box = drawing.getBoundingClientRect();
    const windowAt = e =>
        Math.max(0, Math.min(this.windows - 1, Math.floor((e.clientX - box.left) / box.width * this.windows)));
    const from = windowAt(event), mark = svg("rect", {class: "range", x: from, y: 0, width: 1, height: HEIGHT});
    drawing.append(mark);
    drawing.setPointerCapture(event.pointerId);
    const move = e => {
      const at = windowAt(e);
      mark.setAttribute("x", Math.min(from, at));
      mark.setAttribute("width", Math.abs(at - from) + 1);
    };
    drawing.addEventListener("pointermove", move);
    drawing.addEventListener("pointerup", e => {
      drawing.removeEventListener("pointermove", move);
      this.choose(from, windowAt(e));
    }, {once: true});
  }

  onKey(event) {
    const last = this.windows - 1, step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (event.key === "Escape") {
      this.onRange(null);
    } else if (step) {
      const [a, b] = this.state.range ?? [0, Math.max(0, Math.ceil(this.windows / 10) - 1)];
      if (!this.state.range)
        this.choose(a, b);
      else if (event.shiftKey)
        this.choose(a, Math.max(a, Math.min(last, b + step)));
      else if (a + step >= 0 && b + step <= last)
        this.choose(a + step, b + step);
    } else {
      return;
    }
    event.preventDefault();
  }
}
