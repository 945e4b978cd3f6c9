internal import CFFmpeg
internal import Glibc
internal import ReelCore

func libavMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        av_strerror(code, buffer.baseAddress, buffer.count)
        return buffer.baseAddress.map { String(cString: $0) } ?? "error \(code)"
    }
}

/// The failure for an error of libav*. It must not be used for the system's errors at a file: libav* uses the system's
/// error numbers for its own errors. `subject` is the codec, file or format concerned.
func mediaFailure(_ code: Int32, _ step: MediaStep, _ subject: String? = nil) -> ReelFailure {
    ReelFailure(
        code == reel_error_no_memory
            ? .outOfMemory(step: step, subject: subject)
            : .mediaFailed(step: step, subject: subject, said: libavMessage(code)))
}

/// The failure for a finished file that is not as planned. `stream` is 0 for the video, and nil if the flaw concerns the
/// whole file.
func unverified(_ flaw: VerificationFlaw, stream: Int? = 0) -> ReelFailure {
    ReelFailure(.verificationFailed(stream: stream, flaw: flaw))
}

/// Returns a result of libav*; throws if it is an error code.
@discardableResult
func check(_ code: Int32, _ step: MediaStep, _ subject: @autoclosure () -> String? = nil) throws(ReelFailure) -> Int32 {
    guard code >= 0 else { throw mediaFailure(code, step, subject()) }
    return code
}

/// Returns what libav* allocated; throws `.outOfMemory` for NULL.
func allocated<T>(_ made: UnsafeMutablePointer<T>?, _ step: MediaStep) throws(ReelFailure) -> UnsafeMutablePointer<T> {
    guard let made else { throw ReelFailure(.outOfMemory(step: step, subject: nil)) }
    return made
}

typealias NativeStream = UnsafeMutablePointer<AVStream>
typealias NativeParameters = UnsafeMutablePointer<AVCodecParameters>
typealias NativeContext = UnsafeMutablePointer<AVCodecContext>

/// Frees a structure of libav* with the function for its kind.
func release<T>(_ native: UnsafeMutablePointer<T>, _ free: (UnsafeMutablePointer<UnsafeMutablePointer<T>?>?) -> Void) {
    var native: UnsafeMutablePointer<T>? = native
    free(&native)
}

extension AVCodecID { var name: String { String(cString: avcodec_get_name(self)) } }

extension TimeBase {
    init(_ native: AVRational) { self.init(Int64(native.num), Int64(max(native.den, 1))) }

    var native: AVRational { secondsPerTick.native }
}

extension Timestamp {
    /// Nil if libav* knows no timestamp, or if it is beyond the range of `Timestamp`.
    init?(native ticks: Int64) {
        guard ticks != reel_nopts, (-Timestamp.bound...Timestamp.bound).contains(ticks) else { return nil }
        self.init(ticks)
    }
}

extension Rational {
    /// Nil if libav* means "unknown".
    init?(_ native: AVRational) {
        guard native.num > 0, native.den > 0 else { return nil }
        self.init(Int64(native.num), Int64(native.den))
    }

    /// The nearest fraction with numbers of 32 bits, as libav* has them.
    var native: AVRational {
        var result = AVRational()
        av_reduce(&result.num, &result.den, numerator, denominator, Int64(Int32.max))
        return result
    }
}

extension Rational? {
    /// libav* writes "unknown" as 0/1.
    var native: AVRational { self?.native ?? AVRational(num: 0, den: 1) }
}

/// The elements of a list before the one that ends it; nil for NULL.
func elements<T>(of list: UnsafePointer<T>?, before isEnd: (T) -> Bool) -> [T]? {
    list.map { list in Array(UnsafeBufferPointer(start: list, count: (0...).first { isEnd(list[$0]) } ?? 0)) }
}

struct NativeDictionary: ~Copyable {
    var native: OpaquePointer?

    init(_ options: [MediaOption] = []) {
        for option in options { set(option.name, option.value) }
    }

    mutating func set(_ name: String, _ value: String) { av_dict_set(&native, name, value, 0) }

    /// The names in the dictionary. After a call that takes options, the ones that it did not know.
    var names: [String] { entries(of: native).map(\.name) }

    deinit {
        var dictionary = native
        av_dict_free(&dictionary)
    }
}

/// The entries of a dictionary of libav*, in its order.
func entries(of dictionary: OpaquePointer?) -> [MetadataEntry] {
    var result: [MetadataEntry] = []
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while let found = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
        result.append(
            MetadataEntry(name: String(cString: found.pointee.key), value: String(cString: found.pointee.value)))
        entry = found
    }
    return result
}

extension [MetadataEntry] {
    /// The value of the first entry with this name in lower case, however the file spells it.
    func value(of name: String) -> String? { first { $0.name.lowercased() == name }?.value }
}

/// A C name of libav* as a string; nil if there is no name, or if it means "unknown".
func known(_ name: UnsafePointer<CChar>?) -> String? {
    guard let name else { return nil }
    let text = String(cString: name)
    return text == "unknown" || text == "unspecified" || text == "reserved" ? nil : text
}

