internal import CFFmpeg
internal import Crypto
internal import Glibc
internal import ReelCore

/// Does what `Assembler` does for a GIF, an animated PNG or WebP.
struct LoopAssembler {
    /// As planned.
    private let planned: LoopPictures

    /// Nil if the plan is for a container of video.
    init?(sources: [IndexedSource], plan: Plan, segments: SegmentList) {
        guard let pictures = LoopPictures(sources: sources, plan: plan, segments: segments) else { return nil }
        planned = pictures
    }

    private static func file(_ pictures: LoopPictures) -> any LoopFile {
        pictures.plan.container == .webp ? WebPLoop(pictures: pictures) : MuxedLoop(pictures: pictures)
    }

    /// The pictures as the size of the file allows, and by how much they are reduced; nil if they are not. Calls `tried`
    /// with how many files were drawn to find that out, the part of one that is begun included.
    private func fitting(
        _ tried: (Double) -> Void
    ) throws(ReelFailure) -> (pictures: LoopPictures, reduction: LoopReduction?) {
        guard let most = planned.plan.mostBytes else { return (planned, nil) }
        let seconds = planned.traits.clock.seconds(Ticks(planned.delays.reduce(0, +))).approximate
        var search = LoopSearch(
            most: most, size: planned.size, rate: Double(planned.delays.count) / max(seconds, 0.01),
            colours: planned.traits.hasPalette ? planned.options.colours ?? LoopOptions.coloursAllowed.upperBound : nil)
        let whole = search.next
        var attempts = 0.0
        while let next = search.next, let pictures = planned.reduced(next) {
            let decodings = Double(pictures.decodings)
            search.judge(
                try LoopAssembler.file(pictures).write(to: CountedBytes()) { tried(attempts + Double($0) / decodings) }
                    .bytes)
            attempts += 1
        }
        guard let best = search.best, let pictures = planned.reduced(best) else {
            throw ReelFailure(.sizeUnreachable(most: most, least: search.fewest ?? 0))
        }
        guard best != whole else { return (pictures, nil) }
        var said = best
        if best.colours == whole?.colours { said.colours = nil }
        return (pictures, said)
    }

    func assemble(to output: Locator, progress: Assembler.Progress) throws(ReelFailure) -> Assembled {
        var begun = 0.0
        let (pictures, reduction) = try fitting { tried in
            // It is not known how many attempts it takes.
            begun = 0.8 * (1 - pow(0.8, tried))
            progress(AssemblyProgress(packets: 0, frames: 0, share: begun))
        }
        let (file, count) = (LoopAssembler.file(pictures), pictures.delays.count)
        // Reading back takes as long as drawing once.
        let whole = Double(pictures.decodings + pictures.plan.frameCount)
        func share(_ done: Int) -> Double { begun + (1 - begun) * Double(done) / max(whole, 1) }
        let sink = try failing(.write, output) { () throws(ByteFault) in try output.sink() }
        let made = try file.write(to: sink) { decoded in
            let shown = max(decoded - pictures.decodings + pictures.plan.frameCount, 0)
            progress(AssemblyProgress(packets: min(shown, count), frames: min(shown, count), share: share(decoded)))
        }
        sink.finish()
        let readBack = try failing(.read, output) { () throws(ByteFault) in try sink.written() }
        let checksum = try file.verify(readBack, made.expected) { checked in
            let done = pictures.decodings + checked * pictures.plan.frameCount / max(count, 1)
            progress(AssemblyProgress(packets: count + checked, frames: count, share: share(done)))
        }
        try failing(.sync, output, sink.commit)
        let reduced = reduction.map { reduction in
            Diagnostic.loopReduced(
                width: reduction.size.width, height: reduction.size.height, step: reduction.step,
                colours: reduction.colours)
        }
        return Assembled(
            packets: count, bytes: made.bytes, checksum: checksum, diagnostics: [reduced].compactMap(\.self))
    }

    func verify(_ output: Locator, progress: (Int) -> Void) throws(ReelFailure) -> Int {
        let file = LoopAssembler.file(try fitting { _ in }.pictures)
        let expected = try file.expected()
        let source = try failing(.open, output) { () throws(ByteFault) in try output.source() }
        _ = try file.verify(source, expected, progress: progress)
        return expected.pictures.count
    }
}

