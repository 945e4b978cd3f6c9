internal import CFFmpeg
internal import Crypto
internal import ReelCore

/// Makes moving pictures that loop from the segments of a job, and verifies the file: a GIF, an animated PNG or WebP.
///
/// The segments are lossless. If the format has a palette, they are read once to choose its colours and once more to be
/// drawn in them, so that no picture is held.
struct LoopAssembler {
    private let sources: [IndexedSource]
    let plan: Plan
    private let segments: SegmentList
    let traits: LoopTraits
    let options: LoopOptions

    /// Nil if the plan is for a container of video.
    init?(sources: [IndexedSource], plan: Plan, segments: SegmentList) {
        guard let traits = plan.container.traits.loops else { return nil }
        self.sources = sources
        self.plan = plan
        self.segments = segments
        self.traits = traits
        options = plan.loop ?? LoopOptions()
    }

    /// Writes the output and reads it back; see `Assembler.assemble`.
    func assemble(
        to output: Locator, progress: (_ packets: Int, _ frames: Int) -> Void
    ) throws(ReelFailure) -> Assembled {
        let sink = try failing(.write, output) { () throws(ByteFault) in try output.sink() }
        let delays = delays
        let made =
            isWebP
            ? try writeWebP(to: sink, delays, progress: progress) : try write(to: sink, delays, progress: progress)
        sink.finish()
        let readBack = try failing(.read, output) { () throws(ByteFault) in try sink.written() }
        let checksum = try verify(readBack, made.expected, delays) { progress(delays.count + $0, delays.count) }
        try failing(.sync, output, sink.commit)
        return Assembled(packets: delays.count, bytes: made.bytes, checksum: checksum, diagnostics: [])
    }

    /// Compares a finished file with the segments from which it was made. Returns the number of pictures compared.
    func verify(_ output: Locator, progress: (Int) -> Void) throws(ReelFailure) -> Int {
        let delays = delays
        let expected = isWebP ? try codedWebP(delays) { _ in } : Expected(pictures: try drawn { _ in })
        let source = try failing(.open, output) { () throws(ByteFault) in try output.source() }
        _ = try verify(source, expected, delays, progress: progress)
        return expected.pictures.count
    }

    /// All pictures, in the output's order.
    struct Expected {
        /// What each shows.
        var pictures: [DecodedPicture] = []
        /// Of WebP, SHA-256 of the bytes of each in the file.
        var coded: [SHA256Digest] = []
    }

    private var isWebP: Bool { plan.container == .webp }

    /// Writes all pictures by libavformat's muxer. Returns the file's size in bytes, too.
    private func write(
        to sink: any ByteSink, _ delays: [Int64], progress: (_ packets: Int, _ frames: Int) -> Void
    ) throws(ReelFailure) -> (expected: Expected, bytes: Int64) {
        let muxer = try Muxer(sink, format: plan.container.traits.muxer)
        let encoder = try encoder()
        _ = try muxer.addStream(timeBase: traits.clock) { (stream) throws(ReelFailure) in
            try encoder.describe(into: stream.pointee.codecpar)
        }
        try muxer.begin(options: muxerOptions(last: delays.last ?? 1))
        var (starts, written, shown) = (0 as Int64, 0, 0)
        let packet = try Packet()
        func writePackets() throws(ReelFailure) {
            while try encoder.receive(into: packet) {
                packet.streamIndex = 0
                try muxer.write(packet, timeBase: traits.clock)
                packet.reset()
                written += 1
            }
        }
        let pictures = try drawn { (picture) throws(ReelFailure) in
            picture.pts = Timestamp(starts)
            starts += delays[shown]
            shown += 1
            try encoder.send(picture)
            try writePackets()
            progress(written, shown)
        }
        try encoder.finish()
        try writePackets()
        return (Expected(pictures: pictures), try muxer.finish())
    }

    var size: PictureSize {
        PictureSize(width: plan.video.format.width, height: plan.video.format.height)
    }

