import Foundation
import ReelServer
import Testing

/// Archives, judged by programs that others wrote.
@Suite struct ZipTests {
    private let path = NSTemporaryDirectory() + "reel-zip-\(UUID().uuidString).zip"

    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        var checksum = CRC32()
        bytes.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }

    private func run(_ program: String, _ arguments: [String]) throws -> (code: Int32, output: String) {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }

    private static let python = "/usr/bin/python3"

    @Test func theChecksumIsThatOfZIP() {
        #expect(checksum([]) == 0)
        #expect(checksum(Array("123456789".utf8)) == 0xcbf4_3926)
        // In pieces of any length it is the same.
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for length in [1, 7, 8, 9, 333] {
            var pieces = CRC32()
            for start in stride(from: 0, to: bytes.count, by: length) {
                bytes[start..<min(start + length, bytes.count)].withUnsafeBytes { pieces.update($0) }
            }
            #expect(pieces.value == checksum(bytes), "\(length)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python), "python3 is not installed"))
    func othersReadTheArchive() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let files: [(name: String, bytes: [UInt8])] = [
            ("a.mp4", Array("some bytes".utf8)), ("Zoë 🎬.mov", (0..<70_000).map { UInt8(truncatingIfNeeded: $0) }),
            ("empty.txt", []),
        ]
        var (writer, archive) = (ZipWriter(), [UInt8]())
        for (name, bytes) in files {
            archive += writer.begin(name, bytes: Int64(bytes.count)) + bytes + writer.end(checksum: checksum(bytes))
        }
        archive += writer.directory()
        #expect(ZipWriter.length(of: files.map { ($0.name, Int64($0.bytes.count)) }) == Int64(archive.count))
        try Data(archive).write(to: URL(fileURLWithPath: path))
        let script = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            for one in archive.infolist():
                print(one.filename, one.compress_type, len(archive.read(one)), oct(one.external_attr >> 16))
            """
        let read = try run(ZipTests.python, ["-X", "utf8", "-c", script, path])
        #expect(
            read.output == "a.mp4 0 10 0o100644\nZoë 🎬.mov 0 70000 0o100644\nempty.txt 0 0 0o100644\n",
            "\(read.output)")
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/unzip") {
            let tested = try run("/usr/bin/unzip", ["-t", path])
            #expect(tested.code == 0, "\(tested.output)")
        }
    }

    /// Five gigabytes of zeros that take no room on the disk, and a file behind them.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: python), "python3 is not installed"))
    func anArchiveMayHaveMoreThanFourGigabytes() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (large, small) = (Int64(5) << 30, Array("the end".utf8))
        var writer = ZipWriter()
        try Data(writer.begin("large.mov", bytes: large)).write(to: URL(fileURLWithPath: path))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seek(toOffset: try file.seekToEnd() + UInt64(large))
        let rest = writer.end(checksum: 0) + writer.begin("small.txt", bytes: Int64(small.count)) + small
        try file.write(contentsOf: Data(rest + writer.end(checksum: checksum(small)) + writer.directory()))
        #expect(
            try Int64(file.offset()) == ZipWriter.length(of: [("large.mov", large), ("small.txt", Int64(small.count))]))
        try file.close()
        let script = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            print([(one.filename, one.file_size) for one in archive.infolist()], archive.read("small.txt"))
            print(archive.open("large.mov").read(10))
            """
        let read = try run(ZipTests.python, ["-c", script, path])
        #expect(
            read.output == """
                [('large.mov', 5368709120), ('small.txt', 7)] b'the end'
                b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'

                """, "\(read.output)")
    }

    @Test func namesAreLegibleAndEachIsThereOnce() {
        var names = ArchiveNames()
        let wanted = [
            "ten.mp4", "ten.mp4", "TEN.mp4", "ten (2).mp4", "a/b\\c:d.mov", ".hidden", "line\nbreak\u{202E}.mp4", "",
            "..",
            "no ending", "no ending", "👨‍👩‍👧.gif",
        ]
        #expect(
            wanted.map { names.name(for: $0) } == [
                "ten.mp4", "ten (2).mp4", "TEN (3).mp4", "ten (2) (2).mp4", "a_b_c_d.mov", "hidden", "line_break_.mp4",
                "video", "video (2)", "no ending", "no ending (2)", "👨‍👩‍👧.gif",
            ])
        let long = names.name(for: String(repeating: "ä", count: 300) + ".mp4")
        #expect(long.utf8.count <= 200 && long.hasSuffix("ä.mp4"))
    }
}
