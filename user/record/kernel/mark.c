/*
 * An application that marks its work has a library with the probes spoor_mark:begin and
 * spoor_mark:end in it: unpacked from its jar to a temporary file, loaded, and removed. So it is
 * not at a path that could be known: any file that is mapped executable may be it. Each is looked
 * at once, by its inode; when a mapping is gone, its inode may come back as another file, and is
 * forgotten. Two class loaders with the jar have two libraries.
 *
 * A file that is deleted, or in another mount namespace, is opened through /proc
 * (jvm/target/mapped_file.c). A uprobe belongs to the inode: the descriptor is needed until it is
 * attached.
 *
 * Which files are mapped, and what is in them, is the target's choice, and while they are looked at
 * nobody drains the ring. So a look ends when LOOK_MS are over, and goes on in the next; a file
 * that the parser process has not read by its deadline, or has died of, is not read again, and
 * after BAD_MAX such files no more are read at all; files beyond MARK_FILES_MAX are not looked at.
 * The latter two are said once.
 */
#include "record/kernel/mark.h"

#include <errno.h>
#include <linux/types.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "base/text/units.h"
#include "bpf/wire/wire_probe.h"
#include "jvm/elf/parser.h"
#include "jvm/target/mapped_file.h"
#include "jvm/target/mark_files.h"
#include "jvm/target/process.h"
#include "record/kernel/features/kernel_try.h"
#include "record/kernel/features/uprobe_multi.h"

#define PROVIDER "spoor_mark"
#define LIKELY_NAME "spoor-mark" /* of a library that it would be a pity not to read */
#define ATTACHED_MAX 64

#define LOOK_MS 250
#define BAD_MAX 3

static const char *const probe_names[MARK_PROBE_COUNT] = {"begin", "end"};

/* Of one probe's arguments; compilers write 30 characters or so. */
#define ARGS_MAX 256
#define ARGS_SIZE (MARK_PROBE_COUNT * (ARGS_MAX + 1))

/* Libraries of one location for each probe whose arguments are described alike share their entries
 * in the map. */
#define SPECS_SHARED MARK_PROBE_COUNT

struct specs {
	char args[ARGS_SIZE];
	uint32_t first;
};

struct marks {
	struct marks_options o;
	struct mark_files files;
	size_t attached;
	unsigned bad;        /* files that the parser could not cope with */
	bool reported_too_many; /* that there are more than MARK_FILES_MAX */
	uint64_t look_until; /* of the look that is going on */
	bool tried;          /* what the kernel makes of nops, */
	uint32_t skip;       /* and which one is taken: kernel_try_nops() */
	struct specs *specs;
	uint32_t specs_count, specs_capacity;
	uint32_t next_spec;
	int err; /* of the look that is going on */
};

int marks_new(const struct marks_options *o, struct marks **ret)
{
	struct marks *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->o = *o;
	m->next_spec = o->first_spec;
	*ret = m;
	return 0;
}

static void report(const struct marks *m, const char *path, const char *why)
{
	if (m->o.report)
		m->o.report(m->o.ctx, path, why);
}

/* What describes the arguments of the two probes. -EPROTO: it is too long to describe any. */
static int args_of(const struct usdt_probe *const probe[MARK_PROBE_COUNT], char ret[ARGS_SIZE])
{
	for (int i = 0; i < MARK_PROBE_COUNT; i++)
		if (strlen(probe[i]->args) > ARGS_MAX)
			return -EPROTO;
	snprintf(ret, ARGS_SIZE, "%s|%s", probe[MARK_BEGIN]->args, probe[MARK_END]->args);
	return 0;
}

static uint32_t location_count(const struct usdt_probe *const probe[MARK_PROBE_COUNT])
{
	return probe[MARK_BEGIN]->locations + probe[MARK_END]->locations;
}

/* The first entry for the two probes' locations; attaching makes those that are new. -ENOSPC: there
 * is no room for them. */
