/* log/state/open_events.h: the events that are open: begins without their ends, and last
 * samples. */
#pragma once

#include <stddef.h>

struct event;
struct open_events;

struct open_events *open_events_new(void); /* NULL: no memory */
void open_events_free(struct open_events *o);

/* Any event; what it opens, closes or keeps, schemas/events.json says. 0 or -ENOMEM. */
int open_events_add(struct open_events *o, const struct event *e);
/* All of them, outer before inner. 0 or what on said, which ends it. */
int open_events_each(const struct open_events *o, int (*on)(void *ctx, const struct event *e),
		     void *ctx);
