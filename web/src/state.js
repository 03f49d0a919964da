// What the page shows: in the fragment of its address, so that it can be kept, sent, and gone back from.

import {FLAME_MODES} from "./flame.js";
import {readRows, writeRows} from "./rows_state.js";

export const PRESETS = [
  ["Lock, holder, waiter", "lock_class,lock,owner_thread,waiter_thread"],
  ["Where threads wait, where the lock is held", "lock_class,waiter_method,owner_method"],
  ["Chains (thesis, 4.9)", "group,lock_class,lock,waiter_stack,owner_stack"],
  ["Holder's method (thesis, 4.10)", "group,lock_class,lock,owner_method,owner_stack"],
  ["Who causes waiting", "owner_thread,waiter_thread,lock_class"],
  ["Who suffers", "waiter_thread,owner_thread,lock_class"],
  ["Who held it while a chain was blocked", "waiter_stack,owner_stack"],
  ["Which locks a thread needs", "waiter_thread,lock,waiter_method"],
  ["Locks on locks", "lock,behind,owner_thread"],
  ["Pools, and what holders did", "waiter_pool,owner_pool,owner_state"],
  ["Packages", "waiter_package,owner_package,lock_class"],
  ["Spans", "span,duration,lock_class"],
];

export const ORDERS = ["work", "blocked", "count", "max", "p50", "p90", "p99", "p999", "value", "change"];

const DEFAULT = {
  by: PRESETS[0][1].split(","), where: "", sort: "work", range: null, base: null, flame: "after", slots: null
};
// What single parts show: each is a word, and these are the ones at first.
export const VIEWS = {
  internal: "", matrix: "thread", samples: "running", chains: "method", pool: "", states: "pools", objects: "class"
};

// Windows from one to another, as far as there are any; null: none.
function readRange(text, last) {
  const range = /^(\d+)-(\d+)$/.exec(text ?? "");
  return range && +range[1] <= +range[2] && +range[1] <= last ? [+range[1], Math.min(+range[2], last)] : null;
}

export function readState(data, hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const by = (given.get("by") ?? "")
                 .split(",")
                 .filter((name, i, all) => data.order.includes(name) && all.indexOf(name) === i);
  const last = (data.windows?.count ?? 0) - 1;
  return {
    by: by.length ? by : DEFAULT.by,
    where: given.get("where") ?? "",
    sort: ORDERS.includes(given.get("sort")) ? given.get("sort") : DEFAULT.sort,
    range: readRange(given.get("range"), last),
    base: data.compare ? null : readRange(given.get("base"), last),
    flame: FLAME_MODES.includes(given.get("flame")) ? given.get("flame") : DEFAULT.flame,
    slots: readRange(given.get("slots"), Number.MAX_SAFE_INTEGER),
    ...readRows(given),
    ...Object.fromEntries(Object.entries(VIEWS).map(([name, first]) => [name, given.get(name) ?? first])),
  };
}

// A choice of the page's as the state has it; a word that it does not know is the one at first.
export function choice(select, state, name) {
  select.value = state[name];
  if (select.selectedIndex < 0)
    select.value = VIEWS[name];
  return select.value;
}

export function writeState(state) {
  const parts = new URLSearchParams();
  if (state.by.join() !== DEFAULT.by.join())
    parts.set("by", state.by.join());
  if (state.where)
    parts.set("where", state.where);
  if (state.sort !== DEFAULT.sort)
    parts.set("sort", state.sort);
  if (state.range)
    parts.set("range", state.range.join("-"));
  if (state.base)
    parts.set("base", state.base.join("-"));
  if (state.flame !== DEFAULT.flame)
    parts.set("flame", state.flame);
  if (state.slots)
    parts.set("slots", state.slots.join("-"));
  for (const [name, first] of Object.entries(VIEWS))
    if (state[name] !== first)
      parts.set(name, state[name]);
  writeRows(parts, state);
  return `#${parts}`;
}
