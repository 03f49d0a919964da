// CPU samples: what they rest on, the map of them, and the trees and tables of the time that is chosen.

import {el, put} from "./dom.js";
import {Flame, nodeNew} from "./flame.js";
import {notes, rangeOf, rangeOptions, THREAD_STATES} from "./parts.js";
import {countsOf, deviationOf, headOf, KIND} from "./profile_sums.js";
import {choice} from "./state.js";
import {SamplesMap} from "./samples_map.js";
import {countText, durationText, shareText} from "./units.js";

const FLAT_ROWS = 60;
// What a chain of several states ends with: profile_tree.c.
const DOING = /^\[(stolen|runnable|throttled|lock|wait|park|sleep|I\/O|pause|blocked)\]$/;
const NO_JAVA = ["no_java_thread", "no_java_frames"], WHOLE = ["complete", "in_heap"];

export class Profile {
  // onView gets what is to be other in the page's state.
  constructor(data, node, onView) {
    this.data = data;
    this.onView = onView;
    this.node = node;
    this.profile = data.parts?.profile;
    if (!this.profile) {
      put(node, el("p", {class: "dim"}, "The log has no CPU samples: spoor record --sample takes them."));
      return;
    }
    const p = this.profile;
    this.begin = data.windows?.begin_ns ?? 0;
    this.map = p.course ? new SamplesMap(p, this.begin, slots => onView({slots})) : null;
    this.flame = new Flame(data, el("div", {id: "profile-flame"}), "profile");
    this.flame.title = "Call chains of threads, by time";
    this.states = this.select("profile-states", "samples", "Time", [
      ["running", "running: CPU samples"], ["all", "all states"],
      ...THREAD_STATES.slice(1).map(name => [name, name])]);
    this.by = this.select("profile-by", "chains", "Chains begin with", [
      ["method", "the outermost method"], ["thread", "the thread"], ["pool", "the pool of threads"],
      ["state", "the state"]
    ]);
    const names = [...new Set(p.pools)].sort();
    this.pool = this.select("profile-pool", "pool", "Threads", [["", "all"], ...names.map(name => [name, name])]);
    this.view = el("div", {});
    this.head = el("div", {id: "profile-head"});
    this.mapNode = el("div", {id: "profile-map"});
    put(node, this.head, this.map ? [el("h3", {}, "When samples were taken"), this.mapNode] : null,
        el("div", {class: "controls"}, this.states, this.by, this.pool), this.view, this.flame.node,
        this.flat = el("div", {id: "profile-flat"}), this.threads = el("div", {id: "profile-threads"}));
  }

  // name: of the page's state.
  select(id, name, text, options) {
    const select = el("select", {id, name, onchange: event => this.onView({[name]: event.target.value})},
                      options.map(([value, label]) => el("option", {value}, label)));
    return el("label", {}, `${text} `, select);
  }

  chosen(label) {
    const select = label.querySelector("select");
    return choice(select, this.state, select.name);
  }

  // Slots or windows of time; null: the whole log.
  testOf(state) {
    if (!this.profile.course)
      return null;
    if (state.slots)
      return (_, slot) => slot >= state.slots[0] && slot <= state.slots[1];
    return state.range ? window => window >= state.range[0] && window <= state.range[1] : null;
  }

  // In ns since the recording's start; null: the whole log.
  rangeOf(state) {
    const ns = this.profile.course?.slot_ns;
    return !this.profile.course ? null
        : state.slots ? [this.begin + state.slots[0] * ns, this.begin + (state.slots[1] + 1) * ns]
                      : rangeOf(this.data, state);
  }

  render(state) {
    const p = this.profile;
    this.state = state;
    if (!p)
      return;
    const pool = this.chosen(this.pool), wanted = thread => !pool || p.pools[thread] === pool;
    const states = this.chosen(this.states), running = states === "running";
    this.range = running ? this.rangeOf(state) : null;
    const test = running ? this.testOf(state) : null, head = headOf(p, test, wanted);
    put(this.head, this.said(head, state, running));
    this.map?.render(this.mapNode, state.slots, wanted);
    const cells = running ? this.runningCells(head, wanted) : this.stateCells(states, wanted);
    this.flame.note = running
        ? node => ` ±${(100 * deviationOf(head, node.now)).toFixed(1)}` : () => "";
    this.flame.show(this.tree(running ? p.running : p.all, cells));
    put(this.flat, this.flatTable(running ? p.running : p.all, cells, running ? head : null));
    put(this.threads, running && head.sums.threads ? this.threadsTable(head, wanted) : null);
  }

