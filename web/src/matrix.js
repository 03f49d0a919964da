// Who blocks whom: a table of two aspects, the heaviest first.

import {el, put} from "./dom.js";
import {countText, durationText, shareText, timeText} from "./units.js";
import {quoted} from "./where.js";

const MOST = 15;

function largest(aspect, chosen, weight) {
  const sums = new Map();
  for (const i of chosen.cells)
    sums.set(aspect.keys[i], (sums.get(aspect.keys[i]) ?? 0) + weight(i));
  const keys = [...sums].filter(([, ns]) => ns).sort((a, b) => b[1] - a[1] || aspect.ranks[a[0]] - aspect.ranks[b[0]]);
  return {keys: keys.slice(0, MOST).map(([key]) => key), left: Math.max(0, keys.length - MOST), sums};
}

export function drawMatrix(data, node, chosen, measure, kind, onWhere) {
  const rows = data.byName[`waiter_${kind}`], columns = data.byName[`owner_${kind}`];
  const weight = i => measure === "blocked" ? chosen.blocked[i] : chosen.blocked[i] - chosen.idle[i];
  const down = largest(rows, chosen, weight), across = largest(columns, chosen, weight), sums = new Map();
  let whole = 0, most = 0;
  for (const i of chosen.cells) {
    const key = `${down.keys.includes(rows.keys[i]) ? rows.keys[i] : -1} ${
        across.keys.includes(columns.keys[i]) ? columns.keys[i] : -1}`;
    const ns = weight(i);
    whole += ns;
    sums.set(key, (sums.get(key) ?? 0) + ns);
  }
  for (const ns of sums.values())
    most = Math.max(most, ns);
  if (!whole) {
    put(node, el("p", {class: "dim"}, "Nobody was blocked."));
    return;
  }
  const cell = (row, column) => {
    const ns = sums.get(`${row} ${column}`) ?? 0;
    if (!ns)
      return el("td", {class: "figure"});
    const text = `${timeText(ns)}`, box = el("td", {class: "figure heat"});
    const title = `${durationText(ns)}, ${shareText(ns, whole)} of what is shown`;
    box.style.setProperty("--heat", String(Math.round(70 * Math.sqrt(ns / most))));
    box.append(
        row < 0 || column < 0
            ? el("span", {title}, text)
            : el("button", {
                type: "button",
                title: `${title}: show only this`,
                onclick: () => onWhere(
                    `waiter_${kind}=${quoted(rows.texts[row])} and owner_${kind}=${quoted(columns.texts[column])}`)
              },
                 text));
    return box;
  };
  const heads = [...across.keys, ...(across.left ? [-1] : [])], sides = [...down.keys, ...(down.left ? [-1] : [])];
  const name = (aspect, key, left) => key < 0 ? `(${countText(left)} more)` : aspect.texts[key];
  put(node,
      el("table", {class: "matrix"}, el("caption", {}, "Rows were blocked, columns held the lock meanwhile"),
         el("thead", {},
            el("tr", {}, el("th", {scope: "col"}, "blocked ↓  by →"),
               heads.map(key => el("th", {scope: "col", title: name(columns, key, across.left)},
                                   el("span", {}, name(columns, key, across.left)))))),
         el("tbody", {},
            sides.map(row =>
                          el("tr", {},
                             el("th", {scope: "row", title: name(rows, row, down.left)}, name(rows, row, down.left)),
                             heads.map(column => cell(row, column)))))));
}
