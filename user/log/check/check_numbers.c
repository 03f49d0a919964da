#include "log/check/check_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/schema.h"

static int bit_set_add(struct bit_set *s, uint64_t number)
{
	uint32_t word = (uint32_t)(number / 64);
	int err = 0;

	if (number >= CHECK_NUMBER_MAX)
		return 0;
	if (word >= s->count)
		err = array_grow(&s->words, &s->count, word, sizeof(*s->words));
	if (!err)
		s->words[word] |= 1ull << number % 64;
	return err;
}

/* What number a field is; CHECK_NUMBER_COUNT: none. */
static enum check_number number_of(enum field_type type)
{
	switch (type) {
	case FIELD_THREAD:
		return CHECK_THREAD;
	case FIELD_CLASS:
		return CHECK_CLASS;
	case FIELD_LOCK:
		return CHECK_LOCK;
	case FIELD_STRING:
		return CHECK_STRING;
	case FIELD_METHOD:
		return CHECK_METHOD;
	case FIELD_STACK:
		return CHECK_STACK;
	default:
		return CHECK_NUMBER_COUNT;
	}
}

/* The field with the number that the event defines; a thread's is no field. */
static bool is_definition(const struct event *e, unsigned field)
{
	static const struct {
		unsigned id, field;
	} own[] = {{EVENT_CLASS, CLASS_CLASS},
		   {EVENT_LOCK, LOCK_LOCK},
		   {EVENT_STRING, STRING_STRING},
		   {EVENT_METHOD, METHOD_METHOD},
		   {EVENT_STACK, STACK_STACK}};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (own[i].id == e->id && own[i].field == field)
			return true;
	return false;
}

/*
 * Counters come in the order of the file, in which events of different CPUs are not in that
 * of their times: only one that is not older than the last says so. 0 is what an owner has of whom
 * nothing was known, or who has ended.
 */
static int add_counter(struct check_seen *s, const struct event *e, uint64_t thread,
		       unsigned counter, uint64_t value, uint64_t *back)
{
	uint64_t *last, *time;

	if (!thread || !value || s->values.threads.count >= CHECK_THREADS_MAX)
		return 0;
	last = counters_of(&s->values, thread);
	time = last ? counters_of(&s->times, thread) : NULL;
	if (!time)
		return -ENOMEM;
	if (time[counter] > e->time_ns)
		return 0;
	if (value < last[counter] && last[counter] - value > *back)
		*back = last[counter] - value;
	last[counter] = value;
	time[counter] = e->time_ns;
	return 0;
}

int check_seen_add(struct check_seen *s, const struct event *e, uint64_t *ret_back)
{
	const struct event_desc *desc = schema_event(e->id);
	const uint8_t *counter = schema_counter[desc - schema_table];
	struct bit_set *set = e->id == EVENT_THREAD ? s->defined : s->used;
	int err = bit_set_add(&set[CHECK_THREAD], e->thread);

	*ret_back = 0;
	for (unsigned i = 0; i < e->field_count && !err; i++) {
		const struct field_desc *field = &desc->fields[i];
		enum check_number kind = number_of(field->type);

		if (kind < CHECK_NUMBER_COUNT) {
			set = is_definition(e, i) ? s->defined : s->used;
			err = bit_set_add(&set[kind], e->v[i].u);
		} else if (field->type == FIELD_COUNTER) {
			err = add_counter(s, e, field->of < 0 ? e->thread : e->v[field->of].u,
					  counter[i], e->v[i].u, ret_back);
		}
	}
	return err;
}

static uint64_t word_at(const struct bit_set *s, size_t i)
{
	uint64_t word = i < s->count ? s->words[i] : 0;

	return i ? word : word & ~1ull; /* 0 is no number */
}

void check_seen_count(const struct check_seen *s, enum check_number kind, struct check_numbers *ret)
{
	const struct bit_set *defined = &s->defined[kind], *used = &s->used[kind];
	uint64_t missing;

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < defined->count || i < used->count; i++) {
		ret->defined += (unsigned)__builtin_popcountll(word_at(defined, i));
		missing = word_at(used, i) & ~word_at(defined, i);
		for (; missing; missing &= missing - 1) {
			if (ret->undefined < CHECK_SAMPLES)
				ret->samples[ret->undefined] =
					i * 64 + (unsigned)__builtin_ctzll(missing);
			ret->undefined++;
		}
	}
}

void check_seen_free(struct check_seen *s)
{
	for (int i = 0; i < CHECK_NUMBER_COUNT; i++) {
		free(s->defined[i].words);
		free(s->used[i].words);
	}
	counters_free(&s->values);
	counters_free(&s->times);
}
