/*
 * walkimage: stops threads of a JVM at arbitrary locations, walks their stacks with bpf/walk/hotspot.bpf.h, compares the
 * chains with what the JVM says itself, and writes images for the unit test.
 *
 *     walkimage [options] PID FILE       FILE: of the agent that the JVM was started with (agent.c)
 *     --stops N      how often a thread is stopped (100)
 *     --steps N      instructions that a thread is stepped then, if it is in Java code (0)
 *     --mode NAME    of the JVM: images are named after it (test)
 *     --out DIR      where images go, of chains that are right (and wrong-*); without it none are written
 *     --each N       images per kind of location and end (1)
 *     --threads TEXT only those whose names begin so
 *     --java         only where they are in Java code
 *     --throws       frames go without a return: what the JVM says where one has gone is a guess, and what it
 *                    says nearby is of other frames
 *     --wait         until the JVM has begun to run its program, and has compiled something (unless it never will)
 *     --after N      s later
 *     --seed N
 *     --verbose      each location that the walker gives up at
 *
 * The truth. AsyncGetCallTrace knows the chain (method and bytecode index) at most locations. For blocked threads it may not,
 * or, at a safepoint poll, it takes the next bytecode that has debug information: then JVMTI's GetStackTrace is asked. In
 * prologues, epilogues and stubs nobody can be asked. There a chain must follow from that of a location before or
 * behind it which the JVM has confirmed: the same frames but for the innermost one's pc, or one frame more or less. As
 * one instruction makes or ends one frame at most, a frame that is left out or made up does not.
 *
 * Exit status: 1 if a chain was wrong.
 */
#include "agct.h"
#include "chain.h"
#include "tracee.h"
#include "vm.h"

#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#define IMAGE_SIZE_MAX 65000
#define STATES_MAX 4096
#define LOCATIONS_MAX 256
#define WAIT_TRIES 600 /* of 100 ms */
#define ASK_TRIES 200  /* of 100 us */

static struct {
	int stops, steps, each, after;
	const char *mode, *out, *threads;
	bool verbose, java, wait, throws;
} options = {.stops = 100, .each = 1, .mode = "test", .threads = ""};

/* --- one location of a thread --------------------------------------------------------------- */

enum truth {
	TRUTH_NONE,
	TRUTH_JVM,       /* AsyncGetCallTrace says the same */
	TRUTH_OTHERWISE, /* it says something else */
	TRUTH_NEIGHBOUR, /* it follows from a location nearby */
	TRUTH_GAVE_UP, /* the walker knows that it does not know; what it has is right, as far as it is known */
	TRUTH_ASTRAY, /* no PcDesc: user space finds it out */
	TRUTH_WRONG,
	TRUTH_COUNT,
};

static const char *const truth_names[] = {
	[TRUTH_NONE] = "unknown",     [TRUTH_JVM] = "jvm",         [TRUTH_OTHERWISE] = "otherwise",
	[TRUTH_NEIGHBOUR] = "nearby", [TRUTH_GAVE_UP] = "gave up", [TRUTH_ASTRAY] = "astray",
	[TRUTH_WRONG] = "WRONG",
};

struct state {
	struct hs_start start;
	char location[LOCATION_MAX];
	enum truth truth;
	uint32_t result, count;
	struct wire_frame *frames;
	char *image; /* NULL: not wanted */
	size_t image_size;
	char *dispute; /* both chains, if they differ */
};

/* --- counting ---------------------------------------------------------------------------- */

struct location {
	char name[2 * LOCATION_MAX];
	unsigned long counts[TRUTH_COUNT];
	int images;
};

static struct location locations[LOCATIONS_MAX];
static size_t location_count;
static unsigned long totals[TRUTH_COUNT];
static struct state states[STATES_MAX];
static size_t state_count;

