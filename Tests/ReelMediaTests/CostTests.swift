import Foundation
import ReelCore
import ReelMedia
import Testing

/// Costs of a job that can be counted.
@Suite("Costs that can be counted")
struct CostTests {
    private let folder = ScratchFolder()

    @Test("frames of closed groups are decoded once, those of open ones hardly more")
    func decodedOnce() throws {
        let closed = try Fixture.make(
            "closed.mp4", in: folder, frames: 240, video: Fixture.x264 + ["-g", "24", "-bf", "2"])
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: 24)
        #expect(try MediaJob(closed, spec: spec, folder: folder.path).framesDecoded == 240)

        let other = ScratchFolder()
        let open = try Fixture.make(
            "open.mp4", in: other, frames: 960,
            video: Fixture.x264 + ["-g", "48", "-bf", "3", "-x264-params", "open-gop=1"])
        let job = try MediaJob(open, spec: JobSpec(container: .mkv, lossless: true), folder: other.path)
        #expect(job.plan.passes.count > 3)
        #expect((961...988).contains(job.framesDecoded), "\(job.framesDecoded)")
    }

    @Test("an output has a key frame for each chunk, and no more")
    func keyFrames() throws {
        let source = try Fixture.make("s.mp4", in: folder, frames: 96, video: Fixture.x264 + ["-g", "24", "-bf", "2"])
        let job = try MediaJob(source, spec: JobSpec(container: .mp4, passFrames: 24), folder: folder.path)
        let flags = try probe(job.output, "packet=flags").split(separator: "\n")
        #expect(flags.count == 96)
        #expect(flags.count { $0.contains("K") } == 4)
        #expect(job.records.count == 4)
    }

    @Test("however many segments there are, an assembly has two of them open, the sound's and one of the video's")
    func openFiles() throws {
        let source = try Fixture.make(
            "s.mkv", in: folder, frames: 600, size: "64x48", video: ["-c:v", "ffv1", "-g", "2"],
            audio: ["-c:a", "pcm_s16le"])
        let spec = JobSpec(container: .mkv, lossless: true, passFrames: 2)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        let records = job.records
        #expect(records.count == 301)
        var most = 0
        let assembler = job.assembler(of: source, records)
        _ = try assembler.assemble(to: .file(folder.path + "/again.mkv")) { _ in
            most = max(most, openFiles(in: folder.path) { $0.hasSuffix(".nut") })
        }
        #expect(most == 2)
    }

    private func openFiles(in folder: String, where isMeant: (String) -> Bool) -> Int {
        let files = FileManager.default
        let descriptors = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.count { descriptor in
            let path = (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) ?? ""
            return path.hasPrefix(folder) && isMeant(path)
        }
    }
}
