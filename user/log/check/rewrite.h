/* log/check/rewrite.h: other texts in the place of a log's own; its events stay as they are. */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct body;
struct msgpack_sbuffer;

/* A text of an event, not NUL-terminated. */
struct rewrite_text {
	uint64_t event;  /* its id */
	uint64_t thread; /* its thread's number */
	unsigned field;  /* by its index in the schema */
	uint64_t number; /* the event's first field, if that is one: what the event defines */
	const char *text;
	size_t length;
	const char *first; /* the event's first text, which may be this one */
	size_t first_length;
};

struct log_rewrite {
	void *ctx;
	/* *ret, *ret_length: what takes its place, lent until the next call. 0 or -ENOMEM. */
	int (*text)(void *ctx, const struct rewrite_text *t, const char **ret, size_t *ret_length);
	/* Changes the header. 0 or -ENOMEM. */
	int (*header)(void *ctx, json_t *header);
};

/* The body of a block, from begin to end, after what out has already. -EBADMSG, -ENOMEM. */
int rewrite_body(const struct log_rewrite *r, const uint8_t *begin, const uint8_t *end,
		 struct msgpack_sbuffer *out);
