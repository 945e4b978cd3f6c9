import Foundation
import Glibc
import Testing

/// A Chromium that is driven through chromedriver, by the WebDriver protocol.
struct Browser {
    private let fixture: ProcessFixture
    private let driver: Child
    /// The address of the session.
    private let address: String

    /// Whether there are both a chromedriver and a Chromium to drive.
    static let isInstalled = program("chromedriver") != nil && chromium != nil && curl != nil

    private static let chromium = ["chromium", "chromium-browser", "google-chrome"].lazy.compactMap(program).first

    private static let curl = program("curl")

    private static func program(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
    }

    /// Runs `body` with a browser that shows nothing yet; afterwards nothing of it runs any more. What it showed at a failure
    /// is kept beside the programs under test.
    static func with(_ fixture: ProcessFixture, _ body: (Browser) async throws -> Void) async throws {
        let browser = try await start(fixture)
        do {
            try await body(browser)
        } catch {
            await browser.keepPicture()
            try? await browser.end()
            throw error
        }
        try await browser.end()
    }

    private static func start(_ fixture: ProcessFixture) async throws -> Browser {
        let home = fixture.path("browser")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let port = try WebServer.freePort()
        let driver = try await fixture.start(
            .at(try #require(program("chromedriver"))), ["--port=\(port)"],
            environment: ["HOME": home, "TMPDIR": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home])
        let address = "http://127.0.0.1:\(port)"
        let answers = try await eventually {
            guard driver.isRunning else { return true }
            return (try? await send(fixture, "GET", "\(address)/status")) != nil
        }
        do {
            try #require(answers && driver.isRunning, "chromedriver did not start")
            // A container and root have no sandbox of Chromium's, and containers little shared memory.
            let options: [String: Any] = [
                "binary": try #require(chromium),
                "args": [
                    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--mute-audio",
                    "--no-first-run", "--window-size=1200,900",
                ],
            ]
            let wanted: [String: Any] = [
                "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"],
            ]
            let body = try JSONSerialization.data(withJSONObject: ["capabilities": ["alwaysMatch": wanted]])
            let session = try value(await send(fixture, "POST", "\(address)/session", body), as: Session.self)
            return Browser(fixture: fixture, driver: driver, address: "\(address)/session/\(session.sessionId)")
        } catch {
            while fixture.kill("chrom") { usleep(1000) }
            print(try await driver.outcome.error)
            throw error
        }
    }

    private func end() async throws {
        let isClosed = (try? await command("DELETE", "")) != nil
        // The browser's processes hold the output of the driver.
        while fixture.kill("chrom") { usleep(1000) }
        _ = try await driver.outcome
        #expect(isClosed, "the browser did not close")
    }

    // MARK: The protocol

    /// What chromedriver says if it cannot do something.
    struct Refusal: Error, CustomStringConvertible {
        let code: String
        let description: String
    }

    private struct Session: Decodable { let sessionId: String }
    private struct Reply<Value: Decodable>: Decodable { let value: Value }
    private struct Complaint: Decodable { let error, message: String }
    private struct Nothing: Encodable {}

