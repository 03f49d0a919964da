// The first thing on the page: what was lost, and the sentences of the report.

import {verdictOf} from "./compare.js";
import {el, put} from "./dom.js";
import {durationText} from "./units.js";

// The report's parts, by their headings, which begin at the margin and are upper case.
export function partsOf(text) {
  const parts = [];
  for (const line of text.split("\n")) {
    if (/^[A-Z]{3}/.test(line))
      parts.push([line]);
    else if (parts.length)
      parts.at(-1).push(line);
  }
  return parts;
}

// A text that was broken into lines, as one; words that follow each other.
function joined(lines) {
  return lines.map(line => line.trim()).filter(Boolean).join(" ");
}

// Each whole: a warning may have several lines, and a table of what was lost.
function warningsOf(lines) {
  const found = [];
  let open = null;
  for (const line of lines) {
    const begin = /^ {2}(warning|not there|!!) +(.*)$/.exec(line);
    if (begin)
      found.push(open = {mark: begin[1], lines: [begin[2]]});
    else if (open && /^ {6,}\S/.test(line))
      open.lines.push(line.trim().replace(/ {2,}/g, " "));
    else
      open = null;
  }
  return found.map(({mark, lines: [first, ...rest]}) => mark === "!!"
      ? `${first}${rest.length ? ` ${rest.join("; ")}` : ""}` : `${mark}: ${[first, ...rest].join(" ")}`);
}

export function sentences(text) {
  const parts = partsOf(text), recorded = parts.find(part => part[0].startsWith("RECORDED")) ?? [];
  const ended = recorded.map(line => /^ {2}ended +(not properly: .*)$/.exec(line)?.[1]).find(Boolean);
  const warnings = [...(ended ? [`The recording ended ${ended}`] : []), ...warningsOf(recorded)];
  const locks = parts.find(part => part[0].startsWith("CONTENDED LOCKS")),
        finding = parts.find(part => part[0].startsWith("FINDING"));
  const incomplete = parts.find(part => part[0].startsWith("INCOMPLETE"));
  const worst = (locks ?? []).find(line => /^ {2}1\. /.test(line));
  return {
    worst: worst ? joined([worst.slice(5)]).replace(/ {2,}/g, " ") : "",
    warnings: [...warnings, ...(incomplete ? [joined(incomplete.slice(1))] : [])],
    lock: (locks ?? [])
              .filter(line => line.trimStart().startsWith("=> "))
              .slice(0, 2)
              .map(line => line.trim().slice(3)),
    count: locks ? locks[0] : "",
    finding: finding ? joined(finding.slice(1)) : ""
  };
}

export function drawOverview(data, node, head) {
  const facts = data.facts, said = sentences(data.text),
        when = facts.start_wall_ns ? new Date(facts.start_wall_ns / 1e6) : null;
  const part = facts.from_ns || facts.to_ns
    ? `, from ${durationText(facts.from_ns)} to ${facts.to_ns ? durationText(facts.to_ns) : "its end"}` : "";
  put(head,
      `${facts.source}, ${when ? `${when.toISOString().slice(0, 19).replace("T", " ")} UTC, ` : ""}${
          durationText(facts.duration_ns)}${part}`,
      facts.where ? `, only ${facts.where}` : "");
  const inferred = facts.exact
      ? "Who held a lock is known from numbered events of the JVM."
      : "Who held a lock is inferred: a stock JVM tells of single moments only. Other inferred figures have a ~.";
  const cells = data.cells;
  const lost = [...said.warnings];
  if (cells.merged)
    lost.push(`${cells.merged} rare combinations of lock, threads and call chains, ${
        durationText(
            cells
                .merged_ns)} in all, are put together as "other": sums are exact, but they are not told apart here.`);
  put(node, verdictOf(data),
      data.compare ? el("h3", {}, "The recording after, by itself") : null,
      lost.length ? el("div", {class: "lost", role: "note"}, el("h3", {}, "What is missing"),
                       el("ul", {}, lost.map(line => el("li", {}, line))))
                  : el("p", {class: "good"},
                       facts.lost || facts.damaged ? "" : "Nothing was lost: no event, no part of the log."),
      el("div", {class: "findings"},
         said.lock.length ? el("p", {class: "finding"}, el("span", {class: "dim"}, "The worst lock: "), said.worst)
                          : null,
         said.lock.map(line => el("p", {class: "finding"}, line)),
         said.finding ? el("p", {class: "finding"}, said.finding) : null,
         !said.lock.length && !said.finding
             ? el("p", {class: "finding"}, data.cellCount ? said.count : "No thread was blocked on a lock.")
             : null),
      el("p", {class: "dim"}, inferred));
}
