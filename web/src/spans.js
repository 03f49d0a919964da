// Spans that the application has marked: how long, in which states, who held them up. Those of a range of time are the
// ones that end in it, as the command has them, by bins: user/analyze/spans/span_bins.c.

import {el, put} from "./dom.js";
import {quantilesOfSteps} from "./lengths.js";
import {columnsOf, notes, rangeOf, rangeOptions, THREAD_STATES, statesBar, statesLegend} from "./parts.js";
import {findingsTable, valueOf} from "./tables.js";
import {countText, durationText} from "./units.js";
import {quoted} from "./where.js";

const TIMES = 1, IN_STATES = 2, SLOWEST_SHOWN = 20, NAME_WHOLE = 240;
const SUMS = [
  "count", "total_ns", "self_ns", ...THREAD_STATES.map(s => `states.${s}`),
  ...THREAD_STATES.map(s => `self_states.${s}`)
];

// The command cuts names after 255 bytes; the tree's are whole, or end in "..." somewhere else. null: not so long.
function beginOf(name) {
  return new TextEncoder().encode(name).length > NAME_WHOLE ? [...name].slice(0, NAME_WHOLE / 4).join("") : null;
}

function conditionOf(name) {
  const begin = beginOf(name), text = quoted(begin ?? name);
  return `span=${begin ? `${text.slice(0, -1)}*${text.at(-1)}` : text}`;
}

export class Spans {
  // onPick gets a condition for the tree.
  constructor(data, node, onPick) {
    this.data = data;
    this.node = node;
    this.onPick = onPick;
    this.spans = data.parts?.spans;
  }

  // Of the bins of a range: a row for each name, as the command has them.
  rowsIn([from, to]) {
    const b = this.spans.bins, names = this.spans.names, at = columnsOf(names), sums = new Map(), inside = [];
    for (let i = 0; i < b.name.length; i++) {
      inside[i] = b.to[i] >= from && b.to[i] <= to;
      if (!inside[i])
        continue;
      if (!sums.has(b.name[i]))
        sums.set(b.name[i], {max_ns: 0, lengths: new Map(), ...Object.fromEntries(SUMS.map(key => [key, 0]))});
      const sum = sums.get(b.name[i]);
      for (const key of SUMS)
        sum[key] += b[key][i];
      sum.max_ns = Math.max(sum.max_ns, b.max_ns[i]);
    }
    for (let k = 0; k < b.length_bin.length; k++)
      if (inside[b.length_bin[k]]) {
        const {lengths} = sums.get(b.name[b.length_bin[k]]);
        lengths.set(b.length_step[k], (lengths.get(b.length_step[k]) ?? 0) + b.length_count[k]);
      }
    return [...sums].map(([name, sum]) => {
      const row = names.columns.map(() => null), quantiles = quantilesOfSteps(sum.lengths, sum.count, sum.max_ns, 0);
      row[at.name] = names.rows[name]?.[at.name] ?? "(another name)";
      for (const key of [...SUMS, "max_ns"])
        row[at[key]] = sum[key];
      for (const [key, ns] of Object.entries(quantiles))
        row[at[`${key}_ns`]] = ns;
      // The column without a name has the sum of the states, of which they are shares.
      row[at["states.other"] + 1] = THREAD_STATES.reduce((all, s) => all + sum[`states.${s}`], 0);
      return row;
    }).sort((a, b2) => b2[at.total_ns] - a[at.total_ns] || (a[at.name] < b2[at.name] ? -1 : 1));
  }

  // Spans for which a test of their windows holds.
  countOf(test) {
    const b = this.spans.bins;
    return b.count.reduce((sum, count, i) => sum + (test(b.from[i], b.to[i]) ? count : 0), 0);
  }

  notes(state) {
    const f = this.spans.facts, lines = [];
    const say = (n, text) => n && lines.push(`${text}: ${countText(n)}.`);
    say(f.lost, "Events of spans that were lost, by which nesting may be wrong");
    say(f.begin_missing, "Spans that began before the recording, or whose begin was lost, and that are in no figure");
    say(f.open, "Spans that have not ended in the log, and are in no figure");
    say(f.too_deep, "Spans within too many others, which are not counted");
    say(f.no_room, "Spans of names beyond the first 10,000, which are not counted");
    if (f.late_ns)
      lines.push(`${durationText(f.late_ns)} of waiting for locks became known too late to be given to its span.`);
    if (this.spans.names.left)
      lines.push(`${countText(this.spans.names.left)} more names are not in the page: spoor spans has them.`);
    if (state.range && this.spans.bins) {
      const [from, to] = state.range;
      say(this.countOf((begin, end) => begin < from && end >= from && end <= to),
          "Spans that began before the range and ended in it, and are in its figures with their whole time");
      say(this.countOf((begin, end) => begin <= to && end > to),
          "Spans that ended after the range, and are in none of its figures");
    } else if (state.range)
      lines.push("There are too many spans of different names for ranges: these figures are of the whole log.");
    return notes(lines);
  }

