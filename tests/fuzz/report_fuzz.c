/* What the analyses and their reports make of any events: each command that reads a log and prints findings. */
#include "commands.h"

static const struct command_line lines[] = {
	{cmd_report, OUTPUT_TEXT, {"--jobs=1"}},
	{cmd_report, OUTPUT_JSON, {"--jobs=1", "--format=json"}},
	{cmd_report, OUTPUT_TEXT, {"--jobs=1", "--full", "--top=3"}},
	{cmd_report, OUTPUT_TEXT, {"--jobs=1", "--by=lock,waiter_stack,owner_stack"}},
	{cmd_report,
	 OUTPUT_TEXT,
	 {"--jobs=1", "--by=waiter_method,owner_method,waiter_thread,behind"}},
	{cmd_report,
	 OUTPUT_JSON,
	 {"--jobs=1", "--format=json", "--by=group,lock_class,owner_thread"}},
	{cmd_report, OUTPUT_TEXT, {"--jobs=1", "--parked", "--by=lock_class,owner_thread"}},
	{cmd_report, OUTPUT_TEXT, {"--jobs=1", "--from=1s", "--to=2s"}},
	{cmd_time, OUTPUT_TEXT, {"--jobs=1"}},
	{cmd_time, OUTPUT_TEXT, {"--jobs=1", "--by=thread", "--window=10ms"}},
	{cmd_time, OUTPUT_JSON, {"--jobs=1", "--by=pool", "--format=json"}},
	{cmd_time, OUTPUT_OTHER, {"--jobs=1", "--by=thread", "--format=csv"}},
	{cmd_spans, OUTPUT_TEXT, {"--jobs=1"}},
	{cmd_spans, OUTPUT_JSON, {"--jobs=1", "--format=json"}},
	{cmd_spans, OUTPUT_TEXT, {"--jobs=1", "--by-thread-name=(.)(.*)"}},
	{cmd_gc, OUTPUT_TEXT, {"--jobs=1", "--pauses"}},
	{cmd_gc, OUTPUT_JSON, {"--jobs=1", "--pauses", "--format=json"}},
	{cmd_gc, OUTPUT_OTHER, {"--jobs=1", "--format=csv"}},
	{cmd_report, OUTPUT_OTHER, {"--jobs=1", "--csv=contention"}},
	{cmd_report,
	 OUTPUT_OTHER,
	 {"--jobs=1", "--csv=contention", "--by=waiter_stack,behind,group"}},
	{cmd_report, OUTPUT_TEXT, {"--jobs=3"}},
	{cmd_html, OUTPUT_OTHER, {"--jobs=1", "--output=-"}},
	{cmd_html, OUTPUT_OTHER, {"--jobs=1", "--output=-", "--where=group=monitor", "--from=1s"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	commands_fuzz(lines, sizeof(lines) / sizeof(*lines), data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return log_events_mutate(data, size, max, seed, 1);
}
