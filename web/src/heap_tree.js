// The tree table of kinds of objects: rows, keys and opening are those of the tree of contentions.

import {bar, el, put} from "./dom.js";
import {heapText, splitHeap} from "./heap_groups.js";
import {Tree} from "./tree.js";
import {countText, shareText, sizeText} from "./units.js";

export function signedSize(bytes) {
  return bytes ? `${bytes < 0 ? "-" : "+"}${sizeText(Math.abs(bytes))}` : "0";
}

export class HeapTree extends Tree {
  setSums(sums) {
    this.sums = sums;
  }

  childrenOf(group, depth) {
    if (depth >= this.state.by.length)
      return [];
    if (!this.children.has(group.path))
      this.children.set(group.path,
                        splitHeap(group, this.data.byName[this.state.by[depth]], this.sums, this.state.sort));
    return this.children.get(group.path);
  }

  drawHead() {
    const column = (order, text, meaning) => el("th", {
      role: "columnheader", scope: "col", title: meaning,
      "aria-sort": this.state.sort === order ? "descending" : "none"},
      el("button", {type: "button", "data-order": order, onclick: () => this.onSort(order)}, text,
         this.state.sort === order ? " ▾" : ""));
    const plain = (text, meaning) => el("th", {role: "columnheader", scope: "col", title: meaning}, text);
    const heads = [
      plain(this.state.by.join(" › ")), column("bytes", "bytes", "Of objects that are alive at the later moment"),
      plain("of all", "Of all bytes that are shown"),
      column("objects", "objects", "Alive at the later moment")
    ];
    if (this.data.is_log)
      heads.push(column("net", "net", "Bytes born less bytes died"),
                 plain("born", "Bytes of objects that are alive at the later moment only"),
                 plain("died", "Bytes of objects that are alive at the earlier moment only"),
                 column("temporary", "temporary", "Bytes of objects that were born and have died between"));
    put(this.head, el("tr", {role: "row"}, heads));
  }

  row(group, depth, at, of, parent, children) {
    const open = this.open.has(group.path), rank = g => Math.max(0, g[this.state.sort]);
    const whole = rank(this.root), [, died, born] = group.of;
    const figure = (value, text, name) => el("td", {
      role: "gridcell", class: "figure", title: `${countText(value)}`, [`data-${name}`]: value}, text);
    return el(
        "tr", {
          role: "row", "aria-level": depth + 1, "aria-posinset": at, "aria-setsize": of, "data-path": group.path,
          "aria-expanded": children ? String(open) : null, tabindex: "-1", "aria-selected": "false"
        },
        el("td", {
          role: "gridcell", class: `name level${Math.min(depth, 9)}`,
          title: group.aspect ? `${group.aspect.name}: ${group.aspect.doc}` : null
        },
           el("span", {class: "twist", "aria-hidden": "true"}, children ? (open ? "▾" : "▸") : ""),
           el("span", {class: "text"}, heapText(group))),
        el("td", {
          role: "gridcell", class: "figure", title: `${countText(group.bytes)} bytes`, "data-bytes": group.bytes},
           bar(whole ? rank(group) / whole : 0), el("span", {class: "amount"}, sizeText(group.bytes))),
        el("td", {role: "gridcell", class: "figure"}, shareText(group.bytes, this.root.bytes)),
        figure(group.objects, countText(group.objects), "objects"),
        this.data.is_log ? [
          figure(group.net, signedSize(group.net), "net"), figure(born.bytes, sizeText(born.bytes), "born"),
          figure(died.bytes, sizeText(died.bytes), "died"),
          figure(group.temporary, sizeText(group.temporary), "temporary")
        ] : []);
  }
}
