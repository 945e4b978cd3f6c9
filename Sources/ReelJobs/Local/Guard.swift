/// The shell script that stands between a coordinator and what it starts. It reads a pipe that only the coordinator
/// holds open: however that process ends, SIGKILL included, the pipe ends, and with it worker, Redis and their folder.
/// They could not see to that themselves: redis-server cannot watch its parent, and PDEATHSIG fires when the starting
/// thread ends.
enum Guard {
    /// Arguments: the private folder, redis-server's path, hundredths of a second that the worker has to end, the
    /// worker's command. Ends with the worker's status.
    static let script = """
        folder=$1 server=$2 patience=$3
        shift 3
        exec 3<&0 </dev/null

        # Told to end before it knows what it started, the guard would leave that running: it starts both, then ends.
        told=
        trap 'told=yes' HUP INT TERM
        setsid "$server" "$folder/redis.conf" >"$folder/redis.log" 2>&1 3<&- &
        redis=$!
        setsid "$@" 3<&- &
        worker=$!
        watcher=

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
        (trap - HUP INT TERM; read -r _ <&3; kill -TERM $$) &
        watcher=$!
        exec 3<&-

        wait "$worker"
        status=$?
        finish
        exit "$status"
        """
}
