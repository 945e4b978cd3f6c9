internal import CFFmpeg
internal import Glibc

/// Counts the errors that libav* logs on the calling thread. Some decoders make up a part of a frame and do not mark it, and some
/// demuxers skip a damaged part and return no error, but all of them log one.
enum LoggedErrors {
    /// All errors so far. A decoder with one thread runs on its caller's, so its errors count here.
    static var count: Int { all.value }

    /// The errors so far that demuxers logged. Errors of the parsers and decoders that a demuxer calls do not count.
    static var ofDemuxers: Int { demuxers.value }

    private static let (all, demuxers) = (Counter(), Counter())

    /// Counts errors from now on. They are still written to standard error.
    static func listen() {
        av_log_set_callback { context, level, format, arguments in
            if level <= AV_LOG_ERROR {
                LoggedErrors.all.increase()
                if reel_is_demuxer(context) != 0 { LoggedErrors.demuxers.increase() }
            }
            DecoderLog.note(level: level, of: context)
            guard let arguments else { return }
            av_log_default_callback(context, level, format, arguments)
        }
    }

    /// A count of each thread, which is stored as the value of a pointer.
    private struct Counter {
        private let key = {
            var key = pthread_key_t()
            return pthread_key_create(&key, nil) == 0 ? key : nil
        }()

        var value: Int { key.map { Int(bitPattern: pthread_getspecific($0)) } ?? 0 }

        func increase() {
            if let key { pthread_setspecific(key, UnsafeRawPointer(bitPattern: value + 1)) }
        }
    }
}
