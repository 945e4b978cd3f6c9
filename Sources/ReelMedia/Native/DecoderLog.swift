internal import CFFmpeg
internal import Synchronization

/// Counts the lines that a decoder logs, on all of its threads. Each thread may use its own copy of the decoder's context.
final class DecoderLog: Sendable {
    private let allLines = Atomic(0)
    private let allErrors = Atomic(0)

    /// The number of errors, warnings and notes.
    var lines: Int { allLines.load(ordering: .relaxed) }
    /// The number of errors.
    var errors: Int { allErrors.load(ordering: .relaxed) }

    /// Counts the lines of this decoder. The log must live as long as the decoder, which does not retain it. Call it before
    /// the decoder is opened.
    func follow(_ decoder: UnsafeMutablePointer<AVCodecContext>) {
        decoder.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Takes a line that libav* logs, from any thread.
    static func note(level: Int32, of context: UnsafeMutableRawPointer?) {
        // The structure that logs begins with a pointer to its class. Only decoders have a `DecoderLog` as `opaque`.
        guard level <= AV_LOG_INFO, let context,
            context.load(as: UnsafePointer<AVClass>?.self) == avcodec_get_class(),
            let opaque = context.assumingMemoryBound(to: AVCodecContext.self).pointee.opaque
        else { return }
        let log = Unmanaged<DecoderLog>.fromOpaque(opaque).takeUnretainedValue()
        log.allLines.wrappingAdd(1, ordering: .relaxed)
        if level <= AV_LOG_ERROR { log.allErrors.wrappingAdd(1, ordering: .relaxed) }
    }
}
