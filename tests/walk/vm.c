#include "vm.h"

#include "jvm/native.h"
#include "jvm/target/mem.h"
#include "jvm/target/mem_lines.h"
#include "record/decode/walk_host.h"

#define LINE MEM_LINE_BYTES
#define WHOLE_STACK 2048 /* recorded in any case */
#define MORE_FRAMES 8
#define BLOB_HEADER 384

struct vm vm;

/* Memory is read once per walk, so that the image is what the walker saw. */
static struct mem_lines lines;

void die(const char *what, int err)
{
	fprintf(stderr, "walkimage: %s: %s\n", what, strerror(-err));
	exit(2);
}

int vm_read(void *ctx, __u64 addr, void *to, __u32 size)
{
	int err = mem_lines_read(&lines, jvm_mem(vm.jvm), addr, to, size);

	(void)ctx;
	if (err == -E2BIG)
		die("too much memory for one image", err);
	return err;
}

/* As the recorder answers it. */
static int vm_native_rule(void *ctx, __u64 pc, int is_return, struct wire_native_rule *ret)
{
	struct wire_native_rule rule;

	(void)ctx;
	if (!vm.native && native_new(vm.jvm, &vm.native))
		die("no memory", -ENOMEM);
	walk_native_rule(vm.native, pc, is_return, &rule);
	if (vm.rule_count < IMAGE_RULES_MAX)
		vm.rules[vm.rule_count++] = (struct image_rule){pc, is_return, rule};
	*ret = rule;
	return 0;
}

static const struct hs_host vm_host = {
	.code = &vm.code, .read = vm_read, .native_rule = vm_native_rule};

int vm_open(pid_t pid, char **ret_why)
{
	int err = jvm_open(pid, &vm.jvm, ret_why);

	if (err)
		return err;
	jvm_layout_refresh(vm.jvm);
	err = jvm_code_refresh(vm.jvm);
	vm.layout = jvm_code_layout(vm.jvm, NULL);
	if (err > 0 && vm.layout) {
		walk_code_fill(vm.jvm, &vm.code);
		err = code_new(jvm_mem(vm.jvm), vm.layout, &vm.resolver);
	} else if (!err) {
		err = -EAGAIN;
	}
	if (err)
		vm_close();
	return err;
}

void vm_close(void)
{
	code_free(vm.resolver);
	native_free(vm.native);
	jvm_close(vm.jvm);
	vm = (struct vm){0};
}

void vm_forget(void)
{
	mem_lines_forget(&lines);
}

bool vm_in_java(uint64_t pc)
{
	bool in = pc >= vm.code.interpreter_low && pc < vm.code.interpreter_high;

	for (int i = 0; i < WIRE_CODE_HEAPS; i++)
		in |= pc >= vm.code.heaps[i].low && pc < vm.code.heaps[i].high;
	return in;
}

void vm_code_range(uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = UINT64_MAX;
	*ret_high = 0;
	for (int i = 0; i < WIRE_CODE_HEAPS; i++) {
		const struct wire_code_heap *h = &vm.code.heaps[i];

		if (h->high && h->low < *ret_low)
			*ret_low = h->low;
		if (h->high > *ret_high)
			*ret_high = h->high;
	}
}

/* --- locations ------------------------------------------------------------------------------ */

static void blob_name(uint64_t blob, char *ret, size_t size)
{
	uint64_t name = 0;

	if (mem_u64(jvm_mem(vm.jvm), blob + vm.layout->blob_name, &name) ||
	    mem_string(jvm_mem(vm.jvm), name, ret, size))
		snprintf(ret, size, "unnamed");
	for (char *c = ret; *c; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		      (*c >= '0' && *c <= '9')))
			*c = '_';
}

