/* log/format/header.h: a log's header, between JSON in memory and msgpack in the file. */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct msgpack_sbuffer;

/*
 * Appends header as a msgpack map, with this version's own "format", "version" and "features" in
 * front; features ends with NULL, or is NULL for none. -EINVAL: no object, nested too deep, or text
 * with a NUL in it. -ENOMEM.
 */
int header_pack(struct msgpack_sbuffer *buf, const json_t *header, const char *const *features);

/*
 * The caller owns *ret. -EBADMSG: no such map. -ENOTSUP: of a newer version, or with a feature that
 * this version does not know. -ENOMEM.
 */
int header_unpack(const uint8_t *payload, uint32_t length, json_t **ret);
