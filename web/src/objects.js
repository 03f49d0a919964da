// Who allocates, as spoor objects has it, and what the heap held around collections: of the whole log.

import {el, put, svg} from "./dom.js";
import {columnsOf, notes} from "./parts.js";
import {choice} from "./state.js";
import {findingsTable, valueOf} from "./tables.js";
import {countText, sizeText} from "./units.js";

const HEAP_HEIGHT = 80, OBJECTS_ROWS = 100;
const ALLOCATED_BY = [["class", "class"], ["site", "class and place"], ["chain", "class and call chain"],
                      ["method", "method that allocates"]];

// Bytes before and after each collection, joined in the order of time.
function heapCourse(table) {
  const at = columnsOf(table), points = [];
  for (const row of table.rows) {
    const [begin, before, after] = ["begin_ns", "before_bytes", "after_bytes"].map(key => valueOf(row[at[key]]));
    if (before === null || after === null)
      continue;
    points.push([begin, before], [begin + (valueOf(row[at.pause_ns]) ?? 0), after]);
  }
  if (points.length < 4)
    return null;
  const first = points[0][0], length = points.at(-1)[0] - first || 1, top = Math.max(1, ...points.map(p => p[1]));
  const line = points.map(([ns, bytes]) => `${1000 * (ns - first) / length},${HEAP_HEIGHT * (1 - bytes / top)}`);
  return [el("h3", {}, "What the heap held"),
          svg("svg", {class: "curve", viewBox: `0 0 1000 ${HEAP_HEIGHT}`, preserveAspectRatio: "none", role: "img",
                      "aria-label": `Bytes in the heap before and after ${table.rows.length} collections, at most ${
                        sizeText(top)}; the table of collections has them all`},
              svg("polyline", {points: line.join(" "), fill: "none", stroke: "currentColor", "stroke-width": "1.5",
                               "vector-effect": "non-scaling-stroke"})),
          el("p", {class: "axis", "aria-hidden": "true"}, el("span", {}, "first collection"),
             el("span", {}, `at most ${sizeText(top)}; before and after each collection`),
             el("span", {}, "last collection"))];
}

function missingOf(objects) {
  const lines = [], say = (n, text) => n && lines.push(`${text}: ${countText(n)}.`);
  if (objects.failed)
    lines.push("Not all object events could be read: 'spoor objects' says why. What was read is here.");
  say(objects.damaged, "Blocks of object events that are damaged or missing");
  say(objects.gaps, "Gaps in the object events");
  say(objects.overwritten, "Objects that others have overwritten without a known death");
  say(objects.holes, "Holes between object events");
  say(objects.unknown_class, "Objects of a class that is not known");
  if (!objects.survivors)
    lines.push("Survivors are not known: the heap could not be followed.");
  return notes(lines);
}

// What follows the page's state; undefined: nothing does. onBy gets by what the table is to be.
export function drawObjects(data, node, onBy) {
  const objects = data.parts?.objects;
  if (!objects) {
    put(node, el("p", {class: "dim"}, "The log has no object events: spoor record --objects records them."));
    return undefined;
  }
  const table = el("div", {id: "objects-table"});
  const show = by => put(table, findingsTable(objects[by], `Who allocated, by ${
    ALLOCATED_BY.find(([name]) => name === by)[1]}`, false, {rows: OBJECTS_ROWS, command: "spoor objects"}));
  const select = el("select", {id: "objects-by", onchange: event => onBy(event.target.value)},
                    ALLOCATED_BY.map(([name, text]) => el("option", {value: name}, text)));
  put(node, missingOf(objects),
      el("p", {class: "dim"}, `${countText(objects.objects)} objects, ${
        sizeText(objects.bytes)}, of the whole log: 'spoor objects --from --to' has a part. Who keeps them ` +
        "alive, and what changed between two moments: 'spoor heap page'."),
      heapCourse(objects.collection), el("label", {}, "by ", select), table,
      objects.collection.rows.length ? el("div", {id: "objects-collections"},
                                         findingsTable(objects.collection, "Collections")) : null);
  let shown = "";
  return state => {
    const by = choice(select, state, "objects");
    if (by !== shown)
      show(by);
    shown = by;
  };
}
