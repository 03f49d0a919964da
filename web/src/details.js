// What is to be said of one row of the tree: what the holders did meanwhile, and both call chains in full.

import {chainRows} from "./data.js";
import {bar, el, put} from "./dom.js";
import {baseOf, changeOf, chainPairs, splitOf, textOf, workOf} from "./groups.js";
import {changeText, countText, durationText, shareText, timeText} from "./units.js";

const PAIRS = 5;
const STATES = [["running", "ran"], ["stolen", "stolen by the hypervisor"], ["runnable", "waited for a CPU"],
                ["throttled", "had used up its CPU quota"], ["blocked", "was itself blocked or asleep"],
                ["unknown", "not known, or there was no holder"]];

function pathOf(group) {
  const path = [];
  for (let at = group; at?.aspect; at = at.parent)
    path.unshift(el("span", {class: "step"}, el("span", {class: "dim"}, `${at.aspect.name} `), textOf(at)));
  return path.length ? path : ["all contentions that are shown"];
}

// Frames of one chain; those that are folded in the tree are dim.
function chain(data, number, title, nobody, found) {
  const rows = chainRows(data, number, true);
  return el(
      "div", {class: "chain"}, el("h4", {}, title),
      rows.length
          ? el("ol", {},
               rows.map(row => el("li", {class: row.end                      ? "end"
                                             : data.node_flags[row.node] & 1 ? "internal"
                                                                             : ""},
                                  found?.(row.method) ? el("mark", {}, row.text) : row.text)))
          : el("p", {class: "dim"}, nobody));
}

function pairs(data, group, found) {
  const all = chainPairs(group).filter(pair => pair.blocked || pair.base);
  if (!data.facts.chains)
    return el("p", {class: "dim"}, "The log has no call chains.");
  return el("div", {}, all.slice(0, PAIRS).map((pair, i) => {
    const c = data.cells, holder = data.threads[c.holder[pair.cell]];
    return el(
        "details", {open: i === 0},
        el("summary", {}, pair.blocked ? `${durationText(pair.blocked)} (${shareText(pair.blocked, group.blocked)}): `
                                       : `only in ${group.chosen.base.name}, ${durationText(pair.base)}: `,
           `${data.methods[data.chain_waiter_methods[c.waiter_chain[pair.cell]]]} waited for ${
               data.methods[data.chain_holder_methods[c.holder_chain[pair.cell]]]}`),
        el("div", {class: "chains"}, chain(data, c.waiter_chain[pair.cell], "The blocked thread was in", "(unknown)",
                                                  found),
           chain(data, c.holder_chain[pair.cell],
                 data.facts.exact ? "The holder was in" : "The holder, as inferred, was in",
                 holder === "(hand-over)" ? "(hand-over): released, and not yet seen taken" : "(unknown)", found)));
  }),
            all.length > PAIRS
                ? el("p", {class: "dim"}, `and ${countText(all.length - PAIRS)} more pairs of call chains`)
                : null);
}

function states(group) {
  const sums = splitOf(group), whole = STATES.reduce((sum, [name]) => sum + sums[name], 0);
  if (!whole)
    return null;
  return el("table", {class: "states"},
            el("caption", {}, "What the holders did meanwhile", group.chosen.ranged ? " (of all the log)" : ""),
            el("tbody", {},
               STATES.filter(([name]) => sums[name])
                   .map(([name, text]) => el("tr", {}, el("th", {scope: "row"}, text),
                                             el("td", {class: "figure"}, bar(sums[name] / whole, name),
                                                el("span", {class: "amount"}, timeText(sums[name]))),
                                             el("td", {class: "figure"}, shareText(sums[name], whole))))));
}

function compared(group) {
  const {base, basePer, unit} = group.chosen;
  return base ? [[`lost to work, ${base.name}`, `${timeText(Math.round(baseOf(group, "work") / basePer))}${unit}`],
                 ["change", `${changeText(Math.round(changeOf(group, "work")))}${unit}`]] : [];
}

export function drawDetails(data, node, group, found) {
  const ranged = group.chosen.ranged;
  const facts = [
    [ranged ? "blocked in the range" : "blocked", durationText(group.blocked)],
    ["lost to work", (ranged && group.idle ? "≈ " : "") + durationText(workOf(group))],
    group.idle ? ["idle turns ~", durationText(group.idle)] : null,
    ranged ? null : ["contentions", countText(group.count)],
    ranged || !group.count ? null : ["mean", durationText(Math.floor(group.blocked / group.count))],
    ranged ? null : ["longest", durationText(group.max)],
    group.afterWait ? ["after Object.wait()", durationText(group.afterWait)] : null,
    group.firstReader && !ranged ? ["* one of several readers held it", durationText(group.firstReader)] : null,
    ...compared(group),
  ].filter(Boolean);
  put(node, el("p", {class: "path"}, pathOf(group)),
    el("dl", {class: "facts"}, facts.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))),
    group.cells.length ? states(group) : null, group.cells.length ? pairs(data, group, found) : null);
}
