import Foundation
import ReelCore
import ReelMedia
import Synchronization
import Testing

/// A refusal of the operating system at a file is an error of this host: it is neither damage of the source nor its
/// end.
@Suite("Errors of the host")
struct HostFaultTests {
    private let folder = ScratchFolder()

    init() { Media.prepare() }

    // MARK: Consequences of error numbers

    @Test("every error number of the table means what it should, written or read")
    func table() {
        let passing = [
            EINTR, EAGAIN, EBUSY, ETXTBSY, ENFILE, ENOBUFS, ETIMEDOUT, ENETDOWN, ENETUNREACH, ENETRESET, EHOSTDOWN,
            EHOSTUNREACH, ECONNABORTED, ECONNREFUSED, ECONNRESET,
        ]
        let lasting = [
            EROFS, EACCES, EPERM, ESTALE, ENOTCONN, ESHUTDOWN, EMFILE, EFBIG, ENOENT, ENOTDIR, EISDIR, ELOOP,
            ENAMETOOLONG, ENODEV, ENXIO, EREMOTEIO, EUCLEAN, EBADMSG, EOVERFLOW, EOPNOTSUPP,
        ]
        let rows: [(SystemFault, [Int32])] = [
            (.full, [ENOSPC, EDQUOT]), (.memory, [ENOMEM]), (.passing, passing), (.lasting, lasting),
        ]
        for (fault, numbers) in rows {
            for number in numbers {
                #expect(SystemFault(errno: number, writing: false) == fault, "\(number)")
                #expect(SystemFault(errno: number, writing: true) == fault, "\(number)")
            }
        }
        #expect(Set(SystemFault.rows.keys) == Set(rows.flatMap(\.1)))
        #expect(SystemFault(errno: EIO, writing: true) == .passing)
        #expect(SystemFault(errno: EIO, writing: false) == .lasting)
        #expect(SystemFault(errno: 4000, writing: false) == .passing, "unknown")
    }

    @Test("a lasting error excludes its host from the job, a passing one is tried again")
    func natures() {
        let failures: [(FailureReason, FailureCause)] = [
            (.sourceUnreadable(path: "/s", errno: EIO, passes: false), .incompatible),
            (.sourceUnreadable(path: "/s", errno: ETIMEDOUT, passes: true), .transient),
            (.fileFailed(path: "/s", step: .write, errno: EROFS, passes: false), .incompatible),
            (.fileFailed(path: "/s", step: .write, errno: EIO, passes: true), .transient),
            (.diskFull(path: "/s"), .noSpace),
        ]
        for (reason, cause) in failures {
            #expect(reason.nature.owner == .host)
            #expect(reason.nature.cause == cause)
        }
    }

    // MARK: Real files that cannot be read

    private func failure(reconOf path: String) throws -> FailureReason? {
        try failureReason { try Recon(.file(path)).run() }
    }

    @Test("a source that is missing, a folder, or on a bad disk is unreadable on this host, not \"not media\"")
    func unreadableSources() throws {
        let gone = folder.path + "/gone.mp4"
        #expect(try failure(reconOf: gone) == .sourceUnreadable(path: gone, errno: ENOENT, passes: false))
        #expect(try failure(reconOf: folder.path) == .sourceUnreadable(path: folder.path, errno: EISDIR, passes: false))
        // Nothing lies at this process's address 0: the kernel answers as it does of a bad block.
        let bad = "/proc/self/mem"
        #expect(try failure(reconOf: bad) == .sourceUnreadable(path: bad, errno: EIO, passes: false))
        let media = try Fixture.make("s.mp4", in: folder, frames: 4, video: Fixture.x264)
        let below = media + "/x.mp4"
        #expect(try failure(reconOf: below) == .sourceUnreadable(path: below, errno: ENOTDIR, passes: false))
    }

    @Test("a source without permission is unreadable on this host", .enabled(if: geteuid() != 0, "root may read all"))
    func noPermission() throws {
        let media = try Fixture.make("s.mp4", in: folder, frames: 4, video: Fixture.x264)
        chmod(media, 0)
        #expect(try failure(reconOf: media) == .sourceUnreadable(path: media, errno: EACCES, passes: false))
    }

    // MARK: Reads that fail in the middle of a file

    /// What a read of the source answers from this byte on.
    private func failing<R>(_ number: Int32, from start: Int64, _ body: () throws -> R) rethrows -> R {
        let reading = FileReading { descriptor, bytes, count, offset in
            guard offset + Int64(count) <= start else {
                errno = number
                return -1
            }
            return pread(descriptor, bytes, count, off_t(offset))
        }
        return try FileReading.$current.withValue(reading) { try body() }
    }

