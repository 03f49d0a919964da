/* base/http_request.h: the head of an HTTP request, of whoever can connect. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define HTTP_REQUEST_MAX 8192 /* bytes of a head, its empty line included */
#define HTTP_PATH_MAX 64

struct http_request {
	bool head;                /* HEAD, not GET */
	char path[HTTP_PATH_MAX]; /* without a query; "": it is longer than this */
	bool open_metrics;        /* the sender takes application/openmetrics-text */
};

/* 1: *ret is set. 0: there is more to come. Else the status of an answer: 400, 405, 431 or 505; of
 * more than HTTP_REQUEST_MAX bytes without an end, 431. bytes end where they end, without a NUL. */
int http_request_parse(const char *bytes, size_t count, struct http_request *ret);
