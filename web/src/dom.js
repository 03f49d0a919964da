// Elements and their text. A text is only ever a text node: nothing in the page is made of markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false)
      continue;
    if (name.startsWith("on"))
      node.addEventListener(name.slice(2), value);
    else
      node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined && child !== false)
      node.append(typeof child === "object" ? child : document.createTextNode(String(child)));
  return node;
}

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function put(node, ...children) {
  node.replaceChildren(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

export function find(id) {
  return document.getElementById(id);
}

// A bar behind a figure; its length is a property of the element, as style attributes are not allowed.
export function bar(share, kind) {
  const inner = el("span", {class: `fill ${kind ?? ""}`});
  inner.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return el("span", {class: "bar", "aria-hidden": "true"}, inner);
}
