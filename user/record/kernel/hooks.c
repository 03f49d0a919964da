#include "record/kernel/hooks.h"

#include <stdio.h>

#include "jvm-hooks/probes.h"
#include "jvm/jvm.h"
#include "jvm/target/parser.h"
#include "jvm/target/usdt.h"

/* The name of a probe that is not there; NULL: all are. */
static const char *probes_count(const struct usdt_list *list, struct hooks *h)
{
#define NAME(name) #name,
	static const char *const names[] = {SPOOR_PROBES(NAME)};
#undef NAME
	const char *missing = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct usdt_probe *p = usdt_find(list, SPOOR_PROVIDER, names[i]);

		if (p) {
			h->probes += p->locations;
			h->nop5 += p->site == USDT_SITE_NOP5 ? p->locations : 0;
		} else {
			missing = names[i];
		}
	}
	return missing;
}

int hooks_read(const struct jvm *j, struct hooks *ret)
{
	struct hooks h = {.version = jvm_libjvm_hooks(j)};
	struct usdt_list list;
	const char *missing;
	int err;

	if (h.version) {
		err = parser_usdt(jvm_parser(j), jvm_libjvm_file(j), PARSER_ATTACH_MS, &list);
		if (err)
			return err;
		missing = probes_count(&list, &h);
		usdt_list_free(&list);
		h.usable = h.version == SPOOR_HOOKS && !missing;
		if (h.version != SPOOR_HOOKS)
			snprintf(h.why, sizeof(h.why),
				 "its hooks are of version %d, this spoor knows version %d",
				 h.version, SPOOR_HOOKS);
		else if (missing)
			snprintf(h.why, sizeof(h.why), "it lacks the probe " SPOOR_PROVIDER ":%s",
				 missing);
	}
	*ret = h;
	return 0;
}
