internal import CFFmpeg
package import ReelCore

package struct Assembled: Sendable {
    /// The number of packets of all streams.
    package let packets: Int
    package let bytes: Int64
    /// SHA-256 of the file as read back, in hexadecimal.
    package let checksum: String
    /// Diagnostics of texts that could not be kept.
    package let diagnostics: [Diagnostic]
}

/// How far an assembly is.
package struct AssemblyProgress: Equatable, Sendable {
    /// Packets written or checked.
    package var packets = 0
    /// Frames of video written.
    package var frames = 0
    /// The part of all its work that is done, 0 to 1.
    package var share = 0.0

    package init() {}

    init(packets: Int, frames: Int, share: Double) {
        (self.packets, self.frames, self.share) = (packets, frames, min(max(share, 0), 1))
    }
}

/// Joins the segments of a job in the order of the output, with its sound, subtitles, chapters and attachments, and
/// verifies the file.
package struct Assembler {
    package typealias Progress = (AssemblyProgress) -> Void

    private let sources: [IndexedSource]
    private let plan: Plan
    private let segments: SegmentList

    /// `sources` are the plan's, in their order. Covers and attached files are copied from them, and with passthrough
    /// the video's packets.
    package init(sources: [IndexedSource], plan: Plan, segments: SegmentList) {
        (self.sources, self.plan, self.segments) = (sources, plan, segments)
    }

    /// The index of the source from which the output gets its tags, its track details and the shape of its pixels.
    private var index: SourceIndex { sources[plan.mainSource].index }

    /// Writes the output and reads it back. Segments are compared with their records while they are read, and a
    /// difference is noticed at a segment's end: if this throws, nothing is at the output's place.
    package func assemble(to output: Locator, progress: Progress) throws(ReelFailure) -> Assembled {
        if let loop = LoopAssembler(sources: sources, plan: plan, segments: segments) {
            return try loop.assemble(to: output, progress: progress)
        }
        let heard = try audioTracks()
        // A range of less than a sample.
        guard !plan.video.isNone || !heard.isEmpty else {
            throw ReelFailure(.noSound(path: sources[plan.mainSource].locator.name))
        }
        let streams = try OutputStreams(plan: plan, sources: sources, heard: heard)
        let sources = try packetSources(streams)
        let sink = try failing(.write, output) { () throws(ByteFault) in try output.sink() }
        let muxer = try Muxer(
            sink, format: plan.container.traits.muxer,
            interleaves: plan.container.traits.pacing?.storesSoundByFrame == true)
        try streams.add(to: muxer)
        let extras = try extras(streams.heard)
        try extras.add(to: muxer)
        muxer.setMetadata(index.keptTags(timecode: plan.timecode) + extras.tags)
        try muxer.begin(options: muxerOptions(streams, extras), shifted: !plan.container.traits.startsAtZero)
        try extras.write(to: muxer, first: sources.count)

        let expected = try Expectation(
            streams: streams, sources: sources, extras: extras, timeless: plan.container.traits.codecsWithoutTimes)
        let packet = try Packet()
        let interleaving = Interleaving(interval: isQuickTime ? Rational(1, 2) : nil)
        var (written, frames) = (0, 0)
        // Writing is half of the work, and reading back the other.
        let whole = Double(max(2 * (plan.frameCount + streams.heard.reduce(0) { $0 + $1.packets }), 1))
        while let next = interleaving.next(of: sources) {
            try sources[next].take(into: packet)
            packet.streamIndex = next
            try expected.add(packet, stream: next)
            if isMatroska { packet.delay(by: sources[next].matroskaDelay) }
            do {
                try muxer.write(packet, timeBase: sources[next].timeBase)
            } catch {
                // A muxer may reject a packet because its segment is damaged.
                throw error.owner == .job ? sources[next].judged(error) : error
            }
            packet.reset()
            written += 1
            if next == 0, !plan.video.isNone { frames += 1 }
            progress(
                AssemblyProgress(packets: written, frames: frames, share: min(Double(written) / whole, 0.5)))
        }
        for source in sources { try source.finish() }
        if plan.container == .flac { try muxer.setLength(streams.heard.reduce(0) { $0 + $1.frames }) }
        let bytes = try muxer.finish()
        if let most = plan.mostBytes, bytes > most { throw ReelFailure(.outputTooLarge(most: most, bytes: bytes)) }
        sink.finish()
        let readBack = try failing(.read, output) { () throws(ByteFault) in try sink.written() }
        let checksum = try verifier(expected).verify(readBack) { checked in
            let share = 0.5 + Double(checked) / Double(2 * max(written, 1))
            progress(AssemblyProgress(packets: written + checked, frames: frames, share: share))
        }
        try failing(.sync, output, sink.commit)
        return Assembled(
            packets: written, bytes: bytes, checksum: checksum, diagnostics: streams.subtitles.compactMap(\.diagnostic))
    }

    /// Compares a finished file with the segments from which it was made. Returns the number of packets compared.
    package func verify(_ output: Locator, progress: (Int) -> Void) throws(ReelFailure) -> Int {
        if let loop = LoopAssembler(sources: sources, plan: plan, segments: segments) {
            return try loop.verify(output, progress: progress)
        }
        let streams = try OutputStreams(plan: plan, sources: sources, heard: try audioTracks())
        let sources = try packetSources(streams)
        let expected = try Expectation(
            streams: streams, sources: sources, extras: try extras(streams.heard),
            timeless: plan.container.traits.codecsWithoutTimes)
        let packet = try Packet()
        for (number, source) in sources.enumerated() {
            while source.upcoming != nil {
                try source.take(into: packet)
                try expected.add(packet, stream: number)
                packet.reset()
            }
            try source.finish()
        }
        let source = try failing(.open, output) { () throws(ByteFault) in try output.source() }
        try verifier(expected).verify(source, progress: progress)
        return expected.packets
    }

    private func verifier(_ expected: Expectation) -> Verifier {
        Verifier(plan: plan, expected: expected, tracks: sources.map(\.index.video), concealed: segments.concealed)
    }

    private var isMatroska: Bool { plan.container.isMatroska }
    private var isQuickTime: Bool { plan.container.isQuickTime }

    /// The packets of the video, then of the audio tracks, then of the texts, each with its final times.
    private func packetSources(_ streams: OutputStreams) throws(ReelFailure) -> [any PacketSource] {
        let shift = try shift(for: streams.heard)
        let later = clock.seconds(shift)
        var packets: [any PacketSource] = []
        if plan.video.isPassthrough {
            packets.append(try PassthroughSource(sources, plan: plan, shift: shift))
        } else if let video = streams.video {
            packets.append(
                VideoSource(
                    segments: segments, plan: plan, indexes: sources.map(\.index), parameters: video,
                    depth: max(streams.reorderDepth, segments.reorderDepth), shift: shift))
        }
        packets += try zip(streams.heard, streams.audio).map { (heard, parameters) throws(ReelFailure) in
            try AudioSource(
                heard, parameters: parameters, shift: later,
                padding: isMatroska ? .atEnd : plan.container == .mp3 ? .atBothEnds : .none)
        }
        let overlapping = plan.container.traits.holdsOverlappingCues
        return packets + streams.subtitles.map { SubtitleSource($0, shift: later, overlapping: overlapping) }
    }

    private func extras(_ heard: [OutputAudioTrack]) throws(ReelFailure) -> OutputExtras {
        try OutputExtras(sources: sources, plan: plan, shift: clock.seconds(shift(for: heard)))
    }

    private var clock: TimeBase { plan.video.format.timeBase }

    /// The least number of video ticks by which the output must start later, so that no track starts before 0.
    private func shift(for heard: [OutputAudioTrack]) throws(ReelFailure) -> Ticks {
        let earliest = heard.map { $0.first.timeBase.seconds(Timestamp($0.first.start)) }.min() ?? Rational(0)
        guard earliest < Rational(0) else { return .zero }
        let ticks = clock.ticks(in: Rational(0) - earliest, rounding: .up)
        guard ticks <= Timestamp.bound else {
            throw ReelFailure(.soundOutOfReach(path: sources[plan.mainSource].locator.name, distance: earliest))
        }
        return Ticks(ticks)
    }

    /// The audio tracks that have sound while the video lasts.
    private func audioTracks() throws(ReelFailure) -> [OutputAudioTrack] {
        var segments: [Int: [OutputAudioTrack.Part]] = [:]
        let planned = PlannedSegments(plan: plan, indexes: sources.map(\.index))
        for (pass, made) in plan.passes.enumerated() {
            guard case .audio(let track, let samples) = made else { continue }
            guard let content = planned.content(ofAudio: track, samples) else {
                throw ReelFailure(.planLacks(part: .audioTrack, number: track))
            }
            let segment = try self.segments.segment(of: content, clip: 0, pass: pass)
            if segment.record.frames > 0 { segments[track, default: []].append((segment, pass)) }
        }
        return plan.audio.indices.compactMap { track in
            segments[track].map { OutputAudioTrack(target: plan.audio[track], parts: $0) }
        }
    }

    private func muxerOptions(_ streams: OutputStreams, _ extras: OutputExtras) -> [MediaOption] {
        // Sizes have 32 bits otherwise (EBU Tech 3306).
        if plan.container == .wav { return [MediaOption(name: "rf64", value: "auto")] }
        guard isQuickTime else { return [] }
        let more = extras.tableBytes + streams.subtitles.reduce(0) { $0 + $1.tableBytes }
        let listsNames = plan.container.listsNames(
            of: index.keptTags(timecode: plan.timecode), besideCover: extras.hasCovers)
        return (listsNames ? [MediaOption(name: "movflags", value: "use_metadata_tags")] : []) + [
            MediaOption(name: "write_tmcd", value: "0"),
            MediaOption(name: "video_track_timescale", value: "\(clock.secondsPerTick.denominator)"),
            MediaOption(name: "movie_timescale", value: "\(movieTimescale)"),
            MediaOption(name: "moov_size", value: "\(moovRoom(streams) + more)"),
        ]
    }

    /// Ticks per second for edit lists and chapters: fine enough for every track's start, as far as 32 bits allow, and
    /// for the milliseconds of chapters.
    private var movieTimescale: Int64 {
        let hasChapters = !plan.chapters.isEmpty || plan.clips.contains { !sources[$0.source].index.chapters.isEmpty }
        let scales =
            [clock.secondsPerTick.denominator] + plan.audio.map { Int64($0.sampleRate) } + (hasChapters ? [1000] : [])
        let common = scales.reduce(Int64?(1)) { product, scale in
            product.flatMap { Rational.leastCommonMultiple($0, scale) }
        }
        guard let common, common <= Int64(Int32.max) else { return scales.max() ?? 1000 }
        return common
    }

    /// The most bytes that the sample tables take (ISO 14496-12 8.6, 8.7). That room is reserved at the file's start,
    /// so that playback can begin while the file loads.
    private func moovRoom(_ streams: OutputStreams) -> Int64 {
        let headers = streams.coded.reduce(0) { $0 + Int64($1.pointee.extradata_size) }
        return SampleTables.bytes(
            frames: plan.frameCount, lasting: clock.seconds(plan.end(in: sources.map(\.index))).approximate,
            soundPackets: streams.heard.map(\.packets), tags: index.metadata) + headers
    }
}
