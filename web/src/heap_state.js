// What the page of a heap shows, in the fragment of its address.

import {readRows, writeRows} from "./rows_state.js";

export const HEAP_ORDERS = {bytes: "bytes", objects: "objects", net: "net growth", temporary: "temporary bytes"};

export function heapPresets(data) {
  return data.is_log ? [
    ["Classes, where they are allocated", "type,site"], ["Packages, classes", "package,type"],
    ["Methods that allocate", "method,type"], ["Callers that allocate", "caller,site,type"],
    ["Compiled or interpreted", "code,type"]
  ] : [
    ["Packages, classes", "package,type"], ["Classes by size", "type,size"], ["Class loaders", "loader,package,type"],
    ["Kinds", "kind,type"], ["Arrays by length", "type,array_length"]
  ];
}

export function readHeap(data, hash) {
  const given = new URLSearchParams(hash.replace(/^#/, "")), range = /^(\d+)-(\d+)$/.exec(given.get("range") ?? "");
  const by = (given.get("by") ?? "").split(",")
                 .filter((name, i, all) => data.order.includes(name) && all.indexOf(name) === i);
  const last = data.moments - 1, sort = given.get("sort");
  return {
    by: by.length ? by : heapPresets(data)[0][1].split(","),
    where: given.get("where") ?? "",
    sort: Object.hasOwn(HEAP_ORDERS, sort ?? "") ? sort : "bytes",
    range: data.is_log && range && +range[1] <= +range[2] && +range[1] <= last
        ? [+range[1], Math.min(+range[2], last)] : null,
    ...readRows(given),
  };
}

export function writeHeap(data, state) {
  const parts = new URLSearchParams();
  if (state.by.join() !== heapPresets(data)[0][1])
    parts.set("by", state.by.join());
  if (state.where)
    parts.set("where", state.where);
  if (state.sort !== "bytes")
    parts.set("sort", state.sort);
  if (state.range)
    parts.set("range", state.range.join("-"));
  writeRows(parts, state);
  return `#${parts}`;
}
