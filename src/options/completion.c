/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

static void add_names(const struct opt_command *command, struct strbuf *out)
{
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        if (opt->is_hidden)
            continue;
        strbuf_addf(out, " --%s", opt->name);
        if (opt->type == OPT_FLAG)
            strbuf_addf(out, " --no-%s", opt->name);
    }
    strbuf_adds(out, " --help");
}

static void add_choices(const struct opt_command *command, struct strbuf *out)
{
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        if (opt->type == OPT_ENUM) {
            strbuf_addf(out, "        %s:--%s) words=\"", command->name, opt->name);
            for (int c = 0; opt->choices[c]; c++)
                strbuf_addf(out, "%s%s", c ? " " : "", opt->choices[c]);
            strbuf_adds(out, "\" ;;\n");
        } else if (opt->type == OPT_FILE) {
            strbuf_addf(out, "        %s:--%s) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n", command->name,
                        opt->name);
        } else if (opt->type != OPT_FLAG) {
            strbuf_addf(out, "        %s:--%s) return ;;\n", command->name, opt->name);
        }
    }
}

void options_completion(const struct opt_completed *commands, size_t count, struct strbuf *out)
{
    strbuf_adds(out, "# bash completion for assay\n"
                     "_assay() {\n"
                     "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
                     "command=${COMP_WORDS[1]} words=\n"
                     "    COMPREPLY=()\n"
                     "    case ${COMP_WORDS[0]##*/} in metrumbench-*) command=${COMP_WORDS[0]##*/metrumbench-}; "
                     "command=${command#metrumbench-} ;; esac\n"
                     "    if [ \"$COMP_CWORD\" = 1 ] && [ \"$command\" = \"$current\" ]; then\n        "
                     "COMPREPLY=($(compgen -W \"help --version --help");
    for (size_t i = 0; i < count; i++)
        strbuf_addf(out, " %s", commands[i].command->name);
    strbuf_adds(out, "\" -- \"$current\"))\n        return\n    fi\n    case $command in\n");
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(out, "        %s) words=\"", commands[i].command->name);
        for (const char *const *word = commands[i].words; word && *word; word++)
            strbuf_addf(out, "%s ", *word);
        add_names(commands[i].command, out);
        strbuf_adds(out, "\" ;;\n");
    }
    strbuf_adds(out, "    esac\n    case $command:$previous in\n");
    for (size_t i = 0; i < count; i++)
        add_choices(commands[i].command, out);
    strbuf_adds(out, "    esac\n"
                     "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                     "    case $current in -*) ;; *) [ -n \"${COMPREPLY[*]}\" ] || COMPREPLY=($(compgen -f -- "
                     "\"$current\")) ;; esac\n"
                     "}\n"
                     "complete -F _assay assay metrumbench-llm metrumbench-vlm metrumbench-asr metrumbench-imagegen\n");
}
