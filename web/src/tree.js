// The tree table of --by, as a treegrid: arrows go through rows, and open and close them.

import {chainPieces} from "./data.js";
import {bar, el, put} from "./dom.js";
import {baseOf, changeOf, lengthsOf, split, textOf, workOf} from "./groups.js";
import {QUANTILES} from "./lengths.js";
import {changeText, countText, perText, shareText, timeText} from "./units.js";

const SHOWN = 100, OPEN_MAX = 3000;

export class Tree {
  // onSort gets an order; onLook the rows that are open and the one that is selected, when somebody has changed them.
  constructor(data, body, head, onSelect, onSort, onLook) {
    this.data = data;
    this.body = body;
    this.head = head;
    this.onSelect = onSelect;
    this.onSort = onSort;
    this.onLook = onLook;
    this.open = new Set([""]);
    this.more = new Map(); // rows that are shown below a group
    this.selected = "";
    body.addEventListener("keydown", event => this.onKey(event));
    body.addEventListener("click", event => this.onClick(event));
  }

  // found: of a frame's text, whether it is searched for; null: none is.
  render(root, state, found) {
    this.root = root;
    this.state = state;
    this.found = found;
    this.children = new Map();
    this.drawHead();
    this.selected = state.row;
    if (state.open === "all") {
      this.openRows(true);
    } else {
      this.open = new Set(["", ...state.open]);
      for (let path = state.row; path; path = path.slice(0, path.lastIndexOf("/")))
        if (path !== state.row)
          this.open.add(path);
    }
    this.draw();
  }

  look(open) {
    this.onLook({row: this.selected, open: open ?? [...this.open].filter(path => path)});
  }

  childrenOf(group, depth) {
    if (depth >= this.state.by.length)
      return [];
    if (!this.children.has(group.path))
      this.children.set(group.path, split(group, this.data.byName[this.state.by[depth]], this.state.sort));
    return this.children.get(group.path);
  }

  drawHead() {
    const ranged = this.root.chosen.ranged;
    const column = (order, text, meaning) => el("th", {
      role: "columnheader", scope: "col", title: meaning,
      "aria-sort": this.state.sort === order ? "descending" : "none"},
      el("button", {type: "button", "data-order": order, onclick: () => this.onSort(order)}, text,
         this.state.sort === order ? " ▾" : ""));
    put(this.head,
        el("tr", {role: "row"}, el("th", {role: "columnheader", scope: "col"}, this.state.by.join(" › ")),
           column("work", "lost to work",
                  "Blocked time without idle turn-taking, in which threads only wait for new work"),
           this.root.chosen.base
               ? [el("th", {role: "columnheader", scope: "col", title: `${this.compared()} in ${
                     this.root.chosen.base.name}, ${perText(this.root.chosen.unit)}`},
                     `${this.root.chosen.base.name} ${this.root.chosen.unit}`),
                  column("change", `change ${this.root.chosen.unit}`,
                         `${this.compared()}, ${perText(this.root.chosen.unit)}, more or less than in ${
                         this.root.chosen.base.name}`)]
               : [],
           el("th", {role: "columnheader", scope: "col", title: "Of the time of the row above it"}, "of parent"),
           el("th", {role: "columnheader", scope: "col", title: "Of the time of all contentions that are shown"},
              "of all"),
           column("blocked", "blocked", "How long threads were blocked"),
           el("th", {
             role: "columnheader",
             scope: "col",
             title:
                 "The holder waits for new work, and the waiter wants to do the same. Inferred from both call chains"
           },
              "idle turns ~"),
           column("count", ranged ? "count (–)" : "count", "Contentions that began with this holder"),
           QUANTILES.map(([name, perMille]) => column(name, `p${perMille / 10}`,
              `Of 1,000 contentions that are counted here, ${perMille} took as long at most; off by 1/128 of it`)),
           column("max", ranged ? "longest (–)" : "longest",
                  "The longest contention; below owner_thread, the most of one that a holder is charged with")));
  }

  compared() {
    return this.state.sort === "blocked" ? "Blocked time" : "Time lost to work";
  }

