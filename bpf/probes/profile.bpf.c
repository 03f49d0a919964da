/* What the clock of --sample finds: a thread of the target that runs, and where it is. */
#include "bpf/lib/cpu_timer.bpf.h"
#include "bpf/lib/stack.bpf.h"

#include "bpf/wire/wire_fragment.h"
#include "bpf/wire/wire_profile.h"

#define PF_EXITING 0x00000004

/* Stack fragments, so that they push out nothing else; each takes the room of the longest. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536); /* set before load */
} fragments SEC(".maps");

#define FRAGMENTS_WAKE 64 /* that are waiting */

/* How much of a stack is copied with each sample; 0: nothing. */
const volatile __u32 fragment_bytes = 0;
/* Samples in native code and in the kernel are with their fragments, for their native callers. */
const volatile __u32 native_callers = 0;
__u64 fragments_lost = 0; /* there was no room */

/* Samples by how long they took, in steps of 256 ns; in the last one is whatever took longer.
 * bench/sample reads it while a recording goes on: the kernel's own count has only the sum. */
#define TIMES_SHIFT 8
#define TIMES_COUNT 256

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TIMES_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} sample_times SEC(".maps");

static __always_inline void count_time(__u64 ns)
{
	__u32 step = ns >> TIMES_SHIFT < TIMES_COUNT ? ns >> TIMES_SHIFT : TIMES_COUNT - 1;
	__u64 *count = bpf_map_lookup_elem(&sample_times, &step);

	if (count)
		++*count;
}

/* pc: where the thread was interrupted, be it in the kernel. */
SUBPROGRAM int mode_of(__u64 pc)
{
	if ((__s64)pc < 0)
		return WIRE_MODE_KERNEL;
	for (int i = 0; i < WIRE_SPIN_RANGES; i++)
		if (pc >= HS_CODE(0, spins[i].low) && pc < HS_CODE(0, spins[i].high))
			return WIRE_MODE_SPIN;
	if (!walks_ready())
		return WIRE_MODE_UNKNOWN;
	if (hs_in_interpreter(0, pc) || hs_in_heap(0, pc) >= 0)
		return WIRE_MODE_JAVA;
	return hs_in_libjvm(0, pc) ? WIRE_MODE_VM : WIRE_MODE_NATIVE;
}

/* Whether the running thread is "C1 CompilerThread0" or the like, by its name: to the VM it is a
 * Java thread, but it has no Java frames. A walk would go through the compiler's own, and ask for a
 * rule at each of its addresses. */
static __always_inline int is_compiler(void)
{
	__u64 name[2] = {};

	/* "C", any, " Compi", "lerThre": it has room for no more. */
	return !bpf_get_current_comm(name, sizeof(name)) &&
	       (name[0] & ~0xff00ull) == 0x69706d6f43200043ull && name[1] == 0x006572685472656cull;
}

/* The Method that a compiler thread compiles; 0: none, or none is known. What is read is the
 * running thread's own: CompilerThread::_env, ciEnv::_task, CompileTask::_method. */
SUBPROGRAM __u64 method_compiled(struct thread_state *t)
{
	__u64 env, task;

	if (!t || !t->java.thread || layout.compiler_env < 0 || layout.env_task < 0 ||
	    layout.task_method < 0)
		return 0;
	env = read_u64(t->java.thread + layout.compiler_env);
	task = env ? read_u64(env + layout.env_task) : 0;
	return task ? read_u64(task + layout.task_method) : 0;
}

/* In place of a walk. */
SUBPROGRAM __u32 compiler_sampled(struct thread_state *t)
{
	if (!t)
		return 0;
	sample_begin(t);
	if (!walks_ready() || !java_thread_checked(t, t->tid, 1)) {
		walk_refused(t, 1, WIRE_WALK_NO_JAVA_THREAD);
		return 0;
	}
	walk_refused(t, 1, WIRE_WALK_NO_JAVA_FRAMES);
	t->sample.compiling = method_compiled(t);
	return 0;
}

static __always_inline void sample_fill(struct wire_run_sample *r, const struct thread_state *t,
					__u64 now, __u32 stack, __u32 mode)
{
	head_fill(&r->head, WIRE_RUN_SAMPLE, 0, t->tid, now);
	r->top = t->sample.top;
	r->stack = stack;
	r->class_epoch = t->sample.class_epoch;
	r->mode = mode;
	r->via = t->sample.via;
	r->result = t->sample.result;
	r->pad = 0;
	r->compiling = t->sample.compiling;
	r->self = t->sample.counters;
}

