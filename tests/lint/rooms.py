"""The rooms of spoor's source tree: what each holds, which rooms it may include, and its face.

A room may include itself, the rooms below it, and what is below those. Its face is the headers that code of another
top-level room (user/log, user/jvm, ...) may include; the rest is its own. Without being named here, a header that has
the findings of an analysis (a row of user/analyze, analyze/row.h) is in its room's face. docs/contributing.md shows
this table.
"""

# room: (what it holds, the rooms right below it, the headers that other top-level rooms may include; *: all)
ROOMS = {
    "bpf/wire": ("records that cross the ring, one header per family", "",
                 "*"),
    "bpf/vmlinux": ("the kernel's types that the programs use, per architecture", "", ""),
    "bpf/walk": ("the HotSpot stack walker; compiles for the host too", "bpf/wire", "hotspot.bpf"),
    "bpf/lib": ("maps, emitting, threads, clocks, stolen time, reads of the JVM", "bpf/walk jvm-hooks", ""),
    "bpf/probes": ("the probes, one family of events per file", "bpf/lib", ""),
    "bpf/relay": ("one set of the scheduler's programs for many recorders", "bpf/lib", ""),
    "bpf/audit": ("the machine-wide audit of stolen time, which knows no JVM", "bpf/lib", ""),
    "jvm-hooks": ("the probes of the patched JVM, its patches, its build; agents that run inside a JVM", "", "graph objects probes"),
    "user/base/arch": ("what depends on the architecture, a table for each", "", "arch arch_hits"),
    "user/base/tables": ("arrays, hash tables, stores and their bounds", "user/base/arch",
                         "array budget hash keymap saturate segments siphash slots store touched"),
    "user/base/text": ("formatting, printing, messages: all text that people or programs read", "user/base/tables",
                       "condition cxx_name format glob json_put msg print strbuf units utf"),
    "user/base": ("files, privileges, the sandbox: no word of the domain", "user/base/text",
                  "create gz http_request http_server io privilege sandbox version"),
    "steal/sources": ("where samples of stolen time come from: /proc, a feed, a file; the hypervisor", "user/base",
                      "hypervisor procstat recording source"),
    "steal": ("the attribution of stolen time, its audit: with its sources a library of its own", "steal/sources",
              "compare top"),
    "user/jvm/elf": ("ELF files of a target: symbols, probes, unwinding; the powerless process that parses them", "user/base",
                     "parser usdt usdt_arg"),
    "user/jvm/target": ("a process seen from outside: its memory, its files, what /proc says of it", "user/base",
                        "labels mapped_file mark_files mem_lines process redact"),
    "user/jvm/layout": ("where the parts of a HotSpot VM are: vmStructs and what is derived from them",
                        "user/jvm/elf user/jvm/target", "code_layout"),
    "user/jvm/layout/versions": ("what depends on the JDK's version, a table per version, and what that means in words",
                                 "user/jvm/layout", "support"),
    "user/jvm/code": ("methods, scopes and frames of compiled and interpreted code", "user/jvm/layout", "code"),
    "user/jvm": ("a HotSpot process as a whole", "user/jvm/code user/jvm/layout/versions", "find jvm native native_symbols"),
    "user/jvm/flag": ("the byte of DTraceMonitorProbes, and the guardian that puts it back", "user/jvm",
                      "cgroup flag_guard flag_hold"),
    "user/log/format": ("events, blocks, compression, the header: bytes of an event log", "user/base",
                        "codec event header_fields object_record schema text"),
    "user/log/state": ("what an event log says once and what is open: carried over from part to part", "user/log/format",
                       ""),
    "user/log/read": ("reads event logs: files, order, names, ranges of time", "user/log/state",
                      "names order paths range reader set"),
    "user/log/objects": ("blocks of object events, read and decompressed, ahead in threads", "user/log/read",
                         "object_body object_in"),
    "user/log/write": ("writes event logs: packing, the writer's thread, parts, the flight recorder's ring",
                       "user/log/state", "flight object_out output writer"),
    "user/log/check": ("verifies, repairs and rewrites event logs", "user/log/objects user/log/write",
                       "check log_repair rewrite"),
    "user/record/identity": ("the numbers of threads, classes, locks and texts in a log; the bound of the recorder's memory",
                             "bpf/wire user/jvm user/log/write", "memory"),
    "user/record/decode": ("ring records to events, call chains; without libbpf",
                           "user/record/identity bpf/walk jvm-hooks user/jvm/flag user/log/read", ""),
    "user/record/kernel/features": ("what the kernel can do, found out by trying, and its refusals in words",
                                    "user/record/decode steal", "kernel_try uprobe_multi"),
    "user/record/kernel": ("loads, attaches, samples: the only folder with libbpf",
                           "user/record/kernel/features jvm-hooks", "relay steal_audit thread_clocks"),
    "user/record/flight": ("the flight recorder's triggers and dumps", "user/record/decode", ""),
    "user/record/objects": ("the ring of a patched JVM's object events: checked, mapped, drained into a log",
                            "jvm-hooks user/jvm user/log/write user/heap/replay", ""),
    "user/record/session": ("a recording from attach to end", "user/record/kernel user/record/flight user/record/objects",
                            "launch monitor_flag recorder recorder_stats"),
    "user/record/watch": ("JVMs that are followed as they come and go, each in a recorder of its own", "user/record/kernel",
                          "rules watcher"),
    "user/record/doctor": ("what a machine and a JVM lack for a recording", "user/record/session", "doctor_check"),
    "user/analyze": ("what an analysis is to the registry; lengths of time in buckets", "user/log/read", "time_buckets"),
    "user/analyze/threads": ("states of threads over time, pools, CPUs", "user/analyze", "pool state_windows states"),
    "user/analyze/vm": ("collections, pauses, safepoints", "user/analyze", "heap_pool"),
    "user/analyze/stacks": ("call chains as a reader sees them: which are the same, what kind of method each is charged to",
                            "user/analyze/threads", "cell_kinds stacks"),
    "user/analyze/cells": ("cells of blocked time by lock, threads and call chains, in bounded memory; no grouping",
                           "user/analyze/stacks", "blocked_list cell_windows cells lengths"),
    "user/analyze/groups": ("cells grouped by any order of aspects and cut by facets; idle ones told apart; findings in sentences",
                            "user/analyze/cells", "contended facet_cells facets finding groups idle"),
    "user/analyze/lines": ("who held what when, and how a blocked time is split", "user/analyze/cells", ""),
    "user/analyze/park": ("parking, waiting, and java.util.concurrent's locks", "user/analyze/lines user/analyze/vm", ""),
    "user/analyze/contention": ("contended monitors and who held them", "user/analyze/park", "contention"),
    "user/analyze/spans": ("marked spans of an application's work", "user/analyze/threads", "span_bins spans"),
    "user/analyze/gc": ("collections one by one, what the heap held around them, and its trend", "user/analyze/vm",
                        "gc_pools gc_series gc_sums gc_trend"),
    "user/analyze/profile": ("where threads were, by samples and by what they wait for",
                             "user/analyze/cells user/analyze/vm", "profile profile_course"),
    "user/analyze/diff": ("measures of recordings side by side: what differs, and what may be chance", "user/analyze",
                          "call_agreement call_paths comparison generated_name time_bins"),
    "user/analyze/tracks": ("slices of threads for timelines", "user/analyze/threads", "lanes track"),
    "user/analyze/registry": ("runs all analyses over the events of a log", "user/analyze/contention", "analysis"),
    "user/heap/state": ("the objects of a heap at one moment: types, descriptions, sizes, references", "user/base",
                        "heap_layout heap_objects heap_state heap_types"),
    "user/heap/addresses": ("which object is at which address, and what a collection makes of that; no events, no threads", "user/base", ""),
    "user/heap/replay": ("object events replayed: births, moves, lifetimes, by class and site",
                         "user/heap/addresses user/log/read jvm-hooks",
                         "heap_lives object_choice object_lifetimes object_names object_replay"),
    "user/heap/snapshot": ("the heap of a replay at one collection, as a state like that of a dump, with its graph",
                           "user/heap/replay user/heap/state", "graph_state heap_spaces replay_state"),
    "user/heap/image": ("reads heaps from the files of heap dumps", "user/heap/state", "dump_input hprof"),
    "user/heap/graph": ("who keeps whom: roots, reachability, dominators, paths", "user/heap/state",
                        "heap_dominators heap_graph heap_paths heap_reach"),
    "user/heap/classify": ("objects by what they are: classifiers, filters, trees", "user/heap/graph",
                           "heap_classifier heap_feature heap_filter heap_levels heap_tree"),
    "user/heap/script": ("classifiers that users write, in Lua: the only room with Lua", "user/heap/classify",
                         "heap_script"),
    "user/heap/code": ("class files: which method has a single caller, and call chains extended by that", "user/heap/replay",
                       "call_graph jar_file site_callers site_samples"),
    "user/heap/check": ("the heap of an object log beside a dump, and beside the JVM's pools", "user/heap/snapshot",
                        "graph_check heap_check pool_check"),
    "user/session": ("opens, limits, orders and analyses a log for whoever needs that",
                     "user/analyze/registry user/analyze/groups user/log/check",
                     "analyze_log anonymize facet_watch hole_order holes log_source max_memory owner session_log source_names time_range"),
    "user/report/model": ("findings as tables of typed columns, labels, attribution",
                          "user/session user/analyze/gc user/analyze/groups user/heap/replay user/analyze/profile user/analyze/spans "
                          "user/analyze/tracks",
                          "attribution_basis by_list contention_events report where"),
    "user/report/model/sections": ("the sections of the report, each built as such a table", "user/report/model", ""),
    "user/report/model/sections/commands": ("what the commands beside spoor report show, as such tables",
                                            "user/report/model/sections",
                                            "gc_report objects_filter objects_report objects_spans profile_report profile_window "
                                            "spans_report time_report"),
    "user/report/model/diff": ("recordings compared, as such tables and in sentences",
                               "user/report/model/sections/commands user/analyze/diff", "diff_fail diff_report"),
    "user/report/text": ("tables of findings as text, and the text report",
                         "user/report/model/diff", "text_report"),
    "user/report/text/commands": ("the text of the commands beside spoor report", "user/report/text", "verify_text"),
    "user/report/json": ("findings and events as JSON", "user/report/model/diff", "event_json"),
    "user/report/csv": ("findings and events as CSV", "user/report/model/diff", "event_tables heatmap_csv"),
    "user/report/chrome": ("the timeline, in Chrome's trace event format", "user/report/model", "chrome"),
    "user/report/protobuf": ("messages of protobuf, and profiles made of them", "user/report/model", "perfetto profile_format"),
    "user/report/jfr": ("contentions as recordings of JDK Flight Recorder", "user/report/model", "jfr"),
    "user/report/flame": ("call chains for flame graphs", "user/report/model/sections/commands user/report/protobuf",
                          "contention_messages export profile_flame"),
    "user/report/web": ("findings and cells as one HTML file", "user/report/text", "page page_shell page_compare"),
    "user/report/web/parts": ("the parts of that page beside locks: what each watches of a log", "user/report/web", "page_parts"),
    "user/report/live": ("what spoor top shows of an interval, and what spoor serve sums over intervals", "user/report/text user/report/json",
                         "live_cells live_view metrics top_keys top_panes"),
    "user/report/steal": ("the audit of stolen time as text, JSON and CSV",
                          "user/report/text user/report/json user/report/csv steal", "steal_report"),
    "user/report/heap": ("heaps as text, JSON and CSV",
                         "user/report/text user/report/json user/report/csv user/report/web user/heap/image user/heap/classify "
                         "user/heap/check",
                         "heap_check_report heap_diff heap_page heap_report pool_check_report"),
    "user/report/heap/lives": ("what came, stayed and went in a heap, and who has called for it, as text, JSON and CSV",
                               "user/report/heap user/heap/code", "heap_callers_report heap_lives_report"),
    "user/report/sql": ("a heap as tables of SQL: the only room with SQLite", "user/report/heap", "heap_sql"),
    "user/ship": ("delivery to a store: what is sent by HTTP, and the answers; the only room with libcurl", "user/base",
                  "http_post send send_settings"),
    "user/cmd": ("what commands share: exit statuses, rights, options", "user/record/kernel", "cmd rights"),
    "user/cmd/read": ("commands that read logs, one file each: options, calls, exit status",
                      "user/cmd user/report/text/commands user/report/json user/report/csv user/report/web/parts user/report/flame user/ship",
                      ""),
    "user/cmd/read/replay": ("the object events of a log that a command was given, replayed up to a moment",
                             "user/cmd/read user/heap/check user/heap/code user/analyze/gc", ""),
    "user/cmd/read/heap": ("commands about heaps and object events",
                           "user/cmd/read/replay user/report/heap/lives user/report/sql user/heap/script", ""),
    "user/cmd/read/export": ("spoor export: logs in other formats",
                             "user/cmd/read user/report/chrome user/report/jfr", ""),
    "user/cmd/record": ("commands that record a JVM or watch a machine, one file each",
                        "user/cmd user/record/doctor user/record/watch user/report/steal", ""),
    "user/cmd/live": ("commands that show or serve a recording while it goes on, and what these share",
                      "user/cmd user/record/session user/report/live", ""),
    "user": ("main()", "user/cmd/read/heap user/cmd/read/export user/cmd/record user/cmd/live", ""),
}

# A library's headers, and the one room that knows them.
LIBRARIES = {
    "libbpf": (("bpf/libbpf.h", "bpf/bpf.h", "bpf/btf.h", "bpf/skel_internal.h", "spoor.skel.h", "audit.skel.h", "relay.skel.h"),
               "user/record/kernel"),
    "msgpack": (("msgpack.h", "msgpack/"), "user/log"),
    "argp": (("argp.h",), "user/cmd"),
    "lua": (("lua5.4/",), "user/heap/script"),
    "sqlite": (("sqlite3.h",), "user/report/sql"),
    "curl": (("curl/",), "user/ship"),
}


def below(room, rooms=None):
    """All rooms that a room may include, but itself."""
    rooms = rooms or ROOMS
    found, left = set(), rooms[room][1].split()
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += rooms[one][1].split() if one in rooms else []
    return found


def table():
    """Markdown, for docs/contributing.md."""
    yield "| room | holds | right below it | face |"
    yield "|---|---|---|---|"
    for room, (holds, under, face) in ROOMS.items():
        yield f"| `{room}` | {holds} | {', '.join(f'`{r}`' for r in under.split())} | {'all' if face == '*' else ', '.join(face.split())} |"


if __name__ == "__main__":
    print("\n".join(table()))
