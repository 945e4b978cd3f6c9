import Foundation
import Testing

extension EndToEnd {
    /// Pictures of jobs over HTTP, with a real server, Redis, worker and engine.
    @Suite struct PictureTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// Makes a video of this many frames in which each frame looks different.
        private func video(_ name: String, _ arguments: [String]) async throws -> String {
            let folder = fixture.path("sources")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let path = "\(folder)/\(name)"
            let made = try await fixture.run(.ffmpeg, ["-v", "error", "-f", "lavfi", "-i"] + arguments + [path])
            try #require(made.code == 0, "\(made.error)")
            return path
        }

        /// The grey values of a picture, or of one frame of a video.
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

        /// The mean difference of the values of two pictures of one size.
        private func difference(_ first: [UInt8], _ second: [UInt8]) throws -> Double {
            try #require(first.count == second.count && !first.isEmpty)
            return Double(zip(first, second).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(first.count)
        }

        private func size(of path: String) async throws -> String {
            let found = try await fixture.run(
                .ffprobe, ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0:s=x", path])
            return found.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        private func saved(_ server: WebServer, _ place: String) async throws -> String {
            let answer = try await server.get(place)
            try #require(answer.status == 200, "\(place): \(answer.status) \(answer.text)")
            #expect(answer.headers["content-type"] == "image/jpeg")
            let path = fixture.path("\(UUID().uuidString).jpg")
            try answer.body.write(to: URL(fileURLWithPath: path))
            return path
        }

        @Test func aFrameIsThatFrameOfSourceAndOutput() async throws {
            let source = try await video(
                "a.mp4",
                ["testsrc2=size=320x180:rate=30000/1001:duration=3", "-c:v", "libx264", "-g", "45", "-bf", "3"])
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.path("sources")]) { server in
                    let made = try await server.send(
                        "POST", "/api/v1/jobs", ["source": source, "options": ["passFrames": 20]])
                    let id = try #require(try made.object()["id"] as? String)
                    let job = try await server.end(of: id)
                    #expect(job["frames"] as? Int == 90)
                    let place = "/api/v1/jobs/\(id)/frames"
                    for frame in [0, 37, 44, 45, 89] {
                        let shown = try await grey(saved(server, "\(place)/source/\(frame).jpg"))
                        for neighbour in [frame - 1, frame, frame + 1] where (0..<90).contains(neighbour) {
                            let found = try await difference(shown, grey(source, frame: neighbour))
                            #expect((found < 1.5) == (neighbour == frame), "source \(frame), \(neighbour): \(found)")
                        }
                        let mirrored = try await grey(saved(server, "\(place)/output/\(89 - frame).jpg"))
                        let found = try difference(shown, mirrored)
                        #expect(found < 3, "output \(89 - frame): \(found)")
                    }
                    for missing in ["source/90.jpg", "output/90.jpg", "output/-1.jpg", "output/x.jpg", "sound/1.jpg"] {
                        #expect(try await server.get("\(place)/\(missing)").status == 404, "\(missing)")
                    }
                    #expect(try await server.get("\(place)/source/90.jpg").code == "frame-unknown")

                    let strip = try await saved(server, "/api/v1/jobs/\(id)/filmstrip/output.jpg")
                    #expect(try await size(of: strip) == "1920x90")
                    // Frames 6, 13, … 83 of the output.
                    for cell in [0, 5, 11] {
                        let shown = try await grey(strip, ",crop=160:90:\(cell * 160):0")
                        let expected = try await grey(source, frame: 89 - (6 + 7 * cell), ",scale=160:90")
                        let found = try difference(shown, expected)
                        #expect(found < 4, "cell \(cell): \(found)")
                    }
                    // What was made is kept, and is the same for every reader.
                    let answer = try await server.get("\(place)/source/37.jpg")
                    let tag = try #require(answer.headers["etag"])
                    #expect(
                        try await server.get("\(place)/source/37.jpg", headers: ["If-None-Match": tag]).status == 304)
                    try FileManager.default.removeItem(atPath: source)
                    #expect(try await server.get("\(place)/source/37.jpg").body == answer.body)
                    #expect(try await server.get("\(place)/source/38.jpg").status == 404)
                    #expect(try await server.send("DELETE", "/api/v1/jobs/\(id)").status == 204)
                    #expect(try await server.get("\(place)/source/37.jpg").code == "job-unknown")
                }
            }
        }

        @Test func thePicturesOfAnOutputBeginWithItsFirstSegment() async throws {
            let source = try await video(
                "long.mp4", ["testsrc2=size=640x360:rate=25:duration=24", "-c:v", "libx264", "-g", "50"])
            try await Fleet.with(fixture, workers: 0) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.path("sources")]) { server in
                    let made = try await server.send(
                        "POST", "/api/v1/jobs",
                        ["source": source, "options": ["passFrames": 50, "preset": "veryslow"]])
                    let id = try #require(try made.object()["id"] as? String)
                    let place = "/api/v1/jobs/\(id)"
                    for picture in ["filmstrip/source.jpg", "frames/output/0.jpg"] {
                        let early = try await server.get("\(place)/\(picture)")
                        #expect(early.code == "picture-not-yet")
                        #expect(early.headers["retry-after"] == "5")
                    }
                    try await fleet.startWorker()
                    let hasBegun = try await eventually {
                        try await server.get(place).object()["passesDone"] as? Int ?? 0 > 0
                    }
                    #expect(hasBegun)
                    #expect(try await server.send("POST", "\(place)/pause").status == 200)
                    let strip = try await saved(server, "\(place)/filmstrip/output.jpg")
                    let isShown = try await (0..<12).asyncMap { cell in
                        try await grey(strip, ",crop=160:90:\(cell * 160):0").contains { $0 > 60 }
                    }
                    #expect(isShown.first == true)
                    #expect(isShown.last == false)
                    let shown = try await grey(saved(server, "\(place)/frames/output/10.jpg"))
                    let found = try await difference(shown, grey(source, frame: 589))
                    #expect(found < 3, "\(found)")
                    #expect(try await server.get("\(place)/frames/output/599.jpg").code == "picture-not-yet")
                    #expect(try await server.get("\(place)/filmstrip/source.jpg").status == 200)
                    #expect(try await server.send("POST", "\(place)/cancel").status == 200)
                    #expect(try await server.get("\(place)/frames/output/599.jpg").code == "picture-missing")
                }
            }
        }

        /// Its segments go while a picture of them is made: that picture is one of the output then.
        @Test func theEndOfAJobTakesNoPictureAway() async throws {
            let source = try await video("a.mp4", ["testsrc2=size=160x120:rate=25:duration=2", "-c:v", "libx264"])
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.path("sources")]) { server in
                    for _ in 0..<6 {
                        let made = try await server.send("POST", "/api/v1/jobs", ["source": source])
                        let id = try #require(try made.object()["id"] as? String)
                        let isThere = try await eventually {
                            let strip = try await server.get("/api/v1/jobs/\(id)/filmstrip/output.jpg")
                            #expect(strip.status == 200 || strip.code == "picture-not-yet", "\(strip.text)")
                            return strip.status == 200
                        }
                        #expect(isThere)
                    }
                }
            }
        }

        @Test func picturesAreUprightAndSquare() async throws {
            let wide = try await video(
                "wide.mkv",
                [
                    "testsrc2=size=320x240:rate=25:duration=1", "-vf", "setsar=2/1", "-c:v", "ffv1", "-pix_fmt",
                    "yuv422p10le",
                ])
            let turned = fixture.path("sources/turned.mov")
            let upright = try await video("upright.mov", ["testsrc2=size=320x240:rate=25:duration=1"])
            let made = try await fixture.run(
                .ffmpeg, ["-v", "error", "-i", upright, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned])
            try #require(made.code == 0, "\(made.error)")
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", fixture.path("sources")]) { server in
                    for (source, expected) in [(wide, "640x240"), (turned, "240x320")] {
                        let made = try await server.send("POST", "/api/v1/jobs", ["source": source])
                        let id = try #require(try made.object()["id"] as? String)
                        #expect(try await server.end(of: id)["state"] as? String == "done")
                        for side in ["source", "output"] {
                            let frame = try await saved(server, "/api/v1/jobs/\(id)/frames/\(side)/3.jpg")
                            #expect(try await size(of: frame) == expected, "\(side) of \(source)")
                        }
                    }
                }
            }
        }
    }
}

extension Sequence {
    /// The results of an asynchronous function of all elements, one after the other.
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var results: [T] = []
        for element in self { results.append(try await body(element)) }
        return results
    }
}
