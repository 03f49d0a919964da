#include "report/model/diff/diff_name.h"

#include "analyze/diff/generated_name.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"

void diff_name_method(struct strbuf *s, const struct log_method *m)
{
	generated_name_add(s, m->class_name);
	strbuf_put(s, ".", 1);
	generated_name_add(s, m->name);
}

void diff_name_lock(struct strbuf *s, const char *class_name, unsigned rank)
{
	generated_name_add(s, class_name);
	strbuf_add(s, " (%u)", rank);
}
