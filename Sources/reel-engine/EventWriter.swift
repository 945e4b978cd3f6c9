import Glibc
import ReelCore
import ReelEngine

/// Writes events to what was standard output when the process started. Descriptor 1 is standard error from then on,
/// so that no library's print breaks the protocol.
final class EventWriter {
    private let descriptor: Int32
    private var lastProgress: ContinuousClock.Instant?

    init() throws {
        descriptor = dup(STDOUT_FILENO)
        guard descriptor >= 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
            throw ReelFailure(.engineWithoutOutput)
        }
    }

    /// Writes one event as one line. Ends the process if its reader has gone.
    func send(_ event: EngineEvent) {
        guard var line = try? CanonicalJSON.bytes(of: event) else { _exit(1) }
        line.append(UInt8(ascii: "\n"))
        let written = line.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let step = write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                guard step > 0 else { return false }
                done += step
            }
            return true
        }
        if !written { _exit(1) }
    }

    /// Sends progress, at most four times a second.
    func progress(_ progress: @autoclosure () -> EngineProgress) {
        let now = ContinuousClock.now
        if let lastProgress, now - lastProgress < .milliseconds(250) { return }
        lastProgress = now
        send(.progress(progress()))
    }
}
