import Foundation
import ReelCore
import ReelEngine
import Testing

/// An engine made of shell: a folder of its own, in which the script finds itself as `$0`.
///
/// The executable is one fixed file that is never written, and what it does is data: a program that has just been
/// written cannot be started while another test's child still holds it open.
final class FakeEngine: Sendable {
    let folder: String

    /// - Parameter script: run by `/bin/sh`.
    init(_ script: String) throws {
        folder = NSTemporaryDirectory() + "reel-fake-engine-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let launcher = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/fake-engine")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: launcher.path())
        try script.write(toFile: path + ".script", atomically: false, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var path: String { folder + "/engine" }

    func withEngine<R: Sendable>(
        memory: Int64? = nil, stall: Duration = .seconds(30), silence: Duration = .seconds(60),
        scope: EngineScope = .nothing, remote: (any RemoteSources)? = nil,
        _ body: (EngineSession) async throws -> R
    ) async throws -> R {
        // The folder must last as long as the engine, whatever the optimiser thinks of the last use of `self`.
        defer { withExtendedLifetime(self) {} }
        let host = EngineHost(
            executable: path, limits: EngineLimits(stall: stall, silence: silence), remote: remote)
        return try await host.withEngine(memory: memory, scope: scope) {
            try await body(#require($0 as? EngineSession))
        }
    }

    /// What the script wrote to `$0.NAME`.
    func file(_ name: String) throws -> String { try String(contentsOfFile: "\(path).\(name)", encoding: .utf8) }

    /// The process whose number the script wrote to `$0.NAME`.
    func process(_ name: String) throws -> pid_t {
        let text = try file(name).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let number = pid_t(text) else { throw CocoaError(.fileReadCorruptFile) }
        return number
    }
}

/// The shell command by which a fake engine says something.
func say(_ event: EngineEvent) throws -> String {
    let json = String(decoding: try JSONEncoder().encode(event), as: UTF8.self)
    return "printf '%s\\n' '\(json)'"
}

let ready = EngineEvent.ready(
    EngineIdentity(version: Wire.version, encoders: ["libx264 Lavc59.37.100"], sandbox: .none))

func progress(_ decoded: Int, frames: Range<Int>) -> EngineEvent {
    .progress(.video(decoded: decoded, encoded: 0, frames: frames))
}

extension EngineProgress {
    /// Frames decoded by a pass of video; nil for other requests.
    var decoded: Int? { if case .video(let decoded, _, _) = self { decoded } else { nil } }
}

func result(framesEncoded: Int) -> EngineEvent {
    .result(
        .pass(
            PassResult(
                segments: [], statistics: PassStatistics(framesEncoded: framesEncoded), diagnostics: [.noTimestamps])))
}

/// A request for a pass whose chunks are of 240 frames each.
func reverse(pass: Int, finishedChunks: [Int] = []) -> EngineRequest {
    let places = (0..<max(2, (finishedChunks.max() ?? 0) + 1)).map { chunk -> SegmentPlace? in
        guard !finishedChunks.contains(chunk) else { return nil }
        let frames = chunk * 240..<(chunk + 1) * 240
        let name = SegmentName(subject: SegmentSubject(clip: 0, part: .video(frames: frames)), token: "7e")
        return SegmentPlace(
            name: name, data: .file("/store/segments/\(name.text)"),
            record: .file("/store/segments/\(name.recordName)"))
    }
    return .reverse(
        PassRequest(
            job: JobFiles(
                sources: [SourceFiles(source: .file("/media/one two.mp4"), index: .file("/store/index"))],
                plan: .file("/store/plan.json")), pass: pass, segments: places, scratch: "/tmp"))
}

/// Whether a process is gone, or dead and only waits for its parent to notice.
func isGone(_ process: pid_t) -> Bool {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
    return stat.split(separator: ")").last?.split(separator: " ").first == "Z"
}

/// Whether a condition becomes true within three minutes: for what another process does in its own time.
func eventually(_ condition: () throws -> Bool) async throws -> Bool {
    let deadline = ContinuousClock().now.advanced(by: .seconds(180))
    while ContinuousClock().now < deadline {
        if try condition() { return true }
        try await Task.sleep(for: .milliseconds(5))
    }
    return try condition()
}
