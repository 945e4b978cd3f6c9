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
                let samePlan =
                    frame.native.pointee.format == format.rawValue
                    && Int(frame.native.pointee.ch_layout.nb_channels) == spill.channels
                    && Int(frame.native.pointee.sample_rate) == track.sampleRate
                guard samePlan else {
                    throw ReelFailure(.input, "\(path): audio stream \(track.index) changes its format midway")
                }
                let sampled = Rational(spill.count, Int64(track.sampleRate))
                let time =
                    (frame.pts ?? frame.bestTimestamp).map(track.timeBase.seconds)
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

/// 3GP puts several frames of AMR into a packet, of which libavcodec decodes the first only.
private struct PacketSplitter {
    /// Bytes of a frame, its header included, by its frame type (RFC 4867 4.3.1 and 5.3); nil for other codecs.
    private let frameBytes: [Int]?

    init(codec: AVCodecID) {
        switch codec {
        case AV_CODEC_ID_AMR_NB: frameBytes = [13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1]
        case AV_CODEC_ID_AMR_WB: frameBytes = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1]
        default: frameBytes = nil
        }
    }

    /// Calls `body` with each frame in the packet; only the first carries the packet's time.
    func forEachFrame(
        of packet: borrowing Packet, _ body: (borrowing Packet) throws(ReelFailure) -> Void
    ) throws(ReelFailure) {
        guard let frameBytes, let data = packet.native.pointee.data else { return try body(packet) }
        var place = 0
        while place < packet.size {
            let size = min(frameBytes[Int(data[place] >> 3) & 15], packet.size - place)
            let part = try Packet()
            try check(av_new_packet(part.native, Int32(size)), "splitting a packet")
            part.native.pointee.data.update(from: data + place, count: size)
            part.pts = place == 0 ? packet.pts : nil
            try body(part)
            place += size
        }
    }
}
