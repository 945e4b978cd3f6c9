import Foundation
import Testing

extension EndToEnd {
    /// The pages of a real server in a real browser, with Redis, a worker and engines.
    @Suite(.enabled(if: Browser.isInstalled, "scripts/setup chromium chromedriver installs what this needs"))
    struct BrowserTests {
        private let fixture: ProcessFixture

        init() throws { fixture = try ProcessFixture() }

        /// A name of a file, a name and a label that would do something if they became part of a page.
        private static let (hostileFile, hostileName, hostileLabel) = (
            #"<img src=x onerror="window.hacked=1">.mp4"#, "<script>window.hacked=2</script><b>bold</b>",
            "<img src=x onerror=window.hacked=3>"
        )
        private static let state = "document.querySelector('main .head .state').dataset.state"
        private static let videos = "[...document.querySelectorAll('.player video')]"
        private static let isLive =
            "document.querySelector('#link').textContent == 'live' && document.querySelector('#banner').hidden"

        /// Options of a server that knows one token, and the token.
        private func access() async throws -> (options: [String], token: String) {
            let made = try await fixture.run(
                .at(Program.folder + "/reel-server"),
                ["token", "boss", "--role", "admin", "--tokens", fixture.path("tokens")])
            try #require(made.code == 0, "\(made.error)")
            return (["--tokens", fixture.path("tokens")], made.output.trimmingCharacters(in: .newlines))
        }

        private func signIn(_ browser: Browser, _ token: String) async throws {
            try await browser.wait(for: "location.pathname == '/sign-in'")
            try await browser.type(token, into: "#token")
            try await browser.click("main form button.primary")
            try await browser.wait(for: "!document.querySelector('#sign-out').hidden && \(BrowserTests.isLive)")
        }

        /// A small file of the corpus if there is one.
        private func film() async throws -> String {
            let corpus = ProcessInfo.processInfo.environment["REEL_CORPUS"] ?? ""
            let real = corpus + "/gopro_hero5_h264_gpmf_timecode.mp4"
            return FileManager.default.fileExists(atPath: real) ? real : try await Clips.shared.film()
        }

        @Test("a file is uploaded, reversed and watched, another job is cancelled, and no text of theirs acts")
        func jobs() async throws {
            let (options, token) = try await access()
            let film = try fixture.copy(try await film(), as: BrowserTests.hostileFile)
            let long = try fixture.copy(try await Clips.shared.long(), as: "long.mp4")
            try await Fleet.with(fixture, workers: 1) { fleet in
                try await WebServer.with(fleet, options) { server in
                    try await Browser.with(fixture) { browser in
                        try await browser.go(to: server.url("/"))
                        try await browser.run("window.isSame = true")
                        try await browser.type("wrong", into: "#token")
                        try await browser.click("main form button.primary")
                        try await browser.wait(
                            for: "document.querySelector('main .wrong').textContent.includes('not valid')")
                        try await browser.run("document.querySelector('#token').value = ''")
                        try await signIn(browser, token)

                        try await upload(film, browser)
                        try await watchIt(browser)
                        try await play(browser)
                        try await cancel(long, browser)
                        try await expectText(browser)
                        try await rename(browser)
                        try await removeAll(browser)
                        #expect(try await browser.value(of: "window.isSame", as: Bool.self))
                        #expect(try await browser.errors().map(\.message) == [])
                        try await expectPolicy(browser)
                    }
                }
            }
        }

