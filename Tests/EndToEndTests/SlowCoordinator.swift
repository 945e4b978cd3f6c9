import Foundation

/// A coordinator whose first engine waits for a file of the name `go`, as if the disk were slow.
struct SlowCoordinator: Sendable {
    let program: Program
    /// The same, whose messages can be read while it runs.
    let heard: Program
    private let folder: String

    init(_ fixture: ProcessFixture) throws {
        folder = fixture.path("slow")
        let files = FileManager.default
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try files.copyItem(atPath: Program.folder + "/reel-coordinator", toPath: folder + "/reel-coordinator")
        let engine = """
            #!/bin/sh
            if mkdir "\(folder)/first" 2>/dev/null; then
                until [ -e "\(folder)/go" ] || [ ! -e "\(folder)" ]; do sleep 0.1; done
            fi
            exec "\(Program.folder)/reel-engine" "$@"
            """
        try engine.write(toFile: folder + "/reel-engine", atomically: false, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/reel-engine")
        program = .at(folder + "/reel-coordinator")
        let redirection = "#!/bin/sh\nexec \"\(folder)/reel-coordinator\" \"$@\" 2>\"\(folder)/said\"\n"
        try redirection.write(toFile: folder + "/heard", atomically: false, encoding: .utf8)
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder + "/heard")
        heard = .at(folder + "/heard")
    }

    /// What `heard` has written to standard error so far.
    var said: String { (try? String(contentsOfFile: folder + "/said", encoding: .utf8)) ?? "" }

    /// Whether an engine waits, or has waited.
    var isWaiting: Bool { FileManager.default.fileExists(atPath: folder + "/first") }

    /// Lets it go on.
    func go() { _ = FileManager.default.createFile(atPath: folder + "/go", contents: nil) }
}
