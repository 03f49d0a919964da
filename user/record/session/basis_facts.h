/* record/session/basis_facts.h: what a recording can vouch for, in words. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "record/kernel/probe_table.h"

/* For the header of the log; schemas/event-log.md has the keys. NULL: no memory. owners:
 * those of monitors are resolved. */
json_t *facts_describe(enum probe_set probes, bool owners);
