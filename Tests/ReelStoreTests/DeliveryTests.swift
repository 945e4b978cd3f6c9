import Foundation
import Glibc
import ReelCore
import ReelStore
import ReelWords
import Testing

@Suite("Before delivery")
struct DeliveryCheckTests {
    private func refusal(_ output: String, source: String? = nil, overwrite: Bool = false) -> String? {
        do {
            try Delivery.check(output, source: source, overwrite: overwrite)
            return nil
        } catch {
            #expect(error.kind == .output)
            return error.words
        }
    }

    @Test("A new name in an existing folder is accepted, an existing file only if it may be replaced")
    func names() throws {
        try withFolder { folder in
            let output = folder + "/out.mp4"
            #expect(refusal(output) == nil)
            try write("old", output)
            #expect(refusal(output) == "\(output) exists already")
            #expect(refusal(output, overwrite: true) == nil)
            try FileManager.default.createSymbolicLink(atPath: folder + "/dangling", withDestinationPath: "nowhere")
            #expect(refusal(folder + "/dangling")?.contains("exists already") == true)
        }
    }

    @Test("The source is never overwritten, by whatever name")
    func source() throws {
        try withFolder { folder in
            let source = folder + "/in.mp4"
            try write("frames", source)
            try FileManager.default.createSymbolicLink(atPath: folder + "/soft", withDestinationPath: "in.mp4")
            try FileManager.default.linkItem(atPath: source, toPath: folder + "/hard")
            for name in ["in.mp4", "soft", "hard", "./in.mp4"] {
                let message = refusal("\(folder)/\(name)", source: source, overwrite: true)
                #expect(message?.contains("is the source itself") == true)
            }
        }
    }

    @Test("Only a regular file is ever replaced")
    func noFile() throws {
        try withFolder { folder in
            #expect(refusal(folder, overwrite: true)?.contains("is a folder") == true)
            #expect(refusal("/dev/null", overwrite: true)?.contains("not a regular file") == true)
            #expect(refusal(folder + "/new/", overwrite: true)?.contains("names no file") == true)
        }
    }

    @Test("The folder must be there, and writable")
    func folder() throws {
        try withFolder { folder in
            #expect(
                refusal(folder + "/no/out.mp4")
                    == "cannot write \(folder)/no/out.mp4: there is no folder \(folder)/no; make it first")
        }
    }

    @Test("A folder that cannot be written is named", .enabled(if: canMount, "cannot mount a tmpfs"))
    func readOnly() throws {
        try withFileSystem("ro") { folder in
            #expect(refusal(folder + "/out.mp4") == "cannot write \(folder)/out.mp4: Read-only file system")
        }
    }
}

@Suite("Delivery")
struct DeliveryTests {
    typealias Way = @Sendable (String, String, Bool) throws -> Void
    static let ways: [(String, Way)] = [
        (
            "move",
            { path, output, overwrite in
                let workspace = try Workspace.within(String(path.dropLast("/.reel/output.mp4".count)))
                try Delivery.move(result(path), outOf: workspace, to: output, overwrite: overwrite)
            }
        ),
        ("copy", { try Delivery.copy(result($0), to: $1, overwrite: $2) }),
    ]

    /// A file as the result of a job, which was verified as it is.
    static func result(_ path: String) -> StoredResult {
        let bytes = (try? AtomicFile.read(path)) ?? []
        return StoredResult(
            job: JobID("a1"), locator: .file(path),
            recorded: JobResult(name: "output.mp4", bytes: Int64(bytes.count), sha256: Fingerprint.sha256Hex(bytes)))
    }

    /// Runs a test's body with each way to deliver, a result of some blocks, and an empty folder.
    private func withResult(_ body: (_ way: Way, _ isMove: Bool, _ result: String, _ folder: String) throws -> Void)
        throws
    {
        for (name, way) in DeliveryTests.ways {
            try withFolder { folder in
                for inner in [".reel", "out"] {
                    try FileManager.default.createDirectory(
                        atPath: "\(folder)/\(inner)", withIntermediateDirectories: false)
                }
                try AtomicFile.write(DeliveryTests.content, to: folder + "/.reel/output.mp4")
                try body(way, name == "move", folder + "/.reel/output.mp4", folder + "/out")
            }
        }
    }

    static let content = (0..<2_500_001).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