  // [cell, ns, samples] of those that have any.
  runningCells(head, wanted) {
    const r = this.profile.running, cells = [];
    for (let i = 0; i < r.cell_node.length; i++)
      if ((head.sums.ns[i] || head.sums.samples[i]) && wanted(r.cell_thread[i]))
        cells.push([i, head.sums.ns[i], head.sums.samples[i]]);
    return cells;
  }

  stateCells(states, wanted) {
    const a = this.profile.all, only = THREAD_STATES.indexOf(states), cells = [];
    for (let i = 0; i < a.cell_node.length; i++)
      if (a.cell_ns[i] && wanted(a.cell_thread[i]) && (only < 0 || a.cell_state[i] === only))
        cells.push([i, a.cell_ns[i], a.cell_samples[i]]);
    return cells;
  }

  // The texts of a cell's chain, from the outermost frame on.
  chainOf(tree, cell, by) {
    const texts = [];
    for (let node = tree.cell_node[cell]; node; node = tree.node_parent[node])
      texts.push(tree.frames[tree.node_frame[node]]);
    if ((by === "state" || THREAD_STATES.includes(this.chosen(this.states))) && DOING.test(texts[0]))
      texts.shift();
    if (by === "thread")
      texts.push(this.profile.threads[tree.cell_thread[cell]]);
    if (by === "pool")
      texts.push(this.profile.pools[tree.cell_thread[cell]]);
    if (by === "state")
      texts.push(THREAD_STATES[tree.cell_state[cell]]);
    return texts.reverse();
  }

  tree(tree, cells) {
    const root = nodeNew("all", null), by = this.chosen(this.by);
    for (const [cell, ns, samples] of cells) {
      let at = root;
      at.now += ns;
      for (const text of this.chainOf(tree, cell, by)) {
        if (!at.children.has(text))
          at.children.set(text, nodeNew(text, at));
        at = at.children.get(text);
        at.now += ns;
        at.samples = (at.samples ?? 0) + samples;
      }
      at.self = (at.self ?? 0) + ns;
    }
    return root;
  }