static int specs_find(const struct marks *m, const struct usdt_probe *const probe[MARK_PROBE_COUNT],
		      const char *args, uint32_t *ret)
{
	for (size_t i = 0; i < m->specs_count && location_count(probe) == SPECS_SHARED; i++) {
		if (strcmp(m->specs[i].args, args))
			continue;
		*ret = m->specs[i].first;
		return 0;
	}
	if (location_count(probe) > m->o.specs_max - m->next_spec)
		return -ENOSPC;
	*ret = m->next_spec;
	return 0;
}

/* Attached by these entries: they are in use from now on. */
static void specs_keep(struct marks *m, const struct usdt_probe *const probe[MARK_PROBE_COUNT],
		       const char *args, uint32_t first)
{
	if (first != m->next_spec)
		return;
	m->next_spec += location_count(probe);
	if (location_count(probe) != SPECS_SHARED)
		return;
	if (array_grow(&m->specs, &m->specs_capacity, m->specs_count, sizeof(*m->specs)))
		return; /* the next library takes entries of its own */
	strcpy(m->specs[m->specs_count].args, args);
	m->specs[m->specs_count++].first = first;
}

static void detach_one(struct mark_file *f, enum mark_probe probe)
{
	if (f->fd[probe])
		close(f->fd[probe]);
	f->fd[probe] = 0;
	uprobe_links_free(f->links[probe]);
	f->links[probe] = NULL;
}

static uint32_t skip_of(struct marks *m, const struct usdt_probe *probe)
{
	if (!m->o.multi || probe->site != USDT_SITE_NOPS)
		return 0;
	if (!m->tried)
		m->skip = kernel_try_nops();
	m->tried = true;
	return m->skip;
}

static int attach_one(struct marks *m, struct mark_file *f, enum mark_probe probe,
		      struct uprobe_multi *u)
{
	const struct uprobe_name name = {PROVIDER, probe_names[probe],
					 probe == MARK_BEGIN ? WIRE_PROBE_mark_begin
							     : WIRE_PROBE_mark_end};
	int fd;

	if (!m->o.multi)
		return uprobe_single_attach(u, &name, &f->links[probe]);
	fd = uprobe_multi_attach(u, &name, false);
	if (fd < 0)
		return fd;
	f->fd[probe] = fd;
	return 0;
}

/* Ends come first, so that whoever is seen to begin is seen to end. -ENOENT: it has no such probes.
 */
static int attach(struct marks *m, struct mark_file *f, int file)
{
	const struct uprobe_target target = {
		.pid = m->o.pid,         .file = file,      .parser = m->o.parser,
		.deadline_ms = PARSER_RUN_MS, .program = m->o.program, .specs = m->o.specs};
	const struct usdt_probe *probe[MARK_PROBE_COUNT];
	char args[ARGS_SIZE];
	struct uprobe_multi u;
	uint32_t first = 0;
	int err = uprobe_multi_open(&u, &target);

	if (err)
		return err;
	for (int i = 0; i < MARK_PROBE_COUNT; i++)
		probe[i] = usdt_find(&u.list, PROVIDER, probe_names[i]);
	if (!probe[MARK_BEGIN] || !probe[MARK_END])
		err = -ENOENT;
	else if (m->attached == ATTACHED_MAX)
		err = -E2BIG;
	else
		err = args_of(probe, args);
	if (!err)
		err = specs_find(m, probe, args, &first);
	u.spec_count = first;
	if (!err)
		u.skip = skip_of(m, probe[MARK_BEGIN]);
	for (int i = MARK_PROBE_COUNT; i-- && !err;)
		err = attach_one(m, f, i, &u);
	if (!err)
		specs_keep(m, probe, args, first);
	else
		for (int i = 0; i < MARK_PROBE_COUNT; i++)
			detach_one(f, i);
	uprobe_multi_close(&u);
	return err;
}

static void report_bad(struct marks *m, const char *path, int err)
{
	m->bad++;
	if (err == -ECHILD)
		m->bad = BAD_MAX;
	if (m->bad < BAD_MAX)
		report(m, path,
		       err == -ETIME ? "the file could not be parsed in time"
				     : "the process that parsed the file died of it");
	else
		report(m, path,
		       "too many files could not be parsed: no more are looked at for marks");
}

