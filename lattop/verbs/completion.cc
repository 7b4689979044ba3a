// SPDX-License-Identifier: GPL-2.0-or-later
//
// See completion.h. Each shell has its own language, but the same few things
// are said in it: the commands, the options of each, and what stands behind an
// option or in a place: a file, pids with commas between, one of some words,
// another command.
#include "lattop/verbs/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lattop/source/error.h"

namespace lattop {
namespace {

using Tables = std::span<const CommandTable>;

bool is_option(const Argument& argument) {
    return argument.kind == Argument::Kind::Flag || argument.kind == Argument::Kind::Value;
}

bool is_file(const Argument& argument) {
    return argument.type == "FILE" || argument.type == "BEFORE" || argument.type == "AFTER";
}

bool is_pid(const Argument& argument) {
    return argument.type == "PID";
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

/// In single quotes of any of these shells.
std::string shell_quoted(std::string_view text) {
    return "'" + replaced(std::string(text), "'", "'\\''") + "'";
}

std::string option_names(const CommandTable& table) {
    std::string names;
    for (const Argument& argument : table.arguments)
        if (is_option(argument))
            names += fmt::format("{}{}", names.empty() ? "" : " ", fmt::join(argument.names, " "));
    return names;
}

std::string command_names(Tables tables, std::string_view between) {
    std::string names;
    for (const CommandTable& table : tables)
        if (!table.name.empty())
            names += (names.empty() ? "" : std::string(between)) + std::string(table.name);
    return names;
}

// bash

/// What completes the word in $cur where `argument` stands.
std::string bash_words(const Argument& argument) {
    std::string words;
    if (is_file(argument))
        words += "compopt -o filenames; COMPREPLY+=($(compgen -f -- \"$cur\")); ";
    // Of several, with commas between, the last
    if (is_pid(argument))
        words += R"x(COMPREPLY+=($(compgen -P "${cur%"${cur##*,}"}" )x"
                 R"x(-W "$(cd /proc && echo [0-9]*)" -- "${cur##*,}")); )x";
    if (!argument.choices.empty())
        words += fmt::format("COMPREPLY+=($(compgen -W '{}' -- \"$cur\")); ",
                             fmt::join(argument.choices, " "));
    return words.empty() ? ": " : words;
}

std::string bash_script(Tables tables) {
    std::string values;
    std::string places;
    for (const CommandTable& table : tables) {
        std::string positional;
        for (const Argument& argument : table.arguments) {
            if (argument.kind == Argument::Kind::Value)
                for (const std::string& name : argument.names)
                    values += fmt::format("        {}:{}) {}return ;;\n", table.name, name,
                                          bash_words(argument));
            if (argument.kind == Argument::Kind::Positional && positional.empty())
                positional = bash_words(argument);  // a second one is of the same kind
        }
        places += fmt::format(
            "        '{}')\n            [[ $cur == -* ]] && COMPREPLY=($(compgen -W '{}' -- "
            "\"$cur\")) && return\n",
            table.name, option_names(table));
        places += table.name.empty()
                      ? "            ((COMP_CWORD == 1)) && COMPREPLY=($(compgen -W \"$commands\" "
                        "-- \"$cur\"))\n"
                      : "            " + (positional.empty() ? ":" : positional) + "\n";
        places += "            ;;\n";
    }
    return fmt::format(R"(# lattop(8) for bash, made by `lattop completion bash`
_lattop() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command= i
    local commands='{}'
    COMPREPLY=()
    [[ " $commands " == *" ${{COMP_WORDS[1]}} "* ]] && ((COMP_CWORD > 1)) && command=${{COMP_WORDS[1]}}
    # Behind "--" stands a command of another program.
    for ((i = 2; i < COMP_CWORD; i++)); do
        [[ ${{COMP_WORDS[i]}} == -- ]] || continue
        ((i + 1 == COMP_CWORD)) && COMPREPLY=($(compgen -c -- "$cur")) || {{
            compopt -o filenames
            COMPREPLY=($(compgen -f -- "$cur"))
        }}
        return
    done
    case $command:$before in
{}    esac
    case $command in
{}    esac
}}
complete -F _lattop lattop
)",
                       command_names(tables, " "), values, places);
}

// zsh

/// A text inside of a specification of _arguments, as that wants it.
std::string zsh_text(std::string text) {
    for (const char* special : {"\\", "[", "]", ":"})
        text = replaced(text, special, std::string("\\") + special);
    return text;
}

/// What stands behind the last colon of a specification.
std::string zsh_action(const Argument& argument) {
    if (!argument.choices.empty())
        return is_file(argument)
                   ? fmt::format("{{_alternative 'words:word:({})' 'files:file:_files'}}",
                                 fmt::join(argument.choices, " "))
                   : fmt::format("({})", fmt::join(argument.choices, " "));
    if (is_file(argument)) return "_files";
    if (is_pid(argument)) return "_sequence _pids";
    return " ";
}

std::string zsh_specification(const Argument& argument) {
    switch (argument.kind) {
        case Argument::Kind::Positional:
            return shell_quoted(
                fmt::format(":{}:{}", zsh_text(argument.type), zsh_action(argument)));
        case Argument::Kind::Command: return "'*::command:{_precommand}'";
        default: break;
    }
    const std::string value = argument.kind == Argument::Kind::Value
                                  ? fmt::format(":{}:{}", argument.type, zsh_action(argument))
                                  : "";
    const bool again = is_pid(argument);  // may be repeated
    const std::string text = shell_quoted(fmt::format("[{}]{}", zsh_text(argument.help), value));
    if (argument.names.size() == 1) return (again ? "'*'" : "") + argument.names[0] + text;
    return fmt::format("{}{{{}}}{}",
                       again ? "'*'" : fmt::format("'({})'", fmt::join(argument.names, " ")),
                       fmt::join(argument.names, ","), text);
}

std::string zsh_script(Tables tables) {
    std::string commands;
    std::string cases;
    for (const CommandTable& table : tables) {
        std::string specifications;
        for (const Argument& argument : table.arguments)
            specifications += " \\\n            " + zsh_specification(argument);
        if (!table.name.empty())
            commands +=
                "        " + shell_quoted(fmt::format("{}:{}", table.name, table.summary)) + "\n";
        const std::string first =
            table.name.empty() ? " \\\n            '1: :_lattop_commands'" : "";
        cases +=
            fmt::format("        {})\n            _arguments -s{}{} ;;\n",
                        table.name.empty() ? "''" : std::string(table.name), specifications, first);
    }
    return fmt::format(R"(#compdef lattop
# lattop(8) for zsh, made by `lattop completion zsh`
_lattop_commands() {{
    local -a commands=(
{}    )
    _describe -t commands command commands
}}
_lattop() {{
    local command=
    if ((CURRENT > 2)) && [[ $words[2] == ({}) ]]; then
        command=$words[2]
        shift words
        ((CURRENT--))
    fi
    case $command in
{}    esac
}}
if [[ $funcstack[1] == _lattop ]]; then _lattop "$@"; else compdef _lattop lattop; fi
)",
                       commands, command_names(tables, "|"), cases);
}

