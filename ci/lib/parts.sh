# Runs scripts of ci/ as the parts of one check. To be sourced.

# Runs each part in order, and stops at the first that fails. A part that could not run has said why (77): the others run,
# and then the whole check counts as not run.
run_parts() {
    local part status left_out=0
    for part; do
        status=0
        bash "ci/$part.sh" || status=$?
        case $status in
            0) ;;
            77) left_out=1 ;;
            *) exit "$status" ;;
        esac
    done
    if ((left_out)); then exit 77; fi
}
