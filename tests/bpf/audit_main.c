/*
 * The scheduler's source of steal time, as it is: for each line on stdin a sample, as one line of JSON.
 *
 *     audit [-c CLOCK] [-p PID] [-t THEFT_NS] [-m THREADS_MAX]
 *
 * With it goes what /proc/stat says of steal, read at the same moment, more or less. The first line of
 * its output tells of the source; "end" on stdin, or its end, ends it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/kernel/steal_audit.h"
#include "steal/sources/procstat.h"
#include "steal/sources/source.h"

#define CPUS_MAX 1024

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++)
		if (*text >= ' ' && *text < 127 && *text != '"' && *text != '\\')
			putchar(*text);
	putchar('"');
}

static void print_thread(const struct steal_thread *t, const char *before)
{
	printf("%s{\"tid\":%d,\"pid\":%d,\"start_ticks\":%" PRIu64 ",\"cpu_ns\":%" PRIu64
	       ",\"stolen_ns\":%" PRIu64 ",\"fresh\":%s,\"ended\":%s,\"comm\":",
	       before, t->tid, t->pid, t->start_ticks, t->cpu_ns, t->stolen_ns,
	       t->fresh ? "true" : "false", t->ended ? "true" : "false");
	print_string(t->comm);
	printf("}");
}

static void emit_theft(const struct steal_theft *t, const char *before)
{
	printf("%s{\"time_ns\":%" PRIu64 ",\"ns\":%" PRIu64
	       ",\"cpu\":%u,\"tid\":%d,\"pid\":%d,\"comm\":",
	       before, t->time_ns, t->ns, t->cpu, t->tid, t->pid);
	print_string(t->comm);
	printf("}");
}

/* In ticks, by CPU; of one that is offline, 0. */
static void print_stat(void)
{
	static struct procstat_cpu cpus[CPUS_MAX];
	long count = sysconf(_SC_NPROCESSORS_CONF);

	if (procstat_read(cpus, CPUS_MAX) <= 0)
		return;
	printf(",\"stat_steal\":[");
	for (long i = 0; i < count && i < CPUS_MAX; i++)
		printf("%s%" PRIu64, i ? "," : "", cpus[i].steal);
	printf("]");
}

static void tell(const struct steal_sample *s)
{
	printf("{\"time_ns\":%" PRIu64 ",\"cpus\":[", s->time_ns);
	for (size_t i = 0; i < s->cpu_count; i++)
		printf("%s{\"cpu\":%u,\"steal_ns\":%" PRIu64 ",\"busy_ns\":%" PRIu64
		       ",\"idle_ns\":%" PRIu64 "}",
		       i ? "," : "", s->cpus[i].cpu, s->cpus[i].steal_ns, s->cpus[i].busy_ns,
		       s->cpus[i].idle_ns);
	printf("],\"threads\":[");
	for (size_t i = 0; i < s->thread_count; i++)
		print_thread(&s->threads[i], i ? "," : "");
	printf("],\"thefts\":[");
	for (size_t i = 0; i < s->theft_count; i++)
		emit_theft(&s->thefts[i], i ? "," : "");
	printf("],\"idle_stolen_ns\":%" PRIu64 ",\"thefts_lost\":%" PRIu64
	       ",\"threads_lost\":%" PRIu64 ",\"histogram\":[",
	       s->idle_stolen_ns, s->thefts_lost, s->threads_lost);
	for (size_t i = 0; i < STEAL_SLOTS; i++)
		printf("%s%" PRIu64, i ? "," : "", s->histogram[i]);
	printf("]");
	print_stat();
	printf("}\n");
	fflush(stdout);
}

static int options(int argc, char **argv, struct audit_options *ret)
{
	int o;

	while ((o = getopt(argc, argv, "c:m:p:t:")) != -1) {
		switch (o) {
		case 'c':
			ret->clock = optarg;
			break;
		case 'm':
			ret->threads_max = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'p':
			ret->pid = (pid_t)strtol(optarg, NULL, 10);
			break;
		case 't':
			ret->theft_ns = strtoull(optarg, NULL, 10);
			break;
		default:
			return -1;
		}
	}
	return optind == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct audit_options o = {.theft_ns = 1000000};
	const struct steal_sample *sample;
	char why[AUDIT_WHY_MAX] = "", line[64];
	struct steal_source *source;
	int err = options(argc, argv, &o);

	if (err) {
		fprintf(stderr, "usage: %s [-c CLOCK] [-p PID] [-t THEFT_NS] [-m THREADS_MAX]\n",
			argv[0]);
		return 2;
	}
	err = audit_open(&o, &source, why);
	if (err) {
		fprintf(stderr, "audit: %s (%s)\n", why, strerror(-err));
		return 1;
	}
	printf("{\"name\":\"%s\",\"clock\":\"%s\",\"resolution_ns\":%" PRIu64 ",\"exact\":%s}\n",
	       source->name, source->clock, source->resolution_ns,
	       source->exact ? "true" : "false");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n") != 0) {
		err = steal_source_sample(source, &sample);
		if (err < 0)
			fprintf(stderr, "audit: no sample: %s\n", strerror(-err));
		if (err <= 0)
			break;
		tell(sample);
	}
	steal_source_free(source);
	return err < 0;
}
