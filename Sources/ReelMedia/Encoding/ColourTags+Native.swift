internal import CFFmpeg
internal import ReelCore

extension ColourTags {
    /// The colour tags after a conversion between pixel formats. RGB has no YCbCr matrix; libswscale converts RGB to
    /// YCbCr by BT.601, in limited range.
    func converted(from source: AVPixelFormat, to target: AVPixelFormat) -> ColourTags {
        var tags = self
        switch (Self.isRGB(source), Self.isRGB(target)) {
        case (_, true): tags.matrix = "gbr"
        case (true, false): (tags.matrix, tags.range) = ("smpte170m", "tv")
        case (false, false): break
        }
        // The old formats with the range in their names.
        if known(av_get_pix_fmt_name(source))?.hasPrefix("yuvj") == true { tags.range = "pc" }
        // libswscale takes grey pictures of which nothing is known for those of full range. Decoders of H.264, HEVC and VP9
        // give them back as YCbCr, whose range is taken for limited unless the stream says otherwise.
        if tags.range == nil, Self.isGrey(source), Self.isGrey(target) { tags.range = "pc" }
        return tags
    }

    private static func isGrey(_ format: AVPixelFormat) -> Bool {
        known(av_get_pix_fmt_name(format))?.hasPrefix("gray") == true
    }

    private static func isRGB(_ format: AVPixelFormat) -> Bool {
        let flags = UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)
        return av_pix_fmt_desc_get(format).map { $0.pointee.flags & flags != 0 } ?? false
    }

    func apply(to context: UnsafeMutablePointer<AVCodecContext>) {
        if let value = nativeRange { context.pointee.color_range = value }
        if let value = nativePrimaries { context.pointee.color_primaries = value }
        if let value = nativeTransfer { context.pointee.color_trc = value }
        if let value = nativeMatrix { context.pointee.colorspace = value }
        if let value = nativeLocation { context.pointee.chroma_sample_location = value }
    }

    /// Sets a frame's tags: some encoders write those of each frame.
    func apply(to frame: borrowing Frame) {
        if let value = nativeRange { frame.native.pointee.color_range = value }
        if let value = nativePrimaries { frame.native.pointee.color_primaries = value }
        if let value = nativeTransfer { frame.native.pointee.color_trc = value }
        if let value = nativeMatrix { frame.native.pointee.colorspace = value }
        if let value = nativeLocation { frame.native.pointee.chroma_location = value }
    }

    // libavutil's look-ups return a negative number for unknown names; nil becomes "unspecified".
    private var nativeRange: AVColorRange? {
        value(range, av_color_range_from_name).map { AVColorRange($0) }
    }
    private var nativePrimaries: AVColorPrimaries? {
        value(primaries, av_color_primaries_from_name).map { AVColorPrimaries($0) }
    }
    private var nativeTransfer: AVColorTransferCharacteristic? {
        value(transfer, av_color_transfer_from_name).map { AVColorTransferCharacteristic($0) }
    }
    private var nativeMatrix: AVColorSpace? {
        value(matrix, av_color_space_from_name).map { AVColorSpace($0) }
    }
    private var nativeLocation: AVChromaLocation? {
        value(chromaLocation, av_chroma_location_from_name).map { AVChromaLocation($0) }
    }

    private func value(_ name: String?, _ lookUp: (UnsafePointer<CChar>) -> Int32) -> UInt32? {
        guard let name, case let found = lookUp(name), found >= 0 else { return nil }
        return UInt32(found)
    }
}
