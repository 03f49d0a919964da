/*
 * A load that does little but switch: two threads on one CPU pass a token to and fro.
 *
 *     switch_load [-c CPU] [-n SWITCHES] [-r RATE | -k WORK]
 *
 * Each of the two has its turn when the other has written a byte to its pipe, and so on SWITCHES times
 * in all; -r: with so much work in each turn that there are about RATE switches a second (0: none);
 * -k: with as much as the result of another run names. The result is one line of JSON: the time that
 * all took, by the wall and by the CPU.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

static struct {
	int pipes[2][2];
	uint64_t turns; /* of each thread */
	uint64_t rounds;
} load;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void work(uint64_t rounds)
{
	uint64_t x = rounds | 1;

	for (uint64_t i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	__asm__ volatile("" : : "r"(x));
}

static int play(int from, int to)
{
	char token = 0;

	for (uint64_t i = 0; i < load.turns; i++) {
		if (read(from, &token, 1) != 1)
			return -1;
		work(load.rounds);
		if (write(to, &token, 1) != 1)
			return -1;
	}
	return 0;
}

static void *other(void *arg)
{
	(void)arg;
	return play(load.pipes[0][0], load.pipes[1][1]) ? (void *)1 : NULL;
}

/* ns for all turns; 0: it did not work. */
static uint64_t run(uint64_t turns, uint64_t *ret_cpu)
{
	uint64_t begin, cpu;
	pthread_t thread;
	void *failed;
	char token = 0;

	load.turns = turns;
	if (pthread_create(&thread, NULL, other, NULL))
		return 0;
	begin = clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (write(load.pipes[0][1], &token, 1) != 1 || play(load.pipes[1][0], load.pipes[0][1]))
		return 0;
	pthread_join(thread, &failed);
	*ret_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	begin = clock_ns(CLOCK_MONOTONIC) - begin;
	/* The last token is left in the pipe. */
	return failed || read(load.pipes[0][0], &token, 1) != 1 ? 0 : begin;
}

/* How much work a turn needs, so that there are so many switches a second. */
static void pace(double rate)
{
	uint64_t cpu, took, idle = run(20000, &cpu), round = 1000000, ns;

	ns = clock_ns(CLOCK_MONOTONIC);
	work(round);
	took = clock_ns(CLOCK_MONOTONIC) - ns;
	/* Each turn is one switch. */
	ns = (uint64_t)((double)NS_PER_S / rate);
	if (ns > idle / 40000)
		load.rounds = (ns - idle / 40000) * round / (took ? took : 1);
}

static uint64_t switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

int main(int argc, char **argv)
{
	uint64_t count = 1000000, took, before, cpu = 0;
	double rate = 0;
	cpu_set_t set;
	int o, on = 0;

	while ((o = getopt(argc, argv, "c:k:n:r:")) != -1) {
		if (o == 'c')
			on = atoi(optarg);
		else if (o == 'k')
			load.rounds = strtoull(optarg, NULL, 10);
		else if (o == 'n')
			count = strtoull(optarg, NULL, 10);
		else if (o == 'r')
			rate = strtod(optarg, NULL);
		else
			return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(on, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || pipe(load.pipes[0]) || pipe(load.pipes[1])) {
		perror(argv[0]);
		return 1;
	}
	if (rate > 0)
		pace(rate);
	before = switches();
	took = run(count / 2, &cpu);
	if (!took) {
		fprintf(stderr, "%s: the token is lost\n", argv[0]);
		return 1;
	}
	printf("{\"work\":%lu,\"turns\":%lu,\"switches\":%lu,\"wall_ns\":%lu,\"cpu_ns\":%lu}\n",
	       load.rounds, count, switches() - before, took, cpu);
	return 0;
}