SUBPROGRAM int emit_run_sample(struct thread_state *t, __u64 now, __u32 stack, __u32 mode, __u64 pc)
{
	struct wire_run_sample *r;

	if (!t)
		return 0;
	r = emit_reserve(WIRE_RUN_SAMPLE, sizeof(*r));
	if (!r)
		return 0;
	sample_fill(r, t, now, stack, mode);
	r->pc = pc;
	emit_submit(r);
	return 0;
}

/* It could have frames that were not found. */
static __always_inline __u32 walk_has_failed(__u32 result)
{
	return result > WIRE_WALK_NO_JAVA_THREAD && result != WIRE_WALK_IN_HEAP;
}

static __always_inline int fragment_copy(struct wire_fragment *r, __u64 length, __u64 most)
{
	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(length) : "r"(most));
	r->length = length;
	return bpf_probe_read_user(r->bytes, length, (void *)r->sp) != 0;
}

/* A part of a page, then pages: nobody knows how far a stack goes that is not Java's. */
static __always_inline void fragment_pages(struct wire_fragment *r, __u64 most)
{
	__u64 length = WIRE_FRAGMENT_MIN - r->sp % WIRE_FRAGMENT_MIN;

	r->unread = fragment_copy(r, length, most);
	for (int i = 0; i < WIRE_FRAGMENT_MAX / WIRE_FRAGMENT_MIN && !r->unread; i++) {
		length = r->length;
		if (length > most - WIRE_FRAGMENT_MIN ||
		    bpf_probe_read_user(r->bytes + length, WIRE_FRAGMENT_MIN,
					(void *)(r->sp + length)))
			break;
		r->length = length + WIRE_FRAGMENT_MIN;
	}
	r->stack_high = r->sp + r->length;
}

/* The stack from sp on, as far as it goes and there is room for. */
static __always_inline void fragment_read(struct wire_fragment *r, __u64 most)
{
	const __u64 anchor = r->java_thread + HS_CODE(0, thread_anchor);

	if (r->java_thread) {
		r->unread = fragment_copy(r, r->sp < r->stack_high ? r->stack_high - r->sp : 0,
					  most) ||
			    bpf_probe_read_user(r->anchor, sizeof(r->anchor), (void *)anchor);
		return;
	}
	fragment_pages(r, most);
}

/* Whether the interrupted code may have callers that are no Java code. */
static __always_inline int wants_callers(__u32 mode)
{
	return native_callers && mode != WIRE_MODE_JAVA && mode != WIRE_MODE_UNKNOWN;
}

static __always_inline void kernel_read(struct wire_fragment *r, __u32 mode)
{
	long bytes = 0;

	if (wants_callers(mode) && mode == WIRE_MODE_KERNEL)
		bytes = bpf_get_task_stack(bpf_get_current_task_btf(), r->kernel,
					   sizeof(r->kernel), 0);
	r->kernel_count = bytes > 0 ? (__u32)bytes / sizeof(*r->kernel) : 0;
	r->pad = 0;
}

/* Of a thread that stack_sampled() has walked. 1: the sample is in the fragment, and goes nowhere
 * else. */
SUBPROGRAM int emit_fragment(struct thread_state *t, __u64 now, __u32 stack, __u32 mode, __u64 pc)
{
	const __u32 most = fragment_bytes;
	struct wire_fragment *r;
	struct pt_regs *regs;
	__u64 waiting;
	int own;

	if (!most || !t || (!t->java.thread && !wants_callers(mode)))
		return 0;
	own = walk_has_failed(t->sample.result) || wants_callers(mode);
	r = bpf_ringbuf_reserve(&fragments, sizeof(*r) + most, 0);
	if (!r) {
		__sync_fetch_and_add(&fragments_lost, 1);
		return 0;
	}
	sample_fill(&r->sample, t, now, stack, mode);
	r->sample.pc = pc;
	regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	r->pc = USER_PC(regs);
	r->sp = USER_SP(regs);
	r->fp = USER_FP(regs);
	r->bcp = USER_BCP(regs);
	r->method = USER_METHOD(regs);
	r->link = USER_LINK(regs);
	r->java_thread = t->java.thread;
	r->stack_high = t->walk.stack_high;
	r->code_epoch = t->sample.code_epoch;
	r->own = own;
	kernel_read(r, mode);
	fragment_read(r, most);
	waiting = bpf_ringbuf_query(&fragments, BPF_RB_AVAIL_DATA);
	bpf_ringbuf_submit(r, waiting >= (__u64)most * FRAGMENTS_WAKE ? BPF_RB_FORCE_WAKEUP
								      : BPF_RB_NO_WAKEUP);
	return own;
}

