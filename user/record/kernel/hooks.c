#include "record/kernel/hooks.h"

#include <linux/types.h>
#include <stdio.h>

#include "bpf/wire/wire_layout.h"
#include "jvm-hooks/probes.h"
#include "jvm/elf/parser.h"
#include "jvm/elf/usdt.h"
#include "jvm/jvm.h"
#include "record/kernel/features/kernel_facts.h"

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
			h->nop5 += p->site == USDT_SITE_NOP_CALL ? p->locations : 0;
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

	err = parser_usdt(jvm_parser(j), jvm_libjvm_file(j), PARSER_ATTACH_MS, &list);
	if (err)
		return err;
	h.stock = usdt_find(&list, "hotspot", "monitor__contended__enter") &&
		  usdt_find(&list, "hotspot", "thread__park__begin");
	missing = h.version ? probes_count(&list, &h) : NULL;
	usdt_list_free(&list);
	h.usable = h.version == SPOOR_HOOKS && !missing;
	if (h.version && h.version != SPOOR_HOOKS)
		snprintf(h.why, sizeof(h.why),
			 "its hooks are of version %d, this spoor knows version %d", h.version,
			 SPOOR_HOOKS);
	else if (missing)
		snprintf(h.why, sizeof(h.why), "it lacks the probe " SPOOR_PROVIDER ":%s", missing);
	*ret = h;
	return 0;
}

bool jvm_has_thread_ids(const struct jvm *j)
{
	const struct jvm_layout *l = jvm_layout(j);

	return l->owner_word == OWNER_WORD_ID && l->owners_resolved;
}

bool jvm_has_virtual(const struct jvm *j)
{
	return jvm_layout(j)->java_thread_vthread >= 0;
}

const char *switches_lack(const struct jvm *j)
{
	const struct jvm_layout *l = jvm_layout(j);

	/* BPF reads so much of an OSThread. */
	if (l->osthread_state < 0 || l->osthread_thread_id < (uint32_t)l->osthread_state ||
	    l->osthread_thread_id > WIRE_WAIT_BYTES - 8)
		return "OSThread::_state";
	if (l->java_thread_pending_monitor < 0)
		return "JavaThread::_current_pending_monitor";
	return l->java_thread_waiting_monitor < 0 ? "JavaThread::_current_waiting_monitor" : NULL;
}

enum probe_set probes_auto(const struct jvm *j, const struct hooks *h)
{
	struct kernel_facts k;

	if (h->usable)
		return PROBES_HOOKS;
	if (switches_lack(j))
		return PROBES_USDT;
	if (!h->stock)
		return PROBES_NONE;
	if (jvm_has_virtual(j) || jvm_layout(j)->owner_word == OWNER_WORD_ID)
		return PROBES_USDT; /* the scheduler knows carriers only */
	kernel_facts_read(&k);
	return k.sched_entry ? PROBES_NONE : PROBES_USDT;
}
