#!/bin/bash
# llsubmit, llq and llcancel, for scripts that were written for LoadLeveler: one file, called by each of
# these names. A job command file is translated for Slurm where Slurm is configured; elsewhere the job
# runs on this computer, in the background. See llsubmit(1).
set -u

self=${0##*/}
state=${XDG_STATE_HOME:-${HOME:-/tmp}/.local/state}/poe/loadleveler

say() { printf '%s: %s\n' "$self" "$*"; }
fail() { say "$@" >&2; exit 1; }

has_slurm() { command -v sbatch >/dev/null && [ -e "${SLURM_CONF:-/etc/slurm/slurm.conf}" ]; }

trim() {
    local text=$1
    text=${text#"${text%%[![:space:]]*}"}
    printf '%s' "${text%"${text##*[![:space:]]}"}"
}

# ---- job command files

declare -A job            # keyword, in lower case: value, of the step that is being read
declare -a steps=()       # of each step: declare -p of `job`
known=" account_no arguments blocking checkpoint class comment core_limit cpu_limit data_limit dependency \
environment error executable group hold image_size initialdir input job_cpu_limit job_name job_type max_processors \
min_processors network node node_usage notification notify_user output parallel_path preferences requirements \
resources restart shell stack_limit startdate step_name task_geometry tasks_per_node total_tasks user_priority \
wall_clock_limit "
# Keywords that mean something to Slurm or to a job on this computer.
used=" account_no arguments class comment environment error executable group initialdir input job_name job_type \
network node node_usage notification notify_user output restart shell step_name tasks_per_node total_tasks \
wall_clock_limit "

# Reads the lines that begin with "# @"; a backslash at the end continues one.
read_job_file() { # file
    local line text='' keyword value number=0
    job=()
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        if [[ -n $text ]]; then
            [[ ! $line =~ ^[[:space:]]*'#'[[:space:]]*@?(.*)$ ]] || line=${BASH_REMATCH[1]}
            text+=" $(trim "$line")"
        elif [[ $line =~ ^[[:space:]]*'#'[[:space:]]*@(.*)$ ]]; then
            text=$(trim "${BASH_REMATCH[1]}")
        else
            text=''
            continue
        fi
        if [[ $text == *\\ ]]; then
            text=$(trim "${text%\\}")
            continue
        fi
        keyword=$(trim "${text%%=*}")
        keyword=${keyword,,}
        value=''
        [[ $text != *=* ]] || value=$(trim "${text#*=}")
        text=''
        if [ "$keyword" = queue ]; then
            steps+=("$(declare -p job)")
        elif [[ $known != *" $keyword "* ]]; then
            fail "$1:$number: there is no keyword \"$keyword\"; see llsubmit(1)"
        else
            [[ $used == *" $keyword "* ]] ||
                say "ATTENTION: $1:$number: $keyword is ignored: it has no counterpart here" >&2
            job[$keyword]=$value
        fi
    done <"$1"
    [ ${#steps[@]} -gt 0 ] || fail "$1: there is no \"# @ queue\", so nothing is to be run"
}

# LoadLeveler's variables in names of files.
expand() { # text, job, step
    local text=$1 host
    host=$(hostname)
    text=${text//'$(jobid)'/$2}
    text=${text//'$(cluster)'/$2}
    text=${text//'$(stepid)'/$3}
    text=${text//'$(process)'/$3}
    text=${text//'$(host)'/$host}
    text=${text//'$(hostname)'/$host}
    text=${text//'$(user)'/${USER:-$(id -un)}}
    text=${text//'$(home)'/${HOME:-/}}
    text=${text//'$(job_name)'/${job[job_name]:-}}
    text=${text//'$(step_name)'/${job[step_name]:-}}
    printf '%s' "$text"
}

# hours:minutes:seconds of "hh:mm:ss,softer" as seconds; empty: no limit.
seconds_of() {
    local text sum=0 part
    text=$(trim "${1%%,*}")
    text=${text#\"}
    text=${text%\"}
    [[ $text =~ ^[0-9]+(:[0-9]+){0,2}(\.[0-9]+)?$ ]] || return 0
    for part in ${text//:/ }; do sum=$((sum * 60 + 10#${part%%.*})); done
    [ $sum -eq 0 ] || echo $sum
}

most_nodes() { # of "node = min,max"
    local value=${job[node]:-1}
    value=$(trim "${value##*,}")
    [ -n "$value" ] || value=$(trim "${job[node]%%,*}")
    echo "${value:-1}"
}

tasks_of_step() {
    if [ -n "${job[total_tasks]:-}" ]; then
        echo "${job[total_tasks]}"
    else
        echo $(($(most_nodes) * ${job[tasks_per_node]:-1}))
    fi
}

# The script of a step: its executable with arguments, or else the job command file itself.
command_of_step() { # file
    if [ -n "${job[executable]:-}" ]; then
        printf '%s %s\n' "${job[executable]}" "${job[arguments]:-}"
    elif [ -n "${job[shell]:-}" ] || [ "$(head -c 2 "$1")" != '#!' ]; then
        printf '%q %q\n' "${job[shell]:-${SHELL:-/bin/sh}}" "$1"
    else
        # It need not be executable.
        printf '%s %q\n' "$(sed -n '1s/^#! *//p' "$1")" "$1"
    fi
}

# Lines that set the variables of "environment = COPY_ALL; A=b; $HOME; !X".
environment_of_step() {
    local entry name
    local -a entries
    IFS=';' read -ra entries <<<"${job[environment]:-}"
    for entry in "${entries[@]}"; do
        entry=$(trim "$entry")
        case $entry in
        '' | COPY_ALL) ;;
        '!'*) printf 'unset %q\n' "${entry#!}" ;;
        '$'*)
            name=${entry#\$}
            printf 'export %s=%q\n' "$name" "${!name:-}" ;;
        *=*) printf 'export %s=%q\n' "$(trim "${entry%%=*}")" "$(trim "${entry#*=}")" ;;
        *) fail "environment: \"$entry\" is not COPY_ALL, NAME=value, \$NAME or !NAME" ;;
        esac
    done
}

check_step() {
    case ${job[job_type]:-serial} in
    serial | parallel | mpich | bluegene | pvm3) ;;
    *) fail "job_type = ${job[job_type]} is not serial, parallel or mpich" ;;
    esac
    local keyword
    for keyword in total_tasks tasks_per_node; do
        [[ ${job[$keyword]:-1} =~ ^[1-9][0-9]*$ ]] || fail "$keyword = ${job[$keyword]} is not a number"
    done
    [[ ${job[node]:-1} =~ ^[0-9]*' '*,?' '*[0-9]*$ ]] || fail "node = ${job[node]} is not a number, or two"
}

# ---- Slurm

submit_to_slurm() { # file, number of the step
    local -a words=(sbatch --parsable)
    local limit notify
    words+=("--job-name=${job[job_name]:-$(basename "$1")}")
    [ -z "${job[class]:-}" ] || words+=("--partition=${job[class]}")
    [ -z "${job[account_no]:-}" ] || words+=("--account=${job[account_no]}")
    [ -z "${job[comment]:-}" ] || words+=("--comment=${job[comment]}")
    [ -z "${job[initialdir]:-}" ] || words+=("--chdir=$(expand "${job[initialdir]}" %j "$2")")
    limit=$(seconds_of "${job[wall_clock_limit]:-}")
    [ -z "$limit" ] || words+=("--time=$(((limit + 59) / 60))")
    words+=("--output=$(expand "${job[output]:-/dev/null}" %j "$2")")
    words+=("--error=$(expand "${job[error]:-/dev/null}" %j "$2")")
    words+=("--input=$(expand "${job[input]:-/dev/null}" %j "$2")")
    if [ "${job[job_type]:-serial}" != serial ]; then
        [ -z "${job[node]:-}" ] || words+=("--nodes=${job[node]//,/-}")
        [ -z "${job[tasks_per_node]:-}" ] || words+=("--ntasks-per-node=${job[tasks_per_node]}")
        [ -n "${job[tasks_per_node]:-}" ] || words+=("--ntasks=$(tasks_of_step)")
    fi
    [ "${job[node_usage]:-}" != not_shared ] || words+=(--exclusive)
    [ "${job[restart]:-}" != no ] || words+=(--no-requeue)
    case ${job[notification]:-never} in
    always) notify=ALL ;;
    complete) notify=END,FAIL ;;
    error) notify=FAIL ;;
    start) notify=BEGIN ;;
    *) notify=NONE ;;
    esac
    words+=("--mail-type=$notify")
    [ -z "${job[notify_user]:-}" ] || words+=("--mail-user=${job[notify_user]}")
    [[ ${job[environment]:-} == *COPY_ALL* ]] || words+=(--export=NONE --get-user-env)
    local id
    id=$({
        echo '#!/bin/bash'
        echo 'export LOADL_STEP_ID="$SLURM_JOB_ID.'"$2"'" LOADL_TOTAL_TASKS="${SLURM_NTASKS:-1}"'
        printf 'export LOADL_JOB_NAME=%q LOADL_STEP_CLASS=%q\n' "${job[job_name]:-}" "${job[class]:-}"
        environment_of_step
        command_of_step "$1"
    } | "${words[@]}") || exit 1
    say "The job \"${id%%;*}\" has been submitted."
}

# ---- this computer

# Runs all steps of a job, one after another; a process of its own, in the background.
run_local() { # directory of the job, file
    local folder=$1 file=$2 number=${1##*/} step=0 limit tasks out in err
    for text in "${steps[@]}"; do
        eval "${text/declare -A job/job}"
        echo "$step" >"$folder/step"
        limit=$(seconds_of "${job[wall_clock_limit]:-}")
        tasks=1
        [ "${job[job_type]:-serial}" = serial ] || tasks=$(tasks_of_step)
        out=$(expand "${job[output]:-/dev/null}" "$number" "$step")
        err=$(expand "${job[error]:-/dev/null}" "$number" "$step")
        in=$(expand "${job[input]:-/dev/null}" "$number" "$step")
        (
            cd "$(expand "${job[initialdir]:-$PWD}" "$number" "$step")" || exit 1
            export LOADL_STEP_ID="$(hostname).$number.$step" LOADL_JOB_NAME="${job[job_name]:-}"
            export LOADL_STEP_CLASS="${job[class]:-}" LOADL_TOTAL_TASKS="$tasks"
            LOADL_PROCESSOR_LIST=$(for ((i = 0; i < tasks; ++i)); do printf '%s ' "$(hostname)"; done)
            export LOADL_PROCESSOR_LIST
            eval "$(environment_of_step)"
            command=$(command_of_step "$file")
            [ -z "$limit" ] || command="timeout --foreground --signal=TERM --kill-after=10 $limit $command"
            # Output and error may be one file.
            if [ "$out" = "$err" ]; then
                eval "$command" <"$in" >"$out" 2>&1
            else
                eval "$command" <"$in" >"$out" 2>"$err"
            fi
        )
        step=$((step + 1))
    done
    rm -rf "$folder"
}

submit_here() { # file
    local number=1 folder
    mkdir -p "$state" || exit 1
    while ! mkdir "$state/$number" 2>/dev/null; do number=$((number + 1)); done
    folder=$state/$number
    eval "${steps[0]/declare -A job/job}"
    local nodes
    nodes=$(most_nodes)
    [ "$nodes" -le 1 ] || say "ATTENTION: all tasks run on this computer: Slurm is not configured here" >&2
    printf '%s\n' "${job[job_name]:-$(basename "$1")}" >"$folder/name"
    printf '%s\n' "${job[class]:-No_Class}" >"$folder/class"
    date +%s >"$folder/submitted"
    export -f run_local expand trim seconds_of most_nodes tasks_of_step command_of_step environment_of_step say fail
    # A session of its own: it goes on when the user logs out, and can be ended as a whole.
    POE_LL_STEPS=$(declare -p steps) setsid bash -c 'eval "$POE_LL_STEPS"; unset POE_LL_STEPS; self=llsubmit
        declare -A job; echo $$ >"$1/pid"; run_local "$1" "$2"' llsubmit "$folder" "$1" \
        </dev/null >/dev/null 2>&1 &
    disown
    while [ ! -s "$folder/pid" ] && [ -d "$folder" ]; do sleep 0.01; done
    say "The job \"$(hostname).$number\" has been submitted."
}

is_running() { # directory of a job
    [ -s "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2>/dev/null
}

local_jobs() { # prints the directories of jobs that run, and clears away what is left of others
    local folder
    for folder in "$state"/*/; do
        folder=${folder%/}
        [ -d "$folder" ] || continue
        if is_running "$folder"; then
            echo "$folder"
        elif [ -z "$(find "$folder" -maxdepth 0 -mmin -1)" ]; then
            rm -rf "$folder" # not one that llsubmit is just filling
        fi
    done
}

# ---- the commands

llsubmit() {
    [ $# -eq 1 ] || { echo "usage: llsubmit FILE (- for standard input)" >&2; exit 2; }
    local file=$1 step=0 text
    if [ "$file" = - ]; then
        file=$(mktemp "${TMPDIR:-/tmp}/llsubmit.XXXXXX") || exit 1
        cat >"$file"
    fi
    [ -r "$file" ] || fail "the job command file \"$file\" cannot be read"
    file=$(readlink -f -- "$file")
    read_job_file "$file"
    for text in "${steps[@]}"; do
        eval "${text/declare -A job/job}"
        check_step
    done
    if has_slurm; then
        for text in "${steps[@]}"; do
            eval "${text/declare -A job/job}"
            submit_to_slurm "$file" "$step"
            step=$((step + 1))
        done
    else
        submit_here "$file"
    fi
}

llq() {
    if has_slurm; then
        exec squeue ${1:+"--jobs=${1##*.}"} --user="$(id -un)" --format='%.20i %.10u %.20V %.2t %.10Q %.12P %N'
    fi
    local folder count=0 number
    while read -r folder; do
        number=${folder##*/}
        [ $# -eq 0 ] || [ "${1##*.}" = "$number" ] || continue
        [ $count -gt 0 ] || printf '%-24s %-10s %-11s %-2s %-3s %-12s %s\n' \
            Id Owner Submitted ST PRI Class 'Running On'
        printf '%-24s %-10s %-11s %-2s %-3s %-12s %s\n' "$(hostname).$number.$(cat "$folder/step" 2>/dev/null)" \
            "$(id -un)" "$(date -d "@$(cat "$folder/submitted")" '+%-m/%-d %H:%M')" R 50 "$(cat "$folder/class")" \
            "$(hostname)"
        count=$((count + 1))
    done < <(local_jobs)
    if [ $count -eq 0 ]; then
        say "There is currently no job status to report."
    else
        printf '\n%d job step(s) in queue, 0 waiting, 0 pending, %d running, 0 held, 0 preempted\n' $count $count
    fi
}

llcancel() {
    [ $# -ge 1 ] || { echo "usage: llcancel JOB..." >&2; exit 2; }
    local id number status=0
    for id; do
        if has_slurm; then
            number=${id%%.*}
            scancel "$number" || status=1
            continue
        fi
        number=$id
        [[ $id == "$(hostname)".* ]] && number=${id#"$(hostname)".}
        number=${number%%.*}
        if [[ $number =~ ^[0-9]+$ ]] && is_running "$state/$number"; then
            # The whole group of processes, poe among them; it ends its tasks on all nodes.
            kill -TERM -- "-$(cat "$state/$number/pid")"
            for ((i = 0; i < 500; ++i)); do
                kill -0 -- "-$(cat "$state/$number/pid")" 2>/dev/null || break
                [ $i -ne 400 ] || kill -KILL -- "-$(cat "$state/$number/pid")"
                sleep 0.02
            done
            rm -rf "${state:?}/$number"
            say "Cancel command has been sent to the central manager."
        else
            say "There is no job \"$id\"" >&2
            status=1
        fi
    done
    exit $status
}

case ${1:-} in
--version) echo "$self of POE @PROJECT_VERSION@"; exit ;;
-h | --help | -H)
    case $self in
    llsubmit) echo "usage: llsubmit FILE     submits a LoadLeveler job command file; see llsubmit(1)" ;;
    llq) echo "usage: llq [JOB]     lists jobs of llsubmit; see llsubmit(1)" ;;
    llcancel) echo "usage: llcancel JOB...     ends jobs of llsubmit; see llsubmit(1)" ;;
    esac
    exit ;;
esac

case $self in
llsubmit | llq | llcancel) "$self" "$@" ;;
*) fail "call this as llsubmit, llq or llcancel" ;;
esac
