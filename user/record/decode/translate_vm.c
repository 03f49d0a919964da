/* Events of collections, safepoints and VM operations. */
#include "record/decode/translate_vm.h"

#include <linux/types.h>
#include <string.h>

#include "bpf/wire/wire_gc.h"
#include "bpf/wire/wire_kinds.h"
#include "jvm-hooks/probes.h"
#include "log/format/event.h"
#include "record/decode/gc_names.h"
#include "record/identity/ids.h"

_Static_assert(SPOOR_PHASE_PAUSE == (int)GC_PHASE_KIND_PAUSE &&
		       SPOOR_PHASE_WORKER == (int)GC_PHASE_KIND_WORKER,
	       "gc_phase_kind of events.json follows jvm-hooks/probes.h");

static void plain(struct translate_vm *v, const void *record)
{
	const struct wire_head *r = record;
	struct event e;

	translate_event_begin(v->to, &e, translate_event_of(r->kind), r);
	translate_event_put(v->to, &e);
}

static uint32_t operation_now(const struct translate_vm *v)
{
	return v->operation_depth ? v->operation[v->operation_depth - 1] : 0;
}

static void gc_begin(struct translate_vm *v, const void *record)
{
	const struct wire_head *r = record;
	struct event e;

	v->gc_kind = v->operation_depth ? v->operation_kind : GC_KIND_UNKNOWN;
	v->gc_collector = 0;
	translate_event_begin(v->to, &e, EVENT_GC_BEGIN, r);
	e.v[GC_BEGIN_OPERATION].u = operation_now(v);
	translate_event_put(v->to, &e);
}

static void gc_end(struct translate_vm *v, const void *record)
{
	const struct wire_head *r = record;
	struct event e;

	translate_event_begin(v->to, &e, EVENT_GC_END, r);
	e.v[GC_END_OPERATION].u = operation_now(v);
	e.v[GC_END_KIND].u = v->gc_kind;
	e.v[GC_END_COLLECTOR].u = v->gc_collector;
	translate_event_put(v->to, &e);
}

static void gc_pool(struct translate_vm *v, const void *record)
{
	const struct wire_pool *r = record;
	char manager[WIRE_NAME_MAX] = "";
	uint32_t kind;
	struct event e;

	translate_event_begin(v->to, &e, EVENT_GC_POOL, &r->head);
	e.v[GC_POOL_MOMENT].u =
		r->head.flags & WIRE_POOL_AFTER ? GC_MOMENT_AFTER : GC_MOMENT_BEFORE;
	e.v[GC_POOL_MANAGER].u =
		ids_string(v->to->ids, r->manager, r->manager_length, r->head.time_ns);
	e.v[GC_POOL_POOL].u = ids_string(v->to->ids, r->pool, r->pool_length, r->head.time_ns);
	e.v[GC_POOL_USED_BYTES].u = r->used;
	e.v[GC_POOL_COMMITTED_BYTES].u = r->committed;
	e.v[GC_POOL_MAX_BYTES].u = r->max;
	translate_event_put(v->to, &e);

	memcpy(manager, r->manager,
	       r->manager_length < WIRE_NAME_MAX ? r->manager_length : WIRE_NAME_MAX - 1);
	kind = gc_kind_of_manager(manager);
	/* A young collection that fails goes on as a full one in the same pause: the full one names
	 * it. */
	if (!v->gc_collector || kind == GC_KIND_FULL) {
		v->gc_collector = (uint32_t)e.v[GC_POOL_MANAGER].u;
		if (kind != GC_KIND_UNKNOWN)
			v->gc_kind = kind;
	}
}

static void vmop(struct translate_vm *v, const void *record)
{
	const struct wire_vmop *r = record;
	struct event e;
	uint32_t name;

	_Static_assert((int)VM_OPERATION_BEGIN_MODE == (int)VM_OPERATION_REQUEST_MODE &&
			       (int)VM_OPERATION_BEGIN_MODE == (int)VM_OPERATION_END_MODE,
		       "alike");
	name = ids_string(v->to->ids, r->name, r->name_length, r->head.time_ns);
	translate_event_begin(v->to, &e, translate_event_of(r->head.kind), &r->head);
	e.v[VM_OPERATION_BEGIN_OPERATION].u = name;
	e.v[VM_OPERATION_BEGIN_MODE].u = r->mode;
	translate_event_put(v->to, &e);
	if (r->head.kind == WIRE_VMOP_BEGIN) {
		if (v->operation_depth < sizeof(v->operation) / sizeof(*v->operation))
			v->operation[v->operation_depth++] = name;
		v->operation_kind = gc_kind_of_operation(r->name, r->name_length);
	} else if (r->head.kind == WIRE_VMOP_END && v->operation_depth) {
		v->operation_depth--;
	}
}

