internal import CFFmpeg
internal import ReelCore

/// Moving pictures that loop. Passes make small lossless pictures, of which the assembly makes the format's own.
extension TargetChoice {
    /// How passes encode the pictures. Throws `.input` for an interlaced source, and for an option that the format does not
    /// have.
    mutating func pictures(_ loops: LoopTraits) throws(ReelFailure) -> VideoEncoding {
        let unsupported: [(JobSpec.Option, Bool)] = [
            (.videoCodec, spec.videoCodec != nil), (.crf, spec.crf != nil), (.preset, spec.preset != nil),
            (.bitrate, spec.bitrate != nil), (.dither, spec.loop?.dither != nil && !loops.hasPalette),
            (.colors, spec.loop?.colours != nil && !loops.hasPalette), (.soundtrack, spec.edit?.soundtrack != nil),
            (.pixelFormat, spec.pixelFormat != nil), (.sampleRate, spec.sampleRate != nil),
            (.channelLayout, spec.channelLayout != nil), (.profile, spec.profile != nil),
            (.audioBitrate, spec.audioBitrate != nil),
        ]
        if let (option, _) = unsupported.first(where: \.1) {
            throw ReelFailure(.optionNotOfContainer(option: option, container: spec.container))
        }
        guard !spec.lossless || spec.container.keepsAll else {
            throw ReelFailure(.losslessNotHeld(container: spec.container))
        }
        let stream = index.video.stream
        let source = av_get_pix_fmt(stream.pixelFormat)
        guard let description = av_pix_fmt_desc_get(source) else { throw ReelFailure(.nothingDecodes(path: nil)) }
        let isTransparent = description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_ALPHA) != 0
        let format = OutputFormat(
            of: stream, spec.directions, timeBase: try spec.clock(of: indexes),
            pixelFormat: isTransparent ? "bgra" : "bgr0", beside: others.map(\.video.stream),
            size: spec.size ?? stream.shownSize.narrowed(to: loops.mostWidth))
        if let most = loops.mostSide, max(format.width, format.height) > most {
            let size = PictureSize(width: format.width, height: format.height)
            throw ReelFailure(.sizeTooLarge(container: spec.container, size: size, most: most))
        }
        try refuseInterlaced(scaledTo: format)
        checkConversions(to: format)
        if stream.colour.dynamicRange != .standard { diagnostics.append(.highDynamicRangeUnmapped) }
        let encoder = EncoderTraits.named("ffv1")
        var encoding = VideoEncoding(
            encoder: encoder.name, format: format, options: encoder.options(threads(of: encoder)), bitrate: nil,
            threads: threads(of: encoder), keyFrameInterval: encoder.keyFrameInterval,
            identity: EncoderIdentity(build: EncoderBuilds.build(of: encoder.name), extradataHash: ""))
        encoding.identity.extradataHash = try extradataHash(encoding, nil)
        return encoding
    }

    /// Throws for an option of moving pictures that loop: the container is one of video.
    func refuseLoopOptions() throws(ReelFailure) {
        let given: [(JobSpec.Option, Bool)] = [
            (.loop, spec.loop?.plays != nil),
            (.dither, spec.loop?.dither != nil), (.colors, spec.loop?.colours != nil),
        ]
        if let (option, _) = given.first(where: \.1) {
            throw ReelFailure(.optionNotOfContainer(option: option, container: spec.container))
        }
    }

    /// Throws if interlaced pictures, or their chroma as an option asks, would have to be scaled, which would mix their
    /// fields.
    func refuseInterlaced(scaledTo format: OutputFormat) throws(ReelFailure) {
        let stream = index.video.stream
        let isScaled = !format.takes(stream, beside: stream)
        let isChromaScaled =
            spec.pixelFormat != nil && chromaLines(stream.pixelFormat) != chromaLines(format.pixelFormat)
        guard stream.fieldOrder.isInterlaced, isScaled || isChromaScaled else { return }
        throw ReelFailure(.interlacedMixed(source: name(of: spec.mainSource)))
    }

    /// How many lines of a pixel format share a line of chroma, as a power of two; nil for an unknown format.
    private func chromaLines(_ pixelFormat: String) -> UInt8? {
        av_pix_fmt_desc_get(av_get_pix_fmt(pixelFormat))?.pointee.log2_chroma_h
    }
}
