/* bpf/lib/stack.bpf.h: call chains for events: whose stack is walked from where, and each chain
 * sent once. */
#pragma once

#include "bpf/lib/chain.bpf.h"
#include "bpf/lib/segment.bpf.h"

/* So many chains may begin at the same address of a stack and are remembered. */
#define MEMO_WAYS 8

/* So many notes of a walk are compared without a call for each. */
#define NOTES_IN_LINE 32

struct memo_key {
	__u64 sp, pc;
	__u32 way;
	__u32 first; /* MEMO_FIRST_...: another chain by the same words */
};

#define MEMO_FIRST_UNLOCK 1      /* the first frame may be a call that releases a lock */
#define MEMO_FIRST_INTERRUPTED 2 /* ... or one of a leaf, which has no debug information */

/* Walks that were done, and what they have read (essay in hotspot.bpf.h). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct memo_key);
	__type(value, struct hs_memo);
} memos __weak SEC(".maps");

struct walk_loop {
	struct walk_slot *slot;
};

static long walk_step(__u32 i, struct walk_loop *l)
{
	if (!l->slot)
		return 1;
	l->slot->walk.steps++;
	return hs_step(&l->slot->walk) ? 1 : 0;
}

/*
 * A step takes 0.25 us, and a walk is done while the kernel switches tasks: a stack that is made to
 * be long, and to be another one each time, would hold up the CPU. So a thread has LONG_POINTS in
 * each window of 1.07 s: a walk of more than LONG_STEPS that is not remembered costs one, and
 * LONG_IN_VAIN if it has not come to an end. Then the thread is not walked until the window is
 * over, which is counted. At worst that is 4 % of a CPU for a thread, and 0.2 ms at a time.
 */
#define LONG_STEPS 256
#define LONG_POINTS 240
#define LONG_IN_VAIN 4
#define LONG_WINDOW_SHIFT 30

static __always_inline __u32 long_window(void)
{
	return (__u32)(bpf_ktime_get_ns() >> LONG_WINDOW_SHIFT) << 8;
}

static __always_inline int walk_worth(const struct thread_state *t)
{
	return (t->walk.long_walks & 0xff) < LONG_POINTS ||
	       (t->walk.long_walks & ~0xffu) != long_window();
}

static __always_inline void walk_was_long(struct thread_state *t, __u32 result)
{
	__u32 window = long_window();
	__u32 points = (t->walk.long_walks & ~0xffu) == window ? t->walk.long_walks & 0xff : 0;

	points += result == WIRE_WALK_COMPLETE || result == WIRE_WALK_IN_HEAP ? 1 : LONG_IN_VAIN;
	t->walk.long_walks = window | (points < 0xff ? points : 0xff);
}

HS_SUBPROGRAM int walk_start(struct walk_slot *s)
{
	return s ? hs_start(&s->walk, &s->start) : 1;
}

/* How often a task has left its CPU, not 0; odd: it is on one, or that cannot be known. */
static __always_inline __u64 task_switches(__u64 task)
{
	if (kernel_reads == WIRE_READS_NONE)
		return 1;
	return (KERNEL_LOAD(struct task_struct, task, nvcsw) +
		KERNEL_LOAD(struct task_struct, task, nivcsw) + 1)
		       << 1 |
	       !!KERNEL_LOAD(struct task_struct, task, on_cpu);
}

/* A note that is looked at: of what memo_same() compares. */
struct memo_look {
	const struct walk_slot *slot;
	const struct hs_memo *memo;
	int differs;
};

static __always_inline int note_differs(const struct walk_slot *s, const struct hs_memo *m,
					__u32 at)
{
	at &= HS_NOTES_MAX - 1;
	return s->words[m->note_at[at] & (HS_SPAN_WORDS - 1)] != m->note[at];
}

static long note_look(__u32 i, struct memo_look *l)
{
	l->differs = note_differs(l->slot, l->memo, l->memo->notes - NOTES_IN_LINE - 1 - i);
	return l->differs;
}

/* Whether all that an earlier walk has read is the same now. Where chains differ that begin alike,
 * it is further out: so the outermost words are looked at first. (The verifier follows a loop round
 * by round: so the notes that only long chains have are looked at in bpf_loop().) */
