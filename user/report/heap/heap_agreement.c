#include "report/heap/heap_agreement.h"

#include <stdint.h>

#include "base/text/format.h"
#include "base/text/json_put.h"
#include "base/text/print.h"
#include "base/text/strbuf.h"
#include "heap/check/pool_check.h"
#include "report/text/text_report.h"

static uint64_t not_compared(const struct pool_agreement *a)
{
	return a->verdicts[POOL_NO_FIGURES] + a->verdicts[POOL_NOT_FOLLOWED] +
	       a->verdicts[POOL_LEFT_OUT] + a->verdicts[POOL_FAILED];
}

static uint64_t compared(const struct pool_agreement *a)
{
	return a->verdicts[POOL_AGREES] + a->verdicts[POOL_DIFFERS];
}

void heap_agreement_first(const struct pool_agreement *a, const char *name, FILE *out)
{
	char differ[FORMAT_MAX], all[FORMAT_MAX];
	struct strbuf o = {0};

	if (!a || !a->verdicts[POOL_DIFFERS])
		return;
	strbuf_add(&o,
		   "%s of %s collections do not agree with the JVM's pools: what follows may be "
		   "wrong. spoor heap check %s says by how much.",
		   count_format(a->verdicts[POOL_DIFFERS], differ), count_format(compared(a), all),
		   name);
	fputs("=>", out);
	text_words(out, 3, strbuf_text(&o));
	strbuf_free(&o);
}

char *heap_agreement_text(const struct pool_agreement *a, char buf[HEAP_AGREEMENT_MAX])
{
	char agree[FORMAT_MAX], all[FORMAT_MAX];

	*buf = '\0';
	if (a && !a->has_layout)
		buffer_add(buf, HEAP_AGREEMENT_MAX,
			   "; collections were not compared with the JVM's pools");
	else if (a && compared(a))
		buffer_add(buf, HEAP_AGREEMENT_MAX,
			   "; %s of %s collections agree with the JVM's pools",
			   count_format(a->verdicts[POOL_AGREES], agree),
			   count_format(compared(a), all));
	else if (a && not_compared(a))
		buffer_add(buf, HEAP_AGREEMENT_MAX,
			   "; no collection could be compared with the JVM's pools");
	if (a && a->has_layout && compared(a) && not_compared(a))
		buffer_add(buf, HEAP_AGREEMENT_MAX, ", %s could not be compared",
			   count_format(not_compared(a), all));
	return buf;
}

void heap_agreement_head(const struct pool_agreement *a, FILE *out)
{
	char text[HEAP_AGREEMENT_MAX];

	print_text(out, "%s\n", heap_agreement_text(a, text));
}

static json_t *number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *heap_agreement_json(const struct pool_agreement *a)
{
	json_t *o = json_object();

	json_put(&o, "agree", number(a->verdicts[POOL_AGREES]));
	json_put(&o, "differ", number(a->verdicts[POOL_DIFFERS]));
	json_put(&o, "not_compared", number(not_compared(a)));
	json_put(&o, "layout_known", json_boolean(a->has_layout));
	return o;
}
