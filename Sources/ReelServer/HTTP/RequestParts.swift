internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ReelCore
internal import ReelJobs

/// What the server knows about a request.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private(set) var address: String
    var caller = Caller.nobody

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        address = source.channel.remoteAddress?.ipAddress ?? "unknown"
    }

    /// If the request came from a proxy on this machine, takes the address from which the proxy got it.
    ///
    /// - Parameter addresses: X-Forwarded-For. The proxy adds the last address; callers can write the ones before it.
    mutating func takeAddress(from addresses: String?) {
        guard IPAddress(address)?.isLoopback == true, let last = addresses?.split(separator: ",").last else { return }
        let origin = last.trimmingCharacters(in: .whitespaces)
        if IPAddress(origin) != nil { address = origin }
    }
}

extension ServerContext {
    /// A part of the path by its name, decoded. Throws a problem of status 400 if its encoding is wrong.
    func part(_ name: String) throws -> String {
        guard let text = parameters.get(name)?.removingPercentEncoding, !text.isEmpty else {
            throw Problem(
                .badRequest, "path-invalid", "The path cannot be read",
                detail: "Its part {\(name)} is not encoded well.")
        }
        return text
    }

    /// The job that the path names by its id, or by the beginning of its id. Throws `.jobAmbiguous` and `.jobUnknown`.
    func job(_ jobs: JobService) async throws -> JobID { try await jobs.job(named: part("id")) }
}

extension Request {
    /// The values of a parameter of the query, decoded.
    func query(all name: String) -> [String] { uri.queryParameters[values: name[...]].map { String($0) } }

    /// The value of a parameter of the query, decoded; nil if it is missing. Throws a problem of status 400 if it has
    /// several.
    func query(_ name: String) throws -> String? {
        let values = query(all: name)
        guard values.count < 2 else { throw Problem.parameter(name, "It is there \(values.count) times.") }
        return values.first
    }

    /// The value of the parameter `cursor`; nil if it is missing.
    func cursor<Place>(_ read: (String) -> Place?) throws -> Place? {
        guard let text = try query("cursor") else { return nil }
        guard let place = read(text) else {
            throw Problem.parameter("cursor", "It must be a value that this server returned.")
        }
        return place
    }

    /// A value of a parameter that has few values.
    func value<Value: RawRepresentable & CaseIterable>(
        _ text: String, of name: String
    ) throws -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem.parameter(name, "It is \(text); it can be \(known).")
        }
        return value
    }

    /// A whole number within a range; nil if it is missing.
    func query(_ name: String, _ allowed: ClosedRange<Int>) throws -> Int? {
        guard let text = try query(name) else { return nil }
        guard let number = Int(text), allowed.contains(number) else {
            throw Problem.parameter(name, "It must be \(allowed.lowerBound) to \(allowed.upperBound).")
        }
        return number
    }

    /// Throws a problem of status 400 if the query has a parameter that is not among these.
    func refuseParameters(except known: String...) throws {
        for key in uri.queryParameters.map(\.key) where !known.contains(String(key)) {
            throw Problem.parameter(
                String(key),
                known.isEmpty ? "None is taken here." : "These are taken: \(known.joined(separator: ", ")).")
        }
    }
}

extension Problem {
    static func parameter(_ name: String, _ detail: String) -> Problem {
        Problem(
            .badRequest, "parameter-invalid", "A parameter of the query cannot be taken", detail: "\(name): \(detail)",
            pointer: name)
    }
}

extension HTTPField.Name {
    /// A name of letters and hyphens.
    init(known text: StaticString) {
        guard let name = HTTPField.Name("\(text)") else { preconditionFailure("\(text) is no name of a field") }
        self = name
    }
}