HS_SUBPROGRAM int memo_same(struct walk_slot *s, const struct hs_memo *m)
{
	struct memo_look l = {.slot = s, .memo = m};
	__u64 bytes;
	__u32 n;

	if (!s || !m || m->code_epoch != code_epoch || m->class_epoch != class_epoch ||
	    (m->fp_used && m->fp != s->walk.fp))
		return 0;
	n = m->notes;
	bytes = (__u64)m->span * 8;
	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(bytes) : "i"(HS_SPAN_WORDS * 8));
	if (s->words_read < bytes) {
		if (bpf_probe_read_user(s->words, bytes, (void *)s->walk.sp))
			return 0;
		s->words_read = bytes;
	}
	for (__u32 i = 1; i <= NOTES_IN_LINE; i++) {
		if (i > n)
			return 1;
		if (note_differs(s, m, n - i))
			return 0;
	}
	if (n > NOTES_IN_LINE)
		bpf_loop(n - NOTES_IN_LINE, note_look, &l, 0);
	return !l.differs;
}

/* The id of a walk that has been done before. If there is none, key is where this one is kept. */
static __always_inline __u32 memo_find(struct walk_slot *s, struct memo_key *key)
{
	struct hs_memo *m;

	s->words_read = 0;
	/* At each call site the kernel puts a lookup's instructions in, which costs. */
#pragma clang loop unroll(disable)
	for (__u32 way = 0; way < MEMO_WAYS; way++) {
		key->way = way;
		m = bpf_map_lookup_elem(&memos, key);
		if (!m)
			return 0;
		if (memo_same(s, m))
			return m->id;
	}
	key->way = bpf_get_prandom_u32() % MEMO_WAYS;
	return 0;
}

static __always_inline void memo_keep(struct walk_slot *s, const struct memo_key *key, __u32 id)
{
	struct hs_memo *m = &s->walk.memo;
	__u32 number = s->walk.slot;
	struct walk_slot *own;

	if (!id || m->notes > HS_NOTES_MAX || s->walk.stack.result != WIRE_WALK_COMPLETE)
		return;
	m->id = id;
	/* The same memory: but what a function was passed may be no map's value (Linux 6.1). */
	own = bpf_map_lookup_elem(&walk_slots, &number);
	if (own)
		bpf_map_update_elem(&memos, key, &own->walk.memo, BPF_ANY);
}

/* Threads whose walks hardly ever repeat do not pay for that. */
#define MEMO_MISSES_MAX 32
#define MEMO_MISSES_STEP 32

static __always_inline int memo_worth(struct thread_state *t)
{
	return t->walk.memo_misses < MEMO_MISSES_MAX || !(t->walk.memo_misses++ % MEMO_MISSES_STEP);
}

/* Walks t's stack; the id of its chain. switches, if not 0: another thread's, and must stay the
 * same. */
HS_SUBPROGRAM __u32 walk(struct walk_slot *s, struct thread_state *t, __u64 switches)
{
	struct walk_loop l = {.slot = s};
	__u32 id = 0, code_was, class_was;
	struct memo_key key = {};
	int memo;

	if (!s || !t)
		return 0;
	code_was = code_epoch;
	class_was = class_epoch;
	key.sp = s->walk.sp;
	key.pc = s->walk.pc;
	if (s->walk.via == WIRE_VIA_NATIVE && s->start.unlock)
		key.first = MEMO_FIRST_UNLOCK;
	else if (s->start.split && s->walk.first == WIRE_FRAME_INTERRUPTED)
		key.first = MEMO_FIRST_INTERRUPTED;
	memo = s->walk.from && memo_worth(t);
	if (memo)
		id = memo_find(s, &key);
	if (id) {
		t->walk.memo_misses = 0;
		s->walk.stack.result = WIRE_WALK_COMPLETE;
	} else {
		bpf_loop(HS_STEPS_MAX, walk_step, &l, 0);
		if (HS_CHUNKS && s->walk.chunk)
			hs_chunk_verify(&s->walk);
		if (s->walk.steps > LONG_STEPS)
			walk_was_long(t, s->walk.stack.result);
	}
	if (switches && task_switches(t->chain.task) != switches) {
		count_walk(WIRE_WALK_MOVED);
		return 0;
	}
	if (id) {
		count_result(s, WIRE_WALK_COMPLETE);
		count_result(s, WIRE_WALK_KNOWN);
		return id;
	}
	id = chain_id(s);
	if (memo) {
		t->walk.memo_misses++;
		s->walk.memo.code_epoch = code_was;
		s->walk.memo.class_epoch = class_was;
		memo_keep(s, &key, id);
	}
	return id;
}

