/* What the commands that print events, or write them in other formats, make of any events. */
#include "commands.h"

static const struct command_line lines[] = {
	{cmd_export, OUTPUT_JSON, {"--jobs=1", "--to=chrome"}},
	{cmd_export,
	 OUTPUT_JSON,
	 {"--jobs=1", "--to=chrome", "--frames=0", "--min=1us", "--thread-name=T*"}},
	{cmd_export, OUTPUT_JSON, {"--jobs=1", "--to=chrome", "--from=1s", "--until=2s"}},
	{cmd_export, OUTPUT_OTHER, {"--jobs=1", "--to=collapsed"}},
	{cmd_export,
	 OUTPUT_OTHER,
	 {"--jobs=1", "--to=collapsed", "--side=both", "--threads", "--locks", "--lines"}},
	{cmd_export, OUTPUT_JSON, {"--jobs=1", "--to=speedscope"}},
	{cmd_export, OUTPUT_JSON, {"--jobs=1", "--to=speedscope", "--hidden", "--lines"}},
	{cmd_export, OUTPUT_JSON, {"--jobs=1", "--to=firefox", "--threads", "--lines"}},
	{cmd_export, OUTPUT_OTHER, {"--jobs=1", "--to=pprof", "--side=both"}},
	{cmd_export, OUTPUT_OTHER, {"--jobs=1", "--to=otlp", "--side=owner"}},
	{cmd_export, OUTPUT_OTHER, {"--jobs=1", "--to=perfetto"}},
	{cmd_export, OUTPUT_OTHER, {"--jobs=1", "--to=jfr"}},
	{cmd_export, OUTPUT_LINES, {"--jobs=1", "--to=jsonl"}},
	{cmd_export, OUTPUT_OTHER, {"--jobs=1", "--to=csv", "--event=thread_sample"}},
	{cmd_export,
	 OUTPUT_OTHER,
	 {"--jobs=1", "--to=csv", "--event=monitor_contended_entered", "--frames=3"}},
	{cmd_cat, OUTPUT_LINES, {"--jobs=1"}},
	{cmd_cat, OUTPUT_LINES, {"--jobs=1", "--resolve"}},
	{cmd_cat, OUTPUT_JSON, {"--jobs=1", "--header"}},
	{cmd_verify, OUTPUT_TEXT, {"--strict"}},
	{cmd_verify, OUTPUT_JSON, {"--format=json"}},
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