void vm_location_name(const struct hs_start *s, char *ret)
{
	static struct hs_host_walk at;
	const uint64_t pc = s->pc, fp = s->fp;
	struct hs_walk *w = &at.walk;
	static const char *const making[] = {
		[HS_MADE] = "",
		[HS_MAKING_LINK] = "-making_link",
		[HS_MAKING_TOP] = "-making_top",
		[HS_MAKING_PUSHED] = "-making_pushed",
		[HS_MAKING_OWN_FP] = "-making_own_fp",
		[HS_LEFT_TOP] = "-left_top",
		[HS_LEFT] = "-left",
		[HS_LEFT_SP] = "-left_sp",
		[HS_MAKING_UNSEEN] = "-unseen",
	};
	static const char *const built[] = {[HS_BUILT] = "",
					    [HS_RETURN_ON_TOP] = "-bare",
					    [HS_RETURN_BELOW_FP] = "-pushed",
					    [HS_BUILT_NO_FP] = "-no_fp",
					    [HS_RETURN_IN_LINK] = "-bare",
					    [HS_LINK_BELOW_CFA] = "-room"};
	__u64 begin = 0; /* as the walker has it */
	struct hs_code c = {0};
	uint64_t level = 0;
	uint32_t complete = 0;
	char name[40];
	int how;

	at.host = &vm_host;
	w->hops = 0;
	w->pc = pc;
	w->sp = s->sp;
	w->fp = fp;
	w->method = s->method;
	w->link = s->link;
	if (hs_in_interpreter(w, pc)) {
		HS_READ(w, &begin, hs_word(fp, HS_CODE(w, interpreter_bcp)));
		snprintf(ret, LOCATION_MAX, "interpreter%s%s", begin == s->bcp ? "" : "-bcp",
			 making[hs_making(w) > 0 ? hs_making(w) : 0]);
	} else if (hs_in_heap(w, pc) < 0) {
		snprintf(ret, LOCATION_MAX, hs_in_libjvm(w, pc) ? "libjvm" : "native");
	} else if (hs_code_find(w, pc, &c)) {
		snprintf(ret, LOCATION_MAX, "no_code");
	} else {
		blob_name(c.blob, name, sizeof(name));
		if (c.kind != HS_COMPILED) {
			snprintf(ret, LOCATION_MAX, "stub_%s%s", name,
				 c.kind == HS_BARE ? "" : "-sized");
			return;
		}
		mem_number(jvm_mem(vm.jvm), c.blob + vm.layout->nmethod_comp_level,
			   vm.layout->comp_level_bytes, &level);
		hs_code_address(w, c.blob, vm.layout->blob_code_begin, &begin);
		mem_u32(jvm_mem(vm.jvm), c.blob + vm.layout->blob_frame_complete, &complete);
		how = hs_built(w, &c);
		snprintf(ret, LOCATION_MAX, "%s%s%s%s",
			 name[1] == 'm' ? (level == 4 ? "c2" : "c1") : "wrapper",
			 c.id & WIRE_ID_OSR ? "_osr" : "",
			 pc < begin + hs_number(complete, 32 + vm.code.frame_complete_spare)
				 ? "-prologue"
				 : "",
			 how < 0 ? "-?" : built[how]);
	}
}

void vm_walk(struct hs_host_walk *w, const struct hs_start *start, struct seen *seen)
{
	mem_lines_forget(&lines);
	vm.rule_count = 0;
	w->host = &vm_host;
	*seen = (struct seen){0};
	if (hs_begin(&w->walk, start))
		return;
	for (int i = 0; i < HS_STEPS_MAX; i++) {
		struct hs_code c = {0};

		if (seen->steps < IMAGE_COUNT(seen->first)) {
			seen->first[seen->steps].pc = w->walk.pc;
			seen->first[seen->steps].fp = w->walk.fp;
			seen->first[seen->steps++].sp = w->walk.sp;
		}
		if (w->walk.native)
			seen->natives++;
		else if (w->walk.pc == vm.code.call_stub_return)
			seen->entries++;
		else if (!hs_in_interpreter(&w->walk, w->walk.pc) &&
			 !hs_code_find(&w->walk, w->walk.pc, &c)) {
			seen->stubs += c.kind == HS_STUB || c.kind == HS_BARE;
			seen->deoptimized += c.kind == HS_DEOPTIMIZED;
		}
		if (hs_step(&w->walk))
			return;
	}
}

