import ReelCore
import ReelStore
import Testing

@Suite("Job ids")
struct JobIDTests {
    private func id(_ change: (inout JobSpec) -> Void = { _ in }) throws -> String {
        var changed = spec
        change(&changed)
        return try JobID.make(fingerprint: fingerprint, spec: changed, encoder: encoder, audioEncoders: ["aac"]).text
    }

    @Test("The same job has the same id on every machine and in every release of this plan version")
    func golden() throws {
        let found = try id()
        #expect(found == "3f555b015bcf3788")
    }

    @Test("Every option that changes the output makes another job")
    func options() throws {
        let changes: [(inout JobSpec) -> Void] = [
            { $0.container = .mkv }, { $0.videoCodec = "libx265" }, { $0.videoCodec = nil }, { $0.crf = 19 },
            { $0.crf = nil }, { $0.preset = "slow" }, { $0.bitrate = .constant(1_000_000) },
            { $0.bitrate = .source }, { $0.lossless = true },
            { $0.audio = .none }, { $0.audioCodec = "libopus" }, { $0.from = nil }, { $0.to = Rational(61) },
            { $0.timestamps = .source }, { $0.passFrames = 100 }, { $0.threads = 2 },
            { $0.onDamage = .fail },
        ]
        // With `memory` and `verify`, all there are.
        #expect(Set(Mirror(reflecting: spec).children.map(\.label)).count == 16)
        let ids = try [id()] + changes.map { try id($0) }
        #expect(Set(ids).count == ids.count)
    }

    @Test("Memory and verification make no other job")
    func shapes() throws {
        #expect(try id { $0.memory = 1 << 30 } == id())
        #expect(try id { $0.verify = .decode } == id())
    }

    @Test("Another source, plan version or encoder makes another job")
    func rest() throws {
        var (larger, later, otherIndex, otherEncoder) = (fingerprint, fingerprint, fingerprint, encoder)
        larger.size += 1
        later.mtimeNanoseconds += 1
        otherIndex.indexHash = nil
        otherEncoder.extradataHash = ""
        let ids = try [
            id(),
            JobID.make(fingerprint: larger, spec: spec, encoder: encoder, audioEncoders: ["aac"]).text,
            JobID.make(fingerprint: later, spec: spec, encoder: encoder, audioEncoders: ["aac"]).text,
            JobID.make(fingerprint: otherIndex, spec: spec, encoder: encoder, audioEncoders: ["aac"]).text,
            JobID.make(fingerprint: fingerprint, spec: spec, encoder: otherEncoder, audioEncoders: ["aac"]).text,
            JobID.make(fingerprint: fingerprint, spec: spec, encoder: encoder, audioEncoders: []).text,
            JobID.make(
                fingerprint: fingerprint, spec: spec, planVersion: Plan.version + 1, encoder: encoder,
                audioEncoders: ["aac"]
            ).text,
        ]
        #expect(Set(ids).count == ids.count)
    }
}