/* pc: where the running thread was interrupted. */
static __always_inline int sample(__u64 pc)
{
	__u64 id = bpf_get_current_pid_tgid(), now;
	struct thread_state *t;
	__u32 stack, mode;
	int ends, compiler;

	if (!target_tgid || id >> 32 != target_tgid)
		return 0;
	now = bpf_ktime_get_ns();
	t = thread_find((__u32)id);
	ends = (bpf_get_current_task_btf()->flags & PF_EXITING) != 0;
	if (!t) {
		if (!ends)
			count_drop(WIRE_RUN_SAMPLE, WIRE_LOST_MAP);
		return 0;
	}
	if (t->time.run != RUN_RUNNING) {
		if (ends) /* its last counters have been sent, or are about to be */
			return 0;
		thread_is_on(t, now);
	}
	if (!t->chain.regs) {
		t->chain.task = bpf_get_current_task();
		t->chain.regs = (__u64)bpf_task_pt_regs(bpf_get_current_task_btf());
	}
	thread_snapshot(t, now, &t->sample.counters);
	mode = mode_of(pc);
	compiler = is_compiler();
	stack = compiler ? compiler_sampled(t) : stack_sampled(t);
	if ((compiler && !wants_callers(mode)) || !fragment_bytes ||
	    !emit_fragment(t, now, stack, mode, pc))
		emit_run_sample(t, now, stack, mode, pc);
	count_time(bpf_ktime_get_ns() - now);
	return 0;
}

SEC("perf_event")
int profile_thread(struct pt_regs *ctx)
{
	return sample(USER_PC(ctx));
}

/* Of event=tick: one of so many of the kernel's own ticks is a sample, by chance. */
const volatile __u32 sample_ticks = 1;
const volatile __u64 tick_function = 0;

/* Interrupts and system calls leave the program's registers at the same place. An address of the
 * kernel's code is not to be had there, so that it is none in particular. */
static __always_inline __u64 interrupted_pc(void)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return USER_IS_INTERRUPTED(regs) ? USER_PC(regs) : ~0ull;
}

/* The tick of a CPU that has something to run is a timer among others. It takes no interrupt of its
 * own, and nothing at a switch. */
SEC("?tp_btf/hrtimer_expire_entry")
int BPF_PROG(profile_tick, struct hrtimer *timer)
{
	if (!target_tgid || bpf_get_current_pid_tgid() >> 32 != target_tgid ||
	    (__u64)timer->function != tick_function)
		return 0;
	if (sample_ticks > 1 && bpf_get_prandom_u32() % sample_ticks)
		return 0;
	return sample(interrupted_pc());
}

/* A thread of the target has the CPU, and nobody has seen it come: it has been on it since. */
static __always_inline __u64 found_since(__u32 tid, __u64 now)
{
	struct thread_state *t = thread_find(tid);

	if (!t)
		return now;
	if (t->time.run != RUN_RUNNING)
		thread_is_on(t, now);
	return t->time.since;
}

/* Of event=timer. It comes after the timer's interrupt, where that one came, before the interrupted
 * thread goes on. On another CPU, if its own one is gone: the next switch there starts it. */
static int timer_fired(void *map, __u32 *key, struct cpu_timer *t)
{
	__u64 id = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();

	if (!timers_on || *key != bpf_get_smp_processor_id()) {
		t->runs = 0;
		return 0;
	}
	if (!t->since && id >> 32 == target_tgid)
		t->since = found_since((__u32)id, now);
	if (!t->since) {
		timer_rests(t, now, !(__u32)id);
	} else if (timer_due(t, now)) {
		sample(interrupted_pc());
		timer_sampled(t, now, bpf_ktime_get_ns());
	}
	return 0;
}

#define NO_SUCH_CPU 22 /* EINVAL */

/* Run by user space for each CPU. 0 or an errno. */
SEC("?syscall")
int timer_make(__u32 *args)
{
	__u32 cpu = args[0];
	struct cpu_timer *t = bpf_map_lookup_elem(&cpu_timers, &cpu);
	long err = t ? bpf_timer_init(&t->timer, &cpu_timers, 1 /* CLOCK_MONOTONIC */)
		       : -NO_SUCH_CPU;

	if (err)
		return -err;
	/* By chance: the CPUs have nothing to do with each other. */
	t->due_ns = timer_part();
	return -bpf_timer_set_callback(&t->timer, timer_fired);
}
