// The page of a heap: one state, from the address; all views follow it.

import {Chips} from "./chips.js";
import {inflate} from "./data.js";
import {el, find, put} from "./dom.js";
import {momentText, prepareHeap, sumsBetween} from "./heap_data.js";
import {drawHeapDetails} from "./heap_details.js";
import {heapRoot} from "./heap_groups.js";
import {HEAP_ORDERS, heapPresets, readHeap, writeHeap} from "./heap_state.js";
import {HeapTimeline} from "./heap_timeline.js";
import {HeapTree, signedSize} from "./heap_tree.js";
import {countText, sizeText} from "./units.js";
import {parseWhere} from "./where.js";

class HeapPage {
  constructor(data) {
    this.data = data;
    this.presets = heapPresets(data);
    this.chips = new Chips(data, find("aspects"), find("add"), by => this.order(by));
    this.tree = new HeapTree(data, find("rows"), find("heads"), group => drawHeapDetails(data, find("details"), group),
                             sort => this.set({sort}), look => this.look(look));
    this.timeline = new HeapTimeline(data, find("course"), range => this.set({range}));
    put(find("about"), data.source + data.agreement);
    this.listen();
    this.follow();
  }

  listen() {
    const presets = this.presets.map(([name, by]) => el("option", {value: by}, name));
    put(find("preset"), el("option", {value: ""}, "questions …"), presets);
    find("preset").addEventListener("change",
                                    event => event.target.value && this.order(event.target.value.split(",")));
    const orders = Object.entries(HEAP_ORDERS).slice(0, this.data.is_log ? 4 : 2);
    put(find("sort"), orders.map(([order, text]) => el("option", {value: order}, text)));
    find("sort").addEventListener("change", event => this.set({sort: event.target.value}));
    find("filter").addEventListener("submit", event => {
      event.preventDefault();
      this.set({where: find("where").value.trim()});
    });
    find("clear").addEventListener("click", () => this.set({where: ""}));
    find("open-all").addEventListener("click", () => this.tree.openAll(true));
    find("close-all").addEventListener("click", () => this.tree.openAll(false));
    addEventListener("beforeprint", () => this.tree.showAll());
    addEventListener("hashchange", () => {
      if (location.hash !== this.followed)
        this.follow();
    });
  }

  set(change) {
    const next = writeHeap(this.data, {...this.state, ...change});
    if (next !== (location.hash || "#"))
      location.hash = next;
    this.follow();
  }

  order(by) {
    this.set({by, row: "", open: []});
  }

  // No step that 'back' undoes.
  look(change) {
    this.state = {...this.state, ...change};
    history.replaceState(null, "", writeHeap(this.data, this.state));
    this.followed = location.hash;
  }

  follow() {
    const old = this.state, state = readHeap(this.data, location.hash);
    this.followed = location.hash;
    this.state = state;
    if (!old || old.by.join() !== state.by.join())
      this.tree.forget();
    const {test, error} = parseWhere(this.data, state.where);
    put(find("where-error"), error);
    find("where").setAttribute("aria-invalid", String(error !== ""));
    find("where").value = state.where;
    find("sort").value = state.sort;
    find("preset").value = this.presets.some(([, by]) => by === state.by.join()) ? state.by.join() : "";
    find("clear").disabled = !state.where;
    this.chips.render(state.by);
    this.timeline.render(state, error ? () => false : test);
    const sums = this.sums(state);
    const root = heapRoot(sums, error ? [] : test ? [...this.data.all].filter(i => test(i)) : this.data.all);
    this.tree.setSums(sums);
    this.tree.render(root, state);
    this.say(root);
    document.documentElement.dataset.ready = String((+document.documentElement.dataset.ready || 0) + 1);
  }

  sums({range}) {
    return range ? sumsBetween(this.data, range[0] + 1, range[1] + 1) : sumsBetween(this.data, 0, this.data.moments);
  }

  say(root) {
    const data = this.data, range = this.state.range;
    const later = momentText(data, range ? range[1] + 1 : data.moments);
    put(find("overview"), el("p", {class: "finding"},
        `${countText(root.objects)} objects, ${sizeText(root.bytes)}, are alive at ${later}`,
        data.is_log ? `; ${signedSize(root.net)} since ${momentText(data, range ? range[0] + 1 : 0)}, in which ${
                          sizeText(root.temporary)} of objects were born and have died.` : "."),
        data.lives.step > 1 ? el("p", {class: "dim"}, `Of all collections each ${data.lives.step}th is a moment here.`)
                            : null,
        data.others ? el("p", {class: "dim"}, `${countText(data.others)} kinds of few bytes are one here.`) : null);
    put(find("chosen"), this.state.where ? `${sizeText(root.bytes)} chosen` : "");
  }
}

async function startHeap() {
  const packed = find("data");
  const data = prepareHeap(await inflate(packed.textContent));
  packed.remove();
  document.body.dataset.state = "ready";
  new HeapPage(data);
}

startHeap().catch(error => {
  document.body.dataset.state = "failed";
  put(find("overview"),
      el("p", {class: "lost", role: "alert"},
         `The page cannot be shown: ${error.message}. It needs a browser of 2023 or newer.`));
});
