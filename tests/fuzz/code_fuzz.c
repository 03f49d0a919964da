/* Any bytes are a class file, or a jar of such, or are refused; each method has one caller, or none is known. */
#include "fuzz.h"

#include <errno.h>

#include "heap/code/call_graph.h"
#include "heap/code/jar_file.h"

#define LARGEST (48u << 20)
#define PEAK (64u << 20)

static int add(void *ctx, const char *name, uint32_t length, const uint8_t *bytes, size_t count)
{
	int err;

	ENSURE(length >= 4 && name[length - 1]);
	err = call_graph_add(ctx, bytes, count);
	ENSURE(!err || err == -EBADMSG || err == -EFBIG);
	return err == -EBADMSG ? 0 : err;
}

static void ask(struct call_graph *g)
{
	static const char *const classes[] = {"A", "a/A", "f/Base", "Callers", "java/lang/Object"},
		   *const methods[] = {"m", "one", "<init>", "main", "run", "deep", "work"};

	for (size_t c = 0; c < sizeof(classes) / sizeof(*classes); c++) {
		uint32_t class = call_graph_class(g, classes[c]);

		for (size_t m = 0; class != CALL_GRAPH_NONE && m < sizeof(methods) / sizeof(*methods); m++) {
			struct call_graph_caller caller = {CALL_GRAPH_NONE, 0};
			uint32_t method = call_graph_method(g, class, methods[m], "()V");

			if (method == CALL_GRAPH_NONE || call_graph_caller(g, method, &caller))
				continue;
			ENSURE(caller.method != method && *call_graph_name(g, caller.method).name);
			ENSURE(call_graph_classes(g) > 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct call_graph *g = call_graph_new();
	struct jar_visitor v = {.member = add, .ctx = g};
	int err;

	ENSURE(g);
	fuzz_memory_begin();
	err = call_graph_add(g, data, size);
	ENSURE(!err || err == -EBADMSG || err == -EFBIG);
	err = jar_file_each(data, size, &v);
	ENSURE(!err || err == -EBADMSG || err == -EFBIG);
	ask(g);
	fuzz_memory_end(LARGEST, PEAK + 2000 * size);
	call_graph_free(g);
	return 0;
}
