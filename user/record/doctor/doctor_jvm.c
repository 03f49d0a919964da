#include "record/doctor/doctor_check.h"

#include "base/arch/arch.h"
#include "base/text/strbuf.h"
#include "jvm/elf/parser.h"
#include "jvm/elf/usdt.h"
#include "jvm/jvm.h"
#include "record/kernel/features/kernel_facts.h"
#include "record/kernel/features/kernel_reads.h"
#include "record/kernel/hooks.h"
#include "record/kernel/probe_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MISSING_NAMED 8

static int check_hooks(struct checks *c, const struct jvm *j, struct hooks *ret)
{
	int err = hooks_read(j, ret);
	char nops[64] = "all 5-byte nops";

	if (err)
		return check_add(c, "hooks", CHECK_MISSING, NULL, "%s cannot be read: %s",
				 jvm_libjvm_name(j), parser_error_text(err));
	if (!ret->version)
		return check_add(c, "hooks", CHECK_OK, NULL,
				 "none, it is a stock JVM: holders between two observations are "
				 "inferred");
	if (!ret->usable)
		return check_add(c, "hooks", CHECK_WARNING,
				 "build its patches (make jvm) and spoor from the same sources",
				 "the JVM is patched, but spoor takes it for a stock one: %s",
				 ret->why);
	if (ret->nop5 < ret->probes)
		snprintf(nops, sizeof(nops), "%zu of them 5-byte nops", ret->nop5);
	return check_add(c, "hooks", CHECK_OK, NULL,
			 "the JVM is patched, its hooks are of version %d: %zu probes, %s",
			 ret->version, ret->probes, nops);
}

/* What tells of locks and waits unless --probes is given. */
static const char *default_text(enum probe_set set)
{
	return set == PROBES_NONE ? "record takes those of collections and safepoints; locks and "
				    "waits are told by the scheduler unless --probes usdt is given"
				  : "record uses them unless --probes none is given";
}

static int check_probes(struct checks *c, const struct jvm *j, const struct hooks *h)
{
	enum probe_set set = h->usable ? PROBES_HOOKS : PROBES_USDT;
	char missing[CHECK_TEXT_MAX / 2] = "";
	struct usdt_list list = {0};
	size_t found = 0, expected = 0, named = 0, nop5 = 0;
	int err = parser_usdt(jvm_parser(j), jvm_libjvm_file(j), PARSER_ATTACH_MS, &list);

	if (err)
		return check_add(c, "probes", CHECK_MISSING, NULL, "%s cannot be read: %s",
				 jvm_libjvm_name(j), parser_error_text(err));
	for (size_t i = 0; i < PROBE_COUNT; i++) {
		const struct probe_row *w = &probe_table[i];
		const struct usdt_probe *p;

		if (!probe_applies(w, set) || w->of == PROBE_OF_FUNCTION || w->of == PROBE_OF_MOVE)
			continue;
		p = usdt_find(&list, w->provider, w->name);
		expected++;
		if (p) {
			found++;
			nop5 += p->site == USDT_SITE_NOP_CALL;
			continue;
		}
		if (named++ < MISSING_NAMED)
			buffer_add(missing, sizeof(missing), "%s%s:%s (%s)", *missing ? ", " : "",
				   w->provider, w->name, w->purpose);
	}
	usdt_list_free(&list);
	if (!found && !switches_lack(j))
		return check_add(
			c, "probes", CHECK_WARNING, NULL,
			"the JVM has no USDT probes (a build without dtrace): locks, waits "
			"and parks are recorded by the scheduler (record --probes none); "
			"collections, safepoints and VM operations are not recorded");
	if (!found)
		return check_add(c, "probes", CHECK_MISSING,
				 "use a JVM built with --enable-dtrace: Debian's, Ubuntu's, "
				 "Fedora's and Temurin's are",
				 "the JVM has none of the USDT probes that spoor needs");
	if (named)
		return check_add(c, "probes", CHECK_WARNING, NULL,
				 "%zu of %zu are in the JVM; not there: %s%s", found, expected,
				 missing, named > MISSING_NAMED ? ", ..." : "");
	return check_add(c, "probes", CHECK_OK, NULL,
			 "all %zu that spoor uses are in the JVM, %zu of them 5-byte nops; %s",
			 expected, nop5, default_text(probes_auto(j, h)));
}