/// The pictures that a file must have, in the output's order.
struct LoopExpectation {
    var pictures: [DecodedPicture] = []
    /// For WebP, the SHA-256 of each picture's bytes in the file.
    var coded: [SHA256Digest] = []
}

/// How a format writes the pictures into a file and reads them back.
private protocol LoopFile {
    typealias Written = (expected: LoopExpectation, bytes: Int64)

    func expected() throws(ReelFailure) -> LoopExpectation

    /// Writes all pictures. Returns the file's size in bytes, too. Calls `progress` with the number of frames decoded, of
    /// `LoopPictures.decodings`.
    func write(to sink: any ByteSink, progress: (_ decoded: Int) -> Void) throws(ReelFailure) -> Written

    /// Compares a finished file with the expected contents. Returns the file's SHA-256 in hexadecimal.
    func verify(
        _ output: any ByteSource, _ expected: LoopExpectation, progress: (Int) -> Void
    ) throws(ReelFailure) -> String
}

/// A file of libavformat's muxer: a GIF or an animated PNG.
private struct MuxedLoop: LoopFile {
    let pictures: LoopPictures

    func expected() throws(ReelFailure) -> LoopExpectation {
        LoopExpectation(pictures: try pictures.drawn({ _ in }, progress: { _ in }))
    }

    func write(to sink: any ByteSink, progress: (_ decoded: Int) -> Void) throws(ReelFailure) -> Written {
        let (clock, delays) = (pictures.traits.clock, pictures.delays)
        let muxer = try Muxer(sink, format: pictures.plan.container.traits.muxer)
        let encoder = try Encoder(pictures.traits.encoder, options: []) { (context) throws(ReelFailure) in
            context.describePictures(
                pictures.size.width, pictures.size.height, av_get_pix_fmt(pictures.drawnFormat), clock)
        }
        try muxer.addStream(timeBase: clock) { (stream) throws(ReelFailure) in
            try encoder.describe(into: stream.pointee.codecpar)
        }
        try muxer.begin(options: muxerOptions(last: delays.last ?? 1))
        var (starts, shown) = (0 as Int64, 0)
        let packet = try Packet()
        func writePackets() throws(ReelFailure) {
            while try encoder.receive(into: packet) {
                packet.streamIndex = 0
                try muxer.write(packet, timeBase: clock)
                packet.reset()
            }
        }
        let drawn = try pictures.drawn(
            { (picture) throws(ReelFailure) in
                picture.pts = Timestamp(starts)
                starts += delays[shown]
                shown += 1
                try encoder.send(picture)
                try writePackets()
            }, progress: progress)
        try encoder.finish()
        try writePackets()
        return (LoopExpectation(pictures: drawn), try muxer.finish())
    }

    /// How often players are to show all pictures, and for how long the last one, in the muxers' words.
    private func muxerOptions(last delay: Int64) -> [MediaOption] {
        if pictures.plan.container == .gif {
            // It counts the repeats after the first time. No count is written for a single time.
            let repeats = pictures.options.plays.map { $0 == 1 ? -1 : $0 - 1 } ?? 0
            return [
                MediaOption(name: "loop", value: "\(repeats)"), MediaOption(name: "final_delay", value: "\(delay)"),
            ]
        }
        let last = pictures.traits.clock.seconds(Ticks(delay))
        return [
            MediaOption(name: "plays", value: "\(pictures.options.plays ?? 0)"),
            MediaOption(name: "final_delay", value: "\(last.numerator)/\(last.denominator)"),
        ]
    }

    func verify(
        _ output: any ByteSource, _ expected: LoopExpectation, progress: (Int) -> Void
    ) throws(ReelFailure) -> String {
        let (expected, delays, ticks) = (expected.pictures, pictures.delays, pictures.traits.clock)
        let demuxer = try Demuxer(ByteReader(output, .output), purpose: .output)
        guard let stream = demuxer.stream(0) else { throw unverified(.missing) }
        let decoder = try Decoder(stream: stream, threads: 1, path: output.name)
        let clock = stream.timeBase
        let digest = try LoopDigest()
        let packet = try Packet()
        let frame = try Frame()
        var (count, due) = (0, 0 as Int64)
        func receive() throws(ReelFailure) {
            while try decoder.receive(into: frame) == .frame {
                guard count < expected.count else {
                    throw unverified(.frameCount(found: count + 1, planned: expected.count))
                }
                let time = clock.seconds(frame.bestTimestamp ?? Timestamp(0))
                let lasts = clock.seconds(Ticks(reel_frame_duration(frame.native)))
                let planned = ticks.seconds(Ticks(delays[count]))
                guard time == ticks.seconds(Timestamp(due)) else {
                    throw unverified(.frameTime(frame: count, found: time, planned: ticks.seconds(Timestamp(due))))
                }
                guard lasts == planned else {
                    throw unverified(.packetDuration(packet: count, found: lasts, planned: planned))
                }
                guard try digest.describe(frame).hash == expected[count].hash else {
                    throw unverified(.framePicture(frame: count))
                }
                due += delays[count]
                count += 1
                progress(count)
            }
        }
        while try demuxer.read(into: packet) {
            guard try decoder.send(packet) != .damaged else { throw unverified(.undecodable) }
            packet.reset()
            try receive()
        }
        try decoder.drain()
        try receive()
        guard count == expected.count else { throw unverified(.frameCount(found: count, planned: expected.count)) }
        return try demuxer.file.checksum()
    }
}

