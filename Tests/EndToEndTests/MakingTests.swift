import Foundation
import Testing

extension EndToEnd {
    /// What people make on the page of submitting, in a real browser, with Redis, a worker and engines.
    @Suite(.enabled(if: Browser.isInstalled, "scripts/setup chromium chromedriver installs what this needs"))
    struct MakingTests {
        let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        static let isPictured =
            "!document.querySelector('.picture').hidden && document.querySelector('.film').height != 150"
        private static let names = "[...document.querySelectorAll('.card .name')].map((name) => name.textContent)"

        private func isShown(_ selector: String) -> String {
            "document.querySelector('\(selector)').getClientRects().length > 0"
        }

        func value(_ browser: Browser, _ field: String) async throws -> String {
            try await browser.value(of: "document.querySelector('#field-\(field)').value", as: String.self)
        }

        /// What the page's button downloads.
        private func download(_ browser: Browser, _ server: WebServer, _ name: String) async throws -> String {
            let place = try await browser.value(
                of: "new URL(document.querySelector('.result a.primary[download]').href).pathname", as: String.self)
            let answer = try await server.get(place)
            try #require(answer.status == 200, "\(answer.text)")
            let path = fixture.path(name)
            try answer.body.write(to: URL(fileURLWithPath: path))
            return path
        }

        /// The mean grey of each picture of a file.
        private func greys(_ path: String) async throws -> [UInt8] {
            let raw = fixture.path("raw-\(UUID().uuidString)")
            let made = try await fixture.run(
                .ffmpeg,
                [
                    "-v", "error", "-i", path, "-vf", "scale=1:1:flags=area,format=gray", "-vsync", "0", "-f",
                    "rawvideo", raw,
                ])
            try #require(made.code == 0, "\(made.error)")
            return Array(try Data(contentsOf: URL(fileURLWithPath: raw)))
        }

        @Test("a second of an upload, chosen by mouse and keys, becomes a ping-pong GIF that is downloaded")
        func loop() async throws {
            let film = try fixture.copy(try await Clips.shared.film(), as: "jump.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet) { server in
                    try await Browser.with(fixture) { browser in
                        try await browser.go(to: server.url("/submit"))
                        try await browser.type(film, into: "input[type=file]")
                        try await browser.wait(for: MakingTests.isPictured)
                        try await chooseASecond(browser)
                        try await browser.click("input[value=ping-pong]")
                        try await browser.type("GIF", into: "#field-container")
                        // A GIF has colours, and neither quality nor sound.
                        try await browser.wait(for: isShown("#field-colors"))
                        for name in ["crf", "videoCodec", "audioCodec"] {
                            let isThere = try await browser.value(
                                of: "!document.querySelector('#field-\(name)').closest('.field').hidden", as: Bool.self)
                            #expect(!isThere, "\(name)")
                        }
                        try await seeThePreviewTurn(browser)
                        let (from, to) = (try await value(browser, "from"), try await value(browser, "to"))
                        // What has not been sent is there after a reload.
                        try await browser.go(to: server.url("/submit"))
                        try await browser.wait(for: MakingTests.isPictured)
                        #expect(try await value(browser, "from") == from)
                        #expect(try await value(browser, "to") == to)
                        #expect(try await value(browser, "container") == "gif")

                        try await browser.click(".sticky button.primary")
                        try await browser.wait(for: "document.querySelector('.hero img').naturalWidth > 0")
                        let words = try await browser.value(
                            of: "document.querySelector('p.what').textContent", as: String.self)
                        #expect(words == "forth and back, \(from)–\(to) s → GIF")
                        let made = try await download(browser, server, "jump.gif")
                        // 24 frames of 24000/1001 a second, and 22 back.
                        #expect(try await greys(made).count == 46)
                        let source = try await greys(film)
                        let loop = try await greys(made)
                        for (place, frame) in [(0, 24), (23, 47), (24, 46), (45, 25)] {
                            #expect(abs(Int(loop[place]) - Int(source[frame])) < 6, "picture \(place)")
                        }
                        #expect(try await browser.errors().map(\.message) == [])
                    }
                }
            }
        }

        /// The 24 frames from the 25th on: the start by keys, the end by the mouse and then by keys.
        private func chooseASecond(_ browser: Browser) async throws {
            try await browser.focus(".handle.from")
            try await browser.press(.pageUp)
            #expect(try await value(browser, "from") == "1.001")
            let width = try await browser.value(of: "document.querySelector('.range').clientWidth", as: Int.self)
            try await browser.drag(".handle.to", by: -width / 2)
            let dragged = try await browser.value(
                of: "Number(document.querySelector('.handle.to').ariaValueNow)", as: Int.self)
            #expect((50..<70).contains(dragged), "\(dragged)")
            for _ in 0..<abs(dragged - 47) { try await browser.press(dragged > 47 ? .left : .right) }
            #expect(try await value(browser, "to") == "2.002")
            let said = try await browser.value(
                of: "document.querySelector('.handle.to').getAttribute('aria-valuetext')", as: String.self)
            #expect(said.hasSuffix("frame 47"))
        }