static int check_layout(struct checks *c, const struct jvm *j)
{
	const struct jvm_layout *l = jvm_layout(j);

	if (!l->ready)
		return check_add(
			c, "layout", CHECK_WARNING, "ask again in a second",
			"the JVM is still starting: its heap and classes are not there yet");
	if (l->thread_park_blocker < 0)
		return check_add(c, "layout", CHECK_WARNING, NULL,
				 "resolved, but java.lang.Thread.parkBlocker was not found: "
				 "parking is recorded without its blocker");
	return check_add(c, "layout", CHECK_OK, NULL, "monitors, threads and classes resolved%s",
			 l->aos_klass ? "" : " (java.util.concurrent's locks are not loaded yet)");
}

/* All the functions that report virtual threads. */
static bool has_functions(const struct jvm *j)
{
	struct usdt_list list = {0};
	bool all = !parser_functions(jvm_parser(j), jvm_libjvm_file(j), PARSER_ATTACH_MS, &list);

	for (size_t i = 0; all && i < PROBE_COUNT; i++)
		all = probe_table[i].of != PROBE_OF_FUNCTION ||
		      usdt_find(&list, probe_table[i].provider, probe_table[i].name);
	usdt_list_free(&list);
	return all;
}

/* What a recording lacks because of the JVM's version, in the words of the recording. */
static int check_support(struct checks *c, const struct jvm *j, const struct hooks *h)
{
	static const struct {
		const char *name, *advice;
	} limits[JVM_LIMIT_COUNT] = {
		[JVM_LIMIT_VERSION] = {"version", "look for a newer spoor"},
		[JVM_LIMIT_STACKS] =
			{"stacks",
			 "run the program on OpenJDK 11, 17, 21, or 25 to 27, to have call chains"},
		[JVM_LIMIT_OWNERS] = {"owners",
				      "use OpenJDK 11, 17, 21, or 25 to 27, to see owners"},
		[JVM_LIMIT_HASHES] = {"hashes", NULL},
		[JVM_LIMIT_NAMES] = {"names", NULL},
		[JVM_LIMIT_READERS] = {"readers", NULL},
		[JVM_LIMIT_IDENTITY] = {"identity", NULL},
		[JVM_LIMIT_VIRTUAL] = {"virtual-threads", NULL},
	};
	struct jvm_support s;
	int err = 0;

	jvm_support(j, &s);
	if (*s.text[JVM_LIMIT_VIRTUAL] && (h->usable || has_functions(j))) {
		*s.text[JVM_LIMIT_VIRTUAL] = 0;
		err = check_add(c, limits[JVM_LIMIT_VIRTUAL].name, CHECK_OK, NULL,
				"virtual threads that wait for a monitor, on a carrier or on none, "
				"are seen by --probes %s",
				h->usable ? "hooks" : "usdt");
	}
	for (int i = 0; !err && i < JVM_LIMIT_COUNT; i++)
		if (*s.text[i])
			err = check_add(
				c, limits[i].name, CHECK_WARNING,
				i == JVM_LIMIT_STACKS && ARCH_HERE.walks_first ? NULL
									       : limits[i].advice,
				"%s", s.text[i]);
	return err;
}

static int check_code(struct checks *c, struct jvm *j)
{
	const char *missing = NULL;

	if (!jvm_code_layout(j, &missing) && missing)
		return 0; /* check_support() has said so */
	if (jvm_code_refresh(j) <= 0)
		return check_add(c, "stacks", CHECK_WARNING, "ask again in a second",
				 "the code cache is not set up yet");
	return check_add(c, "stacks", CHECK_OK, NULL, "the code cache and its frames are known");
}