    /// The delays of all pictures, in ticks of the format.
    private var delays: [Int64] {
        let order = FrameOrder(plan)
        let clock = plan.video.format.timeBase
        let starts = (0..<order.count).map { place in
            let (clip, frame) = order.frame(at: place)
            return clock.seconds(clip.interval(of: frame, in: sources[clip.source].index.video).start)
        }
        let least = max(traits.clock.ticks(in: LoopTraits.leastDelay, rounding: .up), 1)
        return LoopDelays(
            starts: starts, end: clock.seconds(plan.end(in: sources.map(\.index))), clock: traits.clock, least: least
        ).delays
    }

    /// How often players are to show all pictures, and for how long the last one, in the muxers' words.
    private func muxerOptions(last delay: Int64) -> [MediaOption] {
        if plan.container == .gif {
            // It counts the repeats after the first time. No count is written for a single time.
            let repeats = options.plays.map { $0 == 1 ? -1 : $0 - 1 } ?? 0
            return [
                MediaOption(name: "loop", value: "\(repeats)"), MediaOption(name: "final_delay", value: "\(delay)"),
            ]
        }
        let last = traits.clock.seconds(Ticks(delay))
        return [
            MediaOption(name: "plays", value: "\(options.plays ?? 0)"),
            MediaOption(name: "final_delay", value: "\(last.numerator)/\(last.denominator)"),
        ]
    }

    private func encoder() throws(ReelFailure) -> Encoder {
        try Encoder(traits.encoder, options: []) { (context) throws(ReelFailure) in
            context.pointee.width = Int32(plan.video.format.width)
            context.pointee.height = Int32(plan.video.format.height)
            context.pointee.pix_fmt = av_get_pix_fmt(drawnFormat)
            context.pointee.time_base = traits.clock.native
            context.pointee.thread_count = 1
        }
    }

    var isTransparent: Bool { plan.video.format.pixelFormat == "bgra" }

    /// The pixel format in which the encoder takes the pictures.
    var drawnFormat: String {
        if options.isLossless, let format = traits.losslessFormat { return format }
        return isTransparent ? traits.transparentFormat ?? traits.pixelFormat : traits.pixelFormat
    }

    // MARK: Pictures

    /// Hands out all pictures in the output's order, as the format shows them. Returns what each shows.
    func drawn(
        _ take: (borrowing Frame) throws(ReelFailure) -> Void
    ) throws(ReelFailure) -> [DecodedPicture] {
        if traits.hasPalette { return try drawnInPalette(take) }
        let format = plan.video.format
        let chain = try FilterGraph(
            pictures: "format=\(drawnFormat)", width: format.width, height: format.height,
            format: av_get_pix_fmt(format.pixelFormat))
        let digest = try LoopDigest()
        var pictures: [DecodedPicture] = []
        let made = try Frame()
        func pull() throws(ReelFailure) {
            while try chain.pull(into: made) {
                pictures.append(try digest.describe(made))
                try take(made)
            }
        }
        try eachPicture { (picture) throws(ReelFailure) in
            try chain.push(picture)
            try pull()
        }
        try chain.finish()
        try pull()
        return pictures
    }

    private func drawnInPalette(
        _ take: (borrowing Frame) throws(ReelFailure) -> Void
    ) throws(ReelFailure) -> [DecodedPicture] {
        let dither =
            switch options.dither ?? .standard {
            case .none: "none"
            case .bayer: "bayer"
            case .sierra: "sierra2_4a"
            case .floydSteinberg: "floyd_steinberg"
            }
        let chain = try FilterGraph(
            pictures: "[in][palette]paletteuse=dither=\(dither):diff_mode=rectangle", width: size.width,
            height: size.height, format: AV_PIX_FMT_BGRA, palette: try palette())
        let (converter, digest) = (LoopConverter(), try LoopDigest())
        let steady = try SteadyColours()
        var pictures: [DecodedPicture] = []
        let made = try Frame()
        try eachPicture { (picture) throws(ReelFailure) in
            let source = try converter.shown(picture)
            try chain.push(source)
            guard try chain.pull(into: made) else {
                throw ReelFailure(.pictureUnconvertible(width: size.width, height: size.height))
            }
            try steady.steady(made, source: source)
            pictures.append(try digest.describe(made))
            try take(made)
        }
        return pictures
    }

