import Foundation
import ReelCore
import ReelEngine
import ReelMedia
import Synchronization

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
                case .request(let request):
                    // The last request has been answered: what came late for it is of no use.
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
