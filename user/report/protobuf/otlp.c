/*
 * OTLP profiles, version 1.10 of opentelemetry-proto (the "public alpha", package v1development):
 * https://github.com/open-telemetry/opentelemetry-proto/tree/main/opentelemetry/proto/profiles
 * numbers the fields; 1.9 had Sample.values elsewhere. A profile has one type of value, so that one
 * with two of them is two profiles, which share one dictionary: of each table the first entry is
 * empty, and index 0 of it is nothing. The dictionary comes after the profiles, so that samples can
 * be written as they come; they are kept until the end, as a message begins with its length.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/tables/keymap.h"
#include "report/protobuf/profile_format.h"
#include "report/protobuf/proto.h"
#include "report/protobuf/string_table.h"

enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY = 2 };
enum { RESOURCE_RESOURCE = 1, RESOURCE_SCOPE_PROFILES = 2 };
enum { SCOPE_SCOPE = 1, SCOPE_PROFILES = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum { ATTRIBUTES = 1 }; /* of a resource */
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { ANY_STRING = 1, ANY_INT = 3 };

enum dictionary_field {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
};

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
};

enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES = 2, SAMPLE_VALUES = 4 };
enum { STACK_LOCATIONS = 1 };
enum { LOCATION_LINES = 3 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_NAME = 1, FUNCTION_FILE = 3 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE = 2 }; /* KeyValueAndUnit */

struct otlp {
	FILE *out;
	struct string_table strings;
	struct keymap attributes;                  /* by key and text, as strings' indexes */
	struct strbuf profiles[PROFILE_VALUES];    /* messages Profile */
	struct strbuf dictionary, resource, scope; /* their messages */
	struct strbuf message, part, inner, words; /* in these; in that; in it */
	uint64_t stacks, frames;
	int err;
};

static uint32_t text(struct otlp *o, const char *text)
{
	uint32_t index = 0;
	int err = string_table_add(&o->strings, text, &index);

	o->err = o->err ? o->err : err;
	return index;
}

static void put_unit(struct otlp *o, struct strbuf *m, unsigned field,
		     const struct profile_unit *unit)
{
	proto_number(&o->part, VALUE_TYPE_TYPE, text(o, unit->type));
	proto_number(&o->part, VALUE_TYPE_UNIT, text(o, unit->unit));
	proto_part(m, field, &o->part);
}

static void put_any(struct otlp *o, struct strbuf *m, unsigned field, const char *text)
{
	proto_text(&o->inner, ANY_STRING, text);
	proto_part(m, field, &o->inner);
}

static void put_resource_text(struct otlp *o, const char *key, const char *text)
{
	proto_text(&o->part, KEY_VALUE_KEY, key);
	put_any(o, &o->part, KEY_VALUE_VALUE, text);
	proto_part(&o->message, ATTRIBUTES, &o->part);
}

static void put_resource(struct otlp *o, const struct profile_head *head)
{
	put_resource_text(o, "service.name",
			  head->process && *head->process ? head->process : "unknown_service");
	proto_text(&o->part, KEY_VALUE_KEY, "process.pid");
	proto_number(&o->inner, ANY_INT, head->pid);
	proto_part(&o->part, KEY_VALUE_VALUE, &o->inner);
	proto_part(&o->message, ATTRIBUTES, &o->part);
	if (head->what)
		put_resource_text(o, "spoor.profile", head->what);
	proto_part(&o->resource, RESOURCE_RESOURCE, &o->message);
}

static void put_scope(struct otlp *o, const struct profile_head *head)
{
	proto_text(&o->part, SCOPE_NAME, "spoor");
	proto_text(&o->part, SCOPE_VERSION, head->spoor ? head->spoor : "");
	proto_part(&o->scope, SCOPE_SCOPE, &o->part);
}

static void otlp_free(void *profile)
{
	struct otlp *o = profile;

	if (!o)
		return;
	string_table_free(&o->strings);
	keymap_free(&o->attributes);
	for (int i = 0; i < PROFILE_VALUES; i++)
		strbuf_free(&o->profiles[i]);
	strbuf_free(&o->dictionary);
	strbuf_free(&o->resource);
	strbuf_free(&o->scope);
	strbuf_free(&o->message);
	strbuf_free(&o->part);
	strbuf_free(&o->inner);
	strbuf_free(&o->words);
	free(o);
}

/* The first entry of each table is nothing. */
static void put_nothing(struct otlp *o)
{
	static const unsigned tables[] = {DICTIONARY_MAPPING,   DICTIONARY_LOCATION,
					  DICTIONARY_FUNCTION,  DICTIONARY_LINK,
					  DICTIONARY_ATTRIBUTE, DICTIONARY_STACK};
	uint32_t index;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		proto_part(&o->dictionary, tables[i], &o->part);
	text(o, "");
	if (!o->err)
		o->err = keymap_add(&o->attributes, (struct keymap_key){.a = 0}, &index);
}