/* The same of a sample, in segments. */
HS_SUBPROGRAM __u32 walk_in_segments(struct walk_slot *s, struct thread_state *t)
{
	struct segment_loop l = {.slot = s};

	if (!s || !t)
		return 0;
	segments_begin(s);
	bpf_loop(SEGMENT_STEPS_MAX, segment_step, &l, 0);
	segments_end(s);
	bpf_loop(SEGMENT_STEPS_MAX, segment_number_step, &l, 0);
	if (s->walk.steps > LONG_STEPS)
		walk_was_long(t, s->segments.result);
	t->walk.memo_misses = s->segments.known ? 0 : t->walk.memo_misses + 1;
	/* Else the chain would lack what is innermost, and look whole. */
	s->walk.stack.result = s->segments.numbered ? s->segments.result : WIRE_WALK_NOT_SENT;
	return s->segments.numbered ? s->segments.id : 0;
}

/* The thread's JavaThread, if it is still the one that it was: threads of native code attach and
 * detach. current: it is the running thread, for which the VM's list can be searched. */
HS_SUBPROGRAM __u64 java_thread_checked(struct thread_state *t, __u32 tid, int current)
{
	__u64 *known;

	if (!t)
		return 0;

	if (t->java.thread && t->java.osthread) {
		if (read_u64(t->java.thread + layout.jt_osthread) == t->java.osthread)
			return t->java.thread;
		java_thread_drop(t);
	}
	if (current) {
		java_thread_current(t);
	} else if (!t->java.thread) {
		known = bpf_map_lookup_elem(&java_thread_of, &tid);
		t->java.thread = known && java_thread_runs(*known, t->ns_tid) ? *known : 0;
	}
	if (!t->java.thread)
		return 0;
	t->java.osthread = read_u64(t->java.thread + layout.jt_osthread);
	t->walk.stack_high = read_u64(t->java.thread + layout.jt_stack_base);
	return t->java.thread;
}

static __always_inline __u32 walks_ready(void)
{
	return java_code.ready;
}

static __always_inline void walk_refused(struct thread_state *t, int sampled, __u32 why)
{
	if (sampled)
		t->sample.result = why;
	else
		count_walk(why);
}

/* A slot for a walk of this thread, which the caller says where to begin; 0: there is none.
 */
static __always_inline struct walk_slot *walk_prepare(struct thread_state *t, __u32 tid,
						      int current, int sampled)
{
	__u64 java_thread = walks_ready() ? java_thread_checked(t, tid, current) : 0;
	struct walk_slot *s;

	if (!java_thread) {
		if (walks_ready() && current)
			walk_refused(t, sampled, WIRE_WALK_NO_JAVA_THREAD);
		return 0;
	}
	if (!walk_worth(t)) {
		walk_refused(t, sampled, WIRE_WALK_TOO_OFTEN);
		return 0;
	}
	s = slot_take();
	if (!s) {
		walk_refused(t, sampled, WIRE_WALK_NO_ROOM);
		return 0;
	}
	s->start.java_thread = java_thread;
	s->start.stack_high = t->walk.stack_high;
	s->start.bcp = 0;
	s->start.method = 0;
	s->start.link = 0;
	s->start.unlock = 0;
	s->start.split = sampled;
	return s;
}

/* The walk itself, from s->start. The parts are called one after the other, and not by each other:
 * their frames would have no room together on Linux 6.1. */
static __always_inline __u32 walk_do(struct walk_slot *s, struct thread_state *t, __u64 switches,
				     int sampled)
{
	int ended = walk_start(s);
	__u32 id;

	if (ended == HS_IN_JAVA) {
		ended = hs_interrupted(&s->walk);
		if (s->start.split)
			hs_split(&s->walk);
	}
	if (!ended && sampled && segments_apply(s)) {
		if (memo_worth(t)) {
			id = walk_in_segments(s, t);
		} else {
			s->walk.from = 0; /* nor is it remembered as a whole */
			id = walk(s, t, switches);
		}
	} else if (!ended) {
		id = walk(s, t, switches);
	} else {
		id = switches && task_switches(t->chain.task) != switches ? 0 : chain_id(s);
	}
	if (s->start.split) {
		t->sample.via = s->walk.via;
		t->sample.result = s->walk.stack.result;
		t->sample.top = s->walk.top;
	}
	slot_give(s);
	return id;
}

/* The running thread's, from these registers. unlock: as in struct hs_start. */
HS_SUBPROGRAM __u32 stack_walk(struct thread_state *t, __u64 pc, __u64 sp, __u64 fp, __u32 unlock)
{
	struct walk_slot *s = t ? walk_prepare(t, current_tid(), 1, 0) : 0;

	if (!s)
		return 0;
	s->start.pc = pc;
	s->start.sp = sp;
	s->start.fp = fp;
	s->start.unlock = unlock;
	s->start.settled = HS_SETTLED;
	return walk_do(s, t, 0, 0);
}

