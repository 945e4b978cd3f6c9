internal import CSandbox

/// What a program that holds secrets and starts engines does for itself.
public enum OwnProcess {
    /// Closes this process's memory and environment to other processes of its user, such as engines, and makes it the
    /// parent of processes that an engine leaves behind.
    public static func protect() {
        _ = reel_close_memory()
        if reel_adopt_orphans() == 0 { Children.own.adopt() }
    }
}
