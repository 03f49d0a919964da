/* ship/otlp_answer.h: what a server says to profiles that it was sent, as a message of protobuf. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTLP_TEXT_MAX 512

struct otlp_answer {
	uint64_t rejected; /* profiles */
	char text[OTLP_TEXT_MAX]; /* what the server says to that; "": nothing. It may be cut */
};

/* ExportProfilesServiceResponse. False: it is none, and *ret is all zero. */
bool otlp_answer_read(const uint8_t *bytes, size_t count, struct otlp_answer *ret);
/* The message of a google.rpc.Status, by which a server says why it refused. False: it is none. */
bool otlp_status_read(const uint8_t *bytes, size_t count, char ret[OTLP_TEXT_MAX]);