  draw() {
    const rows = [];
    const add = (group, depth, at, of, parent) => {
      if (rows.length > OPEN_MAX)
        return;
      const children = depth < this.state.by.length && group.cells.length;
      rows.push(this.row(group, depth, at, of, parent, children));
      if (!children || !this.open.has(group.path))
        return;
      const all = this.childrenOf(group, depth), shown = this.more.get(group.path) ?? SHOWN;
      all.slice(0, shown).forEach((child, i) => add(child, depth + 1, i + 1, all.length, group));
      if (all.length > shown)
        rows.push(el("tr", {role: "row", "aria-level": depth + 2, "data-more": group.path, tabindex: "-1"},
                     el("td", {role: "gridcell", colspan: 14, class: `name level${Math.min(depth + 1, 9)}`},
                        `(${countText(all.length - shown)} more: Enter shows ${
                            countText(Math.min(SHOWN, all.length - shown))})`)));
    };
    add(this.root, 0, 1, 1, null);
    put(this.body, rows);
    const at = this.rowOf(this.selected) ?? this.body.rows[0];
    this.selected = at.dataset.path ?? "";
    at.tabIndex = 0;
    at.setAttribute("aria-selected", "true");
    this.onSelect(this.groupOf(this.selected));
  }

  row(group, depth, at, of, parent, children) {
    const open = this.open.has(group.path), work = workOf(group), ranged = group.chosen.ranged;
    const rank = g => this.state.sort === "blocked" ? g.blocked : workOf(g);
    const part = rank(group), whole = rank(this.root), above = parent ? rank(parent) : part;
    const about = ranged && group.idle ? "≈ " : "";
    const lengths = lengthsOf(group);
    return el(
        "tr", {
          role: "row",
          "aria-level": depth + 1,
          "aria-posinset": at,
          "aria-setsize": of,
          "data-path": group.path,
          "aria-expanded": children ? String(open) : null,
          tabindex: "-1",
          "aria-selected": "false"
        },
        el("td", {
          role: "gridcell",
          class: `name level${Math.min(depth, 9)}`,
          title: group.aspect ? `${group.aspect.name}: ${group.aspect.doc}` : null
        },
           el("span", {class: "twist", "aria-hidden": "true"}, children ? (open ? "▾" : "▸") : ""),
           el("span", {class: "text"}, this.name(group))),
        el("td", {role: "gridcell", class: "figure", title: `${countText(work)} ns`, "data-ns": work},
           bar(whole ? part / whole : 0), el("span", {class: "amount"}, about + timeText(work))),
        group.chosen.base ? this.changes(group) : [],
        el("td", {role: "gridcell", class: "figure"}, shareText(part, above)),
        el("td", {role: "gridcell", class: "figure"}, shareText(part, whole)),
        el("td",
           {role: "gridcell", class: "figure", title: `${countText(group.blocked)} ns`, "data-ns": group.blocked},
           timeText(group.blocked)),
        el("td", {role: "gridcell", class: "figure", "data-ns": group.idle},
           group.idle ? about + timeText(group.idle) : ""),
        el("td", {role: "gridcell", class: "figure", "data-count": group.count},
           ranged ? "–" : countText(group.count)),
        QUANTILES.map(([name]) => el("td", {role: "gridcell", class: "figure", "data-ns": lengths?.[name] ?? 0},
                                     ranged ? "–" : lengths ? timeText(lengths[name]) : "")),
        el("td", {role: "gridcell", class: "figure", "data-ns": group.max}, ranged ? "–" : timeText(group.max)));
  }

  // Of a chain, what is searched for is not folded.
  name(group) {
    const chain = group.aspect?.chains?.[group.key];
    if (chain === undefined || !this.found)
      return textOf(group);
    return chainPieces(this.data, chain, this.found).map(([text, is]) => is ? el("mark", {}, text) : text);
  }

  changes(group) {
    const order = this.state.sort, change = Math.round(changeOf(group, order)), base = baseOf(group, order);
    return [el("td", {role: "gridcell", class: "figure base", title: `${countText(base)} ns in all`, "data-ns": base},
               timeText(Math.round(base / group.chosen.basePer))),
            el("td", {role: "gridcell", class: `figure change ${change > 0 ? "more" : "less"}`, "data-ns": change},
               changeText(change))];
  }

