import ArgumentParser
import Glibc
import ReelCore
import ReelEngine
import ReelMedia

/// The process in which all media work happens: requests come in as JSON lines, events go out as JSON lines.
@main
struct EngineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reel-engine",
        abstract: "Does reel's media work. Started by reel-worker and reel-coordinator, not by hand.",
        version: Release.version)

    /// Without passes, opening an encoder takes most: AV1 at 7680x4320 takes 5.2 GiB of addresses.
    @Option(help: "Bytes of memory that a pass may take; address space is limited to 512 MiB above it.")
    var memory: UInt64 = 6 << 30

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        // A write beyond the limit of a file's size is an error like that of a full disk.
        signal(SIGXFSZ, SIG_IGN)
        let events = try EventWriter()
        AddressLimit.set(memory + 512 << 20)
        Media.prepare()
        var identity = EngineIdentity(version: Wire.version, encoders: Media.encoderBuilds, sandbox: .none)
        guard let confinement = RequestReader.confinement() else { return }
        do throws(ReelFailure) {
            identity.sandbox = try confinement.enter()
        } catch {
            return events.send(.failure(error))
        }
        let requests = RequestReader()
        requests.start()
        events.send(.ready(identity))
        var handler = RequestHandler(events: events, segments: requests.segments)
        while let request = requests.next(rest: Media.rest) { handler.perform(request) }
    }
}
