internal import CSandbox
internal import Glibc

/// What a program that holds secrets and starts engines does for itself.
package enum OwnProcess {
    /// Closes this process's memory and environment to other processes of its user, such as engines, and makes it the
    /// parent of processes that an engine leaves behind.
    package static func protect() {
        _ = reel_close_memory()
        if reel_adopt_orphans() == 0 { Children.own.adopt() }
    }

    /// Returns freed memory to the system. glibc keeps a heap for each of several threads, and does not return what lies in them
    /// below a block that is in use.
    package static func returnFreeMemory() { reel_return_memory() }

    /// Keeps libdispatch's own messages out of the system's log, unless the environment says where they go. At each start it
    /// asks for a priority that services and users may not have, and reports the refusal as an error, though nothing
    /// depends on it. Call it while the process has one thread: it changes the environment.
    package static func silenceDispatch() { setenv("LIBDISPATCH_LOG", "NO", 0) }
}
