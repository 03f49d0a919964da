/* Reads any bytes as a heap dump, with and without objects: no wrong access, memory in proportion,
 * and references that go to objects. */
#include "fuzz.h"

#include <errno.h>

#include "heap/classify/heap_filter.h"
#include "heap/classify/heap_tree.h"
#include "heap/image/hprof.h"
#include "heap/script/heap_script.h"
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

/* All that a script can ask of an object. */
static const char script[] =
	"classifier{name='all', kind='many', needs={'address', 'fields', 'points_to',"
	" 'pointed_from', 'root', 'retained'}, f=function(o)\n"
	" local n = o.address + o.retained + o.size + (o.length or 0)\n"
	" local next, above = o:field('next') or o, o.dominator\n"
	" local all = {o.type, o.package, o.kind, o.of_class, tostring(o:is('A')), next.type}\n"
	" for _, other in ipairs(o:points_to()) do n = n + other.size end\n"
	" for _, other in ipairs(o:pointed_from()) do n = n + other.size end\n"
	" return {o.reached, o.root or n % 7, above and above.loader, #all} end}";

static void classify_script(const struct heap_state *s)
{
	char error[HEAP_SCRIPT_ERROR_MAX];
	struct heap_tree t = {.level_count = 1};
	struct heap_filter *filter;
	struct heap_script *lua;
	struct heap_view v;

	ENSURE(!heap_script_new("all", script, sizeof(script) - 1, NULL, &lua, error));
	t.levels[0] = heap_script_get(lua, 0);
	ENSURE(!heap_view_init(&v, s, ~0u) && !heap_filter_new(NULL, &v, &filter));
	ENSURE(!heap_tree_build(&v, filter, &t) && t.nodes[0].objects == s->object_count);
	ENSURE(!heap_script_error(lua));
	heap_tree_free(&t);
	heap_filter_free(filter);
	heap_view_free(&v);
	heap_script_free(lua);
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
				classify_script(&s);
			}
		}
		heap_state_free(&s);
	}
	return 0;
}
