internal import CFFmpeg
internal import ReelCore

/// Passes to encoders what FFmpeg 5.1's wrappers do not: the light levels for which a film was graded, which are then
/// in the key frames as well as in the container; and the first field from the start, because x264 contradicts itself
/// if only the frames state it.
struct SignallingOptions {
    let stream: VideoStream
    /// The field order of the output.
    let fields: FieldOrder

    func add(to options: inout [MediaOption], as syntax: EncoderTraits.LightSyntax) {
        let (name, parameters) =
            switch syntax {
            case .x264: ("x264-params", fieldOrder + mastering("mastering-display", integers) + light("cll"))
            case .x265: ("x265-params", mastering("master-display", integers) + light("max-cll"))
            case .svtAV1: ("svtav1-params", mastering("mastering-display", decimals) + light("content-light"))
            }
        guard !parameters.isEmpty else { return }
        options.add(name, parameters.joined(separator: ":"))
    }

    private var fieldOrder: [String] { fields.isInterlaced ? [fields == .topFirst ? "tff=1" : "bff=1"] : [] }

    private func light(_ name: String) -> [String] {
        stream.contentLight.map { ["\(name)=\(min($0.pixel, 65535)),\(min($0.average, 65535))"] } ?? []
    }

    /// Encoders take primaries and luminance only together.
    private func mastering(_ name: String, _ spell: (_ value: Rational, _ unit: Int64) -> String) -> [String] {
        guard let display = stream.masteringDisplay, let primaries = display.primaries,
            let luminance = display.luminance
        else { return [] }
        func point(_ point: MasteringDisplay.Point) -> String {
            "(\(spell(point.x, 50_000)),\(spell(point.y, 50_000)))"
        }
        let colours =
            "G\(point(primaries.green))B\(point(primaries.blue))R\(point(primaries.red))WP\(point(primaries.white))"
        let limits = "L(\(spell(luminance.most, 10_000)),\(spell(luminance.least, 10_000)))"
        return ["\(name)=\(colours)\(limits)"]
    }

    /// In units of 0.00002 and of 0.0001 cd/m², as H.264 and HEVC write them (ITU-T H.265 D.3.28).
    private func integers(_ value: Rational, _ unit: Int64) -> String {
        "\(TimeBase(1, unit).ticks(in: value, rounding: .nearest))"
    }

    private func decimals(_ value: Rational, _ unit: Int64) -> String {
        let hundredThousandths = integers(value, 100_000)
        let padded = String(repeating: "0", count: max(0, 6 - hundredThousandths.count)) + hundredThousandths
        return "\(padded.dropLast(5)).\(padded.suffix(5))"
    }
}

extension ColourTags {
    /// The colour tags after a conversion between pixel formats. RGB has no YCbCr matrix; libswscale converts RGB to
    /// YCbCr by BT.601, in limited range.
    func converted(from source: AVPixelFormat, to target: AVPixelFormat) -> ColourTags {
        var tags = self
        switch (source.isRGB, target.isRGB) {
        case (_, true): tags.matrix = "gbr"
        case (true, false): (tags.matrix, tags.range) = ("smpte170m", "tv")
        case (false, false): break
        }
        // The old formats with the range in their names.
        if source.name.hasPrefix("yuvj") { tags.range = "pc" }
        // libswscale assumes full range for grey pictures whose range is unspecified. Decoders of H.264, HEVC and
        // VP9 give them back as YCbCr, whose range is taken for limited unless the stream says otherwise.
        if tags.range == nil, source.name.hasPrefix("gray"), target.name.hasPrefix("gray") { tags.range = "pc" }
        return tags
    }

    /// Sets the tags that are stated.
    func apply(to context: NativeContext) {
        apply(
            &context.pointee.color_range, &context.pointee.color_primaries, &context.pointee.color_trc,
            &context.pointee.colorspace, &context.pointee.chroma_sample_location)
    }

    /// Sets a frame's tags: some encoders write those of each frame.
    func apply(to frame: borrowing Frame) {
        let native = frame.native
        apply(
            &native.pointee.color_range, &native.pointee.color_primaries, &native.pointee.color_trc,
            &native.pointee.colorspace, &native.pointee.chroma_location)
    }

    private func apply(
        _ range: inout AVColorRange, _ primaries: inout AVColorPrimaries,
        _ transfer: inout AVColorTransferCharacteristic, _ matrix: inout AVColorSpace,
        _ location: inout AVChromaLocation
    ) {
        set(&range, self.range, av_color_range_from_name)
        set(&primaries, self.primaries, av_color_primaries_from_name)
        set(&transfer, self.transfer, av_color_transfer_from_name)
        set(&matrix, self.matrix, av_color_space_from_name)
        set(&location, chromaLocation, av_chroma_location_from_name)
    }

    /// Sets a tag by libavutil's number, unless it is unspecified or unknown.
    private func set<Tag: RawRepresentable<UInt32>>(
        _ tag: inout Tag, _ name: String?, _ lookUp: (UnsafePointer<CChar>) -> Int32
    ) {
        if let name, case let found = lookUp(name), found >= 0 { tag = Tag(rawValue: UInt32(found)) ?? tag }
    }

    init(native: AVCodecParameters) {
        self.init(
            native.color_range, native.color_primaries, native.color_trc, native.color_space, native.chroma_location)
    }

    init(native frame: borrowing Frame) {
        let native = frame.native.pointee
        self.init(
            native.color_range, native.color_primaries, native.color_trc, native.colorspace, native.chroma_location)
    }