        /// Submits a file with a label.
        private func upload(_ file: String, _ browser: Browser) async throws {
            try await browser.click("#pages a[data-page=submit]")
            try await browser.wait(for: "document.querySelector('input[type=file]')")
            try await browser.run(
                """
                window.seen = [];
                new MutationObserver(() => {
                    const meter = document.querySelector('main progress');
                    if (meter && window.seen.at(-1) !== meter.position) window.seen.push(meter.position);
                }).observe(document.querySelector('main'), { subtree: true, childList: true, attributes: true });
                """)
            try await browser.type(file, into: "input[type=file]")
            try await browser.wait(for: "document.querySelector('main').innerText.includes('Uploaded.')")
            let seen = try await browser.value(of: "window.seen", as: [Double].self)
            #expect(seen.count > 1 && seen.first == 0 && seen.last == 1 && seen == seen.sorted(), "\(seen)")
            try await browser.type("note=\(BrowserTests.hostileLabel)", into: "#field-labels")
            // Small pictures are encoded fast, also beside other tests.
            try await browser.type("320x180", into: "#field-size")
            try await browser.click(".sticky button:not(.primary)")
            try await browser.wait(
                for: "[...document.querySelectorAll('h2')].some((head) => head.textContent == 'Plan')")
            try await browser.click(".sticky button.primary")
            try await browser.wait(for: #"/^\/jobs\/[0-9a-f]+$/.test(location.pathname)"#)
        }

        /// Waits until the job whose page is shown is done, and its pictures are there.
        private func watchIt(_ browser: Browser) async throws {
            try await browser.wait(for: "document.querySelector('main h1').innerText.startsWith('<img src=x')")
            try await browser.wait(for: "\(BrowserTests.state) == 'done'")
            try await browser.wait(for: "document.querySelector('canvas.strip.large').width > 0")
            let tags = try await browser.value(
                of: "[...document.querySelectorAll('main a.tag')].map((tag) => tag.innerText)", as: [String].self)
            #expect(tags == ["note=\(BrowserTests.hostileLabel)"])
            try await browser.wait(
                for: """
                    [...document.querySelectorAll('.films img')].length == 2 &&
                    [...document.querySelectorAll('.films img')].every((image) => image.naturalWidth > 0)
                    """)
        }

        /// Where source and result of a player are, in seconds, and how long it says that the result is.
        private struct Position: Decodable {
            let source, output, length, frames: Double
            /// The moment and number of the result's frame, as the player says them.
            let words: String

            var frame: Int? { words.split(separator: " ").last.flatMap { Int($0) } }
            var frameLength: Double { length / frames }
        }

        private func position(_ browser: Browser) async throws -> Position {
            let videos = BrowserTests.videos
            // A source that follows is there when it does not seek any more.
            try await browser.wait(for: "\(videos).every((video) => !video.seeking)")
            return try await browser.value(
                of: """
                    (([source, output], slider) => ({
                        source: source.currentTime, output: output.currentTime,
                        length: Number(slider.max) + Number(slider.step) / 2,
                        frames: Math.round((Number(slider.max) + Number(slider.step) / 2) / Number(slider.step)),
                        words: slider.getAttribute('aria-valuetext'),
                    }))(\(videos), document.querySelector('.transport input'))
                    """)
        }

        /// Plays the result, and steps through it; the source mirrors it.
        private func play(_ browser: Browser) async throws {
            let videos = BrowserTests.videos
            let button = ".player .transport button.primary"
            try await browser.wait(for: "document.querySelector('.hero video').videoWidth > 0")
            try await browser.click(".result details summary")
            try await browser.wait(for: "\(videos).length == 2 && \(videos).every((video) => video.videoWidth > 0)")
            try await browser.click(button)
            try await browser.wait(for: "\(videos)[1].currentTime > 0.5 && !\(videos)[1].paused")
            try await browser.wait(for: "\(videos)[0].currentTime < \(videos)[0].duration - 0.3")
            try await browser.click(button)
            try await browser.wait(for: "\(videos)[1].paused")
            var (before, steps) = (try await settled(browser), [Int]())
            for step in [1, 1, -1] {
                let label = step > 0 ? "One frame on" : "One frame back"
                try await browser.click(".player .transport [aria-label='\(label)']")
                let after = try await settled(browser)
                steps.append(try #require(after.frame) - (try #require(before.frame)))
                before = after
            }
            #expect(steps == [1, 1, -1])
        }

        /// The position, once the source shows the frame that mirrors the result's.
        private func settled(_ browser: Browser) async throws -> Position {
            var found = try await position(browser)
            for _ in 0..<100 where abs(found.source + found.output - found.length) > found.frameLength {
                try await Task.sleep(for: .milliseconds(50))
                found = try await position(browser)
            }
            #expect(abs(found.source + found.output - found.length) <= found.frameLength, "\(found)")
            return found
        }

        /// Submits a job that takes long, under a name, and cancels it.
        private func cancel(_ file: String, _ browser: Browser) async throws {
            try await browser.click("#pages a[data-page=submit]")
            try await browser.type(file, into: "input[type=file]")
            try await browser.type(BrowserTests.hostileName, into: "#field-name")
            try await browser.type("1920x1080", into: "#field-size")
            try await browser.click("main details:not(.panel) summary")
            try await browser.type("veryslow", into: "#field-preset")
            try await browser.click(".sticky button.primary")
            try await browser.wait(for: "\(BrowserTests.state) == 'running'")
            try await browser.click("main .head button.danger")
            let question = try await browser.value(of: "document.querySelector('dialog').innerText", as: String.self)
            #expect(question.contains(BrowserTests.hostileName))
            try await browser.click("dialog button.primary")
            try await browser.wait(for: "\(BrowserTests.state) == 'cancelled'")
        }

        /// In the list of jobs what users wrote is text.
        private func expectText(_ browser: Browser) async throws {
            try await browser.click("a.brand")
            try await browser.wait(for: "document.querySelectorAll('table.jobs tbody tr').length == 2")
            let list = try await browser.value(of: "document.querySelector('table.jobs').innerText", as: String.self)
            for text in [BrowserTests.hostileFile, BrowserTests.hostileName, "note=\(BrowserTests.hostileLabel)"] {
                #expect(list.contains(text), "\(list)")
            }
            let made = try await browser.value(
                of: "document.querySelectorAll('img[src=x], [onerror], main script, main b').length", as: Int.self)
            #expect(made == 0)
            #expect(try await browser.value(of: "typeof window.hacked", as: String.self) == "undefined")
        }

        /// Gives the latest job a name on its page, which the list then has.
        private func rename(_ browser: Browser) async throws {
            try await browser.click("table.jobs tbody tr:first-child a.name")
            try await browser.click("main .head .bar button")
            try await browser.run("document.querySelector('dialog input[type=text]').value = ''")
            try await browser.type("Renamed", into: "dialog input[type=text]")
            try await browser.click("dialog button.primary")
            try await browser.wait(for: "document.querySelector('main h1').textContent == 'Renamed'")
            try await browser.click(".crumbs a")
            try await browser.wait(
                for: "document.querySelector('table.jobs tbody tr:first-child a.name').textContent == 'Renamed'")
        }

        /// Sorts the list, which has a picture of the job that is done, and removes all jobs at once.
        private func removeAll(_ browser: Browser) async throws {
            let names = "[...document.querySelectorAll('table.jobs a.name')].map((name) => name.textContent)"
            try await browser.click(".sort option[value=name]")
            try await browser.wait(for: "\(names)[0] == \(names).toSorted()[0] && \(names).length == 2")
            try await browser.wait(for: "document.querySelector('table.jobs img.there').naturalWidth > 0")
            let words = try await browser.value(
                of: "[...document.querySelectorAll('table.jobs .what')].map((what) => what.textContent)",
                as: [String].self)
            #expect(words == ["backwards → MP4", "backwards → MP4"])
            try await browser.wait(
                for: "document.querySelector('.chip[data-state=done] .count').textContent == '1'")
            try await browser.click("table.jobs thead input")
            // The one that is done can be downloaded with others; the one that was cancelled is left out.
            let link = "document.querySelector('.choice-bar a[download]')"
            #expect(try await browser.value(of: "\(link).textContent", as: String.self) == "Download 1 as zip")
            let kind = "fetch(\(link).href).then((answer) => answer.blob()).then((blob) => blob.type)"
            #expect(try await browser.value(of: kind, as: String.self) == "application/zip")
            try await browser.click(".choice-bar button.danger")
            try await browser.click("dialog button.primary")
            try await browser.wait(for: "document.querySelectorAll('table.jobs tbody tr').length == 0")
        }

        /// Even if a text became part of the page, the page's policy would forbid what it does, and the console would tell.
        private func expectPolicy(_ browser: Browser) async throws {
            try await browser.run(
                """
                const script = document.createElement('script');
                script.textContent = 'window.hacked = 4';
                const image = document.createElement('img');
                image.setAttribute('onerror', 'window.hacked = 5');
                image.src = 'x';
                document.body.append(script, image);
                """)
            let isForbidden = try await eventually { try await browser.errors().contains { $0.source == "security" } }
            #expect(isForbidden)
            #expect(try await browser.value(of: "typeof window.hacked", as: String.self) == "undefined")
        }

        @Test("a page outlives its server, fits a telephone, and shows nothing after signing out")
        func connection() async throws {
            let access = try await access()
            let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
            let options = access.options + ["--sources", fixture.folder]
            try await Fleet.with(fixture, workers: 1) { fleet in
                let first = try await fleet.submit([film, "--name", "before"])
                try await Browser.with(fixture) { browser in
                    var port = 0
                    try await WebServer.withKilled(fleet, options) { server in
                        port = server.port
                        try await browser.go(to: server.url("/"))
                        try await browser.run("window.isSame = true")
                        try await signIn(browser, access.token)
                        try await browser.wait(for: row("before", "done"))
                    }
                    // What the banner says first depends on whether a request was under way.
                    try await browser.wait(for: "document.querySelector('#link').textContent == 'connection lost'")
                    try await browser.wait(for: "/trying again/i.test(document.querySelector('#banner').innerText)")
                    _ = try await fleet.submit([film, "--name", "meanwhile"])
                    try await WebServer.with(fleet, options, port: port) { server in
                        try await browser.wait(for: BrowserTests.isLive)
                        try await browser.wait(for: row("meanwhile", "done"))
                        try await expectNoSidewaysScrolling(browser, first)
                        #expect(try await browser.value(of: "window.isSame", as: Bool.self))
                        try await expectMissingPage(browser, server)
                        try await signOut(browser)
                        try await expectDescription(browser, server)
                        #expect(try await server.get("/api/v1/jobs").status == 401)
                        #expect(try await browser.errors().map(\.message) == [])
                    }
                }
            }
        }

        /// Whether the list of jobs has a row of that name and state.
        private func row(_ name: String, _ state: String) -> String {
            """
            [...document.querySelectorAll('table.jobs tbody tr')].some(
                (row) => row.innerText.includes('\(name)') && row.querySelector('.state').dataset.state == '\(state)')
            """
        }

        /// Goes to every page, as narrow as a telephone and in the dark.
        private func expectNoSidewaysScrolling(_ browser: Browser, _ job: String) async throws {
            let light = try await colour(browser)
            try await browser.setColours("dark")
            try await browser.setWidth(390)
            #expect(try await colour(browser) != light)
            // What is clicked must not move meanwhile.
            let frames =
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(innerWidth))))"
            #expect(try await browser.value(of: frames, as: Int.self) == 390)
            let links =
                ["table.jobs a[href='jobs/\(job)']"]
                + ["submit", "queue", "workers", "audit", "jobs"].map { "#pages a[data-page=\($0)]" }
            for link in links {
                try await browser.click(link)
                try await browser.wait(for: "document.querySelector('main h1').getClientRects().length > 0")
                if link.contains("jobs/") {
                    try await browser.wait(for: "location.pathname == '/jobs/\(job)'")
                    try await browser.wait(
                        for: "[...document.querySelectorAll('.films img')].every((image) => image.naturalWidth > 0)")
                }
                let width = try await browser.value(of: "document.documentElement.scrollWidth", as: Int.self)
                #expect(width <= 390, "\(link)")
            }
            #expect(try await browser.value(of: "innerWidth", as: Int.self) == 390)
        }

