package import ArgumentParser
internal import Configuration
internal import Foundation
internal import ReelCore
package import ReelWords
internal import Synchronization
internal import SystemPackage

/// Defaults of options that an administrator keeps in a configuration file: a JSON object with the names of long
/// options in camelCase as its keys. Options and environment variables go before it.
package enum Settings {
    /// The file if the environment does not name one; it may be missing.
    private static let usualPath = "/etc/reel/reel.json"

    private struct State {
        var path = ""
        var reader: ConfigReader?
    }

    private static let state = Mutex(State())

    package enum Name: String, CaseIterable, Sendable {
        case redis, redisFile, namespace, store, sandbox, sourceRoots, sourceHosts, scratch, slots, memoryTotal, grace
        case logFormat, logLevel, maxPixels, maxDuration, maxFrames, maxTracks, maxOutput, maxPassTime, maxPassCpu,
            maxJobTime
        case maxJobCpu

        fileprivate var isList: Bool { self == .sourceRoots || self == .sourceHosts }

        /// Whether it is a text alone; the others may be whole numbers, too.
        fileprivate var isText: Bool {
            switch self {
            case .redis, .redisFile, .namespace, .store, .sandbox, .scratch, .logFormat, .logLevel: true
            default: false
            }
        }
    }

    /// Whether a setting can have a value of the file.
    private static func suits(_ value: JSONValue, _ name: Name) -> Bool {
        switch value {
        case .string: !name.isList
        case .number(let number): !name.isList && !name.isText && Int64("\(number)") != nil
        case .array(let values):
            name.isList && !values.isEmpty && values.allSatisfy { if case .string = $0 { true } else { false } }
        case .null, .bool, .object: false
        }
    }

    /// Reads the file that `REEL_CONFIG` names; empty for none. Call it once, before arguments are parsed. Throws
    /// `ValidationError` if a named file cannot be read, is not a JSON object, or has a key that is not a setting.
    package static func load(_ environment: [String: String] = ProcessInfo.processInfo.environment) async throws {
        let named = environment["REEL_CONFIG"]
        let path = named ?? usualPath
        guard !path.isEmpty, named != nil || FileManager.default.fileExists(atPath: path) else { return }
        guard let content = FileManager.default.contents(atPath: path) else {
            throw ValidationError("\(path): the file of settings cannot be read")
        }
        guard case .object(let values)? = try? JSONValue(content, within: .file),
            let file = try? await FileProvider<JSONSnapshot>(filePath: FilePath(path))
        else { throw ValidationError("\(path): it is no JSON object of settings") }
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let name = Name(rawValue: key) else {
                let known = Name.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("\(path): there is no setting \"\(key)\"; there are \(known)")
            }
            guard suits(value, name) else {
                let form =
                    name.isList ? "a list of one or more texts" : name.isText ? "a text" : "a text or a whole number"
                throw ValidationError("\(path): \(key) must be \(form)")
            }
        }
        state.withLock { $0 = State(path: path, reader: ConfigReader(provider: file)) }
    }

    /// The value of a setting as text; nil if the file does not have it.
    package static func text(_ name: Name) -> String? {
        guard let reader = state.withLock(\.reader) else { return nil }
        let key = ConfigKey(name.rawValue)
        return reader.string(forKey: key) ?? reader.int(forKey: key).map(String.init)
    }

    /// The values of a setting that is a list; nil if the file does not have it.
    package static func list(_ name: Name) -> [String]? {
        state.withLock(\.reader)?.stringArray(forKey: ConfigKey(name.rawValue))
    }

    /// The value of a setting, read like the argument of its option; nil if the file does not have it. Throws
    /// `ValidationError` for a value that the option would not take.
    package static func value<Value: ExpressibleByArgument>(_ name: Name) throws -> Value? {
        try value(name, "", Value.init(argument:))
    }

    /// The same for an option whose errors say what it takes.
    package static func explained<Value: ExplainedArgument>(_ name: Name) throws -> Value? {
        try value(name, ": it takes \(Value.forms)") { Value($0) }
    }

    private static func value<Value>(_ name: Name, _ forms: String, _ read: (String) -> Value?) throws -> Value? {
        guard let text = text(name) else { return nil }
        guard let value = read(text) else {
            throw ValidationError("\(state.withLock(\.path)): \(name.rawValue) cannot be \(text)\(forms)")
        }
        return value
    }
}
