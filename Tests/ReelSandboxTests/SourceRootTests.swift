import CAttack
import Foundation
import Glibc
import ReelCore
import ReelEngine
import ReelSandbox
import Testing

/// Folders from which sources are taken.
@Suite("Source roots", .timeLimit(.minutes(10)))
struct SourceRootTests {
    /// `films` is a root; beside it are `filmsets`, whose name begins like it, and `private`.
    private final class Place: Sendable {
        let folder = "/tmp/reel-roots-\(UUID().uuidString.prefix(8))"

        init() throws {
            for name in ["films/day", "filmsets", "private"] {
                try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
            }
            for name in ["films/a.mov", "films/day/b.mov", "filmsets/c.mov", "private/d.mov"] {
                try Data("film".utf8).write(to: URL(filePath: path(name)))
            }
            for (name, aim) in [
                ("films/inner.mov", "day/b.mov"), ("films/up.mov", "day/../a.mov"),
                ("films/out.mov", "../private/d.mov"),
                ("films/absolute.mov", path("films/a.mov")), ("films/others", "../private"),
                ("films/process", "/proc/self"),
                ("root", "films"),
            ] { try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: aim) }
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func path(_ name: String) -> String { "\(folder)/\(name)" }

        var roots: SourceRoots { SourceRoots([path("films"), path("missing")]) }
    }

    @Test(
        "files in a root are taken, whatever links within it lead to them",
        arguments: [
            "films/a.mov", "films/day/b.mov", "films/inner.mov", "films/up.mov", "films/none.mov", "films/no/n.mov",
        ])
    func inside(name: String) throws {
        let place = try Place()
        try place.roots.check(place.path(name))
    }

    @Test(
        "others are not",
        arguments: [
            "private/d.mov", "filmsets/c.mov", "films/out.mov", "films/others/d.mov", "films/../private/d.mov",
            "films/absolute.mov", "films/process/environ", "films", "none.mov",
        ])
    func outside(name: String) throws {
        let place = try Place()
        let failure = #expect(throws: ReelFailure.self) { try place.roots.check(place.path(name)) }
        #expect(failure?.reason == .sourceOutside(path: place.path(name)))
    }

    @Test("a source is found where the kernel refuses openat2, as in the shipped units")
    func withoutOpenat2() async throws {
        let place = try Place()
        let outcome = await withCheckedContinuation { done in
            // The filter stays with its thread.
            Thread {
                let refused = refuse_openat2()
                let check = Result { try place.roots.check(place.path("films/inner.mov")) }
                done.resume(returning: refused == 0 ? check : nil)
            }.start()
        }
        try #require(outcome, "this kernel filters no calls").get()
    }

    @Test("links in a circle are refused with the kernel's reason, and empty names are skipped")
    func oddPaths() throws {
        let place = try Place()
        try FileManager.default.createSymbolicLink(atPath: place.path("films/circle"), withDestinationPath: "circle")
        let failure = #expect(throws: ReelFailure.self) { try place.roots.check(place.path("films/circle/a.mov")) }
        #expect(failure?.reason == .sourceInaccessible(path: place.path("films/circle/a.mov"), errno: ELOOP))
        try place.roots.check(place.path("films//day/./../a.mov"))
        #expect(throws: ReelFailure.self) { try place.roots.check(place.path("films/day/../../private/d.mov")) }
    }

    @Test("a root may be a link, and the root of the file system")
    func linkedRoot() throws {
        let place = try Place()
        try SourceRoots([place.path("root")]).check(place.path("root/a.mov"))
        try SourceRoots(["/"]).check(place.path("private/d.mov"))
        #expect(throws: ReelFailure.self) { try SourceRoots([place.path("root")]).check(place.path("films/a.mov")) }
    }

    private func read(_ name: String, in place: Place, exchanged: Bool) async throws -> Int32? {
        let host = EngineHost(executable: ProbePrograms.engine, sourceRoots: place.roots)
        let path = place.path(name)
        let scope = EngineScope(sources: [.file(path)], reads: [], folders: [])
        return try await host.withEngine(memory: nil, scope: scope) { engine in
            guard engine.identity.sandbox.landlock > 0 else { return nil }
            if exchanged {
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: place.path("private/d.mov"))
            }
            let request = ReconRequest(source: .file("read\t" + path), index: .file(""))
            guard case .recon(let answer) = try await engine.perform(.recon(request)) else { return nil }
            return Int32(answer.indexHash)
        }
    }

    @Test("an engine does not start for a source outside, with a sandbox or without", arguments: SandboxMode.allCases)
    func engine(mode: SandboxMode) async throws {
        let place = try Place()
        let host = EngineHost(executable: ProbePrograms.engine, sandbox: mode, sourceRoots: place.roots)
        for name in ["private/d.mov", "films/out.mov"] {
            let scope = EngineScope(sources: [.file(place.path(name))], reads: [], folders: [])
            let failure = await #expect(throws: ReelFailure.self) {
                try await host.withEngine(memory: nil, scope: scope) { _ in }
            }
            #expect(failure?.reason == .sourceOutside(path: place.path(name)))
        }
        let copy = EngineScope(sources: [], reads: [.file(place.path("private/d.mov"))], folders: [])
        try await host.withEngine(memory: nil, scope: copy) { _ in }
    }

    @Test("a source that becomes a link out of its root while an engine runs is not read")
    func exchanged() async throws {
        let place = try Place()
        #expect([nil, 0].contains(try await read("films/day/b.mov", in: place, exchanged: false)))
        #expect([nil, EACCES].contains(try await read("films/a.mov", in: place, exchanged: true)))
    }
}
