#include "jvm/flag/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOUNTS_MAX (1u << 20)
#define NAMESPACE_INITIAL 0xeffffffbu /* PROC_CGROUP_INIT_INO of include/linux/proc_ns.h */

/* A field of mountinfo, with \040 and its like made characters again. */
static bool field_copy(const char *from, size_t len, char *ret, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = from[i];

		if (c == '\\' && i + 3 < len) {
			c = (char)((from[i + 1] - '0') << 6 | (from[i + 2] - '0') << 3 |
				   (from[i + 3] - '0'));
			i += 3;
		}
		if (n + 1 >= size)
			return false;
		ret[n++] = c;
	}
	ret[n] = 0;
	return true;
}

/* The nth field (from 0) of a line; NULL: it has not so many. */
static const char *field_of(const char *line, const char *end, int nth, size_t *ret_len)
{
	while (line < end) {
		const char *space = memchr(line, ' ', (size_t)(end - line));

		*ret_len = (size_t)((space ? space : end) - line);
		if (!nth--)
			return line;
		line += *ret_len + 1;
	}
	return NULL;
}

static void line_take(const char *line, const char *end, cgroup_take take, void *ctx)
{
	static const char separator[] = " - ";
	const char *tail = memmem(line, (size_t)(end - line), separator, strlen(separator));
	const char *root, *point, *type;
	size_t root_len, point_len, type_len;
	char procs[PATH_MAX];
	bool unified;

	if (!tail)
		return;
	type = field_of(tail + strlen(separator), end, 0, &type_len);
	root = field_of(line, tail, 3, &root_len);
	point = field_of(line, tail, 4, &point_len);
	if (!type || !root || !point || root_len != 1 || *root != '/')
		return;
	unified = type_len == 7 && !memcmp(type, "cgroup2", 7);
	if (!unified && (type_len != 6 || memcmp(type, "cgroup", 6) != 0))
		return;
	if (!field_copy(point, point_len, procs, sizeof(procs) - sizeof("/cgroup.procs")))
		return;
	strcat(procs, "/cgroup.procs");
	take(ctx, procs, unified);
}

void cgroup_tops_each(const char *mountinfo, cgroup_take take, void *ctx)
{
	while (*mountinfo) {
		const char *end = strchrnul(mountinfo, '\n');

		line_take(mountinfo, end, take, ctx);
		mountinfo = *end ? end + 1 : end;
	}
}

static char *text_read(const char *path)
{
	char *text = malloc(MOUNTS_MAX);
	size_t len = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (text && fd >= 0 && len < MOUNTS_MAX - 1 &&
	       (n = read(fd, text + len, MOUNTS_MAX - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (!text || fd < 0 || n < 0) {
		free(text);
		return NULL;
	}
	text[len] = 0;
	return text;
}

struct way_out {
	bool only_ask;
	int tops;
	int err; /* the first */
};

static void top_enter(void *ctx, const char *procs, bool unified)
{
	struct way_out *w = ctx;
	int fd, err = 0;

	(void)unified;
	w->tops++;
	fd = open(procs, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || (!w->only_ask && write(fd, "0", 1) != 1))
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err && !w->err)
		w->err = err;
}

static int tops_enter(bool only_ask)
{
	struct way_out w = {.only_ask = only_ask};
	char *mounts = text_read("/proc/self/mountinfo");

	if (!mounts)
		return -ENOENT;
	cgroup_tops_each(mounts, top_enter, &w);
	free(mounts);
	return w.tops ? w.err : -ENOENT;
}

int cgroup_leave(void)
{
	return tops_enter(false);
}

int cgroup_may_leave(void)
{
	return tops_enter(true);
}

bool cgroup_is_namespaced(void)
{
	struct stat s;

	return !stat("/proc/self/ns/cgroup", &s) && s.st_ino != NAMESPACE_INITIAL;
}
