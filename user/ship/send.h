/* ship/send.h: sends a message, and tries again where that may help. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ship/http_post.h"

/* What it is sent by, and what it waits by: replaced by tests. */
struct send_ways {
	void (*post)(void *ctx, const uint8_t *body, size_t count, struct http_reply *ret);
	void (*pause)(void *ctx, uint64_t ms);
	/* Before a pause: what happened, the attempt's number of so many. */
	void (*again)(void *ctx, const char *why, uint64_t ms, unsigned attempt, unsigned of);
	void *ctx;
	uint64_t random; /* of the first pause: not all senders come back at once */
};

struct send_result {
	uint64_t rejected; /* profiles that the server did not take, although it took the message */
	char said[SEND_WHY_MAX]; /* what it says to those that it took; "": nothing */
};

/*
 * 0: it has been taken, or a part of it. Else a negative errno, and why says what happened: -EPERM:
 * the server has refused it, -ETIMEDOUT: it could not be reached, or was too busy, all along; -EIO:
 * it could not be reached, and trying again would not help; -EPROTO: its answer makes no sense;
 * -ENOMEM.
 */
int send_message(const struct send_ways *w, const uint8_t *body, size_t count,
		 struct send_result *ret, char why[SEND_WHY_MAX]);

/* As gzip has it; *ret is to be freed. 0 or -ENOMEM. */
int send_compress(const uint8_t *bytes, size_t count, uint8_t **ret, size_t *ret_count);
