internal import CFFmpeg
internal import Glibc

/// What libav* logs. Not every decoder that makes something up says so with the frame, but all log an error.
enum DecoderLog {
    /// Holds each thread's count, as if it were a pointer.
    private static let key = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Errors that were logged so far by what ran on this thread: a decoder with one thread decodes on its caller's.
    static var errors: Int { key.map { Int(bitPattern: pthread_getspecific($0)) } ?? 0 }

    /// Counts errors from now on, and goes on to write them to standard error.
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
