import Dispatch
import Foundation
import ReelCore
import ReelStore
import ReelWords
import Synchronization
import Testing

@Suite("The store in a folder")
struct StoreTests {
    @Test("A store makes its folders, and lists the jobs that it has a record of")
    func jobs() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder + "/store")
            #expect(try store.jobs().isEmpty)
            for id in ["b1", "a2"].map({ JobID($0) }) {
                try store.job(id).create()
                try store.job(id).write(record(id))
            }
            try store.job(JobID("c3")).create()
            #expect(try store.jobs() == [JobID("a2"), JobID("b1")])
            let path = folder + "/store/jobs/c3/job.json"
            let missing = #expect(throws: ReelFailure.self) { try store.job(JobID("c3")).read() }
            #expect(missing?.reason == .jobUnknownHere(job: JobID("c3"), path: path))
            #expect(try names(folder + "/store/jobs/a2") == ["assemblies", "attempts", "job.json", "segments"])
        }
    }

    @Test("Threads that record jobs at the same time each find their record there, and no job has two")
    func atOnce() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder + "/store")
            let created = Mutex<[String: Int]>([:])
            let failures = Mutex<[String]>([])
            // Each of forty jobs, twice.
            DispatchQueue.concurrentPerform(iterations: 80) { number in
                let job = store.job(JobID("\(number % 40 + 10)"))
                do {
                    let isNew = try job.create(record(job.id))
                    let isThere = try job.read() == record(job.id)
                    created.withLock { $0[job.id.text, default: 0] += isNew && isThere ? 1 : 0 }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock(\.self) == [])
            #expect(created.withLock(\.self).values.allSatisfy { $0 == 1 })
            #expect(try store.jobs().count == 40)
        }
    }

    @Test("What a submitter left that ended before it wrote the record is removed later, unless it is held")
    func unrecorded() throws {
        try withFolder { root in
            let store = try FolderStore.make(root: root)
            let jobs = ["left", "held", "recorded", "planned"].map { store.job(JobID($0)) }
            for job in jobs { try job.create() }
            try jobs[2].write(record(jobs[2].id))
            try write("{}", jobs[3].path + "/plan.1.json")
            let now = Date().timeIntervalSince1970
            store.removeUnrecordedJobs(before: now - 3600)
            #expect(try names(root + "/jobs") == ["held", "left", "planned", "recorded"], "all have just been made")

            do {
                let lock = try jobs[1].lock()
                store.removeUnrecordedJobs(before: now + 3600)
                #expect(try names(root + "/jobs") == ["held", "planned", "recorded"])
                withExtendedLifetime(lock) {}
            }
            store.removeUnrecordedJobs(before: now + 3600)
            #expect(try names(root + "/jobs") == ["planned", "recorded"])

            #expect(try jobs[0].create(record(jobs[0].id)), "the same job can begin after that")
            #expect(try jobs[0].read() == record(jobs[0].id))
        }
    }

    @Test("No folder above a store is made: what is missing may be a file system that is not mounted")
    func deep() throws {
        try withFolder { folder in
            let failure = #expect(throws: ReelFailure.self) { try FolderStore.make(root: folder + "/deep/store") }
            #expect(failure?.words == "cannot write in the store \(folder)/deep/store: No such file or directory")
            #expect(!FileManager.default.fileExists(atPath: folder + "/deep"))
        }
    }

    @Test("A store that cannot be made is out of this host's reach")
    func unreachable() throws {
        try withFolder { folder in
            try write("", folder + "/file")
            let failure = #expect(throws: ReelFailure.self) { try FolderStore.make(root: folder + "/file/store") }
            #expect(failure?.exitCode == 4)
            #expect(failure?.cause == .incompatible)
            #expect(failure?.words == "cannot write in the store \(folder)/file/store: Not a directory")
            let opened = #expect(throws: ReelFailure.self) { try FolderStore(root: folder + "/file/store") }
            #expect(opened?.reason == .storeMissing(path: folder + "/file/store"))
        }
    }

    @Test("No id leads out of the store", arguments: ["", "..", "../..", "/etc", "a/b", "é"])
    func hostileIDs(_ text: String) throws {
        try withFolder { folder in
            let path = try FolderStore.make(root: folder).job(JobID(text)).path
            #expect(path.hasPrefix(folder + "/jobs/"))
            let name = path.dropFirst((folder + "/jobs/").count)
            #expect(!name.isEmpty && !name.contains("/") && !name.contains("."))
        }
    }

    @Test("Plans lie in files with their numbers, and other files are none")
    func plans() throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder).job(JobID("a1"))
            try job.create()
            #expect(try job.writePlan(Samples.plan) == 1)
            let bytes = try AtomicFile.read(job.path + "/plan.1.json")
            #expect(try job.writePlan(Samples.plan) == 2)
            #expect(try AtomicFile.read(job.path + "/plan.1.json") == bytes)
            // A copy made by hand is not a plan, and neither is a half-written file.
            for name in ["plan.json", "plan.03.json", "plan.0.json", "plan.3.json.part", "plan.-4.json"] {
                try write("{}", "\(job.path)/\(name)")
            }
            #expect(try job.planNumbers() == [1, 2])
            try write("{}", job.path + "/plan.11.json")
            #expect(try job.planNumbers() == [1, 2, 11])
            #expect(try job.writePlan(Samples.plan) == 12)
        }
    }

    @Test("A plan or a job of another release is refused by its version")
    func versions() throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder).job(JobID("a1"))
            try job.create()
            try write(#"{"version":99,"passes":"what nobody here knows"}"#, job.plan(3).name)
            let plan = #expect(throws: ReelFailure.self) { try job.latestPlan() }
            #expect(plan?.reason == .planOfOtherVersion(found: 99, known: Plan.version))
            #expect(plan?.cause == .incompatible)
            try write(#"{"version":3,"id":17}"#, job.jobFile)
            let record = #expect(throws: ReelFailure.self) { try job.read() }
            #expect(record?.reason == .jobOfOtherVersion(found: 3, known: JobRecord.version))
            #expect(record?.kind == .unreachable)
        }
    }

    @Test("A file that is not a plan is named")
    func noPlan() throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder).job(JobID("a1"))
            try job.create()
            try write(#"{"version":\#(Plan.version)}"#, job.plan(1).name)
            let failure = #expect(throws: ReelFailure.self) { try job.readPlan(1) }
            guard case .storeFileDamaged(let path, _)? = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(path == job.plan(1).name)
        }
    }

    @Test("An assembled result gets its name, and a removed job leaves nothing")
    func output() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder + "/store")
            let job = store.job(JobID("a1"))
            try job.create()
            try job.write(record(job.id))
            try write("video", job.assembling(.mkv, token: "t").name)
            let hash = Fingerprint.sha256Hex(Array("video".utf8))
            let result = try job.adoptOutput(assembledBy: "t", as: .mkv, bytes: 5, sha256: hash)
            #expect(result == JobResult(name: "output.mkv", bytes: 5, sha256: hash))
            #expect(try text(job.path + "/output.mkv") == "video")
            try job.writeAttempt(pass: 3, token: "t", standardError: "ouch")
            #expect(try text(job.attempts + "/3.t.log") == "ouch")

            try job.removeParts(keepingSegments: false)
            #expect(try names(job.path) == ["attempts", "job.json", "output.mkv"])
            try job.remove()
            try job.remove()
            #expect(try names(folder + "/store/jobs").isEmpty)
            store.removeIfEmpty()
            #expect(try names(folder).isEmpty)
        }
    }

    @Test("Half-written files of killed processes are removed with the segments")
    func parts() throws {
        try withFolder { folder in
            let job = try FolderStore.make(root: folder + "/store").job(JobID("a1"))
            try job.create()
            try job.write(record(job.id))
            for part in [
                job.segments + "/c0v0-2.7e.nut.part", job.assembling(.mkv, token: "7e").name,
                job.assembling(.mov, token: "7e").name + ".part", job.path + "/.reel-0123456789abcdef",
            ] {
                try write("half", part)
            }
            try job.removeParts(keepingSegments: false)
            #expect(try names(job.path) == ["attempts", "job.json"])
        }
    }

    @Test("A store with something in it is not removed")
    func notEmpty() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder + "/store")
            try store.job(JobID("a1")).create()
            store.removeIfEmpty()
            #expect(try names(folder + "/store/jobs") == ["a1"])
        }
    }

    @Test("A temporary folder is removed with its holder, or, if that was killed, by the next one")
    func temporary() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder)
            try FileManager.default.createDirectory(atPath: folder + "/tmp.dead", withIntermediateDirectories: false)
            try write("4711 here", folder + "/tmp.dead/lock")
            let first = try store.temporaryFolder()
            try write("index", first.path + "/index")
            do {
                let second = try store.temporaryFolder()
                #expect(try names(folder).count == 3, "two folders and the marker")
                #expect(second.path != first.path)
            }
            #expect(try names(folder) == ["store.json", String(first.path.dropFirst(folder.count + 1))])
            #expect(try text(first.path + "/index") == "index")
        }
    }

    @Test("What killed processes have left is removed on demand, too, and what is in use stays")
    func abandoned() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder)
            let held = try store.temporaryFolder()
            try FileManager.default.createDirectory(atPath: folder + "/tmp.dead", withIntermediateDirectories: false)
            try write("4711 here", folder + "/tmp.dead/lock")
            store.removeAbandoned()
            #expect(try names(folder) == ["store.json", String(held.path.dropFirst(folder.count + 1))])
        }
    }

    @Test("A temporary folder is removed if its maker was killed before it had locked it, and stays while it is made")
    func temporaryWithoutLock() throws {
        try withFolder { folder in
            let store = try FolderStore.make(root: folder)
            for name in ["tmp.old", "tmp.new"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
            }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: folder + "/tmp.old")
            _ = try store.temporaryFolder()
            #expect(try names(folder) == ["store.json", "tmp.new"])
        }
    }

    @Test("a file that an engine has put in the trial's place makes no disk full")
    func plantedTrial() throws {
        try withFolder { folder throws in
            let scratch = try FolderStore.make(root: folder + "/store").temporaryFolder()
            #expect(scratch.hasRoom())
            #expect(FileManager.default.createFile(atPath: scratch.path + "/room", contents: nil))
            #expect(scratch.hasRoom())
        }
    }

    @Test("folders are removed however deeply an engine has nested them")
    func deepFolders() throws {
        try withFolder { folder throws in
            let job = try FolderStore.make(root: folder + "/store").job(JobID("a1"))
            try job.create()
            var place = open(job.segments, O_RDONLY | O_DIRECTORY)
            for _ in 0..<30_000 {
                try #require(mkdirat(place, "d", 0o777) == 0)
                let inner = openat(place, "d", O_RDONLY | O_DIRECTORY)
                close(place)
                place = inner
            }
            close(place)
            try job.remove()
            #expect(try names(folder + "/store/jobs").isEmpty)
        }
    }

    @Test("folders are removed however many files an engine has put there")
    func manyFiles() throws {
        try withFolder { folder throws in
            let job = try FolderStore.make(root: folder + "/store").job(JobID("a1"))
            try job.create()
            for number in 0..<25_000 { close(open("\(job.segments)/\(number)", O_WRONLY | O_CREAT, 0o666)) }
            try job.remove()
            #expect(try names(folder + "/store/jobs").isEmpty)
        }
    }

    @Test("a full disk has no room", .enabled(if: canMount, "this process may not mount file systems"))
    func noRoom() throws {
        try withFileSystem("size=2m") { folder throws in
            #expect(try !FolderStore.make(root: folder + "/store").hasRoom())
        }
    }
}
