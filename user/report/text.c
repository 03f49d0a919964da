#include "report/text.h"

#include <errno.h>
#include <stdarg.h>

#include "analyze/analysis.h"
#include "base/print.h"
#include "report/finding.h"
#include "report/format.h"

void text_heading(struct text *t, const char *format, ...)
{
	va_list args;

	if (t->sections++)
		fputc('\n', t->out);
	va_start(args, format);
	print_textv(t->out, format, args);
	va_end(args);
	fputc('\n', t->out);
}

const char *header_text(const json_t *header, const char *object, const char *key)
{
	const json_t *in = object ? json_object_get(header, object) : header;
	const char *text = json_string_value(json_object_get(in, key));

	return text ? text : "";
}

uint64_t header_number(const json_t *header, const char *object, const char *key)
{
	const json_t *in = object ? json_object_get(header, object) : header;
	json_int_t number = json_integer_value(json_object_get(in, key));

	return number < 0 ? 0 : (uint64_t)number;
}

uint64_t header_begin_ns(const json_t *header)
{
	if (header_number(header, "part", "number") > 1)
		return header_number(header, "part", "begin_ns");
	if (json_object_get(header, "flight"))
		return header_number(header, "flight", "begin_ns");
	return header_number(header, NULL, "start_mono_ns");
}

const char *header_collector(const json_t *header)
{
	static const char *const collectors[][2] = {
		{"UseG1GC", "G1"}, {"UseSerialGC", "Serial"},         {"UseParallelGC", "Parallel"},
		{"UseZGC", "ZGC"}, {"UseShenandoahGC", "Shenandoah"}, {"UseEpsilonGC", "Epsilon"}};
	const json_t *flags = json_object_get(json_object_get(header, "jvm"), "flags");

	for (size_t i = 0; i < sizeof(collectors) / sizeof(*collectors); i++) {
		if (json_is_true(json_object_get(flags, collectors[i][0])))
			return collectors[i][1];
	}
	return "";
}

uint64_t report_duration(const struct report_input *in)
{
	uint64_t start = header_begin_ns(in->header);
	struct analysis_facts f;

	analysis_facts(in->analysis, &f);
	if (in->from_ns > start)
		start = in->from_ns;
	if (!start || start > f.last_ns)
		start = f.first_ns;
	if (in->to_ns && in->to_ns < f.last_ns)
		f.last_ns = in->to_ns; /* definitions can be of later */
	return f.last_ns > start ? f.last_ns - start : 0;
}

void report_damage(const struct report_input *in, char *buf, size_t size)
{
	char damaged[FORMAT_MAX], missing[FORMAT_MAX], skipped[FORMAT_MAX];

	snprintf(buf, size,
		 "the log is damaged or cut short: %s damaged and %s missing blocks, %s skipped; "
		 "the intact blocks are reported",
		 count_format(in->stats.blocks_damaged, damaged),
		 count_format(in->stats.blocks_missing, missing),
		 size_format(in->stats.bytes_skipped, skipped));
}

static int print_sections(struct text *t)
{
	static int (*const sections[])(struct text *) = {text_recorded, text_locks, text_parking,
							 text_pauses,   text_cpus,  text_threads,
							 text_finding};
	int err = 0;

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !err; i++)
		err = sections[i](t);
	return err;
}

int report_text(const struct report_input *in, FILE *out)
{
	struct text t = {.in = in,
			 .labels = labels_new(analysis_names(in->analysis)),
			 .stacks = analysis_stacks(in->analysis),
			 .out = out,
			 .duration_ns = report_duration(in)};
	struct finding finding;
	char damage[512];
	int err = t.labels ? 0 : -ENOMEM;

	if (!err && report_has_chains(in)) {
		err = report_finding(in, &finding);
		t.finding = &finding;
	}
	if (!err)
		err = print_sections(&t);
	if (!err && in->damaged) {
		report_damage(in, damage, sizeof(damage));
		text_heading(&t, "INCOMPLETE\n  %s", damage);
	}
	labels_free(t.labels);
	return err;
}
