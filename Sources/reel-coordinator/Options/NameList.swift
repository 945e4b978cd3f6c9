internal import ArgumentParser
internal import Foundation
internal import ReelWords

/// The option `--from-file`: names of videos, one a line.
struct NameList: ParsableArguments {
    @Option(
        name: .customLong("from-file"),
        help: ArgumentHelp(
            "Take the videos, folders and files of edits that this file names, too, one a line; - is standard input.",
            valueName: "file"),
        completion: .file())
    var file: String?

    /// A million names of 64 bytes.
    private static let mostBytes = 64 << 20

    /// The names in the file; none without the option. Throws a usage error if the file cannot be read, is too long, or
    /// names nothing.
    func names() throws -> [String] {
        guard let file else { return [] }
        var names: [String] = []
        for line in try bytes(of: file).split(separator: UInt8(ascii: "\n")) {
            // Lists that were written on Windows have a carriage return before each line's end.
            let name = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if !name.isEmpty { names.append(String(decoding: name, as: UTF8.self)) }
        }
        guard !names.isEmpty else { throw ValidationError("--from-file: \(file) names no video") }
        return names
    }

    private func bytes(of file: String) throws -> [UInt8] {
        let input = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        guard let input else { throw ValidationError("--from-file: \(file) cannot be opened") }
        var bytes: [UInt8] = []
        do {
            while let more = try input.read(upToCount: 1 << 20), !more.isEmpty, bytes.count <= NameList.mostBytes {
                bytes += more
            }
        } catch {
            throw ValidationError("--from-file: \(file) cannot be read")
        }
        guard bytes.count <= NameList.mostBytes else {
            throw ValidationError("--from-file: \(file) has more than \(ByteSize(bytes: Int64(NameList.mostBytes)))")
        }
        // A path would end there.
        guard !bytes.contains(0) else {
            throw ValidationError("--from-file: \(file) is not a list with one name a line, since it has zero bytes")
        }
        return bytes
    }
}
