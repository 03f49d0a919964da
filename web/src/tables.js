// The tables of the report, as it has them: user/report/model/findings.h.

import {bar, el} from "./dom.js";
import {countText, durationText, shareText, sizeText, timeText} from "./units.js";

function valueOf(cell) {
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

function isShown(table, column, i) {
  if (!column.title || column.unit === "rows")
    return false;
  const of = column.show !== "value" && column.of ? i + column.of : i;
  return !column.if_any || table.rows.some(row => valueOf(row[of]) || (Array.isArray(row[of]) && row[of][1]));
}

export function findingsTable(table, caption, states) {
  const sums = table.columns.map((_, i) => table.rows.reduce((sum, row) => sum + (Number(valueOf(row[i])) || 0), 0));
  const shown = table.columns.map((column, i) => [column, i]).filter(([column, i]) => isShown(table, column, i));
  return el(
      "div", {class: "wide", tabindex: "0", role: "region", "aria-label": caption},
      el("table", {}, el("caption", {}, caption),
         el("thead", {},
            el("tr", {}, shown.map(([column]) => el("th", {scope: "col", title: column.meaning}, column.title)))),
         el("tbody", {},
            table.rows.map(row => el("tr", {}, shown.map(([column, i], k) => {
                             const text = cellText(table, row, i, sums), figure = column.unit !== "text";
                             const part = states && column.show === "share" && column.of === 0 && column.per
                                 ? valueOf(row[i]) / valueOf(row[i + column.per])
                                 : NaN;
                             return el(k ? "td" : "th", {class: figure && k ? "figure" : "", scope: k ? null : "row"},
                                       part > 0 ? bar(part, (column.key ?? "").replace("_ns", "")) : null, text);
                           }))))),
      table.left ? el("p", {class: "dim"}, `and ${countText(table.left)} more rows: spoor report --csv has them all`)
                 : null);
}
