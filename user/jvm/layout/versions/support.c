#include "jvm/layout/versions/support.h"

#include <stdarg.h>
#include <stdio.h>

#include "jvm/layout/versions/versions.h"

static void say(struct jvm_support *s, enum jvm_limit limit, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct jvm_support *s, enum jvm_limit limit, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(s->text[limit], sizeof(s->text[limit]), format, ap);
	va_end(ap);
	s->level = JVM_LIMITED;
}

static void refuse(const struct support_facts *f, struct jvm_support *ret)
{
	char is[32] = "it";

	if (f->major)
		snprintf(is, sizeof(is), "it is OpenJDK %u and", (unsigned)f->major);
	say(ret, JVM_LIMIT_VERSION, "%s lacks %s; spoor knows " JDK_KNOWN, is, f->missing);
	ret->level = JVM_REFUSED;
}

static void version_look(const struct support_facts *f, struct jvm_support *ret)
{
	static const char rest[] =
		"(it knows " JDK_KNOWN "): the recording has only what this JVM says of itself";

	if (f->version)
		return;
	if (f->major)
		say(ret, JVM_LIMIT_VERSION, "spoor does not know OpenJDK %u %s", (unsigned)f->major,
		    rest);
	else
		say(ret, JVM_LIMIT_VERSION, "spoor does not know the version of this JVM %s", rest);
}

static void monitors_look(const struct jvm_layout *l, struct jvm_support *ret)
{
	if (l->owner_word == OWNER_WORD_ID && !l->owners_resolved)
		say(ret, JVM_LIMIT_OWNERS,
		    "owners of monitors are not resolved: this JVM keeps thread ids in its "
		    "monitors, and does not say which thread has which id");
	else if (l->owner_word == OWNER_WORD_UNKNOWN)
		say(ret, JVM_LIMIT_OWNERS,
		    "owners of monitors are not resolved: this JVM does not say what its monitors "
		    "keep of them");
	if (l->raw_oops)
		say(ret, JVM_LIMIT_IDENTITY,
		    "a lock whose object has no identity hash gets a new number if a collector "
		    "moves the object while no thread is blocked on it: this JVM's monitors refer "
		    "to objects by their addresses");
	if (!l->mark_hash_mask)
		say(ret, JVM_LIMIT_HASHES,
		    "identity hashes of locks are missing: this JVM does not say where they are");
}

static void objects_look(const struct jvm_layout *l, struct jvm_support *ret)
{
	/* With compressed class pointers the bytes begin at 16 in all versions. */
	if (l->array_data == ARRAY_DATA_UNKNOWN && l->ready && !l->compressed_klass)
		say(ret, JVM_LIMIT_NAMES,
		    "names of threads are missing: this JVM does not say where the bytes of a "
		    "string begin (-XX:-UseCompressedClassPointers was given)");
	if (l->rrwl_sync_klass && l->rrwl_state < 0)
		say(ret, JVM_LIMIT_READERS,
		    "who holds a ReentrantReadWriteLock for reading is not known: the class is not "
		    "as in " JDK_KNOWN);
}

void support_find(const struct support_facts *f, struct jvm_support *ret)
{
	*ret = (struct jvm_support){.level = JVM_FULL};
	if (f->missing) {
		refuse(f, ret);
		return;
	}
	version_look(f, ret);
	if (f->no_walker)
		say(ret, JVM_LIMIT_STACKS,
		    "call chains are missing: spoor does not know how HotSpot's frames look on %s "
		    "in JDK %u; all else is recorded",
		    f->no_walker, f->major);
	else if (f->code_missing)
		say(ret, JVM_LIMIT_STACKS,
		    "call chains are missing: the code of this JVM is not laid out as spoor knows "
		    "it: %s",
		    f->code_missing);
	monitors_look(f->layout, ret);
	objects_look(f->layout, ret);
	if (f->version && f->version->virtual_threads_unmount)
		say(ret, JVM_LIMIT_VIRTUAL,
		    "virtual threads that wait for a monitor are on no carrier (JDK 24 or later): "
		    "only --probes usdt sees them, and the ends of that need functions of "
		    "libjvm.so that its symbol table has not been found to have");
}
