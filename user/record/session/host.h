/* record/session/host.h: the machine that is recorded on, for the log's header. */
#pragma once

#include <jansson.h>

/* The object "host" of schemas/event-log.md; a new reference. NULL: no memory. */
json_t *host_describe(void);
/* The kernel's boot id, 36 characters, or "" where it cannot be read. */
void host_boot_id(char ret[40]);
