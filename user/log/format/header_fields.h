/* log/format/header_fields.h: members of a log's header, which is JSON (schemas/event-log.md). */
#pragma once

#include <jansson.h>
#include <stdint.h>

/* Members of the header; "" and 0 where it has none. */
const char *header_text(const json_t *header, const char *object, const char *key);
uint64_t header_number(const json_t *header, const char *object, const char *key);
/* Begin of the time that the log covers: that of the recording, or of a later part; 0: unknown. */
uint64_t header_begin_ns(const json_t *header);
/* A number among the JVM's flags; 0: unknown. */
uint64_t header_flag(const json_t *header, const char *flag);
/* "G1", "Serial", ...; "" when the flags do not say. */
const char *header_collector(const json_t *header);
