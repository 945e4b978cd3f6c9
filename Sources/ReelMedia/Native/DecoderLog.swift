internal import CFFmpeg
internal import Glibc

/// Counts the errors that libav* logs. Not every decoder marks a frame of which it made up a part, but all log an
/// error.
enum DecoderLog {
    /// The key of each thread's count, which is stored as the value of a pointer.
    private static let key = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// The number of errors logged on this thread so far. A decoder with one thread decodes on that of its caller.
    static var errors: Int { key.map { Int(bitPattern: pthread_getspecific($0)) } ?? 0 }

    /// Counts errors from now on. They are still written to standard error.
    static func listen() {
        av_log_set_callback { context, level, format, arguments in
            if level <= AV_LOG_ERROR, let key = DecoderLog.key {
                pthread_setspecific(key, UnsafeRawPointer(bitPattern: DecoderLog.errors + 1))
            }
            guard let arguments else { return }
            av_log_default_callback(context, level, format, arguments)
        }
    }
}
