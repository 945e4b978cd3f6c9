import Foundation
import ReelCore
import ReelStore
import Testing

extension ConformanceTests {
    private var video: [UInt8] { Array("video".utf8) }

    /// Assembles and publishes an output, as the attempt with that token.
    @discardableResult
    private func publish(_ job: any JobEntry, token: String = "7e") async throws -> JobResult {
        try AtomicFile.write(video, to: job.assembling(.mkv, token: token).name)
        let output = try await job.adoptOutput(
            assembledBy: token, as: .mkv, bytes: Int64(video.count), sha256: Fingerprint.sha256Hex(video))
        try await job.change { $0.result = output }
        return output
    }

    private func end(_ job: any JobEntry, as state: JobState = .done) async throws {
        try await job.change { $0.state = state }
    }

    @Test("An output counts once it is published, and is a result once the job is done", arguments: StoreKind.all)
    func result(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            #expect(await job.publishedOutput == nil)
            let recorded = try await publish(job)
            #expect(recorded.bytes == 5 && recorded.sha256 == Fingerprint.sha256Hex(video))
            #expect(try await job.read().result == recorded)
            #expect(await job.publishedOutput?.recorded == recorded)
            #expect(await job.result == nil)
            #expect(await reason { _ = try await job.storedResult() } == .noResult(job: job.id, state: nil))
            try await end(job, as: .failed)
            #expect(await reason { _ = try await job.storedResult() } == .noResult(job: job.id, state: .failed))
            try await end(job)
            let result = try #require(await job.result)
            #expect(result.recorded == recorded && result.job == job.id)
            #expect(try await job.local(result).verify() == recorded)
            #expect(try text(result.locator.name) == "video")
            #expect(try await job.storedResult() == result)
            let opened = try await job.open(result)
            #expect(opened.bytes == 5 && opened.name == result.locator.name)
            #expect(try await opened.read(1..<4) == Array("ide".utf8))
            #expect(try await job.open(result).mark == opened.mark)
        }
    }

    @Test("A result that is replaced while it is read has another mark, or is refused", arguments: StoreKind.all)
    func replaced(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            try await publish(job)
            try await end(job)
            let result = try #require(await job.result)
            let opened = try await job.open(result)
            try removeFile(result.locator.name)
            try write("Video", result.locator.name)
            #expect(try await job.open(result).mark != opened.mark)
            // An open file stays the same; an object is refused.
            do throws(ReelFailure) {
                #expect(try await opened.read(0..<5) == video)
            } catch {
                guard case .storeFileDamaged(result.locator.name, _) = error.reason else {
                    Issue.record("\(error.reason)")
                    return
                }
            }
        }
    }

    @Test("An output of another size than the engine says, or none, is not published", arguments: StoreKind.all)
    func wrongSize(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            let wrong = ReelFailure(.engineMisanswered(task: .assemble)).reason
            try AtomicFile.write(video, to: job.assembling(.mkv, token: "7e").name)
            for (token, container, bytes) in [("7e", Container.mkv, 4), ("7f", .mkv, 5), ("7e", .mp4, 5)] {
                let reason = await reason {
                    _ = try await job.adoptOutput(assembledBy: token, as: container, bytes: Int64(bytes), sha256: "")
                }
                #expect(reason == wrong, "\(token) \(container) \(bytes)")
            }
            #expect(try await job.read() == record(job.id))
            #expect(await job.publishedOutput == nil)
            try await publish(job)
            #expect(await job.publishedOutput != nil)
        }
    }

    @Test("Of two assemblers, the last one's output counts", arguments: StoreKind.all)
    func twoAssemblers(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            let recorded = try await publish(job)
            #expect(try await publish(job, token: "7f") == recorded)
            let output = try #require(await job.publishedOutput)
            #expect(try await job.local(output).verify() == recorded)
        }
    }

    @Test("A result that has changed is none, or is refused when it is verified", arguments: StoreKind.all)
    func changed(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            try await publish(job)
            try await end(job)
            let result = try #require(await job.result)
            try write("Video", result.locator.name)
            guard case .resultDiffers(job.id, _, 5, _, 5, _)? = await reason({ try await job.local(result).verify() })
            else {
                Issue.record("verified")
                return
            }
            try write("vide", result.locator.name)
            #expect(await job.publishedOutput == nil)
            guard case .resultDiffers(job.id, _, 4, _, 5, _)? = await reason({ _ = try await job.storedResult() })
            else {
                Issue.record("another size")
                return
            }
            try removeFile(result.locator.name)
            #expect(await job.publishedOutput == nil)
            #expect(await reason { _ = try await job.storedResult() } == .noResult(job: job.id, state: .done))
        }
    }

    @Test("An output of a job that begins again is made anew", arguments: StoreKind.all)
    func forgotten(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            try await publish(job)
            try await job.change { $0.reopen() }
            #expect(try await job.read().result == nil)
            #expect(await job.publishedOutput == nil)
            let again = try await publish(job, token: "7f")
            #expect(await job.publishedOutput?.recorded == again)
        }
    }

    // MARK: Removing

    /// A segment, a plan, a copy of the source, an assembly that was not finished, and an output.
    private func fill(_ job: any JobEntry, _ files: String) async throws -> (source: JobSource, part: Locator) {
        _ = try await job.engineFolders()
        let path = files + "/film.mkv"
        try write("film", path)
        let source = JobSource(path: path, staged: "film.mkv", fingerprint: try Fingerprint.of(path))
        try await job.stage(path, as: "film.mkv", source.fingerprint)
        _ = try await job.writePlan(Samples.plan)
        let name = SegmentName(subject: SegmentSubject(clip: 0, part: .audio(track: 0)), token: "aa")
        let place = job.place(of: name)
        for locator in [place.data, place.record, job.assembling(.mp4, token: "7f")] { try write("{}", locator.name) }
        try StoreInBucket.settle(job)
        try await publish(job)
        return (source, job.assembling(.mp4, token: "7f"))
    }

    @Test(
        "A finished job keeps its output and, if that is wanted, its segments", arguments: StoreKind.all, [true, false])
    func removeParts(_ kind: StoreKind, keepingSegments: Bool) async throws {
        try await kind.withEntry { _, job, files in
            #expect(try await job.create(record(job.id)))
            let (source, part) = try await fill(job, files)
            try await job.removeParts(keepingSegments: keepingSegments)
            #expect(await job.hasFinishedSegments == keepingSegments)
            #expect(await !job.hasCopy(of: source))
            #expect(!isThere(part))
            #expect(try await job.planNumbers() == [1])
            #expect(try await job.local(#require(await job.publishedOutput)).verify().bytes == 5)
        }
    }

    @Test(
        "A job that is done or was cancelled gives back the copies of its sources, and no other; one that is done its segments",
        arguments: StoreKind.all,
        [nil, .failed, .done, .cancelled] as [JobState?])
    func giveBackParts(_ kind: StoreKind, state: JobState?) async throws {
        try await kind.withEntry { _, job, files in
            try await job.giveBackParts()
            #expect(try await job.create(record(job.id)))
            let (source, _) = try await fill(job, files)
            for keepsSegments in [true, false] {
                try await job.change { record throws(ReelFailure) in
                    (record.sources, record.state, record.terms.keepsSegments) = ([source], state, keepsSegments)
                }
                for _ in 0..<2 { try await job.giveBackParts() }
                #expect(await job.hasCopy(of: source) == (state == nil || state == .failed))
                #expect(await job.hasFinishedSegments == (state != .done || keepsSegments))
            }
            #expect(await job.publishedOutput != nil)
        }
    }

    @Test(
        "Of a job that is removed nothing is left, and removing it again is harmless", arguments: StoreKind.all,
        [true, false])
    func remove(_ kind: StoreKind, contentsFirst: Bool) async throws {
        try await kind.withEntry { store, job, files in
            #expect(try await job.create(record(job.id)))
            let (source, part) = try await fill(job, files)
            try await job.writeAttempt(pass: 0, token: "7e", standardError: "ouch")
            let output = try #require(await job.publishedOutput)
            if contentsFirst {
                try await job.removeContents()
                #expect(await !job.exists)
            }
            for _ in 0..<2 {
                try await job.remove()
                #expect(await !job.exists)
                #expect(try await store.jobs().isEmpty)
            }
            #expect(![part, output.locator].contains(where: isThere))
            #expect(try await job.create(record(job.id)), "it can be made anew")
            #expect(try await job.planNumbers() == [])
            #expect(await !job.hasFinishedSegments)
            #expect(await !job.hasCopy(of: source))
            #expect(await job.publishedOutput == nil)
            #expect(await job.readAttempt(pass: 0, token: "7e") == nil)
        }
    }

    @Test("A job whose record has changed since it was read is not removed", arguments: StoreKind.all)
    func removeUnlessChanged(_ kind: StoreKind) async throws {
        try await kind.withEntry { store, job, files in
            #expect(try await job.create(record(job.id)))
            _ = try await fill(job, files)
            let ended = try await job.change { $0.end(.failed, at: 7) }
            let reopened = try await job.change { $0.reopen() }
            #expect(try await !job.remove(ifStill: ended))
            #expect(try await job.read() == reopened)
            #expect(await job.hasFinishedSegments)
            for _ in 0..<2 { #expect(try await job.remove(ifStill: reopened)) }
            #expect(await !job.exists)
            #expect(try await store.jobs().isEmpty)
            #expect(await reason { try await job.change { $0.reopen() } } != nil)
            #expect(try await job.create(record(job.id)), "it can be made anew")
            #expect(await !job.hasFinishedSegments)
        }
    }

    @Test("A job is removed or changed, if both are tried at once", arguments: StoreKind.all)
    func removedOrChanged(_ kind: StoreKind) async throws {
        try await kind.withStore { store in
            let job = store.job(JobID("a1"))
            for _ in 0..<50 {
                #expect(try await job.create(record(job.id)))
                let read = try await job.read()
                async let isChanged = reason { try await job.change { $0.reopen() } } == nil
                async let isRemoved = job.remove(ifStill: read)
                let isThere = await isChanged
                #expect(try await isRemoved == !isThere)
                #expect(await job.exists == isThere)
                try await job.remove()
            }
        }
    }

    @Test(
        "What a finished job does not need is removed while its record is changed and created", arguments: StoreKind.all
    )
    func removePartsWhileRecordChanges(_ kind: StoreKind) async throws {
        try await kind.withJob { _, job in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for _ in 0..<30 { try await job.change { $0.webhooks.append("x") } } }
                group.addTask {
                    for _ in 0..<30 {
                        let isNew = try await job.create(record(job.id))
                        #expect(!isNew)
                    }
                }
                group.addTask { for _ in 0..<60 { try await job.removeParts(keepingSegments: true) } }
                try await group.waitForAll()
            }
            #expect(try await job.read().webhooks.count == 30)
        }
    }
}
