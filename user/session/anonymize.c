#include "session/anonymize.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/threads/pool.h"
#include "base/tables/array.h"
#include "base/text/strbuf.h"
#include "log/format/event.h"
#include "log/format/schema.h"

#define WORD_LETTERS 10
#define COMM_BYTES 15 /* of a thread's name the kernel keeps no more */

struct numbers {
	uint64_t *all; /* sorted, each once, up to sorted */
	uint32_t count, sorted, capacity;
};

struct anonymize {
	uint8_t key[SIPHASH_KEY_BYTES];
	struct numbers strings; /* that the JVM's events name */
	struct numbers threads; /* that are Java threads */
	struct strbuf text;     /* what takes the place of a text */
	struct log_rewrite rewrite;
};

/* --- numbers ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void sort(struct numbers *n)
{
	uint32_t kept = 0;

	if (n->sorted == n->count)
		return;
	qsort(n->all, n->count, sizeof(*n->all), compare);
	for (size_t i = 0; i < n->count; i++)
		if (!kept || n->all[i] != n->all[kept - 1])
			n->all[kept++] = n->all[i];
	n->count = n->sorted = kept;
}

/* Only of those that are sorted. */
static bool has(const struct numbers *n, uint64_t number)
{
	return n->sorted && bsearch(&number, n->all, n->sorted, sizeof(number), compare) != NULL;
}

static int add(struct numbers *n, uint64_t number)
{
	if (!number || has(n, number))
		return 0;
	if (n->count == n->capacity) {
		sort(n);
		if (2 * n->count >= n->capacity &&
		    array_extend(&n->all, &n->capacity, n->capacity, sizeof(*n->all)))
			return -ENOMEM;
	}
	n->all[n->count++] = number;
	return 0;
}

/* --- words ------------------------------------------------------------------------------------ */

static int put(struct anonymize *a, const char *text, size_t length)
{
	strbuf_put(&a->text, text, length);
	return a->text.err;
}

static int put_word(struct anonymize *a, const char *word, size_t length)
{
	uint64_t hash = siphash(a->key, word, length);
	char letters[WORD_LETTERS];

	for (int i = 0; i < WORD_LETTERS; i++, hash /= 26)
		letters[i] = (char)('a' + hash % 26);
	return put(a, letters, sizeof(letters));
}

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool begins(const char *text, size_t length, const char *with)
{
	return length >= strlen(with) && !memcmp(text, with, strlen(with));
}

static bool is_one_of(const char *const *names, size_t count, const char *text, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (length == strlen(names[i]) && begins(text, length, names[i]))
			return true;
	return false;
}

/* Of the names that HotSpot gives its own threads. cut: it may be the beginning of a word only. */
static bool is_word_of_vm(const char *word, size_t length, bool cut)
{
	static const char words[] =
		"Attach C CompilerThread Conc Control Deflation DestroyJavaVM Dispatcher G GC JFR "
		"JVMCI Listener Main Marker Monitor Notification ParGC Periodic Refine RemSet "
		"Sampler Sampling Service Shenandoah Signal StrDedup Sweeper Task Thread Threads "
		"VM Young ZDirector ZDriver ZDriverMajor ZDriverMinor ZStat ZUncommitter ZUnmapper "
		"ZWorker thread ";
	size_t n;

	for (const char *at = words; *at; at += n + 1) {
		n = strcspn(at, " ");
		if ((n == length || (cut && n > length)) && !memcmp(at, word, length))
			return true;
	}
	return false;
}

/* of_vm: the text is the name of a thread of the JVM's, whose own words stay. */
static int put_all(struct anonymize *a, const char *text, size_t length, bool of_vm)
{
	bool comm = length == COMM_BYTES, keep;
	size_t at = 0, n;
	int err = 0;

	for (; at < length && !err; at += n) {
		for (n = 0; at + n < length && is_letter(text[at + n]); n++)
			;
		keep = of_vm && is_word_of_vm(text + at, n, comm && at + n == length);
		err = n && !keep ? put_word(a, text + at, n) : put(a, text + at, n ? n : 1);
		n = n ? n : 1;
	}
	return err;
}

