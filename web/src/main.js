// The page: one state, from the address; all views follow it.

import {Chips} from "./chips.js";
import {unpack} from "./data.js";
import {drawCompare} from "./compare.js";
import {drawDetails} from "./details.js";
import {el, find, put} from "./dom.js";
import {Flame} from "./flame.js";
import {Heatmap} from "./heatmap.js";
import {choose, rootOf, split, textOf} from "./groups.js";
import {drawMatrix} from "./matrix.js";
import {drawObjects} from "./objects.js";
import {drawOverview} from "./overview.js";
import {States} from "./states.js";
import {Spans} from "./spans.js";
import {Profile} from "./profile.js";
import {choice, ORDERS, PRESETS, readState, writeState} from "./state.js";
import {findingsTable} from "./tables.js";
import {Timeline} from "./timeline.js";
import {Tree} from "./tree.js";
import {countText, durationText, shareText} from "./units.js";
import {parseWhere} from "./where.js";

const ORDER_TEXTS = {work: "time lost to work", blocked: "blocked time", count: "count", max: "longest", p50: "p50",
                     p90: "p90", p99: "p99", p999: "p99.9", value: "value of the aspect, not by size",
                     change: "change from the baseline"};
const TABLES = {
  pauses: [
    ["longest_pauses", "The longest pauses"], ["gc", "Collections"],
    ["collections", "Collections of the JVM's own count"], ["phases", "Phases of collections"],
    ["safepoints", "Safepoints"], ["safepoint_times", "Times of safepoints"], ["vm_operations", "VM operations"]
  ],
  threads: [
    ["wall", "Where the wall clock time of threads went"], ["threads", "Each thread"],
    ["parking", "Parking, which is no contention"], ["waiting", "Object.wait()"],
    ["pinned", "Pinned virtual threads"], ["carriers", "Carriers of virtual threads"], ["cpus", "CPUs"]
  ],
};

class Page {
  constructor(data) {
    this.data = data;
    this.chips = new Chips(data, find("aspects"), find("add"), by => this.order(by));
    this.tree = new Tree(data, find("rows"), find("heads"),
                         group => drawDetails(data, find("details"), group, this.found),
                         sort => this.set({sort}), look => this.look(look));
    this.timeline = new Timeline(data, find("course"), range => this.set({range}), base => this.set({base}));
    this.heatmap = new Heatmap(data, find("heatmap"), (range, condition) => this.set(
        {range, where: condition ? this.narrowed(condition) : this.state.where}));
    this.flames = ["waiter", "owner"].map(side => new Flame(data, find(`flame-${side}`), side));
    for (const part of document.querySelectorAll(".part"))
      part.hidden = !data.parts;
    this.spans = new Spans(data, find("spans"), condition => this.pick(condition));
    this.profile = new Profile(data, find("profile"), change => this.set(change));
    this.states = new States(data, find("states"), find("steal"), states => this.set({states}));
    this.renderObjects = drawObjects(data, find("objects"), objects => this.set({objects}));
    drawOverview(data, find("overview"), find("about"));
    if (data.compare)
      this.compares();
    put(find("text"), data.text);
    for (const [id, tables] of Object.entries(TABLES)) {
      const there = tables.filter(([key]) => data.tables[key]);
      put(find(id),
          there.length ? there.map(([key, caption]) =>
                                       findingsTable(data.tables[key], caption, key === "wall" || key === "threads"))
                       : el("p", {class: "dim"}, "The log has none."));
    }
    this.listen();
    this.follow();
  }

  compares() {
    find("compare-section").hidden = find("compare-link").hidden = false;
    drawCompare(this.data, find("compare"));
    for (const note of document.querySelectorAll(".of-log"))
      put(note, `Of ${this.data.facts.source} alone, the recording after; what has changed is above.`);
  }

  listen() {
    put(find("preset"), el("option", {value: ""}, "questions …"),
        PRESETS.filter(([, by]) => by.split(",").every(name => this.data.order.includes(name)))
            .map(([name, by]) => el("option", {value: by}, name)));
    find("preset").addEventListener("change",
                                    event => event.target.value && this.order(event.target.value.split(",")));
    put(find("sort"), ORDERS.map(order => el("option", {value: order}, ORDER_TEXTS[order])));
    find("sort").addEventListener("change", event => this.set({sort: event.target.value}));
    find("filter").addEventListener("submit", event => {
      event.preventDefault();
      this.set({where: find("where").value.trim()});
    });
    find("clear").addEventListener("click", () => this.set({where: ""}));
    find("open-all").addEventListener("click", () => this.tree.openAll(true));
    find("close-all").addEventListener("click", () => this.tree.openAll(false));
    find("internal").addEventListener("change", event => this.set({internal: event.target.checked ? "yes" : ""}));
    find("flame-modes").addEventListener("change", event => this.set({flame: event.target.value}));
    find("matrix-kind").addEventListener("change", event => this.set({matrix: event.target.value}));
    // The fragment of the address is the state: parts of the page are gone to without it.
    for (const link of document.querySelectorAll('a[href^="#"]'))
      link.addEventListener("click", event => {
        const part = find(link.getAttribute("href").slice(1));
        event.preventDefault();
        part.tabIndex = -1;
        part.scrollIntoView();
        part.focus({preventScroll: true});
      });
    addEventListener("beforeprint", () => this.tree.showAll());
    addEventListener("hashchange", () => {
      if (location.hash !== this.followed)
        this.follow();
    });
  }