static struct location *location_find(const char *name)
{
	for (size_t i = 0; i < location_count; i++)
		if (!strcmp(locations[i].name, name))
			return &locations[i];
	if (location_count == LOCATIONS_MAX)
		return &locations[LOCATIONS_MAX - 1];
	snprintf(locations[location_count].name, sizeof(locations[0].name), "%s", name);
	return &locations[location_count++];
}

static void image_save(const struct state *s, struct location *p)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s%s-%s-%d.walk", options.out,
		 s->truth == TRUTH_WRONG ? "wrong-" : "", options.mode, s->location, ++p->images);
	out = fopen(path, "wbe");
	if (!out || fwrite(s->image, s->image_size, 1, out) != 1 || fclose(out))
		die(path, -errno);
}

static void states_count(void)
{
	for (size_t i = 0; i < state_count; i++) {
		struct state *s = &states[i];
		struct location *p = location_find(s->location);

		totals[s->truth]++;
		p->counts[s->truth]++;
		if (s->truth == TRUTH_WRONG ||
		    (options.verbose && s->truth != TRUTH_JVM && s->truth != TRUTH_NEIGHBOUR)) {
			printf("%s: %s at %s: %u frames, pc %llx sp %llx fp %llx\n%s",
			       truth_names[s->truth], image_result_name(s->result), s->location,
			       s->count, s->start.pc, s->start.sp, s->start.fp,
			       s->dispute ? s->dispute : "");
		}
		if (s->image && p->images < options.each && s->image_size <= IMAGE_SIZE_MAX &&
		    (s->truth == TRUTH_JVM || s->truth == TRUTH_NEIGHBOUR ||
		     s->truth == TRUTH_WRONG))
			image_save(s, p);
		free(s->frames);
		free(s->image);
		free(s->dispute);
		*s = (struct state){0};
	}
	state_count = 0;
}

static void locations_print(void)
{
	printf("%-52s", "place");
	for (int t = 0; t < TRUTH_COUNT; t++)
		printf(" %9s", truth_names[t]);
	printf("\n");
	for (size_t i = 0; i <= location_count; i++) {
		printf("%-52s", i < location_count ? locations[i].name : "all");
		for (int t = 0; t < TRUTH_COUNT; t++)
			printf(" %9lu", i < location_count ? locations[i].counts[t] : totals[t]);
		printf("\n");
	}
}

/* --- the truth --------------------------------------------------------------------------- */

static struct chain ours, jvms;
static struct seen seen;

static void dispute_note(struct state *s, const struct hs_walk *w)
{
	unsigned char code[28];
	char location[LOCATION_MAX];
	size_t size;
	FILE *out = open_memstream(&s->dispute, &size);

	if (!out)
		die("no memory", -ENOMEM);
	for (uint32_t i = 0; i < w->stack.count && i < 12; i++)
		fprintf(out, "    %s %llx %x\n", image_kinds[w->stack.frames[i].kind],
			w->stack.frames[i].code, w->stack.frames[i].id);
	if (vm_in_java(s->start.pc) && !vm_read(NULL, s->start.pc - 8, code, sizeof(code))) {
		fprintf(out, "    code:");
		for (size_t i = 0; i < sizeof(code); i++)
			fprintf(out, "%s%02x", i == 8 ? " | " : " ", code[i]);
		fprintf(out, "\n");
	}
	for (uint32_t i = 0; i < seen.steps; i++) {
		vm_location_name(&(struct hs_start){.pc = seen.first[i].pc, .fp = seen.first[i].fp},
				 location);
		fprintf(out, "    step %u: pc %llx sp %llx fp %llx %s\n", i,
			(unsigned long long)seen.first[i].pc, (unsigned long long)seen.first[i].sp,
			(unsigned long long)seen.first[i].fp, location);
	}
	chain_print(out, "walker", &ours);
	chain_print(out, "JVM", &jvms);
	fclose(out);
}

