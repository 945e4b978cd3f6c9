import Foundation
import ReelCore
import Testing

/// One audio track as ffmpeg decodes it, placed against the video beside it.
struct Sound {
    /// Channel after channel in each sample frame.
    let samples: [[Float]]
    let rate: Int
    /// When the first video frame is shown, by the file's clock, in seconds.
    let zero: Double
    /// Seconds from the first video frame to the first sample.
    let start: Double
    /// Of each decoded block: seconds from the first video frame, and how many samples were decoded before it.
    let blocks: [(time: Double, sample: Int)]

    init(_ path: String, track: Int = 0, channels: Int = 2) throws {
        samples = try ReelMediaTests.samples(of: path, track: track, channels: channels)
        let video = try probe(path, "packet=pts_time", streams: "v:0").split(whereSeparator: \.isNewline).compactMap {
            line in line.split(separator: ",").first.flatMap { Double($0) }
        }
        let zero = video.min() ?? 0
        self.zero = zero
        var decoded = 0
        blocks = try probe(path, "frame=pts_time,nb_samples", streams: "a:\(track)").split(whereSeparator: \.isNewline)
            .compactMap {
                let fields = $0.split(separator: ",")
                guard fields.count >= 2, let count = Int(fields[1]) else { return nil }
                defer { decoded += count }
                return Double(fields[0]).map { ($0 - zero, decoded) }
            }
        start = blocks.first?.time ?? .nan
        let text = try probe(path, "stream=sample_rate", streams: "a:\(track)")
        rate = Int(text.prefix { $0.isNumber }) ?? 0
    }

    /// When the last sample has been heard, in seconds, by the last block's time.
    var end: Double {
        guard let last = blocks.last else { return .nan }
        return last.time + Double(samples.count - last.sample) / Double(rate)
    }

    /// The samples at a moment, given in seconds; nil in a hole and outside the sound.
    func sample(at time: Double) -> [Float]? {
        guard let block = blocks.last(where: { $0.time <= time + 0.5 / Double(rate) }) else { return nil }
        let place = block.sample + Int(((time - block.time) * Double(rate)).rounded())
        let next = blocks.first { $0.sample > block.sample }?.sample ?? samples.count
        return place < next ? samples[place] : nil
    }

    /// The loudest sample between two moments, holes counted as silence.
    func peak(from: Double, to: Double) -> Float {
        stride(from: from, to: to, by: 1 / Double(rate)).reduce(0) { peak, time in
            max(peak, sample(at: time)?.map(abs).max() ?? 0)
        }
    }

    /// When a sample is heard, in seconds.
    func time(of sample: Int) -> Double {
        guard let block = blocks.last(where: { $0.sample <= sample }) else { return .nan }
        return block.time + Double(sample - block.sample) / Double(rate)
    }

    /// The greatest difference of any sample from that of another sound `lag` samples later, if both have one.
    func difference(from other: [[Float]], lag: Int = 0, skipping edge: Int = 0) -> Float {
        let range = max(edge, -lag)..<max(min(samples.count, other.count - lag) - edge, max(edge, -lag))
        return range.reduce(0) { worst, place in
            zip(samples[place], other[place + lag]).reduce(worst) { max($0, abs($1.0 - $1.1)) }
        }
    }

    /// The time in seconds at which this sound has the samples that another one has at `moment`, in seconds, and in the
    /// thirtieth of a second after it; nil if it is not within 50 ms of `expected`.
    func finds(_ other: Sound, at moment: Double, near expected: Double, within limit: Float = 0.001) -> Double? {
        guard let first = other.samples.indices.first(where: { other.time(of: $0) >= moment }) else { return nil }
        let wanted = Array(other.samples[first..<min(first + rate / 30, other.samples.count)])
        let near = samples.indices.first { time(of: $0) >= expected - 0.05 } ?? 0
        var best: (place: Int, difference: Float) = (0, .infinity)
        for place in near..<max(near, min(near + rate / 10, samples.count - wanted.count)) {
            var difference: Float = 0
            for step in stride(from: 0, to: wanted.count, by: 3) where difference < best.difference {
                difference = max(difference, abs(samples[place + step][0] - wanted[step][0]))
            }
            if difference < best.difference { best = (place, difference) }
        }
        return best.difference <= limit ? time(of: best.place) + moment - other.time(of: first) : nil
    }
}

extension Fixture {
    /// A WAVE file of a codec with blocks of one size (tags: RFC 2361), mono.
    static func wave(tag: UInt16, block: UInt16, rate: UInt32, _ blocks: Data) -> Data {
        func bytes(_ value: some FixedWidthInteger) -> Data { withUnsafeBytes(of: value.littleEndian) { Data($0) } }
        var format = bytes(tag) + bytes(UInt16(1)) + bytes(rate)
        format += bytes(UInt32(1000)) + bytes(block) + bytes(UInt32(0))
        let chunks =
            Data("WAVEfmt ".utf8) + bytes(UInt32(format.count)) + format + Data("data".utf8)
            + bytes(UInt32(blocks.count)) + blocks
        return Data("RIFF".utf8) + bytes(UInt32(chunks.count)) + chunks
    }

    /// A video of this many frames at 25 a second beside a sound of its own: each channel another tone, rising for as
    /// long as it lasts. `shift` moves the sound by seconds, `options` are ffmpeg's for output.
    static func sounding(
        _ name: String, in folder: ScratchFolder, frames: Int = 50, layout: String = "stereo", rate: Int = 48000,
        from shift: Double = 0, seconds: Double = 2, audio: [String], options: [String] = []
    ) throws -> String {
        let channels = ["mono": 1, "stereo": 2, "5.1": 6, "5.1(side)": 6, "7.1": 8][layout] ?? 2
        let tones = (0..<channels).map { "0.\(9 - $0)*sin(\(300 + 170 * $0)*t*(1+0.\($0 + 1)*t))" }
        let path = folder.path + "/" + name
        try write(
            path,
            by: [
                "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
                "testsrc2=r=25:s=64x48,trim=end_frame=\(frames)", "-itsoffset", "\(shift)", "-f", "lavfi", "-i",
                "aevalsrc=\(tones.joined(separator: "|")):s=\(rate):c=\(layout):d=\(seconds)", "-map", "0:v", "-map",
                "1:a", "-c:v", "libx264", "-preset", "ultrafast", "-g", "10",
            ] + audio + options)
        return path
    }

    /// The same file with the payload of the audio packets from `first` up to `end` overwritten by zeros.
    static func silenced(_ source: String, packets: Range<Int>, track: Int = 0, as name: String) throws -> String {
        let lines = try probe(source, "packet=pos,size", streams: "a:\(track)").split(whereSeparator: \.isNewline)
        var bytes = try contents(of: source)
        for line in lines[packets.clamped(to: lines.indices)] {
            let fields = line.split(separator: ",").compactMap { Int($0) }
            guard fields.count == 2 else { continue }
            // Matroska's position is that of the block, whose header of 4 bytes comes first.
            let start = fields[1] + (source.hasSuffix(".mkv") ? 4 : 0)
            let end = start + fields[0]
            bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
        }
        let path = URL(fileURLWithPath: source).deletingLastPathComponent().path + "/" + name
        try store(bytes, to: path)
        return path
    }
}
