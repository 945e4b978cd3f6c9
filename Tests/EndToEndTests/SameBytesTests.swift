import Foundation
import Testing

extension EndToEnd {
    /// Outputs whose chunks are made again until they have the bits that they should.
    @Suite struct SameBytesTests {
        private let (alone, together): (ProcessFixture, ProcessFixture)

        init() throws { (alone, together) = (try ProcessFixture(), try ProcessFixture()) }

        /// The output of a job, on which `disturb` works meanwhile.
        private func output(
            of arguments: [String], in fixture: ProcessFixture, workers: Int,
            _ disturb: (Fleet, String) async throws -> Void = { _, _ in }
        ) async throws -> Data {
            var bytes = Data()
            try await Fleet.with(fixture, workers: workers) { fleet in
                let id = try await fleet.submit(
                    arguments + ["--container", "mp4", "--threads", "1", "--pass-frames", "60", "--preset", "veryfast"])
                try await disturb(fleet, id)
                let waited = try await fleet.coordinator(["wait", id])
                #expect(waited.code == 0, "\(waited.error)")
                bytes = try Data(contentsOf: URL(fileURLWithPath: fleet.folder(id) + "/output.mp4"))
            }
            return bytes
        }

        @Test(
            "one worker makes the bytes that eight make of which one is killed",
            arguments: [["--max-size", "350kB"], [], ["--for", "discord"]])
        func killed(options: [String]) async throws {
            let source = alone.path("noise.mp4")
            let inputs = [
                "testsrc2=size=320x180:rate=30000/1001,noise=alls=30:allf=t", "anoisesrc=a=0.2:c=pink:r=44100",
            ].flatMap { ["-f", "lavfi", "-i", $0] }
            let coded = ["-t", "10.01", "-crf", "36", "-g", "60", "-pix_fmt", "yuv420p", "-c:a", "aac", source]
            #expect(try await alone.run(.ffmpeg, ["-v", "error"] + inputs + coded).code == 0)
            let arguments = [source] + options
            let one = try await output(of: arguments, in: alone, workers: 1)
            let eight = try await output(of: arguments, in: together, workers: 8) { fleet, id in
                #expect(try await eventually { fleet.segments(id).contains { $0.hasSuffix(".json") } })
                try await fleet.kill(fleet.workers[0])
                try await fleet.startWorker()
            }
            #expect(one == eight && !one.isEmpty)
            let size = try Data(contentsOf: URL(fileURLWithPath: source)).count
            #expect(one.count < size * 3 / 2, "\(one.count) of \(size)")
        }
    }
}
