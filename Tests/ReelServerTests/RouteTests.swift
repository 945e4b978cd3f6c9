import Foundation
import Logging
import ReelCore
import ReelEngine
import ReelJobs
import ReelQueue
import ReelServer
import ReelStore
import Testing

/// What the server answers to, and what its document says of that.
@Suite struct RouteTests {
    private func table() throws -> Set<Server.Entry> {
        // Nothing is asked of it.
        let address = try RedisAddress("redis://127.0.0.1:1")
        let folder = NSTemporaryDirectory() + "reel-server-tests-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try FolderStore.make(root: folder)
        let jobs = JobService(store: store) { RedisBoard(address, name: "test") }
        let server = Server(
            ServerSettings(host: "127.0.0.1", port: 0), jobs: jobs, store: store, uploads: store.uploads,
            engine: EngineHost(executable: "/nonexistent"), log: Logger(label: "test"))
        return Set(try server.table())
    }

    /// A folder of the pages' sources.
    private static let pages = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../Sources/ReelServer/Pages").standardized

    private func document() throws -> [String: Any] {
        let file = RouteTests.pages.appendingPathComponent("openapi.json")
        return try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    }

    @Test func theDocumentHasEveryRouteOfTheAPIWithItsRoleAndNoOther() throws {
        var described: Set<Server.Entry> = []
        for (path, item) in try #require(try document()["paths"] as? [String: [String: [String: Any]]]) {
            for (method, operation) in item {
                let role = try #require(operation["x-role"] as? String)
                described.insert(
                    Server.Entry(
                        method: method.uppercased(), path: String(path.dropFirst()), role: Role(rawValue: role)))
            }
        }
        let routes = try table().filter { $0.path.hasPrefix("api/") }
        #expect(described == routes)
    }

    /// Generators of clients name their functions by the ids, and their files by the tags.
    @Test func everyOperationHasAnIDOfItsOwnAndAKnownTag() throws {
        let document = try document()
        let tags = try #require(document["tags"] as? [[String: String]]).compactMap { $0["name"] }
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        let operations = paths.values.flatMap(\.values)
        let ids = operations.compactMap { $0["operationId"] as? String }
        #expect(ids.count == operations.count && Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[a-z][A-Za-z]+/) != nil })
        for operation in operations {
            let named = try #require(operation["tags"] as? [String])
            #expect(named.count == 1 && tags.contains(named[0]), "\(named)")
        }
    }

    @Test func everyChangeNeedsARoleButSigningIn() throws {
        for entry in try table() where !["GET", "HEAD", "OPTIONS"].contains(entry.method) {
            #expect((entry.role ?? .viewer) >= .operator || entry.path == "api/v1/session", "\(entry)")
        }
    }

    @Test func everyModuleOfThePagesIsServed() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: RouteTests.pages.path)
        let served = try table().map(\.path).filter { $0.hasSuffix(".js") }
        #expect(
            Set(served.compactMap { $0.split(separator: "/").last.map(String.init) })
                == Set(files.filter { $0.hasSuffix(".js") }))
    }

    /// The server leaves out their indentation, which must not be part of a text.
    @Test func noTextOfAModuleGoesOverSeveralLines() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: RouteTests.pages.path)
        where name.hasSuffix(".js") {
            let text = try String(contentsOf: RouteTests.pages.appendingPathComponent(name), encoding: .utf8)
            for line in text.split(separator: "\n") {
                #expect(line.count { $0 == "`" }.isMultiple(of: 2), "\(name): \(line)")
            }
        }
    }

    /// A browser runs none of the modules if one of them imports what another does not have.
    @Test func everyModuleExportsWhatOthersImport() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: RouteTests.pages.path)
            .filter { $0.hasSuffix(".js") }
        let modules = try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try String(contentsOf: RouteTests.pages.appendingPathComponent($0), encoding: .utf8))
            })
        let exported = modules.mapValues { text in
            Set(text.matches(of: /(?m)^export (?:async )?(?:function|class|const|let) (\w+)/).map { String($0.1) })
        }
        for (name, text) in modules {
            for match in text.matches(of: /(?m)^import \{([^}]+)\} from "\.\/([^"]+)";$/) {
                let wanted = match.1.split { !$0.isLetter && !$0.isNumber }.map(String.init)
                let missing = Set(wanted).subtracting(exported[String(match.2)] ?? [])
                #expect(missing.isEmpty, "\(name) imports \(missing) from \(match.2)")
            }
            // No import in another form, which the lines above would not see.
            #expect(text.matches(of: /import\b/).count == text.matches(of: /(?m)^import \{[^}]+\} from "\.\//).count)
        }
    }

    /// The codes of problems that each file of the server's sources makes. A title in words follows each.
    private func codesOfSources() throws -> [(text: String, codes: Set<String>)] {
        let folder = RouteTests.pages.deletingLastPathComponent()
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix(".swift") }.map { name in
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            return (text, Set(text.matches(of: /"([a-z]+(?:-[a-z]+)+)",\s*"[A-Z]/).map { String($0.1) }))
        }
    }

    @Test func everyCodeOfAProblemIsNamedWhereItIsAnswered() throws {
        let document = try document()
        let schemas = try #require((document["components"] as? [String: Any])?["schemas"] as? [String: [String: Any]])
        func values(_ schema: [String: Any]?) -> Set<String> { Set(schema?["enum"] as? [String] ?? []) }
        #expect(values(schemas["FailureCode"]) == Set(FailureReason.CodingKeys.allCases.map(\.stringValue)))
        let common = values(schemas["CommonCode"])
        var own: [String: Set<String>] = [:]
        for (path, item) in try #require(document["paths"] as? [String: [String: [String: Any]]]) {
            for operation in item.values {
                let place = [
                    "responses", "default", "content", "application/problem+json", "schema", "properties", "code",
                ]
                let code = place.reduce(operation as Any?) { ($0 as? [String: Any])?[$1] } as? [String: Any]
                let choices = try #require(code?["anyOf"] as? [[String: Any]], "\(path)")
                own[String(path.dropFirst("/api/v1/".count)), default: []].formUnion(choices.flatMap(values))
            }
        }
        let sources = try codesOfSources()
        let made = sources.reduce(into: Set<String>()) { $0.formUnion($1.codes) }
        let named = own.values.reduce(common) { $0.union($1) }
        #expect(made == named, "\(made.symmetricDifference(named))")
        // A file that has routes makes no problem that none of them names.
        for (text, codes) in sources {
            let routes = own.filter { text.contains("\"\($0.key)\"") }
            guard !routes.isEmpty else { continue }
            let missing = codes.subtracting(routes.values.reduce(common) { $0.union($1) })
            #expect(missing.isEmpty, "\(missing)")
        }
    }

    @Test func everyReferenceOfTheDocumentLeadsSomewhere() throws {
        let document = try document()
        func resolve(_ reference: String) -> Any? {
            reference.split(separator: "/").dropFirst().reduce(document as Any?) { ($0 as? [String: Any])?[String($1)] }
        }
        var references: Set<String> = []
        func walk(_ value: Any) {
            if let object = value as? [String: Any] {
                if let reference = object["$ref"] as? String { references.insert(reference) }
                object.values.forEach(walk)
            }
            (value as? [Any])?.forEach(walk)
        }
        walk(document)
        #expect(references.count > 15)
        for reference in references { #expect(resolve(reference) != nil, "\(reference)") }
    }
}

/// Which bytes a Range header means.
@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            ("bytes=0-0", 0..<1), ("bytes=0-9", 0..<10), ("bytes=5-", 5..<100), ("bytes=-1", 99..<100),
            ("bytes=-1000", 0..<100), ("bytes=99-200", 99..<100), ("bytes= 1 - 2 ", 1..<3),
        ] as [(String, Range<Int64>)])
    func aRangeIsThoseBytes(_ header: String, _ range: Range<Int64>) throws {
        #expect(try #require(ByteRange(header)).range(of: 100) == range)
    }

    @Test(arguments: ["bytes=100-", "bytes=100-101", "bytes=-0"])
    func aRangeBehindTheEndHasNoBytes(_ header: String) throws {
        #expect(try #require(ByteRange(header)).range(of: 100) == nil)
    }

    @Test(arguments: [
        "bytes=", "bytes=-", "bytes=2-1", "bytes=0-1,3-4", "items=0-1", "bytes=a-b", "bytes=0-9999999999999999999",
    ])
    func whatIsNoRangeIsIgnored(_ header: String) { #expect(ByteRange(header) == nil) }

    @Test func anEmptyFileHasNoRange() throws {
        #expect(try #require(ByteRange("bytes=0-")).range(of: 0) == nil)
        #expect(try #require(ByteRange("bytes=-5")).range(of: 0) == nil)
    }
}