static int check_collector(struct checks *c, const json_t *jvm)
{
	static const char *const known[] = {"UseSerialGC", "UseParallelGC", "UseG1GC",
					    "UseConcMarkSweepGC"};
	const json_t *flags = json_object_get(jvm, "flags"), *value;
	const char *name, *used = NULL;
	bool is_known = false;

	json_object_foreach ((json_t *)flags, name, value)
		if (!used && !strncmp(name, "Use", 3) && json_is_true(value) &&
		    !strcmp(name + strlen(name) - 2, "GC"))
			used = name;
	for (size_t i = 0; used && i < sizeof(known) / sizeof(*known); i++)
		is_known |= !strcmp(used, known[i]);
	if (!used)
		return check_add(c, "collector", CHECK_WARNING, "ask again in a second",
				 "not chosen yet");
	return check_add(c, "collector", is_known ? CHECK_OK : CHECK_WARNING, NULL, "%.*s%s",
			 (int)strlen(used) - 5, used + 3,
			 is_known ? ""
				  : ": its collections run beside the program; objects that are "
				    "moving may be recorded without class or name");
}

static int check_threads(struct checks *c, const struct jvm *j)
{
	struct jvm_thread *threads;
	size_t count, named = 0;
	int err = jvm_threads(j, &threads, &count);

	if (err)
		return check_add(c, "threads", jvm_layout(j)->ready ? CHECK_MISSING : CHECK_WARNING,
				 NULL, "the list of Java threads cannot be read: %s",
				 strerror(-err));
	for (size_t i = 0; i < count; i++)
		named += threads[i].name[0] != 0;
	free(threads);
	if (named < count && named * 2 <= count)
		return check_add(c, "threads", CHECK_WARNING, NULL,
				 "%zu, but only %zu names can be read", count, named);
	return check_add(c, "threads", CHECK_OK, NULL, "%zu, %zu with their names", count, named);
}

static int check_version(struct checks *c, const struct jvm *j, const json_t *jvm)
{
	const char *version = json_string_value(json_object_get(jvm, "version"));
	const char *vm = json_string_value(json_object_get(jvm, "vm"));
	const char *libjvm = json_string_value(json_object_get(jvm, "libjvm"));

	return check_add(c, "jvm", CHECK_OK, NULL, "process %d: %s %s, %s", (int)jvm_pid(j),
			 vm ? vm : "", version ? version : "", libjvm ? libjvm : "");
}

static int check_reads(struct checks *c, pid_t pid)
{
	struct kernel_facts k;
	const char *why;

	kernel_facts_read(&k);
	why = kernel_reads_refusal(k.reads, pid);
	return why ? check_add(c, "lockdown", CHECK_MISSING, NULL, "%s", why) : 0;
}

int check_jvm(struct checks *c, pid_t pid)
{
	struct hooks hooks = {0};
	char *why = NULL;
	json_t *described;
	struct jvm *j;
	int err = jvm_open(pid, &j, &why);

	if (err) {
		err = check_add(c, "jvm", CHECK_MISSING, NULL, "%s", why ? why : strerror(-err));
		free(why);
		return err;
	}
	described = jvm_describe(j, COMMAND_LINE_NONE);
	err = described ? check_version(c, j, described) : -ENOMEM;
	if (!err)
		err = check_reads(c, pid);
	if (!err)
		err = check_hooks(c, j, &hooks);
	if (!err)
		err = check_probes(c, j, &hooks);
	if (!err && !hooks.usable) /* a patched JVM needs none */
		err = hooks.stock ? check_flag(c, j) : check_flag_useless(c);
	if (!err && !hooks.usable && hooks.stock)
		err = check_guardian(c, pid);
	if (!err)
		err = check_layout(c, j);
	if (!err)
		err = check_support(c, j, &hooks);
	if (!err)
		err = check_code(c, j);
	if (!err)
		err = check_collector(c, described);
	if (!err)
		err = check_threads(c, j);
	json_decref(described);
	jvm_close(j);
	return err;
}
