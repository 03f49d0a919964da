#include "jvm/target/mem.h"

#include "base/arch/arch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPAN_MAX (16ull << 20)
#define SPAN_STRING_MAX 1024

static int process_read(const struct mem *m, uint64_t addr, void *ret, size_t len)
{
	char *at = ret;

	while (len) {
		ssize_t n = addr > INT64_MAX ? -1 : pread(m->fd, at, len, (off_t)addr);

		if (n < 0 && addr <= INT64_MAX && errno == EINTR)
			continue;
		/* The kernel says EIO for an address without a page, and 0 once the address space
		 * is gone. */
		if (n < 0)
			return -EFAULT;
		if (n == 0)
			return -ESRCH;
		at += n;
		addr += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int mem_open(pid_t pid, struct mem *ret)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	*ret = (struct mem){.read = process_read, .fd = fd};
	return 0;
}

void mem_close(struct mem *m)
{
	if (m->read == process_read && m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

int mem_u16(const struct mem *m, uint64_t addr, uint16_t *ret)
{
	return m->read(m, addr, ret, sizeof(*ret));
}

int mem_u32(const struct mem *m, uint64_t addr, uint32_t *ret)
{
	return m->read(m, addr, ret, sizeof(*ret));
}

int mem_u64(const struct mem *m, uint64_t addr, uint64_t *ret)
{
	return m->read(m, addr, ret, sizeof(*ret));
}

int mem_number(const struct mem *m, uint64_t addr, uint32_t bytes, uint64_t *ret)
{
	uint64_t number = 0;
	int err = bytes <= sizeof(number) ? m->read(m, addr, &number, bytes) : -EINVAL;

	if (!err)
		*ret = number; /* the least significant byte is the first */
	return err;
}

int mem_string(const struct mem *m, uint64_t addr, char *ret, size_t size)
{
	size_t done = 0;

	while (done < size - 1) {
		/* Never across a page: the next one need not exist. */
		size_t n = ARCH_PAGE_MIN - (addr + done) % ARCH_PAGE_MIN;
		int err;

		if (n > size - 1 - done)
			n = size - 1 - done;
		err = m->read(m, addr + done, ret + done, n);
		if (err)
			return err;
		if (memchr(ret + done, 0, n))
			return 0;
		done += n;
	}
	ret[done] = 0;
	return 0;
}

int mem_span_read(const struct mem *m, uint64_t low, uint64_t high, struct mem_span *ret)
{
	struct mem_span s = {.start = low & ~(ARCH_PAGE_MIN - 1)};
	uint64_t end;
	int err;

	if (high < low || high - s.start > SPAN_MAX)
		return -E2BIG;
	end = (high | (ARCH_PAGE_MIN - 1)) + 1;
	s.size = end - s.start + ARCH_PAGE_MIN;
	s.bytes = malloc(s.size);
	if (!s.bytes)
		return -ENOMEM;
	err = m->read(m, s.start, s.bytes, s.size);
	if (err == -EFAULT) {
		/* The last string may stand in the last page of its mapping. */
		s.size -= ARCH_PAGE_MIN;
		err = m->read(m, s.start, s.bytes, s.size);
	}
	if (err) {
		free(s.bytes);
		return err;
	}
	*ret = s;
	return 0;
}

const char *mem_span_string(const struct mem_span *s, uint64_t addr)
{
	size_t left;

	if (addr < s->start || addr - s->start >= s->size)
		return NULL;
	/* Whoever compares or sorts these strings depends on their lengths. */
	left = s->size - (addr - s->start);
	if (!memchr(s->bytes + (addr - s->start), 0,
		    left < SPAN_STRING_MAX ? left : SPAN_STRING_MAX))
		return NULL;
	return s->bytes + (addr - s->start);
}
