import ReelCore
import ReelStore
import ReelTestSupport
import Testing

@Suite("Job ids")
struct JobIDTests {
    private func id(_ change: (inout JobSpec) -> Void = { _ in }) throws -> String {
        var changed = spec
        change(&changed)
        return try JobID.make(sources: [fingerprint], spec: changed).text
    }

    @Test("The same job has the same id on every machine and in every release of this rule")
    func golden() throws {
        try Golden.expect(Array(id().utf8), is: "job-id.v2.txt")
    }

    @Test("Every option that changes the output makes another job")
    func options() throws {
        let changes: [(inout JobSpec) -> Void] = [
            { $0.container = .mkv }, { $0.videoCodec = "libx265" }, { $0.videoCodec = nil }, { $0.crf = 19 },
            { $0.crf = nil }, { $0.preset = "slow" }, { $0.bitrate = .constant(1_000_000) },
            { $0.bitrate = .source }, { $0.lossless = true },
            { $0.audio = .none }, { $0.audioCodec = "libopus" }, { $0.from = nil }, { $0.to = .seconds(Rational(61)) },
            { $0.to = .frames(61) }, { $0.duration = .frames(61) }, { $0.profile = "high" },
            { $0.audioBitrate = 128_000 }, { $0.tracks = TrackSelection(audio: [0], subtitles: nil) },
            { $0.timestamps = .source }, { $0.passFrames = 100 }, { $0.threads = 2 },
            { $0.onDamage = .fail }, { $0.size = PictureSize(width: 640, height: 360) },
            { $0.pixelFormat = "yuv420p" }, { $0.sampleRate = 44_100 }, { $0.channelLayout = "mono" },
            { $0.loop = LoopOptions(plays: 2) }, { $0.mostFrames = Rational(10) },
            { $0.loop = LoopOptions(dither: .bayer) }, { $0.loop = LoopOptions(colours: 16) },
        ]
        let clip = EditClip(to: .seconds(Rational(61)), play: .pingPong)
        let edits = [
            Edit(clips: [clip]), Edit(clips: [clip], turn: .twice), Edit(clips: [clip, clip]),
            Edit(clips: [clip], crossfade: Rational(0)),
            Edit(clips: [EditClip(to: .seconds(Rational(61)), play: .forward)]),
            Edit(clips: [EditClip(to: .seconds(Rational(61)), play: .pingPong, times: 2)]),
            Edit(clips: [EditClip(play: .pingPong)]),
        ]
        // With `memory` and `verify`, all there are.
        #expect(Set(Mirror(reflecting: spec).children.map(\.label)).count == 27)
        let ids = try [id()] + changes.map { try id($0) } + edits.map { edit in try id { $0.edit = edit } }
        #expect(Set(ids).count == ids.count)
    }

    @Test("Memory and verification make no other job")
    func shapes() throws {
        #expect(try id { $0.memory = 1 << 30 } == id())
        #expect(try id { $0.verify = .decode } == id())
    }

    @Test("Another source, or another number of them, makes another job")
    func rest() throws {
        var (larger, later, other) = (fingerprint, fingerprint, fingerprint)
        larger.size += 1
        later.mtimeNanoseconds += 1
        other.edges = String(repeating: "ac", count: 32)
        let ids =
            try [[fingerprint], [larger], [later], [other], [fingerprint, fingerprint]]
            .map { try JobID.make(sources: $0, spec: spec).text }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{16}/) != nil })
    }
}