  // At once: the event of a new address comes later, and the next key may come before it.
  set(change) {
    const next = writeState({...this.state, ...change});
    if (next !== (location.hash || "#"))
      location.hash = next;
    this.follow();
  }

  // Other aspects: the rows of those before are nowhere in them.
  order(by) {
    this.set({by, row: "", open: []});
  }

  // What somebody looks at in the tree is in the address, but is no step that 'back' undoes.
  look(change) {
    this.state = {...this.state, ...change};
    history.replaceState(null, "", writeState(this.state));
    this.followed = location.hash;
  }

  follow() {
    const old = this.state, state = readState(this.data, location.hash);
    this.followed = location.hash;
    this.state = state;
    if (!old || old.by.join() !== state.by.join())
      this.tree.forget();
    const {test, error, found} = parseWhere(this.data, state.where);
    this.found = found;
    put(find("where-error"), error);
    find("where").setAttribute("aria-invalid", String(error !== ""));
    find("where").value = state.where;
    find("sort").value = state.sort;
    find("preset").value = PRESETS.some(([, by]) => by === state.by.join()) ? state.by.join() : "";
    find("clear").disabled = !state.where;
    this.chips.render(state.by);
    this.chosen = choose(this.data, error ? () => false : test, state.range, state.base);
    this.timeline.render(state, error ? () => false : test);
    this.heatmap.render(state, error ? () => false : test);
    this.spans.render(state);
    this.profile.render(state);
    this.states.render(state);
    this.renderObjects?.(state);
    this.root = rootOf(this.chosen);
    this.tree.render(this.root, state, found);
    this.sayChosen();
    this.drawIdle();
    this.drawFlames();
    this.drawMatrix();
    document.documentElement.dataset.ready = String((+document.documentElement.dataset.ready || 0) + 1);
  }

  sayChosen() {
    const all = this.data.cells.blocked.reduce((sum, ns) => sum + ns, 0);
    put(find("chosen"), `${durationText(this.root.blocked)} blocked`,
        this.chosen.ranged ? "" : ` in ${countText(this.root.count)} contentions`,
        this.root.blocked === all ? "" : `, ${shareText(this.root.blocked, all)} of the log's ${durationText(all)}`);
  }

  measure() {
    return this.state.sort === "blocked" ? "blocked" : "work";
  }

  // As the report lists it apart: by lock, and the method in which its threads wait.
  drawIdle() {
    const rows = [], about = this.chosen.ranged ? "≈ " : "";
    const idle = (group, aspect) => split(group, this.data.byName[aspect], "blocked").filter(g => g.idle)
                                        .sort((a, b) => b.idle - a.idle);
    for (const lock of idle(this.root, "lock"))
      for (const method of idle(lock, "waiter_method"))
        rows.push([
          textOf(lock), textOf(method), about + durationText(method.idle), shareText(method.idle, method.blocked)
        ]);
    find("idle-section").hidden = !rows.length;
    put(find("idle"),
        el("div", {class: "wide", tabindex: "0", role: "region", "aria-label": "Idle turn-taking"},
           el("table", {},
              el("thead", {},
                 el("tr", {},
                    ["lock", "blocked in", "idle turns ~", "of its blocked time"].map(
                        text => el("th", {scope: "col"}, text)))),
              el("tbody", {},
                 rows.slice(0, 100).map(
                     row => el("tr", {},
                               row.map((text, i) =>
                                           el(i ? "td" : "th",
                                              {class: i > 1 ? "figure" : "", scope: i ? null : "row"}, text))))))));
  }

  drawFlames() {
    const base = this.chosen.base, mode = this.state.flame;
    find("internal").checked = this.state.internal !== "";
    find("flame-compare").hidden = !base;
    if (base) {
      const texts = {after: base.now, before: base.name, both: "both", "plain-after": base.now,
                     "plain-before": base.name};
      for (const input of document.querySelectorAll('[name="flame-mode"]')) {
        input.checked = input.value === mode;
        put(input.nextElementSibling, texts[input.value]);
      }
      put(find("flame-ghost"), mode === "before" ? `hatched: not in ${base.name}: as wide as in ${base.now}`
                                                 : `hatched: only in ${base.name}${mode === "both" ? ""
                                                                         : ": as wide as there"}`);
      find("flame-key").hidden = mode.startsWith("plain-");
    }
    for (const flame of this.flames)
      flame.render(this.chosen, this.measure(), this.state.internal !== "", mode, this.found);
  }

  drawMatrix() {
    const kind = choice(find("matrix-kind"), this.state, "matrix");
    drawMatrix(this.data, find("matrix"), this.chosen, this.measure(), kind,
               condition => this.set({where: this.narrowed(condition)}));
  }

  // The tree, of what a part of the page names.
  pick(condition) {
    this.set({where: condition});
    const part = find("tree-section");
    part.tabIndex = -1;
    part.scrollIntoView();
    part.focus({preventScroll: true});
  }

  // The filter, and a condition besides; a text that is searched for gives way to it.
  narrowed(condition) {
    const where = this.state.where;
    return !where.includes("=") || where === condition ? condition : `(${where}) and ${condition}`;
  }
}

async function start() {
  const packed = find("data");
  const data = await unpack(packed.textContent);
  packed.remove();
  document.body.dataset.state = "ready";
  new Page(data);
}

start().catch(error => {
  document.body.dataset.state = "failed";
  put(find("overview"),
      el("p", {class: "lost", role: "alert"},
         `The page cannot be shown: ${error.message}. It needs a browser of 2023 or newer.`));
});