    @Test("The result arrives whole, as a new file of the user; a moved one is gone from the store")
    func arrives() throws {
        try withResult { deliver, isMove, result, folder in
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: result)
            let output = folder + "/out.mp4"
            try deliver(result, output, false)
            #expect(try AtomicFile.read(output) == DeliveryTests.content)
            #expect(try names(folder) == ["out.mp4"])
            #expect(FileManager.default.fileExists(atPath: result) == !isMove)
            let attributes = try FileManager.default.attributesOfItem(atPath: output)
            #expect(attributes[.referenceCount] as? Int == 1, "no hard link into the store")
            // What a file gets that this process creates.
            try write("", folder + "/new")
            let new = try FileManager.default.attributesOfItem(atPath: folder + "/new")
            #expect(attributes[.posixPermissions] as? Int == new[.posixPermissions] as? Int)
        }
    }

    @Test("An existing file stays, unless it is to be replaced")
    func overwriting() throws {
        try withResult { deliver, _, result, folder in
            let output = folder + "/out.mp4"
            try write("precious", output)
            let failure = #expect(throws: ReelFailure.self) { try deliver(result, output, false) }
            #expect(failure?.exitCode == 5)
            #expect(failure?.words == "\(output) exists already")
            #expect(try text(output) == "precious")
            #expect(try names(folder) == ["out.mp4"])
            #expect(try AtomicFile.read(result) == DeliveryTests.content)
            try deliver(result, output, true)
            #expect(try AtomicFile.read(output) == DeliveryTests.content)
            #expect(try names(folder) == ["out.mp4"])
        }
    }

    @Test("A folder that vanished is an error of the output")
    func vanished() throws {
        try withResult { deliver, _, result, folder throws in
            let failure = #expect(throws: ReelFailure.self) { try deliver(result, folder + "/no/out.mp4", false) }
            #expect(failure?.kind == .output)
            #expect(failure?.words == "cannot write \(folder)/no/out.mp4: No such file or directory")
            #expect(try AtomicFile.read(result) == DeliveryTests.content)
        }
    }

    @Test("Moving to another file system copies", .enabled(if: canMount, "cannot mount a tmpfs"))
    func otherFileSystem() throws {
        try withResult { deliver, isMove, result, _ in
            try withFileSystem("size=8m") { folder in
                try deliver(result, folder + "/out.mp4", false)
                #expect(try AtomicFile.read(folder + "/out.mp4") == DeliveryTests.content)
                #expect(try names(folder) == ["out.mp4"])
                #expect(FileManager.default.fileExists(atPath: result) == !isMove)
            }
        }
    }

    @Test(
        "The failure for too little room gives bytes, and nothing half-written stays",
        .enabled(if: canMount, "cannot mount a tmpfs"))
    func noRoom() throws {
        try withResult { deliver, _, result, _ in
            try withFileSystem("size=1m") { folder throws in
                let failure = #expect(throws: ReelFailure.self) { try deliver(result, folder + "/out.mp4", false) }
                #expect(failure?.exitCode == 5)
                #expect(failure?.cause == .noSpace)
                #expect(
                    failure?.words
                        == "no room for \(folder)/out.mp4: it takes 2500001 bytes, 1048576 bytes are free")
                #expect(try names(folder).isEmpty)
                #expect(try AtomicFile.read(result) == DeliveryTests.content)
            }
        }
    }

    @Test("A cancelled copy leaves nothing")
    func cancelled() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try withFolder { folder in
                try AtomicFile.write(DeliveryTests.content, to: folder + "/result")
                let failure = #expect(throws: ReelFailure.self) {
                    try Delivery.copy(
                        DeliveryTests.result(folder + "/result"), to: folder + "/out.mp4", overwrite: false)
                }
                #expect(failure?.exitCode == 130)
                #expect(try names(folder) == ["result"])
            }
        }
        try await task.value
    }
}

/// `.reel` beside an output, in a folder that other users may write in.
@Suite("The folder in which a run works")
struct WorkspaceTests {
    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("It is closed to other users, even if it was readable")
    func mode() throws {
        try withFolder { folder throws in
            #expect(try Workspace.within(folder).path == folder + "/.reel")
            #expect(try mode(folder + "/.reel") == 0o700)
            chmod(folder + "/.reel", 0o755)
            #expect(try Workspace.within(folder).path == folder + "/.reel")
            #expect(try mode(folder + "/.reel") == 0o700)
        }
    }

    @Test("A folder that others may write in, or a link, is not used, and without a second one there is no workspace")
    func foreign() throws {
        try withFolder { folder throws in
            mkdir(folder + "/.reel", 0o777)
            chmod(folder + "/.reel", 0o777)
            let own = "\(folder)/.reel-\(geteuid())"
            #expect(try Workspace.within(folder).path == own)
            #expect(try mode(own) == 0o700)
            // What an earlier run left there is found again when the first name is free.
            rmdir(folder + "/.reel")
            #expect(try Workspace.within(folder).path == own)
            rmdir(own)
            for name in [folder + "/.reel", own] { symlink("/tmp", name) }
            let failure = #expect(throws: ReelFailure.self) { try Workspace.within(folder) }
            #expect(failure?.reason == .workspaceForeign(path: own))
            #expect(failure?.exitCode == 5)
        }
    }

    @Test("What is delivered comes from the folder that was checked, and is this user's own file")
    func swapped() throws {
        try withFolder { folder throws in
            let workspace = try Workspace.within(folder)
            let result = DeliveryTests.result(workspace.path + "/output.mp4")
            func deliver() throws {
                try Delivery.move(result, outOf: workspace, to: folder + "/out.mp4", overwrite: true)
            }
            try write("secret", folder + "/secret")
            chmod(folder + "/secret", 0o600)
            for place in [symlink, link] {
                _ = place(folder + "/secret", result.locator.name)
                #expect(throws: ReelFailure.self) { try deliver() }
                #expect(try mode(folder + "/secret") == 0o600)
                unlink(result.locator.name)
            }
            try write("video", result.locator.name)
            // Another has taken the name, and offers a file of this user's.
            rename(workspace.path, folder + "/aside")
            mkdir(workspace.path, 0o777)
            rename(folder + "/secret", result.locator.name)
            try deliver()
            #expect(try text(folder + "/out.mp4") == "video")
            #expect(try mode(result.locator.name) == 0o600)
        }
    }
}
