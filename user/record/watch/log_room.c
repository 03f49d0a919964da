#include "record/watch/log_room.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/tables/array.h"

struct part {
	char name[256];
	uint64_t bytes;
	struct timespec written;
};

struct parts {
	struct part *list;
	uint32_t count, capacity;
};

void log_room_stem(const char *name, pid_t pid, int64_t wall_s, char ret[LOG_ROOM_STEM_MAX])
{
	time_t wall = (time_t)wall_s;
	struct tm tm = {0};
	char when[32];

	localtime_r(&wall, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(ret, LOG_ROOM_STEM_MAX, "%.64s-%d-%s", name, (int)pid, when);
}

/* Goes back over so many digits before end; false: there are others. 0: any, one at least. */
static bool digits(const char *begin, const char **end, int count)
{
	int n = 0;

	while (*end > begin && isdigit((unsigned char)(*end)[-1]) && (!count || n < count)) {
		(*end)--;
		n++;
	}
	return count ? n == count : n;
}

static bool dash(const char *begin, const char **end)
{
	return *end > begin && *--*end == '-';
}

/* Of NAME-PID-YYYYMMDD-HHMMSS-NNNNNN.spoor the stem, NAME-PID-YYYYMMDD-HHMMSS. */
static bool stem_of(const char *name, char ret[LOG_ROOM_STEM_MAX])
{
	const char *end = name + strlen(name) - strlen(".spoor"), *stem;

	if (end <= name || strcmp(end, ".spoor"))
		return false;
	if (!digits(name, &end, 0) || !dash(name, &end))
		return false;
	stem = end;
	if (!digits(name, &end, 6) || !dash(name, &end) || !digits(name, &end, 8) ||
	    !dash(name, &end) || !digits(name, &end, 0) || !dash(name, &end) || end == name ||
	    stem - name >= LOG_ROOM_STEM_MAX)
		return false;
	memcpy(ret, name, (size_t)(stem - name));
	ret[stem - name] = 0;
	return true;
}

static int by_age(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->written.tv_sec != y->written.tv_sec)
		return x->written.tv_sec < y->written.tv_sec ? -1 : 1;
	if (x->written.tv_nsec != y->written.tv_nsec)
		return x->written.tv_nsec < y->written.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Those of logs that are not being written. */
static int list_ended(const struct log_room *r, bool (*is_live)(void *ctx, const char *stem),
		      void *ctx, struct parts *ret)
{
	/* A descriptor of its own: the position is the descriptor's. */
	int fd = openat(r->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	char stem[LOG_ROOM_STEM_MAX];
	struct dirent *entry;
	struct stat st;
	int err = 0;

	if (!dir) {
		err = errno ? -errno : -EIO;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(dir))) {
		if (!stem_of(entry->d_name, stem) || is_live(ctx, stem) ||
		    fstatat(r->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		err = array_grow(&ret->list, &ret->capacity, ret->count, sizeof(*ret->list));
		if (err)
			break;
		snprintf(ret->list[ret->count].name, sizeof(ret->list->name), "%s", entry->d_name);
		ret->list[ret->count].bytes = (uint64_t)st.st_size;
		ret->list[ret->count++].written = st.st_mtim;
	}
	closedir(dir);
	return err;
}

int log_room_reserve(struct log_room *r, uint64_t bytes,
		     bool (*is_live)(void *ctx, const char *stem), void *ctx,
		     struct log_room_freed *ret)
{
	struct parts parts = {0};
	uint64_t there = 0;
	int err;

	*ret = (struct log_room_freed){0};
	if (bytes > r->max_bytes || r->reserved > r->max_bytes - bytes)
		return -ENOSPC;
	err = list_ended(r, is_live, ctx, &parts);
	if (!err && parts.count)
		qsort(parts.list, parts.count, sizeof(*parts.list), by_age);
	for (uint32_t i = 0; i < parts.count; i++)
		there += parts.list[i].bytes;
	for (uint32_t i = 0; !err && i < parts.count && there > r->max_bytes - bytes - r->reserved;
	     i++) {
		if (unlinkat(r->folder, parts.list[i].name, 0) && errno != ENOENT) {
			err = -errno;
			break;
		}
		there -= parts.list[i].bytes;
		ret->bytes += parts.list[i].bytes;
		ret->files++;
	}
	free(parts.list);
	if (!err)
		r->reserved += bytes;
	return err;
}

void log_room_release(struct log_room *r, uint64_t bytes)
{
	r->reserved -= bytes;
}