/* JVMTI's GetStackTrace, for a thread that is not in Java code: the VM reads its stack while it is stopped. */
static bool jvmti_ask(struct tracee *t, uint64_t java_thread)
{
	struct agct *a = t->shared;

	a->count = 0;
	__atomic_store_n(&a->java_thread, java_thread, __ATOMIC_RELEASE);
	for (int i = 0; i < ASK_TRIES && __atomic_load_n(&a->java_thread, __ATOMIC_ACQUIRE); i++)
		usleep(100);
	if (!__atomic_load_n(&a->java_thread, __ATOMIC_ACQUIRE))
		return a->count > 0;
	/* The VM waits for it: it is in Java code, or in the VM. */
	tracee_leave(t);
	while (__atomic_load_n(&a->java_thread, __ATOMIC_ACQUIRE) && jvm_alive(vm.jvm))
		usleep(100);
	return false;
}

/* To the JVM a method that has no frame yet is not called: what called it has to be the same. */
static bool callers_same(const struct hs_walk *w)
{
	static struct chain callers;

	if (!ours.count)
		return false;
	callers.count = ours.count - 1;
	memcpy(callers.links, ours.links + 1, callers.count * sizeof(*ours.links));
	return chain_same(w, 0, &callers, &jvms, false);
}

static enum truth truth_find(struct tracee *t, const struct hs_walk *w, struct state *s)
{
	bool known, by_jvmti = false;

	jvms.count = 0;
	if (tracee_ask(t))
		return TRUTH_NONE;
	known = t->agct->count > 0;
	chain_resolve(w, &ours);
	chain_of_jvm(t->agct, &jvms);
	if (!vm_in_java(s->start.pc) && w->stack.count &&
	    (!known || !chain_same(w, s->start.pc, &ours, &jvms, false)) &&
	    jvmti_ask(t, s->start.java_thread)) {
		known = by_jvmti = true;
		chain_of_jvm(t->agct, &jvms);
	}
	known = known && (chain_same(w, s->start.pc, &ours, &jvms, false) ||
			  !chain_cut(w, s->start.pc, &ours, &jvms));
	if (w->stack.result == WIRE_WALK_NO_JAVA_FRAMES && t->agct->count <= 0)
		return TRUTH_JVM;
	if (w->stack.result > WIRE_WALK_CUT) {
		if (known && w->stack.count && !chain_same(w, s->start.pc, &ours, &jvms, false)) {
			dispute_note(s, w);
			return TRUTH_OTHERWISE;
		}
		if (options.verbose)
			dispute_note(s, w);
		return TRUTH_GAVE_UP;
	}
	if (!known) {
		if (options.verbose)
			dispute_note(s, w);
		return ours.astray ? TRUTH_ASTRAY : TRUTH_NONE;
	}
	if (ours.astray)
		return TRUTH_ASTRAY;
	/* Called by a stub: see above. */
	if (chain_same(w, s->start.pc, &ours, &jvms,
		       seen.stubs && !vm_in_java(s->start.pc) && !by_jvmti))
		return TRUTH_JVM;
	if (strstr(s->location, "-making_") && callers_same(w))
		return TRUTH_JVM;
	dispute_note(s, w);
	return TRUTH_OTHERWISE;
}

/* a is b from frame skip on, but for the pc or bci within the innermost frame. */
static bool frames_follow(const struct state *a, uint32_t skip_a, const struct state *b,
			  uint32_t skip_b)
{
	const struct wire_frame *x = a->frames + skip_a, *y = b->frames + skip_b;
	uint32_t count = a->count - skip_a;

	if (a->count < skip_a || b->count < skip_b || count != b->count - skip_b)
		return false;
	if (!count)
		return true;
	if ((x->kind == WIRE_FRAME_INTERPRETED) != (y->kind == WIRE_FRAME_INTERPRETED))
		return false;
	if (x->kind == WIRE_FRAME_INTERPRETED ? x->code != y->code : x->id != y->id)
		return false;
	return !memcmp(x + 1, y + 1, (count - 1) * sizeof(*x));
}

