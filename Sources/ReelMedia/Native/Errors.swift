internal import CFFmpeg
internal import ReelCore

/// libav*'s own words for one of its error codes.
func libavMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
        av_strerror(code, buffer.baseAddress, buffer.count)
        return buffer.baseAddress.map { String(cString: $0) } ?? "error \(code)"
    }
}

/// A libav* call that failed, with what was being done and the codec, file or format that it was about. What the system
/// said of a file is not among it: libav* uses the system's numbers for errors of its own.
func mediaFailure(_ code: Int32, _ step: MediaStep, _ subject: String? = nil) -> ReelFailure {
    ReelFailure(
        code == reel_error_no_memory
            ? .outOfMemory(step: step, subject: subject)
            : .mediaFailed(step: step, subject: subject, said: libavMessage(code)))
}

/// Passes on what is not an error, throws what is.
@discardableResult
func check(
    _ code: Int32, _ step: MediaStep, _ subject: @autoclosure () -> String? = nil
) throws(ReelFailure) -> Int32 {
    guard code >= 0 else { throw mediaFailure(code, step, subject()) }
    return code
}

/// What libav* allocated, or a failure for want of memory.
func allocated<T>(
    _ pointer: UnsafeMutablePointer<T>?, _ step: MediaStep
) throws(ReelFailure) -> UnsafeMutablePointer<T> {
    guard let pointer else { throw ReelFailure(.outOfMemory(step: step, subject: nil)) }
    return pointer
}

extension TimeBase {
    init(_ native: AVRational) { self.init(Int64(native.num), Int64(max(native.den, 1))) }

    var native: AVRational { secondsPerTick.native }
}

extension Timestamp {
    /// nil where libav* knows none, and for what no clock shows.
    init?(native ticks: Int64) {
        guard ticks != reel_nopts, (-Timestamp.bound...Timestamp.bound).contains(ticks) else { return nil }
        self.init(ticks)
    }
}

extension Rational {
    /// nil where libav* means "unknown".
    init?(_ native: AVRational) {
        guard native.num > 0, native.den > 0 else { return nil }
        self.init(Int64(native.num), Int64(native.den))
    }

    /// The nearest fraction that libav*'s 32 bits hold.
    var native: AVRational {
        var result = AVRational()
        av_reduce(&result.num, &result.den, numerator, denominator, Int64(Int32.max))
        return result
    }
}

/// A dictionary of libav*, freed with its owner.
struct NativeDictionary: ~Copyable {
    var native: OpaquePointer?

    init(_ options: [MediaOption] = []) {
        for option in options { set(option.name, option.value) }
    }

    mutating func set(_ name: String, _ value: String) {
        av_dict_set(&native, name, value, 0)
    }

    /// Names that a call did not understand and left behind.
    var names: [String] { entries(of: native).map(\.name) }

    deinit {
        var dictionary = native
        av_dict_free(&dictionary)
    }
}

/// What a dictionary of libav* holds, in its order.
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

/// The string behind a C name of libav*, nil where there is none or it says "unknown".
func known(_ name: UnsafePointer<CChar>?) -> String? {
    guard let name else { return nil }
    let text = String(cString: name)
    return text == "unknown" || text == "unspecified" || text == "reserved" ? nil : text
}

/// A copy in libavutil's memory, with the zeros behind it that codecs read past the end.
func padded(_ bytes: [UInt8]) throws(ReelFailure) -> (UnsafeMutablePointer<UInt8>?, Int32) {
    guard !bytes.isEmpty else { return (nil, 0) }
    let size = bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
    let room = try allocated(av_mallocz(size)?.bindMemory(to: UInt8.self, capacity: size), .describeStream)
    room.update(from: bytes, count: bytes.count)
    return (room, Int32(bytes.count))
}

extension AVCodecParameters {
    /// The codec's header, or the contents of an attached file; valid as long as the parameters.
    var header: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: extradata, count: Int(extradata_size)) }
}

/// Gives a stream's parameters a codec's header, or the contents of an attached file.
func setHeader(_ bytes: [UInt8], of parameters: UnsafeMutablePointer<AVCodecParameters>) throws(ReelFailure) {
    (parameters.pointee.extradata, parameters.pointee.extradata_size) = try padded(bytes)
}

extension UInt32 {
    /// The number of a FourCC, the first character in the lowest bits.
    init(fourCC characters: String) {
        self = characters.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }
    }
}
