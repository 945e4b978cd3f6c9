import Foundation
import ReelCore
import ReelMedia
import Testing

/// `--max-size` for moving pictures that loop.
@Suite("Moving pictures that keep to a size")
struct LoopSizeTests {
    private let folder = ScratchFolder()

    /// Pictures of a camera, as far as a file of text can: noise that moves over a gradient.
    private func source(_ seconds: Double) throws -> String {
        let path = folder.path + "/s.mp4"
        try ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=640x360:r=30000/1001:d=\(seconds)", "-vf", "noise=alls=12:allf=t"]
                + Fixture.x264 + [path])
        return path
    }

    @Test(
        "a file has nearly as many bytes as it may, and says by how much its pictures are reduced",
        arguments: [(Container.gif, Int64(2_000_000)), (.gif, 300_000), (.webp, 200_000), (.apng, 4_000_000)])
    func nearly(container: Container, most: Int64) throws {
        let source = try source(2)
        let spec = JobSpec(container: container, mostBytes: most)
        let job = try MediaJob(source, spec: spec, folder: folder.path)
        #expect(job.assembled.bytes <= most)
        #expect(try job.assembled.bytes == Int64(contents(of: job.output).count))
        let reductions = job.diagnostics.compactMap { diagnostic -> LoopReduction? in
            guard case .loopReduced(let width, let height, let step, let colours) = diagnostic else { return nil }
            return LoopReduction(size: PictureSize(width: width, height: height), step: step, colours: colours)
        }
        let reduction = try #require(reductions.first, "\(job.assembled.bytes)")
        #expect(
            Double(job.assembled.bytes) >= 0.93 * Double(most) || reduction.size.width == 640, "\(job.assembled.bytes)")
        if container != .webp {
            let shown = try probe(job.output, "stream=width,height", streams: "v").split(whereSeparator: \.isNewline)
            #expect(shown.first == "\(reduction.size.width),\(reduction.size.height)")
            #expect(try Decoded(job.output).hashes.count == (60 + reduction.step - 1) / reduction.step)
        }
        // The same segments make the same file, and it is compared with them again.
        let other = ScratchFolder()
        let again = try MediaJob(source, spec: spec, folder: other.path, slots: 8)
        #expect(again.assembled.checksum == job.assembled.checksum)
        let segments = SegmentList(job.results.flatMap(\.segments), in: folder.path)
        let files = [IndexedSource(.file(source), index: job.index)]
        let assembler = Assembler(sources: files, plan: job.plan, segments: segments)
        #expect(try assembler.verify(.file(job.output)) { _ in } == job.assembled.packets)
    }

    @Test(
        "an assembly tells how far it is from its first picture on, also while it tries sizes",
        arguments: [Container.gif, .webp], [nil, 200_000] as [Int64?])
    func progress(container: Container, most: Int64?) throws {
        let source = try source(1)
        let job = try MediaJob(source, spec: JobSpec(container: container, mostBytes: most), folder: folder.path)
        let assembler = Assembler(
            sources: [IndexedSource(.file(source), index: job.index)], plan: job.plan,
            segments: SegmentList(job.results.flatMap(\.segments), in: folder.path))
        var heard: [AssemblyProgress] = []
        _ = try assembler.assemble(to: .file(folder.path + "/again." + container.rawValue)) { heard.append($0) }
        let shares = heard.map(\.share)
        #expect(shares == shares.sorted() && shares.last == 1)
        // Each step is small: nothing stands still for long.
        let steps = zip([0] + shares, shares).map { $1 - $0 }
        #expect(steps.max() ?? 1 < 0.05, "\(steps.max() ?? 1)")
        // Before the first picture is written, they are looked at to choose a palette or a size.
        let before = heard.prefix { $0.frames == 0 }.count
        #expect(before >= (container == .gif ? 30 : most == nil ? 0 : 30))
        #expect(heard.map(\.packets).max() == 2 * (heard.last?.frames ?? 0))
    }

    @Test("what is small enough is not touched, and what cannot be is refused")
    func bounds() throws {
        let source = try source(0.5)
        let plain = try MediaJob(source, spec: JobSpec(container: .gif), folder: folder.path)
        let wide = try MediaJob(source, spec: JobSpec(container: .gif, mostBytes: 1 << 30), folder: folder.path)
        #expect(wide.assembled.checksum == plain.assembled.checksum && wide.diagnostics == plain.diagnostics)
        let failure = #expect(throws: ReelFailure.self) {
            try MediaJob(source, spec: JobSpec(container: .gif, mostBytes: 500), folder: folder.path)
        }
        guard case .sizeUnreachable(500, let bytes)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect((501...3000).contains(bytes), "\(bytes)")
    }
}
