// Who blocks whom: a table of two aspects, the heaviest first.

import {el, put} from "./dom.js";
import {changeText, countText, durationText, perText, shareText, timeText} from "./units.js";
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
  const base = chosen.base, baseWeight = i => measure === "blocked" ? base.blocked[i] : base.blocked[i] - base.idle[i];
  // What is so large in the baseline only has a row, too.
  const size = base ? i => weight(i) / chosen.per + baseWeight(i) / chosen.basePer : weight;
  const down = largest(rows, chosen, size), across = largest(columns, chosen, size), sums = new Map(),
        baseSums = new Map();
  let whole = 0, most = 0;
  for (const i of chosen.cells) {
    const key = `${down.keys.includes(rows.keys[i]) ? rows.keys[i] : -1} ${
        across.keys.includes(columns.keys[i]) ? columns.keys[i] : -1}`;
    const ns = weight(i);
    whole += ns;
    sums.set(key, (sums.get(key) ?? 0) + ns);
    if (base)
      baseSums.set(key, (baseSums.get(key) ?? 0) + baseWeight(i));
  }
  const figure = key => base ? Math.round((sums.get(key) ?? 0) / chosen.per) : sums.get(key) ?? 0;
  const before = key => base ? Math.round((baseSums.get(key) ?? 0) / chosen.basePer) : 0;
  for (const key of sums.keys())
    most = Math.max(most, figure(key), before(key));
  if (!most) {
    put(node, el("p", {class: "dim"}, "Nobody was blocked."));
    return;
  }
  const cell = (row, column) => {
    const key = `${row} ${column}`, ns = figure(key), was = before(key), change = ns - was;
    if (!ns && !was)
      return el("td", {class: "figure"});
    const box = el("td", {class: `figure heat${ns ? "" : " ghost"}`, "data-ns": ns, "data-base": was});
    const title = base
        ? `${durationText(ns)} ${perText(chosen.unit)}, ${changeText(change)} from ${base.name} (${timeText(was)})`
        : `${durationText(ns)}, ${shareText(ns, whole)} of what is shown`;
    box.style.setProperty("--heat", String(Math.round(70 * Math.sqrt(Math.max(ns, was) / most))));
    box.append(
        row < 0 || column < 0
            ? el("span", {title}, timeText(ns))
            : el("button", {
                type: "button",
                title: `${title}: show only this`,
                onclick: () => onWhere(
                    `waiter_${kind}=${quoted(rows.texts[row])} and owner_${kind}=${quoted(columns.texts[column])}`)
              },
                 timeText(ns)),
        base && change ? el("span", {class: `delta ${change > 0 ? "more" : "less"}`}, ` ${changeText(change)}`) : "");
    return box;
  };
  const heads = [...across.keys, ...(across.left ? [-1] : [])], sides = [...down.keys, ...(down.left ? [-1] : [])];
  const name = (aspect, key, left) => key < 0 ? `(${countText(left)} more)` : aspect.texts[key];
  put(node,
      el("table", {class: "matrix"}, el("caption", {}, "Rows were blocked, columns held the lock meanwhile",
                                          base ? `; ${perText(chosen.unit)}, and how much more or less than in ${
                                                     base.name}` : ""),
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
