internal import Foundation
internal import Glibc

/// A video that the suite measures with.
struct SuiteSource: Sendable {
    enum Coding: Sendable {
        case h264(groups: String)
        case hevc
        case mjpeg
        case prores
    }

    let name: String
    var kind = FootageKind.film
    var width = 1280
    var height = 720
    /// As ffmpeg spells it, and its value.
    var rate = (text: "30000/1001", value: 30_000.0 / 1001)
    var seconds: Double
    var depth = 8
    var coding: Coding

    /// As cameras encode: short even groups, a repeating pattern of frame types, more bits than the reversed video gets. A
    /// source encoded like the output would be unfair: played forwards its frame types coincide with those of the copy,
    /// reversed they do not.
    static let closedGroups = "keyint=60:open-gop=0:bframes=2:b-adapt=0:b-pyramid=none:scenecut=0"
    static let openGroups = "keyint=48:open-gop=1:bframes=3:b-adapt=0:scenecut=0"
    static let oneGroup = "keyint=infinite:bframes=2:b-adapt=0:scenecut=0"

    var frames: Int { Int(seconds * rate.value) }
    var isIntraOnly: Bool {
        switch coding {
        case .mjpeg, .prores: true
        default: false
        }
    }

    private var pixelFormat: String { depth == 10 ? "yuv420p10le" : "yuv420p" }

    private var encoding: [String] {
        switch coding {
        case .h264(let groups): ["-c:v", "libx264", "-preset", "veryfast", "-crf", "15", "-x264-params", groups]
        case .hevc:
            [
                "-c:v", "libx265", "-preset", "ultrafast", "-crf", "22", "-tag:v", "hvc1", "-x265-params",
                "log-level=error",
            ]
        case .mjpeg: ["-c:v", "mjpeg", "-q:v", "3", "-pix_fmt", "yuvj420p"]
        case .prores: ["-c:v", "prores", "-profile:v", "2", "-pix_fmt", "yuv422p10le"]
        }
    }

    var fileExtension: String { isIntraOnly ? "mov" : "mp4" }

    /// Path of the file, which is made if it does not exist.
    func file(in runner: SuiteRunner) async throws -> String {
        let path = "\(runner.folder)/sources/\(name.replacing(" ", with: "-"))-\(Int(seconds))s.\(fileExtension)"
        if FileManager.default.fileExists(atPath: path) { return path }
        runner.say("making \(name): \(frames) frames of \(width)x\(height)")
        let footage = [
            runner.bench, "footage", "--kind", kind.rawValue, "--width", "\(width)", "--height", "\(height)",
            "--frames",
            "\(frames)", "--rate", "\(rate.value)", "--depth", "\(depth)",
        ]
        let part = "\(runner.folder)/sources/part-\(getpid()).\(fileExtension)"
        let video = ["-f", "rawvideo", "-pix_fmt", pixelFormat, "-s", "\(width)x\(height)", "-r", rate.text, "-i", "-"]
        let encoder =
            ["ffmpeg", "-v", "error", "-y"] + video + SuiteSource.sound(seconds) + encoding
            // As cameras with this codec do.
            + (isIntraOnly ? ["-c:a", "pcm_s16le"] : ["-c:a", "aac", "-b:a", "128k"]) + ["-shortest", part]
        try await runner.pipe(footage, into: encoder)
        try FileManager.default.moveItem(atPath: part, toPath: path)
        return path
    }

    /// Two voices of noise and tone that come and go, for as long.
    static func sound(_ seconds: Double) -> [String] {
        let graph =
            "anoisesrc=color=pink:seed=7:amplitude=0.3:r=48000,tremolo=f=0.7:d=0.8,aformat=s16:48000:mono[n];sine=f=220:r=48000,vibrato=f=5,"
            + "tremolo=f=0.3:d=0.9,aformat=s16:48000:mono[t];[n][t]amerge=inputs=2"
        return ["-f", "lavfi", "-t", "\(seconds)", "-i", graph]
    }
}

extension SuiteRunner {
    /// Runs two commands, the second reading what the first writes.
    func pipe(_ first: [String], into second: [String]) async throws {
        // bash, for pipefail: in sh, the status is that of the last command alone.
        let script =
            "set -o pipefail; "
            + [first, second].map { $0.map(SuiteRunner.quoted).joined(separator: " ") }.joined(separator: " | ")
        _ = try await text(["bash", "-c", script])
    }

    static func quoted(_ argument: String) -> String {
        "'" + argument.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
