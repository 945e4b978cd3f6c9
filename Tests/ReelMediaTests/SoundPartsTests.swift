import Foundation
import ReelCore
import ReelMedia
import ReelTestSupport
import Testing

/// Sound that several passes make, beside the same made by one.
@Suite("Sound in parts, as files")
struct SoundPartsTests {
    private let folder = ScratchFolder()

    /// A small video of 65 seconds, with voices that rise, noise, and a beat.
    private func source(_ name: String, audio: [String], rate: Int = 48_000, seconds: Double = 65) throws -> String {
        let path = folder.path + "/" + name
        try Fixture.write(
            path,
            by: [
                "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=r=5:s=64x48,trim=end_frame=330", "-f",
                "lavfi", "-i",
                "aevalsrc=0.4*sin(220*t*(1+0.02*t))*(0.6+0.4*sin(9*t))+0.05*random(0)"
                    + "+0.3*sin(900*t)*exp(-20*mod(t\\,0.5))|0.5*sin(150*t*(1+0.05*t))+0.05*random(1)"
                    + ":s=\(rate):d=\(seconds)",
                "-map", "0:v", "-map", "1:a", "-c:v", name.hasSuffix("webm") ? "libvpx" : "libx264", "-g", "25",
            ] + audio)
        return path
    }

    private func made(_ source: String, _ spec: JobSpec, parts: Int?) throws -> MediaJob {
        let folder = folder.path + "/made-\(parts ?? 0)-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try MediaJob(source, spec: spec, folder: folder, slots: 1, soundParts: parts)
    }

