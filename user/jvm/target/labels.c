#include "jvm/target/labels.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/target/process.h"

#define TEXT_MAX 65536
#define ID_MIN 32 /* hexadecimal digits of a container's id that stands alone */

static const char *const names[LABEL_COUNT] = {
	[LABEL_POD] = "pod",
	[LABEL_CONTAINER] = "container",
	[LABEL_RUNTIME] = "runtime",
	[LABEL_UNIT] = "unit",
};

const char *label_name(enum label label)
{
	return names[label];
}

enum label label_find(const char *name, size_t length)
{
	enum label l = 0;

	while (l < LABEL_COUNT && (strlen(names[l]) != length || strncmp(names[l], name, length)))
		l++;
	return l;
}

/* A piece of a path: bytes that are not terminated. */
struct piece {
	const char *at;
	size_t length;
};

static void set(char *ret, size_t size, struct piece p)
{
	size_t n = p.length < size - 1 ? p.length : size - 1;

	for (size_t i = 0; i < n; i++)
		ret[i] = p.at[i] > ' ' && p.at[i] < 0x7f ? p.at[i] : '?';
	ret[n] = 0;
}

static void set_label(struct labels *l, enum label label, struct piece p)
{
	set(l->value[label], LABEL_VALUE_MAX, p);
}

static bool ends_with(struct piece *p, const char *suffix)
{
	size_t n = strlen(suffix);

	if (p->length <= n || strncmp(p->at + p->length - n, suffix, n))
		return false;
	p->length -= n;
	return true;
}

/* Goes on behind it. */
static bool begins_with(struct piece *p, const char *prefix)
{
	size_t n = strlen(prefix);

	if (p->length <= n || strncmp(p->at, prefix, n))
		return false;
	p->at += n;
	p->length -= n;
	return true;
}

static bool is_hex(struct piece p, size_t least)
{
	for (size_t i = 0; i < p.length; i++)
		if (!isxdigit((unsigned char)p.at[i]))
			return false;
	return p.length >= least;
}

/* "kubepods-burstable-podUID.slice" of the systemd driver, with '_' in the UID, or "podUID". */
static bool take_pod(struct labels *l, struct piece p)
{
	const char *pod = memmem(p.at, p.length, "-pod", 4);
	char *value = l->value[LABEL_POD];

	if (ends_with(&p, ".slice")) {
		if (!pod || strncmp(p.at, "kubepods", strlen("kubepods")))
			return false;
		p.length -= (size_t)(pod + 4 - p.at);
		p.at = pod + 4;
	} else if (!begins_with(&p, "pod")) {
		return false;
	}
	if (p.length < ID_MIN)
		return false;
	set_label(l, LABEL_POD, p);
	for (char *c = value; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return true;
}

/* "docker-ID.scope" and the like; an ID alone, as the cgroupfs drivers have it; "lxc.payload.NAME".
 */
static bool take_container(struct labels *l, struct piece p, struct piece parent)
{
	static const struct {
		const char *prefix, *runtime;
	} known[] = {{"cri-containerd-", "containerd"},
		     {"crio-", "crio"},
		     {"docker-", "docker"},
		     {"libpod-", "podman"},
		     {"nerdctl-", "containerd"}};
	struct piece id = p;

	if (begins_with(&id, "lxc.payload.")) {
		set_label(l, LABEL_CONTAINER, id);
		set_label(l, LABEL_RUNTIME, (struct piece){"lxc", 3});
		return true;
	}
	if (is_hex(p, ID_MIN)) {
		set_label(l, LABEL_CONTAINER, p);
		*l->value[LABEL_RUNTIME] = 0;
		if (parent.length == 6 && !strncmp(parent.at, "docker", 6))
			set_label(l, LABEL_RUNTIME, parent);
		return true;
	}
	if (!ends_with(&id, ".scope"))
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!begins_with(&id, known[i].prefix))
			continue;
		if (!is_hex(id, 12))
			return false;
		set_label(l, LABEL_CONTAINER, id);
		set_label(l, LABEL_RUNTIME,
			  (struct piece){known[i].runtime, strlen(known[i].runtime)});
		return true;
	}
	return false;
}

static void take_unit(struct labels *l, struct piece p)
{
	size_t n = strlen(l->value[LABEL_UNIT]);
	struct piece stem = p;
	bool had_service = n > 8 && !strcmp(l->value[LABEL_UNIT] + n - 8, ".service");

	if (ends_with(&stem, ".service") || (ends_with(&stem, ".scope") && !had_service))
		set_label(l, LABEL_UNIT, p);
}

static void take_path(struct labels *l, struct piece path)
{
	const char *stop = path.at + path.length;
	struct piece p = {path.at, 0}, parent = {path.at, 0};

	for (; p.at < stop; p.at += p.length + 1) {
		const char *end = memchr(p.at, '/', (size_t)(stop - p.at));

		p.length = (size_t)((end ? end : stop) - p.at);
		if (!take_pod(l, p) && !take_container(l, p, parent))
			take_unit(l, p);
		parent = p;
	}
}

void labels_parse(const char *text, struct labels *ret)
{
	struct piece path = {"", 0};

	memset(ret, 0, sizeof(*ret));
	/* "0::/path" of version 2, "4:memory:/path" of version 1: there the hierarchies agree but
	 * for those that are not used. */
	while (*text) {
		const char *end = strchrnul(text, '\n'), *colon;

		colon = memchr(text, ':', (size_t)(end - text));
		colon = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;
		if (colon && (size_t)(end - colon - 1) > path.length)
			path = (struct piece){colon + 1, (size_t)(end - colon - 1)};
		text = *end ? end + 1 : end;
	}
	set(ret->cgroup, sizeof(ret->cgroup), path);
	take_path(ret, path);
}

int labels_read(pid_t pid, struct labels *ret)
{
	size_t length;
	char *text;
	int err = process_file_head(pid, "cgroup", TEXT_MAX, &text, &length);

	if (err) {
		memset(ret, 0, sizeof(*ret));
		return err;
	}
	labels_parse(text, ret);
	free(text);
	return 0;
}
