# bash completion for assay
_assay() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=
    COMPREPLY=()
    case ${COMP_WORDS[0]##*/} in metrumbench-*) command=${COMP_WORDS[0]##*/metrumbench-}; command=${command#metrumbench-} ;; esac
    if [ "$COMP_CWORD" = 1 ] && [ "$command" = "$current" ]; then
        COMPREPLY=($(compgen -W "help --version --help sample" -- "$current"))
        return
    fi
    case $command in
        sample) words="first second  --url --api-key --header --verify --no-verify --model --mode --streaming --no-streaming --extra-body --num-requests --stop-after-seconds --think-time --request-rate --share --limit --buffer --goodput --ntp-server --prompts --job --help" ;;
    esac
    case $command:$previous in
        sample:--url) return ;;
        sample:--api-key) return ;;
        sample:--header) return ;;
        sample:--model) return ;;
        sample:--mode) words="chat completion" ;;
        sample:--extra-body) return ;;
        sample:--num-requests) return ;;
        sample:--stop-after-seconds) return ;;
        sample:--think-time) return ;;
        sample:--request-rate) return ;;
        sample:--share) return ;;
        sample:--limit) return ;;
        sample:--buffer) return ;;
        sample:--goodput) return ;;
        sample:--ntp-server) return ;;
        sample:--prompts) COMPREPLY=($(compgen -f -- "$current")); return ;;
        sample:--job) COMPREPLY=($(compgen -f -- "$current")); return ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    case $current in -*) ;; *) [ -n "${COMPREPLY[*]}" ] || COMPREPLY=($(compgen -f -- "$current")) ;; esac
}
complete -F _assay assay metrumbench-llm metrumbench-vlm metrumbench-asr metrumbench-imagegen