    /// The palette of all pictures: 256 colours in a picture of 16 by 16.
    private func palette() throws(ReelFailure) -> Frame {
        let format = plan.video.format
        let chain = try FilterGraph(
            pictures: "palettegen=max_colors=\(options.colours ?? LoopOptions.coloursAllowed.upperBound)",
            width: format.width, height: format.height, format: av_get_pix_fmt(format.pixelFormat))
        let palette = try Frame()
        try eachPicture { (picture) throws(ReelFailure) in
            try chain.push(picture)
            // The graph keeps pictures until its output is asked for, although that comes at the end.
            _ = try chain.pull(into: palette)
        }
        try chain.finish()
        guard try chain.pull(into: palette) else { throw ReelFailure(.nothingToEncode) }
        return palette
    }

    /// Decodes the segments in the order of the output.
    private func eachPicture(_ take: (borrowing Frame) throws(ReelFailure) -> Void) throws(ReelFailure) {
        let streams = try OutputStreams(plan: plan, sources: sources, heard: [])
        let source = VideoSource(
            segments: segments, plan: plan, indexes: sources.map(\.index), parameters: streams.video,
            depth: streams.reorderDepth, shift: .zero)
        let decoder = try Decoder(
            parameters: streams.video, timeBase: source.timeBase, threads: 1, path: plan.container.rawValue)
        let packet = try Packet()
        let frame = try Frame()
        var count = 0
        while source.upcoming != nil {
            try source.take(into: packet)
            _ = try decoder.send(packet)
            packet.reset()
            while try decoder.receive(into: frame) == .frame {
                // Two frames of a source may share a time; pictures are counted, not timed, here.
                frame.pts = Timestamp(Int64(count))
                count += 1
                do throws(ReelFailure) { try take(frame) } catch { throw source.judged(error) }
            }
        }
        try source.finish()
        guard count == plan.frameCount else {
            throw source.judged(
                ReelFailure(
                    .verificationFailed(stream: 0, flaw: .frameCount(found: count, planned: plan.frameCount))))
        }
    }

    // MARK: Verification

    /// Decodes the finished file and compares every picture and its delay. Returns the file's SHA-256 in hexadecimal.
    private func verify(
        _ output: any ByteSource, _ expected: Expected, _ delays: [Int64], progress: (Int) -> Void
    ) throws(ReelFailure) -> String {
        if isWebP { return try verifyWebP(output, expected, delays, progress: progress) }
        let expected = expected.pictures
        let demuxer = try Demuxer(ByteReader(output, .output), purpose: .output)
        guard let stream = demuxer.stream(0) else { throw wrong(.missing) }
        let decoder = try Decoder(stream: stream, threads: 1, path: output.name)
        let clock = TimeBase(stream.pointee.time_base)
        let digest = try LoopDigest()
        let packet = try Packet()
        let frame = try Frame()
        var (count, due) = (0, 0 as Int64)
        func receive() throws(ReelFailure) {
            while try decoder.receive(into: frame) == .frame {
                guard count < expected.count else {
                    throw wrong(.frameCount(found: count + 1, planned: expected.count))
                }
                let time = clock.seconds(frame.bestTimestamp ?? Timestamp(0))
                let lasts = clock.seconds(Ticks(reel_frame_duration(frame.native)))
                let planned = traits.clock.seconds(Ticks(delays[count]))
                guard time == traits.clock.seconds(Timestamp(due)) else {
                    throw wrong(
                        .frameTime(frame: count, found: time, planned: traits.clock.seconds(Timestamp(due))))
                }
                guard lasts == planned else {
                    throw wrong(.packetDuration(packet: count, found: lasts, planned: planned))
                }
                guard try digest.describe(frame).hash == expected[count].hash else {
                    throw wrong(.framePicture(frame: count))
                }
                due += delays[count]
                count += 1
                progress(count)
            }
        }
        while try demuxer.read(into: packet) {
            guard try decoder.send(packet) != .damaged else { throw wrong(.undecodable) }
            packet.reset()
            try receive()
        }
        try decoder.drain()
        try receive()
        guard count == expected.count else { throw wrong(.frameCount(found: count, planned: expected.count)) }
        return try demuxer.file.checksum()
    }

    func wrong(_ flaw: VerificationFlaw) -> ReelFailure {
        ReelFailure(.verificationFailed(stream: 0, flaw: flaw))
    }
}
