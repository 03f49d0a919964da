/*
 * An application may load its library with marks (record/kernel/mark.c) long after the recording
 * has begun, and marks at once. The spans that begin before it is attached to are not seen. A look
 * costs a read of /proc/PID/maps, for which the kernel locks the target's mappings, so it is made
 * once in each window, and in between when VmLib of /proc/PID/status says that there is another
 * mapping to run: a number that is read without such a lock. Most often it need not be read,
 * either: while all mappings together are as large as they were, by /proc/PID/statm. The one took a
 * quarter of what the recorder of an idle JVM does (50 us with its open, 20 times a second); a
 * pread of the other takes 1 us (Linux 6.18). A library that takes the room of another one that
 * was unmapped at the same time is found by the next window's look.
 *
 * A target that maps and unmaps all the time is looked at for a fifth of the time at most.
 */
#include "record/session/recorder_internal.h"

#include <errno.h>

#include "base/text/units.h"
#include "jvm/target/process.h"
#include "record/kernel/bpf_session.h"
#include "record/session/notes.h"

#define MARKS_NS (40 * NS_PER_MS)
#define MARKS_REST 4 /* after a look, times as long as that took */

/* Since the last time. false: that is not known, too. */
static bool is_as_large(struct recorder *r)
{
	uint64_t pages;
	bool same;

	if (!r->statm)
		r->statm = 1 + process_open_statm(jvm_pid(r->j));
	if (!r->statm || process_pages(r->statm - 1, &pages))
		return false;
	same = pages == r->marks_pages;
	r->marks_pages = pages;
	return same;
}

void recorder_marks_look(struct recorder *r)
{
	uint64_t begin = clock_mono_ns(), end;

	/* Before the look: of a library that is loaded meanwhile the next pass sees a change. */
	if (process_code(jvm_pid(r->j), &r->marks_code_kb))
		r->marks_code_kb = 0;
	if (bpf_session_look_for_marks(r->p, notes_marks, r->w) == -EAGAIN)
		r->marks_code_kb = r->marks_pages = 0;
	end = clock_mono_ns();
	r->next_marks = end + MARKS_NS + MARKS_REST * (end - begin);
}

void recorder_marks_pass(struct recorder *r, uint64_t now)
{
	uint64_t kb;

	if (now < r->next_marks)
		return;
	r->next_marks = now + MARKS_NS;
	if (is_as_large(r))
		return;
	if (!process_code(jvm_pid(r->j), &kb) && kb != r->marks_code_kb)
		recorder_marks_look(r);
}
