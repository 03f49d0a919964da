#include "report/text/commands/verify_text.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/units.h"
#include "log/format/codec.h"
#include "log/format/text.h"
#include "report/model/label.h"

static const char *const kinds[BLOCK_KIND_COUNT] = {"other", "header", "events", "packed",
						    "index", "end",    "objects"};
static const char *const numbers[CHECK_NUMBER_COUNT] = {"threads", "classes", "locks",
							"strings", "methods", "stacks"};

bool verify_is_sound(const struct verify_input *in)
{
	return !in->check->damage && !(in->strict && in->check->doubts);
}

static uint64_t blocks_of(const struct log_check *c, int kind)
{
	return kind ? c->blocks_of[kind] : c->blocks_other;
}

static const char *text_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_string(value) ? json_string_value(value) : NULL;
}

static void print_features(const struct log_check *c, FILE *out)
{
	const json_t *features = json_object_get(c->header, "features"), *feature;
	char text[LABEL_MAX];
	size_t i;

	json_array_foreach (features, i, feature)
		if (json_is_string(feature))
			print_text(out, "%s %s", i ? "," : "; features",
				   label_clean(json_string_value(feature), text));
	fputc('\n', out);
}

static void print_header(const struct log_check *c, FILE *out)
{
	const json_t *host = json_object_get(c->header, "host");
	const json_t *jvm = json_object_get(c->header, "jvm");
	const json_t *repaired = json_object_get(c->header, "repaired");
	const json_t *part = json_object_get(c->header, "part");
	char text[LABEL_MAX];

	if (!c->header)
		return;
	print_text(out, "  %-10s version %" JSON_INTEGER_FORMAT, "format",
		   json_integer_value(json_object_get(c->header, "version")));
	if (text_of(c->header, "spoor"))
		print_text(out, ", by spoor %s", label_clean(text_of(c->header, "spoor"), text));
	print_features(c, out);
	if (text_of(host, "name"))
		print_text(out, "  %-10s %s\n", "host", label_clean(text_of(host, "name"), text));
	if (text_of(jvm, "command"))
		print_text(out, "  %-10s pid %" JSON_INTEGER_FORMAT ": %s\n", "JVM",
			   json_integer_value(json_object_get(jvm, "pid")),
			   label_clean(text_of(jvm, "command"), text));
	if (text_of(part, "recording"))
		print_text(out, "  %-10s %" JSON_INTEGER_FORMAT " of recording %s\n", "part",
			   json_integer_value(json_object_get(part, "number")),
			   label_clean(text_of(part, "recording"), text));
	if (repaired)
		print_text(out, "  %-10s made of a damaged log by spoor repair\n", "repaired");
}

