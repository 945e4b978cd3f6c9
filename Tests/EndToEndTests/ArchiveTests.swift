import Foundation
import Testing

extension EndToEnd {
    /// The results of several jobs as one archive, over HTTP.
    @Suite struct ArchiveTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        private static let unzip = "/usr/bin/unzip"

        @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: unzip), "scripts/setup unzip installs it"))
        func manyResultsAreOneDownload() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try "no video".write(toFile: fixture.path("n.mp4"), atomically: true, encoding: .utf8)
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    var ids: [String] = []
                    for (file, to) in [(source, 1), (source, 2), (fixture.path("n.mp4"), 1)] {
                        let made = try await server.send(
                            "POST", "/api/v1/jobs", ["source": file, "options": ["to": to, "container": "mkv"]])
                        ids.append(try #require(try made.object()["id"] as? String))
                    }
                    for (id, state) in zip(ids, ["done", "done", "failed"]) {
                        #expect(try await server.end(of: id)["state"] as? String == state)
                    }
                    let query = (ids + [ids[0], "feedfeedfeedfeed"]).map { "job=\($0)" }.joined(separator: "&")
                    let archive = try await server.get("/api/v1/results.zip?\(query)")
                    try #require(archive.status == 200, "\(archive.text)")
                    #expect(archive.headers["content-type"] == "application/zip")
                    #expect(archive.headers["content-length"] == "\(archive.body.count)")
                    try archive.body.write(to: URL(fileURLWithPath: fixture.path("all.zip")))
                    let unpacked = try await fixture.run(
                        .at(ArchiveTests.unzip), ["-d", fixture.path("all"), fixture.path("all.zip")])
                    #expect(unpacked.code == 0, "\(unpacked.output) \(unpacked.error)")
                    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.path("all")).sorted()
                    #expect(names == ["film.reversed (2).mkv", "film.reversed.mkv", "left-out.txt"])
                    for (id, name) in zip(ids, ["film.reversed.mkv", "film.reversed (2).mkv"]) {
                        let output = try await server.get("/api/v1/jobs/\(id)/output").body
                        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path("all/\(name)"))) == output)
                    }
                    let leftOut = try String(contentsOfFile: fixture.path("all/left-out.txt"), encoding: .utf8)
                    let lines = leftOut.split(separator: "\n")
                    #expect(lines.count == 2 && lines[0].hasPrefix("\(ids[2]): "), "\(leftOut)")
                    #expect(lines.last?.hasPrefix("feedfeedfeedfeed: ") == true, "\(leftOut)")

                    let none = try await server.get("/api/v1/results.zip?job=\(ids[2])")
                    #expect(none.status == 404 && none.code == "no-result", "\(none.text)")
                    #expect(try await server.get("/api/v1/results.zip").code == "parameter-invalid")
                    #expect(try await server.get("/api/v1/results.zip?job=\(ids[0])&x=1").code == "parameter-invalid")
                }
            }
        }

        @Test func aResultThatHasChangedIsNotPassedOn() async throws {
            let source = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                    let made = try await server.send("POST", "/api/v1/jobs", ["source": source, "options": ["to": 1]])
                    let id = try #require(try made.object()["id"] as? String)
                    _ = try await server.end(of: id)
                    let result = "\(fleet.store)/jobs/\(id)/output.mp4"
                    let file = try #require(FileHandle(forUpdatingAtPath: result))
                    try file.seek(toOffset: 1000)
                    try file.write(contentsOf: Data("others".utf8))
                    try file.close()
                    // The connection is cut before the archive's end.
                    await #expect(throws: (any Error).self) {
                        try await server.get("/api/v1/results.zip?job=\(id)")
                    }
                }
            }
        }
    }
}
