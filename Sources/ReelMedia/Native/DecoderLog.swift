internal import CFFmpeg
internal import Synchronization

/// Counts the lines that a decoder logs on all of its threads, each of which has a copy of the decoder's context.
final class DecoderLog: Sendable {
    private let lines = Atomic(0)

    /// Whether the decoder has logged nothing that may tell of damage: an error, a warning or a note.
    var isEmpty: Bool { lines.load(ordering: .relaxed) == 0 }

    /// Counts the lines of this decoder. The log must live as long as the decoder, which does not retain it. Call it before
    /// the decoder is opened.
    func follow(_ decoder: UnsafeMutablePointer<AVCodecContext>) {
        decoder.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    }

    /// Takes a line that libav* logs, from any thread.
    static func note(level: Int32, of context: UnsafeMutableRawPointer?) {
        // What libav* logs for begins with a pointer to a description of its kind. Only decoders have a log as their opaque.
        guard level <= AV_LOG_INFO, let context,
            context.load(as: UnsafePointer<AVClass>?.self) == avcodec_get_class(),
            let log = context.assumingMemoryBound(to: AVCodecContext.self).pointee.opaque
        else { return }
        Unmanaged<DecoderLog>.fromOpaque(log).takeUnretainedValue().lines.wrappingAdd(1, ordering: .relaxed)
    }
}
