#include "jvm/jvm.h"
#include "jvm/jvm_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Twice what execve() takes as one argument: whatever is cut has no room in the log. */
#define COMMAND_MAX (256u << 10)

enum flag_type { FLAG_BOOL, FLAG_U32, FLAG_U64 };

/* Flags that change what a log means; a JVM need not have all of them. */
static const struct {
	const char *name;
	enum flag_type type;
} flags[] = {
	{"UseSerialGC", FLAG_BOOL},
	{"UseParallelGC", FLAG_BOOL},
	{"UseG1GC", FLAG_BOOL},
	{"UseZGC", FLAG_BOOL},
	{"UseShenandoahGC", FLAG_BOOL},
	{"UseConcMarkSweepGC", FLAG_BOOL}, /* up to JDK 13 */
	{"UseEpsilonGC", FLAG_BOOL},
	{"MaxHeapSize", FLAG_U64},
	{"MaxNewSize", FLAG_U64},
	{"G1HeapRegionSize", FLAG_U64},
	{"UseCompressedOops", FLAG_BOOL},
	{"UseCompressedClassPointers", FLAG_BOOL},
	{"TieredCompilation", FLAG_BOOL},
	{"PreserveFramePointer", FLAG_BOOL},
	{"UseBiasedLocking", FLAG_BOOL},
	{"DTraceMonitorProbes", FLAG_BOOL},
	{"ExtendedDTraceProbes", FLAG_BOOL},
	{"ParallelGCThreads", FLAG_U32},
	{"ConcGCThreads", FLAG_U32},
};

static json_t *flag_json(const struct jvm *j, const char *name, enum flag_type type)
{
	const struct flag *f = flag_find(&j->flags, name);
	uint64_t wide;
	uint32_t half;
	bool set;

	if (!f)
		return NULL;
	switch (type) {
	case FLAG_BOOL:
		return jvm_flag_read(j, name, &set) ? NULL : json_boolean(set);
	case FLAG_U32:
		return mem_u32(&j->mem, f->addr, &half) ? NULL : json_integer(half);
	case FLAG_U64:
		return mem_u64(&j->mem, f->addr, &wide) ? NULL : json_integer((json_int_t)wide);
	}
	return NULL;
}

/* A name need not be UTF-8; JSON has to be: whatever is not becomes '?'. */
static json_t *text_json(char *text)
{
	json_t *string = json_string(text);

	if (string)
		return string;
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if (*c >= 0x80)
			*c = '?';
	return json_string(text);
}

/* What a static char * of the VM points to; "" when it cannot be read yet. */
static void static_text(const struct jvm *j, const char *field, char *ret, size_t size)
{
	uint64_t at, text;

	*ret = 0;
	if (!j->vms || vmstructs_address(j->vms, "Abstract_VM_Version", field, &at) ||
	    mem_u64(&j->mem, at, &text) || !text || mem_string(&j->mem, text, ret, size))
		*ret = 0;
}

static int set(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value);
}

static int flags_add(const struct jvm *j, json_t *object)
{
	json_t *all = json_object(), *value;
	int err = all ? 0 : -1;

	for (size_t i = 0; !err && i < sizeof(flags) / sizeof(*flags); i++) {
		value = flag_json(j, flags[i].name, flags[i].type);
		if (value)
			err = set(all, flags[i].name, value);
	}
	if (err) {
		json_decref(all);
		return err;
	}
	return set(object, "flags", all);
}

/* "" when it cannot be read. An argument that is cut is left out: what it lacks may be the part
 * that shows that it is a secret. */
static void command_text(pid_t pid, enum command_line how, char *ret, size_t size)
{
	size_t length;
	char *text;

	*ret = 0;
	if (how == COMMAND_LINE_NONE ||
	    process_file_head(pid, "cmdline", COMMAND_MAX, &text, &length))
		return;
	if (length == COMMAND_MAX)
		while (length && text[length - 1])
			length--;
	while (length && !text[length - 1])
		length--;
	redact_command(text, length, how, ret, size);
	free(text);
}

static int texts_add(const struct jvm *j, enum command_line how, json_t *object)
{
	char version[256], vm[512], command[4096], path[sizeof(j->lib.path)];
	char *end;

	static_text(j, "_s_vm_release", version, sizeof(version));
	/* "OpenJDK 64-Bit Server VM (17.0.15+6-...) for linux-amd64 JRE ..." */
	static_text(j, "_s_internal_vm_info_string", vm, sizeof(vm));
	end = strstr(vm, " (");
	if (end)
		*end = 0;
	command_text(j->pid, how, command, sizeof(command));
	strcpy(path, j->lib.path);
	return set(object, "version", text_json(version)) | set(object, "vm", text_json(vm)) |
	       set(object, "libjvm", text_json(path)) |
	       set(object, "build_id", json_string(j->elf.build_id)) |
	       set(object, "command", text_json(command));
}

json_t *jvm_describe(const struct jvm *j, enum command_line how)
{
	json_t *object = json_object();

	if (!object)
		return NULL;
	if (set(object, "pid", json_integer(j->pid)) |
	    set(object, "ns_pid", json_integer(j->ns_pid)) |
	    set(object, "start_ticks", json_integer((json_int_t)j->start_ticks)) |
	    texts_add(j, how, object) | flags_add(j, object)) {
		json_decref(object);
		return NULL;
	}
	return object;
}
