#include "jvm/layout/versions/versions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "jvm/layout/code_rules.h"
#include "jvm/layout/versions/support.h"

static void each_known_release_has_one_table(void **state)
{
	static const struct jdk_version *const all[] = {&jdk_11, &jdk_17, &jdk_21,
							&jdk_23, &jdk_25, &jdk_26};

	(void)state;
	for (uint32_t major = 0; major < 64; major++) {
		const struct jdk_version *found = jdk_version_find(major);
		int rows = 0;

		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			rows += major >= all[i]->first && major <= all[i]->last;
		assert_int_equal(rows, major == 11 || (major >= 17 && major <= 27));
		assert_int_equal(found != NULL, rows);
		assert_true(!found || (major >= found->first && major <= found->last));
	}
	assert_ptr_equal(jdk_version_find(11), &jdk_11);
	assert_ptr_equal(jdk_version_find(17), &jdk_17);
	assert_null(jdk_version_find(UINT32_MAX));
}

static void tables_know_their_releases(void **state)
{
	(void)state;
	assert_true(jdk_11.layout.raw_oops && !jdk_17.layout.raw_oops);
	assert_true(jdk_11.code && jdk_17.code);
	assert_int_equal(jdk_version_find(19)->code->fixed.number_excluded, 0);
	assert_int_equal(jdk_version_find(21)->code->fixed.number_excluded, 1);
	assert_null(jdk_23.code);
	assert_true(jdk_version_find(25)->code->fixed.scopes_apart);
	assert_int_equal(jdk_version_find(22)->layout.array_data, ARRAY_DATA_ALIGNED);
	assert_int_equal(jdk_version_find(23)->layout.array_data, ARRAY_DATA_PACKED);
	assert_int_equal(jdk_version_find(23)->layout.owner_word, OWNER_WORD_ADDRESS);
	assert_int_equal(jdk_version_find(24)->layout.owner_word, OWNER_WORD_ID);
	assert_int_equal(jdk_version_find(23)->layout.mark_hash_shift, 8);
	assert_int_equal(jdk_version_find(24)->layout.mark_hash_shift, 11);
	assert_true(!jdk_21.virtual_threads_unmount && jdk_25.virtual_threads_unmount);
	assert_true(jdk_version_find(27)->virtual_threads_unmount);
	assert_true(jdk_version_find(27)->code->fixed.scopes_apart);
}

/* As layout_load() leaves it where vmStructs says nothing. */
static struct jvm_layout layout_by(const struct jdk_version *v)
{
	struct jvm_layout l = {.ready = true, .rrwl_state = -1, .java_thread_owner_id = -1};

	if (!v)
		return l;
	l.owner_word = v->layout.owner_word;
	l.owners_resolved = l.owner_word == OWNER_WORD_ADDRESS;

	l.mark_hash_shift = v->layout.mark_hash_shift;
	l.mark_hash_mask = 0x7fffffff;
	l.array_data = v->layout.array_data;
	return l;
}

/* Bits of enum jvm_limit: those that have a text. */
static unsigned limits(const struct jvm_support *s)
{
	unsigned bits = 0;

	for (int i = 0; i < JVM_LIMIT_COUNT; i++)
		bits |= *s->text[i] ? 1u << i : 0;
	assert_int_equal(s->level != JVM_FULL, bits != 0);
	return bits;
}

static struct jvm_support support_of(uint32_t major, const struct jvm_layout *l,
				     const char *code_missing)
{
	const struct support_facts f = {.major = major,
					.version = jdk_version_find(major),
					.layout = l,
					.code_missing = code_missing};
	struct jvm_support s;

	support_find(&f, &s);
	return s;
}

#define HAS(limit) (1u << JVM_LIMIT_##limit)

static void known_versions_are_limited_by_name(void **state)
{
	struct jvm_layout l = layout_by(&jdk_17);
	struct jvm_support s = support_of(17, &l, NULL);

	(void)state;
	assert_int_equal(s.level, JVM_FULL);
	assert_int_equal(limits(&s), 0);
	s = support_of(21, &l, "no table");
	assert_int_equal(s.level, JVM_LIMITED);
	assert_int_equal(limits(&s), HAS(STACKS));
	assert_string_equal(s.text[JVM_LIMIT_STACKS],
			    "call chains are missing: the code of this JVM is not laid out as "
			    "spoor knows it: no table");
	l = layout_by(&jdk_25);
	s = support_of(25, &l, "no table");
	assert_int_equal(limits(&s), HAS(STACKS) | HAS(OWNERS) | HAS(VIRTUAL));
	assert_non_null(strstr(s.text[JVM_LIMIT_OWNERS], "owners of monitors are not resolved"));
	l.mark_hash_mask = 0;
	s = support_of(25, &l, NULL);
	assert_int_equal(limits(&s), HAS(HASHES) | HAS(OWNERS) | HAS(VIRTUAL));
}

static void addresses_for_handles_limit_identities(void **state)
{
	struct jvm_layout l = layout_by(&jdk_11);
	struct jvm_support s;

	(void)state;
	l.raw_oops = jdk_11.layout.raw_oops;
	s = support_of(11, &l, NULL);
	assert_int_equal(s.level, JVM_LIMITED);
	assert_int_equal(limits(&s), HAS(IDENTITY));
}

static void an_unknown_version_lacks_what_nobody_says(void **state)
{
	struct jvm_layout l = layout_by(NULL);
	struct jvm_support s = support_of(28, &l, NULL);

	(void)state;
	assert_int_equal(limits(&s), HAS(VERSION) | HAS(OWNERS) | HAS(HASHES) | HAS(NAMES));
	assert_string_equal(
		s.text[JVM_LIMIT_VERSION],
		"spoor does not know OpenJDK 28 (it knows OpenJDK 11, and 17 to 27): the "
		"recording has only what this JVM says of itself");
	s = support_of(0, &l, NULL);
	assert_non_null(strstr(s.text[JVM_LIMIT_VERSION], "the version of this JVM"));
	/* What the JVM says is enough. */
	l = layout_by(&jdk_17);
	s = support_of(28, &l, NULL);
	assert_int_equal(limits(&s), HAS(VERSION));
	/* A class that has changed, loaded later. */
	l.rrwl_sync_klass = 1;
	s = support_of(28, &l, NULL);
	assert_int_equal(limits(&s), HAS(VERSION) | HAS(READERS));
	l.rrwl_state = 20;
	s = support_of(28, &l, NULL);
	assert_int_equal(limits(&s), HAS(VERSION));
}

static void a_refusal_says_what_is_missing(void **state)
{
	struct support_facts f = {.major = 11, .missing = "ThreadsList::_length"};
	struct jvm_support s;

	(void)state;
	support_find(&f, &s);
	assert_int_equal(s.level, JVM_REFUSED);
	assert_int_equal(limits(&s), HAS(VERSION));
	assert_string_equal(s.text[JVM_LIMIT_VERSION], "it is OpenJDK 11 and lacks "
						       "ThreadsList::_length; spoor knows OpenJDK "
						       "11, and 17 to 27");
	f.major = 0;
	support_find(&f, &s);
	assert_string_equal(s.text[JVM_LIMIT_VERSION],
			    "it lacks ThreadsList::_length; spoor knows OpenJDK 11, and 17 to 27");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_known_release_has_one_table),
		cmocka_unit_test(tables_know_their_releases),
		cmocka_unit_test(known_versions_are_limited_by_name),
		cmocka_unit_test(addresses_for_handles_limit_identities),
		cmocka_unit_test(an_unknown_version_lacks_what_nobody_says),
		cmocka_unit_test(a_refusal_says_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