/// A copy in libavutil's memory, followed by the zeros that codecs may read past the end.
func padded(_ bytes: [UInt8]) throws(ReelFailure) -> (UnsafeMutablePointer<UInt8>?, Int32) {
    guard !bytes.isEmpty else { return (nil, 0) }
    let size = bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
    let room = try allocated(av_mallocz(size)?.bindMemory(to: UInt8.self, capacity: size), .describeStream)
    room.update(from: bytes, count: bytes.count)
    return (room, Int32(bytes.count))
}

extension AVCodecParameters {
    /// The codec's header, or the content of an attached file. Valid as long as the parameters.
    var header: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: extradata, count: Int(extradata_size)) }
}

/// Sets the codec's header, or the content of an attached file, in a stream's parameters.
func setHeader(_ bytes: [UInt8], of parameters: NativeParameters) throws(ReelFailure) {
    (parameters.pointee.extradata, parameters.pointee.extradata_size) = try padded(bytes)
}

extension UInt32 {
    /// The number of a FourCC, the first character in the lowest bits.
    init(fourCC characters: String) {
        self = characters.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
    }
}

/// The consequence of an error that the operating system reports for a file. Such an error concerns the host: another
/// host may be able to do what this one cannot.
package enum SystemFault: CaseIterable, Sendable {
    /// The disk, or a quota on it, is full.
    case full
    case memory
    /// Another attempt may succeed, on this host or another.
    case passing
    /// No attempt will succeed on this host, because of its mounts, permissions, limits or disks.
    case lasting

    /// Classifies an error number of a file that is read or written. An unknown number counts as passing.
    package init(errno: Int32, writing: Bool) {
        // A block of a disk that cannot be read is lost, but a write that failed is put elsewhere the next time.
        self = errno == EIO ? (writing ? .passing : .lasting) : SystemFault.rows[errno] ?? .passing
    }

    /// The consequences by error number, without EIO.
    package static let rows: [Int32: SystemFault] = [
        ENOSPC: .full, EDQUOT: .full,
        ENOMEM: .memory,
        EINTR: .passing, EAGAIN: .passing, EBUSY: .passing, ETXTBSY: .passing, ENFILE: .passing, ENOBUFS: .passing,
        ETIMEDOUT: .passing, ENETDOWN: .passing, ENETUNREACH: .passing, ENETRESET: .passing, EHOSTDOWN: .passing,
        EHOSTUNREACH: .passing, ECONNABORTED: .passing, ECONNREFUSED: .passing, ECONNRESET: .passing,
        EROFS: .lasting, EACCES: .lasting, EPERM: .lasting, ESTALE: .lasting, ENOTCONN: .lasting, ESHUTDOWN: .lasting,
        EMFILE: .lasting, EFBIG: .lasting, ENOENT: .lasting, ENOTDIR: .lasting, EISDIR: .lasting, ELOOP: .lasting,
        ENAMETOOLONG: .lasting, ENODEV: .lasting, ENXIO: .lasting, EREMOTEIO: .lasting, EUCLEAN: .lasting,
        EBADMSG: .lasting, EOVERFLOW: .lasting, EOPNOTSUPP: .lasting,
    ]
}

/// The failure for an error of the operating system at a source.
func sourceFailure(errno: Int32, _ path: String) -> ReelFailure {
    switch SystemFault(errno: errno, writing: false) {
    case .memory: ReelFailure(.outOfMemory(step: .readFile, subject: path))
    case .passing: ReelFailure(.sourceUnreadable(path: path, errno: errno, passes: true))
    case .full, .lasting: ReelFailure(.sourceUnreadable(path: path, errno: errno, passes: false))
    }
}

/// The failure for an error of the operating system at a file of reel's own.
func fileFailure(errno: Int32, _ step: FileStep, _ path: String) -> ReelFailure {
    switch SystemFault(errno: errno, writing: step.writes) {
    case .full: ReelFailure(.diskFull(path: path))
    case .memory: ReelFailure(.outOfMemory(step: step.writes ? .writePackets : .readFile, subject: path))
    case .passing: ReelFailure(.fileFailed(path: path, step: step, errno: errno, passes: true))
    case .lasting: ReelFailure(.fileFailed(path: path, step: step, errno: errno, passes: false))
    }
}

/// The operating system's error number in an error code of libav*; nil if the code is one of libav*'s own.
func systemError(in code: Int32) -> Int32? { (-4095 ... -1).contains(code) ? -code : nil }

/// The function that reads files at an offset, with the arguments and results of pread(2). Tests replace it to make
/// reads fail in the middle of a file, as they do on disks and mounts.
package struct FileReading: Sendable {
    package typealias Read =
        @Sendable (_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ offset: Int64) -> Int

    let read: Read

    package init(_ read: @escaping Read) { self.read = read }

    @TaskLocal package static var current = FileReading { pread($0, $1, $2, off_t($3)) }
}
