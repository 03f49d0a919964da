// What threads did, window by window as spoor time has them; and what the hypervisor took from the virtual CPUs.

import {el, put, svg} from "./dom.js";
import {notes, rangeOf, statesBar, statesLegend, THREAD_STATES} from "./parts.js";
import {countText, durationText, shareText, timeText} from "./units.js";

const COURSE_HEIGHT = 24, STOLEN = 1, RUNNABLE = 2, STATES_ROWS = 40;

export class States {
  // onBy gets whether rows are pools or threads.
  constructor(data, node, stealNode, onBy) {
    this.data = data;
    this.node = node;
    this.stealNode = stealNode;
    this.states = data.parts?.states;
    this.onBy = onBy;
    this.by = "pools";
  }

  // Windows of which more than half is in the range.
  chosenWindows(state) {
    const range = rangeOf(this.data, state), all = this.states.windows.map((_, i) => i);
    if (!range)
      return all;
    return all.filter(i => {
      const [from, to] = this.states.windows[i];
      return 2 * (Math.min(to, range[1]) - Math.max(from, range[0])) > to - from;
    });
  }

  sums(row, windows) {
    const sums = THREAD_STATES.map(() => 0);
    for (const i of windows)
      row.states[i].forEach((ns, k) => (sums[k] += ns));
    return sums;
  }

