"""The random heap simulator (heap/object_model_test.c) finds each fault that is put into the replay: one or more for
every rule that collections follow. A fault is a change of the source; what it replaces is there exactly once."""
import os
import shutil
import subprocess
import tempfile
import unittest

from program import BUILD, ROOT
from soaking import slow

REPLAY = ("user/heap/addresses", "user/heap/replay")
MODEL = "tests/unit/heap/object_model_test.c"
DEADLINE_S = 300
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w", "-Iuser", "-I.", f"-I{BUILD}/gen"]
WRAPPED = "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup"
LIBRARIES = ["-l:libmsgpackc.a", "-l:libjansson.a", "-l:libz.a", "-l:liblz4.a", "-l:libzstd.a", "-l:libcap.a",
             "-l:liblua5.4.a", "-lcmocka", "-lm", "-lpthread"]

# To be used before it is there.
APPLY = ("static struct object_collection *current(",
         "static void apply(struct object_replay *r);\nstatic struct object_collection *current(")

# rule: (file, what is there, what is in its place, and so on)
MUTANTS = {
    "a move is put where later moves are looked up": (
        "object_collect.c", "return object_page_push(h, &h->front[page],",
        "return object_page_push(h, &h->pages[page],"),
    "moves of collectors' threads come in one order": (
        "object_collect.c", "static void sort_runs(struct object_collect *c)\n{",
        "static void sort_runs(struct object_collect *c)\n{\n\treturn;"),
    "moves are applied as they come, before the others are looked up": (
        "object_moves.c", "\tadd_run(r, t, from, to, d->units ? d->units : 1);\n",
        "\tadd_run(r, t, from, to, d->units ? d->units : 1);\n"
        "\tif (r->run_count == 100)\n\t\tapply(r), r->run_count = t->run = 0;\n", *APPLY),
    "a full collection is not of the whole heap": (
        "object_moves.c", ".all = r->forget_all,", ".all = false,"),
    "a young collection is of the whole heap": (
        "object_moves.c", ".all = r->forget_all,", ".all = true,"),
    "what no move claims stays in the spaces that are collected": (
        "object_collect.c", "if (!is_collected(w, at))", "if (!is_collected(w, at) || !w->c->all)"),
    "spaces are taken as they come": (
        "object_collect.c", "\tqsort(c->spaces, c->space_count, sizeof(*c->spaces), compare_spaces);\n", ""),
    "a space ends an object early": (
        "object_collect.c", "space_end(&c->spaces[w->space]) <= at)", "space_end(&c->spaces[w->space]) <= at + 2)"),
    "a space begins an object late": (
        "object_collect.c", "c->spaces[w->space].at <= at);", "c->spaces[w->space].at < at);"),
    "what moves into a space that is not collected replaces what is there": (
        "object_collect.c", "\tif (!to->block) {", "\tif (from->block) {"),
    "spaces of a collection are those of the next one, too": (
        "object_moves.c", "r->run_count = r->space_count = 0;\n\tr->forget_all", "r->run_count = 0;\n\tr->forget_all"),
    "moves of a collection are those of the next one, too": (
        "object_moves.c", "r->run_count = r->space_count = 0;\n\tr->forget_all",
        "r->space_count = 0;\n\tr->forget_all"),
    "a collection after a full one is full": (
        "object_moves.c", "r->forget_all = r->collecting = false;", "r->collecting = false;"),
    "a space that is given back is emptied before its objects have left": (
        "object_moves.c", "\t\tr->spaces[r->space_count++] = (struct object_space){at, units};\n",
        "\t\tr->spaces[r->space_count++] = (struct object_space){at, units};\n\tapply(r);\n", *APPLY),
    "a collection ends before its moves have been read": (
        "object_replay.c",
        "\t\tgo_through_all(r, r->done, complete);\n\t\tif (r->done % 2)\n\t\t\tobject_moves_end(r);",
        "\t\tif (r->done % 2)\n\t\t\tobject_moves_end(r);\n\t\tgo_through_all(r, r->done, complete);"),
    "what could not be moved is not kept": (
        "object_events.c", "object_moves_one(r, t, high | w[1], high | w[1], -1);", ";"),
    "what is kept is forgotten as a destination": (
        "object_events.c", "object_moves_one(r, t, high | w[1], high | w[1], -1);",
        "object_moves_one(r, t, high | w[1], high | w[1], 0);"),
    "of what stays in a dense prefix nothing is heard": (
        "object_events.c", "object_moves_run(r, t, high | w[1], wide(w[2], w[3]), w[4]);",
        "if ((high | w[1]) != wide(w[2], w[3]))\n\t\t\tobject_moves_run(r, t, high | w[1], wide(w[2], w[3]), w[4]);"),
    "a run is of its first object": (
        "object_moves.c", "add_run(r, t, from, to, (uint32_t)units);", "add_run(r, t, from, to, 1);"),
    "a run goes on after its last object": (
        "object_collect.c", "run_end(&c->runs[w->run]) <= at;", "run_end(&c->runs[w->run]) < at;"),
    "runs are put together, whatever their distance": (
        "object_moves.c", "\t       object_run_to(run) + run->units == to &&", "\t      "),
    "runs are put together, whatever is between them": (
        "object_moves.c", "return run && object_run_from(run) + run->units == from &&", "return run &&"),
    "objects of a run are put where its first one is": (
        "object_collect.c", "object_run_to(r) + (at - object_run_from(r))", "object_run_to(r)"),
    "a destination goes on where its last object begins": (
        "object_moves.c", "d && to != NOWHERE ? to + d->units : NOWHERE", "d && to != NOWHERE ? to : NOWHERE"),
    "a destination is that of all": (
        "object_events.c", "int destination = w[0] >> 26 & 3;", "int destination = 0;"),
    "a filler at the end of a buffer is an object": (
        "object_events.c", "\t\tretire(r, t, w);\n",
        "\t\tif (t->has_tlab && (w[0] & 0xfffffff))\n"
        "\t\t\tborn(r, t, &(struct object_birth){.site = INDEX_NONE, .class = INDEX_NONE}, w[0] & 0xfffffff);\n"
        "\t\tretire(r, t, w);\n"),
    "an object that a buffer does not have is in it": (
        "object_events.c", "\tif (t->has_at) {\n\t\tt->has_at = false;",
        "\tif (t->has_at && !t->has_tlab) {\n\t\tt->has_at = false;"),
    "whoever lives gets no older": (
        "object_collect.c", "entry.age += entry.age < OBJECT_AGE_MAX;", ""),
    "age has no end": (
        "object_collect.c", "entry.age += entry.age < OBJECT_AGE_MAX;", "entry.age++;"),
    "births are those of the collection after": (
        "object_events.c", "{.birth = r->collection_count - r->collecting}", "{.birth = r->collection_count + 1}"),
    "nobody dies": (
        "object_collect.c", "\tw->c->dies(w->c->ctx, &entry);\n", ""),
    "who lives dies, too": (
        "object_collect.c", "\t\tw->c->lives(w->c->ctx, &entry);\n",
        "\t\tw->c->lives(w->c->ctx, &entry);\n\t\tw->c->dies(w->c->ctx, &entry);\n"),
    "the dead are of the collection before": (
        "object_moves.c", "object_lifetimes_close(&r->lifetimes, r->collection_count)",
        "object_lifetimes_close(&r->lifetimes, r->collection_count - 1)"),
}


