/* report/model/finding_model.h: what the call chains come to, in a sentence and in figures. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "analyze/groups/finding.h"
#include "report/model/report.h"

struct strbuf;

/* Whether the log has call chains, or reports attempts to have them. */
bool report_has_chains(const struct report_input *in);
/* 0 or -ENOMEM. */
int report_finding(const struct report_input *in, struct finding *ret);

/* Adds sentences without a line feed; nothing if nobody was blocked. 0 or -ENOMEM. */
int finding_text(const struct stacks *stacks, const struct finding *f, struct strbuf *o);
/* The same, of the moments that the holders' chains are of. */
int finding_sources_text(const struct finding *f, struct strbuf *o);

/* Adds waiter_methods, owner_methods, stack_sources and finding to a report's contention. 0 or
 * -ENOMEM. */
int finding_json(const struct report_input *in, json_t *contention);
