/// `reel clip.mp4`, as people type it, means `reel run clip.mp4`.
package enum Shorthand {
    /// The arguments of this program with `run` before them, if they name a video and no command.
    ///
    /// - Parameters:
    ///   - commands: the names of this program's commands.
    ///   - exists: whether a path names a file or folder.
    package static func expanded(
        _ arguments: [String], commands: [String], exists: (String) -> Bool
    ) -> [String] {
        guard let first = arguments.first, !commands.contains(first), first != "help", !isOfParser(first) else {
            return arguments
        }
        // A mistyped command names no file, and the parser proposes the right one. After an option, every name counts.
        let named = first.hasPrefix("-") ? arguments.filter { !$0.hasPrefix("-") } : [first]
        let namesVideo = named.contains { exists($0) || $0.contains(".") }
        return namesVideo ? ["run"] + arguments : arguments
    }

    /// Whether the parser answers an option itself, as shells ask it for completions.
    private static func isOfParser(_ option: String) -> Bool {
        ["---", "--generate-completion-script", "--experimental-dump-help", "--help", "--version"]
            .contains { option.hasPrefix($0) }
    }
}
