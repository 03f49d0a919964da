#include "log/format/header.h"

#include <errno.h>
#include <math.h>
#include <msgpack.h>
#include <string.h>

#include "log/format/block.h"
#include "log/format/schema.h"
#include "log/format/text.h"
#include "log/format/unpack.h"

#define DEPTH_MAX 32
#define KEY_MAX 255

static bool is_own_key(const char *key)
{
	return !strcmp(key, "format") || !strcmp(key, "version") || !strcmp(key, "features");
}

static int pack_text(msgpack_packer *pk, const char *text, size_t length)
{
	if (!text_is_clean(text, length))
		return -EINVAL;
	return msgpack_pack_str_with_body(pk, text, length) ? -ENOMEM : 0;
}

static int pack_json(msgpack_packer *pk, json_t *json, unsigned depth);

/* The values of an object, without the keys that the writer sets itself at the top. */
static int pack_members(msgpack_packer *pk, json_t *object, unsigned depth)
{
	json_t *value;
	const char *key;
	int err;

	json_object_foreach (object, key, value) {
		if (depth == 0 && is_own_key(key))
			continue;
		if (strlen(key) > KEY_MAX)
			return -EINVAL;
		err = pack_text(pk, key, strlen(key));
		if (!err)
			err = pack_json(pk, value, depth + 1);
		if (err)
			return err;
	}
	return 0;
}

static int pack_array(msgpack_packer *pk, json_t *array, unsigned depth)
{
	json_t *value;
	size_t i;
	int err;

	if (msgpack_pack_array(pk, json_array_size(array)))
		return -ENOMEM;
	json_array_foreach (array, i, value) {
		err = pack_json(pk, value, depth + 1);
		if (err)
			return err;
	}
	return 0;
}

static int pack_json(msgpack_packer *pk, json_t *json, unsigned depth)
{
	if (depth >= DEPTH_MAX)
		return -EINVAL;
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		if (msgpack_pack_map(pk, json_object_size(json)))
			return -ENOMEM;
		return pack_members(pk, json, depth);
	case JSON_ARRAY:
		return pack_array(pk, json, depth);
	case JSON_STRING:
		return pack_text(pk, json_string_value(json), json_string_length(json));
	case JSON_INTEGER:
		return msgpack_pack_int64(pk, json_integer_value(json)) ? -ENOMEM : 0;
	case JSON_REAL:
		return msgpack_pack_double(pk, json_real_value(json)) ? -ENOMEM : 0;
	case JSON_TRUE:
		return msgpack_pack_true(pk) ? -ENOMEM : 0;
	case JSON_FALSE:
		return msgpack_pack_false(pk) ? -ENOMEM : 0;
	default:
		return msgpack_pack_nil(pk) ? -ENOMEM : 0;
	}
}

/* What this version knows beyond the first one. */
static const char *const known_features[] = {FEATURE_PACKED, FEATURE_RELATIVE, "lz4", "zstd"};

static int pack_features(msgpack_packer *pk, const char *const *features)
{
	size_t count = 0, i;
	int err = 0;

	while (features && features[count])
		count++;
	if (msgpack_pack_array(pk, count))
		return -ENOMEM;
	for (i = 0; i < count && !err; i++)
		err = pack_text(pk, features[i], strlen(features[i]));
	return err;
}

int header_pack(struct msgpack_sbuffer *buf, const json_t *header, const char *const *features)
{
	/* jansson's iterators take no const object, though they change nothing. */
	json_t *object = (json_t *)header;
	msgpack_packer pk;
	const char *key;
	json_t *value;
	size_t own = 0;

	if (!json_is_object(header))
		return -EINVAL;
	json_object_foreach (object, key, value)
		own += is_own_key(key);
	msgpack_packer_init(&pk, buf, msgpack_sbuffer_write);
	if (msgpack_pack_map(&pk, json_object_size(header) - own + 3) ||
	    pack_text(&pk, "format", 6) || pack_text(&pk, "spoor", 5) ||
	    pack_text(&pk, "version", 7) || msgpack_pack_int64(&pk, SCHEMA_VERSION) ||
	    pack_text(&pk, "features", 8) || pack_features(&pk, features))
		return -ENOMEM;
	return pack_members(&pk, object, 0);
}