  // A name, by which the tree of blocked time can be filtered.
  nameOf(name) {
    const aspect = this.data.byName.span, begin = beginOf(name);
    const known = aspect?.texts.some(text => begin ? text.startsWith(begin) : text === name);
    const without = "No thread was blocked on a lock in such a span itself: the tree has the innermost span.";
    if (!known)
      return el("span", {title: aspect ? without : null}, name);
    return el("button", {
      type: "button",
      class: "plain",
      title: "Show what these spans waited for, in the tree",
      onclick: () => this.onPick(conditionOf(name))
    },
              name);
  }

  slowest(state) {
    const table = this.spans.slowest, at = columnsOf(table), range = rangeOf(this.data, state);
    const start = this.data.facts.start_mono_ns, cell = (row, key) => valueOf(row[at[key]]);
    const rows = table.rows.filter(row => {
      const end = cell(row, "begin_ns") - start + cell(row, "ns");
      return !range || (end >= range[0] && end <= range[1]);
    });
    const blockers = row => {
      const within = row[at.blocked_by];
      if (!within)
        return null;
      const of = columnsOf(within), text = (r, key) => Array.isArray(r[of[key]]) ? r[of[key]][1] : r[of[key]];
      return el("ul", {class: "plain"}, within.rows.map(r => el(
        "li", {}, `${durationText(r[of.ns])} for ${text(r, "lock")}, held by ${text(r, "holder")}`,
        r[of.holder_method] ? ` in ${r[of.holder_method]}` : "")));
    };
    const one = row => el(
      "tr", {}, el("th", {scope: "row", "data-n": cell(row, "ns")}, durationText(cell(row, "ns"))),
      el("td", {}, cell(row, "name"),
         cell(row, "within") ? el("span", {class: "dim"}, ` in ${cell(row, "within")}`) : ""),
      el("td", {}, Array.isArray(row[at.thread]) ? row[at.thread][1] : row[at.thread]),
      el("td", {class: "figure"}, `${((cell(row, "begin_ns") - start) / 1e9).toFixed(3)} s`),
      el("td", {}, statesBar(THREAD_STATES.map(s => row[at[`states.${s}`]] ?? 0), true), blockers(row)));
    const many = rows.length > SLOWEST_SHOWN;
    return el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "The slowest spans"},
              el("table", {id: "spans-slowest"}, el("caption", {}, "The slowest", state.range ? ", of the range" : ""),
                 el("thead", {}, el("tr", {}, ["time", "name", "thread", "began at", "where its time went"].map(
                     text => el("th", {scope: "col"}, text)))),
                 el("tbody", {}, rows.slice(0, SLOWEST_SHOWN).map(one))),
              many || state.range
                  ? el("p", {class: "dim"},
                       many ? `The first ${SLOWEST_SHOWN} of ${rows.length}. ` : "",
                       `The page has the ${table.rows.length} slowest spans of the log.`)
                  : null);
  }

  render(state) {
    const s = this.spans;
    if (!s) {
      put(this.node, el("p", {class: "dim"},
                        "The application has marked nothing while it was recorded: spoor-mark.jar marks requests."));
      return;
    }
    const range = state.range && s.bins ? state.range : null;
    const names = range ? {...s.names, rows: this.rowsIn(range)} : s.names, at = columnsOf(s.names);
    const first = row => this.nameOf(row[at.name]);
    const of = range ? ", of the range" : "";
    put(this.node, this.notes(state),
        el("p", {class: "dim"},
           `As 'spoor spans${range ? rangeOptions(rangeOf(this.data, state)) : ""}' has it. `,
           this.data.facts.where ? "All spans, whatever --where has chosen. " : "",
           "A click on a name shows what its spans waited for, in the tree."),
        names.rows.length ? [el("div", {id: "spans-times"}, findingsTable(names, `Spans by name${of}`, false,
                                                                        {view: TIMES, first})),
                             el("div", {id: "spans-states"},
                                findingsTable(names, `Where their time went${of} (runnable: waiting for a CPU)`, false,
                                              {view: IN_STATES}))]
                          : el("p", {}, "No span ended in the range."),
        s.blockers.rows.length
            ? findingsTable(s.blockers, "Who held them up: locks that they were blocked on, in the whole log") : null,
        s.slowest.rows.length ? [this.slowest(state), statesLegend()] : null);
  }
}