    private init(
        _ range: AVColorRange, _ primaries: AVColorPrimaries, _ transfer: AVColorTransferCharacteristic,
        _ matrix: AVColorSpace, _ location: AVChromaLocation
    ) {
        self.init(
            range: known(av_color_range_name(range)), primaries: known(av_color_primaries_name(primaries)),
            transfer: known(av_color_transfer_name(transfer)), matrix: known(av_color_space_name(matrix)),
            chromaLocation: known(av_chroma_location_name(location)))
    }
}

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
    init(native: AVContentLightMetadata) { self.init(pixel: native.MaxCLL, average: native.MaxFALL) }

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

extension NativeStream {
    func sideData<T: BitwiseCopyable>(_ kind: AVPacketSideDataType, as type: T.Type) -> T? {
        var size = 0
        return record(reel_stream_side_data(self, kind, &size), size, as: type)
    }

    func addSideData<T: BitwiseCopyable>(_ kind: AVPacketSideDataType, _ value: T) throws(ReelFailure) {
        let room = try allocated(reel_stream_new_side_data(self, kind, MemoryLayout<T>.size), .makeSideData)
        UnsafeMutableRawPointer(room).storeBytes(of: value, as: T.self)
    }
}

extension Frame {
    func sideData<T: BitwiseCopyable>(_ kind: AVFrameSideDataType, as type: T.Type) -> T? {
        guard let found = av_frame_get_side_data(native, kind) else { return nil }
        return record(found.pointee.data, found.pointee.size, as: type)
    }

    func has(_ kind: AVFrameSideDataType) -> Bool { av_frame_get_side_data(native, kind) != nil }
}

/// The signalling of pictures (field order, rotation, light, colour) that neither encoder nor container holds.
extension TargetChoice {
    func lostSignalling(in format: OutputFormat, encoder: String) -> [Diagnostic] {
        let told = EncoderTraits.named(encoder).tells
        let (container, traits) = (spec.container, spec.container.traits)
        var lost: [Diagnostic?] = []
        if format.displayMatrix != nil, !traits.holdsRotation { lost.append(.rotationLost(container: container)) }
        lost.append(lostInterlacing(in: format, encoder))
        let shown = stream.mapped(to: format)
        if shown.masteringDisplay != nil || shown.contentLight != nil, !traits.holdsLight, !told.contains(.light) {
            lost.append(.lightLost(encoder: encoder, container: container))
        }
        let tags = stream.colour
        let isStated = [tags.primaries, tags.transfer, tags.matrix].contains { $0 != nil } || tags.range == "pc"
        if isStated, !traits.holdsColour, !told.contains(.colour) {
            lost.append(.colourLost(encoder: encoder, container: container))
        }
        return lost.compactMap(\.self)
    }

    private func lostInterlacing(in format: OutputFormat, _ encoder: String) -> Diagnostic? {
        guard format.fieldOrder.isInterlaced else { return nil }
        let told = EncoderTraits.named(encoder).tells
        let first: FirstField = format.fieldOrder == .topFirst ? .top : .bottom
        guard told.contains(.fields) else {
            return !format.fieldsVary && spec.container.traits.holdsFieldOrder
                ? .interlacingInContainer(first: first, encoder: encoder)
                : .interlacingLost(first: first, encoder: encoder)
        }
        // If only the direction changes the field order, encoders flag it right: a chunk has one direction.
        guard stream.fieldsVary else { return format.fieldsVary ? .fieldOrdersVary : nil }
        return told.contains(.fieldsOfEachFrame) ? nil : .interlacingUniform(first: first, encoder: encoder)
    }
}

/// Side data of pictures that cannot be kept in the output.
enum DroppedSideData {
    private static let kinds: [(kind: AVFrameSideDataType, extra: PictureExtra)] = [
        (AV_FRAME_DATA_A53_CC, .closedCaptions), (AV_FRAME_DATA_AFD, .activeFormat),
        (AV_FRAME_DATA_S12M_TIMECODE, .timecodes), (AV_FRAME_DATA_DYNAMIC_HDR_PLUS, .hdr10Plus),
        (AV_FRAME_DATA_DYNAMIC_HDR_VIVID, .hdrVivid), (AV_FRAME_DATA_ICC_PROFILE, .iccProfile),
        (AV_FRAME_DATA_SPHERICAL, .projection),
    ]

    static func of(_ frame: borrowing Frame) -> [Diagnostic] {
        guard frame.native.pointee.nb_side_data > 0 else { return [] }
        var losses: [Diagnostic] = []
        for (kind, extra) in kinds where frame.has(kind) { losses.append(.pictureExtraLeftOut(extra: extra)) }
        return losses
    }

    /// Dolby Vision, by the stream's configuration record or the first frame's own data.
    static func dolbyVision(_ record: AVDOVIDecoderConfigurationRecord?, isInFrame: Bool) -> [Diagnostic] {
        guard let record else { return isInFrame ? [.dolbyVisionLeftOut(profile: nil, wrongColours: false)] : [] }
        // A base layer without compatibility is in IPTPQc2, which decoders take for YCbCr.
        let isWrong = record.dv_bl_signal_compatibility_id == 0
        return [.dolbyVisionLeftOut(profile: Int(record.dv_profile), wrongColours: isWrong)]
    }

    /// Removes all of the decoder's data on which an encoder would act, or that it would write again although the
    /// stream carries it: all side data except the arrangement of stereo pictures, which is the same in either
    /// direction.
    static func strip(_ frame: borrowing Frame) {
        let native = frame.native
        let kinds = (0..<Int(native.pointee.nb_side_data)).compactMap { native.pointee.side_data[$0]?.pointee.type }
        for kind in kinds where kind != AV_FRAME_DATA_STEREO3D { av_frame_remove_side_data(native, kind) }
    }
}
