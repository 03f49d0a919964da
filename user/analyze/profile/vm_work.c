/*
 * A patched JVM reports each phase, also of its workers' own; a stock one of the VM thread's
 * operations, and of the pauses of collections.
 */
#include "analyze/profile/vm_work.h"

#include <string.h>

#include "log/format/event.h"

static void operation_begin(struct vm_work *w, const struct event *e)
{
	if (w->depth == VM_WORK_DEPTH_MAX)
		memmove(w->operations, w->operations + 1, --w->depth * sizeof(*w->operations));
	w->operations[w->depth++] =
		(struct vm_work_operation){e->thread, e->v[VM_OPERATION_BEGIN_OPERATION].u};
}

/* Of the thread, with all that it has begun since. */
static void operation_end(struct vm_work *w, const struct event *e)
{
	for (uint32_t i = w->depth; i-- > 0;) {
		if (w->operations[i].thread != e->thread)
			continue;
		memmove(w->operations + i, w->operations + i + 1,
			(--w->depth - i) * sizeof(*w->operations));
		return;
	}
}

int vm_work_add(struct vm_work *w, const struct event *e)
{
	switch (e->id) {
	case EVENT_VM_OPERATION_BEGIN:
		operation_begin(w, e);
		return 0;
	case EVENT_VM_OPERATION_END:
		operation_end(w, e);
		return 0;
	case EVENT_GC_BEGIN:
		w->pause = true;
		w->pause_operation = e->v[GC_BEGIN_OPERATION].u;
		return 0;
	case EVENT_GC_END:
		w->pause = false;
		return 0;
	default:
		return phases_add(&w->phases, e);
	}
}

void vm_work_hole(struct vm_work *w)
{
	phases_hole(&w->phases);
	w->depth = 0;
	w->pause = false;
}

enum vm_work_kind vm_work_of(const struct vm_work *w, uint64_t thread, bool gc_worker,
			     uint64_t *ret_id)
{
	uint32_t row = phases_now(&w->phases, thread, gc_worker);

	if (row != INDEX_NONE) {
		*ret_id = row;
		return VM_WORK_PHASE;
	}
	for (uint32_t i = w->depth; i-- > 0;)
		if (w->operations[i].thread == thread) {
			*ret_id = w->operations[i].operation;
			return VM_WORK_OPERATION;
		}
	if (!gc_worker || !w->pause)
		return VM_WORK_NONE;
	*ret_id = w->pause_operation;
	return VM_WORK_OPERATION;
}

bool vm_work_is_gc_worker(const char *thread_name)
{
	/* share/gc: G1 and Parallel (also of JDK 11), Shenandoah, ZGC. */
	static const char *const names[] = {"GC Thread#", "ParGC Thread#", "Shenandoah GC Thread",
					    "ZWorker"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(thread_name, names[i], strlen(names[i])))
			return true;
	return false;
}

void vm_work_free(struct vm_work *w)
{
	phases_free(&w->phases);
	*w = (struct vm_work){.depth = 0};
}
