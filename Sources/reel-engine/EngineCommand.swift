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
        if let memory { limitAddressSpace(to: memory + 400 << 20) }
        Media.prepare()
        let requests = RequestReader()
        requests.start()
        events.send(.ready(EngineIdentity(version: Wire.version, encoders: Media.encoderBuilds)))
        var handler = RequestHandler(events: events, segments: requests.segments)
        while let request = requests.next(rest: Media.rest) { handler.perform(request) }
    }

    /// Beyond this an allocation fails, and the pass with it, instead of the machine. The limit is a soft one: an encoder
    /// that does not survive a refusal while it starts is let go beyond it.
    private func limitAddressSpace(to bytes: UInt64) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        limit.rlim_cur = min(rlim_t(bytes), limit.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    }
}
