// What spoor diff says of the logs that the page compares.

import {el, put} from "./dom.js";
import {findingsTable} from "./tables.js";

// Texts of a table of sentences.
function lines(table) {
  return table.rows.map(row => row[0]);
}

export function verdictOf(data) {
  const compare = data.compare;
  if (!compare)
    return [];
  return [
    ...compare.sentences.map((text, i) => el("p", {class: i ? "finding" : "finding verdict"}, text)),
    compare.not_known.rows.length
        ? el("details", {}, el("summary", {}, "What is not known of this comparison"),
             el("ul", {}, lines(compare.not_known).map(text => el("li", {}, text))))
        : null
  ];
}

function part({title, unit, all, rows, hidden}, by) {
  const caption = `${title}${title.endsWith(" by") ? ` ${by}` : ""}, ${unit}`;
  const rest = `${caption}, also what may be chance`;
  return el("div", {class: "part"},
            rows.rows.length ? findingsTable(rows, caption)
                             : el("p", {class: "dim"}, `${caption}: nothing that stands out.`),
            hidden ? el("details", {}, el("summary", {}, `${hidden} more row${
                            hidden === 1 ? "" : "s"} without a difference that stands out`),
                        findingsTable(all, rest))
                   : null);
}

function percent(part) {
  return `${(100 * part).toFixed(1)} %`;
}

// Each measure, and what chance leaves of it, if that is known.
function likeness(chains) {
  const measure = ({known}, [value, expected, least]) =>
      el("td", {class: "figure"}, el("span", {class: "value"}, percent(value)),
         known ? el("span", {class: "dim"}, ` (by chance ${percent(expected)}, at least ${percent(least)})`) : "");
  const row = of => el("tr", {}, el("th", {scope: "row"}, of.title), measure(of, of.overlap),
                       measure(of, of.hot_before), measure(of, of.hot_after),
                       el("td", {}, !of.known ? "what chance does is not known" : of.differs ? "they differ"
                                                                   : "no difference that stands out"));
  return el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Call chains, how alike they are"},
            el("table", {id: "likeness"}, el("caption", {}, "Call chains, how alike they are"),
               el("thead", {}, el("tr", {}, ["", "overlap", "hot before, and after", "hot after, and before", "chance"]
                                                .map(text => el(text ? "th" : "td", {scope: text ? "col" : null},
                                                                text)))),
               el("tbody", {}, chains.map(row))));
}

// The tables, as in docs/diff.md.
export function drawCompare(data, node) {
  const compare = data.compare;
  put(node, findingsTable(compare.logs, "Recordings that are compared"),
      compare.parts.map(one => part(one, compare.by)),
      compare.call_chains.length ? likeness(compare.call_chains) : null,
      el("p", {class: "dim"}, "Tree, flame graphs and matrix below compare, too: the sums of all recordings of a side.",
         compare.before.logs + compare.after.logs > 2 ? " The tables here have the median of a side's recordings."
                                                      : ""));
}