  // Shares of each window, one above the other.
  course(row, chosen) {
    const windows = this.states.windows, begin = windows[0][0], end = windows.at(-1)[1];
    const drawing = svg("svg", {
      class: "course",
      viewBox: `0 0 1000 ${COURSE_HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true"
    });
    windows.forEach(([from, to], i) => {
      const times = row.states[i], whole = times.reduce((sum, ns) => sum + ns, 0);
      let y = 0;
      times.forEach((ns, k) => {
        const height = whole ? COURSE_HEIGHT * ns / whole : 0;
        if (height)
          drawing.append(svg("rect", {
            class: `fill-${THREAD_STATES[k]} ${chosen.has(i) ? "" : "faint"}`,
            x: 1000 * (from - begin) / (end - begin),
            y,
            width: 1000 * (to - from) / (end - begin),
            height
          }));
        y += height;
      });
    });
    return drawing;
  }

  said(windows, what) {
    const of = this.states.windows, rough = windows.some(i => of[i][2]);
    const lines = rough ? ["The ends of some windows have no sample: what lies over them is shared out."] : [];
    if (!this.states.reasons)
      lines.push("The log does not say why threads were blocked: all such time is other.");
    const from = windows.length ? of[windows[0]][0] : 0, to = windows.length ? of[windows.at(-1)][1] : 0;
    const text = windows.length ? `From ${(from / 1e9).toFixed(3)} s to ${(to / 1e9).toFixed(3)} s, in windows of ${
        durationText(of[0][1] - of[0][0])}, as spoor time has them. ${what}`
                                : "No window of the threads' samples lies in the range for more than its half.";
    return [notes(lines), el("p", {class: "dim", "data-from": from, "data-to": to}, text)];
  }

  rows(windows) {
    return this.states[this.by].map(row => ({row, sums: this.sums(row, windows)}))
      .filter(({sums}) => sums.some(Boolean));
  }

  // There may be thousands.
  left(all) {
    const left = all.length - STATES_ROWS;
    return left > 0 ? el("p", {class: "dim"}, `and ${countText(left)} more rows: spoor time has them all`) : null;
  }

  drawStates(windows) {
    const chosen = new Set(windows), all = this.rows(windows), rows = all.slice(0, STATES_ROWS);
    const select = el("select", {id: "states-by", onchange: event => {
      this.onBy(event.target.value);
      this.node.querySelector("select").focus();
    }}, [["pools", "pool"], ["threads", "thread"]].map(
        ([value, text]) => el("option", {value, selected: value === this.by}, text)));
    put(this.node, this.said(windows, "Each column is a window, and the colours are shares of it."),
        el("label", {}, "by ", select),
        el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Threads' states over time"},
           el("table", {class: "courses"}, el("caption", {}, "Threads, and what they did"),
              el("thead", {}, el("tr", {}, ["threads", "over time", "in all"].map(
                  text => el("th", {scope: "col"}, text)))),
              el("tbody", {}, rows.map(({row, sums}) => el(
                  "tr", {}, el("th", {scope: "row"}, row.name), el("td", {}, this.course(row, chosen)),
                  el("td", {"data-states": sums.join()}, statesBar(sums, true))))))),
        this.left(all), statesLegend());
  }

  // What CPUs lost in the windows, by window.
  hostSteal(windows) {
    const s = this.states, sums = {by: s.windows.map(() => 0), stolen: 0, jvm: 0, other: 0, idle: 0, ticks: 0};
    const chosen = new Set(windows), last = s.windows.length - 1;
    let at = 0;
    s.cpu_time_ns.forEach((time, k) => {
      const t = time - s.start_ns;
      while (at < last && t > s.windows[at][1])
        at++;
      while (at > 0 && t <= s.windows[at][0])
        at--;
      sums.by[at] += s.cpu_stolen_ns[k];
      if (!chosen.has(at))
        return;
      sums.stolen += s.cpu_stolen_ns[k];
      sums.jvm += s.cpu_jvm_ns[k];
      sums.other += s.cpu_other_ns[k];
      sums.idle += s.cpu_idle_ns[k];
      sums.ticks += s.cpu_ticks[k];
    });
    return sums;
  }

  bars(times, chosen, kind) {
    const windows = this.states.windows, begin = windows[0][0], end = windows.at(-1)[1];
    const rates = times.map((ns, i) => ns / (windows[i][1] - windows[i][0])), top = Math.max(...rates) || 1;
    return svg("svg", {class: "course", viewBox: `0 0 1000 ${COURSE_HEIGHT}`, preserveAspectRatio: "none",
                       "aria-hidden": "true"},
               rates.map((rate, i) => svg("rect", {
                 class: `fill-${kind} ${chosen.has(i) ? "" : "faint"}`,
                 x: 1000 * (windows[i][0] - begin) / (end - begin),
                 width: 1000 * (windows[i][1] - windows[i][0]) / (end - begin),
                 y: COURSE_HEIGHT * (1 - rate / top),
                 height: COURSE_HEIGHT * rate / top
               })));
  }

  drawSteal(windows) {
    const s = this.states, host = this.hostSteal(windows), chosen = new Set(windows), all = this.rows(windows)
      .filter(({sums}) => sums[STOLEN] || sums[RUNNABLE]), rows = all.slice(0, STATES_ROWS);
    const heads = ["threads", "stolen over time", "stolen", "runnable over time", "runnable"];
    const exact = s.source && s.source !== "none", lines = [];
    if (!exact)
      lines.push("The scheduler's steal clock could not be read: only /proc/stat says what was stolen, in ticks and " +
                 "for all processes, and no thread's stolen time is known.");
    if (s.cpu_steps_full)
      lines.push("There are more samples of CPUs than the page has: later ones are missing here.");
    const line = (name, times, kind, ns) => el("tr", {}, el("th", {scope: "row"}, name),
        el("td", {}, times ? this.bars(times, chosen, kind) : null),
        el("td", {class: "figure", "data-n": ns}, timeText(ns)));
    const figure = (ns, sums) => el("td", {class: "figure", "data-n": ns}, timeText(ns), el(
        "span", {class: "dim"}, ` ${shareText(ns, sums[0] + sums[STOLEN] + sums[RUNNABLE] + sums[3])}`));
    put(this.stealNode, notes(lines), this.said(windows, exact
            ? `What the hypervisor took from the CPUs is a fact of the scheduler's clock (${s.source}), and so is ` +
              "what it took from each thread while that was on a CPU. Runnable time has no stolen time in it."
            : "~ Stolen time is an estimate."),
        el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "What virtual CPUs lost"},
           el("table", {class: "courses", id: "steal-host"}, el("caption", {}, "The virtual CPUs"), el("tbody", {},
              line("stolen from all CPUs", host.by, "stolen", host.stolen),
              line("from threads of this JVM", null, "", host.jvm), line("from others", null, "", host.other),
              line("while idle", null, "", host.idle), line("by /proc/stat ~", null, "", host.ticks * s.tick_ns)))),
        rows.length ? el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Threads' stolen time"},
           el("table", {class: "courses", id: "steal-threads"},
              el("caption", {}, "Threads: stolen, and waiting for a CPU; of the time that they ran or wanted to"),
              el("thead", {}, el("tr", {}, heads.map(text => el("th", {scope: "col"}, text)))),
              el("tbody", {}, rows.map(({row, sums}) => el("tr", {}, el("th", {scope: "row"}, row.name),
                  el("td", {}, this.bars(row.states.map(t => t[STOLEN]), chosen, "stolen")), figure(sums[STOLEN], sums),
                  el("td", {}, this.bars(row.states.map(t => t[RUNNABLE]), chosen, "runnable")),
                  figure(sums[RUNNABLE], sums))))), this.left(all))
                    : el("p", {}, "Nothing was stolen from the threads, and none waited for a CPU."));
  }

  render(state) {
    this.state = state;
    if (!this.states) {
      for (const node of [this.node, this.stealNode])
        put(node, el("p", {class: "dim"}, "The log has no samples of threads' states, or too many for a page."));
      return;
    }
    this.by = state.states === "threads" ? "threads" : "pools";
    const windows = this.chosenWindows(state);
    this.drawStates(windows);
    this.drawSteal(windows);
  }
}