static int put_words(struct anonymize *a, const char *text, size_t length)
{
	return put_all(a, text, length, false);
}

/* separator: '.', or '/' in signatures. */
static bool is_jdk(const char *name, size_t length, char separator)
{
	static const char *const packages[] = {"java", "javax", "jdk", "sun"};
	size_t n;

	for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++) {
		n = strlen(packages[i]);
		if (begins(name, length, packages[i]) && length > n && name[n] == separator)
			return true;
	}
	return false;
}

/* "a.b.C", "[La.b.C;", "[[I", "int". */
static int put_class(struct anonymize *a, const char *name, size_t length)
{
	static const char *const primitives[] = {"boolean", "byte", "char",  "short",
						 "int",     "long", "float", "double"};
	const size_t count = sizeof(primitives) / sizeof(*primitives);
	size_t brackets = 0;

	while (brackets < length && name[brackets] == '[')
		brackets++;
	if (brackets && brackets < length && name[brackets] == 'L')
		brackets++;
	else if (brackets)
		return put(a, name, length);
	if (is_one_of(primitives, count, name, length) ||
	    is_jdk(name + brackets, length - brackets, '.'))
		return put(a, name, length);
	return put(a, name, brackets) | put_words(a, name + brackets, length - brackets);
}

/* "(ILa/b/C;)V" */
static int put_signature(struct anonymize *a, const char *text, size_t length)
{
	size_t at = 0, n;
	int err = 0;

	for (; at < length && !err; at += n) {
		n = 1;
		if (text[at] == 'L') {
			while (at + n < length && text[at + n] != ';')
				n++;
			err = put(a, "L", 1);
			err |= is_jdk(text + at + 1, n - 1, '/')
				       ? put(a, text + at + 1, n - 1)
				       : put_words(a, text + at + 1, n - 1);
		} else {
			err = strchr("()[BCDFIJSVZ;", text[at]) ? put(a, text + at, 1)
								: put(a, "?", 1);
		}
	}
	return err;
}

static int put_method(struct anonymize *a, const struct rewrite_text *t)
{
	size_t stem = t->length;

	if (t->field == METHOD_CLASS_NAME)
		return put_class(a, t->text, t->length);
	if (t->field == METHOD_SIGNATURE)
		return put_signature(a, t->text, t->length);
	if (is_jdk(t->first, t->first_length, '.') || begins(t->text, t->length, "<init>") ||
	    begins(t->text, t->length, "<clinit>"))
		return put(a, t->text, t->length);
	while (t->field == METHOD_SOURCE && stem && t->text[stem - 1] != '.')
		stem--;
	if (t->field != METHOD_SOURCE || !stem)
		return put_words(a, t->text, t->length);
	return put_words(a, t->text, stem) | put(a, t->text + stem, t->length - stem);
}

/* A name of the JVM's own stays; so do those that Java's library and its launcher give. */
static int put_thread(struct anonymize *a, const struct rewrite_text *t)
{
	static const char *const known[] = {"main", "Reference Handler", "Finalizer",
					    "Common-Cleaner", "java"};
	bool java = has(&a->threads, t->thread);
	enum thread_group group;
	char *copy;

	if (is_one_of(known, sizeof(known) / sizeof(*known), t->text, t->length))
		return put(a, t->text, t->length);
	copy = strndup(t->text, t->length);
	if (!copy)
		return -ENOMEM;
	group = thread_group_of(copy, java);
	free(copy);
	return put_all(a, t->text, t->length,
		       group != THREAD_GROUP_JAVA && group != THREAD_GROUP_NATIVE);
}

/* --- the log ---------------------------------------------------------------------------------- */

