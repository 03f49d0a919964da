/* base/text/msg.h: messages to the user on stderr. Each line begins with libc's
 * program_invocation_short_name: "spoor: ". */
#pragma once

enum msg_level { MSG_ERROR, MSG_WARNING, MSG_INFO, MSG_LEVEL_COUNT };

/* What a %s stands for is made visible, as print_text() does it: a name may hold anything. */
void msg(enum msg_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define msg_error(...) msg(MSG_ERROR, __VA_ARGS__)
#define msg_warning(...) msg(MSG_WARNING, __VA_ARGS__)
#define msg_info(...) msg(MSG_INFO, __VA_ARGS__)