  rowOf(path) {
    return [...this.body.rows].find(row => row.dataset.path === path);
  }

  groupOf(path) {
    let group = this.root;
    const keys = path.split("/").slice(1);
    keys.forEach((key, depth) => {
      group = group && this.childrenOf(group, depth).find(child => String(child.key) === key);
    });
    return group ?? this.root;
  }

  select(row, focus) {
    for (const other of this.body.querySelectorAll('[tabindex="0"]')) {
      other.tabIndex = -1;
      other.setAttribute("aria-selected", "false");
    }
    row.tabIndex = 0;
    row.setAttribute("aria-selected", "true");
    if (focus)
      row.focus();
    if (row.dataset.path !== undefined) {
      this.selected = row.dataset.path;
      this.onSelect(this.groupOf(this.selected));
      this.look(this.state.open === "all" ? "all" : undefined);
    }
  }

  toggle(path, open) {
    if (open)
      this.open.add(path);
    else
      this.open.delete(path);
    this.selected = path;
    this.draw();
    this.look();
    this.rowOf(path)?.focus();
  }

  showMore(path) {
    const shown = this.more.get(path) ?? SHOWN,
          next = this.childrenOf(this.groupOf(path), path.split("/").length - 1)[shown];
    this.more.set(path, shown + SHOWN);
    this.selected = next.path;
    this.draw();
    this.rowOf(next.path)?.focus();
  }

  // Everything, as far as there is room; or nothing but the first level.
  openAll(wanted) {
    this.openRows(wanted);
    this.draw();
    this.look(wanted ? "all" : undefined);
  }

  openRows(wanted) {
    this.open = new Set([""]);
    let rows = 0;
    const visit = (group, depth) => {
      if (!wanted || depth >= this.state.by.length || rows > OPEN_MAX)
        return;
      this.open.add(group.path);
      for (const child of this.childrenOf(group, depth).slice(0, SHOWN)) {
        rows++;
        visit(child, depth + 1);
      }
    };
    visit(this.root, 0);
  }

  // On paper nobody can ask for more.
  showAll() {
    this.more.set("", OPEN_MAX);
    this.draw();
  }

  // Other aspects have other rows.
  forget() {
    this.more = new Map();
  }

  onClick(event) {
    const row = event.target.closest("tr");
    if (!row)
      return;
    if (row.dataset.more !== undefined)
      this.showMore(row.dataset.more);
    else if (event.target.closest(".twist") && row.hasAttribute("aria-expanded"))
      this.toggle(row.dataset.path, row.getAttribute("aria-expanded") !== "true");
    else
      this.select(row, true);
  }

  onKey(event) {
    const row = event.target.closest("tr");
    if (!row || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const rows = [...this.body.rows], at = rows.indexOf(row), expanded = row.getAttribute("aria-expanded");
    const go = to => to && this.select(to, true);
    const path = row.dataset.path;
    switch (event.key) {
    case "ArrowDown": go(rows[at + 1]); break;
    case "ArrowUp": go(rows[at - 1]); break;
    case "Home": go(rows[0]); break;
    case "End": go(rows.at(-1)); break;
    case "PageDown": go(rows[Math.min(at + 15, rows.length - 1)]); break;
    case "PageUp": go(rows[Math.max(at - 15, 0)]); break;
    case "ArrowRight":
      if (expanded === "false")
        this.toggle(path, true);
      else if (expanded === "true")
        go(rows[at + 1]);
      break;
    case "ArrowLeft":
      if (expanded === "true")
        this.toggle(path, false);
      else if (path)
        go(this.rowOf(path.slice(0, path.lastIndexOf("/"))));
      break;
    case "Enter":
    case " ":
      if (row.dataset.more !== undefined)
        this.showMore(row.dataset.more);
      else if (expanded !== null)
        this.toggle(path, expanded !== "true");
      break;
    case "*":
      for (const one of rows.filter(r => r.getAttribute("aria-level") === row.getAttribute("aria-level") &&
                                        r.hasAttribute("aria-expanded")))
        this.open.add(one.dataset.path);
      this.draw();
      this.look();
      this.rowOf(path)?.focus();
      break;
    default:
      return;
    }
    event.preventDefault();
  }
}