static int unpack_json(struct unpack *u, unsigned depth, json_t **ret);

static int unpack_key(struct unpack *u, char key[KEY_MAX + 1])
{
	struct unpack_value value;

	if (unpack_value(u, &value) || value.type != UNPACK_STR || value.count > KEY_MAX ||
	    !text_is_clean(value.data, value.count))
		return -EBADMSG;
	memcpy(key, value.data, value.count);
	key[value.count] = '\0';
	return 0;
}

/* All of unpack_*: on failure the caller drops the half-built container. */
static int unpack_object(struct unpack *u, uint32_t count, unsigned depth, json_t *object)
{
	char key[KEY_MAX + 1];
	json_t *value;
	int err;

	while (count--) {
		err = unpack_key(u, key);
		if (!err)
			err = unpack_json(u, depth + 1, &value);
		if (err)
			return err;
		if (json_object_set_new(object, key, value))
			return -ENOMEM;
	}
	return 0;
}

static int unpack_elements(struct unpack *u, uint32_t count, unsigned depth, json_t *array)
{
	json_t *value;
	int err;

	while (count--) {
		err = unpack_json(u, depth + 1, &value);
		if (err)
			return err;
		if (json_array_append_new(array, value))
			return -ENOMEM;
	}
	return 0;
}

static json_t *json_from_uint(uint64_t u)
{
	return u > INT64_MAX ? json_real((double)u) : json_integer((json_int_t)u);
}

static int unpack_json(struct unpack *u, unsigned depth, json_t **ret)
{
	struct unpack_value v;
	json_t *json;
	int err = 0;

	if (depth >= DEPTH_MAX || unpack_value(u, &v) || v.type == UNPACK_BIN ||
	    v.type == UNPACK_EXT || (v.type == UNPACK_REAL && !isfinite(v.d)) ||
	    (v.type == UNPACK_STR && !text_is_clean(v.data, v.count)))
		return -EBADMSG;
	json = v.type == UNPACK_MAP     ? json_object()
	       : v.type == UNPACK_ARRAY ? json_array()
	       : v.type == UNPACK_STR   ? json_stringn_nocheck(v.data, v.count)
	       : v.type == UNPACK_REAL  ? json_real(v.d)
	       : v.type == UNPACK_BOOL  ? json_boolean(v.u)
	       : v.type == UNPACK_NIL   ? json_null()
	       : v.type == UNPACK_INT   ? json_integer(v.i)
					: json_from_uint(v.u);
	if (!json)
		return -ENOMEM;
	if (v.type == UNPACK_MAP)
		err = unpack_object(u, v.count, depth, json);
	else if (v.type == UNPACK_ARRAY)
		err = unpack_elements(u, v.count, depth, json);
	if (err)
		json_decref(json);
	else
		*ret = json;
	return err;
}

static bool is_known_feature(const json_t *feature)
{
	const char *name = json_string_value(feature);
	unsigned i;

	for (i = 0; name && i < sizeof(known_features) / sizeof(*known_features); i++)
		if (!strcmp(name, known_features[i]))
			return true;
	return false;
}

static int check(const json_t *header)
{
	const json_t *features = json_object_get(header, "features");
	const json_t *version = json_object_get(header, "version");
	const json_t *format = json_object_get(header, "format");
	size_t i;

	if (!json_is_string(format) || strcmp(json_string_value(format), "spoor") ||
	    !json_is_integer(version) || json_integer_value(version) < 1)
		return -EBADMSG;
	if (json_integer_value(version) > SCHEMA_VERSION)
		return -ENOTSUP;
	for (i = 0; i < json_array_size(features); i++)
		if (!is_known_feature(json_array_get(features, i)))
			return -ENOTSUP;
	return 0;
}

int header_unpack(const uint8_t *payload, uint32_t length, json_t **ret)
{
	struct unpack u = {payload, payload + length};
	json_t *json = NULL;
	int err;

	err = unpack_json(&u, 0, &json);
	if (!err && u.at != u.end)
		err = -EBADMSG;
	if (!err)
		err = check(json);
	if (err)
		json_decref(json);
	else
		*ret = json;
	return err;
}
