#include "cmd/sample_option.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"
#include "cmd/cmd.h"
#include "cmd/parse.h"
#include "jvm/native_symbols.h"
#include "record/kernel/thread_clocks.h"

static void sample_tick(struct sample_request *o, struct argp_state *state)
{
	o->event = SAMPLE_TICK;
	o->tick = native_symbols_tick();
	if (!o->tick)
		argp_failure(state, CMD_FAILED, 0,
			     "--sample: event=tick needs the address of the kernel's function "
			     "tick_nohz_handler() or tick_sched_timer(), which /proc/kallsyms does "
			     "not tell: run it as root, or without event=tick");
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}

/* What is after the period, from its comma on. */
static void parse_words(const char *words, bool symbols, struct sample_request *o,
			struct argp_state *state)
{
	while (words && *words) {
		size_t len = strcspn(++words, ",");

		if (is_word(words, len, "jitter=off"))
			o->jitter = false;
		else if (symbols && is_word(words, len, "symbols"))
			o->symbols = true;
		else if (is_word(words, len, "event=tick"))
			sample_tick(o, state);
		else if (is_word(words, len, "event=timer"))
			o->event = SAMPLE_TIMER;
		else if (is_word(words, len, "event=cpu-clock"))
			o->event = SAMPLE_CPU_CLOCK;
		else if (is_word(words, len, "event=cycles"))
			o->event = SAMPLE_CYCLES;
		else
			argp_error(state,
				   "--sample: '%.*s' is none of jitter=off, %sevent=timer, "
				   "event=cpu-clock, event=cycles, event=tick",
				   (int)len, words, symbols ? "symbols, " : "");
		words += len;
	}
}

/* The nearest number of ticks, 1 at least. */
static uint64_t whole_ticks(uint64_t period_ns)
{
	uint64_t tick_ns = clock_tick_ns(), ticks;

	if (!tick_ns)
		return period_ns;
	ticks = (period_ns + tick_ns / 2) / tick_ns;
	return (ticks ? ticks : 1) * tick_ns;
}

void parse_sample(const char *arg, bool symbols, struct sample_request *o,
		  struct argp_state *state)
{
	const char *comma = arg ? strchr(arg, ',') : NULL;
	char period[32];

	o->period_ns = parse_period(NULL, state);
	o->jitter = true;
	o->symbols = false;
	o->event = SAMPLE_AUTO;
	parse_words(comma, symbols, o, state);
	if (arg && comma != arg) {
		snprintf(period, sizeof(period), "%.*s", (int)(comma ? comma - arg : 31), arg);
		o->period_ns = parse_period(period, state);
	}
	if (o->event == SAMPLE_CYCLES)
		o->jitter = false; /* the kernel fits its period again and again */
	if (o->event != SAMPLE_TICK)
		return;
	o->period_ns = whole_ticks(o->period_ns);
	o->jitter = o->period_ns > clock_tick_ns(); /* by chance: one of so many */
}
