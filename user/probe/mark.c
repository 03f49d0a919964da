/*
 * An application that marks its work has a library with the probes spoor_mark:begin and
 * spoor_mark:end in it: unpacked from its jar to a temporary file, loaded, and removed. So it is
 * not at a path that could be known: any file that is mapped executable may be it. Each is looked
 * at once, by its inode; when a mapping is gone, its inode may come back as another file, and is
 * forgotten. Two class loaders with the jar have two libraries.
 *
 * A file that is deleted, or in another mount namespace, is opened through /proc (jvm/process.c).
 * A uprobe belongs to the inode: the path is needed until it is attached.
 */
#include "probe/mark.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jvm/process.h"
#include "probe/uprobe_multi.h"
#include "probe/usdt.h"

#define PROVIDER "spoor_mark"
#define LIKELY_NAME "spoor-mark" /* of a library that it would be a pity not to read */
#define ATTACHED_MAX 64

enum probe { BEGIN, END, PROBE_COUNT };

static const char *const probe_names[PROBE_COUNT] = {"begin", "end"};

struct file {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool mapped;   /* seen in this look */
	bool attached; /* by the following */
	struct bpf_link *link[PROBE_COUNT];
	int fd[PROBE_COUNT]; /* of uprobe_multi links; 0: none */
};

/* Places whose arguments are described alike share their entries in the map. */
struct specs {
	char *args;
	uint32_t first;
};

struct marks {
	struct marks_options o;
	struct file *files;
	size_t count, capacity, attached;
	struct specs *specs;
	size_t specs_count;
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

static void tell(const struct marks *m, const char *path, const char *why)
{
	if (m->o.tell)
		m->o.tell(m->o.ctx, path, why);
}

/* The first entry for the two probes' places; they are made when somebody attaches. */
static int specs_for(struct marks *m, const struct usdt_probe *const probe[PROBE_COUNT],
		     uint32_t *ret)
{
	struct specs *grown;
	char *args;

	if (asprintf(&args, "%s|%s", probe[BEGIN]->args, probe[END]->args) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < m->specs_count; i++) {
		if (strcmp(m->specs[i].args, args) || probe[BEGIN]->locations != 1 ||
		    probe[END]->locations != 1)
			continue;
		free(args);
		*ret = m->specs[i].first;
		return 0;
	}
	grown = realloc(m->specs, (m->specs_count + 1) * sizeof(*grown));
	if (!grown) {
		free(args);
		return -ENOMEM;
	}
	m->specs = grown;
	m->specs[m->specs_count++] = (struct specs){args, m->next_spec};
	*ret = m->next_spec;
	m->next_spec += probe[BEGIN]->locations + probe[END]->locations;
	return 0;
}

static void detach_one(struct file *f, enum probe probe)
{
	if (f->fd[probe])
		close(f->fd[probe]);
	f->fd[probe] = 0;
	bpf_link__destroy(f->link[probe]);
	f->link[probe] = NULL;
}

static int attach_one(struct marks *m, struct file *f, enum probe probe, const char *path,
		      struct uprobe_multi *u)
{
	struct bpf_program *program = probe == BEGIN ? m->o.begin : m->o.end;
	int fd;