    /// Sends a request by curl: URLSession cannot read the header fields of chromedriver, which have no space after their
    /// names.
    private static func send(
        _ fixture: ProcessFixture, _ method: String, _ address: String, _ body: Data? = nil
    ) async throws -> Data {
        var arguments = [
            "--silent", "--show-error", "--fail-with-body", "--noproxy", "*", "--max-time", "60", "--request", method,
            "--header", "Content-Type: application/json",
        ]
        if let body { arguments += ["--data-binary", String(decoding: body, as: UTF8.self)] }
        let outcome = try await fixture.run(.at(try #require(curl)), arguments + [address])
        let answer = Data(outcome.output.utf8)
        guard outcome.code != 0 else { return answer }
        guard outcome.code == 22, let complaint = try? value(answer, as: Complaint.self) else {
            throw Refusal(code: "curl", description: outcome.error)
        }
        let line = complaint.message.split(separator: "\n").first ?? ""
        throw Refusal(code: complaint.error, description: "\(complaint.error): \(line)")
    }

    private static func value<Value: Decodable>(_ answer: Data, as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(Reply<Value>.self, from: answer).value
    }

    @discardableResult
    private func command(_ method: String, _ place: String) async throws -> Data {
        try await Browser.send(fixture, method, address + place)
    }

    @discardableResult
    private func command(_ place: String, _ body: some Encodable) async throws -> Data {
        try await Browser.send(fixture, "POST", address + place, JSONEncoder().encode(body))
    }

    // MARK: Pages

    func go(to url: String) async throws { try await command("/url", ["url": url]) }

    private struct Script: Encodable {
        let script: String
        var args: [String] = []
    }

    /// Runs a script in the page.
    func run(_ script: String) async throws { try await command("/execute/sync", Script(script: script)) }

    /// The value of an expression of JavaScript; what it promises if it is a promise.
    func value<Value: Decodable>(of expression: String, as type: Value.Type = Value.self) async throws -> Value {
        let answer = try await command("/execute/sync", Script(script: "return \(expression);"))
        return try Browser.value(answer, as: type)
    }

    /// Waits until an expression of JavaScript is true; what is not there yet makes it false.
    func wait(for expression: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let script = "try { return !!(\(expression)); } catch { return false; }"
        let isTrue = try await eventually {
            try Browser.value(await command("/execute/sync", Script(script: script)), as: Bool.self)
        }
        try #require(isTrue, "it did not become true: \(expression)", sourceLocation: sourceLocation)
    }

    // MARK: Elements

    private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

    /// Does something with an element once it is there, can be used, and nothing lies over it.
    private func act(
        on selector: String, _ sourceLocation: SourceLocation, _ action: (String) async throws -> Void
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(180)
        while true {
            do {
                let found = try await command("/element", ["using": "css selector", "value": selector])
                let element = try Browser.value(found, as: [String: String].self)[Browser.elementKey]
                return try await action("/element/\(try #require(element))")
            } catch let refusal as Refusal {
                try #require(ContinuousClock.now < deadline, "\(selector): \(refusal)", sourceLocation: sourceLocation)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    func click(_ selector: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        // Bars that stay at the window's edges may lie over it.
        try await command(
            "/execute/sync",
            Script(
                script: "document.querySelector(arguments[0])?.scrollIntoView({ block: 'center' })", args: [selector]))
        try await act(on: selector, sourceLocation) { try await command("\($0)/click", Nothing()) }
    }

    /// Types into a field; into one for files, the path of a file.
    func type(_ text: String, into selector: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await act(on: selector, sourceLocation) { try await command("\($0)/value", ["text": text]) }
    }

    // MARK: Hands

    /// What a device does, as WebDriver has it.
    private struct Move: Encodable {
        var type: String
        var value: String?
        var button: Int?
        var duration: Int?
        var origin: Origin?
        var x: Int?
        var y: Int?
    }

    private enum Origin: Encodable {
        case pointer
        case element(String)

        func encode(to encoder: any Encoder) throws {
            var single = encoder.singleValueContainer()
            switch self {
            case .pointer: try single.encode("pointer")
            case .element(let id): try single.encode([Browser.elementKey: id])
            }
        }
    }

    private struct Device: Encodable {
        let type, id: String
        let actions: [Move]
    }

    /// Keys that write nothing, as WebDriver names them.
    enum Key: String {
        case left = "\u{E012}"
        case right = "\u{E014}"
        case pageUp = "\u{E00E}"
        case pageDown = "\u{E00F}"
        case end = "\u{E010}"
        case alt = "\u{E00A}"
        case space = " "
    }

    /// Presses keys one after the other, in the element that has the focus.
    func press(_ keys: Key..., holding held: Key? = nil) async throws {
        func moves(_ type: String, _ keys: [Key]) -> [Move] { keys.map { Move(type: type, value: $0.rawValue) } }
        let held = held.map { [$0] } ?? []
        let pressed = keys.flatMap { moves("keyDown", [$0]) + moves("keyUp", [$0]) }
        let actions = moves("keyDown", held) + pressed + moves("keyUp", held)
        try await command("/actions", ["actions": [Device(type: "key", id: "keys", actions: actions)]])
    }

    func focus(_ selector: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await wait(
            for: "(document.querySelector(\"\(selector)\").focus(), document.activeElement.matches(\"\(selector)\"))",
            sourceLocation: sourceLocation)
    }

    /// Drags an element by the mouse, by that many CSS pixels to the right.
    func drag(_ selector: String, by x: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await run("document.querySelector(\"\(selector)\").scrollIntoView({ block: 'center' })")
        try await act(on: selector, sourceLocation) { element in
            let id = String(element.split(separator: "/").last ?? "")
            let moves = [
                Move(type: "pointerMove", duration: 0, origin: .element(id), x: 0, y: 0),
                Move(type: "pointerDown", button: 0),
                Move(type: "pointerMove", duration: 200, origin: .pointer, x: x, y: 0),
                Move(type: "pointerUp", button: 0),
            ]
            try await command("/actions", ["actions": [Device(type: "pointer", id: "mouse", actions: moves)]])
        }
    }

    // MARK: Chromium's own commands

    private struct Metrics: Encodable {
        let width, height: Int
        var deviceScaleFactor = 2
        var mobile = false
    }
    private struct Media: Encodable { let features: [[String: String]] }
    private struct Developer<Parameters: Encodable>: Encodable {
        let cmd: String
        let params: Parameters
    }

    /// Makes the page as wide as that, in CSS pixels; windows cannot be as narrow as those of telephones.
    func setWidth(_ width: Int) async throws {
        try await command(
            "/goog/cdp/execute",
            Developer(cmd: "Emulation.setDeviceMetricsOverride", params: Metrics(width: width, height: 800)))
    }

    private struct Network: Encodable {
        let uploadThroughput: Int
        var downloadThroughput = -1
        var latency = 0
        var offline = false
    }

    /// Limits what is uploaded, in bytes a second; -1 for no limit.
    func setUploadRate(_ rate: Int) async throws {
        try await command("/goog/cdp/execute", Developer(cmd: "Network.enable", params: [String: String]()))
        try await command(
            "/goog/cdp/execute",
            Developer(cmd: "Network.emulateNetworkConditions", params: Network(uploadThroughput: rate)))
    }

    private struct Tab: Codable { let handle: String }

    /// The tab that is shown.
    func tab() async throws -> String { try Browser.value(await command("GET", "/window"), as: String.self) }

    /// Opens another tab, and returns it.
    func openTab() async throws -> String {
        try Browser.value(await command("/window/new", ["type": "tab"]), as: Tab.self).handle
    }

    func show(tab: String) async throws { try await command("/window", Tab(handle: tab)) }

    func setColours(_ scheme: String) async throws {
        let media = Media(features: [["name": "prefers-color-scheme", "value": scheme]])
        try await command("/goog/cdp/execute", Developer(cmd: "Emulation.setEmulatedMedia", params: media))
    }

    /// An entry of the browser's console.
    struct LogEntry: Decodable, Sendable { let level, source, message: String }

    /// The errors since the last time: of scripts, and what the page's policy has forbidden. Answers with a status that
    /// tells of no success is not one, nor is a lost connection.
    func errors() async throws -> [LogEntry] {
        let log = try Browser.value(await command("/se/log", ["type": "browser"]), as: [LogEntry].self)
        return log.filter { $0.level == "SEVERE" && $0.source != "network" }
    }

    private func keepPicture() async {
        guard let answer = try? await command("GET", "/screenshot"),
            let text = try? Browser.value(answer, as: String.self), let picture = Data(base64Encoded: text)
        else { return }
        let path = Program.folder + "/browser.png"
        try? picture.write(to: URL(fileURLWithPath: path))
        let place = try? await value(of: "location.href", as: String.self)
        print("the browser was at \(place ?? "?"); \(path) shows it")
    }
}
