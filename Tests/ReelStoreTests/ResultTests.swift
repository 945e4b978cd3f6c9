import Foundation
import Glibc
import ReelCore
import ReelStore
import ReelWords
import Testing

/// A finished job's result: what was verified, and nothing else.
@Suite("The result of a job")
struct ResultTests {
    /// A job that is done, with a result of some bytes.
    private func withDone(_ body: (_ job: JobFolder, _ folder: String) throws -> Void) throws {
        try withFolder { folder throws in
            let job = try FolderStore.make(root: folder + "/store").job(JobID("a1"))
            try job.create()
            try job.write(record(job.id))
            try AtomicFile.write(DeliveryTests.content, to: job.assembling(.mkv, token: "t").name)
            var record = try job.read()
            record.result = try job.adoptOutput(
                assembledBy: "t", as: .mkv, bytes: Int64(DeliveryTests.content.count),
                sha256: Fingerprint.sha256Hex(DeliveryTests.content))
            try job.write(record)
            #expect((try? job.storedResult()) == nil, "not before the job is done")
            record.state = .done
            try job.write(record)
            try body(job, folder)
        }
    }

    private func reason(_ body: () throws -> Void) -> FailureReason? {
        do {
            try body()
            return nil
        } catch {
            return (error as? ReelFailure)?.reason
        }
    }

    @Test("A result is delivered as it was verified")
    func whole() throws {
        try withDone { job, folder throws in
            let result = try job.storedResult()
            #expect(result.recorded.bytes == Int64(DeliveryTests.content.count))
            #expect(result.recorded.sha256 == Fingerprint.sha256Hex(DeliveryTests.content))
            try Delivery.copy(result, to: folder + "/out.mkv", overwrite: false)
            #expect(try result.verify(copy: folder + "/out.mkv") == result.recorded)
            #expect(try result.verify() == result.recorded)
        }
    }

    @Test("A result of the same size with another byte is not delivered")
    func changed() throws {
        try withDone { job, folder throws in
            let result = try job.storedResult()
            let file = try #require(FileHandle(forUpdatingAtPath: result.locator.name))
            try file.seek(toOffset: 1_700_000)
            try file.write(contentsOf: [0xFF, 0xFE])
            try file.close()
            for body in [
                { try Delivery.copy(result, to: folder + "/out.mkv", overwrite: false) }, { try result.verify() },
            ]
                as [() throws -> Void]
            {
                guard case .resultDiffers(job.id, result.locator.name, let bytes, _, let recorded, _)? = reason(body)
                else {
                    Issue.record("delivered")
                    continue
                }
                #expect(bytes == recorded)
            }
            #expect(try names(folder) == ["store"], "nothing half-written")
        }
    }

    @Test("A foreign file beside the record is not a result")
    func unrecorded() throws {
        try withDone { job, _ throws in
            try FileManager.default.moveItem(atPath: job.output(.mkv), toPath: job.output(.mp4))
            #expect((try? job.storedResult()) == nil)
            #expect(reason { _ = try job.storedResult() } == .noResult(job: job.id, state: .done))
            try AtomicFile.write([1, 2, 3], to: job.output(.mkv))
            #expect((try? job.storedResult()) == nil)
            guard case .resultDiffers? = reason({ _ = try job.storedResult() }) else {
                Issue.record("another size")
                return
            }
        }
    }

    @Test("Links, pipes and devices in the place of a result are refused at once")
    func foreign() throws {
        try withDone { job, folder throws in
            let result = try job.storedResult()
            try write("secret", folder + "/secret")
            let places: [(String) -> Void] = [
                { mkfifo($0, 0o666) }, { symlink("/dev/zero", $0) }, { symlink(folder + "/secret", $0) },
                { mkdir($0, 0o777) },
            ]
            for place in places {
                remove(result.locator.name)
                place(result.locator.name)
                let foreign = FailureReason.storeFileForeign(path: result.locator.name)
                #expect(reason { _ = try job.storedResult() } == foreign)
                #expect(reason { try Delivery.copy(result, to: folder + "/out.mkv", overwrite: false) } == foreign)
                #expect(reason { try result.verify() } == foreign)
                #expect(reason { _ = try AtomicFile.read(result.locator.name) } == foreign)
            }
            #expect(try names(folder) == ["secret", "store"])
        }
    }

    @Test("A record that would lead out of its folder is refused")
    func records() throws {
        try withDone { job, _ throws in
            let whole = try text(job.jobFile)
            var record = try job.read()
            for staged in ["..", ".", "a/b", "../../secret", ""] {
                record.sources[0].staged = staged
                try job.write(record)
                guard case .storeFileDamaged(job.jobFile, _)? = reason({ _ = try job.read() }) else {
                    Issue.record("\(staged)")
                    continue
                }
            }
            for (found, wrong) in [
                (#""name":"output.mkv""#, #""name":"../../secret""#), (#""id":"a1""#, #""id":"b1""#),
            ] {
                #expect(whole.contains(found))
                try write(whole.replacingOccurrences(of: found, with: wrong), job.jobFile)
                guard case .storeFileDamaged(job.jobFile, _)? = reason({ _ = try job.read() }) else {
                    Issue.record("\(wrong)")
                    continue
                }
            }
        }
    }

    @Test("What is removed is what lies in the store, not what a link in it leads to")
    func removing() throws {
        try withDone { job, folder throws in
            try FileManager.default.createDirectory(
                atPath: folder + "/precious/deep", withIntermediateDirectories: true)
            try write("keep", folder + "/precious/deep/file")
            symlink(folder + "/precious", job.segments + "/link")
            try job.removeParts(keepingSegments: false)
            #expect(try text(folder + "/precious/deep/file") == "keep")
            rename(job.path, folder + "/aside")
            symlink(folder + "/precious", job.path)
            try? job.remove()
            #expect(try text(folder + "/precious/deep/file") == "keep")
            // Also if a folder above it has become a link.
            rename(folder + "/store/jobs", folder + "/jobs")
            symlink(folder, folder + "/store/jobs")
            try? FolderStore.make(root: folder + "/store").job(JobID("precious")).remove()
            #expect(try text(folder + "/precious/deep/file") == "keep")
        }
    }
}
