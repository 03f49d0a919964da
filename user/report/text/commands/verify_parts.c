#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/strbuf.h"
#include "report/text/commands/verify_text.h"

#define RANGES_MAX 20 /* of missing parts are named */

struct log_part {
	const char *recording;
	uint64_t number;
	unsigned file;
};

static bool part_of(const struct log_check *c, struct log_part *ret)
{
	const json_t *part = json_object_get(c->header, "part");
	const json_t *number = json_object_get(part, "number");

	ret->recording = json_string_value(json_object_get(part, "recording"));
	ret->number = (uint64_t)json_integer_value(number);
	return ret->recording && json_is_integer(number);
}

static int compare(const void *a, const void *b)
{
	const struct log_part *x = a, *y = b;
	int recordings = strcmp(x->recording, y->recording);

	if (recordings)
		return recordings;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->file < y->file ? -1 : 1;
}

static int say(const struct verify_say *s, struct strbuf *text)
{
	int err = text->err;

	if (!err)
		s->say(s->ctx, strbuf_text(text));
	strbuf_free(text);
	return err;
}

static int say_doubles(const struct verify_say *s, char *const *paths, const struct log_part *parts,
		       unsigned count)
{
	struct strbuf text = {.most = 0};
	int err = 0;

	for (unsigned i = 1; i < count && !err; i++) {
		const struct log_part *one = &parts[i - 1], *other = &parts[i];

		if (one->number != other->number)
			continue;
		strbuf_add(&text, "%s: this is part %" PRIu64 " of recording %.64s, as is %s",
			   paths[other->file], other->number, other->recording, paths[one->file]);
		err = say(s, &text);
	}
	return err;
}

/* "of recording 4f1e these parts are missing: 2, 5 to 7" */
static int say_missing(const struct verify_say *s, const struct log_part *parts, unsigned count)
{
	struct strbuf text = {.most = 0};
	unsigned ranges = 0;

	strbuf_add(&text, "of recording %.64s these parts are missing:", parts->recording);
	for (unsigned i = 1; i < count; i++) {
		uint64_t first = parts[i - 1].number + 1, last = parts[i].number - 1;

		if (parts[i].number - parts[i - 1].number < 2 || ranges++ >= RANGES_MAX)
			continue;
		strbuf_add(&text, "%s %" PRIu64, ranges > 1 ? "," : "", first);
		if (first < last)
			strbuf_add(&text, " to %" PRIu64, last);
	}
	if (ranges > RANGES_MAX)
		strbuf_add(&text, ", and others");
	if (ranges)
		return say(s, &text);
	strbuf_free(&text);
	return 0;
}

int verify_parts(const struct log_check *files, char *const *paths, unsigned count,
		 const struct verify_say *s)
{
	struct log_part *parts = calloc(count + 1, sizeof(*parts));
	unsigned used = 0, end;
	int err = parts ? 0 : -ENOMEM;

	for (unsigned i = 0; i < count && !err; i++) {
		parts[used].file = i;
		used += part_of(&files[i], &parts[used]);
	}
	if (used)
		qsort(parts, used, sizeof(*parts), compare);
	for (unsigned i = 0; i < used && !err; i = end) {
		for (end = i + 1; end < used; end++)
			if (strcmp(parts[i].recording, parts[end].recording) != 0)
				break;
		err = say_doubles(s, paths, &parts[i], end - i);
		err = err ? err : say_missing(s, &parts[i], end - i);
	}
	free(parts);
	return err;
}
