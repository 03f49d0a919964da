/*
 * pprof's profile.proto, as https://github.com/google/pprof/blob/main/proto/profile.proto numbers
 * its fields. A frame is a function and a location of the same id; ids begin at 1. A text is
 * written where it is first needed: its index in the table is its number among the texts of the
 * file.
 */
#include <stdlib.h>

#include "report/protobuf/profile_format.h"
#include "report/protobuf/proto.h"
#include "report/protobuf/string_table.h"

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label_field { LABEL_KEY = 1, LABEL_STR = 2 };
enum location_field { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILENAME = 4 };

struct pprof {
	FILE *out;
	struct string_table strings;
	struct strbuf texts, message, part, inner; /* of the profile's; one; within that; in it */
	uint64_t frames;
	int err;
};

static uint32_t text(struct pprof *p, const char *text)
{
	uint32_t index = 0, known = p->strings.map.count;
	int err = string_table_add(&p->strings, text, &index);

	if (err)
		p->err = err;
	else if (index == known)
		proto_text(&p->texts, PROFILE_STRING_TABLE, p->strings.rows[index]);
	return index;
}

static int write_out(struct pprof *p)
{
	int err = proto_write(&p->texts, p->out);

	p->err = p->err ?: err;
	err = proto_write(&p->message, p->out);
	p->err = p->err ?: err;
	return p->err;
}

static void put_unit(struct pprof *p, unsigned field, const struct profile_unit *unit)
{
	proto_number(&p->part, VALUE_TYPE_TYPE, text(p, unit->type));
	proto_number(&p->part, VALUE_TYPE_UNIT, text(p, unit->unit));
	proto_part(&p->message, field, &p->part);
}

static void pprof_free(void *profile)
{
	struct pprof *p = profile;

	if (!p)
		return;
	string_table_free(&p->strings);
	strbuf_free(&p->texts);
	strbuf_free(&p->message);
	strbuf_free(&p->part);
	strbuf_free(&p->inner);
	free(p);
}

static void *pprof_open(const struct profile_head *head, FILE *out)
{
	struct pprof *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->out = out;
	text(p, "");
	for (int i = 0; i < PROFILE_VALUES; i++)
		put_unit(p, PROFILE_SAMPLE_TYPE, &head->values[i]);
	proto_number(&p->message, PROFILE_TIME_NANOS, head->time_ns);
	proto_number(&p->message, PROFILE_DURATION_NANOS, head->duration_ns);
	put_unit(p, PROFILE_PERIOD_TYPE, &head->period_unit);
	proto_number(&p->message, PROFILE_PERIOD, head->period);
	if (head->what)
		proto_number(&p->message, PROFILE_COMMENT, text(p, head->what));
	proto_number(&p->message, PROFILE_DEFAULT_SAMPLE_TYPE,
		     text(p, head->values[PROFILE_VALUES - 1].type));
	if (!write_out(p))
		return p;
	pprof_free(p);
	return NULL;
}

static int pprof_sample(void *profile, const struct profile_sample *s)
{
	struct pprof *p = profile;

	for (uint32_t i = 0; i < s->count; i++)
		proto_number(&p->part, SAMPLE_LOCATION_ID, (uint64_t)s->frames[i] + 1);
	for (int i = 0; i < PROFILE_VALUES; i++)
		proto_number(&p->part, SAMPLE_VALUE, s->values[i]);
	for (unsigned i = 0; i < s->label_count; i++) {
		proto_number(&p->inner, LABEL_KEY, text(p, s->labels[i].key));
		proto_number(&p->inner, LABEL_STR, text(p, s->labels[i].text));
		proto_part(&p->part, SAMPLE_LABEL, &p->inner);
	}
	proto_part(&p->message, PROFILE_SAMPLE, &p->part);
	return write_out(p);
}

static int pprof_frame(void *profile, const struct profile_frame_text *f)
{
	struct pprof *p = profile;
	uint64_t id = ++p->frames;

	proto_number(&p->inner, LINE_FUNCTION_ID, id);
	proto_number(&p->inner, LINE_LINE, f->line);
	proto_number(&p->part, LOCATION_ID, id);
	proto_part(&p->part, LOCATION_LINE, &p->inner);
	proto_part(&p->message, PROFILE_LOCATION, &p->part);
	proto_number(&p->part, FUNCTION_ID, id);
	proto_number(&p->part, FUNCTION_NAME, text(p, f->name));
	proto_number(&p->part, FUNCTION_FILENAME, text(p, f->file));
	proto_part(&p->message, PROFILE_FUNCTION, &p->part);
	return write_out(p);
}

static int pprof_end(void *profile)
{
	return write_out(profile);
}

const struct profile_format profile_format_pprof = {pprof_open, pprof_sample, pprof_frame,
						    pprof_end, pprof_free};
