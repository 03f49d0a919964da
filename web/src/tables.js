// The tables of the report, as it has them: user/report/model/findings.h.

import {el} from "./dom.js";
import {countText, durationText, shareText, sizeText, timeText} from "./units.js";

export function valueOf(cell) {
  return Array.isArray(cell) ? cell[0] : cell;
}

function valueText(column, value) {
  if (value === null || value === undefined)
    return "";
  if (column.no_zero && !value)
    return "";
  switch (column.unit) {
  case "ns": return timeText(value);
  case "count": return countText(value);
  case "bytes": return sizeText(value);
  case "more_ns": return (value < 0 ? "-" : "+") + timeText(Math.abs(value));
  case "bool": return value ? "yes" : "";
  default: return String(value);
  }
}

// A figure as it is, for whoever reads the page by a program.
function figureOf(column, cell) {
  const value = valueOf(cell);
  return column.key && typeof value === "number" ? value : null;
}

function derived(table, row, i, sums) {
  const column = table.columns[i], of = valueOf(row[i + column.of]),
        per = column.per ? valueOf(row[i + column.per]) : sums[i + column.of];
  if (of === null || of === undefined)
    return "";
  switch (column.show) {
  case "share": return shareText(of, per);
  case "mean": return per ? durationText(Math.floor(of / per)) : "-";
  default: {
    const from = valueText(column, of), to = valueText(column, valueOf(row[i + column.per]));
    return from && to ? `${from} → ${to}` : "";
  }
  }
}

function cellText(table, row, i, sums) {
  const column = table.columns[i], cell = row[i];
  if (Array.isArray(cell))
    return cell[1];
  if (column.show !== "value" && (column.of || column.show !== "share"))
    return derived(table, row, i, sums);
  if (column.show === "share")
    return cell === null ? "" : shareText(cell, column.per ? valueOf(row[i + column.per]) : sums[i]);
  return valueText(column, cell);
}

function isShown(table, column, i, view) {
  if (column.title === undefined || (view && column.views && !(column.views & view)))
    return false;
  if (column.unit === "rows")
    return table.rows.some(row => Array.isArray(row[i]));
  const of = column.show !== "value" && column.of ? i + column.of : i;
  return !column.if_any || table.rows.some(row => valueOf(row[of]) || (Array.isArray(row[of]) && row[of][1]));
}

const STATE = /^(running|stolen|runnable|throttled|lock|wait|park|sleep|io|pause|other)_ns$/;

// The columns of the states: those that split all of a thread's time, and not the coarser ones beside them.
function stateColumns(table, shown) {
  const states = shown.filter(([column]) => column.unit === "ns" && STATE.test(column.key ?? ""));
  const grouped = states.filter(([column]) => column.group);
  return grouped.length ? grouped : states;
}

// What a thread did, as one bar; the columns beside it say the same in figures.
function stateBar(row, states) {
  const values = states.map(([, i]) => valueOf(row[i]) ?? 0), whole = values.reduce((sum, ns) => sum + ns, 0);
  const parts = states.map(([column], k) => {
    const part = el("span", {class: `state state-${column.key.replace("_ns", "")}`});
    part.style.width = `${whole ? 100 * values[k] / whole : 0}%`;
    return part;
  });
  return el("span", {class: "strip", "aria-hidden": "true"}, parts);
}

// more: view: of columns that not all views have; first: what a row's first cell has in place of its text.
export function findingsTable(table, caption, withStates, more = {}) {
  const sums = table.sums ?? table.columns.map(
      (_, i) => table.rows.reduce((sum, row) => sum + (Number(valueOf(row[i])) || 0), 0));
  let shown = table.columns.map((column, i) => [column, i])
                  .filter(([column, i]) => isShown(table, column, i, more.view));
  // In a text what may be long stands last; here a row begins with what it is about.
  const last = shown.at(-1);
  if (last?.[0].key === "name" && shown[0][0].unit !== "text")
    shown = [last, ...shown.slice(0, -1)];
  const states = withStates ? stateColumns(table, shown) : [];
  if (states.some(([column]) => column.group))
    shown = shown.filter(([column]) => column.group || !(column.key === "blocked_ns" || STATE.test(column.key ?? "")));
  if (states.length)
    shown = shown.filter(one => !states.includes(one) || sums[one[1]]);
  const rows = table.rows.slice(0, more.rows ?? table.rows.length), left = table.left + table.rows.length - rows.length;
  const isState = one => states.some(([, i]) => i === one[1]);
  const isFigure = column => column.unit !== "text" && column.unit !== "rows";
  const head = (one, k) => el("th", {scope: "col", title: one[0].meaning, class: isFigure(one[0]) && k ? "figure" : ""},
                         isState(one) ? el("span", {class: `swatch state-${one[0].key.replace("_ns", "")}`}) : null,
                         one[0].title);
  const cell = (row, [column, i], k) =>
      el(k ? "td" : "th",
         {class: isFigure(column) && k ? "figure" : "", scope: k ? null : "row", "data-n": figureOf(column, row[i])},
         !k && more.first ? more.first(row) : cellText(table, row, i, sums),
         k || !states.length ? null : stateBar(row, states));
  return el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": caption},
            el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, shown.map(head))),
               el("tbody", {}, rows.map(row => el("tr", {}, shown.map((one, k) => cell(row, one, k)))))),
            left
                ? el("p", {class: "dim"}, `and ${countText(left)} more rows: ${
                      more.command ?? "spoor report --csv"} has them all`)
                : null);
}
