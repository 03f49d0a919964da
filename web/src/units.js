// Counts, shares, durations and sizes as user/base/text/units.c and format.c write them.

const DURATIONS = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9], ["min", 60e9]];
const SECONDS = [["s", 1e9]];
const SIZES = [["B", 1], ["KiB", 1024], ["MiB", 1048576], ["GiB", 1073741824]];

function threeDigits(value, units) {
  let at = 0;
  while (at + 1 < units.length && value >= units[at + 1][1] * 0.9995)
    at++;
  const [name, factor] = units[at];
  const scaled = value / factor;
  const digits = factor === 1 || scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${name}`;
}

export function durationText(ns) {
  return threeDigits(ns, ns >= 60e9 && ns < 600e9 ? SECONDS : DURATIONS);
}

// "0" and not "0 ns": in a table most of these mean "none".
export function timeText(ns) {
  return ns ? durationText(ns) : "0";
}

// With its sign, so that nobody needs a colour.
export function changeText(ns) {
  return (ns > 0 ? "+" : ns < 0 ? "\u2212" : "") + timeText(Math.abs(ns));
}

// "/span" in words.
export function perText(unit) {
  return unit === "/s" ? "in each second" : unit === "/span" ? "in each span" : "in each second of CPU time";
}

export function sizeText(bytes) {
  return threeDigits(bytes, SIZES);
}

export function countText(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function shareText(part, whole) {
  const pct = whole ? 100 * part / whole : 0;
  if (!whole)
    return "-";
  if (!part || part === whole)
    return part ? "100 %" : "0 %";
  if (pct < 0.1)
    return "<0.1 %";
  if (pct > 99.9 && pct < 100)
    return ">99.9 %";
  return `${pct.toFixed(1)} %`;
}