@slow
class Mutants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="spoor-mutants-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.compiler = ["gcc", *FLAGS]
        cls.compile(os.path.join(ROOT, MODEL), "model.o")

    @classmethod
    def compile(cls, source, name):
        subprocess.run([*cls.compiler, "-c", "-o", os.path.join(cls.folder, name), source], check=True, cwd=ROOT)

    def fails(self, *objects):
        """Whether the simulator finds the replay wrong that these objects are a part of; the rest is the library's."""
        program = os.path.join(self.folder, "program")
        subprocess.run([*self.compiler, WRAPPED, "-o", program, os.path.join(self.folder, "model.o"), *objects,
                        os.path.join(BUILD, "libspoor.a"), *LIBRARIES], check=True, cwd=ROOT)
        done = subprocess.run([program], capture_output=True, timeout=DEADLINE_S)
        return done.returncode != 0

    def test_the_replay_as_it_is_passes(self):
        self.assertFalse(self.fails())

    def test_each_fault_is_found(self):
        for rule, (name, *changes) in MUTANTS.items():
            with self.subTest(rule):
                source = next(p for p in (os.path.join(ROOT, room, name) for room in REPLAY) if os.path.exists(p))
                with open(source, encoding="utf-8") as f:
                    text = f.read()
                for old, new in zip(changes[::2], changes[1::2]):
                    self.assertEqual(text.count(old), 1, f"{name} has not once: {old}")
                    text = text.replace(old, new)
                mutant = os.path.join(self.folder, name)
                with open(mutant, "w", encoding="utf-8") as f:
                    f.write(text)
                self.compile(mutant, "mutant.o")
                self.assertTrue(self.fails(os.path.join(self.folder, "mutant.o")), "the simulator has not noticed")
