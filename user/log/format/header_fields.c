#include "log/format/header_fields.h"

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

uint64_t header_flag(const json_t *header, const char *flag)
{
	return header_number(json_object_get(header, "jvm"), "flags", flag);
}

const char *header_collector(const json_t *header)
{
	static const char *const collectors[][2] = {{"UseG1GC", "G1"},
						    {"UseSerialGC", "Serial"},
						    {"UseParallelGC", "Parallel"},
						    {"UseZGC", "ZGC"},
						    {"UseShenandoahGC", "Shenandoah"},
						    {"UseEpsilonGC", "Epsilon"},
						    {"UseConcMarkSweepGC", "CMS"}};
	const json_t *flags = json_object_get(json_object_get(header, "jvm"), "flags");

	for (size_t i = 0; i < sizeof(collectors) / sizeof(*collectors); i++) {
		if (json_is_true(json_object_get(flags, collectors[i][0])))
			return collectors[i][1];
	}
	return "";
}
