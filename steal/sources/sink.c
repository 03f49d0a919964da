#include "steal/sources/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/tables/array.h"
#include "base/text/units.h"

uint64_t steal_boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t steal_tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return NS_PER_S / (uint64_t)(hz > 0 ? hz : 100);
}

uint64_t steal_ticks_to_ns(uint64_t ticks, uint64_t tick_ns)
{
	return ticks > UINT64_MAX / tick_ns ? UINT64_MAX : ticks * tick_ns;
}

void steal_sink_begin(struct steal_sink *to)
{
	memset(&to->sample, 0, sizeof(to->sample));
	to->sample.time_ns = clock_mono_ns();
	to->sample.boot_ns = steal_boot_ns();
	to->err = 0;
}

int steal_sink_end(struct steal_sink *to, const struct steal_sample **ret)
{
	if (to->err)
		return to->err;
	if (!to->sample.end_ns)
		to->sample.end_ns = clock_mono_ns();
	to->sample.cpus = to->cpus;
	to->sample.threads = to->threads;
	to->sample.processes = to->processes;
	to->sample.thefts = to->thefts;
	*ret = &to->sample;
	return 0;
}

void steal_sink_free(struct steal_sink *to)
{
	free(to->cpus);
	free(to->threads);
	free(to->processes);
	free(to->thefts);
	memset(to, 0, sizeof(*to));
}

/* Room for one more of size bytes; items is the address of the pointer to the first. NULL: there is
 * none, and the sink has its error. */
static void *grow(struct steal_sink *to, void *items, size_t *count, uint32_t *capacity,
		  size_t size)
{
	char *first;

	if (!to->err)
		to->err = array_grow(items, capacity, (uint32_t)*count, size);
	if (to->err)
		return NULL;
	memcpy(&first, items, sizeof(first));
	return first + (*count)++ * size;
}

/* What comes from outside need not end its name. */
static void end_name(char name[STEAL_COMM_MAX])
{
	name[STEAL_COMM_MAX - 1] = 0;
}

void steal_push_cpu(struct steal_sink *to, const struct steal_cpu *cpu)
{
	struct steal_cpu *room =
		grow(to, &to->cpus, &to->sample.cpu_count, &to->cpu_capacity, sizeof(*room));

	if (room)
		*room = *cpu;
}

void steal_push_thread(struct steal_sink *to, const struct steal_thread *thread)
{
	struct steal_thread *room = grow(to, &to->threads, &to->sample.thread_count,
					 &to->thread_capacity, sizeof(*room));

	if (room) {
		*room = *thread;
		end_name(room->comm);
	}
}

void steal_push_process(struct steal_sink *to, const struct steal_process *process)
{
	struct steal_process *room = grow(to, &to->processes, &to->sample.process_count,
					  &to->process_capacity, sizeof(*room));

	if (room) {
		*room = *process;
		end_name(room->comm);
	}
}

void steal_push_theft(struct steal_sink *to, const struct steal_theft *theft)
{
	struct steal_theft *room = grow(to, &to->thefts, &to->sample.theft_count,
					&to->theft_capacity, sizeof(*room));

	if (room) {
		*room = *theft;
		end_name(room->comm);
	}
}

void steal_push_idle_stolen(struct steal_sink *to, uint64_t ns)
{
	to->sample.idle_stolen_ns = ns;
}

void steal_push_histogram(struct steal_sink *to, const uint64_t counts[STEAL_SLOTS])
{
	memcpy(to->sample.histogram, counts, sizeof(to->sample.histogram));
}

void steal_push_lost(struct steal_sink *to, uint64_t thefts, uint64_t threads)
{
	to->sample.thefts_lost = thefts;
	to->sample.threads_lost = threads;
}
