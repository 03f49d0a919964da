// Sums of kinds of objects, nested by any order of aspects.

import {CLASSES} from "./heap_data.js";

function sumHeap(group, sums) {
  group.of = CLASSES.map((_, k) => {
    let objects = 0, bytes = 0;
    for (const i of group.cells) {
      objects += sums[k].objects[i];
      bytes += sums[k].bytes[i];
    }
    return {objects, bytes};
  });
  const [permanent, died, born, temporary] = group.of;
  group.bytes = permanent.bytes + born.bytes;
  group.objects = permanent.objects + born.objects;
  group.net = born.bytes - died.bytes;
  group.temporary = temporary.bytes;
  return group;
}

export function heapRoot(sums, cells) {
  return sumHeap({cells, key: -1, aspect: null, parent: null, path: ""}, sums);
}

export function heapText(group) {
  return group.aspect ? group.aspect.texts[group.key] : "all objects";
}

// The groups within one, by an aspect, the largest first; those in which nothing was are none.
export function splitHeap(group, aspect, sums, order) {
  const parts = new Map();
  for (const i of group.cells) {
    const key = aspect.keys[i];
    if (parts.has(key))
      parts.get(key).push(i);
    else
      parts.set(key, [i]);
  }
  return [...parts]
      .map(([key, cells]) => sumHeap({cells, key, aspect, parent: group, path: `${group.path}/${key}`}, sums))
      .filter(part => part.of.some(one => one.objects))
      .sort((a, b) => b[order] - a[order] || b.bytes - a.bytes || b.temporary - a.temporary || a.key - b.key);
}
