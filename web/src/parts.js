// What the parts of the page beside locks share: the range of time that they follow, and states of threads.

import {el} from "./dom.js";
import {durationText, shareText} from "./units.js";

export const THREAD_STATES =
    ["running", "stolen", "runnable", "throttled", "lock", "wait", "park", "sleep", "io", "pause", "other"];

// The ends of the chosen range, in ns since the recording's start; null: the whole log.
export function rangeOf(data, state) {
  const w = data.windows;
  return state.range && w
      ? [w.begin_ns + state.range[0] * w.length_ns, w.begin_ns + (state.range[1] + 1) * w.length_ns] : null;
}

function secondsText(ns) {
  return `${Number((ns / 1e9).toFixed(9))}s`;
}

// The options of a command that shows the same.
export function rangeOptions(range) {
  return range ? ` --from ${secondsText(range[0])} --to ${secondsText(range[1])}` : "";
}

// Times by state as one bar, and in words for whoever cannot see it.
export function statesBar(times, text) {
  const whole = times.reduce((sum, ns) => sum + ns, 0);
  const words = THREAD_STATES.map((name, i) => [name, times[i]])
                    .filter(([, ns]) => ns)
                    .sort((a, b) => b[1] - a[1])
                    .map(([name, ns]) => `${name} ${durationText(ns)} (${shareText(ns, whole)})`)
                    .join(", ");
  const parts = THREAD_STATES.map((name, i) => {
    const part = el("span", {class: `state state-${name}`});
    part.style.width = `${whole ? 100 * times[i] / whole : 0}%`;
    return part;
  });
  return [el("span", {class: "strip", "aria-hidden": "true", title: words}, parts),
          text ? el("span", {class: "words"}, words) : null];
}

// What the colours of the bars mean.
export function statesLegend() {
  return el("p", {class: "legend dim"},
            THREAD_STATES.map(name => el("span", {}, el("span", {class: `swatch state-${name}`}), name, " ")));
}

// Columns of a table by the name that JSON has for them.
export function columnsOf(table) {
  const at = {};
  table.columns.forEach((column, i) => {
    if (column.key)
      at[column.group ? `${column.group}.${column.key}` : column.key] = i;
  });
  return at;
}

// What is missing or inferred in a part, before its figures.
export function notes(lines) {
  return lines.length ? el("div", {class: "lost", role: "note"}, el("ul", {}, lines.map(line => el("li", {}, line))))
                      : null;
}
