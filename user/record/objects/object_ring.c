#include "record/objects/object_ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINK_NAME "/memfd:" SPOOR_OBJECTS_NAME " (deleted)"
#define HEAP_BYTES_MAX (1ull << 46)

static bool fits(uint64_t offset, uint64_t count, uint64_t each, uint64_t all)
{
	return offset <= all && count <= (all - offset) / each;
}

static bool makes_sense(const struct spoor_objects_head *h, const struct object_ring *r)
{
	return h->bytes == r->bytes && r->slots && r->slot_bytes && !(r->slot_bytes % 8) &&
	       r->slot_bytes <= OBJECT_SLOT_BYTES_MAX && !(r->slot_table % 8) &&
	       !(r->slot_area % 8) && !(r->names % 8) &&
	       fits(r->slot_table, r->slots, sizeof(struct spoor_objects_slot), r->bytes) &&
	       fits(r->slot_area, r->slots, r->slot_bytes, r->bytes) &&
	       fits(r->names, r->names_bytes, 1, r->bytes) && r->heap_shift >= 3 &&
	       r->heap_shift <= 8 && r->heap_bytes <= HEAP_BYTES_MAX;
}

static int take_head(struct object_ring *r)
{
	struct spoor_objects_head *shared = object_ring_head(r), h;

	if (__atomic_load_n(&shared->magic, __ATOMIC_ACQUIRE) != SPOOR_OBJECTS_MAGIC)
		return shared->magic ? -EPROTO : -EAGAIN;
	memcpy(&h, shared, sizeof(h)); /* checked and used is this copy */
	if (h.version != SPOOR_OBJECTS_VERSION)
		return -EPROTO;
	r->version = h.version;
	r->pid = h.pid;
	r->slots = h.slots;
	r->slot_bytes = h.slot_bytes;
	r->slot_table = h.slot_table;
	r->slot_area = h.slot_area;
	r->names = h.names;
	r->names_bytes = h.names_bytes;
	r->heap_base = h.heap_base;
	r->heap_bytes = h.heap_bytes;
	r->heap_shift = h.heap_shift;
	r->mode = h.mode;
	r->switched = h.switched == 1;
	return makes_sense(&h, r) ? 0 : -EPROTO;
}

int object_ring_map(int fd, struct object_ring *ret)
{
	struct object_ring r = {0};
	int seals = fcntl(fd, F_GET_SEALS), err;
	struct statfs fs;
	struct stat st;
	void *p;

	memset(ret, 0, sizeof(*ret));
	if (fstat(fd, &st) || fstatfs(fd, &fs))
		return -errno;
	/* One of huge pages may have none left when it is read, which is a SIGBUS. */
	if (fs.f_type != TMPFS_MAGIC)
		return -EPROTO;
	if (!st.st_size)
		return -EAGAIN;
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return seals < 0 ? -EPROTO : -EAGAIN;
	if ((uint64_t)st.st_size < sizeof(struct spoor_objects_head) ||
	    (uint64_t)st.st_size > OBJECT_RING_BYTES_MAX)
		return -EPROTO;
	r.bytes = (size_t)st.st_size;
	p = mmap(NULL, r.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r.memory = p;
	err = take_head(&r);
	if (err)
		object_ring_close(&r);
	else
		*ret = r;
	return err;
}

/* The descriptor with the ring; -ENOENT. What its link says is the target's word: so it is looked
 * at before it is opened, and is opened only if it is a regular file. */
static int descriptor_open(const char *path)
{
	char link[sizeof(LINK_NAME) + 1], seen_path[64];
	struct stat st;
	int seen, fd;
	ssize_t n = readlink(path, link, sizeof(link));

	if (n != sizeof(LINK_NAME) - 1 || memcmp(link, LINK_NAME, sizeof(LINK_NAME) - 1) != 0)
		return -ENOENT;
	seen = open(path, O_PATH | O_CLOEXEC);
	if (seen < 0)
		return -errno;
	snprintf(seen_path, sizeof(seen_path), "/proc/self/fd/%d", seen);
	fd = fstat(seen, &st) || !S_ISREG(st.st_mode)
		     ? -1
		     : open(seen_path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		fd = errno ? -errno : -ENOENT;
	close(seen);
	return fd;
}

/* The lock ends with this process, however that ends. */
static int ring_take(int fd, struct object_ring *ret)
{
	int err = 0;

	/* Its EWOULDBLOCK is object_ring_map's EAGAIN, which is something else. */
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (!err)
		err = object_ring_map(fd, ret);
	if (err)
		close(fd);
	else
		ret->file = fd;
	return err;
}

int object_ring_open(pid_t pid, struct object_ring *ret)
{
	int err = -ENOENT, fd;
	struct dirent *e;
	char path[64];
	DIR *folder;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (!folder)
		return -errno;
	while (err == -ENOENT && (e = readdir(folder))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' || strlen(e->d_name) > 10)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%.10s", (int)pid, e->d_name);
		fd = descriptor_open(path);
		if (fd < 0) {
			err = fd == -EACCES || fd == -EPERM ? fd : -ENOENT;
			continue;
		}
		err = ring_take(fd, ret);
	}
	closedir(folder);
	return err;
}

void object_ring_close(struct object_ring *r)
{
	if (r->memory)
		munmap(r->memory, r->bytes);
	r->memory = NULL;
	if (r->file)
		close(r->file);
	r->file = 0;
}

bool object_ring_is_off(const struct object_ring *r)
{
	return __atomic_load_n(&object_ring_head(r)->off_ns, __ATOMIC_ACQUIRE) != 0;
}
