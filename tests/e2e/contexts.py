"""Calling context trees and how alike they are, after Hofer 3.4.2: an edge's weight is what the callee has alone, not with
what it calls; the outermost method's is an edge from a root. A tree is {path: weight}, a path is a tuple of methods."""
import random

HOT = 0.1


def overlap(a, b):
    """Degree of overlap: over all edges, the smaller of both shares."""
    all_a, all_b = sum(a.values()), sum(b.values())
    return sum(min(weight / all_a, b.get(path, 0) / all_b) for path, weight in a.items())


def hot_set(tree, least=HOT):
    most = max(tree.values())
    return {path for path, weight in tree.items() if weight >= least * most}


def hot_cover(covering, covered, least=HOT):
    """Of the hot edges of the second tree, the part that is hot in the first one."""
    wanted = hot_set(covered, least)
    return len(wanted & hot_set(covering, least)) / len(wanted)


def drawn(tree, count, chance):
    """A tree of so many samples of this one."""
    found = {}
    for path in chance.choices(list(tree), list(tree.values()), k=count):
        found[path] = found.get(path, 0) + 1
    return found


def floor(one, other, draws=200, part=0.05):
    """What trees of two profilers that see the same have at least, but for 5 %: overlap, and coverage both ways. one and
    other: a tree of which a profiler sees samples, and how many; None: it sees all."""
    chance = random.Random(1)
    found = []
    for _ in range(draws):
        a, b = (tree if count is None else drawn(tree, count, chance) for tree, count in (one, other))
        found.append((overlap(a, b), hot_cover(a, b), hot_cover(b, a)))
    return tuple(sorted(column)[int(part * draws)] for column in zip(*found))


def sure_to_be_hot(tree, count, least=HOT):
    """The edges that are hot in nearly any tree of so many samples: three deviations above the limit."""
    whole, most = sum(tree.values()), max(tree.values())
    def deviation(share):
        return (share * (1 - share) / count) ** 0.5
    top = most / whole
    return {path for path, weight in tree.items()
            if weight / whole - 3 * deviation(weight / whole) > least * (top + 3 * deviation(top))}
