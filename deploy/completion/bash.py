#!/usr/bin/python3
"""deploy/completion/bash.py SPOOR: writes a bash completion, made of what SPOOR --help and SPOOR COMMAND --help print."""
import re
import subprocess
import sys

HEAD = """# bash completion for spoor; made by deploy/completion/bash.py from the commands' own --help.
_spoor()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options= values= words=
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "%(commands)s help --help --version" -- "$word")
		return
	fi
	if [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "%(commands)s" -- "$word")
		return
	fi
	# bash makes words of its own of --option=value.
	if [[ $word == "=" ]]; then
		word=
	elif [[ $before == "=" ]]; then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
	case $command in
"""
TAIL = """	esac
	if [[ -n $values ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
		[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
	else
		((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		compopt -o default
	fi
}
complete -F _spoor spoor
"""


def help_of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True)
    return done.stdout


def options_of(text):
    """(short option or "", long option, argument or "") of each."""
    return re.findall(r"^ {2,6}(?:(-\S), )?(--[a-z][a-z-]+)(?:\[?=(\S+))?", text, re.M)


def words_of(text, command):
    """What may come first after the command: heap keep, heap grow, ..."""
    return sorted(set(re.findall(rf"spoor {command} (?:\[OPTION...\] )?([a-z]+)(?= )", text)))


def values_of(argument, text):
    """The words that an option takes: those of its argument, as text|json, or those that its explanation lists, each
    with its meaning in parentheses."""
    if re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)+\]?", argument):
        return argument.rstrip("]").split("|")
    return re.findall(r"[ ,]([a-z_]{3,}) \(", text) if argument.startswith("A[") else []


def explained(text, long):
    """The text of an option."""
    found = re.search(rf"^ {{2,6}}(?:-\S, )?{long}\b(.*?)(?=^ {{2,6}}-|^\S|^$)", text, re.M | re.S)
    return " ".join(found[1].split())


def completion(program):
    commands = re.findall(r"^  ([a-z]+) {2,}", help_of(program).split("Usage:")[1].split("\n\n")[1], re.M)
    yield HEAD % {"commands": " ".join(commands)}
    for command in commands:
        text = help_of(program, command)
        words = words_of(text, command)
        # spoor heap grow --help has other options than spoor heap --help.
        text = "\n".join([text, *(help_of(program, command, word) for word in words)])
        options = list(dict.fromkeys(options_of(text)))
        names = " ".join(long + ("=" if argument else "") for _, long, argument in options)
        yield f"\t{command})\n\t\toptions=\"{names}\" words=\"{' '.join(words)}\"\n\t\tcase $before in\n"
        for short, long, argument in options:
            values = " ".join(values_of(argument, explained(text, long)))
            if values:
                called = f"{short}|{long}" if short else long
                yield f"\t\t{called}) values=\"{values}\" ;;\n"
        yield "\t\tesac ;;\n"
    yield TAIL


if __name__ == "__main__":
    sys.stdout.write("".join(completion(sys.argv[1])))
