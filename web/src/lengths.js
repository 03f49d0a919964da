// Quantiles of how long contentions were, as user/analyze/cells/lengths.c makes them of the same counts.

export const QUANTILES = [["p50", 500], ["p90", 900], ["p99", 990], ["p999", 999]];
const STEPS = 64;

// Where the rows of each cell begin.
export function prepareLengths(data) {
  let at = 0;
  data.lengths.first = data.lengths.rows.map(count => (at += count) - count);
}

function lengthOf(step, shift) {
  const row = Math.floor(step / STEPS), factor = row ? 2 ** (row - 1) : 1;
  const first = row ? (STEPS + step % STEPS) * factor : step;
  return first + Math.floor(2 ** shift * factor / 2);
}

function quantileRank(count, perMille) {
  return Math.floor(count / 1000) * perMille + Math.floor((count % 1000 * perMille + 999) / 1000);
}

// By name, of counts by step.
export function quantilesOfSteps(sums, total, longest, shift) {
  const steps = [...sums.keys()].sort((a, b) => a - b), result = {};
  let at = 0, passed = 0;
  for (const [name, perMille] of QUANTILES) {
    const rank = quantileRank(total, perMille);
    while (at + 1 < steps.length && passed + sums.get(steps[at]) < rank)
      passed += sums.get(steps[at++]);
    result[name] = rank >= total ? longest : Math.min(longest, lengthOf(steps[at], shift));
  }
  return result;
}

// By name, of the contentions that are counted in these cells; null: there are none.
export function quantilesOf(data, cells) {
  const l = data.lengths, c = data.cells, sums = new Map();
  let total = 0, longest = 0;
  for (const i of cells) {
    if (!c.count[i])
      continue;
    longest = Math.max(longest, c.max[i]);
    for (let k = l.first[i]; k < l.first[i] + l.rows[i]; k++) {
      sums.set(l.steps[k], (sums.get(l.steps[k]) ?? 0) + l.counts[k]);
      total += l.counts[k];
    }
  }
  if (!total)
    return null;
  return quantilesOfSteps(sums, total, longest, l.shift);
}