/* --- images ------------------------------------------------------------------------------ */

static int line_order(const void *a, const void *b)
{
	const struct mem_line *x = *(struct mem_line *const *)a,
			      *y = *(struct mem_line *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void image_write_memory(FILE *out)
{
	static struct mem_line *sorted[MEM_LINES_MAX];
	size_t count = 0, next;

	for (size_t i = 0; i < MEM_LINES_MAX; i++)
		if (mem_lines_has(&lines, &lines.lines[i]) && !lines.lines[i].missing)
			sorted[count++] = &lines.lines[i];
	qsort(sorted, count, sizeof(*sorted), line_order);
	for (size_t i = 0; i < count; i = next) {
		uint32_t size;

		for (next = i + 1;
		     next < count && sorted[next]->addr == sorted[next - 1]->addr + LINE; next++)
			;
		size = (uint32_t)(next - i) * LINE;
		fwrite(&sorted[i]->addr, 8, 1, out);
		fwrite(&size, 4, 1, out);
		for (size_t k = i; k < next; k++)
			fwrite(sorted[k]->bytes, LINE, 1, out);
	}
}

static void memory_note(uint64_t low, uint64_t high)
{
	unsigned char byte;

	for (uint64_t a = low & ~(uint64_t)(LINE - 1); a < high; a += LINE)
		vm_read(NULL, a, &byte, 1);
}

/* A walker that has learnt something may want to read more than this one. */
static void memory_note_more(const struct hs_host_walk *w, const struct hs_start *s)
{
	static struct hs_host_walk at;

	at.host = &vm_host;
	at.walk.hops = 0;
	memory_note(s->sp,
		    s->sp + WHOLE_STACK < s->stack_high ? s->sp + WHOLE_STACK : s->stack_high);
	memory_note(s->java_thread + vm.code.thread_anchor,
		    s->java_thread + vm.code.thread_anchor + LINE);
	if (vm_in_java(s->pc))
		memory_note(s->pc - LINE, s->pc + LINE);
	for (uint32_t i = 0; i < w->walk.stack.count && i < MORE_FRAMES; i++) {
		const struct wire_frame *f = &w->walk.stack.frames[i];
		struct hs_code c = {0};

		if (f->kind == WIRE_FRAME_INTERPRETED || hs_code_find(&at.walk, f->code, &c))
			continue;
		memory_note(f->code - LINE, f->code + LINE);
		memory_note(c.blob, c.blob + BLOB_HEADER);
	}
}

void vm_image_write(FILE *out, const struct hs_host_walk *w, const struct hs_start *s,
		    const char *note)
{
	memory_note_more(w, s);
	fprintf(out, "%s\nnote %s\n", IMAGE_MAGIC, note);
	for (size_t i = 0; i < IMAGE_COUNT(image_fields); i++) {
		uint64_t value = 0;

		memcpy(&value, (const char *)&vm.code + image_fields[i].at, image_fields[i].size);
		if (value)
			fprintf(out, "code %s %llx\n", image_fields[i].name,
				(unsigned long long)value);
	}
	fprintf(out, "start %llx %llx %llx %llx %llx %llx %x %llx %llx\n", s->pc, s->sp, s->fp,
		s->bcp, s->java_thread, s->stack_high, s->unlock, s->method, s->link);
	for (uint32_t i = 0; i < vm.rule_count; i++)
		fprintf(out, "rule %llx %d %d %d %u %d\n", (unsigned long long)vm.rules[i].pc,
			vm.rules[i].is_return, vm.rules[i].rule.cfa_offset,
			vm.rules[i].rule.fp_offset, vm.rules[i].rule.flags,
			vm.rules[i].rule.return_offset);
	fprintf(out, "result %s\n", image_result_name(w->walk.stack.result));
	for (uint32_t i = 0; i < w->walk.stack.count; i++) {
		const struct wire_frame *f = &w->walk.stack.frames[i];

		fprintf(out, "frame %s %llx %x\n", image_kinds[f->kind], f->code, f->id);
	}
	fprintf(out, "memory\n");
	image_write_memory(out);
}