/* ns in UTC; empty: the header does not say. */
static void wall_text(const struct log_check *c, uint64_t mono_ns, char buf[48])
{
	const json_t *mono = json_object_get(c->header, "start_mono_ns");
	const json_t *wall = json_object_get(c->header, "start_wall_ns");
	uint64_t ns =
		(uint64_t)json_integer_value(wall) + mono_ns - (uint64_t)json_integer_value(mono);
	time_t second = (time_t)(ns / NS_PER_S);
	struct tm tm;

	*buf = '\0';
	if (!json_is_integer(mono) || !json_is_integer(wall) || ns > INT64_MAX)
		return;
	gmtime_r(&second, &tm);
	strftime(buf, 48, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void print_time(const struct log_check *c, FILE *out)
{
	char from[48], to[48], length[UNITS_TEXT_MAX];

	if (!c->events)
		return;
	wall_text(c, c->first_ns, from);
	wall_text(c, c->last_ns, to);
	duration_format(c->last_ns - c->first_ns, length);
	if (*from && *to)
		print_text(out, "  %-10s %s, %s to %s\n", "time", length, from, to);
	else
		print_text(out, "  %-10s %s\n", "time", length);
}

static void print_blocks(const struct log_check *c, FILE *out)
{
	char size[UNITS_TEXT_MAX], raw[UNITS_TEXT_MAX], count[FORMAT_MAX], share[FORMAT_MAX];
	const char *sep = ": ";

	print_text(out, "  %-10s %s bytes", "size", count_format(c->bytes, count));
	print_text(out, c->bytes < 1024 ? "\n" : ", %s\n", size_format(c->bytes, size));
	print_text(out, "  %-10s %s", "blocks", count_format(c->blocks, count));
	for (int i = 1; i <= BLOCK_KIND_COUNT; i++) {
		int kind = i % BLOCK_KIND_COUNT;

		if (!blocks_of(c, kind))
			continue;
		print_text(out, "%s%s %s", sep, count_format(blocks_of(c, kind), count),
			   kinds[kind]);
		sep = ", ";
	}
	fputc('\n', out);
	for (int i = 0; i < BLOCK_CODEC_COUNT; i++)
		if (c->codec_blocks[i])
			print_text(out, "  %-10s %s packed blocks, %s of %s (%s)\n",
				   codec_name((enum block_codec)i),
				   count_format(c->codec_blocks[i], count),
				   size_format(c->codec_bytes[i], size),
				   size_format(c->codec_raw[i], raw),
				   share_format(c->codec_bytes[i], c->codec_raw[i], share));
	if (c->blocks_sync)
		print_text(out, "  %-10s %s of the packed blocks, with what was open then\n",
			   "sync", count_format(c->blocks_sync, count));
}

static bool is_compressed(const struct log_check *c)
{
	return c->codec_blocks[BLOCK_CODEC_LZ4] || c->codec_blocks[BLOCK_CODEC_ZSTD];
}

static void print_kind(const struct log_check *c, const struct event_desc *d, FILE *out)
{
	double count = (double)c->events_of[d->id];
	char text[FORMAT_MAX];

	print_text(out, "    %-26s %12s %9.1f B each", d->name,
		   count_format(c->events_of[d->id], text), (double)c->bytes_of[d->id] / count);
	if (is_compressed(c))
		print_text(out, ", %.1f B compressed", (double)c->stored_of[d->id] / count);
	fputc('\n', out);
}

static void print_events(const struct log_check *c, FILE *out)
{
	unsigned count;
	const struct event_desc *events = schema_events(&count);
	char text[FORMAT_MAX];

	print_text(out, "  %-10s %s", "events", count_format(c->events, text));
	if (c->events)
		print_text(out, ", %.1f B each", (double)c->bytes / (double)c->events);
	fputc('\n', out);
	for (unsigned i = 0; i < count; i++)
		if (c->events_of[events[i].id])
			print_kind(c, &events[i], out);
	if (c->events_unknown)
		print_text(out, "    %-26s %12s\n", "(of kinds not known here)",
			   count_format(c->events_unknown, text));
}

static void print_numbers(const struct log_check *c, FILE *out)
{
	char text[FORMAT_MAX], most[UNITS_TEXT_MAX];
	const char *sep = "";

	print_text(out, "  %-10s ", "defined");
	for (int i = 0; i < CHECK_NUMBER_COUNT; i++) {
		print_text(out, "%s%s %s", sep, count_format(c->numbers[i].defined, text),
			   numbers[i]);
		sep = ", ";
	}
	fputc('\n', out);
	if (c->counters_back)
		print_text(out, "  %-10s %s times a counter was less than before, by %s at most\n",
			   "counters", count_format(c->counters_back, text),
			   duration_format(c->counters_back_most, most));
}

static void print_findings(const struct verify_input *in, FILE *out)
{
	uint64_t all = in->check->damage + in->check->doubts;

	for (unsigned i = 0; i < in->finding_count; i++) {
		const struct check_finding *f = &in->findings[i];

		print_text(out, "  %s at %" PRIu64, f->weight == CHECK_DAMAGE ? "damage" : "doubt",
			   f->offset);
		if (f->in_block)
			print_text(out, ", block %" PRIu32, f->sequence);
		print_text(out, ": %s\n", f->text);
	}
	if (all > in->finding_count)
		print_text(out, "  and %" PRIu64 " findings more\n", all - in->finding_count);
}

static void print_lost(const struct log_check *c, FILE *out)
{
	char blocks[FORMAT_MAX], size[UNITS_TEXT_MAX], events[FORMAT_MAX];

	if (!c->damage)
		return;
	print_text(out, "  %-10s %s damaged and %s missing blocks, %s that are none", "lost",
		   count_format(c->blocks_damaged, blocks), count_format(c->blocks_missing, events),
		   size_format(c->bytes_skipped, size));
	if (c->lost_known)
		print_text(out, "; by the index, at least %s events",
			   count_format(c->lost_events, events));
	fputc('\n', out);
}

void verify_text(const struct verify_input *in, FILE *out)
{
	const struct log_check *c = in->check;

	print_text(out, "%s: %s\n", in->path,
		   c->damage             ? "damaged"
		   : !c->doubts          ? "sound"
		   : verify_is_sound(in) ? "sound, with doubts"
					 : "doubtful");
	print_findings(in, out);
	print_lost(c, out);
	print_header(c, out);
	print_time(c, out);
	print_blocks(c, out);
	print_events(c, out);
	print_numbers(c, out);
	print_text(out, "  %-10s %s%s\n", "end", c->ended ? "the recorder's" : "none",
		   c->closed ? ", and the file's" : "");
}

static json_t *blocks_json(const struct log_check *c)
{
	json_t *json = json_object(), *codecs = json_object();

	for (int i = 0; i < BLOCK_KIND_COUNT; i++)
		json_put(&json, kinds[i], json_integer((json_int_t)blocks_of(c, i)));
	for (int i = 0; i < BLOCK_CODEC_COUNT; i++)
		json_put(&codecs, codec_name((enum block_codec)i),
			 json_pack("{sI, sI, sI}", "blocks", (json_int_t)c->codec_blocks[i],
				   "bytes", (json_int_t)c->codec_bytes[i], "raw_bytes",
				   (json_int_t)c->codec_raw[i]));
	json_put(&json, "sync", json_integer((json_int_t)c->blocks_sync));
	json_put(&json, "all", json_integer((json_int_t)c->blocks));
	json_put(&json, "codecs", codecs);
	return json;
}

static json_t *events_json(const struct log_check *c)
{
	unsigned count;
	const struct event_desc *events = schema_events(&count);
	json_t *json = json_object();

	for (unsigned i = 0; i < count; i++)
		if (c->events_of[events[i].id])
			json_put(&json, events[i].name,
				 json_integer((json_int_t)c->events_of[events[i].id]));
	return json;
}

static json_t *bytes_json(const struct log_check *c)
{
	unsigned count;
	const struct event_desc *events = schema_events(&count);
	json_t *json = json_object();

	for (unsigned i = 0; i < count; i++)
		if (c->events_of[events[i].id])
			json_put(&json, events[i].name,
				 json_pack("{sI, sI}", "raw_bytes",
					   (json_int_t)c->bytes_of[events[i].id], "bytes",
					   (json_int_t)c->stored_of[events[i].id]));
	return json;
}

static json_t *numbers_json(const struct log_check *c)
{
	json_t *json = json_object();

	for (int i = 0; i < CHECK_NUMBER_COUNT; i++)
		json_put(&json, numbers[i],
			 json_pack("{sI, sI}", "defined", (json_int_t)c->numbers[i].defined,
				   "undefined", (json_int_t)c->numbers[i].undefined));
	return json;
}

static json_t *findings_json(const struct verify_input *in)
{
	json_t *json = json_array();

	for (unsigned i = 0; i < in->finding_count; i++) {
		const struct check_finding *f = &in->findings[i];

		json_add(&json, json_pack("{ss, sI, so, ss}", "weight",
					  f->weight == CHECK_DAMAGE ? "damage" : "doubt", "offset",
					  (json_int_t)f->offset, "block",
					  f->in_block ? json_integer(f->sequence) : json_null(),
					  "text", f->text));
	}
	return json;
}

/* JSON has no numbers of 64 bits without a sign here: what is past INT64_MAX is negative. */
static json_t *time_json(const struct log_check *c, uint64_t ns)
{
	return c->events ? json_integer((json_int_t)ns) : json_null();
}

json_t *verify_json(const struct verify_input *in)
{
	const struct log_check *c = in->check;
	char path[PATH_MAX]; /* may be no UTF-8 */

	path[text_clean(in->path, strlen(in->path), path, sizeof(path) - 1)] = '\0';
	return json_pack(
		"{ss, sb, sI, sI, so, so, sI, sI, sI, sI, so, so, sI, sI, sI, so, so, so, sb, "
		"sb, sI, sI, sO?}",
		"file", path, "sound", verify_is_sound(in), "damage", (json_int_t)c->damage,
		"doubts", (json_int_t)c->doubts, "findings", findings_json(in), "blocks",
		blocks_json(c), "blocks_damaged", (json_int_t)c->blocks_damaged, "blocks_missing",
		(json_int_t)c->blocks_missing, "bytes_skipped", (json_int_t)c->bytes_skipped,
		"bytes", (json_int_t)c->bytes, "first_ns", time_json(c, c->first_ns), "last_ns",
		time_json(c, c->last_ns), "events", (json_int_t)c->events, "events_unknown",
		(json_int_t)c->events_unknown, "events_sync", (json_int_t)c->events_sync,
		"events_by_kind", events_json(c), "bytes_by_kind", bytes_json(c), "numbers",
		numbers_json(c), "ended", c->ended, "closed", c->closed, "counters_back",
		(json_int_t)c->counters_back, "counters_back_most_ns",
		(json_int_t)c->counters_back_most, "header", c->header);
}
