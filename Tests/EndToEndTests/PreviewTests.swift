import Foundation
import Testing

extension EndToEnd {
    /// Sources before there is a job, over HTTP: folders, what is in a file, pictures of it, and its bytes.
    @Suite struct PreviewTests {
        private let fixture: ProcessFixture
        private let folder: String

        init() throws {
            fixture = try ProcessFixture()
            folder = fixture.path("sources")
            try FileManager.default.createDirectory(atPath: folder + "/sub", withIntermediateDirectories: true)
        }

        private func video(_ name: String, _ arguments: [String]) async throws -> String {
            let path = "\(folder)/\(name)"
            let made = try await fixture.run(.ffmpeg, ["-v", "error", "-f", "lavfi", "-i"] + arguments + [path])
            try #require(made.code == 0, "\(made.error)")
            return path
        }

        private func query(_ source: String, _ more: String = "") -> String {
            var allowed = CharacterSet.alphanumerics
            allowed.insert(charactersIn: "-._")
            return "source=\(source.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")\(more)"
        }

        private func grey(_ path: String, frame: Int = 0, _ filters: String = "") async throws -> [UInt8] {
            let raw = fixture.path("raw-\(UUID().uuidString)")
            let made = try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-i", path, "-vf", "select=eq(n\\,\(frame))\(filters)", "-vsync", "0",
                    "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", raw,
                ])
            try #require(made.code == 0, "\(made.error)")
            return Array(try Data(contentsOf: URL(fileURLWithPath: raw)))
        }

        private func difference(_ first: [UInt8], _ second: [UInt8]) throws -> Double {
            try #require(first.count == second.count && !first.isEmpty)
            return Double(zip(first, second).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(first.count)
        }

        /// Uploads a file, and returns how an edit names it.
        private func upload(_ path: String, _ server: WebServer, token: String? = nil) async throws -> String {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            let answer = try await server.send(
                "POST", "/api/v1/uploads", token: token,
                headers: [
                    "Tus-Resumable": "1.0.0", "Upload-Length": "\(bytes.count)",
                    "Content-Type": "application/offset+octet-stream",
                    "Upload-Metadata": "filename \(Data("clip.mp4".utf8).base64EncodedString())",
                ], body: bytes)
            try #require(answer.status == 201, "\(answer.text)")
            return "upload:" + String(try #require(answer.headers["location"]?.split(separator: "/").last))
        }

        @Test func aSourceIsSeenFrameByFrameBeforeThereIsAJob() async throws {
            let source = try await video(
                "a.mp4",
                ["testsrc2=size=320x180:rate=30000/1001:duration=3", "-c:v", "libx264", "-g", "45", "-bf", "3"])
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    for named in [source, try await upload(source, server)] {
                        let place = "/api/v1/previews"
                        let facts = try await server.get("\(place)?\(query(named))").object()
                        #expect(facts["width"] as? Int == 320 && facts["height"] as? Int == 180)
                        #expect(facts["starts"] == nil)
                        let found = try #require(facts["found"] as? [String: Any])
                        #expect((found["video"] as? [String: Any])?["frames"] as? Int == 90)
                        #expect((found["audio"] as? [Any])?.isEmpty == true)

                        let sheet = try await server.get(
                            "\(place)/frames.jpg?\(query(named, "&first=7&step=20&count=4"))")
                        try #require(sheet.status == 200, "\(sheet.text)")
                        #expect(sheet.headers["content-type"] == "image/jpeg")
                        let path = fixture.path("\(UUID().uuidString).jpg")
                        try sheet.body.write(to: URL(fileURLWithPath: path))
                        for cell in 0..<4 {
                            let shown = try await grey(path, ",crop=320:180:\(cell * 320):0")
                            for (frame, isThat) in [(7 + 20 * cell, true), (8 + 20 * cell, false)] {
                                let found = try await difference(shown, grey(source, frame: frame))
                                #expect((found < 1.5) == isThat, "cell \(cell), frame \(frame): \(found)")
                            }
                        }
                        let file = try await server.get(
                            "\(place)/file?\(query(named))", headers: ["Range": "bytes=4-7"])
                        #expect(file.status == 206 && file.text == "ftyp")
                        #expect(file.headers["content-type"] == "video/mp4")
                    }
                    // The store has got nothing of it.
                    let kept = try FileManager.default.contentsOfDirectory(atPath: fleet.store)
                    #expect(!kept.contains("sources") && !kept.contains("jobs"), "\(kept)")
                }
            }
        }

        @Test func aVariableRateIsToldFrameByFrame() async throws {
            let source = try await video(
                "vfr.mkv",
                [
                    "testsrc2=size=160x120:rate=25:duration=2", "-vf", "select='not(mod(n,3))+lt(n,20)'", "-vsync",
                    "vfr", "-c:v", "libx264",
                ])
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let facts = try await server.get("/api/v1/previews?\(query(source))").object()
                    let starts = try #require(facts["starts"] as? [Double])
                    let shown: [Int] = Array(0..<20) + stride(from: 21, to: 50, by: 3)
                    let expected: [Double] = shown.map { Double($0) / 25 }
                    #expect(starts == expected)
                }
            }
        }

        @Test func whatCannotBeSeenIsAProblem() async throws {
            let source = try await video("a.mp4", ["testsrc2=size=160x120:rate=25:duration=1", "-c:v", "libx264"])
            try "no video".write(toFile: "\(folder)/n.mp4", atomically: true, encoding: .utf8)
            let song = try await video("song.wav", ["sine=duration=2"])
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let place = "/api/v1/previews"
                    let frames = "\(place)/frames.jpg"
                    let broken = try await server.get("\(place)?\(query(folder + "/n.mp4"))")
                    #expect(broken.status == 422 && broken.code != nil, "\(broken.text)")
                    #expect(try await server.get("\(frames)?\(query(folder + "/n.mp4"))").status == 422)
                    let heard = try await server.get("\(place)?\(query(song))").object()
                    #expect(heard["width"] == nil)
                    #expect(((heard["found"] as? [String: Any])?["audio"] as? [[String: Any]])?.count == 1)
                    #expect(try await server.get("\(frames)?\(query(song))").code == "picture-missing")
                    for more in ["&first=25", "&first=20&step=3&count=3"] {
                        #expect(try await server.get("\(frames)?\(query(source, more))").code == "frame-unknown")
                    }
                    for more in ["&count=49", "&count=0", "&step=0", "&first=-1", "&first=x", "&size=9"] {
                        let answer = try await server.get("\(frames)?\(query(source, more))")
                        #expect(answer.status == 400 && answer.code == "parameter-invalid", "\(more)")
                    }
                    #expect(try await server.get(place).code == "parameter-invalid")
                    #expect(try await server.get("\(place)?\(query(folder + "/none.mp4"))").status == 422)
                    #expect(try await server.get("\(place)?\(query("a.mp4"))").code == "source-relative")
                    // Files elsewhere are as if they did not exist.
                    for elsewhere in ["/etc/hostname", "/etc/no-such-file", folder + "/../store/store.json"] {
                        for route in [place, frames, "\(place)/file"] {
                            let answer = try await server.get("\(route)?\(query(elsewhere))")
                            #expect(answer.status == 403 && answer.code == "source-outside", "\(route) \(elsewhere)")
                        }
                    }
                    let unknown = try await server.get("\(place)?\(query("upload:00000000000000000000000000000000"))")
                    #expect(unknown.code == "upload-unknown")
                    // A page of another site may not have the server work.
                    let other = try await server.get(
                        "\(frames)?\(query(source))", headers: ["Sec-Fetch-Site": "cross-site"])
                    #expect(other.status == 403 && other.code == "other-site")
                }
            }
        }

        @Test func onlyThoseWhoMaySubmitASourceSeeIt() async throws {
            let source = try await video("a.mp4", ["testsrc2=size=160x120:rate=25:duration=1", "-c:v", "libx264"])
            var tokens: [String: String] = [:]
            for (name, role) in [("eve", "viewer"), ("one", "operator"), ("two", "operator")] {
                let made = try await fixture.run(
                    .at(Program.folder + "/reel-server"),
                    ["token", name, "--role", role, "--tokens", fixture.path("tokens")])
                try #require(made.code == 0, "\(made.error)")
                tokens[name] = made.output.trimmingCharacters(in: .newlines)
            }
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--tokens", fixture.path("tokens")]) { server in
                    let upload = try await upload(source, server, token: tokens["one"])
                    for route in ["previews", "previews/frames.jpg", "previews/file"] {
                        let place = "/api/v1/\(route)?\(query(upload))"
                        #expect(try await server.get(place, token: tokens["one"]).status == 200, "\(route)")
                        #expect(try await server.get(place, token: tokens["two"]).code == "upload-unknown", "\(route)")
                        #expect(try await server.get(place, token: tokens["eve"]).code == "role-too-low", "\(route)")
                        #expect(try await server.get(place).status == 401, "\(route)")
                    }
                    // Without --sources there are no paths.
                    let path = "/api/v1/previews?\(query(source))"
                    #expect(try await server.get(path, token: tokens["one"]).code == "sources-closed")
                    let folders = try await server.get("/api/v1/sources", token: tokens["one"]).object()["folders"]
                    #expect((folders as? [Any])?.isEmpty == true)
                    let listing = "/api/v1/sources?folder=\(folder)"
                    #expect(try await server.get(listing, token: tokens["one"]).code == "source-outside")
                    #expect(try await server.get("/api/v1/sources", token: tokens["eve"]).code == "role-too-low")
                }
            }
        }

        @Test func aFolderIsListedAndNoLinkLeadsOut() async throws {
            for name in ["b.MP4", "a.mov", "notes.txt", ".hidden.mp4", "sub/c.webm", "song.flac"] {
                try Data(count: 3).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
            }
            try FileManager.default.createSymbolicLink(atPath: folder + "/out", withDestinationPath: "/etc")
            try FileManager.default.createSymbolicLink(
                atPath: folder + "/out.mp4", withDestinationPath: "/etc/hostname")
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    func list(_ path: String) async throws -> WebServer.Answer {
                        try await server.get("/api/v1/sources?\(query(path).replacing("source=", with: "folder="))")
                    }
                    func names(_ answer: WebServer.Answer, _ key: String) throws -> [String] {
                        try (answer.object()[key] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
                    }
                    let roots = try await server.get("/api/v1/sources")
                    #expect(try names(roots, "folders") == [folder])
                    let top = try await list(folder)
                    #expect(try names(top, "folders") == ["sub"])
                    #expect(try names(top, "files") == ["a.mov", "b.MP4", "song.flac"])
                    #expect(try top.object()["parent"] == nil)
                    let files = try #require(try top.object()["files"] as? [[String: Any]])
                    #expect(files[0]["bytes"] as? Int == 3 && files[0]["path"] as? String == folder + "/a.mov")
                    let sub = try await list(folder + "/sub")
                    #expect(try names(sub, "files") == ["c.webm"])
                    #expect(try sub.object()["parent"] as? String == folder)
                    for outside in ["/etc", folder + "/..", folder + "/out", "/"] {
                        #expect(try await list(outside).code == "source-outside", "\(outside)")
                    }
                    for missing in [folder + "/none", folder + "/a.mov"] {
                        #expect(try await list(missing).status == 404, "\(missing)")
                    }
                    #expect(try await list("sub").code == "parameter-invalid")
                    // As curl and forms write a space.
                    let path = folder + "/my clips"
                    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                    let spaced = try await server.get("/api/v1/sources?folder=\(folder)/my+clips")
                    #expect(try spaced.object()["folder"] as? String == path)
                }
            }
        }
    }
}