/* --- of a patched JVM ---------------------------------------------------------------------- */

static void collection(struct translate_to *to, const struct wire_collection *r)
{
	struct event e;

	translate_event_begin(to, &e,
			      r->head.kind == WIRE_COLLECTION_BEGIN ? EVENT_COLLECTION_BEGIN
								    : EVENT_COLLECTION_END,
			      &r->head);
	e.v[COLLECTION_BEGIN_GC].u = r->gc;
	if (r->head.kind == WIRE_COLLECTION_BEGIN) {
		e.v[COLLECTION_BEGIN_COLLECTOR].u =
			ids_string(to->ids, r->collector, r->collector_length, r->head.time_ns);
		e.v[COLLECTION_BEGIN_CAUSE].u =
			ids_string(to->ids, r->cause, r->cause_length, r->head.time_ns);
	}
	translate_event_put(to, &e);
}

static void phase(struct translate_to *to, const struct wire_phase *r)
{
	struct event e;

	_Static_assert((int)GC_PHASE_BEGIN_KIND == (int)GC_PHASE_END_KIND &&
			       (int)COLLECTION_BEGIN_GC == (int)COLLECTION_END_GC,
		       "alike");
	translate_event_begin(to, &e,
			      r->head.kind == WIRE_PHASE_BEGIN ? EVENT_GC_PHASE_BEGIN
							       : EVENT_GC_PHASE_END,
			      &r->head);
	e.v[GC_PHASE_BEGIN_GC].u = r->gc;
	e.v[GC_PHASE_BEGIN_PHASE].u = ids_string(to->ids, r->name, r->name_length, r->head.time_ns);
	e.v[GC_PHASE_BEGIN_LEVEL].u = r->level;
	e.v[GC_PHASE_BEGIN_KIND].u = r->kind < GC_PHASE_KIND_COUNT ? r->kind : GC_PHASE_KIND_PAUSE;
	translate_event_put(to, &e);
}

static void safepoint(struct translate_to *to, const struct wire_safepoint *r)
{
	struct event e;

	translate_event_begin(to, &e, EVENT_SAFEPOINT, &r->head);
	e.v[SAFEPOINT_OPERATION].u = ids_string(to->ids, r->name, r->name_length, r->head.time_ns);
	e.v[SAFEPOINT_REQUESTER].u = ids_thread(to->ids, r->requester, r->head.time_ns);
	e.v[SAFEPOINT_REACH_NS].u = r->reach_ns;
	e.v[SAFEPOINT_CLEANUP_NS].u = r->cleanup_ns;
	e.v[SAFEPOINT_OPERATION_NS].u = r->operation_ns;
	e.v[SAFEPOINT_THREADS].u = r->threads;
	e.v[SAFEPOINT_RUNNING].u = r->running;
	translate_event_put(to, &e);
}

void translate_vm_record(struct translate_vm *v, const void *record)
{
	switch (((const struct wire_head *)record)->kind) {
	case WIRE_GC_BEGIN:
		gc_begin(v, record);
		break;
	case WIRE_GC_END:
		gc_end(v, record);
		break;
	case WIRE_GC_POOL:
		gc_pool(v, record);
		break;
	case WIRE_VMOP_REQUEST:
	case WIRE_VMOP_BEGIN:
	case WIRE_VMOP_END:
		vmop(v, record);
		break;
	case WIRE_COLLECTION_BEGIN:
	case WIRE_COLLECTION_END:
		collection(v->to, record);
		break;
	case WIRE_PHASE_BEGIN:
	case WIRE_PHASE_END:
		phase(v->to, record);
		break;
	case WIRE_SAFEPOINT:
		safepoint(v->to, record);
		break;
	default:
		plain(v, record);
	}
}