	if (!m->o.multi) {
		f->link[probe] = bpf_program__attach_usdt(program, m->o.pid, path, PROVIDER,
							  probe_names[probe], NULL);
		return f->link[probe] ? 0 : -errno;
	}
	fd = uprobe_multi_attach(u, program, PROVIDER, probe_names[probe], false);
	if (fd < 0)
		return fd;
	f->fd[probe] = fd;
	return 0;
}

/* Ends come first, so that whoever is seen to begin is seen to end. -ENOENT: it has no such probes.
 */
static int attach(struct marks *m, struct file *f, const char *path)
{
	const struct usdt_probe *probe[PROBE_COUNT];
	struct uprobe_multi u;
	int err = uprobe_multi_open(&u, m->o.pid, path, m->o.specs);

	if (err)
		return err;
	for (int i = 0; i < PROBE_COUNT; i++)
		probe[i] = usdt_find(&u.list, PROVIDER, probe_names[i]);
	if (!probe[BEGIN] || !probe[END])
		err = -ENOENT;
	else if (m->attached == ATTACHED_MAX)
		err = -E2BIG;
	else
		err = specs_for(m, probe, &u.spec_count);
	for (int i = PROBE_COUNT; i-- && !err;)
		err = attach_one(m, f, i, path, &u);
	if (err)
		for (int i = 0; i < PROBE_COUNT; i++)
			detach_one(f, i);
	uprobe_multi_close(&u);
	return err;
}

static void consider(struct marks *m, struct file *f, const struct process_lib *lib)
{
	const char *name = strrchr(lib->path, '/') + 1;
	char path[PATH_MAX], why[160];
	int err = process_lib_path(m->o.pid, lib, path, sizeof(path));

	if (!err)
		err = attach(m, f, path);
	if (!err) {
		f->attached = true;
		m->attached++;
		tell(m, lib->path, NULL);
	} else if (err == -E2BIG) {
		snprintf(why, sizeof(why), "%d libraries with marks are recorded already",
			 ATTACHED_MAX);
		tell(m, lib->path, why);
	} else if (err != -ENOENT && err != -ENOEXEC && strstr(name, LIKELY_NAME)) {
		tell(m, lib->path, strerror(-err));
	}
}

static struct file *find(struct marks *m, const struct process_lib *lib)
{
	for (size_t i = 0; i < m->count; i++) {
		struct file *f = &m->files[i];

		if (f->inode == lib->inode && f->dev_major == lib->dev_major &&
		    f->dev_minor == lib->dev_minor)
			return f;
	}
	return NULL;
}

static void on_library(void *ctx, const struct process_lib *lib)
{
	struct marks *m = ctx;
	struct file *f = find(m, lib);

	if (f) {
		f->mapped = true;
		return;
	}
	if (m->count == m->capacity) {
		size_t capacity = m->capacity * 2 + 64;
		struct file *grown = realloc(m->files, capacity * sizeof(*grown));

		if (!grown) {
			m->err = -ENOMEM;
			return;
		}
		m->files = grown;
		m->capacity = capacity;
	}
	f = &m->files[m->count++];
	*f = (struct file){.inode = lib->inode,
			   .dev_major = lib->dev_major,
			   .dev_minor = lib->dev_minor,
			   .mapped = true};
	consider(m, f, lib);
}

static void forget_unmapped(struct marks *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct file *f = &m->files[i];

		if (f->mapped) {
			m->files[kept++] = *f;
			continue;
		}
		m->attached -= f->attached;
		for (int k = 0; k < PROBE_COUNT; k++)
			detach_one(f, k);
	}
	m->count = kept;
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
		for (size_t i = 0; i < m->count; i++)
			m->files[i].mapped = false;
		process_code_each(maps, on_library, m);
		forget_unmapped(m);
	}
	free(maps);
	return m->err ? m->err : (int)m->attached;
}

struct closing {
	struct file *file;
	enum probe probe;
	pthread_t thread;
	bool started;
};

static void *close_one(void *closing)
{
	struct closing *c = closing;

	detach_one(c->file, c->probe);
	return NULL;
}

/* Side by side, because each waits for an RCU grace period: see detach_all() in programs.c. */
static void close_all(struct marks *m, enum probe probe)
{
	struct closing list[ATTACHED_MAX];
	size_t n = 0;

	for (size_t i = 0; i < m->count && n < ATTACHED_MAX; i++) {
		if (!m->files[i].attached)
			continue;
		list[n] = (struct closing){.file = &m->files[i], .probe = probe};
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
	close_all(m, BEGIN);
	close_all(m, END);
	for (size_t i = 0; i < m->count; i++)
		m->files[i].attached = false;
	m->attached = 0;
}

void marks_free(struct marks *m)
{
	if (!m)
		return;
	marks_detach(m);
	for (size_t i = 0; i < m->specs_count; i++)
		free(m->specs[i].args);
	free(m->specs);
	free(m->files);
	free(m);
}