        private func colour(_ browser: Browser) async throws -> String {
            try await browser.value(of: "getComputedStyle(document.documentElement).backgroundColor")
        }

        /// Asks for a place that no page has.
        private func expectMissingPage(_ browser: Browser, _ server: WebServer) async throws {
            let accepts = ["Accept": "text/html,*/*"]
            let answer = try await server.get("/nothing/here", headers: accepts)
            #expect(answer.status == 404 && answer.headers["content-type"]?.hasPrefix("text/html") == true)
            #expect(try await server.get("/api/v1/nothing", headers: accepts).code == "http-404")
            try await browser.run("history.pushState(null, '', '/nothing/here'); dispatchEvent(new Event('popstate'))")
            try await browser.wait(for: "document.querySelector('main h1').textContent == 'There is no such page'")
            try await browser.click("a.brand")
            try await browser.wait(for: "document.querySelector('table.jobs')")
        }

        /// The description of the API needs no token. The browser is as narrow as a telephone still, and dark.
        private func expectDescription(_ browser: Browser, _ server: WebServer) async throws {
            try await browser.go(to: server.url("/docs#submitJob"))
            try await browser.wait(for: "document.querySelector('#submitJob[open] pre')")
            let text = try await browser.value(of: "document.querySelector('#submitJob').innerText", as: String.self)
            for part in [
                "For the role operator and above.", "webhook-private", "curl -X POST '\(server.url("/api/v1/jobs"))'",
            ] {
                #expect(text.contains(part), "\(part)")
            }
            try await browser.click("#submitJob details summary")
            try await browser.wait(for: "document.querySelector('#submitJob').innerText.includes('webhook string')")
            try await browser.click("#getSession summary")
            try await browser.wait(for: "document.querySelector('#getSession').innerText.includes('For any caller.')")
            try await browser.type("filmstrip", into: ".docs input")
            let shown = "[...document.querySelectorAll('.panel > details:not([hidden])')].map((one) => one.id)"
            #expect(try await browser.value(of: shown, as: [String].self) == ["getFilmstrip"])
            #expect(try await browser.value(of: "document.documentElement.scrollWidth", as: Int.self) <= 390)
        }

        private func signOut(_ browser: Browser) async throws {
            try await browser.click("#sign-out")
            try await browser.wait(for: "location.pathname == '/sign-in' && document.querySelector('#token')")
            #expect(
                try await browser.value(of: "fetch('api/v1/jobs').then((answer) => answer.status)", as: Int.self) == 401
            )
            // Going back leads to no page that tells of jobs.
            try await browser.run("history.back()")
            try await browser.wait(for: "location.pathname == '/sign-in' && document.querySelector('#token')")
            #expect(
                try await browser.value(of: "document.querySelectorAll('table.jobs tbody tr').length", as: Int.self)
                    == 0)
        }
    }
}
