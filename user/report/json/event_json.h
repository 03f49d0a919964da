/* report/json/event_json.h: an event as one line of JSON, with its fields by name. */
#pragma once

#include <stdio.h>

struct event;
struct log_names;

struct event_json {
	const struct log_names *names; /* what is put in the place of numbers; NULL: nothing */
	unsigned frames;               /* of each call chain, the innermost, at most */
};

/* With the newline. The error flag of out says the rest. */
void event_json_print(const struct event_json *how, const struct event *e, FILE *out);
