/* report/flame/profile_head.h: what a profile's file says of the recording. */
#pragma once

struct profile_head;
struct session_log;

/* Times, the traced program. Texts are lent by the log's header. */
void profile_head_set(struct profile_head *head, const struct session_log *log);
