import ArgumentParser
import Foundation
import Glibc
import ReelCore
import ReelEngine
import ReelMedia
import Synchronization

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
        do throws(ReelFailure) { identity.sandbox = try confinement.enter() } catch {
            return events.send(.failure(error))
        }
        let requests = RequestReader()
        requests.start()
        Fetching.shared.connect { events.send(.fetch(FetchOrder(source: $0, range: $1, discarded: $2))) }
        events.send(.ready(identity))
        var handler = RequestHandler(events: events, segments: requests.segments)
        while let request = requests.next(rest: Media.rest) { handler.perform(request) }
    }
}

/// Reads requests from standard input on a thread of its own, which ends the process when the input ends: no engine
/// outlives the worker that started it, whatever it is doing.
final class RequestReader: Sendable {
    /// The segments for the assembly that was requested last.
    let segments = SegmentFeed()
    private let waiting = Mutex<[EngineRequest]>([])
    private let arrived = DispatchSemaphore(value: 0)

    /// Reads the first line, before there is a second thread; nil if the input ends.
    static func confinement() -> Confinement? {
        guard let line = readLine() else { return nil }
        guard case .confinement(let confinement) = input(line) else { refuse(line) }
        return confinement
    }

    private static func input(_ line: String) -> EngineInput? {
        try? JSONDecoder().decode(EngineInput.self, from: Data(line.utf8))
    }

    private static func refuse(_ line: String) -> Never {
        FileHandle.standardError.write(Data("reel-engine: not a request: \(line.prefix(200))\n".utf8))
        _exit(2)
    }

    func start() {
        Thread { [self] in
            while let line = readLine() {
                switch Self.input(line) {
                case nil, .confinement: Self.refuse(line)
                case .segments(let more): segments.add(more)
                case .fetched(let order): Fetching.shared.arrived(order.source, order.range)
                case .request(let request):
                    // The last request has been answered: segments that came late for it are of no use.
                    segments.clear()
                    waiting.withLock { $0.append(request) }
                    arrived.signal()
                }
            }
            _exit(0)
        }.start()
    }

    /// Waits for the next request; calls `rest` if none comes within a second.
    func next(rest: () -> Void) -> EngineRequest? {
        if arrived.wait(timeout: .now() + 1) == .timedOut {
            rest()
            arrived.wait()
        }
        return waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
}

/// Writes events to what was standard output when the process started. Descriptor 1 is standard error from then on,
/// so that no library's print breaks the protocol.
final class EventWriter: Sendable {
    private let descriptor: Int32
    private let lastProgress = Mutex<ContinuousClock.Instant?>(nil)
    /// Any thread may need bytes.
    private let writing = Mutex(())

    init() throws {
        descriptor = dup(STDOUT_FILENO)
        guard descriptor >= 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else { throw ReelFailure(.engineWithoutOutput) }
    }

    /// Writes one event as one line. Ends the process if its reader has gone.
    func send(_ event: EngineEvent) {
        guard var line = try? CanonicalJSON.bytes(of: event) else { _exit(1) }
        line.append(UInt8(ascii: "\n"))
        let written = writing.withLock { _ in
            line.withUnsafeBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let step = write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                    guard step > 0 else { return false }
                    done += step
                }
                return true
            }
        }
        if !written { _exit(1) }
    }

    /// Sends progress, at most four times a second.
    func progress(_ progress: @autoclosure () -> EngineProgress) {
        let isDue = lastProgress.withLock { last in
            let now = ContinuousClock.now
            if let last, now - last < .milliseconds(250) { return false }
            last = now
            return true
        }
        if isDue { send(.progress(progress())) }
    }
}