static bool state_follows(const struct state *s, const struct state *known)
{
	return known->result == s->result &&
	       (frames_follow(s, 0, known, 0) || frames_follow(s, 1, known, 0) ||
		frames_follow(s, 0, known, 1));
}

/* Of a frame that is not there yet, or has gone, the JVM takes what sp leads to for its caller. */
static bool is_bare(const struct state *s)
{
	return strstr(s->location, "-bare") || strstr(s->location, "-room") ||
	       strstr(s->location, "-pushed");
}

/* Places that the JVM says nothing of, or something else, by the nearest that it has confirmed. */
static void neighbours_ask(void)
{
	const struct state *before = NULL, *behind = NULL;
	size_t next = 0;

	for (size_t i = 0; i < state_count; i++) {
		struct state *s = &states[i];

		if (s->truth == TRUTH_JVM)
			before = s;
		if (s->truth != TRUTH_NONE && s->truth != TRUTH_OTHERWISE)
			continue;
		for (next = next > i ? next : i + 1;
		     next < state_count && states[next].truth != TRUTH_JVM; next++)
			;
		behind = next < state_count ? &states[next] : NULL;
		if ((before && state_follows(s, before)) || (behind && state_follows(s, behind)))
			s->truth = TRUTH_NEIGHBOUR;
		else if ((s->truth == TRUTH_OTHERWISE && !((HS_LINK || options.throws) && is_bare(s))) ||
			 (before && behind))
			s->truth = TRUTH_WRONG;
		else
			s->truth = TRUTH_NONE;
	}
}

static void state_add(struct tracee *t, const struct jvm_thread *thread, int step)
{
	static struct hs_host_walk w;
	struct state *s = &states[state_count];
	char note[IMAGE_LINE_MAX];
	FILE *out;

	s->start = (struct hs_start){.pc = t->regs.pc,
				     .sp = t->regs.sp,
				     .fp = t->regs.fp,
				     .bcp = t->regs.bcp,
				     .method = t->regs.method,
				     .link = t->regs.link,
				     .java_thread = thread->java_thread,
				     .stack_high = thread->stack_base};
	vm_forget();
	vm_location_name(&s->start, s->location);
	vm_walk(&w, &s->start, &seen);
	s->result = w.walk.stack.result;
	s->count = w.walk.stack.count;
	s->frames = malloc((s->count + 1) * sizeof(*s->frames));
	if (!s->frames)
		die("no memory", -ENOMEM);
	memcpy(s->frames, w.walk.stack.frames, s->count * sizeof(*s->frames));
	snprintf(s->location + strlen(s->location), LOCATION_MAX - strlen(s->location),
		 "%s%s%s%s%s", seen.entries > 1 ? "+entry" : "",
		 seen.deoptimized ? "+deoptimized" : "", seen.stubs ? "+stub" : "",
		 s->count > 64 ? "+deep" : "", seen.natives ? "+leaf" : "");
	if (s->result)
		snprintf(s->location + strlen(s->location), LOCATION_MAX - strlen(s->location),
			 "=%s", image_result_name(s->result));
	if (options.out && location_find(s->location)->images < options.each) {
		out = open_memstream(&s->image, &s->image_size);
		if (!out)
			die("no memory", -ENOMEM);
		snprintf(note, sizeof(note), "%s, thread %s, %s, step %d", options.mode,
			 thread->name, s->location, step);
		vm_image_write(out, &w, &s->start, note);
		fclose(out);
	}
	s->truth = truth_find(t, &w.walk, s);
	state_count++;
}

/* --- stopping ---------------------------------------------------------------------------- */

