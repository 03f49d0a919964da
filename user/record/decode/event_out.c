#include "record/decode/event_out.h"

#include <linux/types.h>
#include <string.h>

#include "bpf/wire/wire.h"
#include "log/write/writer.h"
#include "record/decode/ids.h"

void translate_event_begin(struct translate_to *to, struct event *e, uint16_t id,
			   const struct wire_head *h)
{
	memset(e, 0, sizeof(*e));
	e->id = id;
	e->time_ns = h->time_ns;
	e->thread = ids_thread(to->ids, h->tid, h->time_ns);
	to->homeless = h->tid && !e->thread;
}

void translate_event_put(struct translate_to *to, const struct event *e)
{
	if (!to->homeless)
		log_write(to->w, e);
	else if (e->id <= SCHEMA_ID_MAX)
		to->lost[e->id]++;
}

void translate_counters(struct event *e, unsigned first, unsigned throttled,
			const struct wire_counters *c)
{
	e->v[first].u = c->cpu_ns;
	e->v[first + 1].u = c->stolen_ns;
	e->v[first + 2].u = c->runnable_ns;
	e->v[throttled].u = c->throttled_ns;
}
