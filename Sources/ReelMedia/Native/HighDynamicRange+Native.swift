internal import CFFmpeg
internal import ReelCore

extension MasteringDisplay {
    /// Nil if the record has neither primaries nor luminance.
    init?(native: AVMasteringDisplayMetadata) {
        let (red, green, blue) = native.display_primaries
        let points = [red, green, blue, native.white_point].compactMap { point in
            Rational(stated: point.0).flatMap { x in Rational(stated: point.1).map { Point(x: x, y: $0) } }
        }
        let limits = [native.min_luminance, native.max_luminance].compactMap(Rational.init(stated:))
        self.init(
            primaries: native.has_primaries != 0 && points.count == 4
                ? Primaries(red: points[0], green: points[1], blue: points[2], white: points[3]) : nil,
            luminance: native.has_luminance != 0 && limits.count == 2
                ? Luminance(least: limits[0], most: limits[1]) : nil)
        if primaries == nil, luminance == nil { return nil }
    }

    var native: AVMasteringDisplayMetadata {
        var native = AVMasteringDisplayMetadata()
        if let primaries {
            let pair = { (point: Point) in (point.x.native, point.y.native) }
            native.display_primaries = (pair(primaries.red), pair(primaries.green), pair(primaries.blue))
            native.white_point = pair(primaries.white)
            native.has_primaries = 1
        }
        if let luminance {
            native.min_luminance = luminance.least.native
            native.max_luminance = luminance.most.native
            native.has_luminance = 1
        }
        return native
    }
}

extension ContentLight {
    init(native: AVContentLightMetadata) {
        self.init(pixel: native.MaxCLL, average: native.MaxFALL)
    }

    var native: AVContentLightMetadata { AVContentLightMetadata(MaxCLL: pixel, MaxFALL: average) }
}

extension Rational {
    /// A number that may be 0; nil if the denominator is 0.
    fileprivate init?(stated native: AVRational) {
        guard native.den != 0 else { return nil }
        self.init(Int64(native.num), Int64(native.den))
    }
}

/// The record of type `T` at the start of side data; nil if that is too short.
func record<T: BitwiseCopyable>(_ data: UnsafePointer<UInt8>?, _ size: Int, as type: T.Type) -> T? {
    guard let data, size >= MemoryLayout<T>.size else { return nil }
    return UnsafeRawPointer(data).loadUnaligned(as: type)
}

extension UnsafeMutablePointer<AVStream> {
    /// A record of the stream's side data; nil if there is none.
    func sideData<T: BitwiseCopyable>(_ kind: AVPacketSideDataType, as type: T.Type) -> T? {
        var size = 0
        return record(reel_stream_side_data(self, kind, &size), size, as: type)
    }

    /// Adds a record to the stream's side data, for the muxer to write.
    func addSideData<T: BitwiseCopyable>(_ kind: AVPacketSideDataType, _ value: T) throws(ReelFailure) {
        let room = try allocated(
            reel_stream_new_side_data(self, kind, MemoryLayout<T>.size), .makeSideData)
        UnsafeMutableRawPointer(room).storeBytes(of: value, as: T.self)
    }
}

extension Frame {
    /// A record of the frame's side data; nil if there is none.
    func sideData<T: BitwiseCopyable>(_ kind: AVFrameSideDataType, as type: T.Type) -> T? {
        guard let found = av_frame_get_side_data(native, kind) else { return nil }
        return record(found.pointee.data, found.pointee.size, as: type)
    }

    func has(_ kind: AVFrameSideDataType) -> Bool { av_frame_get_side_data(native, kind) != nil }
}
