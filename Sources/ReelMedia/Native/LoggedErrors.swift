internal import CFFmpeg
internal import Glibc

/// Counts the errors that libav* logs on the calling thread. Not every decoder marks a frame of which it made up a part, and
/// not every demuxer says that it left out a damaged part, but all log an error.
enum LoggedErrors {
    /// The number so far of all errors. A decoder with one thread decodes on that of its caller.
    static var count: Int { all.value }

    /// The number so far of those that a demuxer itself logged, not the parsers and decoders that it uses.
    static var ofDemuxers: Int { demuxers.value }

    private static let (all, demuxers) = (Counter(), Counter())

    /// Counts errors from now on. They are still written to standard error.
    static func listen() {
        av_log_set_callback { context, level, format, arguments in
            if level <= AV_LOG_ERROR {
                LoggedErrors.all.increase()
                if reel_is_demuxer(context) != 0 { LoggedErrors.demuxers.increase() }
            }
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
