// A heap, or the lifetimes of a log's objects, as user/report/heap/heap_page.c writes them. A cell: a kind of objects.

export const CLASSES = ["permanent", "died", "born", "temporary"];

export function prepareHeap(data) {
  const lives = data.lives;
  data.byName = {};
  for (const {name, doc, texts, of_cell: keys} of data.aspects)
    data.byName[name] = {name, doc, keys: Int32Array.from(keys), texts, ranks: texts.map((_, i) => i)};
  data.order = data.aspects.map(aspect => aspect.name);
  data.cellCount = data.aspects[0].of_cell.length;
  data.all = Int32Array.from({length: data.cellCount}, (_, i) => i);
  data.cells = {};
  // Moments are the ends of collections, from 1 on, and the end of the log.
  data.moments = data.moment_gc.length + 1;
  data.windows = {count: data.moments};
  for (let i = 0; i < lives.death.length; i++)
    lives.death[i] = lives.death[i] || Infinity;
  return data;
}

export function momentText(data, moment) {
  if (moment === 0)
    return "the begin";
  if (moment >= data.moments)
    return data.is_log ? "the log's end" : "the dump";
  return `GC ${data.moment_gc[moment - 1]} (${(data.moment_ns[moment - 1] / 1e9).toFixed(2)} s)`;
}

// Of an interval, as user/heap/replay/object_lifetimes.c has it: an object lives after its birth, and before its death.
function classOf(birth, death, from, to) {
  const first = birth < from && death > from, second = birth < to && death > to;
  if (first || second)
    return first && second ? 0 : first ? 1 : 2;
  return birth >= from && death <= to ? 3 : -1;
}

// By class, objects and bytes of each cell between two moments.
export function sumsBetween(data, from, to) {
  const lives = data.lives;
  const empty = () => new Float64Array(data.cellCount);
  const sums = CLASSES.map(() => ({objects: empty(), bytes: empty()}));
  for (let i = 0; i < lives.cell.length; i++) {
    const one = classOf(lives.birth[i], lives.death[i], from, to);
    if (one < 0)
      continue;
    sums[one].objects[lives.cell[i]] += lives.objects[i];
    sums[one].bytes[lives.cell[i]] += lives.bytes[i];
  }
  return sums;
}

// Bytes alive at each moment, of the cells that a test chooses; the first is that of moment 1.
export function bytesOverTime(data, test) {
  const lives = data.lives, more = new Float64Array(data.moments + 2), chosen = new Map();
  for (let i = 0; i < lives.cell.length; i++) {
    const cell = lives.cell[i];
    if (!chosen.has(cell))
      chosen.set(cell, !test || test(cell));
    if (!chosen.get(cell))
      continue;
    const first = lives.birth[i] + 1, last = Math.min(lives.death[i] - 1, data.moments);
    if (first <= last) {
      more[first] += lives.bytes[i];
      more[last + 1] -= lives.bytes[i];
    }
  }
  let sum = 0;
  return Float64Array.from({length: data.moments}, (_, i) => (sum += more[i + 1]));
}
