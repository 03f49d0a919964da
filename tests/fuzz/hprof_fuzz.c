/* Reads any bytes as a heap dump, with and without objects: no wrong access, memory in proportion,
 * and references that go to objects. */
#include "fuzz.h"

#include <errno.h>

#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_tree.h"
#include "heap/image/hprof.h"
#include "heap/state/heap_state.h"

#define LARGEST (32u << 20)
#define PEAK (64u << 20)

struct source {
	const uint8_t *at, *end;
};

static ssize_t read_some(void *ctx, void *to, size_t room)
{
	struct source *s = ctx;
	size_t count = (size_t)(s->end - s->at);

	if (count > room)
		count = room;
	if (count > 1000)
		count = 1000;
	if (count)
		memcpy(to, s->at, count);
	s->at += count;
	return (ssize_t)count;
}

static void check(const struct heap_state *s)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < s->desc_count; i++) {
		ENSURE(s->descs[i].type < s->types.count);
		count += s->descs[i].count;
	}
	ENSURE(count == s->object_count);
	for (uint32_t i = 0; i < s->objects.count; i++)
		ENSURE(s->objects.ref_at[i] <= s->objects.ref_at[i + 1]);
	for (uint32_t i = 0; i < s->objects.ref_count; i++)
		ENSURE(s->objects.refs[i] == HEAP_NONE || s->objects.refs[i] < s->objects.count);
}

static void classify(const struct heap_state *s, const char *name, bool objects)
{
	struct heap_tree t = {.levels = {heap_classifier_find(name, strlen(name)),
					 heap_classifier_find("type", 4)},
			      .level_count = 2};
	struct heap_filter *filter;
	struct heap_view v;

	ENSURE(!heap_view_init(&v, s, objects ? ~0u : 0) && !heap_filter_new(NULL, &v, &filter));
	ENSURE(!heap_tree_build(&v, filter, &t) && t.nodes[0].objects == s->object_count);
	heap_tree_free(&t);
	heap_filter_free(filter);
	heap_view_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int objects = 0; objects < 2; objects++) {
		struct source source = {data, data + size};
		struct hprof_result result;
		struct heap_state s;
		int err;

		fuzz_memory_begin();
		err = hprof_read(read_some, &source, objects, &s, &result);
		fuzz_memory_end(LARGEST, PEAK + 200 * size);
		ENSURE(!err || err == -EPROTO || err == -ENOTSUP || err == -EBADMSG);
		ENSURE(!err || *result.what);
		if (!err) {
			check(&s);
			classify(&s, "package", objects);
			classify(&s, "superclass", objects);
			if (objects) {
				classify(&s, "pointed_from", true);
				classify(&s, "retained", true);
			}
		}
		heap_state_free(&s);
	}
	return 0;
}
