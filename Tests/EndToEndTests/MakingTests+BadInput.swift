import Foundation
import Testing

/// Bad input on the page of submitting: nothing is lost, and the message is where the fault is.
extension EndToEnd.MakingTests {
    /// A video of a second or more, as small as may be.
    private func smallVideo(_ name: String, seconds: Int = 1, _ more: [String] = []) async throws -> String {
        let path = fixture.path(name)
        let made = try await fixture.run(
            .ffmpeg,
            ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=\(seconds)", "-c:v", "libx264"] + more + [
                path
            ])
        try #require(made.code == 0, "\(made.error)")
        return path
    }

    /// Drops files onto the page: videos of these names, and others with these contents.
    private func drop(
        _ videos: [String], _ others: [String: String] = [:], bytesOf path: String, _ browser: Browser
    ) async throws {
        func json(_ value: Any) throws -> String {
            String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
        }
        let count = try await browser.value(
            of: """
                fetch('api/v1/previews/file?source=' + encodeURIComponent('\(path)'))
                    .then((answer) => answer.blob()).then((video) => {
                        const items = new DataTransfer();
                        for (const name of \(json(videos))) items.items.add(new File([video], name));
                        for (const [name, text] of Object.entries(\(json(others)))) {
                            items.items.add(new File([text], name));
                        }
                        document.querySelector('.drop').dispatchEvent(
                            new DragEvent('drop', { dataTransfer: items, bubbles: true, cancelable: true }));
                        return items.files.length;
                    })
                """, as: Int.self)
        #expect(count == videos.count + others.count)
    }

    @Test("of forty files that are dropped, each bad one is named, and the others stay, whatever their names")
    func manyFiles() async throws {
        let video = try await smallVideo("v.mp4")
        let odd = [
            String(repeating: "long ", count: 45) + ".mp4", "\u{202E}4pm.exe.mp4", #""a" 'b' & <b>c %2e.mp4"#,
        ]
        let others = ["notes.txt": "notes", "empty.mp4": "", "broken.mp4": "no video"]
        try await Fleet.with(fixture, workers: 1) { fleet in
            try await WebServer.with(fleet, ["--sources", fixture.folder]) { server in
                try await Browser.with(fixture) { browser in
                    try await browser.go(to: server.url("/submit"))
                    try await browser.wait(for: "document.querySelector('.drop')")
                    try await drop(odd + (1...34).map { "clip-\($0).mp4" }, others, bytesOf: video, browser)
                    let left = try await browser.value(
                        of: "[...document.querySelectorAll('.left li')].map((one) => one.textContent).sort()",
                        as: [String].self)
                    #expect(
                        left == [
                            "empty.mp4: The file is empty, or it is a folder.",
                            "notes.txt: By its name it is neither a video nor a song.",
                        ])
                    let uploaded =
                        "[...document.querySelectorAll('.card .hint')].filter((hint) => "
                        + "hint.textContent.startsWith('Uploaded.')).length == 37"
                    try await browser.wait(for: uploaded)
                    // What is a video by its name alone says so at its place.
                    let bad =
                        "[...document.querySelectorAll('.card.bad')].map((card) => "
                        + "card.querySelector('.name').textContent + ': ' + card.querySelector('.hint.wrong').textContent)"
                    try await browser.wait(for: "\(bad).length == 1")
                    #expect(try await browser.value(of: bad, as: [String].self)[0].hasPrefix("broken.mp4: "))
                    try await browser.click(".sticky button.primary")
                    try await browser.wait(
                        for: "document.querySelector('.sticky .wrong').textContent.startsWith('broken.mp4: ')")
                    try await browser.click("[aria-label='Remove: broken.mp4']")
                    try await browser.wait(for: "document.querySelectorAll('.card').length == 37")
                    try await browser.setWidth(390)
                    #expect(
                        try await browser.value(of: "document.documentElement.scrollWidth", as: Int.self) <= 390)
                    try await submitEach(odd, bytesOf: video, browser)
                    #expect(try await browser.errors().map(\.message) == [])
                }
            }
        }
    }

    /// Begins anew, and makes a job of each of these files; the list names them legibly.
    private func submitEach(_ names: [String], bytesOf video: String, _ browser: Browser) async throws {
        try await browser.click(".head button.quiet")
        try await browser.wait(for: "document.querySelectorAll('.card').length == 0")
        try await drop(names, bytesOf: video, browser)
        try await browser.wait(for: "document.querySelectorAll('.card').length == \(names.count)")
        try await browser.click("input[name=together][value=no]")
        try await browser.click(".sticky button.primary")
        try await browser.wait(
            for: "document.querySelectorAll('table.jobs .state[data-state=done]').length == \(names.count)")
        let listed = try await browser.value(
            of: "[...document.querySelectorAll('table.jobs a.name')].map((name) => name.textContent).reverse()",
            as: [String].self)
        // A long name is shortened, and keeps its ending.
        let legible = names.map { $0.utf8.count > 200 ? $0.prefix(196) + ".mp4" : $0 }
        #expect(listed == legible.map { $0.replacing("\u{202E}", with: "\\u{202E}") })
        #expect(try await browser.value(of: "document.documentElement.scrollWidth", as: Int.self) <= 390)
    }

    @Test("two tabs have a draft each: neither changes what the other one has")
    func twoTabs() async throws {
        let film = try fixture.copy(try await Clips.shared.film(), as: "film.mp4")
        try await Fleet.with(fixture, workers: 1) { fleet in
            try await WebServer.with(fleet) { server in
                try await Browser.with(fixture) { browser in
                    let first = try await browser.tab()
                    try await browser.go(to: server.url("/submit"))
                    try await browser.type(film, into: "input[type=file]")
                    try await browser.wait(for: EndToEnd.MakingTests.isPictured)
                    try await browser.type("1", into: "#field-from")
                    // A second tab begins with what the first one has, and goes another way.
                    let second = try await browser.openTab()
                    try await browser.show(tab: second)
                    try await browser.go(to: server.url("/submit"))
                    try await browser.wait(for: EndToEnd.MakingTests.isPictured)
                    #expect(try await value(browser, "from") == "1")
                    try await browser.type("2", into: "#field-to")
                    try await browser.type("second", into: "#field-name")
                    for (tab, to, name) in [(first, "", ""), (second, "2", "second")] {
                        try await browser.show(tab: tab)
                        try await browser.go(to: server.url("/submit"))
                        try await browser.wait(for: EndToEnd.MakingTests.isPictured)
                        #expect(try await value(browser, "from") == "1")
                        #expect(try await value(browser, "to") == to)
                        #expect(try await value(browser, "name") == name)
                    }
                    // What one submits leaves the other's draft as it is.
                    try await browser.click(".sticky button.primary")
                    try await browser.wait(for: "document.querySelector('.hero video').videoWidth > 0")
                    try await browser.show(tab: first)
                    try await browser.go(to: server.url("/submit"))
                    try await browser.wait(for: EndToEnd.MakingTests.isPictured)
                    #expect(try await value(browser, "from") == "1")
                    try await browser.click(".sticky button.primary")
                    try await browser.wait(for: "document.querySelector('.hero video').videoWidth > 0")
                    let jobs = try #require(
                        try await server.get("/api/v1/jobs").object()["jobs"] as? [[String: Any]])
                    #expect(jobs.map { $0["frames"] as? Int } == [96, 24])
                }
            }
        }
    }

    @Test("an upload goes on after its server was away, and what was chosen meanwhile stays")
    func awayServer() async throws {
        // Noise does not shrink: two megabytes or so.
        let film = fixture.path("noise.mp4")
        let made = try await fixture.run(
            .ffmpeg,
            [
                "-v", "error", "-f", "lavfi", "-i", "nullsrc=s=320x240:r=10:d=3,geq=random(1)*255:128:128", "-c:v",
                "libx264", "-qp", "10", film,
            ])
        try #require(made.code == 0, "\(made.error)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: film))
        try await Fleet.with(fixture, workers: 1) { fleet in
            try await Browser.with(fixture) { browser in
                var port = 0
                try await WebServer.withKilled(fleet, []) { server in
                    port = server.port
                    try await browser.go(to: server.url("/submit"))
                    try await browser.wait(for: "document.querySelector('.drop')")
                    try await browser.setUploadRate(bytes.count / 8)
                    try await browser.type(film, into: "input[type=file]")
                    try await browser.wait(for: "document.querySelector('.card progress').value > 0.2")
                    try await browser.type("1", into: "#field-from")
                }
                try await browser.wait(
                    for: "document.querySelector('.card .hint').textContent.includes('Connection lost')")
                #expect(
                    try await browser.value(of: "document.querySelector('.card progress').value", as: Double.self)
                        < 1)
                try await browser.type("2", into: "#field-to")
                try await browser.setUploadRate(-1)
                try await WebServer.with(fleet, port: port) { server in
                    try await browser.wait(for: EndToEnd.MakingTests.isPictured)
                    #expect(try await value(browser, "from") == "1")
                    #expect(try await value(browser, "to") == "2")
                    try await browser.click(".sticky button.primary")
                    try await browser.wait(for: "document.querySelector('.hero video').videoWidth > 0")
                    let job = try await browser.value(of: "location.pathname", as: String.self)
                    #expect(try await server.get("/api/v1\(job)/source").body == bytes)
                    #expect(try await server.get("/api/v1\(job)").object()["frames"] as? Int == 10)
                }
            }
        }
    }

    @Test("a range without frames is said at its field, and can be put right")
    func badRange() async throws {
        let film = try await smallVideo("v.mp4", seconds: 4)
        try await Fleet.with(fixture, workers: 1) { fleet in
            try await WebServer.with(fleet) { server in
                try await Browser.with(fixture) { browser in
                    try await browser.go(to: server.url("/submit"))
                    try await browser.type(film, into: "input[type=file]")
                    try await browser.wait(for: EndToEnd.MakingTests.isPictured)
                    for (from, to, field) in [
                        ("3", "1", "from"), ("100", "", "from"), ("", "0", "to"), ("x", "", "from"),
                    ] {
                        for (name, text) in [("from", from), ("to", to)] {
                            try await browser.run("document.querySelector('#field-\(name)').select()")
                            try await browser.type(text.isEmpty ? "\u{E017}" : text, into: "#field-\(name)")
                        }
                        try await browser.click(".sticky button.primary")
                        try await browser.wait(for: "!document.querySelector('#field-\(field)-wrong').hidden")
                        let words = try await browser.value(
                            of: "document.querySelector('#field-\(field)-wrong').textContent", as: String.self)
                        #expect(
                            words == "No frame lies in this range: the video lasts from 0 to 4 s.",
                            "\(from) to \(to)")
                        let hasFocus = "document.activeElement.id == 'field-\(field)'"
                        #expect(try await browser.value(of: hasFocus, as: Bool.self), "\(from) to \(to)")
                    }
                    try await browser.run("document.querySelector('#field-from').select()")
                    try await browser.type("2", into: "#field-from")
                    try await browser.wait(for: "document.querySelector('#field-from-wrong').hidden")
                    try await browser.click(".sticky button.primary")
                    try await browser.wait(for: "document.querySelector('.hero video').videoWidth > 0")
                }
            }
        }
    }
}
