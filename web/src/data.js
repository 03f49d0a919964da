// What spoor has put into the page: user/report/web/page_data.c writes it.

import {withOthers} from "./baseline.js";
import {prepareLengths} from "./lengths.js";

export async function inflate(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++)
    bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

export async function unpack(base64) {
  const data = await inflate(base64);
  return prepare(data.compare ? withOthers(data) : data);
}

const INTERNAL = 1, END = 4;

// Rows of a chain from the innermost frame: [text, method, node]; internal frames folded into their callers as
// user/report/model/chain.c does, unless all are wanted.
export function chainRows(data, chain, all) {
  const rows = [];
  let at = data.chain_nodes[chain];
  while (at) {
    let node = at - 1, folded = 0;
    for (;;) {
      const next = data.node_callers[node];
      if (all || !(data.node_flags[node] & INTERNAL) || !next || data.node_flags[next - 1] & END)
        break;
      node = next - 1;
      folded++;
    }
    rows.push({text: data.node_methods[node] + data.node_rest[node] + (folded ? ` [+${folded}]` : ""),
               method: data.node_methods[node], node, end: (data.node_flags[node] & END) !== 0,
               inferred: (data.node_flags[node] & 8) !== 0});
    at = data.node_callers[node];
  }
  return rows;
}

const LINE_ROWS = 3;

// What stands for a chain without frames.
function noFrames(data, chain) {
  return data.chain_numbers[chain] >= 9007199254740991 ? "(hand-over)" : "(unknown)";
}

// A chain in one line: its first rows, and how many more there are.
function chainLine(data, chain) {
  const rows = chainRows(data, chain, false), more = rows.length - LINE_ROWS;
  if (!rows.length)
    return noFrames(data, chain);
  return rows.slice(0, LINE_ROWS).map(row => row.text).join(" ← ") + (more > 0 ? ` ← [+${more}]` : "");
}

// The same in pieces, with the frames unfolded that are searched for: [text, whether it is found]. As in other lines,
// what is folded is counted behind the frame that called it.
export function chainPieces(data, chain, found) {
  const all = chainRows(data, chain, true);
  if (!found || !all.some(row => found(row.method)))
    return [[chainLine(data, chain), false]];
  const shown = new Set(chainRows(data, chain, false).slice(0, LINE_ROWS).map(row => row.node)), pieces = [];
  let folded = 0;
  for (const row of all) {
    const is = found(row.method);
    if (!is && !shown.has(row.node)) {
      folded++;
      continue;
    }
    if (pieces.length)
      pieces.push([" ← ", false]);
    pieces.push([row.text, is]);
    if (folded)
      pieces.push([` [+${folded}]`, false]);
    folded = 0;
  }
  if (folded)
    pieces.push([` ← [+${folded}]`, false]);
  return pieces;
}

function identity(count) {
  return Int32Array.from({length: count}, (_, i) => i);
}

// The keys of cells, made dense: equal numbers are one group.
function dense(numbers) {
  const seen = new Map();
  return Int32Array.from(numbers, number => {
    if (!seen.has(number))
      seen.set(number, seen.size);
    return seen.get(number);
  });
}

// An aspect: of each cell a key; of each key its text, and what decides between equal sums.
function aspect(about, keys, texts, ranks, chains) {
  return {...about, keys, texts, ranks, chains};
}

// Which column of the cells a kind is told by; those that are not here are told by the cell itself.
const KIND_COLUMNS = {
  waiter_pool: "waiter",
  owner_pool: "holder",
  waiter_class: "waiter_chain",
  owner_class: "holder_chain",
  waiter_package: "waiter_chain",
  owner_package: "holder_chain",
};

function prepare(data) {
  const c = data.cells, n = c.lock.length;
  const map = (column, table) => Int32Array.from({length: n}, (_, i) => table[column[i]]);
  const about = Object.fromEntries(data.aspects.map(a => [a.name, a]));
  // Of logs that are compared, what has the same name is the same.
  const classes = dense(data.lock_class_keys ?? data.lock_classes);
  const classTexts = [], classRanks = [];
  data.lock_classes.forEach((text, i) => {
    const at = classes[i];
    classTexts[at] = text;
    classRanks[at] = Math.min(classRanks[at] ?? Infinity, data.lock_rank[i]);
  });
  const chains = dense(data.chain_names ?? data.chain_numbers);
  const chainOf = [];
  chains.forEach((at, i) => {
    chainOf[at] = chainOf[at] === undefined || !data.chain_nodes[chainOf[at]] ? i : chainOf[at];
  });
  const chainTexts = chainOf.map(i => chainLine(data, i));
  const chainRanks = chainOf.map(i => data.chain_numbers[i]);
  const groups = Int32Array.from(c.group);
  // Of logs that are compared, locks behind others are known by their class.
  const behind = data.compare ? {keys: c.behind.map(lock => lock ? classes[lock - 1] + 1 : 0), texts: classTexts,
                                 ranks: classRanks}
                              : {keys: c.behind, texts: data.locks, ranks: data.lock_rank};
  data.byName = {
    lock_class: aspect(about.lock_class, map(c.lock, classes), classTexts, classRanks),
    lock: aspect(about.lock, Int32Array.from(c.lock), data.locks, data.lock_rank),
    waiter_thread: aspect(about.waiter_thread, Int32Array.from(c.waiter), data.threads, data.thread_rank),
    owner_thread: aspect(about.owner_thread, Int32Array.from(c.holder), data.threads, data.thread_rank),
    group: aspect(about.group, groups, c.group_names, c.group_names.map((_, i) => i)),
    waiter_stack: aspect(about.waiter_stack, map(c.waiter_chain, chains), chainTexts, chainRanks, chainOf),
    owner_stack: aspect(about.owner_stack, map(c.holder_chain, chains), chainTexts, chainRanks, chainOf),
    waiter_method: aspect(about.waiter_method, map(c.waiter_chain, data.chain_waiter_methods), data.methods,
                          data.method_numbers),
    owner_method: aspect(about.owner_method, map(c.holder_chain, data.chain_holder_methods), data.methods,
                         data.method_numbers),
    behind: aspect(about.behind, Int32Array.from(behind.keys), ["(none)", ...behind.texts], [-1, ...behind.ranks]),
  };
  for (const [name, kind] of Object.entries(data.kinds)) {
    const column = KIND_COLUMNS[name];
    data.byName[name] = aspect(about[name], column ? map(c[column], kind.of) : Int32Array.from(kind.of), kind.texts,
                               kind.ranks);
  }
  prepareLengths(data);
  data.order = data.aspects.map(a => a.name);
  if (data.windows) {
    let cell = 0;
    data.windows.cell = data.windows.cell.map(more => (cell += more));
  }
  data.all = identity(n);
  data.cellCount = n;
  return data;
}
