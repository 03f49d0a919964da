// Sums of cells, nested by any order of aspects, as user/analyze/groups/groups.c makes them.

import {quantilesOf} from "./lengths.js";

const SPLITS = ["running", "stolen", "runnable", "throttled", "blocked", "unknown"];
const MAXIMA = ["max", "max_held", "max_part"];

// The cells that a condition and a range of windows choose, and what each has there. In a range only blocked time is
// known; the time of idle turns is apportioned, and counts and maxima are not known.
//
// With a second range, or other logs, as the baseline, cells that have time in either are chosen, and what each has in
// that one, too.
export function choose(data, test, range, base) {
  if (data.compare)
    return withLogs(data, test, range);
  if (base && data.windows)
    return withBase(data, test, range ?? [0, data.windows.count - 1], base);
  return chooseIn(data, test, range);
}

function chooseIn(data, test, range) {
  const c = data.cells;
  if (!range || !data.windows) {
    const cells = test ? data.all.filter(i => test(i)) : data.all;
    return {cells, ranged: false, blocked: c.blocked, idle: c.idle, data};
  }
  const blocked = new Float64Array(data.cellCount), idle = new Float64Array(data.cellCount), w = data.windows;
  for (let k = 0; k < w.cell.length; k++)
    if (w.window[k] >= range[0] && w.window[k] <= range[1])
      blocked[w.cell[k]] += w.ns[k];
  for (let i = 0; i < data.cellCount; i++)
    idle[i] = c.blocked[i] ? Math.round(c.idle[i] * blocked[i] / c.blocked[i]) : 0;
  return {cells: data.all.filter(i => blocked[i] && (!test || test(i))), ranged: true, blocked, idle, data};
}

function secondsIn(data, [from, to]) {
  return (to - from + 1) * data.windows.length_ns / 1e9;
}

function withBase(data, test, range, base) {
  const now = chooseIn(data, test, range), before = chooseIn(data, test, base);
  return {
    ...now,
    cells: data.all.filter(i => (now.blocked[i] || before.blocked[i]) && (!test || test(i))),
    base: {blocked: before.blocked, idle: before.idle, name: "the baseline", now: "the range"},
    per: secondsIn(data, range),
    basePer: secondsIn(data, base),
    unit: "/s"
  };
}

// A range is of the log after; the logs before are compared whole.
function withLogs(data, test, range) {
  const now = chooseIn(data, test, range), c = data.cells, {before, after, unit} = data.compare;
  const base = {blocked: c.base_blocked, idle: c.base_idle, name: "before", now: "after"};
  if (!now.ranged)
    return {...now, base, per: after.per, basePer: before.per, unit};
  return {
    ...now,
    cells: data.all.filter(i => (now.blocked[i] || c.base_blocked[i]) && (!test || test(i))),
    base,
    per: secondsIn(data, range),
    basePer: before.seconds,
    unit: "/s"
  };
}

function empty(chosen, cells, level) {
  return {
    chosen,
    cells,
    level,
    count: 0,
    blocked: 0,
    idle: 0,
    max: 0,
    afterWait: 0,
    firstReader: 0,
    baseBlocked: 0,
    baseIdle: 0,
    key: -1,
    aspect: null,
    parent: null,
    path: ""
  };
}

function sumUp(group) {
  const {chosen, cells} = group, c = chosen.data.cells, max = c[MAXIMA[group.level]];
  for (const i of cells) {
    group.count += c.count[i];
    group.blocked += chosen.blocked[i];
    group.idle += chosen.idle[i];
    if (chosen.base) {
      group.baseBlocked += chosen.base.blocked[i];
      group.baseIdle += chosen.base.idle[i];
    }
    group.firstReader += c.first_reader[i];
    if (c.after_wait[i])
      group.afterWait += chosen.blocked[i];
    if (max[i] > group.max)
      group.max = max[i];
  }
  return group;
}

export function rootOf(chosen) {
  return sumUp(empty(chosen, chosen.cells, 0));
}

export function workOf(group) {
  return group.blocked - group.idle;
}

// Of the contentions that are counted in it; null: there are none, or only a range is known.
export function lengthsOf(group) {
  if (group.lengths === undefined)
    group.lengths = group.chosen.ranged ? null : quantilesOf(group.chosen.data, group.cells);
  return group.lengths;
}

// What is compared: time lost to work, or blocked time where rows are in that order.
export function baseOf(group, order) {
  return order === "blocked" ? group.baseBlocked : group.baseBlocked - group.baseIdle;
}

export function rateOf(group, order) {
  return (order === "blocked" ? group.blocked : workOf(group)) / group.chosen.per;
}

// Of each unit (second), more than in the baseline.
export function changeOf(group, order) {
  return rateOf(group, order) - baseOf(group, order) / group.chosen.basePer;
}

export function rankOf(group, order) {
  if (order === "change")
    return group.chosen.base ? Math.abs(changeOf(group, order)) : workOf(group);
  if (order.startsWith("p"))
    return lengthsOf(group)?.[order] ?? 0;
  if (order === "value")
    return 0;
  return order === "blocked" ? group.blocked : order === "count" ? group.count : order === "max" ? group.max
    : workOf(group);
}

// The groups within one, by an aspect, in the order of the report.
export function split(group, aspect, order) {
  const parts = new Map();
  for (const i of group.cells) {
    const key = aspect.keys[i], part = parts.get(key);
    if (part)
      part.push(i);
    else
      parts.set(key, [i]);
  }
  const level = Math.max(group.level, aspect.max);
  const groups = [...parts].map(([key, cells]) => {
    const one = sumUp(empty(group.chosen, cells, level));
    one.key = key;
    one.aspect = aspect;
    one.parent = group;
    one.path = `${group.path}/${key}`;
    return one;
  });
  return groups.sort((a, b) => rankOf(b, order) - rankOf(a, order) ||
                     (order === "value" ? 0 : b.blocked - a.blocked) || aspect.ranks[a.key] - aspect.ranks[b.key]);
}

export function textOf(group) {
  return group.aspect ? group.aspect.texts[group.key] : "all contentions";
}

// What the holders did meanwhile, of all the log.
export function splitOf(group) {
  const sums = Object.fromEntries(SPLITS.map(name => [name, 0])), c = group.chosen.data.cells;
  for (const name of SPLITS)
    for (const i of group.cells)
      sums[name] += c[`split_${name}`][i];
  return sums;
}

// The cell with the most time: its chains stand for the group's.
export function heaviest(group) {
  let best = -1;
  for (const i of group.cells)
    if (best < 0 || group.chosen.blocked[i] > group.chosen.blocked[best])
      best = i;
  return best;
}

// Pairs of chains of a group with their time, the heaviest first.
export function chainPairs(group) {
  const data = group.chosen.data, waiters = data.byName.waiter_stack.keys, owners = data.byName.owner_stack.keys;
  const pairs = new Map();
  for (const i of group.cells) {
    const key = `${waiters[i]} ${owners[i]}`, blocked = group.chosen.blocked[i],
          base = group.chosen.base?.blocked[i] ?? 0, pair = pairs.get(key);
    if (pair) {
      pair.blocked += blocked;
      pair.base += base;
    } else {
      pairs.set(key, {cell: i, blocked, base});
    }
  }
  return [...pairs.values()].sort((a, b) => b.blocked - a.blocked || b.base - a.base);
}
