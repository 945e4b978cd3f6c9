import Foundation
import ReelCore
import ReelStore
import ReelWords
import Testing

@Suite("Atomic files")
struct AtomicFileTests {
    @Test("What is written replaces what was there, and leaves nothing else")
    func replaces() throws {
        try withFolder { folder in
            let path = folder + "/" + String(repeating: "n", count: 255)
            try AtomicFile.write(Array("first".utf8), to: path)
            try AtomicFile.write(Array("second".utf8), to: path)
            #expect(try text(path) == "second")
            #expect(try AtomicFile.read(path) == Array("second".utf8))
            #expect(try names(folder).count == 1)
        }
    }

    @Test("Of several processes that create a file at the same time one succeeds, and its file stays")
    func creates() async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let makers = try await withThrowingTaskGroup(of: UInt8?.self) { group in
            for number in 1...8 as ClosedRange<UInt8> {
                group.addTask { try AtomicFile.create([number], at: folder + "/file") ? number : nil }
            }
            return try await group.reduce(into: [UInt8]()) { if let number = $1 { $0.append(number) } }
        }
        #expect(makers.count == 1)
        #expect(try AtomicFile.read(folder + "/file") == makers)
        #expect(try names(folder) == ["file"])
    }

    @Test("A reader sees the old file or the new one, whole")
    func readers() async throws {
        let folder = NSTemporaryDirectory() + "reel-store-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/file"
        let size = 300_000
        try AtomicFile.write([UInt8](repeating: 0, count: size), to: path)
        try await withThrowingTaskGroup { group in
            group.addTask {
                for round in 1...50 { try AtomicFile.write([UInt8](repeating: UInt8(round), count: size), to: path) }
            }
            group.addTask {
                var last: UInt8 = 0
                while last < 50 {
                    let bytes = try AtomicFile.read(path)
                    try #require(bytes.count == size)
                    try #require(bytes.allSatisfy { $0 == bytes[0] })
                    #expect(bytes[0] >= last)
                    last = bytes[0]
                    await Task.yield()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A file that cannot be written is named, with the reason")
    func failing() throws {
        try withFolder { folder in
            let failure = #expect(throws: ReelFailure.self) { try AtomicFile.write([1], to: folder + "/no/file") }
            #expect(failure?.words == "cannot write \(folder)/no/file: No such file or directory")
            #expect(failure?.kind == .unreachable)
            #expect(failure?.cause == .incompatible)
        }
    }

    @Test(
        "A full disk has a failure of its own, and nothing half-written stays",
        .enabled(if: canMount, "cannot mount a tmpfs"))
    func full() throws {
        try withFileSystem("size=64k") { folder throws in
            let bytes = [UInt8](repeating: 7, count: 100_000)
            let failure = #expect(throws: ReelFailure.self) { try AtomicFile.write(bytes, to: folder + "/file") }
            #expect(failure?.cause == .noSpace)
            #expect(failure?.words == "cannot write \(folder)/file: No space left on device")
            #expect(try names(folder).isEmpty)
        }
    }

    @Test("JSON has one form, and a foreign file is named")
    func json() throws {
        try withFolder { folder in
            try AtomicFile.write(json: ["b": "x/y", "a": "z"], to: folder + "/json")
            #expect(try text(folder + "/json") == #"{"a":"z","b":"x/y"}"#)
            try write("{", folder + "/broken")
            let failure = #expect(throws: ReelFailure.self) {
                try AtomicFile.read(json: [String: String].self, from: folder + "/broken")
            }
            #expect(failure?.words.hasPrefix("\(folder)/broken is not what reel wrote") == true)
        }
    }
}

@Suite("Fingerprints")
struct FingerprintTests {
    @Test("SHA-256 of bytes and of files of several blocks")
    func hashes() throws {
        // FIPS 180-2, appendix B.1 and B.3.
        #expect(
            Fingerprint.sha256Hex(Array("abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        try withFolder { folder in
            let path = folder + "/a"
            try write(String(repeating: "a", count: 1_000_000), path)
            #expect(
                try Fingerprint.sha256Hex(of: path)
                    == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
            let long = [UInt8](repeating: 97, count: 3 << 20) + [98]
            try AtomicFile.write(long, to: path)
            #expect(try Fingerprint.sha256Hex(of: path) == Fingerprint.sha256Hex(long))
        }
    }

    @Test("A file keeps its fingerprint until its size or time changes")
    func changes() throws {
        try withFolder { folder in
            let path = folder + "/source"
            try write("frames", path)
            let before = try Fingerprint.of(path)
            #expect(before.size == 6)
            #expect(before.edges == Fingerprint.sha256Hex(Array("framesframes".utf8)))
            #expect(abs(Double(before.mtimeNanoseconds) / 1e9 - Date().timeIntervalSince1970) < 60)
            #expect(try before.matches(.file(path)))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
            #expect(try Fingerprint.of(path).mtimeNanoseconds == 1_000_000_000)
            #expect(try !before.matches(.file(path)))
        }
    }

    @Test("The first and the last MiB count, and nothing between")
    func edges() throws {
        try withFolder { folder in
            let (path, mebibyte) = (folder + "/source", 1 << 20)
            var bytes = (0..<2 * mebibyte + 3).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            func edges() throws -> String {
                try AtomicFile.write(bytes, to: path)
                return try Fingerprint.of(path).edges
            }
            let first = try edges()
            #expect(first == Fingerprint.sha256Hex(Array(bytes.prefix(mebibyte) + bytes.suffix(mebibyte))))
            bytes[mebibyte + 1] ^= 1
            #expect(try edges() == first)
            var seen: Set = [first]
            for place in [0, mebibyte - 1, mebibyte + 3, bytes.count - 1] {
                bytes[place] ^= 1
                #expect(try seen.insert(edges()).inserted, "byte \(place)")
            }
        }
    }

    @Test("An empty file is refused")
    func empty() throws {
        try withFolder { folder in
            let path = folder + "/source"
            try write("", path)
            let failure = #expect(throws: ReelFailure.self) { try Fingerprint.of(path) }
            #expect(failure?.reason == .sourceEmpty(path: path))
        }
    }

    @Test("An input that is not a regular file is refused", arguments: ["missing", "folder", "pipe"])
    func refusals(_ what: String) throws {
        try withFolder { folder in
            let path = "\(folder)/\(what)"
            if what == "folder" {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            if what == "pipe" { try #require(mkfifo(path, 0o600) == 0) }
            let failure = #expect(throws: ReelFailure.self) { try Fingerprint.of(path) }
            #expect(failure?.exitCode == 3)
            let reasons: [String: FailureReason] = [
                "missing": .sourceInaccessible(path: path, errno: ENOENT), "folder": .sourceIsFolder(path: path),
                "pipe": .sourceNotAFile(path: path),
            ]
            #expect(failure?.reason == reasons[what])
            #expect(failure?.words.contains(path) == true)
        }
    }
}