/* The call chain of the thread that has hit a probe. */
static __always_inline __u32 stack_here(struct pt_regs *ctx, struct thread_state *t, __u32 unlock)
{
	return stack_walk(t, USER_PC(ctx), USER_SP(ctx), USER_FP(ctx), unlock);
}

static __always_inline void regs_load(const struct pt_regs *regs, struct hs_start *start)
{
	/* Not negative: it is in a system call, and was not interrupted. */
	start->settled = SYSCALL_NUMBER(regs) >= 0 ? HS_SETTLED : HS_UNSETTLED;
	start->pc = USER_PC(regs);
	start->sp = USER_SP(regs);
	start->fp = USER_FP(regs);
	start->bcp = USER_BCP(regs);
	start->method = USER_METHOD(regs);
	start->link = USER_LINK(regs);
}

/* What a thread had when it left user code. current: it is the running one. */
static __always_inline int regs_read(__u64 from, int current, struct hs_start *start)
{
	struct pt_regs *regs = (void *)from;

	if (current) {
		regs_load((void *)bpf_task_pt_regs(bpf_get_current_task_btf()), start);
		return 0;
	}
	if (kernel_reads == WIRE_READS_CAST) {
		regs_load(KERNEL_AT(struct pt_regs, from), start);
		return 0;
	}
	if (kernel_reads == WIRE_READS_NONE)
		return -1;
	start->settled = SYSCALL_READ(regs) >= 0 ? HS_SETTLED : HS_UNSETTLED;
	return bpf_core_read(&start->pc, sizeof(start->pc), &USER_PC(regs)) ||
	       bpf_core_read(&start->sp, sizeof(start->sp), &USER_SP(regs)) ||
	       bpf_core_read(&start->fp, sizeof(start->fp), &USER_FP(regs)) ||
	       bpf_core_read(&start->bcp, sizeof(start->bcp), &USER_BCP(regs)) ||
	       bpf_core_read(&start->method, sizeof(start->method), &USER_METHOD(regs)) ||
	       bpf_core_read(&start->link, sizeof(start->link), &USER_LINK(regs));
}

static __always_inline __u32 stack_of_left(struct thread_state *t, __u32 tid, __u64 switches,
					   int current, __u32 unlock, int sampled)
{
	struct walk_slot *s = walk_prepare(t, tid, current, sampled);

	if (!s)
		return 0;
	s->start.unlock = unlock;
	if (regs_read(t->chain.regs, current, &s->start)) {
		slot_give(s);
		return 0;
	}
	return walk_do(s, t, switches, sampled);
}

/*
 * The call chain of another thread, which must be off the CPUs all the while: its stack stands
 * still then. What the kernel itself counts is asked, as a switch may be hidden from BPF (see
 * sched.bpf.c).
 */
HS_SUBPROGRAM __u32 stack_of(struct thread_state *o, __u32 tid, __u64 switches)
{
	return o && o->chain.regs && !(switches & 1) ? stack_of_left(o, tid, switches, 0, 0, 0) : 0;
}

/* From where the running thread was when it entered the kernel. */
HS_SUBPROGRAM __u32 stack_interrupted(struct thread_state *t)
{
	return t && t->chain.regs ? stack_of_left(t, current_tid(), 0, 1, 0, 0) : 0;
}

/*
 * The same of a thread that wakes another by a system call, which is never made by Java code
 * itself: the programs that ask for this are spared a third of the walker. unlock: the call may be
 * one that releases a lock.
 */
HS_SUBPROGRAM __u32 stack_in_call(struct thread_state *t, __u32 unlock)
{
	struct walk_slot *s =
		t && t->chain.regs ? walk_prepare(t, current_tid(), 1, 0) : (struct walk_slot *)0;
	__u32 id = 0;
	int ended;

	if (!s)
		return 0;
	s->start.unlock = unlock;
	regs_read(t->chain.regs, 1, &s->start);
	ended = walk_start(s);
	if (!ended)
		id = walk(s, t, 0);
	else if (ended != HS_IN_JAVA)
		id = chain_id(s);
	slot_give(s);
	return id;
}

static __always_inline void sample_begin(struct thread_state *t)
{
	t->sample.via = WIRE_VIA_NONE;
	t->sample.result = WIRE_WALK_NO_CODE;
	t->sample.top.code = 0;
	t->sample.class_epoch = class_epoch;
	t->sample.code_epoch = code_epoch;
	t->sample.compiling = 0;
}

