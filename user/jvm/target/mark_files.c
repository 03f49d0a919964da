#include "jvm/target/mark_files.h"

#include <errno.h>
#include <string.h>

#include "base/tables/array.h"
#include "jvm/target/process.h"

/*
 * The keys are the target's choice, so they are bisected, not hashed: no inode numbers make it
 * slow. A new one moves at most MARK_FILES_MAX entries.
 */

static int order(const struct mark_file *f, const struct process_lib *lib)
{
	const uint64_t a[] = {f->dev_major, f->dev_minor, f->inode};
	const uint64_t b[] = {lib->dev_major, lib->dev_minor, lib->inode};

	for (size_t i = 0; i < sizeof(a) / sizeof(*a); i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* The index of the first that is not before lib. */
static size_t index_for(const struct mark_files *m, const struct process_lib *lib)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (order(&m->list[mid], lib) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int mark_files_find(const struct mark_files *m, const struct process_lib *lib,
		    struct mark_file **ret)
{
	size_t at = index_for(m, lib);

	if (at == m->count || order(&m->list[at], lib))
		return -ENOENT;
	*ret = &m->list[at];
	return 0;
}

int mark_files_add(struct mark_files *m, const struct process_lib *lib, struct mark_file **ret)
{
	size_t at = index_for(m, lib);

	if (m->count == MARK_FILES_MAX)
		return -E2BIG;
	if (array_grow(&m->list, &m->capacity, m->count, sizeof(*m->list)))
		return -ENOMEM;
	memmove(&m->list[at + 1], &m->list[at], (m->count - at) * sizeof(*m->list));
	m->count++;
	m->list[at] = (struct mark_file){.inode = lib->inode,
					 .dev_major = lib->dev_major,
					 .dev_minor = lib->dev_minor,
					 .mapped = true};
	*ret = &m->list[at];
	return 0;
}

void mark_files_forget(struct mark_files *m, void (*gone)(void *ctx, struct mark_file *f),
		       void *ctx)
{
	uint32_t kept = 0;

	for (size_t i = 0; i < m->count; i++) {
		if (m->list[i].mapped)
			m->list[kept++] = m->list[i];
		else
			gone(ctx, &m->list[i]);
	}
	m->count = kept;
}
