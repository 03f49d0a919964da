// The map of CPU samples: a column for each second (of long logs, minute or hour), a row for each part of it; the
// stronger the colour, the more samples. Any stretch of time from one box to another can be picked.

import {el, put} from "./dom.js";
import {countText, durationText} from "./units.js";

const BOX = 5;
const MOVES = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]};

export class SamplesMap {
  // onPick gets slots from one to another, or null.
  constructor(profile, begin, onPick) {
    this.course = profile.course;
    this.begin = begin;
    this.onPick = onPick;
    this.at = 0;
    this.from = null;
    this.rows = Math.round(this.course.column_ns / this.course.slot_ns);
    this.counts = new Map();
    this.wanted = null;
  }

  // Samples by slot, of the threads that are wanted.
  count(wanted) {
    const c = this.course;
    this.counts = new Map();
    this.last = 0;
    for (let k = 0; k < c.entry_row.length; k++) {
      const row = c.entry_row[k], slot = c.row_slot[row];
      this.last = Math.max(this.last, slot);
      if (wanted(c.row_thread[row]))
        this.counts.set(slot, (this.counts.get(slot) ?? 0) + c.entry_samples[k]);
    }
    this.columns = Math.floor(this.last / this.rows) + 1;
    this.top = Math.max(1, ...this.counts.values());
  }

  secondsOf(slot) {
    return (this.begin + slot * this.course.slot_ns) / 1e9;
  }

  render(node, picked, wanted) {
    this.picked = picked;
    this.count(wanted);
    const canvas = el("canvas", {
      role: "application",
      tabindex: "0",
      id: "samples-map",
      "aria-label": `Map of CPU samples: ${this.columns} columns of ${durationText(this.course.column_ns)}, each of ${
          this.rows} boxes of ${durationText(this.course.slot_ns)}. Arrows go from box to box, Shift with an arrow ` +
        "picks from where it began, Enter picks one box, Escape picks nothing.",
      "aria-describedby": "samples-at"
    });
    canvas.width = this.columns * BOX;
    canvas.height = this.rows * BOX;
    // A long log is as wide as the page; of a short one the boxes are wide enough for a pointer.
    canvas.addEventListener("pointerdown", event => this.down(event, canvas));
    canvas.addEventListener("pointermove", event => this.moved(event, canvas));
    canvas.addEventListener("keydown", event => this.onKey(event));
    const had = this.canvas && this.canvas === document.activeElement;
    this.canvas = canvas;
    this.text = el("span", {id: "samples-at", role: "status"});
    const framed = el("div", {}, canvas,
        el("p", {class: "axis", "aria-hidden": "true"}, el("span", {}, `${this.secondsOf(0).toFixed(2)} s`),
           el("span", {}, `${this.secondsOf(this.last + 1).toFixed(2)} s`)));
    // A log of many seconds is as wide as the page; of a short one the boxes are wide enough for a pointer.
    framed.style.width = `min(100%, ${Math.max(140, this.columns * 24)}px)`;
    put(node, framed,
        el("p", {class: "dim"}, `A column is ${durationText(this.course.column_ns)}, a box ${
            durationText(this.course.slot_ns)} of it, from above; the strongest colour has `,
           `${countText(this.top)} samples.`),
        el("p", {},
           el("button", {type: "button", id: "slots-none", disabled: !picked, onclick: () => this.onPick(null)},
              "nothing picked"),
           " ", this.text));
    this.draw(picked);
    this.say(this.at);
    if (had)
      canvas.focus();
  }

  draw(picked) {
    const draw = this.canvas.getContext("2d"), style = getComputedStyle(this.canvas);
    draw.fillStyle = style.getPropertyValue("--soft");
    draw.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const box = slot => [Math.floor(slot / this.rows) * BOX, slot % this.rows * BOX, BOX, BOX];
    draw.fillStyle = style.getPropertyValue("--accent");
    for (const [slot, count] of this.counts) {
      draw.globalAlpha = 0.12 + 0.88 * count / this.top;
      draw.fillRect(...box(slot));
    }
    draw.globalAlpha = 0.35;
    draw.fillStyle = style.getPropertyValue("--pause");
    if (picked)
      for (let slot = picked[0]; slot <= Math.min(picked[1], this.columns * this.rows); slot++)
        draw.fillRect(...box(slot));
    draw.globalAlpha = 1;
    draw.strokeStyle = style.getPropertyValue("--text");
    draw.strokeRect(box(this.at)[0] + .5, box(this.at)[1] + .5, BOX - 1, BOX - 1);
  }

  say(slot) {
    const picked = this.picked;
    put(this.text, `${this.secondsOf(slot).toFixed(3)} s: ${countText(this.counts.get(slot) ?? 0)} samples. `,
        picked ? `Picked: ${this.secondsOf(picked[0]).toFixed(3)} s to ${this.secondsOf(picked[1] + 1).toFixed(3)} s.`
               : "Drag from one box to another to pick the time between them.");
  }

  slotAt(event, canvas) {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / box.width * this.columns),
          row = Math.floor((event.clientY - box.top) / box.height * this.rows);
    return Math.max(0, Math.min(this.columns - 1, column)) * this.rows + Math.max(0, Math.min(this.rows - 1, row));
  }

  down(event, canvas) {
    const from = this.slotAt(event, canvas);
    this.dragged = from;
    canvas.setPointerCapture(event.pointerId);
    canvas.addEventListener("pointerup", e => {
      const to = this.slotAt(e, canvas);
      this.dragged = undefined;
      this.at = to;
      this.onPick([Math.min(from, to), Math.max(from, to)]);
    }, {once: true});
  }

  moved(event, canvas) {
    const slot = this.slotAt(event, canvas), from = this.dragged;
    this.say(slot);
    if (from !== undefined)
      this.draw([Math.min(from, slot), Math.max(from, slot)]);
  }

  onKey(event) {
    const way = MOVES[event.key], last = this.columns * this.rows - 1;
    if (way) {
      const to = Math.max(0, Math.min(last, this.at + way[0] * this.rows + way[1]));
      this.from = event.shiftKey ? this.from ?? this.at : null;
      this.at = to;
      if (event.shiftKey)
        this.onPick([Math.min(this.from, to), Math.max(this.from, to)]);
      else {
        this.draw(this.picked);
        this.say(to);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.onPick([this.at, this.at]);
    } else if (event.key === "Escape") {
      this.onPick(null);
    } else {
      return;
    }
    event.preventDefault();
  }
}
