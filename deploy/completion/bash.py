#!/usr/bin/python3
"""deploy/completion/bash.py SPOOR: writes a bash completion, made of what SPOOR --help and SPOOR COMMAND --help print."""
import re
import subprocess
import sys

HEAD = """# bash completion for spoor; made by deploy/completion/bash.py from the commands' own --help.
_spoor()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options= values=
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "%(commands)s --help --version" -- "$word")
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


def completion(program):
    commands = re.findall(r"^  ([a-z]+) {2,}", help_of(program).split("Usage:")[1].split("\n\n")[1], re.M)
    yield HEAD % {"commands": " ".join(commands)}
    for command in commands:
        options = options_of(help_of(program, command))
        names = " ".join(long + ("=" if argument else "") for _, long, argument in options)
        yield f"\t{command})\n\t\toptions=\"{names}\"\n\t\tcase $before in\n"
        for short, long, argument in options:
            if re.fullmatch(r"[a-z]+(\|[a-z]+)+\]?", argument):
                called = f"{short}|{long}" if short else long
                yield f"\t\t{called}) values=\"{argument.rstrip(']').replace('|', ' ')}\" ;;\n"
        yield "\t\tesac ;;\n"
    yield TAIL


if __name__ == "__main__":
    sys.stdout.write("".join(completion(sys.argv[1])))
