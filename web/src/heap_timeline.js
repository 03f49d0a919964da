// Bytes alive at the end of each collection; two moments can be chosen by mouse, by keys and from lists.

import {el, put, svg} from "./dom.js";
import {bytesOverTime, momentText} from "./heap_data.js";
import {Timeline} from "./timeline.js";
import {sizeText} from "./units.js";

const TALL = 90;
const MOVES = "Left and right move the range, with Shift they change its length, Escape shows the whole log.";

export class HeapTimeline extends Timeline {
  render(state, test) {
    const n = this.data.moments;
    this.state = state;
    if (!this.data.is_log) {
      put(this.node, el("p", {class: "dim"}, "A dump is of one moment: a log of spoor record --objects has a course."));
      return;
    }
    const bytes = bytesOverTime(this.data, test), top = Math.max(...bytes, 1), range = state.range ?? [0, n - 1];
    const drawing = svg("svg", {
      viewBox: `0 0 ${n} ${TALL}`, preserveAspectRatio: "none", role: "application", tabindex: "0",
      "aria-label": `Bytes alive at ${n} moments. ${MOVES}`, "aria-describedby": "range-text"
    });
    drawing.append(svg("rect", {class: "ground", x: 0, y: 0, width: n, height: TALL}));
    bytes.forEach((size, i) => {
      const height = size ? Math.max(1, TALL * size / top) : 0;
      drawing.append(svg("rect", {
        class: i >= range[0] && i <= range[1] ? "in" : "out", x: i, y: TALL - height, width: 1, height},
        svg("title", {}, `${sizeText(size)} at ${momentText(this.data, i + 1)}`)));
    });
    if (state.range)
      drawing.append(svg("rect", {class: "range", x: range[0], y: 0, width: range[1] - range[0] + 1, height: TALL}));
    drawing.addEventListener("pointerdown", event => this.down(event, drawing));
    drawing.addEventListener("keydown", event => this.onKey(event));
    const had = this.node.querySelector("svg") === document.activeElement && document.activeElement !== null;
    put(this.node, drawing,
        el("p", {class: "axis", "aria-hidden": "true"}, el("span", {}, momentText(this.data, 1)),
           el("span", {}, `at most ${sizeText(top)} alive after a collection`),
           el("span", {}, momentText(this.data, n))),
        this.lists(range));
    if (had)
      drawing.focus();
  }

  lists(range) {
    const list = (id, at) => el("select", {id},
      Array.from({length: this.data.moments}, (_, i) => el("option", {value: i, selected: i === at},
                                                          momentText(this.data, i + 1))));
    const from = list("range-from", range[0]), to = list("range-to", range[1]);
    const apply = event => {
      event.preventDefault();
      this.choose(+from.value, +to.value);
    };
    return el("form", {class: "range", onsubmit: apply}, el("label", {for: "range-from"}, "from"), from,
      el("label", {for: "range-to"}, "to"), to, el("button", {type: "submit"}, "compare these"), " ",
      el("button", {type: "button", id: "range-all", disabled: !this.state.range, onclick: () => this.onRange(null)},
         "whole log"),
      el("span", {id: "range-text", role: "status"}, this.state.range
         ? `Between ${momentText(this.data, range[0] + 1)} and ${momentText(this.data, range[1] + 1)}.`
         : "All since the begin of the log. Drag over the bars to choose two moments."));
  }
}
