internal import ReelCore

/// Sections of help that commands share, after a command's own text. Titles are in capitals, as argument-parser writes
/// its own, and `scripts/man` makes a section of the manual page from each. Lines have 80 characters at most, so that
/// argument-parser breaks none.
package enum HelpText {
    /// A text and the sections after it, with an empty line between.
    package static func text(_ parts: String...) -> String { text(parts) }

    package static func text(_ parts: [String]) -> String { parts.joined(separator: "\n\n") }

    /// Sections of options that few people need: `--help` leaves them out, and `--help-all` shows them.
    package enum Section: String, CaseIterable, Sendable {
        case edits = "Edits"
        case format = "Pictures and sound"
        case work = "How the work is done"
        case farm = "The farm"
    }

    package static let allOption = "--help-all"

    /// Help without these sections; the same text if it has none.
    package static func brief(_ help: String) -> String {
        let titles = Section.allCases.map { $0.rawValue.uppercased() + ":" }
        var (kept, count, isLeftOut): ([Substring], Int, Bool) = ([], 0, false)
        for line in help.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.first?.isWhitespace == false { isLeftOut = titles.contains(String(line)) }
            guard isLeftOut else {
                kept.append(line)
                continue
            }
            if line.hasPrefix("  -") { count += 1 }
        }
        guard count > 0 else { return help }
        while kept.last?.isEmpty == true { kept.removeLast() }
        return (kept + ["", "\(count) more options: \(allOption)"]).joined(separator: "\n")
    }

    package static func examples(_ commands: String...) -> String { examples(commands) }

    package static func examples(_ commands: [String]) -> String {
        (["EXAMPLES:"] + commands.map { "  " + $0 }).joined(separator: "\n")
    }

    package static let exitCodes = section(
        "EXIT CODES",
        [
            ("0", "done"), ("1", "the job failed, was cancelled, or did not end in time"), ("2", "wrong usage"),
            ("3", "bad input"), ("4", "Redis or store not reachable"), ("5", "the output cannot be written"),
            ("130", "interrupted; the same command resumes"),
        ])

    /// For commands that use a board and a store: the meaning of environment variables and exit codes.
    package static let ofBoard = text(environment([.redis, .redisFile, .namespace, .store, .configuration]), exitCodes)

    package static let completions = """
        COMPLETIONS:
          --generate-completion-script bash, zsh or fish prints a script for that shell;
          packages and scripts/install have installed it.
        """

    package static func environment(_ variables: [Variable]) -> String {
        section("ENVIRONMENT", variables.map { ($0.rawValue, $0.words) })
    }

    /// The encoders that reel knows, and the other names of each.
    package static let encoders = text(
        section(
            "VIDEO ENCODERS",
            EncoderTraits.all.filter(\.isListed).map { ($0.name, names([$0.codec] + $0.aliases, of: $0.name)) }),
        section("AUDIO ENCODERS", AudioEncoderTraits.all.map { ($0.name, names([$0.codec], of: $0.name)) }))

    package static let containers = """
        CONTAINERS:
          \(Container.ofPictures.map(\.rawValue).joined(separator: ", "))
          of sound alone: \(Container.ofSound.map(\.rawValue).joined(separator: ", "))
        """

    package enum Variable: String, CaseIterable, Sendable {
        case redis = "REEL_REDIS"
        case redisFile = "REEL_REDIS_FILE"
        case redisAuthorities = "REEL_REDIS_CA"
        case redisCertificate = "REEL_REDIS_CERT"
        case redisKey = "REEL_REDIS_KEY"
        case namespace = "REEL_NAMESPACE"
        case store = "REEL_STORE"
        case sandbox = "REEL_SANDBOX"
        case sourceRoots = "REEL_SOURCE_ROOTS"
        case sourceHosts = "REEL_SOURCE_HOSTS"
        case webAuthorities = "SSL_CERT_FILE"
        case objectKeys = "AWS_ACCESS_KEY_ID"
        case objectRegion = "AWS_REGION"
        case objectStore = "AWS_ENDPOINT_URL_S3"
        case configuration = "REEL_CONFIG"
        case temporary = "TMPDIR"
        case noColour = "NO_COLOR"

        /// For sources and results that are not on disks.
        package static let ofNetwork: [Variable] = [.webAuthorities, .objectKeys, .objectRegion, .objectStore]

        fileprivate var words: String {
            switch self {
            case .redis: "redis://USER:PASSWORD@HOST:PORT, rediss:// or unix://PATH"
            case .redisFile: "a file with that address; goes before REEL_REDIS"
            case .redisAuthorities: "file of authorities for TLS to Redis"
            case .redisCertificate: "file of this program's certificate for Redis"
            case .redisKey: "file of that certificate's key"
            case .namespace: "which of several boards in Redis; default: main"
            case .store: "the folder that coordinator and workers share"
            case .sandbox: "confine engines: require, try (default) or off"
            case .sourceRoots: "folders of sources, with a colon between them"
            case .sourceHosts: "hosts and s3://BUCKETs of sources, with commas"
            case .webAuthorities: "file of authorities for sources on the web"
            case .objectKeys: "for s3://, with AWS_SECRET_ACCESS_KEY; see docs/stores.md"
            case .objectRegion: "region of buckets; default: us-east-1"
            case .objectStore: "URL of an object store other than Amazon's"
            case .configuration: "file of defaults; default: /etc/reel/reel.json"
            case .temporary: "folder for temporary files; default: /tmp"
            case .noColour: "set to anything: no colours on the terminal"
            }
        }
    }

    private static func section(_ title: String, _ rows: [(name: String, words: String)]) -> String {
        let width = rows.map(\.name.count).max() ?? 0
        let lines = rows.map { name, words in
            words.isEmpty ? "  " + name : "  \(name)\(String(repeating: " ", count: width - name.count))  \(words)"
        }
        return ([title + ":"] + lines).joined(separator: "\n")
    }

    private static func names(_ names: [String], of name: String) -> String {
        names.filter { $0 != name }.joined(separator: ", ")
    }
}
