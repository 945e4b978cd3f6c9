internal import Glibc

/// Starts a program whose standard streams are these, each a path or an open file. Not by Subprocess, which waits for what
/// it started: here the kernel must hand all descendants to the process that measures them.
func spawn(_ command: [String], input: Stream, output: Stream, errors: Stream) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in [input, output, errors].enumerated() {
        switch stream {
        case .read(let path): posix_spawn_file_actions_addopen(&actions, Int32(number), path, O_RDONLY, 0)
        case .write(let path):
            posix_spawn_file_actions_addopen(&actions, Int32(number), path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        case .open(let file): posix_spawn_file_actions_adddup2(&actions, file, Int32(number))
        }
    }
    // The threads on which Swift runs tasks let no signal through, and a program inherits that.
    var (attributes, none) = (posix_spawnattr_t(), sigset_t())
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    let problem = posix_spawnp(&child, command[0], &actions, &attributes, &arguments, environ)
    guard problem == 0 else { throw Trouble("cannot start \(command[0]): \(String(cString: strerror(problem)))") }
    return child
}

/// The target of a program's standard stream.
enum Stream {
    case read(String)
    case write(String)
    case open(Int32)
}