    /// Times, durations and hashes of the packets of the sound.
    private func packets(_ path: String) throws -> [Substring] {
        try ffmpeg("-i", path, "-map", "0:a", "-c", "copy", "-f", "framehash", "-hash", "murmur3", "-")
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    /// The samples of the first channel, as ffmpeg decodes them.
    private func samples(_ path: String) throws -> [Float] {
        let raw = folder.path + "/samples-\(UUID().uuidString)"
        try ffmpeg("-i", path, "-map", "0:a", "-af", "pan=mono|c0=c0", "-c:a", "pcm_f32le", "-f", "f32le", raw)
        return try contents(of: raw).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    static let exact: [(String, [String], String, Container)] = [
        ("pcm.mov", ["-c:a", "pcm_s16le"], "flac", .mkv), ("flac.mkv", ["-c:a", "flac"], "flac", .mkv),
        ("alac.mov", ["-c:a", "alac"], "alac", .mov), ("pcm.avi", ["-c:a", "pcm_s16le"], "pcm_s16le", .mkv),
        ("pcm.mkv", ["-c:a", "pcm_s24le"], "flac", .mp4),
        ("flac.mp4", ["-c:a", "flac", "-strict", "-2"], "alac", .mp4),
    ]

    @Test(
        "parts of lossless codecs are the same packets as one encode gives",
        arguments: Thoroughness.third(of: exact.map(\.0)))
    func lossless(name: String) throws {
        let (_, audio, codec, container) = try #require(Self.exact.first { $0.0 == name })
        let source = try source(name, audio: audio, rate: name == "flac.mkv" ? 44_100 : 48_000)
        let spec = JobSpec(container: container, audioCodec: codec)
        let (whole, parts) = (try made(source, spec, parts: nil), try made(source, spec, parts: 23))
        #expect(whole.records.filter { $0.content.part.isSound }.count == 1)
        #expect(parts.records.filter { $0.content.part.isSound }.count == 23)
        #expect(try packets(parts.output) == packets(whole.output))
        #expect(try contents(of: parts.output) == contents(of: whole.output))
        #expect(parts.warnings == whole.warnings)
        #expect(try samples(parts.output) == samples(source).reversed())
    }

    /// Opus takes nearly twice its rate for bursts of noise, and less than it for noise that goes on.
    @Test(
        "in a file of limited size, sound has the bytes that its rate says, whole or in parts",
        arguments: [(nil, 1.6, true), (nil, 1.6, false), (5, 65, true)] as [(Int?, Double, Bool)])
    func limited(parts: Int?, seconds: Double, comesInBursts: Bool) throws {
        let source = folder.path + "/noise.mov"
        let noise = [0.4, 0.3].map { pause in
            "0.5*random(0)" + (comesInBursts ? "*lt(mod(t\\,\(pause))\\,0.1)" : "")
        }.joined(separator: "|")
        try Fixture.write(
            source,
            by: [
                "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "color=s=64x48:r=5:d=\(seconds)", "-f", "lavfi",
                "-i",
                "aevalsrc=\(noise):s=48000:d=\(seconds)", "-c:v", "libx264", "-g", "25", "-c:a", "pcm_s16le",
            ])
        func made(_ mostBytes: Int64?) throws -> (target: AudioTarget, bytes: Int) {
            let spec = JobSpec(
                container: .mkv, mostBytes: mostBytes, audioCodec: "libopus", audioBitrate: 96_000)
            let job = try self.made(source, spec, parts: parts)
            #expect(job.assembled.bytes <= mostBytes ?? .max)
            let sizes = try packets(job.output).compactMap { line in
                Int(line.split(separator: ",")[4].trimmingCharacters(in: .whitespaces))
            }
            return (try #require(job.plan.audio.first), sizes.reduce(0, +))
        }
        let (free, limited) = (try made(nil), try made(Int64(14_000 * seconds) + 20_000))
        let most = try #require(limited.target.mostBytes)
        #expect(free.target.mostBytes == nil && limited.target.bitrate == free.target.bitrate)
        #expect((12_000..<12_500).contains(Double(most) / seconds))
        #expect(comesInBursts ? Double(free.bytes) > 1.5 * Double(most) : Double(free.bytes) < 0.85 * Double(most))
        #expect(limited.bytes <= Int(most) && Double(limited.bytes) > 0.9 * Double(most), "\(limited.bytes) of \(most)")
    }

    @Test("in a file of limited size, Vorbis keeps the rate that its header depends on")
    func limitedVorbis() throws {
        let source = try source("pcm.mov", audio: ["-c:a", "pcm_s16le"], seconds: 3)
        let spec = JobSpec(
            container: .webm, videoCodec: "libvpx", mostBytes: 80_000, audioCodec: "libvorbis",
            to: .seconds(Rational(3)))
        let job = try made(source, spec, parts: nil)
        #expect(job.plan.audio.map(\.encoder) == ["libvorbis"] && job.plan.audio.first?.mostBytes == nil)
        #expect(job.assembled.bytes <= 80_000)
    }

    @Test(
        "where lossy parts join, the error against the source is that of one encode",
        arguments: ["aac", "libopus"], Thoroughness.isAll ? [44_100, 48_000] : [48_000])
    func joins(codec: String, rate: Int) throws {
        let source = try source("pcm.mov", audio: ["-c:a", "pcm_s16le"], rate: rate)
        let spec = JobSpec(container: .mp4, audioCodec: codec)
        let joins = Thoroughness.isAll ? 100 : 20
        let (whole, parts) = (try made(source, spec, parts: nil), try made(source, spec, parts: joins + 1))
        let (one, joined) = (try samples(whole.output), try samples(parts.output))
        #expect(one.count == joined.count)
        #expect(try packets(whole.output).count == packets(parts.output).count)
        let target = parts.plan.audio[0].sampleRate
        let resampled = folder.path + "/resampled.wav"
        try ffmpeg("-i", source, "-map", "0:a", "-af", "areverse", "-ar", "\(target)", "-c:a", "pcm_f32le", resampled)
        let exact = try samples(resampled)
        // ffmpeg plays the padding of the last packets in MP4.
        #expect((-2..<2048).contains(one.count - exact.count))
        // ffmpeg plays some of the priming in MP4, too.
        let lag = (-2048...2048).min { error(one, exact, lag: $0) < error(one, exact, lag: $1) } ?? 0
        // The energy of the error in windows of 10 ms.
        let window = target / 100
        func errors(_ made: [Float]) -> [Float] {
            stride(from: 6 * window, to: min(made.count, exact.count) - 6 * window, by: window).map { start in
                (start..<start + window).reduce(Float(1e-9)) {
                    let difference = made[$1 + lag] - exact[$1]
                    return $0 + difference * difference
                }
            }
        }
        let ratios = zip(errors(joined), errors(one)).map { ($0 / $1).squareRoot() }
        let bounds = parts.records.compactMap(\.content.part.sound).dropFirst().map(\.lowerBound)
        #expect(bounds.count == joins)
        let atJoins = bounds.flatMap { join in (join / window - 7...join / window - 5).map { ratios[$0] } }.sorted()
        let (middle, worst) = (atJoins[atJoins.count / 2], atJoins[atJoins.count - 1])
        // Otherwise both would lie beside the source, and the ratios would say nothing.
        let (signal, lost) = (exact.reduce(Float(0)) { $0 + $1 * $1 }, errors(one).reduce(0, +))
        #expect(lost < signal / 16, "\(lost / signal)")
        #expect(middle < 1.1, "\(codec) at \(rate): \(middle)")
        #expect(worst < 6, "\(codec) at \(rate): \(worst)")
    }

    /// The energy of the difference in a run of samples, if one sound lies `lag` samples later.
    private func error(_ made: [Float], _ exact: [Float], lag: Int) -> Float {
        (200_000..<201_000).reduce(0) { $0 + (made[$1 + lag] - exact[$1]) * (made[$1 + lag] - exact[$1]) }
    }

    @Test(
        "parts of a track in any container are decoded from its middle on, and lie where one pass puts them",
        arguments: Thoroughness.third(of: [
            ("aac.mp4", ["-c:a", "aac"]), ("aac.mkv", ["-c:a", "aac"]), ("aac.ts", ["-c:a", "aac"]),
            ("opus.webm", ["-c:a", "libopus"]), ("opus.mkv", ["-c:a", "libopus"]), ("mp3.mp4", ["-c:a", "libmp3lame"]),
            ("ac3.ts", ["-c:a", "ac3"]), ("eac3.mp4", ["-c:a", "eac3"]),
            ("mp2.mkv", ["-c:a", "mp2"]),
        ]))
    func containers(name: String, audio: [String]) throws {
        let source = try source(name, audio: audio)
        let spec = JobSpec(container: .mkv, audioCodec: "libopus")
        let (whole, parts) = (try made(source, spec, parts: nil), try made(source, spec, parts: 13))
        #expect(parts.records.filter { $0.content.part.isSound }.count == 13)
        let (one, joined) = (try samples(whole.output), try samples(parts.output))
        #expect(one.count == joined.count)
        let difference = zip(one, joined).reduce(0) { max($0, abs($1.0 - $1.1)) }
        // The decoders of AC-3 fill up what the encoder left out with noise, which is another in each part.
        let noise: Float = name.contains("ac3") ? 3 : 1
        #expect(difference < 0.1 * noise, "\(difference)")
        let energy = zip(one, joined).reduce(Float(0)) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        #expect((energy / Float(one.count)).squareRoot() < 0.003 * noise)
        #expect(parts.warnings == whole.warnings)
    }

    @Test("the sound of an edit is in parts, with its crossfades and turns")
    func edit() throws {
        let source = try source("pcm.mov", audio: ["-c:a", "pcm_s16le"])
        let clips = [
            EditClip(from: .seconds(Rational(1)), to: .seconds(Rational(30)), play: .pingPong),
            EditClip(from: .seconds(Rational(40)), play: .reverse), EditClip.gap(Rational(2)),
            EditClip(from: .seconds(Rational(3)), to: .seconds(Rational(9)), play: .forward, times: 2),
        ]
        let edit = Edit(clips: clips, crossfade: Rational(1, 3))
        let spec = JobSpec(container: .mkv, audioCodec: "flac", edit: edit)
        let (whole, parts) = (try made(source, spec, parts: nil), try made(source, spec, parts: 31))
        #expect(try packets(parts.output) == packets(whole.output))
        #expect(try contents(of: parts.output) == contents(of: whole.output))
        var faster = spec
        faster.edit?.clips[0].speed = Rational(2)
        #expect(JoinableSound(parts.plan.audio[0], of: try made(source, faster, parts: nil).plan, parts.indexes) == nil)
    }

    @Test("packets that do not decode are silent in their part, and everything else stays in its place")
    func damage() throws {
        let whole = try source("aac.mp4", audio: ["-c:a", "aac"])
        let source = try Fixture.silenced(whole, packets: 1000..<1010, as: "damaged.mp4")
        let spec = JobSpec(container: .mkv, audioCodec: "libopus")
        let (clean, parts) = (try made(whole, spec, parts: 9), try made(source, spec, parts: 9))
        #expect(parts.warnings.contains { $0.contains("packets") }, "\(parts.warnings)")
        let (sound, other) = (try samples(parts.output), try samples(clean.output))
        #expect(sound.count == other.count)
        let place = sound.count - 1005 * 1024
        let silent = sound[place - 2000..<place + 2000].reduce(0) { max($0, abs($1)) }
        #expect(silent < 0.02, "\(silent)")
        for far in [100_000, place - 40_000, place + 40_000, sound.count - 100_000] {
            let difference = (far..<far + 9600).reduce(Float(0)) { max($0, abs(sound[$1] - other[$1])) }
            #expect(difference < 0.05, "\(far): \(difference)")
        }
    }

    @Test("sound with a hole is made by one pass; sound that begins late by several")
    func timing() throws {
        let plain = try source("plain.mkv", audio: ["-c:a", "flac"])
        let late = folder.path + "/late.mkv"
        try ffmpeg(
            "-i", plain, "-itsoffset", "3.5", "-i", plain, "-map", "0:v", "-map", "1:a", "-c", "copy", "-t", "66", late)
        let spec = JobSpec(container: .mkv, audioCodec: "flac")
        let (whole, parts) = (try made(late, spec, parts: nil), try made(late, spec, parts: 7))
        #expect(try contents(of: parts.output) == contents(of: whole.output))
        let holed = folder.path + "/holed.mkv"
        try ffmpeg(
            "-i", plain, "-map", "0", "-c", "copy", "-bsf:a", "setts=pts='PTS+gt(PTS,30000)*500':dts=PTS", holed)
        let job = try made(holed, spec, parts: nil)
        #expect(job.index.audio[0].steady == nil)
        #expect(job.warnings.contains { $0.contains("hole") }, "\(job.warnings)")
    }

    @Test("short tracks are made by one pass, long ones by as many as slots and length ask for")
    func planned() throws {
        let source = try source("aac.mp4", audio: ["-c:a", "aac"])
        let job = try MediaJob(source, spec: JobSpec(container: .mp4), folder: folder.path, slots: 8)
        #expect(job.records.filter { $0.content.part.isSound }.count == 6)
        // The video lasts a second longer than the sound.
        #expect(abs(try Sound(job.output).start - 1) < 0.03)
        let short = try self.source("short.mp4", audio: ["-c:a", "aac"], seconds: 20)
        let other = ScratchFolder()
        let one = try MediaJob(short, spec: JobSpec(container: .mp4), folder: other.path, slots: 8)
        #expect(one.index.audio[0].steady == nil && one.records.filter { $0.content.part.isSound }.count == 1)
    }
}

extension SegmentPart {
    fileprivate var isSound: Bool { if case .audio = self { true } else { false } }
    /// The samples of a part of a track.
    fileprivate var sound: Range<Int>? { if case .audio(_, let samples) = self { samples } else { nil } }
}
