/*
 * An application may load its library with marks (record/kernel/mark.c) long after the recording
 * has begun, and marks at once. The spans that begin before it is attached to are not seen. A look
 * costs a read of /proc/PID/maps, for which the kernel locks the target's mappings, so it is made
 * once in each window, and in between when VmLib of /proc/PID/status says that there is another
 * mapping to run: a number that is read without such a lock, in 20 us (Linux 6.18).
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

void recorder_marks_look(struct recorder *r)
{
	uint64_t begin = clock_mono_ns(), end;

	/* Before the look: of a library that is loaded meanwhile the next pass sees a change. */
	if (process_code(jvm_pid(r->j), &r->marks_code_kb))
		r->marks_code_kb = 0;
	if (bpf_session_look_for_marks(r->p, notes_marks, r->w) == -EAGAIN)
		r->marks_code_kb = 0;
	end = clock_mono_ns();
	r->next_marks = end + MARKS_NS + MARKS_REST * (end - begin);
}

void recorder_marks_pass(struct recorder *r, uint64_t now)
{
	uint64_t kb;

	if (now < r->next_marks)
		return;
	r->next_marks = now + MARKS_NS;
	if (!process_code(jvm_pid(r->j), &kb) && kb != r->marks_code_kb)
		recorder_marks_look(r);
}
