import Foundation

/// Faults of the machine for programs that are started with `environment`; tests change them while the programs run.
/// `Fixtures/sickness.c` intercepts the programs' system calls.
final class Sickness: Sendable {
    private let path: String
    private let fatal: String
    private let library: String

    /// - Parameter fatal: the end of a file's path at which every engine crashes; empty for none.
    init(_ fixture: ProcessFixture, fatal: String = "") async throws {
        library = try await Clips.shared.sickness()
        path = fixture.path("sickness-\(UUID().uuidString.prefix(8))")
        self.fatal = fatal
        try Data(count: 40).write(to: URL(fileURLWithPath: path))
    }

    var environment: [String: String] { ["LD_PRELOAD": library, "REEL_SICKNESS": path, "REEL_SICKNESS_FATAL": fatal] }

    /// By how many seconds the wall clock is ahead.
    func setClock(_ seconds: Int64) throws { try write(seconds, at: 0) }

    /// The error of every write in the store; 0 for none.
    func setStoreError(_ number: Int32) throws { try write(Int64(number), at: 8) }

    /// Whether making a link succeeds and still reports EEXIST.
    func setRepeats(_ repeats: Bool) throws { try write(repeats ? 1 : 0, at: 16) }

    /// Whether files of the store cannot be opened: the call does not return before this is set back.
    func setHang(_ hangs: Bool) throws { try write(hangs ? 1 : 0, at: 24) }

    /// Before which of the calls that others can see, counted from 1, the program is killed; 0 for none.
    func setDeath(_ step: Int) throws { try write(Int64(step), at: 32) }

    private func write(_ number: Int64, at offset: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        try file.seek(toOffset: offset)
        try file.write(contentsOf: withUnsafeBytes(of: number) { Data($0) })
    }
}

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