/* Of the running thread, which the clock of --sample has interrupted: the callers of t->sample.top,
 * or the whole chain where that has no code. */
HS_SUBPROGRAM __u32 stack_sampled(struct thread_state *t)
{
	if (!t)
		return 0;
	sample_begin(t);
	return t->chain.regs ? stack_of_left(t, t->tid, 0, 1, 0, 1) : 0;
}

#define OFF_SHORT_LOOKS 16

/*
 * The running thread leaves its CPU, and no event will say what for: it reads, sleeps, is stopped.
 * off_cpu wants the chain if the interval gets long. That is known in the switch back, where
 * nothing of the thread can be read. So it is walked now; but a thread that leaves where it left
 * the last time, and was back soon, is walked each OFF_SHORT_LOOKS times: who passes data through
 * a pipe is not walked at each switch. 1: walk it.
 */
SUBPROGRAM int off_cpu_due(struct thread_state *t)
{
	struct pt_regs *regs;
	__u64 pc, sp;

	if (!t || (!t->java.thread && !t->java.known))
		return 0;
	regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	pc = USER_PC(regs);
	sp = USER_SP(regs);
	t->walk.off_short |= OFF_OPEN;
	if (t->walk.off_short & OFF_SHORT && pc == t->walk.off_pc && sp == t->walk.off_sp &&
	    ++t->walk.off_skipped % OFF_SHORT_LOOKS)
		return 0;
	t->walk.off_pc = pc;
	t->walk.off_sp = sp;
	return 1;
}

/* How often a thread is looked at in vain for the call chain that a waiter wants. */
#define WANT_TRIES 8

/*
 * The call chain of the thread that tid is blocked by; 0: not now, then it is wanted later. The
 * owner may have given up the lock before the walk, as programs can be preempted: whoever uses the
 * chain asks for the owner again, and then whether it has stood still since (owner_still).
 */
static __always_inline __u32 stack_of_owner(__u32 owner, __u32 tid, __u64 *ret_switches)
{
	struct thread_state *o = owner && owner != tid ? thread_find(owner) : 0;
	__u32 id;

	*ret_switches = 0;
	if (!o || !o->chain.task)
		return 0;
	*ret_switches = task_switches(o->chain.task);
	id = stack_of(o, owner, *ret_switches);
	if (!id) {
		o->chain.want = tid;
		o->chain.tries = 0;
	}
	return id;
}

static __always_inline int owner_still(__u32 owner, __u64 switches)
{
	struct thread_state *o = thread_find(owner);

	if (o && o->chain.task && task_switches(o->chain.task) == switches)
		return 1;
	count_walk(WIRE_WALK_MOVED);
	return 0;
}

/* Whether the one that wants the chain is still blocked by this thread. What it parks on may be
 * moved by a collector at any time, and is not looked at. */
static __always_inline int waiter_needs_chain(const struct thread_state *t)
{
	struct thread_state *waiter = thread_find(t->chain.want);
	struct wire_java_thread *owner;
	__u64 word;

	if (!waiter)
		return 0;
	if (!waiter->monitor.blocked)
		return waiter->park.owner == t->tid;
	word = read_u64(waiter->monitor.address + layout.mon_owner);
	owner = bpf_map_lookup_elem(&java_threads, &word);
	return !owner || owner->tid == t->tid; /* a stack lock: nobody in the map */
}

/* The running thread's call chain is wanted by one that it blocks: from where it was interrupted.
 */
HS_SUBPROGRAM int emit_owner_stack(struct thread_state *t, __u32 source, __u64 now)
{
	struct wire_owner_stack *r;
	__u32 id;

	if (!t)
		return 0;
	if (!waiter_needs_chain(t)) {
		t->chain.want = 0;
		return 0;
	}
	/* Inline: it saves a frame. */
	id = t->chain.regs ? stack_of_left(t, t->tid, 0, 1, 0, 0) : 0;
	if (!id && ++t->chain.tries < WANT_TRIES)
		return 0;
	if (id && (r = emit_reserve(WIRE_OWNER_STACK, sizeof(*r)))) {
		head_fill(&r->head, WIRE_OWNER_STACK, 0, t->tid, now);
		r->waiter_tid = t->chain.want;
		r->stack = id;
		r->source = source;
		r->pad = 0;
		emit_submit(r);
	}
	t->chain.want = 0;
	return 0;
}
