import Foundation
import Testing

extension EndToEnd {
    /// Proxies of jobs over HTTP, with a real server, Redis, worker and engines.
    @Suite struct ProxyTests {
        private let fixture: ProcessFixture
        private let folder: String

        init() throws {
            fixture = try ProcessFixture()
            folder = fixture.path("sources")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }

        /// Six seconds in which each frame looks different, with sound, as no browser plays them.
        private func film() async throws -> String {
            let path = folder + "/film.mkv"
            let made = try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=960x540:rate=30000/1001:duration=6", "-f",
                    "lavfi",
                    "-i", "sine=duration=6", "-c:v", "ffv1", "-pix_fmt", "yuv422p10", "-c:a", "flac", path,
                ])
            try #require(made.code == 0, "\(made.error)")
            return path
        }

        private func submit(_ server: WebServer, token: String? = nil, _ body: [String: Any]) async throws -> String {
            let made = try await server.send("POST", "/api/v1/jobs", body, token: token)
            return try #require(try made.object()["id"] as? String, "\(made.text)")
        }

        /// Waits until a proxy is made, and saves it.
        private func saved(_ server: WebServer, _ job: String, _ side: String) async throws -> String {
            let place = "/api/v1/jobs/\(job)/proxy/\(side).mp4"
            var answer = try await server.get(place)
            while answer.status == 503 { answer = try await server.get(place) }
            try #require(answer.status == 200, "\(side): \(answer.text)")
            #expect(answer.headers["content-type"] == "video/mp4")
            let path = fixture.path("\(side)-\(UUID().uuidString).mp4")
            try answer.body.write(to: URL(fileURLWithPath: path))
            return path
        }

        /// Which frames of a video those of another one show, by their thumbnails.
        private func shown(_ path: String, of source: String) async throws -> [Int?] {
            nearest(try await fixture.thumbnails(of: path), among: try await fixture.thumbnails(of: source))
        }

        private func streams(of path: String) async throws -> [String] {
            let found = try await fixture.run(
                .ffprobe,
                ["-v", "error", "-show_entries", "stream=codec_name,width,height,pix_fmt", "-of", "csv=p=0", path])
            return found.output.split(separator: "\n").map(String.init)
        }

        @Test func aTrimmedJobHasSmallCopiesOfItsRangeAndItsOutput() async throws {
            let source = try await film()
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let id = try await submit(
                        server,
                        ["source": source, "options": ["from": 2, "to": 4, "lossless": true, "container": "mkv"]])
                    _ = try await server.end(of: id)
                    // The first frame at 2 s or later is the 61st.
                    for (side, frames) in [("source", Array(60..<120)), ("output", Array((60..<120).reversed()))] {
                        let path = try await saved(server, id, side)
                        #expect(try await streams(of: path) == ["h264,640,360,yuv420p", "aac"], "\(side)")
                        #expect(try await shown(path, of: source) == frames.map(Optional.init), "\(side)")
                        // It is kept: other requests get the same bytes, and parts of them.
                        let place = "/api/v1/jobs/\(id)/proxy/\(side).mp4"
                        let part = try await server.get(place, headers: ["Range": "bytes=4-7"])
                        #expect(part.status == 206 && part.text == "ftyp", "\(side)")
                        #expect(try await server.get(place).body == Data(contentsOf: URL(fileURLWithPath: path)))
                    }
                    let kept = try FileManager.default.contentsOfDirectory(
                        atPath: "\(fleet.store)/jobs/\(id)/pictures"
                    ).filter { $0.contains("proxy") }
                    #expect(kept.sorted() == ["output-proxy-1.mp4", "source-proxy-1.mp4"])
                    // A source that has gone is not shown any more.
                    try FileManager.default.removeItem(atPath: source)
                    let gone = try await server.get("/api/v1/jobs/\(id)/proxy/source.mp4")
                    #expect(gone.status == 404 && gone.code == "source-inaccessible", "\(gone.text)")
                    #expect(try await server.get("/api/v1/jobs/\(id)/proxy/output.mp4").status == 200)
                }
            }
        }

        @Test func whatHasNoProxyIsAProblem() async throws {
            let source = try await film()
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let clips = [["source": source, "to": 1], ["source": source, "from": 5]]
                    let edit = try await submit(
                        server, ["edit": ["clips": clips], "options": ["container": "mkv"]])
                    let song = try await submit(server, ["source": source, "options": ["container": "flac"]])
                    for id in [edit, song] { #expect(try await server.end(of: id)["state"] as? String == "done") }
                    for place in ["\(edit)/proxy/source", "\(song)/proxy/source", "\(song)/proxy/output"] {
                        let answer = try await server.get("/api/v1/jobs/\(place).mp4")
                        #expect(answer.status == 404 && answer.code == "picture-missing", "\(place): \(answer.text)")
                    }
                    _ = try await saved(server, edit, "output")
                    #expect(try await server.get("/api/v1/jobs/\(edit)/proxy/sound.mp4").code == "side-unknown")
                    let unknown = try await server.get("/api/v1/jobs/0123456789abcdef/proxy/output.mp4")
                    #expect(unknown.status == 404 && unknown.code == "job-unknown")
                    let other = try await server.get(
                        "/api/v1/jobs/\(edit)/proxy/output.mp4", headers: ["Sec-Fetch-Site": "cross-site"])
                    #expect(other.status == 403 && other.code == "other-site")
                }
            }
        }

        @Test func onlyThoseWhoMayHaveASourceSeeItsProxy() async throws {
            let source = try await film()
            var tokens: [String: String] = [:]
            for (name, role) in [("eve", "viewer"), ("bob", "operator")] {
                let made = try await fixture.run(
                    .at(Program.folder + "/reel-server"),
                    ["token", name, "--role", role, "--tokens", fixture.path("tokens")])
                try #require(made.code == 0, "\(made.error)")
                tokens[name] = made.output.trimmingCharacters(in: .newlines)
            }
            let access = ["--tokens", fixture.path("tokens")]
            try await Fleet.with(fixture, workers: 0) { fleet in
                var place = ""
                try await WebServer.with(fleet, access + ["--sources", folder]) { server in
                    let id = try await submit(server, token: tokens["bob"], ["source": source])
                    place = "/api/v1/jobs/\(id)/proxy"
                    // No worker has made a plan yet.
                    for side in ["source", "output"] {
                        let answer = try await server.get("\(place)/\(side).mp4", token: tokens["bob"])
                        #expect(answer.status == 503 && answer.code == "picture-not-yet", "\(answer.text)")
                        #expect(
                            try await server.get("\(place)/\(side).mp4", token: tokens["eve"]).code == "role-too-low")
                        #expect(try await server.get("\(place)/\(side).mp4").status == 401)
                    }
                }
                // A server that may not read the folder of the source does not show it.
                try await WebServer.with(fleet, access) { server in
                    let answer = try await server.get("\(place)/source.mp4", token: tokens["bob"])
                    #expect(answer.status == 404 && answer.code == "source-outside", "\(answer.text)")
                }
            }
        }

        /// The greys that the players of source and result show; nil for one that shows nothing yet.
        private static let greys = """
            [...document.querySelectorAll('.player video')].map((video) => {
                if (video.readyState < 2 || video.seeking) return null;
                const context = new OffscreenCanvas(1, 1).getContext('2d');
                context.drawImage(video, 0, 0, 1, 1);
                return context.getImageData(0, 0, 1, 1).data[0];
            })
            """

        @Test(
            "a trimmed job that the browser cannot play shows the same frame on both sides",
            .enabled(if: Browser.isInstalled, "scripts/setup chromium chromedriver installs what this needs"))
        func bothPlayersShowTheSameFrame() async throws {
            // Each frame is brighter than the one before.
            let source = folder + "/rising.mkv"
            let made = try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-f", "lavfi", "-i", "nullsrc=s=160x120:r=10:d=6,geq=lum='30+N*3':cb=128:cr=128",
                    "-c:v", "ffv1", "-pix_fmt", "yuv420p", source,
                ])
            try #require(made.code == 0, "\(made.error)")
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, ["--sources", folder]) { server in
                    let id = try await submit(
                        server,
                        ["source": source, "options": ["from": 2, "to": 5, "lossless": true, "container": "mkv"]])
                    _ = try await server.end(of: id)
                    try await Browser.with(fixture) { browser in
                        try await browser.go(to: server.url("/jobs/\(id)"))
                        try await browser.wait(for: "document.querySelector('.hero video').videoWidth > 0")
                        let shown = try await browser.value(
                            of: "document.querySelector('.hero video').src", as: String.self)
                        #expect(shown.hasSuffix("/jobs/\(id)/proxy/output.mp4"))
                        try await browser.click(".result details summary")
                        try await browser.wait(for: "\(ProxyTests.greys).every((grey) => grey != null)")
                        let length = try await browser.value(
                            of: "document.querySelector('.transport output').textContent", as: String.self)
                        #expect(length == "0:00.000 / 0:03.000")
                        for frame in 0...2 {
                            // 30 frames, the last of which is the 50th of the source.
                            let wanted = (Double(30 + (49 - frame) * 3) - 16) * 255 / 219
                            let isThere = "Math.abs(grey - \(wanted)) < 2"
                            try await browser.wait(
                                for: "\(ProxyTests.greys).every((grey) => grey != null && \(isThere))")
                            try await browser.click(".player .transport [aria-label='One frame on']")
                        }
                    }
                }
            }
        }
    }
}
