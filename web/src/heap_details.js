// What one row of the tree is, and how its bytes went over the log.

import {el, put, svg} from "./dom.js";
import {bytesOverTime, CLASSES} from "./heap_data.js";
import {heapText} from "./heap_groups.js";
import {countText, sizeText} from "./units.js";

const MEANINGS = {
  permanent: "alive at both moments", died: "alive at the earlier only", born: "alive at the later only",
  temporary: "born and dead between"
};

function curve(data, group) {
  const cells = new Set(group.cells), bytes = bytesOverTime(data, i => cells.has(i)), top = Math.max(...bytes, 1);
  const points = [...bytes].map((size, i) => `${i},${(40 - 38 * size / top).toFixed(2)}`).join(" ");
  return svg("svg", {
    class: "curve", viewBox: `0 0 ${Math.max(1, bytes.length - 1)} 40`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Bytes alive after each collection, at most ${sizeText(top)}`},
    svg("polyline", {points, fill: "none", stroke: "currentColor", "vector-effect": "non-scaling-stroke"}));
}

export function drawHeapDetails(data, node, group) {
  const steps = [];
  for (let at = group; at; at = at.parent)
    steps.unshift(heapText(at));
  const heads = ["objects", "count", "bytes", "each"].map(text => el("th", {scope: "col"}, text));
  put(node, el("p", {class: "path"}, steps.map(text => el("span", {class: "step"}, text))),
      el("table", {}, el("thead", {}, el("tr", {}, heads)),
         el("tbody", {}, CLASSES.map((name, k) => el("tr", {},
           el("th", {scope: "row", title: MEANINGS[name]}, data.is_log ? name : "in the dump"),
           el("td", {class: "figure"}, countText(group.of[k].objects)),
           el("td", {class: "figure"}, sizeText(group.of[k].bytes)),
           el("td", {class: "figure"},
              group.of[k].objects ? sizeText(group.of[k].bytes / group.of[k].objects) : ""))).filter(
             (_, k) => data.is_log || k === 2))),
      data.is_log ? [el("h4", {}, "After each collection"), curve(data, group)] : null);
}