static void *otlp_open(const struct profile_head *head, FILE *out)
{
	struct otlp *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->out = out;
	put_nothing(o);
	put_resource(o, head);
	put_scope(o, head);
	for (int i = 0; i < PROFILE_VALUES; i++) {
		struct strbuf *m = &o->profiles[i];

		put_unit(o, m, PROFILE_SAMPLE_TYPE, &head->values[i]);
		proto_fixed64(m, PROFILE_TIME, head->time_ns);
		proto_number(m, PROFILE_DURATION, head->duration_ns);
		put_unit(o, m, PROFILE_PERIOD_TYPE, &head->period_unit);
		proto_number(m, PROFILE_PERIOD, head->period);
	}
	if (!o->err)
		return o;
	otlp_free(o);
	return NULL;
}

/* Its index among the attributes, of which each is there once. */
static uint32_t attribute(struct otlp *o, const struct profile_label *label)
{
	uint32_t key = text(o, label->key), value = text(o, label->text), index = 0;
	uint32_t known = o->attributes.count;

	if (!o->err)
		o->err = keymap_add(&o->attributes, (struct keymap_key){.a = key, .b = value},
				    &index);
	if (o->err || index < known)
		return index;
	proto_number(&o->part, ATTRIBUTE_KEY, key);
	put_any(o, &o->part, ATTRIBUTE_VALUE, label->text);
	proto_part(&o->dictionary, DICTIONARY_ATTRIBUTE, &o->part);
	return index;
}

static int otlp_error(const struct otlp *o)
{
	return o->err ? o->err : o->dictionary.err;
}

/* Frame 0 is location 1. */
static int otlp_sample(void *profile, const struct profile_sample *s)
{
	struct otlp *o = profile;
	uint64_t stack = ++o->stacks;

	for (uint32_t i = 0; i < s->count; i++)
		proto_packed(&o->inner, s->frames[i] + 1ull);
	proto_part(&o->part, STACK_LOCATIONS, &o->inner);
	proto_part(&o->dictionary, DICTIONARY_STACK, &o->part);
	for (int i = 0; i < PROFILE_VALUES; i++) {
		proto_number(&o->message, SAMPLE_STACK, stack);
		for (unsigned k = 0; k < s->label_count; k++) {
			uint32_t index = attribute(o, &s->labels[k]);

			proto_packed(&o->words, index);
		}
		proto_part(&o->message, SAMPLE_ATTRIBUTES, &o->words);
		proto_packed(&o->inner, s->values[i]);
		proto_part(&o->message, SAMPLE_VALUES, &o->inner);
		proto_part(&o->profiles[i], PROFILE_SAMPLES, &o->message);
		o->err = o->err ? o->err : o->profiles[i].err;
	}
	return otlp_error(o);
}

static int otlp_frame(void *profile, const struct profile_frame_text *f)
{
	struct otlp *o = profile;
	uint64_t function = ++o->frames;

	proto_number(&o->inner, LINE_FUNCTION, function);
	proto_number(&o->inner, LINE_LINE, f->line);
	proto_part(&o->part, LOCATION_LINES, &o->inner);
	proto_part(&o->dictionary, DICTIONARY_LOCATION, &o->part);
	proto_number(&o->part, FUNCTION_NAME, text(o, f->name));
	proto_number(&o->part, FUNCTION_FILE, text(o, f->file));
	proto_part(&o->dictionary, DICTIONARY_FUNCTION, &o->part);
	return otlp_error(o);
}

static int otlp_end(void *profile)
{
	struct otlp *o = profile;
	int err;

	for (uint32_t i = 0; i < o->strings.map.count; i++)
		proto_text(&o->dictionary, DICTIONARY_STRING, o->strings.rows[i]);
	for (int i = 0; i < PROFILE_VALUES; i++)
		proto_part(&o->scope, SCOPE_PROFILES, &o->profiles[i]);
	proto_part(&o->resource, RESOURCE_SCOPE_PROFILES, &o->scope);
	proto_part(&o->message, DATA_RESOURCE_PROFILES, &o->resource);
	proto_part(&o->message, DATA_DICTIONARY, &o->dictionary);
	err = proto_write(&o->message, o->out);
	return o->err ? o->err : err;
}

const struct profile_format profile_format_otlp = {otlp_open, otlp_sample, otlp_frame, otlp_end,
						   otlp_free};
