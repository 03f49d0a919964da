// The aspects of the tree, in their order: moved by drag, by buttons, and by Alt with an arrow.

import {el, put} from "./dom.js";

export class Chips {
  constructor(data, list, add, onChange) {
    this.data = data;
    this.list = list;
    this.add = add;
    this.onChange = onChange;
    this.dragged = -1;
    add.addEventListener("change", () => {
      if (add.value)
        this.change([...this.by, add.value], this.by.length, "add");
    });
  }

  render(by) {
    this.by = by;
    put(this.list, by.map((name, i) => this.chip(name, i)));
    put(this.add, el("option", {value: ""}, "add an aspect …"),
        this.data.order.filter(name => !by.includes(name))
            .map(name => el("option", {value: name}, `${name}: ${this.data.byName[name].doc}`)));
    this.add.disabled = by.length === this.data.order.length;
    if (this.focus !== undefined) {
      const chip = this.list.children[Math.min(this.focus, by.length - 1)];
      (chip?.querySelector(`[data-act="${this.act}"]:not([disabled])`) ??
       chip?.querySelector("button:not([disabled])") ?? this.add)
          .focus();
      this.focus = undefined;
    }
  }

  change(by, focus, act) {
    if (!by.length)
      return;
    this.focus = focus;
    this.act = act;
    this.onChange(by);
  }

  move(from, to) {
    if (to < 0 || to >= this.by.length || from === to)
      return;
    const by = this.by.filter((_, i) => i !== from);
    by.splice(to, 0, this.by[from]);
    this.change(by, to, to < from ? "left" : "right");
  }

  remove(i) {
    if (this.by.length > 1)
      this.change(this.by.filter((_, k) => k !== i), Math.max(0, i - 1), "remove");
  }

  chip(name, i) {
    const last = this.by.length - 1;
    const button = (act, label, text, off, onclick) =>
        el("button",
           {type: "button", "data-act": act, "aria-label": `${label} ${name}`, title: label, disabled: off, onclick},
           text);
    return el("li", {
      draggable: "true", "data-aspect": name, title: this.data.byName[name].doc,
      ondragstart: event => {
        this.dragged = i;
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", name);
      },
      ondragover: event => {
        if (this.dragged >= 0)
          event.preventDefault();
      },
      ondrop: event => {
        event.preventDefault();
        this.move(this.dragged, i);
      },
      ondragend: () => { this.dragged = -1; },
      onkeydown: event => {
        if (event.altKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
          event.preventDefault();
          this.move(i, i + (event.key === "ArrowLeft" ? -1 : 1));
        } else if (event.key === "Delete") {
          event.preventDefault();
          this.remove(i);
        }
      }},
      button("left", "move left:", "◂", !i, () => this.move(i, i - 1)),
      el("span", {}, name),
      button("right", "move right:", "▸", i === last, () => this.move(i, i + 1)),
      button("remove", "remove", "✕", !last, () => this.remove(i)));
  }
}
