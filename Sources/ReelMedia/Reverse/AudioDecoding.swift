internal import CFFmpeg
internal import ReelCore

/// Decodes one audio track in full, to a spill.
struct AudioDecoding {
    let spill: SampleSpill
    let format: AVSampleFormat
    let blocks: [AudioTimeline.Block]

    init(
        path: String, track: AudioTrack, scratch: String, progress: (_ decoded: Int) -> Void
    ) throws(ReelFailure) {
        let demuxer = try Demuxer(path: path)
        guard let stream = demuxer.stream(track.index) else {
            throw ReelFailure(.input, "\(path): changed since it was indexed; submit it again")
        }
        demuxer.select([track.index])
        let decoder = try Decoder(stream: stream, threads: 1, path: path)
        let splitter = PacketSplitter(codec: stream.pointee.codecpar.pointee.codec_id)
        let gather = Gather(path: path, track: track, scratch: scratch)
        let packet = try Packet()
        while try demuxer.read(into: packet) {
            guard packet.streamIndex == track.index else { continue }
            try splitter.forEachFrame(of: packet) { (part) throws(ReelFailure) in
                // A packet that cannot be decoded leaves its time to the hole it makes.
                while try decoder.send(part) == .full { try gather.receive(from: decoder) }
                try gather.receive(from: decoder)
            }
            progress(gather.blocks.count)
        }
        try decoder.drain()
        try gather.receive(from: decoder)
        guard let spill = gather.spill else {
            throw ReelFailure(.input, "\(path): nothing of audio stream \(track.index) decodes")
        }
        try spill.flush()
        (self.spill, format, blocks) = (spill, gather.format, gather.blocks)
    }

    /// What comes out of the decoder.
    private final class Gather {
        let path: String
        let track: AudioTrack
        let scratch: String
        var spill: SampleSpill?
        var format = AV_SAMPLE_FMT_NONE
        var blocks: [AudioTimeline.Block] = []

        init(path: String, track: AudioTrack, scratch: String) {
            self.path = path
            self.track = track
            self.scratch = scratch
        }

        func receive(from decoder: Decoder) throws(ReelFailure) {
            let frame = try Frame()
            while try decoder.receive(into: frame) == .frame {
                guard frame.sampleCount > 0 else { continue }
                if spill == nil { spill = try start(frame) }
                guard let spill else { continue }
                let samePlan = frame.native.pointee.format == format.rawValue
                    && Int(frame.native.pointee.ch_layout.nb_channels) == spill.channels
                    && Int(frame.native.pointee.sample_rate) == track.sampleRate
                guard samePlan else {
                    throw ReelFailure(.input, "\(path): audio stream \(track.index) changes its format midway")
                }
                let sampled = Rational(spill.count, Int64(track.sampleRate))
                let time = (frame.pts ?? frame.bestTimestamp).map(track.timeBase.seconds)
                    ?? (blocks.first?.time ?? Rational(0)) + sampled
                try spill.append(frame)
                blocks.append(AudioTimeline.Block(time: time, count: frame.sampleCount))
            }
        }

        private func start(_ frame: borrowing Frame) throws(ReelFailure) -> SampleSpill {
            format = AVSampleFormat(frame.native.pointee.format)
            return try SampleSpill(
                folder: scratch, format: format, channels: Int(frame.native.pointee.ch_layout.nb_channels))
        }
    }
}

/// Some containers put several frames of speech into a packet, of which libavcodec decodes the first only.
private final class PacketSplitter {
    private let parser: UnsafeMutablePointer<AVCodecParserContext>?
    private let context: UnsafeMutablePointer<AVCodecContext>?

    init(codec: AVCodecID) {
        let needed = codec == AV_CODEC_ID_AMR_NB || codec == AV_CODEC_ID_AMR_WB
        parser = needed ? av_parser_init(Int32(codec.rawValue)) : nil
        context = needed ? avcodec_alloc_context3(avcodec_find_decoder(codec)) : nil
        // The parser looks for the end of each frame even where the packet seems to be one.
        parser?.pointee.flags &= ~PARSER_FLAG_COMPLETE_FRAMES
    }

    deinit {
        av_parser_close(parser)
        var context = context
        avcodec_free_context(&context)
    }

    /// Calls `body` with each frame in the packet; only the first carries the packet's time.
    func forEachFrame(
        of packet: borrowing Packet, _ body: (borrowing Packet) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        guard let parser, let context else { return try body(packet) }
        var (rest, left) = (packet.native.pointee.data, packet.native.pointee.size)
        var pts = packet.pts
        while left > 0 {
            var (data, size): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
            let used = av_parser_parse2(parser, context, &data, &size, rest, left, reel_nopts, reel_nopts, 0)
            guard used >= 0 else { return }
            rest = rest?.advanced(by: Int(used))
            left -= used
            guard size > 0, let data else { continue }
            let part = try Packet()
            try check(av_new_packet(part.native, size), "splitting a packet")
            part.native.pointee.data.update(from: data, count: Int(size))
            part.pts = pts
            pts = nil
            try body(part)
        }
    }
}
