// Flame graphs of the chains of those who waited, and of those who held the lock meanwhile. Frames are boxes of HTML,
// so that their text can be read aloud, found, zoomed and printed.
//
// With a baseline, frames are as wide as their time in the one or the other, coloured by the change; what is not at all
// in the one that widths are of is hatched, and as wide as in the other.

import {chainRows} from "./data.js";
import {el, put} from "./dom.js";
import {changeText, durationText, shareText, timeText} from "./units.js";

const LEAST = 0.002, ROW = 20, DEEPEST = 120;
export const FLAME_MODES = ["after", "before", "both", "plain-after", "plain-before"];

export function nodeNew(text, parent) {
  return {text, parent, now: 0, base: 0, children: new Map()};
}

function add(node, now, base) {
  node.now += now;
  node.base += base;
}

// By key of the chains: [ns now, ns in the baseline].
function sumsOf(chosen, keys, measure) {
  const sums = new Map(), base = chosen.base;
  const of = (side, i) => measure === "blocked" ? side.blocked[i] : side.blocked[i] - side.idle[i];
  for (const i of chosen.cells) {
    let sum = sums.get(keys[i]);
    if (!sum)
      sums.set(keys[i], sum = [0, 0]);
    sum[0] += of(chosen, i);
    if (base)
      sum[1] += of(base, i);
  }
  return sums;
}

// From the thread's first frame to the innermost; what has no chain is a frame of its own.
function treeOf(data, chosen, side, measure, internal, found) {
  const root = nodeNew("all", null), aspect = data.byName[`${side}_stack`];
  for (const [key, [now, base]] of sumsOf(chosen, aspect.keys, measure)) {
    if (!now && !base)
      continue;
    const rows = chainRows(data, aspect.chains[key], true).filter(
        row => internal || !(data.node_flags[row.node] & 1) || found?.(row.method));
    const texts = rows.length ? rows.reverse().map(row => row.method || row.text) : [aspect.texts[key]];
    let at = root;
    add(at, now, base);
    for (const text of texts) {
      if (!at.children.has(text))
        at.children.set(text, nodeNew(text, at));
      at = at.children.get(text);
      add(at, now, base);
    }
  }
  return root;
}

// How wide a frame is: its rate, or time where nothing is compared. What is in the other side only has that one's.
function sizesOf(node, mode, per, basePer) {
  const children = [...node.children.values()];
  for (const child of children)
    sizesOf(child, mode, per, basePer);
  const rates = {after: node.now / per, before: node.base / basePer}, other = mode === "after" ? "before" : "after";
  node.rates = rates;
  if (mode.startsWith("plain-"))
    node.size = rates[mode.slice(6)];
  else if (mode === "both")
    node.size = rates.after + rates.before;
  else if (!rates[mode])
    node.size = rates[other];
  else
    node.size = children.reduce((sum, child) => sum + child.size - child.rates[mode], rates[mode]);
  node.change = rates.after - rates.before;
  node.sorted = children.sort((x, y) => y.size - x.size);
}

function largestChange(node) {
  return Math.max(Math.abs(node.change), ...node.sorted.map(largestChange));
}

function short(text) {
  const parts = text.split(".");
  return parts.length > 2 ? parts.slice(-2).join(".") : text;
}

function hue(text) {
  let h = 0;
  for (let i = 0; i < text.length; i++)
    h = (h * 31 + text.charCodeAt(i)) % 5;
  return h;
}

export class Flame {
  constructor(data, node, side) {
    this.data = data;
    this.node = node;
    this.side = side;
    this.zoom = [];
    this.title = `Call chains of ${side === "waiter" ? "blocked threads" : "the locks' holders"}`;
    this.note = () => "";
  }

  // Any tree, in place of that of a side.
  show(root) {
    this.chosen = {};
    this.mode = "plain-after";
    this.root = root;
    sizesOf(root, this.mode, 1, 1);
    this.draw();
  }

  // found: of a frame's text, whether it is searched for: such are not folded, and framed.
  render(chosen, measure, internal, mode, found) {
    this.chosen = chosen;
    this.found = found;
    this.mode = chosen.base ? mode : "plain-after";
    this.root = treeOf(this.data, chosen, this.side, measure, internal, found);
    sizesOf(this.root, this.mode, chosen.per ?? 1, chosen.basePer ?? 1);
    this.most = largestChange(this.root) || 1;
    this.draw();
  }

  // In words: of one side its time and share, or of both the rates and the change.
  about(node) {
    const {base, per, basePer, unit} = this.chosen, before = this.mode === "plain-before";
    if (!base || this.mode.startsWith("plain-")) {
      const ns = before ? node.base : node.now, whole = before ? this.root.base : this.root.now;
      return `${durationText(ns)}, ${shareText(ns, whole)}${this.note(node)}`;
    }
    const only = node.now ? node.base ? "" : `; not in ${base.name}` : `; only in ${base.name}`;
    return `${base.now} ${timeText(Math.round(node.now / per))}${unit}, ${base.name} ${
        timeText(Math.round(node.base / basePer))}${unit}, change ${changeText(Math.round(node.change))}${unit}${only}`;
  }