int anonymize_look(struct anonymize *a, const struct event *e)
{
	const struct event_desc *desc = schema_event(e->id);
	int err = 0;

	if (e->id == EVENT_THREAD && e->v[THREAD_JAVA_ID].u)
		return add(&a->threads, e->thread);
	if (e->id == EVENT_SPAN_BEGIN || e->id == EVENT_THREAD_RENAME || e->id == EVENT_STRING)
		return 0;
	for (unsigned i = 0; i < desc->field_count && !err; i++)
		if (desc->fields[i].type == FIELD_STRING)
			err = add(&a->strings, e->v[i].u);
	return err;
}

static int text(void *ctx, const struct rewrite_text *t, const char **ret, size_t *ret_length)
{
	struct anonymize *a = ctx;
	int err;

	sort(&a->strings);
	sort(&a->threads);
	strbuf_clear(&a->text);
	if (t->event == EVENT_THREAD)
		err = put_thread(a, t);
	else if (t->event == EVENT_CLASS)
		err = put_class(a, t->text, t->length);
	else if (t->event == EVENT_METHOD)
		err = put_method(a, t);
	else if (t->event == EVENT_STRING && has(&a->strings, t->number))
		err = put(a, t->text, t->length);
	else
		err = put_words(a, t->text, t->length);
	if (err)
		return -ENOMEM;
	*ret = strbuf_text(&a->text);
	*ret_length = a->text.used;
	return 0;
}

/* Where spoor's own words are, or the machine's and the JVM's kind. */
static bool header_is_kept(const char *object, const char *key)
{
	static const char *const kept[] = {
		"format",       "spoor",           "clock",          "features", "host.kernel",
		"host.arch",    "host.hypervisor", "jvm.version",    "jvm.vm",   "jvm.kind",
		"jvm.build_id", "jvm.flags",       "part.recording", "repaired"};
	char path[128];

	if (!strcmp(object, "sources") || !strcmp(object, "facts"))
		return strcmp(key, "monitor_why") && strcmp(key, "hooks_why");
	snprintf(path, sizeof(path), "%s%s%s", object, *object ? "." : "", key);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (!strcmp(path, kept[i]))
			return true;
	return false;
}

static int header_value(struct anonymize *a, const char *key, json_t *in, json_t *value)
{
	json_t *new;

	if (!json_is_string(value))
		return json_is_array(value) ? json_object_set_new(in, key, json_null()) : 0;
	strbuf_clear(&a->text);
	if (put_words(a, json_string_value(value), json_string_length(value)))
		return -ENOMEM;
	new = json_stringn(strbuf_text(&a->text), a->text.used);
	return json_object_set_new(in, key, new);
}

static int header_object(struct anonymize *a, const char *name, json_t *object)
{
	const char *key;
	json_t *value;
	void *next;
	int err = 0;

	json_object_foreach_safe(object, next, key, value)
	{
		if (header_is_kept(name, key))
			continue;
		if (json_is_object(value))
			err |= header_object(a, key, value);
		else
			err |= header_value(a, key, object, value);
	}
	return err ? -ENOMEM : 0;
}

static int header(void *ctx, json_t *header)
{
	int err;

	/* Ids of pods and containers are mostly digits, which would stay. */
	json_object_del(header, "labels");
	err = header_object(ctx, "", header);
	return err || json_object_set_new(header, "anonymized", json_true()) ? -ENOMEM : 0;
}

int anonymize_new(const uint8_t key[SIPHASH_KEY_BYTES], struct anonymize **ret)
{
	struct anonymize *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	memcpy(a->key, key, sizeof(a->key));
	a->rewrite = (struct log_rewrite){a, text, header};
	*ret = a;
	return 0;
}

void anonymize_free(struct anonymize *a)
{
	if (!a)
		return;
	free(a->strings.all);
	free(a->threads.all);
	strbuf_free(&a->text);
	free(a);
}

const struct log_rewrite *anonymize_rewrite(const struct anonymize *a)
{
	return &a->rewrite;
}