/* 1: it was not where it is wanted. */
static int thread_look(const struct jvm_thread *thread, struct agct *shared)
{
	struct tracee t;
	int err = tracee_stop(&t, jvm_pid(vm.jvm), (pid_t)thread->ns_tid, shared);
	uint64_t pc;

	if (err)
		return err;
	if (options.java && !vm_in_java(t.regs.pc)) {
		tracee_leave(&t);
		return 1;
	}
	code_forget(vm.resolver);
	state_add(&t, thread, 0);
	for (int i = 1; t.tid && i <= options.steps && state_count < STATES_MAX; i++) {
		pc = t.regs.pc;
		if ((!vm_in_java(pc) && !(pc >= vm.code.libjvm_low && pc < vm.code.libjvm_high)) ||
		    tracee_step(&t))
			break;
		state_add(&t, thread, i);
	}
	tracee_leave(&t);
	neighbours_ask();
	states_count();
	return 0;
}

static bool is_wanted(const struct jvm_thread *t)
{
	return !strncmp(t->name, options.threads, strlen(options.threads));
}

static void look(struct agct *shared)
{
	for (int i = 0, tries = 0;
	     i < options.stops && tries < 100 * options.stops && jvm_alive(vm.jvm); tries++) {
		struct jvm_thread *threads;
		size_t count, wanted = 0;
		int err = jvm_threads(vm.jvm, &threads, &count);

		if (err)
			die("its threads", err);
		for (size_t k = 0; k < count; k++)
			if (is_wanted(&threads[k]))
				threads[wanted++] = threads[k];
		if (wanted)
			/* It may have ended. */
			i += !thread_look(&threads[(size_t)rand() % wanted], shared);
		free(threads);
		usleep((useconds_t)(rand() % 2000)); /* so that it is anywhere */
	}
}

static struct agct *agct_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *at =
		fd < 0 ? MAP_FAILED
		       : mmap(NULL, sizeof(struct agct), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		die(path, -errno);
	close(fd);
	return at;
}

static void options_read(int argc, char **argv)
{
	static const struct option table[] = {
		{"stops", 1, NULL, 'n'}, {"steps", 1, NULL, 's'},   {"mode", 1, NULL, 'm'},
		{"out", 1, NULL, 'o'},   {"each", 1, NULL, 'e'},    {"threads", 1, NULL, 't'},
		{"seed", 1, NULL, 'r'},  {"verbose", 0, NULL, 'v'}, {"java", 0, NULL, 'j'},
		{"wait", 0, NULL, 'w'},  {"after", 1, NULL, 'a'},   {"throws", 0, NULL, 'x'},
		{NULL, 0, NULL, 0}};
	int o;

	while ((o = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (o) {
		case 'n':
			options.stops = atoi(optarg);
			break;
		case 's':
			options.steps = atoi(optarg);
			break;
		case 'e':
			options.each = atoi(optarg);
			break;
		case 'm':
			options.mode = optarg;
			break;
		case 'o':
			options.out = optarg;
			break;
		case 't':
			options.threads = optarg;
			break;
		case 'r':
			srand((unsigned int)atoi(optarg));
			break;
		case 'a':
			options.after = atoi(optarg);
			break;
		case 'w':
			options.wait = true;
			break;
		case 'j':
			options.java = true;
			break;
		case 'x':
			options.throws = true;
			break;
		case 'v':
			options.verbose = true;
			break;
		default:
			exit(2);
		}
	}
	if (argc - optind != 2) {
		fprintf(stderr, "usage: walkimage [options] PID FILE\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct agct *shared;
	char *why = NULL;
	int err;

	options_read(argc, argv);
	for (int i = 0; i < WAIT_TRIES; i++) {
		err = vm_open(atoi(argv[optind]), &why);
		if (!err || !options.wait)
			break;
		usleep(100000);
	}
	if (err)
		die(why ? why : "its code", err);
	sleep((unsigned int)options.after);
	shared = agct_open(argv[optind + 1]);
	vm_code_range(&shared->code_low, &shared->code_high);
	look(shared);
	locations_print();
	vm_close();
	return totals[TRUTH_WRONG] != 0;
}
