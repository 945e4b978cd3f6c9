internal import Foundation
package import ReelCore
package import ReelHost
internal import ReelQueue
internal import ReelStore
internal import Subprocess
internal import SystemPackage

/// A Redis, a worker and a server of this process alone, whose jobs stay in a folder: what `ui` works with.
package struct LocalServer: Sendable {
    private let store: FolderStore
    /// Held as long as this value is: two of them would keep two boards for one store.
    private let lock: FileLock
    private let programs: Programs
    private let slots: Int
    private let memoryTotal: Int64
    private let sandbox: SandboxMode

    /// Opens the folder, and makes it if it is missing, for this process's user alone. Throws `.storeMissing` if it has other
    /// files, and `.storeHeld` if another process serves it.
    ///
    /// - Parameters:
    ///   - slots: passes at once, at most.
    ///   - memoryTotal: bytes that all passes may take together.
    package init(
        folder: String, programs: Programs, slots: Int, memoryTotal: Int64, sandbox: SandboxMode
    ) throws(ReelFailure) {
        (self.programs, self.slots, self.memoryTotal, self.sandbox) = (programs, slots, memoryTotal, sandbox)
        // Another folder of files must not become one of jobs.
        if FileManager.default.fileExists(atPath: folder) { _ = try FolderStore(root: folder) }
        store = try FolderStore.make(root: folder, mode: 0o700)
        lock = try store.lock()
    }

    /// Serves until the task is cancelled. Throws what ends it otherwise.
    ///
    /// - Parameters:
    ///   - port: of 127.0.0.1; 0 for any that is free.
    ///   - sources: folders of files that jobs may be made of.
    ///   - serving: gets the address of the pages, as soon as a browser can open it.
    package func serve(
        port: Int, sources: [String], _ serving: @escaping @Sendable (String) -> Void
    ) async throws(ReelFailure) {
        let server = try programs.path("reel-server")
        let cluster = LocalCluster(
            programs: programs, store: store.root, slots: slots, memoryTotal: memoryTotal, sandbox: sandbox,
            boardFolder: try store.boardFolder())
        try await cluster.with { redis in
            let options = [
                "--listen", "127.0.0.1:\(port)", "--redis", "\(try await redis())", "--store", store.root, "--sandbox",
                sandbox.rawValue, "--alone",
            ]
            let said = try await LocalServer.run(server, options + sources.flatMap { ["--sources", $0] }, serving)
            throw ReelFailure(.localServerEnded(said: said))
        }
    }

    /// Runs the server, and returns the last line that it wrote. It ends at the latest with this process, which holds its
    /// standard input open.
    private static func run(
        _ server: String, _ options: [String], _ serving: @escaping @Sendable (String) -> Void
    ) async throws -> String {
        var platform = PlatformOptions()
        // Ctrl-C at a terminal reaches this process alone.
        platform.processGroupID = 0
        platform.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: .seconds(15))]
        let start = Children.own.start()
        defer { start.end() }
        let outcome = try await Subprocess.run(
            Configuration(
                executable: .path(.init(server)), arguments: Arguments(options),
                environment: LocalCluster.environment, platformOptions: platform),
            input: .inputWriter, output: .discarded, error: .sequence
        ) { execution in
            start.isRunning(as: execution.processIdentifier.value)
            var last = ""
            for try await line in execution.standardError.strings() {
                if let address = line.firstMatch(of: /listening at (http:\S+)/)?.output.1 { serving(String(address)) }
                last = line
            }
            return last.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return outcome.closureResult
    }
}
