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

    @Option(help: "Bytes of memory that a pass may take; address space is limited to 400 MiB above it.")
    var memory: UInt64?

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let events = try EventWriter()
        if let memory { AddressLimit.set(memory + 400 << 20) }
        Media.prepare()
        let requests = RequestReader()
        requests.start()
        events.send(.ready(EngineIdentity(version: Wire.version, encoders: Media.encoderBuilds)))
        var handler = RequestHandler(events: events, segments: requests.segments)
        while let request = requests.next(rest: Media.rest) { handler.perform(request) }
    }
}