        /// Watches the preview's frames go up to the last of the range, and down again.
        private func seeThePreviewTurn(_ browser: Browser) async throws {
            try await browser.run(
                """
                window.seen = [];
                const canvas = document.querySelectorAll('.stage canvas')[1];
                new MutationObserver(() => window.seen.push(Number(canvas.dataset.frame)))
                    .observe(canvas, { attributeFilter: ['data-frame'] });
                """)
            try await browser.click(".screen button.primary")
            // Few frames are drawn on a machine that is busy: so it is watched for longer than one turn.
            try await browser.wait(
                for: """
                    window.seen.some((frame, place) => place > 1 && frame < window.seen[place - 1]
                        && window.seen[place - 1] > window.seen[place - 2])
                    """)
            #expect(try await browser.value(of: "Math.max(...window.seen)", as: Int.self) <= 23)
        }

        @Test("three clips are ordered by mouse and by keys, one is reversed, and they become one film")
        func film() async throws {
            // The brightness of each tells which it is, and that of the last one grows.
            var files: [String] = []
            for (name, light) in [("dark", "40"), ("bright", "210"), ("rising", "60+N*10")] {
                let path = fixture.path("\(name).mp4")
                let made = try await fixture.run(
                    .ffmpeg,
                    [
                        "-v", "error", "-f", "lavfi", "-i",
                        "nullsrc=s=160x120:r=10:d=1,geq=lum='\(light)':cb=128:cr=128", "-c:v", "libx264", "-pix_fmt",
                        "yuv420p", path,
                    ])
                try #require(made.code == 0, "\(made.error)")
                files.append(path)
            }
            try "notes".write(toFile: fixture.path("notes.txt"), atomically: true, encoding: .utf8)
            files.append(fixture.path("notes.txt"))
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet) { server in
                    try await Browser.with(fixture) { browser in
                        try await browser.go(to: server.url("/submit"))
                        try await browser.type(files.joined(separator: "\n"), into: "input[type=file]")
                        try await browser.wait(for: "document.querySelectorAll('.card').length == 3")
                        // What is no video is named, and the others are taken.
                        try await browser.wait(
                            for: "document.querySelector('.left').textContent.startsWith('notes.txt: ')")
                        #expect(
                            try await browser.value(of: MakingTests.names, as: [String].self)
                                == ["dark.mp4", "bright.mp4", "rising.mp4"])
                        try await browser.drag(".card:nth-child(1) .thumb", by: 190)
                        #expect(
                            try await browser.value(of: MakingTests.names, as: [String].self)
                                == ["bright.mp4", "dark.mp4", "rising.mp4"])
                        try await browser.setWidth(390)
                        try await browser.setColours("dark")
                        try await browser.focus(".card:nth-child(3) .face")
                        try await browser.press(.left, .left, holding: .alt)
                        #expect(
                            try await browser.value(of: MakingTests.names, as: [String].self)
                                == ["rising.mp4", "bright.mp4", "dark.mp4"])
                        // The card that was moved has the focus still; space chooses it.
                        try await browser.press(.space)
                        try await browser.wait(for: "document.querySelector('.editor h2').textContent == 'Clip 1 of 3'")
                        try await browser.focus("input[value=forward]")
                        try await browser.press(.left)
                        try await browser.wait(for: "document.querySelector('input[value=reverse]').checked")
                        let width = try await browser.value(of: "document.documentElement.scrollWidth", as: Int.self)
                        #expect(width <= 390)
                        try await browser.focus(".sticky button.primary")
                        try await browser.press(.space)
                        try await browser.wait(for: "document.querySelector('.hero video').videoWidth > 0")
                        let words = try await browser.value(
                            of: "document.querySelector('p.what').textContent", as: String.self)
                        #expect(words == "3 clips, 1 backwards → MP4")
                        let greys = try await greys(download(browser, server, "film.mp4"))
                        try #require(greys.count == 30)
                        #expect(greys[0] > greys[5] && greys[5] > greys[9])
                        #expect(greys[10..<20].allSatisfy { $0 > 180 } && greys[20...].allSatisfy { $0 < 60 })
                        #expect(try await browser.errors().map(\.message) == [])
                    }
                }
            }
        }
    }
}
