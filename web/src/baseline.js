// The cells of a page's log and of the logs that it is compared with, as one: names are those by which spoor diff
// aligns logs, so what has the same name is the same. Cells of logs before have their time in base_... columns.

const MEASURES = ["blocked", "idle", "count"];
const ONLY_AFTER = ["max", "max_held", "max_part", "first_reader", "split_running", "split_stolen", "split_runnable",
                    "split_throttled", "split_blocked", "split_unknown"];
const TABLES_BY = {
  waiter_pool: "threads",
  owner_pool: "threads",
  waiter_class: "chains",
  owner_class: "chains",
  waiter_package: "chains",
  owner_package: "chains"
};
const FRAMES_MAX = 64;

class Union {
  constructor() {
    this.texts = [];
    this.index = new Map();
  }

  of(text) {
    if (!this.index.has(text)) {
      this.index.set(text, this.texts.length);
      this.texts.push(text);
    }
    return this.index.get(text);
  }

  // Of each text its place in the order of the texts.
  ranks() {
    const order = this.texts.map((_, i) => i).sort((a, b) => this.texts[a] < this.texts[b] ? -1 : 1), ranks = [];
    order.forEach((i, rank) => { ranks[i] = rank; });
    return ranks;
  }
}

// What spoor diff aligns chains by: the methods, without lines and without frames that are folded.
function chainName(log, chain) {
  const names = [];
  for (let at = log.chain_nodes[chain]; at && names.length < FRAMES_MAX; at = log.node_callers[at - 1])
    if (!(log.node_flags[at - 1] & 1) && log.node_methods[at - 1])
      names.push(log.node_methods[at - 1]);
  return names.length ? names.join(" < ")
    : log.chain_numbers[chain] >= Number.MAX_SAFE_INTEGER ? "(hand-over)" : "(unknown)";
}

// One list of several in which each text comes after those before it in its own list.
function mergedOrder(lists) {
  const order = [];
  for (const list of lists) {
    let at = 0;
    for (const text of list) {
      const there = order.indexOf(text);
      if (there < 0)
        order.splice(at++, 0, text);
      else
        at = there + 1;
    }
  }
  return order;
}

function kindOf(logs, name, maps) {
  const union = new Union(), by = TABLES_BY[name], of = [];
  const lists = logs.map(({kinds}) => kinds[name].ranks.map((rank, i) => [rank, kinds[name].texts[i]])
                                          .sort((a, b) => a[0] - b[0]).map(([, text]) => text));
  logs.forEach((log, k) => log.kinds[name].of.forEach((text, i) => {
    const to = by === "threads" ? maps[k].threads[i] : of.length;
    of[to] = union.of(log.kinds[name].texts[text]);
  }));
  // Classes and packages have no order of their own, and may be many.
  if (by)
    return {of, texts: union.texts, ranks: union.ranks()};
  const order = mergedOrder(lists);
  return {of, texts: union.texts, ranks: union.texts.map(text => order.indexOf(text))};
}

function push(to, values) {
  for (const value of values)
    to.push(value);
}

// Of logs before there are no lengths: quantiles are of the log after. Steps of two kinds cannot be added up.
function lengthsIn(logs) {
  const all = {shift: logs[0].lengths.shift, rows: [], steps: [], counts: []};
  for (const log of logs) {
    const taken = log.after && log.lengths.shift === all.shift;
    push(all.rows, taken ? log.lengths.rows : log.lengths.rows.map(() => 0));
    if (taken) {
      push(all.steps, log.lengths.steps);
      push(all.counts, log.lengths.counts);
    }
  }
  return all;
}

function cellsOf(logs, maps) {
  const cells = {group_names: logs[0].cells.group_names, merged: 0, merged_ns: 0};
  const column = (name, valueOf) => {
    cells[name] = [];
    logs.forEach((log, k) => push(cells[name], log.cells[name].map(value => valueOf(value, maps[k], log))));
  };
  column("lock", (at, map) => map.locks[at]);
  column("waiter", (at, map) => map.threads[at]);
  column("holder", (at, map) => map.threads[at]);
  column("waiter_chain", (at, map) => at + map.chains);
  column("holder_chain", (at, map) => at + map.chains);
  column("behind", (at, map) => at ? map.locks[at - 1] + 1 : 0);
  column("group", at => at);
  column("after_wait", is => is);
  for (const name of [...MEASURES, ...ONLY_AFTER])
    column(name, (value, _, log) => log.after ? value : 0);
  for (const name of MEASURES) {
    cells[`base_${name}`] = [];
    for (const log of logs)
      push(cells[`base_${name}`], log.cells[name].map(value => log.after ? 0 : value));
  }
  for (const log of logs) {
    cells.merged += log.cells.merged;
    cells.merged_ns += log.cells.merged_ns;
  }
  return cells;
}

function tablesOf(logs) {
  const threads = new Union(), locks = new Union(), methods = new Union(), classes = [];
  const all = {chain_numbers: [], chain_nodes: [], chain_waiter_methods: [], chain_holder_methods: [], chain_names: [],
               node_methods: [], node_rest: [], node_flags: [], node_callers: []};
  const maps = logs.map(log => {
    const map = {chains: all.chain_numbers.length}, nodes = all.node_methods.length;
    map.threads = log.threads.map(text => threads.of(text));
    map.locks = log.locks.map((text, i) => {
      const at = locks.of(text);
      classes[at] = log.lock_classes[i];
      return at;
    });
    const methodMap = log.methods.map(text => methods.of(text));
    push(all.chain_numbers, log.chain_numbers);
    push(all.chain_nodes, log.chain_nodes.map(at => at ? at + nodes : 0));
    push(all.chain_waiter_methods, log.chain_waiter_methods.map(at => methodMap[at]));
    push(all.chain_holder_methods, log.chain_holder_methods.map(at => methodMap[at]));
    push(all.chain_names, log.chain_numbers.map((_, i) => chainName(log, i)));
    push(all.node_callers, log.node_callers.map(at => at ? at + nodes : 0));
    for (const name of ["node_methods", "node_rest", "node_flags"])
      push(all[name], log[name]);
    return map;
  });
  return {
    maps,
    tables: {...all, threads: threads.texts, thread_rank: threads.ranks(), locks: locks.texts,
             lock_rank: locks.ranks(), lock_classes: classes, methods: methods.texts, method_numbers: methods.ranks()}
  };
}

// The data of a page that compares, as those of one log.
export function withOthers(data) {
  const logs = [{...data, after: true}, ...data.compare.others.map(other => ({...other.data, after: !!other.after}))];
  const {maps, tables} = tablesOf(logs);
  const known = name => logs.every(log => log.aspects.some(a => a.name === name));
  const kinds = Object.keys(data.kinds).filter(known);
  return {
    ...data,
    ...tables,
    compare: {...data.compare, others: []},
    aspects: data.aspects.filter(a => known(a.name)),
    kinds: Object.fromEntries(kinds.map(name => [name, kindOf(logs, name, maps)])),
    cells: cellsOf(logs, maps),
    lengths: lengthsIn(logs)
  };
}
