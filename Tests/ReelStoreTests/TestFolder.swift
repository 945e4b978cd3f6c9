import Foundation
import ReelCore
import ReelStore

/// Runs a test's body with a fresh folder, and removes it afterwards.
func withFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

/// Runs a test's body with a small file system of its own, if this process may mount one.
func withFileSystem<R>(_ options: String, _ body: (String) throws -> R) throws -> R {
    try withFolder { folder in
        try run("mount", "-t", "tmpfs", "-o", options, "reel-tests", folder)
        defer { try? run("umount", folder) }
        return try body(folder)
    }
}

/// Whether this process may mount file systems: root outside a container may.
let canMount = (try? withFileSystem("size=4k") { _ in }) != nil

private func run(_ program: String, _ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw CocoaError(.featureUnsupported) }
}

func write(_ text: String, _ path: String) throws { try text.write(toFile: path, atomically: false, encoding: .utf8) }

func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

/// Names in a folder, hidden ones too, sorted.
func names(_ folder: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

let spec = JobSpec(
    container: .mp4, videoCodec: "libx264", crf: 18.5, preset: "medium", from: .seconds(Rational(1, 25)),
    to: .seconds(Rational(60)),
    threads: 1)

let fingerprint = Fingerprint(
    size: 123_456_789, mtimeNanoseconds: 1_700_000_000_123_456_789, edges: String(repeating: "ab", count: 32))

let encoder = EncoderIdentity(build: "libx264 Lavc59.37.100", extradataHash: String(repeating: "cd", count: 32))

func record(_ id: JobID) -> JobRecord {
    JobRecord(
        id: id, spec: spec, sources: [JobSource(path: "/media/ä b.mp4", fingerprint: fingerprint)],
        created: 1_700_000_000)
}

extension JobFolder {
    /// Writes a record as any program with write access to the store can.
    func write(_ record: JobRecord) throws { try AtomicFile.write(json: record, to: jobFile) }
}
