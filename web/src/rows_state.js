// Which rows of a tree are open, and which one is selected: a part of the page's address.

const OPEN_WRITTEN = 200, PATH = /^(\/\d+)+$/;

export function readRows(given) {
  const row = given.get("row"), open = given.get("open") ?? "";
  return {
    row: PATH.test(row) ? row : "",
    open: open === "all" ? open : open.split(",").filter(path => PATH.test(path)),
  };
}

export function writeRows(parts, {row, open}) {
  if (row)
    parts.set("row", row);
  if (open.length)
    parts.set("open", open === "all" ? open : open.slice(-OPEN_WRITTEN).join());
}
