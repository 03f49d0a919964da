/* ship/http_post.h: one POST by HTTP or HTTPS, with libcurl, which is loaded when it is needed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ship/send_settings.h"

#define HTTP_REPLY_MAX 65536

struct http_poster;

struct http_reply {
	long status;      /* 0: nothing has been answered */
	bool again;       /* with no status: it may pass, as when a connection is refused */
	bool cut;         /* the body is longer than what is here of it */
	uint64_t after_s; /* Retry-After; 0: it is not said */
	char type[64];    /* of the body, as the server calls it */
	uint8_t body[HTTP_REPLY_MAX];
	size_t count;
	char why[SEND_WHY_MAX]; /* with no status */
};

/* Loads the library. s is lent until the poster is closed. -ENOENT: it is not there; -EINVAL: it
 * does not take a setting; why says more. -ENOMEM. */
int http_poster_open(const struct send_settings *s, struct http_poster **ret,
		     char why[SEND_WHY_MAX]);
void http_poster_close(struct http_poster *p);

/* Sends a body, compressed by gzip or plain, and waits for the answer. No redirection is followed:
 * headers are for the one URL. */
void http_post(struct http_poster *p, const uint8_t *body, size_t count, struct http_reply *ret);