static void consider(struct marks *m, struct mark_file *f, const struct process_lib *lib)
{
	const char *name = strrchr(lib->path, '/') + 1;
	int file = mapped_file_open(m->o.pid, lib), err = file < 0 ? file : 0;
	char why[160];

	if (!err) {
		err = attach(m, f, file);
		close(file);
	}
	if (!err) {
		f->attached = true;
		m->attached++;
		report(m, lib->path, NULL);
	} else if (err == -E2BIG) {
		snprintf(why, sizeof(why), "%d libraries with marks are recorded already",
			 ATTACHED_MAX);
		report(m, lib->path, why);
	} else if (err == -ENOSPC) {
		report(m, lib->path,
		       "too many libraries describe their marks' arguments otherwise");
	} else if (err == -ETIME || err == -ELIBBAD || err == -ECHILD) {
		report_bad(m, lib->path, err);
	} else if (err != -ENOENT && err != -ENOEXEC && strstr(name, LIKELY_NAME)) {
		report(m, lib->path, strerror(-err));
	}
}

static void on_library(void *ctx, const struct process_lib *lib)
{
	struct marks *m = ctx;
	struct mark_file *f;
	int err;

	if (!mark_files_find(&m->files, lib, &f)) {
		f->mapped = true;
		return;
	}
	if (m->bad >= BAD_MAX)
		return;
	if (clock_mono_ns() >= m->look_until) {
		m->err = m->err ? m->err : -EAGAIN;
		return;
	}
	err = mark_files_add(&m->files, lib, &f);
	if (!err) {
		consider(m, f, lib);
	} else if (err == -E2BIG && !m->reported_too_many) {
		m->reported_too_many = true;
		report(m, lib->path, "too many files are mapped: no more are looked at for marks");
	} else if (err == -ENOMEM) {
		m->err = err;
	}
}

static void on_gone(void *ctx, struct mark_file *f)
{
	struct marks *m = ctx;

	m->attached -= f->attached;
	for (int i = 0; i < MARK_PROBE_COUNT; i++)
		detach_one(f, i);
}

int marks_look(struct marks *m)
{
	char *maps;
	int err = process_file(m->o.pid, "maps", &maps, NULL);

	if (err)
		return err;
	/* A process that ends has no mappings any more; its probes go with it. */
	if (*maps) {
		m->err = 0;
		m->look_until = clock_mono_ns() + LOOK_MS * NS_PER_MS;
		for (size_t i = 0; i < m->files.count; i++)
			m->files.list[i].mapped = false;
		process_code_each(maps, on_library, m);
		mark_files_forget(&m->files, on_gone, m);
	}
	free(maps);
	return m->err ? m->err : (int)m->attached;
}

struct closing {
	struct mark_file *file;
	enum mark_probe probe;
	pthread_t thread;
	bool started;
};

static void *close_one(void *closing)
{
	struct closing *c = closing;

	detach_one(c->file, c->probe);
	return NULL;
}

/* Side by side, because each waits for an RCU grace period: see detach_all() in bpf_session.c. */
static void close_all(struct marks *m, enum mark_probe probe)
{
	struct closing list[ATTACHED_MAX];
	size_t n = 0;

	for (size_t i = 0; i < m->files.count && n < ATTACHED_MAX; i++) {
		if (!m->files.list[i].attached)
			continue;
		list[n] = (struct closing){.file = &m->files.list[i], .probe = probe};
		list[n].started = !pthread_create(&list[n].thread, NULL, close_one, &list[n]);
		if (!list[n].started)
			close_one(&list[n]);
		n++;
	}
	for (size_t i = 0; i < n; i++)
		if (list[i].started)
			pthread_join(list[i].thread, NULL);
}

void marks_detach(struct marks *m)
{
	if (!m)
		return;
	close_all(m, MARK_BEGIN);
	close_all(m, MARK_END);
	for (size_t i = 0; i < m->files.count; i++)
		m->files.list[i].attached = false;
	m->attached = 0;
}

void marks_free(struct marks *m)
{
	if (!m)
		return;
	marks_detach(m);
	free(m->specs);
	free(m->files.list);
	free(m);
}
