/*
 * pprof's profile.proto, as https://github.com/google/pprof/blob/main/proto/profile.proto numbers
 * its fields: a message is a row of fields, each with its number and type before it, numbers as
 * varints, texts and messages with their length. A frame of the tree is a function and a location
 * of the same id; ids begin at 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/registry/analysis.h"
#include "base/text/strbuf.h"
#include "log/format/header_fields.h"
#include "report/flame/profile_flame.h"
#include "report/model/report.h"
#include "report/model/sections/profile_report.h"
#include "session/session_log.h"

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
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample_field { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2 };
enum location_field { LOCATION_ID = 1, LOCATION_LINE = 4 };
enum line_field { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILENAME = 4 };

enum { TYPE_VARINT = 0, TYPE_BYTES = 2 };

/* The first texts of the table; those of frame n are TEXT_COUNT + 2 * n, its name, and its file. */
enum { TEXT_EMPTY, TEXT_SAMPLES, TEXT_EACH, TEXT_TIME, TEXT_NS, TEXT_COUNT };

struct pprof {
	const struct profile_tree *tree;
	FILE *out;
	struct strbuf message, part; /* one of the profile's, and one within that */
	uint32_t *chain;
};

static void put_varint(struct strbuf *b, uint64_t n)
{
	char bytes[10];
	size_t count = 0;

	for (; n > 0x7f; n >>= 7)
		bytes[count++] = (char)(n | 0x80);
	bytes[count++] = (char)n;
	strbuf_put(b, bytes, count);
}

static void put_number(struct strbuf *b, unsigned field, uint64_t n)
{
	put_varint(b, field << 3 | TYPE_VARINT);
	put_varint(b, n);
}

static void put_bytes(struct strbuf *b, unsigned field, const char *bytes, size_t count)
{
	put_varint(b, field << 3 | TYPE_BYTES);
	put_varint(b, count);
	strbuf_put(b, bytes, count);
}

/* What is in `part`, which is empty again after that. */
static void put_part(struct pprof *p, unsigned field)
{
	put_bytes(&p->message, field, p->part.text, p->part.used);
	strbuf_clear(&p->part);
}

/* Fields of the profile itself. */
static int write_out(struct pprof *p)
{
	int err = p->message.err ? p->message.err : p->part.err;

	if (!err)
		fwrite(p->message.text, 1, p->message.used, p->out);
	strbuf_clear(&p->message);
	return err;
}

static void put_type(struct pprof *p, unsigned field, unsigned what, unsigned unit)
{
	put_number(&p->part, VALUE_TYPE_TYPE, what);
	put_number(&p->part, VALUE_TYPE_UNIT, unit);
	put_part(p, field);
}

static int put_head(struct pprof *p, const struct profile_input *in)
{
	const json_t *header = in->in->log->header;
	struct analysis_facts facts;
	uint64_t start_ns = header_number(header, NULL, "start_mono_ns"), from_ns;

	analysis_facts(in->in->log->analysis, &facts);
	from_ns = facts.first_ns > start_ns ? facts.first_ns - start_ns : 0;
	put_type(p, PROFILE_SAMPLE_TYPE, TEXT_SAMPLES, TEXT_EACH);
	put_type(p, PROFILE_SAMPLE_TYPE, TEXT_TIME, TEXT_NS);
	put_number(&p->message, PROFILE_TIME_NANOS,
		   header_number(header, NULL, "start_wall_ns") + from_ns);
	put_number(&p->message, PROFILE_DURATION_NANOS, facts.last_ns - facts.first_ns);
	put_type(p, PROFILE_PERIOD_TYPE, TEXT_TIME, TEXT_NS);
	put_number(&p->message, PROFILE_PERIOD, profile_period_ns(in));
	put_number(&p->message, PROFILE_DEFAULT_SAMPLE_TYPE, TEXT_TIME);
	return write_out(p);
}

static int put_sample(struct pprof *p, uint32_t node)
{
	const struct profile_node *n = &p->tree->nodes[node];
	uint32_t count = profile_chain_of(p->tree, node, p->chain);

	for (uint32_t i = 0; i < count; i++)
		put_number(&p->part, SAMPLE_LOCATION_ID, (uint64_t)p->chain[i] + 1);
	put_number(&p->part, SAMPLE_VALUE, n->self.samples);
	put_number(&p->part, SAMPLE_VALUE, n->self.ns);
	put_part(p, PROFILE_SAMPLE);
	return write_out(p);
}

static int put_frame(struct pprof *p, uint32_t frame)
{
	struct strbuf line = {0};

	put_number(&line, LINE_FUNCTION_ID, (uint64_t)frame + 1);
	put_number(&line, LINE_LINE, p->tree->frames[frame].line);
	put_number(&p->part, LOCATION_ID, (uint64_t)frame + 1);
	put_bytes(&p->part, LOCATION_LINE, line.text, line.used);
	if (line.err)
		p->part.err = line.err;
	strbuf_free(&line);
	put_part(p, PROFILE_LOCATION);
	put_number(&p->part, FUNCTION_ID, (uint64_t)frame + 1);
	put_number(&p->part, FUNCTION_NAME, TEXT_COUNT + 2 * (uint64_t)frame);
	put_number(&p->part, FUNCTION_FILENAME, TEXT_COUNT + 2 * (uint64_t)frame + 1);
	put_part(p, PROFILE_FUNCTION);
	return write_out(p);
}

static void put_text(struct pprof *p, const char *text)
{
	put_bytes(&p->message, PROFILE_STRING_TABLE, text, strlen(text));
}

static int put_all(struct pprof *p, const struct profile_input *in)
{
	const struct profile_tree *t = p->tree;
	int err = put_head(p, in);

	for (uint32_t i = profile_tree_next(t, 0, true); i && !err;
	     i = profile_tree_next(t, i, true))
		if (t->nodes[i].self.ns || t->nodes[i].self.samples)
			err = put_sample(p, i);
	for (uint32_t i = 0; i < t->frame_map.count && !err; i++)
		err = put_frame(p, i);
	put_text(p, "");
	put_text(p, "samples");
	put_text(p, "count");
	put_text(p, profile_only_running(in) ? "cpu" : "time");
	put_text(p, "nanoseconds");
	for (uint32_t i = 0; i < t->frame_map.count && !err; i++) {
		put_text(p, t->frames[i].name);
		put_text(p, t->frames[i].file);
		err = write_out(p);
	}
	return err ? err : write_out(p);
}

int profile_pprof(const struct profile_input *in, FILE *out)
{
	struct profile_tree t;
	struct pprof p = {.tree = &t, .out = out};
	int err = profile_tree_make(in, &t);

	if (!err) {
		p.chain = profile_chain_new(&t);
		err = p.chain ? put_all(&p, in) : -ENOMEM;
	}
	free(p.chain);
	strbuf_free(&p.message);
	strbuf_free(&p.part);
	profile_tree_free(&t);
	return err;
}