  flatTable(tree, cells, head) {
    const rows = new Map(), all = cells.reduce((sum, [, ns]) => sum + ns, 0);
    for (const [cell, ns, samples] of cells) {
      const texts = this.chainOf(tree, cell, "method"), self = texts.at(-1);
      for (const text of new Set(texts)) {
        if (!rows.has(text))
          rows.set(text, {text, self: 0, selfSamples: 0, total: 0, samples: 0});
        const row = rows.get(text);
        row.total += ns;
        row.samples += samples;
        row.self += text === self ? ns : 0;
        row.selfSamples += text === self ? samples : 0;
      }
    }
    const sorted = [...rows.values()].sort(
        (a, b) => b.self - a.self || b.total - a.total || (a.text < b.text ? -1 : 1));
    const share = ns => shareText(ns, all) + (head && ns ? ` ±${(100 * deviationOf(head, ns)).toFixed(1)}` : "");
    const one = row => el("tr", {}, el("th", {scope: "row"}, row.text),
      [[share(row.self), null], [durationText(row.self), row.self], [share(row.total), null],
       [durationText(row.total), row.total], [countText(row.samples), row.samples]].map(
          ([text, n]) => el("td", {class: "figure", "data-n": n}, text)));
    const left = sorted.length - FLAT_ROWS;
    return el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Methods by time"},
              el("table", {}, el("caption", {}, "Methods: alone, and with all that they have called"),
                 el("thead", {}, el("tr", {}, ["method", "self", "time", "total", "time", "samples"].map(
                     (text, i) => el("th", {scope: "col", class: i ? "figure" : ""}, text)))),
                 el("tbody", {}, sorted.slice(0, FLAT_ROWS).map(one))),
              left > 0 ? el("p", {class: "dim"}, `and ${countText(left)} more methods: spoor profile --flat`) : null);
  }

  threadsTable(head, wanted) {
    const p = this.profile, modes = p.modes.map((name, i) => [name, i]).filter(([, i]) => head.kinds[KIND.modes][i]);
    const rows = p.threads.map((name, i) => ({name, i, ...head.sums.threads[i]})).filter(t => t.run && wanted(t.i))
                   .sort((a, b) => b.run - a.run);
    const figure = n => el("td", {class: "figure", "data-n": n}, n ? durationText(n) : "");
    return el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Threads that ran"},
              el("table", {}, el("caption", {}, "Threads, and where their samples were"),
                 el("thead", {}, el("tr", {}, ["thread", "ran", "not sampled", "samples", ...modes.map(([n]) => n)].map(
                     (text, i) => el("th", {scope: "col", class: i ? "figure" : ""}, text)))),
                 el("tbody", {}, rows.slice(0, 200).map(t => el(
                     "tr", {}, el("th", {scope: "row"}, t.name), figure(t.run), figure(Math.max(0, t.run - t.ns)),
                     el("td", {class: "figure", "data-n": t.samples}, countText(t.samples)),
                     modes.map(([, i]) => figure(t.kinds[KIND.modes][i] ?? 0)))))),
              rows.length > 200 ? el("p", {class: "dim"}, "The first 200: spoor profile --threads has all.") : null);
  }

  // The head of the command's report, and what is missing.
  said(head, state, running) {
    const p = this.profile, lines = [];
    if (p.lost)
      lines.push(`${countText(p.lost)} samples were lost in the whole log: their time is in the next ones.`);
    if (p.unweighted)
      lines.push(`${countText(p.unweighted)} samples have no weight: nothing is known of their thread before them.`);
    if (!p.course)
      lines.push("There are too many samples for ranges of time: these figures are of the whole log.");
    if (!running && (state.range || state.slots))
      lines.push("Time in which threads did not run is of the whole log: the range holds for running time only.");
    const walks = countsOf(head, KIND.results, p.results).filter(([name]) => !NO_JAVA.includes(name));
    const all = walks.reduce((sum, [, n]) => sum + n, 0),
          whole = walks.filter(([name]) => WHOLE.includes(name)).reduce((sum, [, n]) => sum + n, 0);
    const list = (counts, of) => counts.map(([name, n]) => `${name} ${shareText(n, of)}`).join(", ");
    const not = walks.filter(([name]) => !WHOLE.includes(name));
    const facts = [
      ["samples", `${countText(head.samples)}, of ${durationText(p.period_ns)} each; ${
          shareText(head.ns, head.run)} of the time that the threads ran`],
      ["mode", list(countsOf(head, KIND.modes, p.modes), head.ns)],
      ["decoded", all ? `${shareText(whole, all)} of the chains, begun in: ${
          list(countsOf(head, KIND.begins, p.begins).filter(([name]) => name !== "none"), all)}` : ""],
      ["not", list(not, all)],
      ["inferred", head.inferred ? `the innermost method of ${shareText(head.inferred, head.samples)} of the samples`
                                 : ""],
    ];
    const options = running ? rangeOptions(this.range) : ` --state ${this.chosen(this.states)}`;
    return [notes(lines),
            el("p", {class: "dim"}, `As 'spoor profile${options}' has it. `, running
                 ? "Each sample stands for its thread's CPU time since the sample before; ± is one standard deviation."
                 : "Waiting is known by the events of locks, parks and switches; what has no chain says so."),
            running && (head.sums.threads || !this.range)
                ? el("dl", {class: "basis", "data-run": head.run, "data-ns": head.ns, "data-samples": head.samples,
                            "data-effective": Math.floor(head.effective), "data-failed": head.failed,
                            "data-inferred": head.inferred},
                     facts.filter(([, text]) => text)
                         .flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]))
                : null];
  }
}
