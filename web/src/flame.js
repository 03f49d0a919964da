// Flame graphs of the chains of those who waited, and of those who held the lock meanwhile. Frames are boxes of HTML,
// so that their text can be read aloud, found, zoomed and printed.

import {chainRows} from "./data.js";
import {el, put} from "./dom.js";
import {durationText, shareText} from "./units.js";

const LEAST = 0.002, ROW = 20, DEEPEST = 120;

function nodeNew(text, parent) {
  return {text, parent, weight: 0, children: new Map(), internal: false};
}

// From the thread's first frame to the innermost; what has no chain is a frame of its own.
function treeOf(data, chosen, side, measure, internal) {
  const root = nodeNew("all", null), aspect = data.byName[`${side}_stack`], sums = new Map();
  for (const i of chosen.cells) {
    const ns = measure === "blocked" ? chosen.blocked[i] : chosen.blocked[i] - chosen.idle[i];
    sums.set(aspect.keys[i], (sums.get(aspect.keys[i]) ?? 0) + ns);
  }
  for (const [key, ns] of sums) {
    const rows = chainRows(data, aspect.chains[key], true).filter(row => internal || !(data.node_flags[row.node] & 1));
    const texts = rows.length ? rows.reverse().map(row => row.method || row.text) : [aspect.texts[key]];
    let at = root;
    at.weight += ns;
    for (const text of texts) {
      if (!at.children.has(text))
        at.children.set(text, nodeNew(text, at));
      at = at.children.get(text);
      at.weight += ns;
    }
  }
  return root;
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
  }

  render(chosen, measure, internal) {
    this.root = treeOf(this.data, chosen, this.side, measure, internal);
    this.draw();
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
    const boxes = [], whole = this.root.weight, total = at.weight || 1;
    let deepest = 0, small = 0;
    const box = (node, depth, left, width, kind) => {
      deepest = Math.max(deepest, depth);
      const of = shareText(node.weight, whole);
      const frame = el("div", {
        role: "treeitem",
        "aria-level": depth + 1,
        tabindex: "-1",
        class: `frame ${kind} hue${hue(node.text)}`,
        title: `${node.text}\n${durationText(node.weight)}, ${of}`,
        "aria-label": `${node.text}, ${durationText(node.weight)}, ${of}`,
        "aria-expanded": node.children.size ? "true" : null,
        "aria-selected": String(node === at)
      },
                       width > 0.03 ? short(node.text) : "");
      frame.style.left = `${left * 100}%`;
      frame.style.width = `${width * 100}%`;
      frame.style.top = `${depth * ROW}px`;
      frame.addEventListener("click", () => this.zoomTo(node));
      frame.spoorNode = node;
      boxes.push(frame);
    };
    const visit = (node, depth, left) => {
      box(node, depth, left, node.weight / total, "");
      let x = left;
      for (const child of [...node.children.values()].sort((a, b) => b.weight - a.weight)) {
        const width = child.weight / total;
        if (width >= LEAST && depth < DEEPEST)
          visit(child, depth + 1, x);
        else
          small += child.weight;
        x += width;
      }
    };
    above.forEach((node, depth) => box(node, depth, 0, 1, "above"));
    if (this.root.weight)
      visit(at, above.length, 0);
    const tree = el("div", {
      role: "tree",
      class: "flame",
      "aria-label": `Call chains of ${this.side === "waiter" ? "blocked threads" : "the locks' holders"}`,
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
    const siblings = node?.parent ? [...node.parent.children.values()].sort((a, b) => b.weight - a.weight) : [node];
    let next = null;
    switch (event.key) {
    case "ArrowUp": next = node?.parent && drawn(node.parent); break;
    case "ArrowDown":
      next = node && [...node.children.values()].sort((a, b) => b.weight - a.weight).map(drawn).find(Boolean);
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
