#include "report/model/by_list.h"

#include <errno.h>
#include <string.h>

#include "base/text/print.h"
#include "base/text/strbuf.h"

static int no_aspect(const char *text, size_t length, char error[BY_LIST_ERROR_MAX])
{
	struct strbuf b = {.most = 0};

	for (int i = 0; i < ASPECT_COUNT; i++)
		strbuf_add(&b, "%s%s", i ? ", " : "", aspect_get(i)->name);
	print_buffer(error, BY_LIST_ERROR_MAX, "there is no aspect '%.*s'; there are %s",
		     length < 100 ? (int)length : 100, text, strbuf_text(&b));
	strbuf_free(&b);
	return -EINVAL;
}

int by_list_add(struct by_list *l, const char *text, char error[BY_LIST_ERROR_MAX])
{
	for (;;) {
		size_t length = strcspn(text, ",");
		int aspect = aspect_by_name(text, length);

		if (aspect < 0)
			return no_aspect(text, length, error);
		for (unsigned i = 0; i < l->depth; i++) {
			if (l->by[i] == (enum aspect_id)aspect) {
				print_buffer(error, BY_LIST_ERROR_MAX,
					     "the aspect '%.*s' is there twice", (int)length, text);
				return -EINVAL;
			}
		}
		l->by[l->depth++] = (enum aspect_id)aspect;
		text += length;
		if (!*text++)
			return 0;
	}
}

int by_order(const char *name)
{
	static const char *const names[GROUP_ORDER_COUNT] = {
		[GROUP_BY_WORK] = "work", [GROUP_BY_TIME] = "blocked", [GROUP_BY_COUNT] = "count",
		[GROUP_BY_MAX] = "max",   [GROUP_BY_P50] = "p50",      [GROUP_BY_P90] = "p90",
		[GROUP_BY_P99] = "p99",   [GROUP_BY_P999] = "p999",    [GROUP_BY_VALUE] = "value",
	};

	for (int i = 0; i < GROUP_ORDER_COUNT; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}
