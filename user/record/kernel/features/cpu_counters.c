/* record/kernel/features/cpu_counters.c: see cpu_counters.h */
#include "record/kernel/features/cpu_counters.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

/* values: those of all CPUs for each key, in the order of the keys. */
static int read_at_once(int fd, __u32 *keys, uint64_t *values, unsigned count)
{
	__u32 next = 0, read = count;
	int err = bpf_map_lookup_batch(fd, NULL, &next, keys, values, &read, NULL);

	if (err && errno != ENOENT) /* of which the map has no more */
		return -errno;
	return read == count ? 0 : -EINVAL;
}

static int read_each(int fd, uint64_t *values, unsigned count, unsigned cpus)
{
	for (__u32 key = 0; key < count; key++)
		if (bpf_map_lookup_elem(fd, &key, &values[(size_t)key * cpus]))
			return -errno;
	return 0;
}

int cpu_counters_read(const struct bpf_map *map, uint64_t *ret, unsigned count)
{
	unsigned cpus = (unsigned)libbpf_num_possible_cpus();
	uint64_t *values = calloc((size_t)count * cpus, sizeof(*values));
	__u32 *keys = calloc(count, sizeof(*keys));
	int err = -ENOMEM;

	if (values && keys) {
		err = read_at_once(bpf_map__fd(map), keys, values, count);
		if (err)
			err = read_each(bpf_map__fd(map), values, count, cpus);
	}
	for (unsigned key = 0; !err && key < count; key++) {
		ret[key] = 0;
		for (unsigned i = 0; i < cpus; i++)
			ret[key] += values[(size_t)key * cpus + i];
	}
	free(values);
	free(keys);
	return err;
}
