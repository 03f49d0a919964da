// Sums of CPU samples, as user/report/model/sections/commands/profile_tree.c makes them: of the whole log, and of slots
// of time as 'spoor profile --from --to' has them. user/analyze/profile/profile_course.c has the columns.

const FAILED = 1, INFERRED = 4, UNIT_NS = 1024, MODE_NS = 0, BEGINS = 1, RESULTS = 2, NO_ENTRY = 4294967295;

function squareOf(ns) {
  const units = Math.floor(ns / UNIT_NS);
  return units * units;
}

// Per cell ns, samples and squares; per thread what it ran and how its samples were; of the rows for which test holds.
export function sampleSums(profile, test) {
  const c = profile.course, cells = profile.running.cell_node.length, threads = profile.threads.length;
  const sums = {
    ns: new Float64Array(cells),
    samples: new Float64Array(cells),
    squares: new Float64Array(cells),
    threads: Array.from({length: threads}, () => ({run: 0, ns: 0, samples: 0, kinds: [{}, {}, {}]}))
  };
  const inside = new Uint8Array(c.row_thread.length), ran = new Float64Array(threads), seen = new Uint8Array(threads);
  for (let i = 0; i < inside.length; i++) {
    if (!test(c.row_window[i], c.row_slot[i]))
      continue;
    const thread = c.row_thread[i], first = c.row_first_entry[i];
    inside[i] = 1;
    sums.threads[thread].run += c.row_run_ns[i];
    // A thread's first sample stands for what the thread ran since the range's begin.
    if (first !== NO_ENTRY && !seen[thread]) {
      const was = c.row_first_weight[i], is = ran[thread] + c.row_first_run_ns[i], cell = c.entry_cell[first];
      const modes = sums.threads[thread].kinds[MODE_NS];
      seen[thread] = 1;
      sums.ns[cell] += is - was;
      sums.squares[cell] += squareOf(is) - squareOf(was);
      sums.threads[thread].ns += is - was;
      modes[c.row_first_mode[i]] = (modes[c.row_first_mode[i]] ?? 0) + is - was;
    }
    ran[thread] += c.row_run_ns[i];
  }
  for (let k = 0; k < c.entry_row.length; k++) {
    if (!inside[c.entry_row[k]])
      continue;
    const cell = c.entry_cell[k], thread = sums.threads[c.row_thread[c.entry_row[k]]];
    sums.ns[cell] += c.entry_ns[k];
    sums.samples[cell] += c.entry_samples[k];
    sums.squares[cell] += c.entry_squares[k];
    thread.ns += c.entry_ns[k];
    thread.samples += c.entry_samples[k];
  }
  for (let k = 0; k < c.sum_row.length; k++) {
    if (!inside[c.sum_row[k]])
      continue;
    const kinds = sums.threads[c.row_thread[c.sum_row[k]]].kinds[c.sum_kind[k]];
    kinds[c.sum_which[k]] = (kinds[c.sum_which[k]] ?? 0) + c.sum_n[k];
  }
  return sums;
}

// All samples, of a log whose course of time is not in the page: threads are not told apart.
function wholeSums(profile) {
  const r = profile.running;
  return {ns: r.cell_ns, samples: r.cell_samples, squares: r.cell_squares, threads: null};
}

// What is said above the views: of the threads for which wanted holds. test null: of the whole log.
export function headOf(profile, test, wanted) {
  const sums = profile.course ? sampleSums(profile, test ?? (() => true)) : wholeSums(profile), r = profile.running;
  const head = {run: 0, ns: 0, samples: 0, squares: 0, failed: 0, inferred: 0, kinds: [{}, {}, {}], sums};
  const complete = ["complete", "in_heap"].map(name => profile.results.indexOf(name));
  const java = profile.threads.map((_, i) => complete.some(which => sums.threads?.[i].kinds[RESULTS][which]));
  profile.threads.forEach((_, i) => {
    const thread = sums.threads?.[i];
    if (!thread || !wanted(i))
      return;
    head.run += thread.run;
    thread.kinds.forEach((counts, kind) => {
      if (kind === MODE_NS || java[i])
        for (const [which, n] of Object.entries(counts))
          head.kinds[kind][which] = (head.kinds[kind][which] ?? 0) + n;
    });
  });
  if (!sums.threads)
    head.run = profile.run_ns;
  for (let i = 0; i < r.cell_node.length; i++) {
    if (!wanted(r.cell_thread[i]))
      continue;
    head.ns += sums.ns[i];
    head.samples += sums.samples[i];
    head.squares += sums.squares[i];
    head.failed += r.cell_flags[i] & FAILED && java[r.cell_thread[i]] ? sums.samples[i] : 0;
    head.inferred += r.cell_flags[i] & INFERRED ? sums.samples[i] : 0;
  }
  const units = head.ns / UNIT_NS;
  head.effective = head.squares ? units * units / head.squares : 0;
  return head;
}

// One standard deviation of a share of all samples.
export function deviationOf(head, ns) {
  const share = head.ns ? ns / head.ns : 0;
  return head.effective ? Math.sqrt(share * (1 - share) / head.effective) : 0;
}

// Text of the counts of a kind: by name, the largest first.
export function countsOf(head, kind, names) {
  return Object.entries(head.kinds[kind]).filter(([, n]) => n).map(([which, n]) => [names[which], n])
    .sort((a, b) => b[1] - a[1]);
}

export const KIND = {modes: MODE_NS, begins: BEGINS, results: RESULTS};
