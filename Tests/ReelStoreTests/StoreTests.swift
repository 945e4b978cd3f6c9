import Foundation
import ReelCore
import ReelStore
import Testing

@Suite("The store")
struct StoreTests {
    @Test("A store makes its folders, and lists the jobs that it has a record of")
    func jobs() throws {
        try withFolder { folder in
            let store = try Store(root: folder + "/deep/store")
            #expect(try store.jobs().isEmpty)
            for id in ["b1", "a2"].map({ JobID($0) }) {
                try store.job(id).create()
                try store.job(id).write(record(id))
            }
            try store.job(JobID("c3")).create()
            #expect(try store.jobs() == [JobID("a2"), JobID("b1")])
            #expect(try names(folder + "/deep/store/jobs/a2") == ["attempts", "job.json", "segments"])
        }
    }

    @Test("A store that cannot be made is out of this host's reach")
    func unreachable() throws {
        try withFolder { folder in
            try write("", folder + "/file")
            let failure = #expect(throws: ReelFailure.self) { try Store(root: folder + "/file/store") }
            #expect(failure?.exitCode == 4)
            #expect(failure?.cause == .incompatible)
            #expect(failure?.message == "cannot make the store \(folder)/file/store: Not a directory")
        }
    }

    @Test("No id leads out of the store", arguments: ["", "..", "../..", "/etc", "a/b", "é"])
    func hostileIDs(_ text: String) throws {
        try withFolder { folder in
            let path = try Store(root: folder).job(JobID(text)).path
            #expect(path.hasPrefix(folder + "/jobs/"))
            let name = path.dropFirst((folder + "/jobs/").count)
            #expect(!name.isEmpty && !name.contains("/") && !name.contains("."))
        }
    }

    @Test("A record, a plan and their hashes survive being written")
    func records() throws {
        try withFolder { folder in
            let job = try Store(root: folder).job(JobID("a1"))
            try job.create()
            var record = record(job.id)
            try job.write(record)
            #expect(try job.read() == record)
            record.state = .failed
            record.failure = ReelFailure(.job, "pass 3 crashed", cause: .crash)
            record.paused = true
            try job.write(record)
            #expect(try job.read() == record)

            try job.write(plan())
            #expect(try job.readPlan() == plan())
            #expect(try job.planHash() == Fingerprint.sha256Hex(of: job.path + "/plan.json"))
            try write("index", job.index)
            #expect(try job.indexHash() == Fingerprint.sha256Hex(Array("index".utf8)))
        }
    }

    @Test("A job that this host does not see excludes the host, not the job")
    func missing() throws {
        try withFolder { folder in
            let failure = #expect(throws: ReelFailure.self) { try Store(root: folder).job(JobID("a1")).read() }
            #expect(failure?.cause == .incompatible)
            #expect(failure?.message.contains("no job a1") == true)
        }
    }

    @Test("A plan of another release is refused by its version")
    func versions() throws {
        try withFolder { folder in
            let job = try Store(root: folder).job(JobID("a1"))
            try job.create()
            try write(#"{"version":99,"passes":"what nobody here knows"}"#, job.plan)
            let failure = #expect(throws: ReelFailure.self) { try job.readPlan() }
            #expect(failure?.cause == .incompatible)
            #expect(failure?.message.contains("version 99") == true)
        }
    }

    @Test("An assembled result gets its name, and a removed job leaves nothing")
    func output() throws {
        try withFolder { folder in
            let store = try Store(root: folder + "/store")
            let job = store.job(JobID("a1"))
            try job.create()
            try job.write(record(job.id))
            try write("video", job.assembling(.mkv, token: "t"))
            try job.publishOutput(job.assembling(.mkv, token: "t"), as: .mkv)
            #expect(try text(job.path + "/output.mkv") == "video")
            try job.writeAttempt(pass: 3, token: "t", standardError: "ouch")
            #expect(try text(job.attempts + "/3.t.log") == "ouch")

            try job.removeParts()
            #expect(try names(job.path) == ["attempts", "job.json", "output.mkv"])
            try job.remove()
            try job.remove()
            #expect(try names(folder + "/store/jobs").isEmpty)
            store.removeIfEmpty()
            #expect(try names(folder).isEmpty)
        }
    }

    @Test("What killed processes left half-written goes with the segments")
    func parts() throws {
        try withFolder { folder in
            let job = try Store(root: folder + "/store").job(JobID("a1"))
            try job.create()
            try job.write(record(job.id))
            for part in [
                job.segments + "/0.0.t.nut.part", job.assembling(.mkv, token: "t"), job.segmentList(token: "t"),
                job.path + "/.reel-0123456789abcdef",
            ] {
                try write("half", part)
            }
            try job.removeParts()
            #expect(try names(job.path) == ["attempts", "job.json"])
        }
    }

    @Test("A store with something in it is not removed")
    func notEmpty() throws {
        try withFolder { folder in
            let store = try Store(root: folder + "/store")
            try store.job(JobID("a1")).create()
            store.removeIfEmpty()
            #expect(try names(folder + "/store/jobs") == ["a1"])
        }
    }

    @Test("A temporary folder goes with its holder; what a killed process left goes with the next one")
    func temporary() throws {
        try withFolder { folder in
            let store = try Store(root: folder)
            try FileManager.default.createDirectory(atPath: folder + "/tmp.dead", withIntermediateDirectories: false)
            try write("4711 here", folder + "/tmp.dead/lock")
            let first = try store.temporaryFolder()
            try write("index", first.path + "/index")
            do {
                let second = try store.temporaryFolder()
                #expect(try names(folder).count == 3, "two folders and jobs")
                #expect(second.path != first.path)
            }
            #expect(try names(folder) == ["jobs", String(first.path.dropFirst(folder.count + 1))])
            #expect(try text(first.path + "/index") == "index")
        }
    }

    private func plan() -> Plan {
        Plan(
            container: .mkv,
            timeline: Timeline(
                timeBase: TimeBase(1, 25), mode: .mirror, frames: 0..<1, end: Timestamp(1)),
            video: VideoTarget(
                encoder: "libx264", pixelFormat: "yuv420p", width: 2, height: 2, frameRate: Rational(25), options: [],
                bitrate: nil, threads: 1, keyFrameInterval: 250, identity: encoder), audio: [],
            passes: [.video(VideoPass(randomAccessPoint: 0, frames: 0..<1, runCount: 1))], need: 1, verify: .packets,
            onDamage: .repeat,
            warnings: [])
    }
}