// fish

std::string fish_words(const Argument& argument) {
    std::string words;
    if (is_file(argument)) words += " -F";
    if (is_pid(argument)) words += " -a '(__fish_complete_list , __fish_complete_pids)'";
    if (!argument.choices.empty())
        words += " -a " + shell_quoted(fmt::format("{}", fmt::join(argument.choices, " ")));
    return words;
}

std::string fish_line(const std::string& where, const Argument& argument) {
    std::string line = "complete -c lattop -n " + shell_quoted(where);
    if (is_option(argument)) {
        for (const std::string& name : argument.names)
            line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (argument.kind == Argument::Kind::Value) line += is_file(argument) ? " -r" : " -x";
        return line + fish_words(argument) + " -d " + shell_quoted(argument.help) + "\n";
    }
    if (argument.kind == Argument::Kind::Command)
        return "complete -c lattop -n " +
               shell_quoted(where + "; and contains -- -- (commandline -opc)") +
               " -a '(complete -C (commandline -ct))'\n";
    const std::string words = fish_words(argument);
    return words.empty() ? "" : line + words + "\n";
}

std::string fish_script(Tables tables) {
    const std::string any = command_names(tables, " ");
    std::string lines;
    for (const CommandTable& table : tables) {
        const std::string where = table.name.empty()
                                      ? "not __fish_seen_subcommand_from " + any
                                      : "__fish_seen_subcommand_from " + std::string(table.name);
        if (!table.name.empty())
            lines += fmt::format("complete -c lattop -n {} -a {} -d {}\n",
                                 shell_quoted("not __fish_seen_subcommand_from " + any), table.name,
                                 shell_quoted(table.summary));
        for (const Argument& argument : table.arguments)
            lines += fish_line(where, argument);
    }
    return "# lattop(8) for fish, made by `lattop completion fish`\ncomplete -c lattop -f\n" +
           lines;
}

}  // namespace

std::string completion_script(const std::string& shell, Tables tables) {
    if (shell == "bash") return bash_script(tables);
    if (shell == "zsh") return zsh_script(tables);
    if (shell == "fish") return fish_script(tables);
    throw UsageError(fmt::format("lattop completion {}: there is none for it", shell),
                     "there are bash, zsh and fish");
}

}  // namespace lattop
