import Foundation
import Testing

/// Sources of the tests, made once by ffmpeg: small, with a visible frame counter, and with rates that are not round.
actor Clips {
    static let shared = Clips()

    /// Its folder outlives every test, so it goes with the process.
    private static let folder: Result<ProcessFixture, any Error> = Result {
        let fixture = try ProcessFixture()
        atexit {
            if let fixture = try? Clips.folder.get() { try? FileManager.default.removeItem(atPath: fixture.folder) }
        }
        return fixture
    }

    private var made: [String: Task<String, any Error>] = [:]

    /// 120 frames of H.264 with B-frames and a key frame every 30, 24000/1001 fps, stereo AAC.
    func film() async throws -> String {
        let picture = "testsrc2=size=160x120:rate=24000/1001"
        let sound = "aevalsrc=0.4*sin(2*PI*t*(220+60*t))|0.2*sin(2*PI*t*90):d=5.005:s=44100"
        return try await make(
            "film.mp4", inputs: [picture, sound],
            ["-frames:v", "120", "-bf", "2", "-g", "30", "-c:a", "aac", "-b:a", "96k"] + h264)
    }

    /// 96 frames in closed groups of 12, every second of which is shown before the one that is decoded before it.
    func couples() async throws -> String {
        try await make(
            "couples.mp4", inputs: ["testsrc2=size=160x120:rate=24000/1001"],
            ["-frames:v", "96", "-bf", "1", "-b_strategy", "0", "-g", "12"] + h264)
    }

    /// 456 frames, each a key frame.
    func allKeys() async throws -> String {
        try await make(
            "keys.mp4", inputs: ["testsrc2=size=64x48:rate=30000/1001"], ["-frames:v", "456", "-g", "1"] + h264)
    }

    /// Long enough to be interrupted: 480 frames in groups of 20.
    func long() async throws -> String {
        try await make(
            "long.mp4", inputs: ["testsrc2=size=640x360:rate=30000/1001"], ["-frames:v", "480", "-g", "20"] + h264)
    }

    /// Its passes take seconds: 270 frames of 1280 by 720 in groups of 30.
    func wide() async throws -> String {
        try await make(
            "wide.mp4", inputs: ["testsrc2=size=1280x720:rate=24000/1001"], ["-frames:v", "270", "-g", "30"] + h264)
    }

    /// Work for several workers: frames in groups of 12, all different, 30000/1001 fps, stereo AAC.
    func crowd(frames: Int, size: String) async throws -> String {
        let sound = "aevalsrc=0.4*sin(2*PI*t*(220+60*t))|0.2*sin(2*PI*t*90):d=\(frames * 1001 / 30000):s=44100"
        return try await make(
            "crowd\(frames).mov", inputs: ["testsrc2=size=\(size):rate=30000/1001", sound],
            ["-frames:v", "\(frames)", "-bf", "2", "-g", "12", "-c:a", "aac"] + h264)
    }

    /// AAC and nothing else.
    func soundOnly() async throws -> String {
        try await make("sound.m4a", inputs: ["sine=frequency=330:duration=2"], ["-c:a", "aac"])
    }

    /// Files of several containers and codecs, 48 frames and as much sound each.
    func kinds() async throws -> [String] {
        let inputs = ["testsrc2=size=96x64:rate=24000/1001", "aevalsrc=0.4*sin(2*PI*t*(220+60*t)):d=2.002:s=32000"]
        let short = ["-frames:v", "48", "-g", "12"]
        return [
            try await make("kind.mp4", inputs: inputs, short + ["-bf", "2", "-c:a", "aac"] + h264),
            try await make(
                "fragments.mp4", inputs: inputs,
                short + ["-movflags", "frag_keyframe+empty_moov", "-bf", "2", "-c:a", "aac"] + h264),
            try await make(
                "kind.webm", inputs: inputs, short + ["-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libvorbis"]),
            try await make("kind.ts", inputs: inputs, short + ["-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"]),
            try await make("kind.avi", inputs: inputs, short + ["-c:v", "mjpeg", "-c:a", "pcm_s16le"]),
        ]
    }

    private let h264 = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "ultrafast", "-sc_threshold", "0"]

    /// No clip, but a library that is loaded before programs, of `Fixtures/sickness.c`.
    func sickness() async throws -> String { try await library("sickness") }

    /// A library that takes Landlock away from programs that are started with it.
    func oldKernel() async throws -> String { try await library("oldkernel") }

    /// A library that makes the user of programs that are started with it one without privileges, and shows what they say to
    /// the system's log.
    func plainUser() async throws -> String { try await library("plainuser") }

    private func library(_ name: String) async throws -> String {
        let source = URL(fileURLWithPath: #filePath).appendingPathComponent("../Fixtures/\(name).c").standardized.path
        return try await make(
            "\(name).so", .at("/usr/bin/env"), ["clang", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", source, "-o"])
    }

    private func make(_ name: String, inputs: [String], _ options: [String]) async throws -> String {
        let sources = inputs.flatMap { ["-f", "lavfi", "-i", $0] }
        return try await make(name, .ffmpeg, ["-v", "error", "-y"] + sources + options)
    }

    /// - Parameter arguments: the last, the path of what is made, is added.
    private func make(_ name: String, _ program: Program, _ arguments: [String]) async throws -> String {
        if let task = made[name] { return try await task.value }
        let fixture = try Clips.folder.get()
        let task = Task {
            let outcome = try await fixture.run(program, arguments + [fixture.path(name)])
            try #require(outcome.code == 0, "\(outcome.error)")
            return fixture.path(name)
        }
        made[name] = task
        return try await task.value
    }
}
