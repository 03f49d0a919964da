#include "record/kernel/features/vmlinux_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH "/sys/kernel/btf/vmlinux"

/* libbpf asks for the types by this name, in a file of its own: the linker's --wrap has it call
 * btf_load_lent(). */
extern struct btf *btf_load_real(void) __asm__("__real_btf__load_vmlinux_btf");
extern struct btf *btf_load_lent(void) __asm__("__wrap_btf__load_vmlinux_btf");

/* What is lent from now on, for what was. */
static struct btf *exchange(struct btf *btf)
{
	static struct btf *lent;

	return __atomic_exchange_n(&lent, btf, __ATOMIC_ACQ_REL);
}

/* The file can be mapped since Linux 6.16; a read() gives 4 KB, and libbpf reads into memory that
 * it copies. */
static struct btf *map_and_load(void)
{
	int fd = open(PATH, O_RDONLY | O_CLOEXEC);
	struct btf *btf = NULL;
	void *bytes = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size <= UINT32_MAX)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd,
			     0);
	close(fd);
	if (bytes == MAP_FAILED)
		return NULL;
	btf = btf__new(bytes, (__u32)st.st_size);
	munmap(bytes, (size_t)st.st_size);
	return btf;
}

struct btf *vmlinux_btf_load(void)
{
	struct btf *btf = map_and_load();

	return btf ? btf : btf_load_real();
}

void vmlinux_btf_lend(struct btf *btf)
{
	btf__free(exchange(btf));
}

extern struct btf *btf_load_lent(void)
{
	struct btf *btf = exchange(NULL);

	return btf ? btf : vmlinux_btf_load();
}
