/* Any text is a file of features, or is refused with a line; objects are in groups that it names. */
#include "fuzz.h"

#include <errno.h>

#include "heap/classify/heap_feature.h"
#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_tree.h"
#include "heap/state/heap_state.h"

/* Code that has allocated them. */
static void add_origin(struct heap_state *s)
{
	static const char *const frames[] = {"com.acme.order.Order.add:12", "java.util.HashMap.put:65535 (inferred)",
					     "A.<init>", "(unknown)"};
	const uint32_t count = sizeof(frames) / sizeof(*frames);

	s->origins = calloc(1, sizeof(*s->origins));
	s->frames = calloc(count, sizeof(*s->frames));
	ENSURE(s->origins && s->frames);
	for (uint32_t i = 0; i < count; i++) {
		ENSURE(!heap_types_text_add(&s->types, 50 + i, frames[i], (uint32_t)strlen(frames[i])));
		s->frames[i] = heap_types_text_find(&s->types, 50 + i);
	}
	s->origins[0].frame_count = s->frame_count = count;
	s->origin_count = s->origin_capacity = 1;
	s->frame_capacity = count;
	for (uint32_t i = 0; i < s->desc_count; i++)
		s->descs[i].origin = 1;
}

/* Of each class an object. */
static void make(struct heap_state *s)
{
	static const char *const names[] = {"com/acme/order/Order", "java/util/HashMap$Node", "A",
					    "[[I", "[Lcom/acme/Item;"};

	ENSURE(!heap_state_init(s, 8, false));
	for (uint32_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint32_t type;

		ENSURE(!heap_types_text_add(&s->types, 1 + i, names[i],
					    (uint32_t)strlen(names[i])));
		ENSURE(!heap_types_add(&s->types, 100 + i, &type));
		ENSURE(!heap_types_name(&s->types, type, heap_types_text_find(&s->types, 1 + i)));
		ENSURE(!heap_state_object(s, 0x1000 + 64 * i, type, 0));
	}
	ENSURE(!heap_state_finish(s));
}

static void classify(const struct heap_state *s, const struct heap_classifier *c)
{
	struct heap_tree t = {.levels = {c}, .level_count = 1};
	struct heap_filter *filter;
	struct heap_view v;
	uint64_t sum = 0;

	ENSURE(!heap_view_init(&v, s, HEAP_NEEDS_DESC) && !heap_filter_new(NULL, &v, &filter));
	ENSURE(!heap_tree_build(&v, filter, &t));
	for (uint32_t i = 1; i < t.count; i++) {
		ENSURE(t.nodes[i].key != HEAP_KEY_NONE && t.nodes[i].objects <= t.nodes[0].objects);
		sum += t.nodes[i].objects;
	}
	ENSURE(t.nodes[0].objects == s->object_count && sum >= s->object_count);
	heap_tree_free(&t);
	heap_filter_free(filter);
	heap_view_free(&v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[HEAP_FEATURES_ERROR_MAX] = "";
	struct heap_features *f = NULL;
	struct heap_state s;
	int err;

	fuzz_memory_begin();
	err = heap_features_new((const char *)data, size, &f, error);
	fuzz_memory_end(1 << 20, (1 << 20) + 4 * size);
	ENSURE(!err || (err == -EINVAL && !f && !strncmp(error, "line ", 5)));
	if (err)
		return 0;
	make(&s);
	classify(&s, heap_features_classifier(f));
	add_origin(&s);
	classify(&s, heap_features_classifier(f));
	classify(&s, heap_features_any(f));
	heap_state_free(&s);
	heap_features_free(f);
	return 0;
}
