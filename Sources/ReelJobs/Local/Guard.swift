/// The shell script that runs the worker and the Redis of a coordinator, and ends them. It reads a pipe that only the
/// coordinator holds open: however that process ends, SIGKILL included, the pipe ends, and the guard then ends worker and
/// Redis and removes their folder. They could not do so themselves: redis-server cannot watch its parent, and PDEATHSIG
/// fires when the starting thread ends.
enum Guard {
    /// Arguments: the private folder, redis-server's path, hundredths of a second that the worker has to end in, the
    /// worker's command. Exits with the worker's status.
    static let script = """
        folder=$1 server=$2 patience=$3
        shift 3
        exec 3<&0 </dev/null

        # A signal that comes before both are started would leave one running: start both first, then end.
        told=
        trap 'told=yes' HUP INT TERM
        # The worker stops its engines and lets them go on. Until it heeds these signals it ignores them, as its starter does.
        trap '' USR1 USR2
        setsid "$server" "$folder/redis.conf" >"$folder/redis.log" 2>&1 3<&- &
        redis=$!
        setsid "$@" 3<&- &
        worker=$!
        watcher=
        trap 'kill -USR1 "$worker" 2>/dev/null' USR1
        trap 'kill -USR2 "$worker" 2>/dev/null' USR2

        finish() {
            trap '' HUP INT TERM
            kill -TERM "$worker" 2>/dev/null
            while [ "$patience" -gt 0 ] && kill -0 "$worker" 2>/dev/null; do
                sleep 0.01
                patience=$((patience - 1))
            done
            kill -KILL "$worker" "$redis" $watcher 2>/dev/null
            wait "$worker" "$redis" 2>/dev/null
            rm -rf "$folder"
        }
        trap 'finish; exit 0' HUP INT TERM
        if [ -n "$told" ]; then finish; exit 0; fi

        # A trap runs only between commands or in a wait, so another shell does the reading.
        (trap - HUP INT TERM USR1 USR2; read -r _ <&3; kill -TERM $$) &
        watcher=$!
        exec 3<&-

        # A signal ends the wait, too.
        while :; do
            wait "$worker"
            status=$?
            kill -0 "$worker" 2>/dev/null || break
        done
        finish
        exit "$status"
        """
}