    @Test("a failed read anywhere in a source is reported as such, and the part before it gives no output")
    func failingReads() throws {
        for name in ["s.mp4", "s.mkv", "s.ts", "s.avi"] {
            let media = try Fixture.make(name, in: folder, frames: 120, video: Fixture.x264 + ["-g", "24"])
            let size = try #require(try FileManager.default.attributesOfItem(atPath: media)[.size] as? Int64 ?? 0)
            #expect(try failure(reconOf: media) == nil)
            for part in 0..<10 {
                let start = size * Int64(part) / 10
                let reason = try failing(EIO, from: start) { try failure(reconOf: media) }
                // Recon of a file with a table leaves its payload on the disk.
                if reason == nil, name == "s.mp4" { continue }
                #expect(
                    reason == .sourceUnreadable(path: media, errno: EIO, passes: false),
                    "\(name) from byte \(start) of \(size)")
            }
            let last = try failing(ESTALE, from: size - 1) { try failure(reconOf: media) }
            #expect(name == "s.mp4" || last == .sourceUnreadable(path: media, errno: ESTALE, passes: false), "\(name)")
            let passing = try failing(ETIMEDOUT, from: 0) { try failure(reconOf: media) }
            #expect(passing == .sourceUnreadable(path: media, errno: ETIMEDOUT, passes: true), "\(name)")
        }
    }

    /// Pictures that need no other are decoded on other threads while the next ones are read.
    @Test("a read that fails while pictures are decoded is reported as such", arguments: ["s.mkv", "s.avi"])
    func failingReadsBesideDecoding(name: String) throws {
        let media = try Fixture.make(name, in: folder, frames: 240, video: ["-c:v", "mjpeg", "-q:v", "2"])
        let size = try #require(try FileManager.default.attributesOfItem(atPath: media)[.size] as? Int64 ?? 0)
        for start in stride(from: size / 10, to: size * 9 / 10, by: Int(size / 80)) {
            let reason = try failing(EIO, from: start) { try failure(reconOf: media) }
            #expect(reason == .sourceUnreadable(path: media, errno: EIO, passes: false), "from byte \(start)")
        }
    }

    @Test("a read that a signal interrupts is repeated")
    func interruptedReads() throws {
        let media = try Fixture.make("s.mkv", in: folder, frames: 24, video: Fixture.x264)
        let reads = Mutex(0)
        let reading = FileReading { descriptor, bytes, count, offset in
            let isInterrupted = reads.withLock { number in
                number += 1
                return number % 2 == 1
            }
            if isInterrupted {
                errno = EINTR
                return -1
            }
            return pread(descriptor, bytes, count, off_t(offset))
        }
        #expect(try FileReading.$current.withValue(reading) { try failure(reconOf: media) } == nil)
        #expect(reads.withLock(\.self) > 2)
    }

    @Test("a failed read during a pass or an assembly is reported as such")
    func failingPassesAndAssemblies() throws {
        let media = try Fixture.make("s.mkv", in: folder, frames: 96, video: Fixture.x264 + ["-g", "24"])
        let job = try MediaJob(media, spec: JobSpec(container: .mkv, passFrames: 48), folder: folder.path)
        guard case .video(let pass) = job.plan.passes[0] else { return }
        let places = job.plan.places(of: job.plan.passes[0], in: folder.path, token: "bad")
        let failure = failing(EIO, from: 20_000) {
            #expect(throws: ReelFailure.self) { try job.reverser(of: media).reverse(pass, at: places) { _, _ in } }
        }
        #expect(failure?.reason == .sourceUnreadable(path: media, errno: EIO, passes: false))

        let assembler = job.assembler(of: media)
        let other = failing(EIO, from: 5000) {
            #expect(throws: ReelFailure.self) { try assembler.assemble(to: .file(folder.path + "/x.mkv")) { _ in } }
        }
        guard case .fileFailed(let path, .read, EIO, passes: false) = other?.reason else {
            Issue.record("\(String(describing: other))")
            return
        }
        #expect(path.hasSuffix(".nut"))
    }

    // MARK: Files that cannot be written

    @Test("an output whose folder is gone, or a file in the way of it, is an error of this host, and not of the job")
    func unwritable() throws {
        let media = try Fixture.make("s.mkv", in: folder, frames: 24, video: Fixture.x264)
        let job = try MediaJob(media, spec: JobSpec(container: .mkv), folder: folder.path)
        guard case .video(let pass) = job.plan.passes[0] else { return }
        for (folder, number) in [(folder.path + "/gone", ENOENT), (media, ENOTDIR)] {
            let reverser = try job.reverser(of: media)
            let places = job.plan.places(of: job.plan.passes[0], in: folder, token: "bad")
            let failure = #expect(throws: ReelFailure.self) { try reverser.reverse(pass, at: places) { _, _ in } }
            guard case .fileFailed(_, .write, number, passes: false) = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(failure?.cause == .incompatible)
        }
    }

    @Test(
        "a full disk while segments are written is reported as such",
        .enabled(if: geteuid() == 0, "only root may mount a file system"))
    func fullDisk() throws {
        let disk = folder.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        try run("mount", "-t", "tmpfs", "-o", "size=64k", "none", disk)
        defer { _ = try? run("umount", disk) }
        let media = try Fixture.make("s.mkv", in: folder, frames: 96, video: Fixture.x264)
        let job = try MediaJob(media, spec: JobSpec(container: .mkv, lossless: true), folder: folder.path)
        guard case .video(let pass) = job.plan.passes[0] else { return }
        let reverser = try job.reverser(of: media)
        let places = job.plan.places(of: job.plan.passes[0], in: disk, token: "bad")
        let failure = #expect(throws: ReelFailure.self) { try reverser.reverse(pass, at: places) { _, _ in } }
        #expect(failure?.cause == .noSpace)
    }

    // MARK: Sources that change

    @Test("a source that is written to while its packets are copied gives no finished output")
    func changedWhileCopied() throws {
        let media = try Fixture.make("s.mov", in: folder, frames: 48, video: ["-c:v", "mjpeg"])
        let job = try MediaJob(media, spec: JobSpec(container: .mov), folder: folder.path)
        #expect(job.plan.video.isPassthrough)
        let assembler = job.assembler(of: media)
        let failure = #expect(throws: ReelFailure.self) {
            try assembler.assemble(to: .file(folder.path + "/x.mov")) { progress in
                // The same size: a picture is painted over.
                guard progress.packets == 3, let file = FileHandle(forUpdatingAtPath: media) else { return }
                try? file.seek(toOffset: 8000)
                try? file.write(contentsOf: Data([0, 1, 2, 3]))
            }
        }
        #expect(failure?.reason == .sourceReplaced(path: media))
    }
}
