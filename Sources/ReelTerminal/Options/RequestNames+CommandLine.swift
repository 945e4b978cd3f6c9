package import ArgumentParser
package import ReelJobs

extension RequestNames {
    /// As options of a command line: "--play", "--play ping-pong".
    package static let commandLine = RequestNames { field, value in
        "--" + field.longName + (value.map { " " + $0 } ?? "")
    }

    /// Does something with a request. A fault of the request becomes a usage error.
    static func explained<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch let fault as RequestFault {
            throw ValidationError(fault.words(.commandLine))
        }
    }
}

extension OutputRequest.Field {
    /// "passFrames" is "pass-frames".
    fileprivate var longName: String {
        rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-" + $1.lowercased() : String($1) }
    }
}

extension ArgumentHelp {
    /// The help of an option of a request, with what is taken if it is not given.
    package static func of(_ field: OutputRequest.Field) -> ArgumentHelp { of(field, usual: field.option.usual) }

    /// The same with other words for what is taken if it is not given; nil if the parser itself adds them.
    package static func of(_ field: OutputRequest.Field, usual: String?) -> ArgumentHelp {
        let option = field.option
        return ArgumentHelp(
            option.help + (usual.map { " Default: \($0)." } ?? ""), valueName: option.valueName)
    }
}