  // A sign before each name that has changed, so that nobody needs the colours.
  label(node, width) {
    const change = this.mode.startsWith("plain-") ? 0 : Math.round(node.change);
    const sign = change > 0 ? "+" : change < 0 ? "\u2212" : "";
    if (width <= 0.03)
      return width > 0.008 ? sign : "";
    return change && width > 0.12 ? `${sign} ${short(node.text)} (${changeText(change)}${this.chosen.unit})`
                                  : `${sign}${sign && " "}${short(node.text)}`;
  }

  paint(frame, node) {
    if (this.mode.startsWith("plain-")) {
      frame.classList.add(`hue${hue(node.text)}`);
      return;
    }
    frame.classList.add(node.change > 0 ? "grown" : "shrunk");
    if (this.mode === "before" ? !node.base : !node.now)
      frame.classList.add("ghost");
    frame.style.setProperty("--delta", String(Math.round(100 * Math.sqrt(Math.abs(node.change) / this.most))));
  }

  draw() {
    let at = this.root;
    const above = [];
    for (const text of this.zoom) {
      const next = at.children.get(text);
      if (!next)
        break;
      above.push(at);
      at = next;
    }
    const boxes = [], total = at.size || 1;
    let deepest = 0, small = 0;
    const box = (node, depth, left, width, kind) => {
      deepest = Math.max(deepest, depth);
      const about = this.about(node);
      const frame = el("div", {
        role: "treeitem",
        "aria-level": depth + 1,
        tabindex: "-1",
        class: `frame ${kind}${node.parent && this.found?.(node.text) ? " found" : ""}`,
        title: `${node.text}\n${about}`,
        "aria-label": `${node.text}, ${about}`,
        "aria-expanded": node.children.size ? "true" : null,
        "aria-selected": String(node === at)
      },
                       this.label(node, width));
      this.paint(frame, node);
      frame.style.left = `${left * 100}%`;
      frame.style.width = `${width * 100}%`;
      frame.style.top = `${depth * ROW}px`;
      frame.addEventListener("click", () => this.zoomTo(node));
      frame.spoorNode = node;
      boxes.push(frame);
    };
    const visit = (node, depth, left) => {
      box(node, depth, left, node.size / total, "");
      let x = left;
      for (const child of node.sorted) {
        const width = child.size / total;
        if (width >= LEAST && depth < DEEPEST)
          visit(child, depth + 1, x);
        else
          small += child.size;
        x += width;
      }
    };
    above.forEach((node, depth) => box(node, depth, 0, 1, "above"));
    if (this.root.size)
      visit(at, above.length, 0);
    const tree = el("div", {
      role: "tree",
      class: "flame",
      "aria-label": this.title,
      onkeydown: event => this.onKey(event)
    },
                    boxes);
    tree.style.height = `${(deepest + 1) * ROW}px`;
    if (boxes.length)
      boxes[above.length].tabIndex = 0;
    const button =
        el("button", {type: "button", disabled: !this.zoom.length, onclick: () => this.zoomTo(this.root)}, "all");
    put(this.node, boxes.length ? tree : el("p", {class: "dim"}, "Nothing."),
        el("p", {class: "under"}, button,
           small ? ` Frames of less than ${shareText(LEAST, 1)} are not drawn; they are ${
                       shareText(small, total)} of the time.`
                 : ""));
    return boxes;
  }

  zoomTo(node) {
    this.zoom = [];
    for (let at = node; at.parent; at = at.parent)
      this.zoom.unshift(at.text);
    const boxes = this.draw();
    boxes[this.zoom.length]?.focus();
  }

  onKey(event) {
    const frames = [...this.node.querySelectorAll(".frame")], frame = event.target.closest(".frame"),
          node = frame?.spoorNode;
    const drawn = one => frames.find(f => f.spoorNode === one);
    const siblings = node?.parent ? node.parent.sorted : [node];
    let next = null;
    switch (event.key) {
    case "ArrowUp": next = node?.parent && drawn(node.parent); break;
    case "ArrowDown":
      next = node && node.sorted.map(drawn).find(Boolean);
      break;
    case "ArrowLeft": next = drawn(siblings[siblings.indexOf(node) - 1]); break;
    case "ArrowRight": next = drawn(siblings[siblings.indexOf(node) + 1]); break;
    case "Enter":
    case " ": if (node) this.zoomTo(node); break;
    case "Escape": this.zoomTo(this.root); break;
    default: return;
    }
    event.preventDefault();
    if (next) {
      frames.forEach(f => { f.tabIndex = -1; });
      next.tabIndex = 0;
      next.focus();
    }
  }
}