/// A WebP file, which reel writes itself.
private struct WebPLoop: LoopFile {
    let pictures: LoopPictures

    private var layout: WebPLayout {
        WebPLayout(size: pictures.size, count: pictures.delays.count, plays: pictures.options.plays ?? 0)
    }

    func expected() throws(ReelFailure) -> LoopExpectation { try coded({ _ in }, progress: { _ in }) }

    func write(to sink: any ByteSink, progress: (_ decoded: Int) -> Void) throws(ReelFailure) -> Written {
        let file = WebPWriter(sink, layout)
        let expected = try coded(
            { (bytes) throws(ReelFailure) in try file.add(bytes) }, progress: progress)
        return (expected, try file.finish())
    }

    /// Draws and encodes all pictures, and hands out the bytes of each in the file.
    private func coded(
        _ take: ([UInt8]) throws(ReelFailure) -> Void, progress: (_ decoded: Int) -> Void
    ) throws(ReelFailure) -> LoopExpectation {
        let encoder = try WebPEncoder(
            pictures.traits.encoder, format: av_get_pix_fmt(pictures.drawnFormat),
            isLossless: pictures.options.isLossless, isOpaque: !pictures.isTransparent)
        let layout = layout
        var coded: [SHA256Digest] = []
        let drawn = try pictures.drawn(
            { (picture) throws(ReelFailure) in
                let bytes = layout.bytes(of: try encoder.code(picture, delay: pictures.delays[coded.count]))
                coded.append(SHA256.hash(data: bytes))
                try take(bytes)
            }, progress: progress)
        return LoopExpectation(pictures: drawn, coded: coded)
    }

    /// Compares the bytes of the file with the encoded ones, and the decoded pictures with the drawn ones: every pixel
    /// of a lossless file, otherwise the likeness.
    func verify(
        _ output: any ByteSource, _ expected: LoopExpectation, progress: (Int) -> Void
    ) throws(ReelFailure) -> String {
        let (layout, delays, clock) = (layout, pictures.delays, pictures.traits.clock)
        let bytes = try ByteReader(output, .output)
        var file = try WebPReader(bytes, layout)
        let canvas = try WebPCanvas(layout.size, name: output.name)
        let digest = try LoopDigest()
        var count = 0
        while let coded = try file.next() {
            guard count < delays.count else { throw unverified(.frameCount(found: count + 1, planned: delays.count)) }
            guard let picture = layout.picture(in: coded) else { throw unverified(.payload) }
            guard picture.delay == delays[count] || layout.count == 1 else {
                let (found, planned) = (clock.seconds(Ticks(picture.delay)), clock.seconds(Ticks(delays[count])))
                throw unverified(.packetDuration(packet: count, found: found, planned: planned))
            }
            guard SHA256.hash(data: coded) == expected.coded[count] else { throw unverified(.payload) }
            guard try canvas.show(picture) else { throw unverified(.undecodable) }
            let (shown, drawn) = (try digest.describe(canvas.shown), expected.pictures[count])
            let isSame =
                pictures.options.isLossless
                ? shown.hash == drawn.hash : shown.likeness.distance(to: drawn.likeness) <= PictureCheck.tolerance
            guard isSame else { throw unverified(.framePicture(frame: count)) }
            count += 1
            progress(count)
        }
        guard count == delays.count else { throw unverified(.frameCount(found: count, planned: delays.count)) }
        return try bytes.checksum()
    }
}
